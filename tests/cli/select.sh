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
expect_in "kx,lambda,mean,error,gcv,refined,fold0" c.csv
expect_in "</svg>" p.svg
okra predict best.okra --x tx.csv --decode explicit -q -o h.csv

# whole kernels as alternatives, refined within the best of them
expect 0 okra select --x x.csv --y y.csv --kx '{linear,standardize | rbf(sigma={1,2,4})}' \
    --lambda auto --refine 6
expect_in "of 8 pairs, in closed form" out
expect_in "kx             standardize | rbf(sigma=" out
expect 0 okra select --x x.csv --y y.csv --kx auto --ky auto --lambda auto --json
expect_in '"kx": "0.5*standardize"' out

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
another version" okra select --x x.csv --y y.csv --method knn --k {1} --metric mse \
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
    okra select --x x.csv --y y.csv --plot p.svg

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
