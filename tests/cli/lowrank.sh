# Low rank as a kernel: in every command, and by --low-rank with methods that have no factored
# form.
source "$ROOT/tests/cli/lib/small.bash"
common=(--x x.csv --y y.csv --kx 'rbf(sigma=2)')

# of full rank a Gram matrix is that of the kernel
okra gram -q --x x.csv --kernel 'rbf(sigma=2)' -o dense.csv
okra gram -q --x x.csv --kernel 'rbf(sigma=2) | chol(rank=99,tol=0)' -o low.csv
expect 0 okra score --y dense.csv --yhat low.csv --metric mae
value=$(sed -n 's/^mae  *//p' out)
awk -v value="$value" 'BEGIN { exit !(value < 1e-12) }'

# the option is the kernel, and the report tells its rank
expect 0 okra fit "${common[@]}" --method knn --k 2 --ky 'rbf(sigma=3)' --low-rank 'nystrom(rank=3)' -o a.okra
for text in "x.rank" "x.trace-error" "y.rank" "y.trace-error"; do
    expect_in "$text" out
done
okra fit -q --x x.csv --y y.csv --method knn --k 2 --kx 'rbf(sigma=2) | nystrom(rank=3)' \
    --ky 'rbf(sigma=3) | nystrom(rank=3)' -o b.okra
for model in a b; do
    okra predict -q $model.okra --x tx.csv -o $model.csv
    okra info $model.okra >out
    expect_in "rbf(sigma=2) | nystrom(rank=3,pivots=uniform)" out
    expect_in "rbf(sigma=3) | nystrom(rank=3,pivots=uniform)" out
done
expect_same a.csv b.csv
okra fit -q "${common[@]}" --low-rank-x 'rff(rank=8)' -o waves.okra
okra info waves.okra >out
expect_in "rbf(sigma=2) | rff(rank=8)" out

# choosing the rank, of a method and of a kernel
expect 0 okra select "${common[@]}" --method tgp-kl --ky 'rbf(sigma=3)' --low-rank-x 'chol(rank={1,4})' \
    --cv kfold:2 --metric mae -o s.okra
expect_in "chol(rank=" out
okra select -q --x x.csv --y y.csv --kx 'rbf(sigma={1,2}) | chol(rank={2,4})' --lambda 0.1 --cv loo -o t.okra
okra info t.okra >out
expect_in "| chol(rank=" out
printf '0\t1\n1\t2\n2\t3\n3\t4\n4\t5\n5\t6\n6\t7\n' >edges.tsv
okra link -q --x x.csv --edges edges.tsv --kx 'rbf(sigma=2) | chol(rank=3)' -o links.tsv
okra link -q --x x.csv --edges edges.tsv --kx 'rbf(sigma=2)' --method em --low-rank-x 'chol(rank=3)' -o links.tsv

# what cannot be
expect 2 okra fit "${common[@]}" --method knn --low-rank-y 'chol(rank=3)' -o no.okra
expect_in "leave it out" err
expect 2 okra gram --x x.csv --kernel 'linear | chol(rank=2) | chol(rank=2)' -o no.csv
expect_in "of low rank cannot be given another" err
expect 1 okra gram --x x.csv --kernel 'linear | rff(rank=2)' -o no.csv
expect_in "expected rbf" err
[ ! -e no.okra ]
[ ! -e no.csv ]
