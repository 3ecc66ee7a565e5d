# okra update, basis, merge: models whose training pairs come and go, parts that become one.
need_python
"$PYTHON" - <<'P'
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(80, 3))
y = np.sin(x @ r.normal(size=(3, 2)))
for name, rows in (("all", slice(0, 80)), ("old", slice(0, 60)), ("new", slice(60, 80)), ("part1", slice(0, 30)),
                   ("part2", slice(30, 80))):
    np.savetxt(name + "_x.csv", x[rows], delimiter=",", fmt="%.17g")
    np.savetxt(name + "_y.csv", y[rows], delimiter=",", fmt="%.17g")
np.savetxt("t.csv", r.normal(size=(5, 3)), delimiter=",", fmt="%.17g")
P
near() { # near A.npy B.npy TOLERANCE
    "$PYTHON" -c "
import numpy as np, sys
a, b = np.load('$1'), np.load('$2')
assert a.shape == b.shape and abs(a - b).max() <= $3 * abs(b).max(), abs(a - b).max()"
}
h() { okra predict -q "$1.okra" --x t.csv --embedding "$1.npy"; }
kernels="--kx rbf(sigma=2) --ky linear --lambda 0.1"

# more pairs, then less
okra fit -q --x old_x.csv --y old_y.csv $kernels -o old.okra
okra fit -q --x all_x.csv --y all_y.csv $kernels -o all.okra
expect 0 okra update old.okra --x new_x.csv --y new_y.csv -o grown.okra
expect_in "pairs          80, 20 added, 0 removed" out
expect_in "how            factor" out
expect_in "kernels        those of the first fit" out
h old; h all; h grown
near grown.npy all.npy 1e-12
seq 60 79 >rows.txt
expect 0 okra update grown.okra --remove rows.txt --json -o back.okra
expect_in '"how": "factor"' out
expect_in '"removed": 20' out
h back
near back.npy old.npy 1e-13

# in place, and a model that must be fitted anew
cp old.okra same.okra
expect 0 okra update same.okra --x new_x.csv --y new_y.csv -q -o same.okra
expect_same same.okra grown.okra
okra fit -q --x old_x.csv --y old_y.csv $kernels --compact -o compact.okra
expect 0 okra update compact.okra --x new_x.csv --y new_y.csv -o anew.okra
expect_in "how            new fit: the model does not keep its factor" out
expect_same anew.okra all.okra
okra fit -q --x old_x.csv --y old_y.csv --method knn --k 2 --kx linear --ky linear -o knn.okra
expect 0 okra update knn.okra --x new_x.csv --y new_y.csv --json -o knn2.okra
expect_in '"why": "the method has no other way"' out

# pairs held back to calibrate with stay held back: learning from them is told
okra fit -q --x old_x.csv --y old_y.csv $kernels --calibration 0.25 -o held.okra
expect 0 okra update held.okra --x new_x.csv --y new_y.csv -o held2.okra
[ ! -s err ]
expect 0 okra update held.okra --x all_x.csv --y all_y.csv -o held2.okra
expect_in "15 of the 80 new pairs equal pairs that were held back to calibrate with" err

# new pairs have weights: two of each is weight 2
printf '2\n%.0s' $(seq 20) >w.csv
expect 0 okra update old.okra --x new_x.csv --y new_y.csv --sample-weight w.csv -o heavy.okra
expect_in "how            factor" out
cat all_x.csv new_x.csv >twice_x.csv
cat all_y.csv new_y.csv >twice_y.csv
okra fit -q --x twice_x.csv --y twice_y.csv $kernels -o twice.okra
h heavy; h twice
near heavy.npy twice.npy 1e-12
printf '0\n%.0s' $(seq 20) >w.csv
expect_fail 2 "okra update: the weights of new_y.csv sum to 0, expected more than 0" \
    okra update old.okra --x new_x.csv --y new_y.csv --sample-weight w.csv -o a.okra
expect_fail 2 "okra update: --sample-weight is for new pairs: give --x and --y" \
    okra update old.okra --remove rows.txt --sample-weight w.csv -o a.okra

# matrix operators: the model has the matrix, and with --keep weights its factors
printf '2,1\n1,2\n' >A.csv
okra fit -q --x old_x.csv --y old_y.csv $kernels --operator matrix:A.csv -o slim.okra
okra fit -q --x old_x.csv --y old_y.csv $kernels --operator matrix:A.csv --keep weights -o old_A.okra
okra fit -q --x all_x.csv --y all_y.csv $kernels --operator matrix:A.csv -o all_A.okra
rm A.csv
expect 0 okra update old_A.okra --x new_x.csv --y new_y.csv -o new_A.okra
expect_in "how            factor" out
expect 0 okra update slim.okra --x new_x.csv --y new_y.csv -o slim_A.okra
expect_in "how            new fit: the model does not keep its factor" out
h all_A; h new_A; h slim_A
near new_A.npy all_A.npy 1e-12
near slim_A.npy all_A.npy 0
# compact: coefficients alone
okra update old_A.okra --x new_x.csv --y new_y.csv --compact -q -o few.okra
okra info few.okra >about
refute grep -q "bag/factor" about

# a column of a table is the output, and no input, as in okra fit
(echo a,b,c,target; paste -d, old_x.csv <(cut -d, -f1 old_y.csv)) >table.csv
(echo a,b,c,target; paste -d, new_x.csv <(cut -d, -f1 new_y.csv)) >more.csv
okra fit -q --x table.csv --y table.csv:target $kernels -o column.okra
expect 0 okra update column.okra --x more.csv --y more.csv:target -o column2.okra
expect_in "pairs          80, 20 added, 0 removed" out

# mistakes
expect_fail 2 "okra update: nothing to do: give --x and --y, or --remove" okra update old.okra -o a.okra
expect_fail 2 "okra update: --x and --y go together: --y is missing" okra update old.okra --x new_x.csv -o a.okra
expect_fail 2 "okra update: --removed-x has no use without --remove" okra update old.okra --x new_x.csv --y new_y.csv --removed-x new_x.csv -o a.okra
echo 99 >rows.txt
expect_fail 2 "okra update: row 99 is to go, expected one of the 60 training pairs, counted from 0" okra update old.okra --remove rows.txt -o a.okra
echo row >rows.txt
expect_fail 1 "okra update: rows.txt: there are no rows to remove" okra update old.okra --remove rows.txt -o a.okra
# hints that are of outputs do not stand in messages about other files
printf '1\ntwo\n' >rows.txt
expect_fail 1 "okra update: rows.txt: line 2, column 1: 'two' is not a number" okra update old.okra --remove rows.txt -o a.okra
printf '1\nNA\n' >rows.txt
expect_fail 1 "okra update: rows.txt: line 2, column 1: a value is missing (NA)" okra update old.okra --remove rows.txt -o a.okra
for first in '3 9' 0x1 '1 2 3' '7 seven'; do # no headings: rows that would stay
    printf '\n%s\n4\n' "$first" >rows.txt
    expect_fail 1 "okra update: rows.txt: line 2: found '$first', expected one whole number" \
        okra update old.okra --remove rows.txt -o a.okra
done
for rows in 'row\n4\n' '0' ' 4 \r\n5\n' '+4'; do
    printf '%b' "$rows" >rows.txt
    expect 0 okra update old.okra --remove rows.txt -q -o named.okra
done
echo 0.5 >rows.txt
expect_fail 1 "okra update: rows.txt: row 0 holds 0.5, expected a whole number" \
    okra update old.okra --remove rows.txt -o a.okra
expect_fail 1 "okra update: x has 20 dense vectors of length 3, y has 60 dense vectors of length 2; expected as many of each" \
    okra update old.okra --x new_x.csv --y old_y.csv -o a.okra
[ ! -e a.okra ]

# parts become one
expect 0 okra basis --x all_x.csv --kx 'rbf(sigma=2)' --low-rank-x 'nystrom(rank=20)' -o basis.okra
expect_in "rank           20" out
for part in part1 part2 all; do
    okra fit -q --basis basis.okra --x ${part}_x.csv --y ${part}_y.csv --ky linear --lambda 0.1 -o $part.okra
done
expect 0 okra merge part1.okra part2.okra -o merged.okra
expect_in "pairs          80" out
h all; h merged
near merged.npy all.npy 1e-12
printf 'part1.okra\npart2.okra\n' | okra merge --list - -q -o again.okra
ln -s part1.okra again1.okra
expect_fail 2 "okra merge: again1.okra is given twice: its pairs would count twice" okra merge part1.okra part2.okra again1.okra -o no.okra
[ ! -e no.okra ]
expect_same merged.okra again.okra
expect 0 okra merge merged.okra --lambda 10 --json -o other.okra
okra fit -q --basis basis.okra --x all_x.csv --y all_y.csv --ky linear --lambda 10 -o ten.okra
h ten; h other
near other.npy ten.npy 1e-12
expect 0 okra update part1.okra --x part2_x.csv --y part2_y.csv -o grown.okra
expect_in "how            moments" out
h grown
near grown.npy all.npy 1e-12
seq 30 79 >rows.txt
okra update grown.okra --remove rows.txt --removed-x part2_x.csv -q -o back.okra
h part1; h back
near back.npy part1.npy 1e-12
okra info merged.okra >about
expect_in "bag/moments.C" about

expect_fail 2 "okra merge: models 1 and 2 differ in option lambda; expected fits with one basis and the same options (all.okra, ten.okra)" okra merge all.okra ten.okra -o a.okra
expect_fail 2 "okra merge: model 1 keeps no moments: fit it with --keep-moments (basis.okra)" okra merge basis.okra -o a.okra
expect_fail 2 "okra merge: there are no models: name them, or give --list" okra merge -o a.okra
expect_fail 2 "okra update: a model of low rank holds no training inputs: give those of the rows that go as well (removed-x)" okra update grown.okra --remove rows.txt -o a.okra
expect_fail 2 "okra fit: --basis needs one --lambda: shards that are to be merged have the same" okra fit --basis basis.okra --x all_x.csv --y all_y.csv -o a.okra
expect_fail 2 "okra fit: the model keeps no basis: make one with okra basis, or fit with keep-moments" okra fit --basis old.okra --x all_x.csv --y all_y.csv --lambda 1 -o a.okra
expect_fail 2 "okra fit: kx is 'linear', but the basis says it: leave it out" okra fit --basis basis.okra --x all_x.csv --y all_y.csv --kx linear --lambda 1 -o a.okra
okra fit -q --x all_x.csv --y all_y.csv $kernels --low-rank-x 'chol(rank=5)' -o slim.okra
expect_fail 1 "okra update: the model is of low rank and holds a basis, not its training inputs: fit it with --keep-moments, or fit anew" \
    okra update slim.okra --x new_x.csv --y new_y.csv -o a.okra
[ ! -e a.okra ]

# a kernel that is of low rank itself
okra fit -q --x old_x.csv --y old_y.csv --kx 'standardize | rbf(sigma=1) | chol(rank=8)' --ky linear --lambda 0.1 -o low.okra
expect 0 okra update low.okra --x new_x.csv --y new_y.csv -o low2.okra
expect_in "how            new fit: a kernel of low rank has its basis among the pairs" out
