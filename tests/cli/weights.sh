# --sample-weight and --class-weight: weights are pairs repeated; score, select, conformal, refusals.
source "$ROOT/tests/cli/lib/small.bash"
n=$(wc -l <x.csv)
awk '{ print (NR - 1) % 3 }' x.csv >w.csv
# each pair as often as its weight says
awk 'NR == FNR { w[NR] = $1; next } { for (k = 0; k < w[FNR]; k++) print }' w.csv x.csv >xx.csv
awk 'NR == FNR { w[NR] = $1; next } { for (k = 0; k < w[FNR]; k++) print }' w.csv y.csv >yy.csv
same() {
    okra fit -q --x x.csv --y y.csv --sample-weight w.csv "$@" -o a.okra
    okra fit -q --x xx.csv --y yy.csv "$@" -o b.okra
    okra predict a.okra --x tx.csv -q -o a.csv
    okra predict b.okra --x tx.csv -q -o b.csv
    paste -d, a.csv b.csv | awk -F, '{ for (j = 1; j <= NF / 2; j++) { d = $j - $(j + NF / 2);
        if (d > 1e-9 || d < -1e-9) exit 1 } }'
}
same --kx 'rbf(sigma=2)' --ky linear --lambda 0.1
same --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --center-output
same --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --method kpca
same --kx 'rbf(sigma=2)' --ky linear --method knn --k 2
same --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --low-rank-x 'chol(rank=3,tol=0)'

# a file of one row will do; the command that is told repeats the flag
tr '\n' , <w.csv | sed 's/,$/\n/' >row.csv
okra fit --x x.csv --y y.csv --sample-weight row.csv --kx 'rbf(sigma=2)' --ky linear -o c.okra >out
expect_in "--sample-weight row.csv" out
expect_in "sample-weight" <(unzip -l c.okra)

# what is measured weighs as well
printf '1,1\n2,1\n4,3\n' >yhat.csv
printf '1\n2\n0\n' >tw.csv
expect_out 0.3333333333 okra score -q --y ty.csv --yhat yhat.csv --metric mae --sample-weight tw.csv
okra select -q --x x.csv --y y.csv --sample-weight w.csv --kx 'rbf(sigma={1,2})' --ky linear \
    --lambda 0.1,1 -o s.okra >out

# every class counts the same
awk '{ print (NR > 3 ? "b" : "a") }' x.csv >labels.csv
okra fit -q --x x.csv --y labels:labels.csv --class-weight balanced --kx 'rbf(sigma=2)' \
    --ky zero-one --lambda 1 -o l.okra
expect_in "sample-weight" <(unzip -l l.okra)

# pairs of weight 0 are of no class: as without them
awk '{ print (NR == 1 || NR == 5 ? 0 : 1) }' x.csv >some.csv
awk 'NR != 1 && NR != 5' x.csv >some_x.csv
awk 'NR != 1 && NR != 5' labels.csv >some_labels.csv
okra fit -q --x x.csv --y labels:labels.csv --sample-weight some.csv --class-weight balanced \
    --kx 'rbf(sigma=2)' --ky zero-one --lambda 1 -o l.okra
okra fit -q --x some_x.csv --y labels:some_labels.csv --class-weight balanced \
    --kx 'rbf(sigma=2)' --ky zero-one --lambda 1 -o some.okra
okra predict -q l.okra --x tx.csv --weights got.npy
okra predict -q some.okra --x tx.csv --weights want.npy
expect_same want.npy got.npy
# whole weights are pairs repeated, in the classes too
awk '{ print (NR % 3) + 1 }' x.csv >copies.csv
paste -d' ' copies.csv x.csv | awk '{ for (k = 0; k < $1; k++) print $2 }' >copied_x.csv
paste -d' ' copies.csv labels.csv | awk '{ for (k = 0; k < $1; k++) print $2 }' >copied_labels.csv
for method in ridge margin; do
    okra fit -q --x x.csv --y labels:labels.csv --sample-weight copies.csv --class-weight balanced \
        --kx 'rbf(sigma=2)' --ky zero-one --lambda 1 --method $method -o l.okra
    okra fit -q --x copied_x.csv --y labels:copied_labels.csv --class-weight balanced \
        --kx 'rbf(sigma=2)' --ky zero-one --lambda 1 --method $method -o some.okra
    okra predict -q l.okra --x tx.csv --top 2 -o got.tsv
    okra predict -q some.okra --x tx.csv --top 2 -o want.tsv
    paste want.tsv got.tsv | awk -F'\t' 'NR > 1 { d = $4 - $9
        if ($5 != $10 || d > 1e-10 || d < -1e-10) exit 1 }'
done

printf '1\n2\n' >short.csv
expect_fail 1 "okra fit: short.csv: found 2 rows of 1 values, expected $n weights, one number per pair" \
    okra fit --x x.csv --y y.csv --sample-weight short.csv --kx linear --ky linear --lambda 1 -o e.okra
cp short.csv short.txt # numbers in a text file are numbers
expect_fail 1 "okra fit: short.txt: found 2 rows of 1 values, expected $n weights, one number per pair" \
    okra fit --x x.csv --y y.csv --sample-weight short.txt --kx linear --ky linear --lambda 1 -o e.okra
sed '2s/.*/-1/' w.csv >negative.csv
expect_fail 2 "okra fit: weight 1 (counted from 0) is -1, expected a number of 0 or more" \
    okra fit --x x.csv --y y.csv --sample-weight negative.csv --kx linear --ky linear --lambda 1 -o e.okra
sed 's/.*/0/' w.csv >none.csv
expect_fail 2 "okra fit: the weights of y.csv sum to 0, expected more than 0" \
    okra fit --x x.csv --y y.csv --sample-weight none.csv --kx linear --ky linear --lambda 1 -o e.okra
expect_fail 1 "okra fit: method ok3 grows trees from pairs of equal weight: it does not use weights" \
    okra fit --x x.csv --y y.csv --sample-weight w.csv --kx linear --ky linear --method ok3 -o e.okra
expect_fail 1 "okra fit: classes are balanced where the outputs are labels; y.csv has $n dense \
vectors of length 2" \
    okra fit --x x.csv --y y.csv --class-weight balanced --kx linear --ky linear --lambda 1 -o e.okra
okra fit -q --x x.csv --y y.csv --sample-weight w.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o a.okra
expect_fail 1 "okra predict: conformal full needs training pairs of equal weight, but the model \
was fitted with sample weights: calibrate with other pairs (split)" \
    okra predict a.okra --x tx.csv --interval 0.1 -o i.csv
okra predict a.okra --x tx.csv --interval 0.5 --calibrate-x tx.csv --calibrate-y ty.csv -q -o i.csv

# a lambda for each output
okra select --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.01,1,100 --per-output \
    -o p.okra >out
expect_in "output-lambda" out
list=$(awk '$1 == "output-lambda" { print $2 }' out)
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 1 --output-lambda "$list" -o q.okra
okra predict p.okra --x tx.csv -q -o p.csv
okra predict q.okra --x tx.csv -q -o q.csv
expect_same p.csv q.csv
expect_fail 2 "okra select: per-output chooses a lambda for each coordinate, but the metric is not feature-loss" \
    okra select --x x.csv --y y.csv --kx linear --ky linear --lambda 0.1,1 --per-output --metric mse
expect_fail 1 "okra fit: ridge: output-lambda has fewer than 2 numbers, one for each coordinate of the outputs" \
    okra fit --x x.csv --y y.csv --kx linear --ky linear --lambda 1 --output-lambda 1 -o e.okra
