# okra select: grids, tables, JSON, CSV, SVG, resuming, and what it refuses.
source "$ROOT/tests/cli/lib/small.bash"
expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma={1,2})' --lambda 1e-3..1:4 \
    --cells c.csv --plot p.svg -o best.okra
expect_in "okra: warning: select: the best lambda, 0.001, is the least value of its list: better \
ones may lie beyond it" err
[ "$(wc -l <err)" = 1 ]
for text in "cv             loo of 8 pairs, in closed form" "feature-loss   " "gcv   " \
    "8 cells; the best:" "model          best.okra"; do
    expect_in "$text" out
done
[ "$(wc -l <c.csv)" = 9 ]
expect_in "kx,ky,lambda,mean,error,gcv,refined,fold0" c.csv
expect_in "</svg>" p.svg
okra predict best.okra --x tx.csv --decode explicit -q -o h.csv

# folds and groups are taken without --cv
printf '0\n0\n1\n1\n2\n2\n3\n3\n' >fair.csv
for keys in "--folds fair.csv" "--groups fair.csv --cv kfold:4" "--groups fair.csv"; do
    expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1,1 $keys
    expect_in "kfold:" out
    sed -n '/the best/,$p' out >"${keys// /}"
done
expect_same ./--groupsfair.csv--cvkfold:4 ./--groupsfair.csv

# whole kernels as alternatives, refined within the best of them
expect 0 okra select --x x.csv --y y.csv --kx '{linear,standardize | rbf(sigma={1,2,4})}' \
    --lambda auto --refine 6
expect_in "of 8 pairs, in closed form" out
expect_in "kx             standardize | rbf(sigma=" out
expect 0 okra select --x x.csv --y y.csv --kx auto --ky auto --lambda auto --json
expect_in '"kx": "0.5*standardize"' out

# nothing given: as okra fit chooses, to the byte; lists that nobody wrote are no reason to warn
"$PYTHON" - <<'END'
import random
random.seed(3)
with open("bx.csv", "w") as x, open("by.csv", "w") as y, open("bc.csv", "w") as c:
    for _ in range(80):
        a, b = random.gauss(0, 1), random.gauss(0, 100)
        x.write(f"{a},{b}\n")
        y.write(f"{50 + a * a + random.gauss(0, 0.3)},{b / 50 + random.gauss(0, 0.3)}\n")
        c.write(("in" if a * a + b * b / 1e4 < 1.2 else "out") + "\n")
END
for y in by.csv labels:bc.csv; do
    okra select --x bx.csv --y $y -o sel.okra >out 2>err
    [ ! -s err ]
    expect_in "center-output  yes" out
    okra fit -q --x bx.csv --y $y -o fit.okra
    expect_same fit.okra sel.okra
done
okra select --x bx.csv --y by.csv --json >out
expect_in '"refined": true' out
# methods that are fitted anew: five folds, a few kernels, a metric of what is predicted
expect 0 okra select --x bx.csv --y labels:bc.csv --method margin
expect_in "cv             kfold:5" out
expect_in "zero-one       " out
expect_in "ky             zero-one | center" out
expect 0 okra select --x bx.csv --y by.csv --method knn
expect_in "r2             " out
expect_in " k=" out
expect 0 okra select --x bx.csv --y by.csv --cv gcv # which knows plain outputs alone
expect 0 okra select --x bx.csv --y by.csv --per-output
# a list whose end makes no difference is no reason to warn either
expect 0 okra select --x bx.csv --y by.csv --method knn --k '{70,75,79}' --cv loo --kx linear \
    --ky linear --metric mse
expect_in "the least value of its list" err
for i in 1 2 3 4 5 6 7 8; do echo 1,2; done >same.csv
expect 0 okra select --x x.csv --y same.csv --kx 'rbf(sigma={1,2,4})' --ky linear --center-output \
    --lambda '{0.01,0.1,1}'
[ ! -s err ]

# several descriptions of the inputs: kernels choose among them
expect 0 okra select --x x.csv --x y.csv --y y.csv --kx '{linear@1, linear@2}' --lambda 0.01
expect_in "kx             linear@2" out
expect_fail 2 "okra select: --x and --y are given once with --edges" \
    okra select --x x.csv --x x.csv --edges x.csv

# the value of one cell is the mean loss of models fitted without the pair
okra select -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.1 >closed
for i in 1 2 3 4 5 6 7 8; do
    sed "${i}d" x.csv >xi.csv && sed "${i}d" y.csv >yi.csv
    sed -n "${i}p" x.csv >xo.csv && sed -n "${i}p" y.csv >yo.csv
    okra fit -q --x xi.csv --y yi.csv --kx 'rbf(sigma=2)' --lambda 0.1 -o i.okra
    okra score -q --y yo.csv --model i.okra --x xo.csv
done >each
awk 'NR == FNR { want = $1; next } { sum += $1 }
    END { d = sum / 8 / want - 1; exit !(d < 1e-8 && d > -1e-8) }' closed each

# nested, other methods, JSON; finished work is read again
expect 0 okra select --x x.csv --y y.csv --method knn --k 1..2 --metric mse --cv nested:2,2 \
    --json --resume r
expect_in '"kind": "select"' out
grep -v seconds out >first
okra select --x x.csv --y y.csv --method knn --k 1..2 --metric mse --cv nested:2,2 --json \
    --resume r | grep -v seconds >second
expect_same first second
expect_fail 2 "okra select: r: holds work on other data, other options, another seed or \
another version: remove it, or name another file" okra select --x x.csv --y y.csv --method knn --k {1} --metric mse \
    --cv nested:2,2 --resume r

# auto is printed and stored
expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma=auto)'
expect_in "kx             rbf(sigma=1.41421)" out
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=auto)' -o auto.okra
expect_in "kx             rbf(sigma=1.41421)" out

expect 2 okra select --x x.csv --y y.csv --ky 'rbf(sigma={1,2})'
expect_in "the cells cannot be compared" err
expect_fail 2 "okra select: --plot is 'p.png', expected a name that ends in .svg" \
    okra select --x x.csv --y y.csv --plot p.png
expect_fail 2 "okra select: --plot needs a grid, but every flag has one value" \
    okra select --x x.csv --y y.csv --kx linear --ky linear --lambda 1 --plot p.svg

# links: areas of left-out nodes
printf '0,0\n0.1,0\n0,0.1\n0.1,0.1\n5,5\n5.1,5\n5,5.1\n5.1,5.1\n' >nodes.csv
printf '0 1\n1 2\n0 2\n2 3\n4 5\n5 6\n4 6\n6 7\n' >known.tsv
expect 0 okra select --x nodes.csv --edges known.tsv --kx auto --lambda auto
expect_in "kx=" out
network="--x nodes.csv --edges known.tsv --kx rbf(sigma={0.5,1})"
expect 0 okra select $network --lambda 0.1,1
expect_in "cv             loo of 8 nodes, in closed form" out
expect_in "auc-roc        " out
printf '0\n0\n1\n1\n0\n0\n1\n1\n' >parts.csv
expect 0 okra select $network --cv kfold:2 --folds parts.csv --metric auc-pr --json
expect_in '"metric": "auc-pr"' out
printf '0\n0\n0\n0\n1\n1\n2\n2\n' >parts.csv
printf '0 1\n1 2\n4 5\n' >known.tsv
printf '0\n1\n2\n3\n4\n5\n6\n7\n' >labelled.txt
expect_fail 2 "okra select: fold 2 tests 2 nodes with no edge, so that no pair is positive: \
there is nothing to rank; take fewer folds, or give them" \
    okra select $network --labelled labelled.txt --cv kfold:3 --folds parts.csv
expect_fail 2 "okra select: --output has no use with --edges: give the settings found to okra \
link" okra select $network -o m.okra
expect_fail 2 "okra select: --beta has no use without --edges" \
    okra select --x x.csv --y y.csv --beta 1
expect_fail 2 "okra select: --y FILE is missing: training outputs (or --edges FILE: a network)" \
    okra select --x x.csv

# outputs with missing values: the known ones count; nan is never the best
printf 'nan,1\n2,nan\n3,4\n5,6\n7,nan\n9,10\n11,12\n13,14\n' >gaps.csv
expect 0 okra select --x x.csv --y missing:gaps.csv --lambda 0.1,1 --kx 'rbf(sigma=1)' \
    --metric mse --cv kfold:2
refute grep -q nan out
printf '%s\n' 1e200 -1e200 2e200 -2e200 1e200 -1e200 2e200 -2e200 >huge.csv
expect_fail 1 "okra select: the metric has no value (nan) for any setting" \
    okra select --x x.csv --y huge.csv --method knn --k '{1,2}' --kx linear --ky linear \
    --metric r2 --cv kfold:2
