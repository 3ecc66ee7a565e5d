# okra fit: summary, JSON, lists of lambdas, and what it refuses.
source "$ROOT/tests/cli/lib/small.bash"
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.1 -o m.okra
[ ! -s err ]
for text in "model          m.okra, " "inputs         dense, 8 of width 2" \
    "outputs        dense, 8 of width 2" "kx             rbf(sigma=2)" \
    "ky             linear" "method         ridge" "lambda         0.1" "jitter         0" \
    "time           "; do
    expect_in "$text" out
done
okra fit --quiet --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.1 -o again.okra >out
[ ! -s out ]
expect_same m.okra again.okra
okra fit --quiet --x x.csv --y y.csv --kx='rbf(sigma=2)' --lambda=0.1 --threads 1 -o one.okra

# a list of lambdas: one model each, near those fitted alone
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.1,1,1e1 \
    -o 'm-{lambda}.okra' --json
[ "$(grep -c '"model": "m-' out)" = 3 ]
for lambda in 0.1 1 1e1; do
    okra fit --quiet --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda $lambda -o alone.okra
    for model in alone m-$lambda; do
        okra predict $model.okra --x tx.csv --decode explicit -q -o $model.csv
    done
    okra score -q --y alone.csv --yhat "m-$lambda.csv" --metric mae >difference
    awk '{ exit !($1 < 1e-12) }' difference
done

expect_fail 2 "okra fit: --lambda lists 2 values, so that -o must hold {lambda}, e.g. -o \
'model-{lambda}.okra'" okra fit --x x.csv --y y.csv --lambda 1,2 -o m.okra
expect_fail 2 "okra fit: --lambda is '1,,2', expected numbers between commas" \
    okra fit --x x.csv --y y.csv --lambda 1,,2 -o 'm-{lambda}.okra'
expect_fail 2 "okra fit: --lambda holds 'much', expected a number" \
    okra fit --x x.csv --y y.csv --lambda much -o n.okra
expect_fail 2 "okra fit: ridge: lambda is -1, expected 0 to 1e+300" \
    okra fit --x x.csv --y y.csv --lambda -1 -o n.okra
expect_fail 2 "okra fit: method knn does not use the option 'lambda'" \
    okra fit --x x.csv --y y.csv --method knn --lambda 1 -o n.okra
expect_fail 2 "okra fit: method knn does not use the option 'lambda'" \
    okra fit --x x.csv --y y.csv --method knn --lambda 1,2 -o 'n-{lambda}.okra'
expect_fail 2 "okra fit: there is no method 'rigde'; did you mean 'ridge'?" \
    okra fit --x x.csv --y y.csv --method rigde -o n.okra
expect_fail 2 "okra fit: kx: kernel expression: unknown kernel 'rbff', did you mean 'rbf'?
    rbff(sigma=1)
    ^" okra fit --x x.csv --y y.csv --kx 'rbff(sigma=1)' -o n.okra
for method in knn ridge; do
    expect_fail 1 "okra fit: --x x.csv has 8 objects, --y ty.csv has 3; expected an output for each input" \
        okra fit --x x.csv --y ty.csv --method $method -o n.okra
done
expect_fail 1 "okra fit: tx.csv has 3 dense vectors of length 2, y.csv has 8 dense vectors of length 2; \
expected as many of each" okra fit --x tx.csv --y y.csv -o n.okra
expect_fail 1 "okra fit: none.csv: cannot be opened: No such file or directory" \
    okra fit --x none.csv --y y.csv -o n.okra
expect_fail 1 "okra fit: no/n.okra: cannot be written: No such file or directory" \
    okra fit --x x.csv --y y.csv -o no/n.okra
expect_fail 2 "okra fit: a model is mapped from its file: -o must name one" \
    okra fit --x x.csv --y y.csv -o -
[ ! -e n.okra ]

# a singular system is solved with jitter, which is said and recorded
printf '1\n1\n1\n' >same.csv
expect 0 okra fit --x same.csv --y same.csv --kx linear --lambda 1e-300 -o j.okra
expect_in "okra: warning: " err
if grep -q '^jitter         0$' out; then
    echo "no jitter in the summary" >&2
    exit 1
fi
expect 0 okra fit --x same.csv --y same.csv --kx linear --lambda 1e-300 -o j.okra --quiet
[ ! -s err ]

# the data folder: by flag, by variable, and only where the file is not found as typed
mkdir elsewhere
mv x.csv y.csv elsewhere
expect 0 okra fit -q --data elsewhere --x x.csv --y y.csv -o d.okra
OKRA_DATA=elsewhere expect 0 okra fit -q --x csv:x.csv --y y.csv -o e.okra
expect_same d.okra e.okra
expect 1 okra fit -q --x x.csv --y y.csv -o f.okra

# compact files: coefficients alone, or half of the factor; the same predictions
cp elsewhere/x.csv elsewhere/y.csv . 2>/dev/null || true
"$PYTHON" - <<'END'
import random
random.seed(2)
with open("bx.csv", "w") as x, open("by.csv", "w") as y:
    for _ in range(120):
        a, b = random.random(), random.random()
        x.write(f"{a},{b}\n")
        y.write(f"{a * b},{a - b}\n")
END
for ky in linear 'rbf(sigma=1)'; do
    args="--x bx.csv --y by.csv --kx rbf(sigma=1) --lambda 0.1"
    okra fit -q $args --ky "$ky" -o whole.okra
    okra fit -q $args --ky "$ky" --compact -o small.okra
    for model in whole small; do
        okra predict -q $model.okra --x bx.csv -o $model.csv
    done
    expect_same whole.csv small.csv
    [ "$(stat -c %s small.okra)" -lt $(($(stat -c %s whole.okra) * 2 / 3)) ]
    expect 0 okra info small.okra
done
okra predict -q small.okra --x bx.csv --weights w.npy
okra fit -q $args --ky linear --compact -o small.okra
expect 1 okra predict small.okra --x bx.csv --weights w.npy
expect_in "there are no weights over the training outputs" err

# classes in a .txt file, one per line, in and out; hints where a file is not what it seems
printf 'one class\nb\none class\nb\none class\nb\nb\none class\n' >classes.txt
okra fit -q --x x.csv --y labels:classes.txt --kx linear --lambda 0.1 -o l.okra
okra predict -q l.okra --x x.csv -o l.txt
[ "$(sort -u l.txt | tr '\n' ';')" = "b;one class;" ]
(echo kind && cat classes.txt) >headed.csv
expect_fail 1 "okra fit: x.csv has 8 dense vectors of length 2, headed.csv has 9 labels of 3 classes; expected as \
many of each; if the first line of y is a heading, labels:FILE:HEADING reads what is below it" \
    okra fit --header no --x x.csv --y labels:headed.csv -o o.okra
okra fit -q --x x.csv --y labels:headed.csv --kx linear --lambda 0.1 -o o.okra
okra fit -q --x x.csv --y labels:headed.csv:kind --kx linear --lambda 0.1 -o o.okra
# semicolons in place of commas, decimal commas too; one table for x and y
tr , ';' <x.csv >semi.csv
tr ., ',;' <x.csv >decimal.csv
okra fit -q --x x.csv --y y.csv --kx linear --lambda 0.1 -o o.okra
for file in semi.csv decimal.csv; do
    okra fit -q --x $file --y y.csv --kx linear --lambda 0.1 -o o2.okra
    expect_same o.okra o2.okra
done
tr , ';' <x.csv >semi.tsv
expect_fail 1 "okra fit: semi.tsv: line 2, column 1: '$(sed -n 2p semi.tsv)' is not a number; fields \
stand between commas in .csv files, between tabs in .tsv files" okra fit --x semi.tsv --y y.csv -o o2.okra
(echo a,b,kind && paste -d, x.csv classes.txt) >table.csv
okra fit -q --x x.csv --y labels:classes.txt --kx linear --lambda 0.1 -o o.okra
for kind in table.csv:kind table.csv:3 labels:table.csv:kind; do
    expect 0 okra fit --x table.csv --y $kind --kx linear --lambda 0.1 -o o2.okra
    expect_in "okra fit: x is table.csv without the column '${kind##*:}', which is y" err
    okra predict -q o.okra --x x.csv -o p.txt
    okra predict -q o2.okra --x 'table.csv:!kind' -o p2.txt
    expect_same p.txt p2.txt
done
okra fit -q --x 'table.csv:!kind' --y table.csv:b --kx linear --lambda 0.1 -o o2.okra
expect_fail 2 "okra fit: table.csv: there is no column 'c' among the 3 columns: a, b, kind" \
    okra fit -q --x table.csv --y table.csv:c -o o2.okra
expect_fail 1 "okra fit: one.csv: without its only column the table is empty" \
    bash -c "cut -d, -f1 x.csv >one.csv; okra fit -q --x one.csv --y one.csv:1 -o o2.okra"

# a factor in single precision gives the same answers, and says what it did
awk 'BEGIN { srand(2); for (i = 0; i < 300; i++) print rand() "," rand() "," rand() }' >table.csv
for precision in double mixed; do
    okra fit --x table.csv --y table.csv --kx "rbf(gamma=1)" --ky linear --lambda 0.1 --keep coefficients \
        --precision $precision -o "$precision.okra" >"$precision.out" 2>err
    okra predict -q "$precision.okra" --x table.csv --decode explicit -o "$precision.csv"
done
expect_in "mixed.steps" mixed.out
expect_in "mixed.residual" mixed.out
if grep mixed.steps double.out; then exit 1; fi
paste -d, double.csv mixed.csv | awk -F, '{ for (i = 1; i <= 3; i++) { e = $i - $(i + 3); if (e * e > 1e-18) exit 1 } }'
okra fit --x table.csv --y table.csv --kx "rbf(gamma=1)" --ky linear --lambda 1e-8 --precision mixed -o l.okra >out 2>err
expect_in "double precision is taken" err
expect_fail 2 "okra fit: ridge: precision mixed keeps coefficients alone, not weights" \
    okra fit --x table.csv --y table.csv --ky linear --kx linear --lambda 1 --keep weights --precision mixed -o l.okra

# a lambda that is lost in rounding is taken as 0, not as the rounding
awk 'BEGIN { srand(1); for (i = 0; i < 60; i++) print rand() "," rand() "," rand() }' >low.csv
for lambda in 0 1e-16; do
    okra fit --x low.csv --y low.csv --kx linear --ky linear --lambda $lambda -o "l$lambda.okra" >out 2>err
    okra predict -q "l$lambda.okra" --x low.csv --decode explicit -o "l$lambda.csv"
done
expect_in "lambda is lost in rounding, and taken as 0" err
expect_same l0.csv l1e-16.csv
