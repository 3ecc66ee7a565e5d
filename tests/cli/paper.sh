# okra paper: the list, entries without their data, unknown names.
okra paper list --data . >out
expect_in "kadri-t2-left" out
expect_in "Table 3: human pose from images (HumanEva-I)" out
expect_in "cannot be run: the HoG features that it was made from are not published" out
okra paper --json --data . >out
expect_in '"name": "kadri-t2-left"' out
expect_fail 1 "okra paper: kadri-t2-left needs usps/train_x.npy in the data folder (.); give it by --data DIR or OKRA_DATA" \
    okra paper kadri-t2-left --data .
expect_fail 2 "okra paper: there is no entry 'kadri-t2-lef'; did you mean 'kadri-t2-left'?" \
    okra paper kadri-t2-lef --data .
expect_fail 2 "okra paper: --quick and --full exclude each other" \
    okra paper kadri-t2-left --quick --full
