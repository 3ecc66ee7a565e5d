# okra gram: the matrix of a kernel, square and rectangular.
printf '1\n2\n' >a.csv
printf '3\n5\n' >b.csv
expect_out "$(printf '1,2\n2,4')" okra gram --x a.csv --kernel linear -o -
expect_out "$(printf '3,5\n6,10')" okra gram --x a.csv --y b.csv --kernel linear -o -
expect_out "$(printf '3,-3\n2,-2')" \
    okra gram --x a.csv --y b.csv --kernel 'linear | center' -o -
expect 0 okra gram --x a.csv --kernel 'poly(degree=2,coef0=0)' -o K.csv
expect_in "kernel         poly(degree=2,gamma=1,coef0=0)" out
expect_in "output         K.csv, 2 x 2" out
expect_out "$(printf '1,4\n4,16')" cat K.csv
okra gram --x a.csv --kernel linear -o K.npy --json >out
expect_in '"output": "K.npy"' out
expect_fail 2 "okra gram: kernel expression: expected ',' or ')'
    rbf(sigma=1
               ^" okra gram --x a.csv --kernel 'rbf(sigma=1' -o K.npy
expect_fail 1 "okra gram: no/K.npy: cannot be written: No such file or directory" \
    okra gram --x a.csv --kernel linear -o no/K.npy
expect 1 okra gram --x a.csv --kernel linear -o big.npy --memory 16
[ ! -e big.npy ]
# Written in several blocks of rows.
if [ -n "$OKRA_PYTHON" ]; then
    "$OKRA_PYTHON" -c "
import numpy as np
r = np.random.default_rng(1)
np.save('x.npy', r.normal(size=(700, 3))); np.save('y.npy', r.normal(size=(611, 3)))"
    for file in K.npy K.tsv; do
        expect 0 okra gram -q --x x.npy --y y.npy --kernel 'linear' -o $file
        expect 0 okra gram -q --x x.npy --kernel 'linear' -o S.${file#*.}
        "$OKRA_PYTHON" -c "
import numpy as np
x, y = np.load('x.npy'), np.load('y.npy')
K, S = (np.load(f) if f.endswith('npy') else np.loadtxt(f, delimiter='\t') for f in ('$file', 'S.${file#*.}'))
assert K.shape == (700, 611) and abs(K - x @ y.T).max() < 1e-13
assert S.shape == (700, 700) and abs(S - x @ x.T).max() < 1e-13"
    done
fi
