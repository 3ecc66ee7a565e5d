# Trees on columns, their blend with ridge, and their models.
source "$ROOT/tests/cli/lib/small.bash"

# without a kernel dense inputs are split on their columns; with one, on similarities as before
okra fit --x x.csv --y y.csv --method ok3 --trees 9 -o a.okra >out
expect_in "--splits columns" out
okra fit --x x.csv --y y.csv --method ok3 --trees 9 --kx 'rbf(sigma=2)' --ky linear -o b.okra >out
! grep -q columns out
expect_in "columns" <(unzip -p a.okra)

# trees do not see units: neither those of a column nor those of an output
awk -F, '{ $1 = 1024 * $1; print }' OFS=, x.csv >xx.csv
awk -F, '{ $1 = 1024 * $1; print }' OFS=, y.csv >yy.csv
awk -F, '{ $1 = 1024 * $1; print }' OFS=, tx.csv >txx.csv
okra fit -q --x xx.csv --y yy.csv --method ok3 --splits columns --trees 9 --kx linear --ky linear -o b.okra
okra fit -q --x x.csv --y y.csv --method ok3 --splits columns --trees 9 --kx linear --ky linear -o a.okra
okra predict -q a.okra --x tx.csv --weights a.npy
okra predict -q b.okra --x txx.csv --weights b.npy
expect_same a.npy b.npy

# the same on any number of threads; a model that was read predicts the same
for threads in 1 3; do
    okra fit -q --x x.csv --y y.csv --method blend --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 \
        --threads $threads --seed 4 -o t$threads.okra
    okra predict -q t$threads.okra --x tx.csv -o t$threads.csv
done
expect_same t1.csv t3.csv

# every lambda, folds and one by one; kernel and lambda as ridge has them where nobody says
okra select -q --x x.csv --y y.csv --method blend --kx 'rbf(sigma={1,2})' --ky linear --lambda 0.1,1 \
    --trees 10 -o s.okra >out
okra select -q --x x.csv --y y.csv --method blend --kx 'rbf(sigma={1,2})' --ky linear --lambda 0.1,1 \
    --trees 10 --cv kfold:3 -o s.okra >out
okra fit --x x.csv --y y.csv --method blend --trees 10 -o c.okra >out
expect_in "--method blend" out

# classes
awk '{ print (NR > 3 ? "b" : "a") }' x.csv >labels.csv
okra fit -q --x x.csv --y labels:labels.csv --method blend --kx 'rbf(sigma=2)' --ky zero-one --lambda 1 -o l.okra
okra predict -q l.okra --x tx.csv -o l.csv
[ "$(grep -c '^[ab]$' l.csv)" = "$(wc -l <tx.csv)" ]

# refusals
awk '{ print "w" NR }' x.csv >x.txt
expect_fail 2 "okra fit: trees split on columns of dense inputs, and these are strings: expected splits kernel" \
    okra fit --x x.txt --y y.csv --kx 'spectrum(k=1)' --ky linear --lambda 0.1 --method blend -o e.okra
expect_fail 2 "okra fit: ok3: parts is for splits on columns" \
    okra fit --x x.csv --y y.csv --kx linear --ky linear --method ok3 --parts 3 -o e.okra

# steps: without options the blend is compared with ridge, and taken; not where someone names a method or is in a hurry
awk 'BEGIN { srand(3); for (i = 0; i < 150; i++) { for (j = 0; j < 6; j++) printf "%.4f%s", v[j] = rand(), j < 5 ? "," : "\n" >"sx.csv"
    printf "%.4f\n", 3 * (v[0] > 0.4) - 2 * (v[1] > 0.7) * (v[0] > 0.2) + 0.3 * rand() >"sy.csv" } }'
okra fit --x sx.csv --y sy.csv -o s.okra >out
expect_in "--method blend" out
okra predict -q s.okra --x sx.csv -o s.csv
okra fit --x sx.csv --y sy.csv --json -o s.okra >out
grep -q '"methods": "loo on 150 pairs: ridge 0[.0-9]*, blend 0[.0-9]*"' out
okra fit --x sx.csv --y sy.csv --effort quick -o s.okra >out
! grep -q blend out
okra fit --x sx.csv --y sy.csv --method ridge -o s.okra >out
! grep -q blend out
