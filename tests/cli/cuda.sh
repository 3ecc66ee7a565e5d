# --engine cuda: with a GPU the same predictions as on the host, without one a sentence that
# says what is missing, status 1 and no file.
printf '0.1,0.2\n1,0.5\n-1,2\n0.3,-0.7\n2,1\n' >x.csv
printf '1\n2\n0.5\n-1\n3\n' >y.csv
fit="okra fit --x x.csv --y y.csv --kx rbf(sigma=1) --ky linear --lambda 0.1 --quiet"
expect 0 okra version --build-info
line=$(grep '^engine cuda: ' out)
case $line in
*": not here: "*)
    why=${line#*not here: }
    expect_fail 1 "okra fit: engine cuda: $why" $fit --engine cuda -o m.okra
    expect_fail 1 "okra fit: engine cuda: $why" $fit --engine cuda:0 -o m.okra
    refute [ -e m.okra ]
    ;;
*)
    expect 0 $fit -o host.okra
    expect 0 $fit --engine cuda -o cuda.okra
    for model in host cuda; do
        expect 0 okra predict $model.okra --x x.csv -o $model.csv --quiet
        expect 0 okra predict $model.okra --x x.csv --engine cuda -o $model-cuda.csv --quiet
    done
    for file in cuda host-cuda cuda-cuda; do
        paste -d, host.csv $file.csv |
            awk -F, '{ d = $1 - $2; if (d * d > 1e-20) bad = 1 } END { exit bad }'
    done
    expect 1 $fit --engine cuda:99 -o none.okra
    expect_in 'engine cuda:99: there is no such GPU, the last is cuda:' err
    ;;
esac
case $line in
*"there is no libokra-cuda.so"*) ;;
*)
    expect_fail 2 "okra fit: engine cuda:x: expected the number of a GPU after the colon, such as cuda:0" \
        $fit --engine cuda:x -o m.okra
    ;;
esac
