# okra select: grids, tables, JSON, CSV, SVG, resuming, and what it refuses.
source "$ROOT/tests/cli/lib/small.bash"
expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma={1,2})' --lambda 1e-3..1:4 \
    --cells c.csv --plot p.svg -o best.okra
[ ! -s err ]
for text in "cv             loo of 8 pairs, in closed form" "feature-loss   " "gcv   " \
    "8 cells; the best:" "model          best.okra"; do
    expect_in "$text" out
done
[ "$(wc -l <c.csv)" = 9 ]
expect_in "kx,lambda,mean,error,gcv,refined,fold0" c.csv
expect_in "</svg>" p.svg
okra predict best.okra --x tx.csv --decode explicit -q -o h.csv

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
