# okra fit --operator: joint kernels, saved, predicted, selected, left out.
source "$ROOT/tests/cli/lib/small.bash"
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --operator 'diagonal(t=0.3)' \
    --lambda 0.1 -o d.okra
expect 0 okra predict d.okra --x tx.csv --decode explicit -o d.csv
expect 0 okra info d.okra
expect_in "operator       diagonal(t=0.3)" out
expect_in "slope" out

# (1 - t) k I + t x_j x'_j: one coordinate at a time it is a sum of kernels
for j in 1 2; do
    "$PYTHON" - $j <<'PY' || exit 1
import math, sys
j = int(sys.argv[1]) - 1
read = lambda f: [[float(v) for v in r.split(",")] for r in open(f) if r.strip()]
x, y, t, h = read("x.csv"), read("y.csv"), read("tx.csv"), read("d.csv")
k = lambda a, b: 0.7 * math.exp(-sum((u - v) ** 2 for u, v in zip(a, b)) / 8) + 0.3 * a[j] * b[j]
n = len(x)
A = [[k(x[r], x[c]) + 0.1 * (r == c) for c in range(n)] + [y[r][j]] for r in range(n)]
for p in range(n):
    for r in range(n):
        if r != p:
            f = A[r][p] / A[p][p]
            A[r] = [a - f * b for a, b in zip(A[r], A[p])]
c = [A[r][n] / A[r][r] for r in range(n)]
for q, row in zip(t, h):
    want = sum(k(q, x[i]) * c[i] for i in range(n))
    assert abs(want - row[j]) < 1e-10 * max(1, abs(want)), (want, row[j])
PY
done

# tensor is identity, to the byte
okra fit -q --x x.csv --y y.csv --operator tensor -o t.okra
okra fit -q --x x.csv --y y.csv --operator identity -o i.okra
okra predict t.okra --x tx.csv -q --decode explicit -o t.csv
okra predict i.okra --x tx.csv -q --decode explicit -o i.csv
expect_same t.csv i.csv

# a grid of t and lambda; leave-one-out in closed form, k-fold fitted anew
expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma=2)' --operator 'diagonal(t={0,0.5,1})' --lambda 0.1,1 \
    --decode explicit --metric mse -o best.okra
expect_in "loo of 8 pairs, in closed form" out
expect_in "6 cells; the best:" out
expect 0 okra select --x x.csv --y y.csv --operator 'diagonal(t={0,0.5})' --cv kfold:2
okra predict best.okra --x tx.csv -q --decode explicit -o b.csv

cut -d, -f1 x.csv >x1.csv
expect_fail 1 "okra fit: ridge: operator diagonal pairs the coordinates of inputs and outputs: \
expected dense inputs of length 2, found 8 dense vectors of length 1" \
    okra fit --x x1.csv --y y.csv --operator 'diagonal(t=0.5)' -o no.okra
expect_fail 2 "okra fit: operator: 'diagonal(t=2)', expected diagonal(t=V) with 0 <= V <= 1" \
    okra fit --x x.csv --y y.csv --operator 'diagonal(t=2)' -o no.okra
