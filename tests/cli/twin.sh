# okra twin and okra fit --twin: the learned kernels can be pasted into any command.
source "$ROOT/tests/cli/lib/small.bash"
expect 0 okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --degrees 1,3 \
    -o learned.json
for text in "C, HSIC of terms of the inputs (rows) and of the outputs" "coefficients x 1" \
    "coefficients y " "HSIC before    " "HSIC after     " "kx             rbf(sigma=2)" \
    "ky             rbf(sigma=3) | poly-series(0,"; do
    expect_in "$text" out
done
expect_in '"estimator": "biased"' learned.json
ky=$(sed -n 's/^ky  *//p' out)
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky "$ky" --lambda 0.1 -o pasted.okra
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --twin 1,3 \
    -o twin.okra
expect_in "ky             $ky" out
for model in pasted twin; do
    okra predict $model.okra --x tx.csv -q -o $model.csv
done
expect_same pasted.csv twin.csv
okra gram -q --x y.csv --kernel "$ky" -o K.csv
okra info twin.okra >out
expect_in "poly-series(0," out
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --twin 2,2,unbiased \
    --method knn -o knn.okra

# quiet: what was asked for, in the file or, without one, printed
okra twin -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --degrees 1,3 -o q.json >out
[ ! -s out ]
okra twin -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --degrees 1,3 >out
expect_in "ky             $ky" out

# in every command
okra select -q --x x.csv --y y.csv --kx 'rbf(sigma={1,2})' --ky "$ky" --lambda 0.1 --cv loo -o s.okra
okra select -q --x x.csv --y y.csv --kx 'rbf(sigma={1,2})' --ky 'rbf(sigma=3)' --twin 1,2 \
    --method tgp-kl --cv kfold:2 --metric mae -o t.okra
okra info t.okra >out
expect_in "poly-series(0," out
printf '0\t1\n1\t2\n2\t3\n3\t4\n4\t5\n5\t6\n6\t7\n' >edges.tsv
okra link -q --x x.csv --edges edges.tsv --kx "$ky" -o links.tsv

# several base kernels
expect 0 okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --kx 'rbf(sigma=1)' \
    --ky 'rbf(sigma=3)' --degrees 2,1 --json
expect_in '*(rbf(sigma=2) | power(p=2))' out
expect_in '*rbf(sigma=2)*rbf(sigma=1)' out
expect 0 okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --unbiased -o -
expect_in '"estimator": "unbiased"' out

# of full rank, low rank learns the same
okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --degrees 2,3 |
    grep '^coefficients' >dense.txt
okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --degrees 2,3 \
    --low-rank 'chol(rank=8,tol=0)' | grep '^coefficients' >low.txt
expect_same dense.txt low.txt
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --twin 2,3 \
    --low-rank 'chol(rank=8,tol=0)' -o low.okra
okra info low.okra >out
expect_in "poly-series(0," out
expect 2 okra twin --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' --low-rank 'chul(rank=8)'
expect_in "chul" err

expect_fail 2 "okra twin: --degrees is '3', expected two numbers such as 1,11" \
    okra twin --x x.csv --y y.csv --kx linear --ky linear --degrees 3
expect_fail 2 "okra twin: the degree of the outputs is 0, expected 1 to 16" \
    okra twin --x x.csv --y y.csv --kx linear --ky linear --degrees 1,0
expect_fail 2 "okra fit: twin is '1', expected two degrees, D1,D2 or D1,D2,unbiased" \
    okra fit --x x.csv --y y.csv --twin 1 -o n.okra
expect_fail 2 "okra fit: twin is '1,2,biased', expected two degrees, D1,D2 or D1,D2,unbiased" \
    okra fit --x x.csv --y y.csv --twin 1,2,biased -o n.okra
[ ! -e n.okra ]
printf '0.5\n%.0s' 1 2 3 4 5 6 7 8 >constant.csv
expect 1 okra twin --x x.csv --y constant.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)'
expect_in "the outputs are all the same to their kernel" err

# learned in one step, or pasted, the predictions are the same; hopfield looks at no kernel,
# jkm and m3n at sums over positions alone
learn_and_paste() { # METHOD Y KY D1,D2
    common="-q --x x.csv --y $2 --method $1"
    case $1 in # the same for both, not chosen anew
    knn) common="$common --k 3" ;;
    svr | svm) common="$common --cost 1" ;;
    ok3 | tgp-hsic) ;;
    *) common="$common --lambda 0.1" ;;
    esac
    okra fit $common --kx 'rbf(sigma=2)' --ky "$3" --twin "$4" -o a.okra
    okra info a.okra >about
    expect_in "poly-series(0," about
    okra fit $common --kx "$(sed -n 's/^kx  *//p' about)" --ky "$(sed -n 's/^ky  *//p' about)" \
        -o b.okra
    for model in a b; do
        okra predict -q $model.okra --x tx.csv -o $model.csv
    done
    expect_same a.csv b.csv
}
printf '%s\n' a b a b a b b a >labels.csv
for method in ridge margin knn kpca ok3 tgp-kl tgp-hsic; do
    learn_and_paste $method y.csv 'rbf(sigma=3)' 2,3
done
for method in soar svr; do # under a linear output kernel alone
    learn_and_paste $method y.csv linear 3,1
done
learn_and_paste svm labels:labels.csv zero-one 3,1
head -5 edges.tsv >few.tsv # nodes 6 and 7 are new
for method in naive kcca kml local em pkmr; do # links alone
    common="-q --x x.csv --edges few.tsv --method $method --pairs lu"
    okra link $common --kx 'rbf(sigma=2) | poly-series(0,0.6,0.8)' -o pasted.tsv
    okra link $common --kx 'rbf(sigma=2)' -o plain.tsv
    [ "$(wc -l <pasted.tsv)" = 13 ]
    if cmp -s pasted.tsv plain.tsv; then exit 1; fi
done
