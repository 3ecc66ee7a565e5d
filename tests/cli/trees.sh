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

for compact in yes recompute no; do
    okra fit -q --x x.csv --y y.csv --method blend --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 \
        --threads 1 --seed 4 --compact=$compact -o small.okra
    okra predict -q small.okra --x tx.csv -o small.csv
    expect_same t1.csv small.csv
done

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

# steps: with effort the blend is compared with ridge, and taken; not where someone names a method, and not by default
awk 'BEGIN { srand(3); for (i = 0; i < 150; i++) { for (j = 0; j < 6; j++) printf "%.4f%s", v[j] = rand(), j < 5 ? "," : "\n" >"sx.csv"
    printf "%.4f\n", 3 * (v[0] > 0.4) - 2 * (v[1] > 0.7) * (v[0] > 0.2) + 0.3 * rand() >"sy.csv" } }'
okra fit --x sx.csv --y sy.csv --effort thorough -o s.okra >out
expect_in "--method blend" out
okra predict -q s.okra --x sx.csv -o s.csv
okra fit --x sx.csv --y sy.csv --effort thorough --json -o s.okra >out
grep -q '"methods": "loo on 150 pairs: ridge 0[.0-9]*, blend 0[.0-9]*"' out
okra fit --x sx.csv --y sy.csv -o s.okra >out
! grep -q blend out
okra fit --x sx.csv --y sy.csv --effort thorough --method ridge -o s.okra >out
! grep -q blend out

# weights of anyone: those of a model give what the model gives, by every decoder, dense and sparse
okra predict -q t1.okra --x tx.csv --weights w.csv -o want.csv
rows=$(wc -l <w.csv)
awk -F, '{ for (j = 1; j <= NF; j++) a[j] = a[j] (NR > 1 ? "," : "") $j } END { for (j = 1; j <= NF; j++) print a[j] }' w.csv >turned.csv
{ echo '%%MatrixMarket matrix coordinate real general'
  awk -F, -v rows=$rows 'NR == 1 { print NF, rows, NF * rows } { for (j = 1; j <= NF; j++) print j, NR, $j }' w.csv
} >turned.mtx
for file in turned.csv turned.mtx; do
    okra predict -q t1.okra --weights-in $file -o got.csv
    expect_same want.csv got.csv
    okra predict -q t1.okra --x tx.csv --top 3 --decode candidates -o want.tsv
    okra predict -q t1.okra --weights-in $file --top 3 --decode candidates -o got.tsv
    expect_same want.tsv got.tsv
done
expect_fail 1 "okra predict: w.csv: a row of weights has 3 numbers, expected 8, one for each training output" \
    okra predict t1.okra --weights-in w.csv -o e.csv
head -2 tx.csv >two.csv
expect_fail 1 "okra predict: turned.csv: there are weights of 3 test points, expected 2, as there are test inputs" \
    okra predict t1.okra --x two.csv --weights-in turned.csv -o e.csv
expect_fail 2 "okra predict: --x FILE is missing: the test inputs" okra predict t1.okra -o e.csv
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=2)' --method tgp-kl -o twin.okra
expect_fail 1 "okra predict: weights cannot be decoded by a model of method tgp-kl, which has a criterion of its own" \
    okra predict twin.okra --weights-in turned.csv -o e.csv
