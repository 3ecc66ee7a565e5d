# Compact model files: whole, compact and recomputed ones predict the same with every decoder, after
# fit and after select; the sizes are as they are told.
need_python
"$PYTHON" - <<'END'
import numpy as np
r = np.random.default_rng(3)
n = 60
x = r.normal(size=(n, 4))
np.save("x.npy", x)
np.save("t.npy", r.normal(size=(12, 4)))
np.save("vectors.npy", np.stack([x[:, 0] * x[:, 1], x[:, 2]], axis=1))
np.save("sets.npy", (x @ r.normal(size=(4, 5)) > 0.4).astype(float))
open("classes.csv", "w").write("\n".join("abc"[int(v > -0.5) + int(v > 0.5)] for v in x[:, 0]) + "\n")
open("words.txt", "w").write("\n".join(
    "".join("abc"[int(v > -0.5) + int(v > 0.5)] for v in row) for row in x) + "\n")
END

bytes() { stat -c %s "$1"; }

# check NAME DECODER FIT-FLAGS...: the three files of one model, and what they predict
check() {
    local name=$1 decode=$2 how ext=csv
    shift 2
    [ "$name" != words ] || ext=txt
    okra fit -q "$@" -o whole.okra
    okra fit -q "$@" --compact -o yes.okra
    okra fit -q "$@" --compact=recompute -o recompute.okra
    for how in whole yes recompute; do
        expect 0 okra predict -q $how.okra --x t.npy --decode "$decode" -o $how.$ext
    done
    expect_same whole.$ext yes.$ext
    expect_same whole.$ext recompute.$ext
    expect 0 okra info recompute.okra
    [ "$(bytes yes.okra)" -le "$(bytes whole.okra)" ] || complain "$name: --compact is larger"
    [ "$(bytes recompute.okra)" -le "$(bytes whole.okra)" ] || complain "$name: recompute is larger"
}
ridge="--x x.npy --kx rbf(sigma=2) --lambda 0.1"
check vectors explicit $ridge --y vectors.npy --ky linear
check vectors candidates $ridge --y vectors.npy --ky 'rbf(sigma=1)'
check vectors fixed-point $ridge --y vectors.npy --ky 'rbf(sigma=1)'
check vectors gradient $ridge --y vectors.npy --ky 'rbf(sigma=1)'
check sets labels $ridge --y sets.npy --ky linear
check classes candidates $ridge --y labels:classes.csv --ky zero-one
check words position $ridge --y words.txt --ky 'position(zero-one)'
check words candidates $ridge --y words.txt --ky 'spectrum(k=2)'
check words string $ridge --y words.txt --ky 'spectrum(k=2)'
check twin optimum --x x.npy --y vectors.npy --method tgp-kl --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)'
for operator in cov ccov; do
    check $operator candidates $ridge --y vectors.npy --ky 'rbf(sigma=1)' --operator $operator
done

# no factor is left in the file, and everything that needs one works
okra fit -q $ridge --y words.txt --ky 'spectrum(k=2)' -o whole.okra
okra fit -q $ridge --y words.txt --ky 'spectrum(k=2)' --compact=recompute -o small.okra
[ "$(bytes small.okra)" -lt $(($(bytes whole.okra) - 60 * 60 * 7)) ]
for model in whole small; do
    okra predict -q $model.okra --x t.npy --weights $model.npy
    okra predict -q $model.okra --x t.npy --set 0.2 --conformal full -o $model.sets.tsv
done
expect_same whole.npy small.npy
expect_same whole.sets.tsv small.sets.tsv

# weights of pairs: half of the factor is kept
awk 'BEGIN { for (i = 0; i < 60; i++) print 1 + i % 3 }' >u.csv
check weighted candidates $ridge --y vectors.npy --ky 'rbf(sigma=1)' --sample-weight u.csv

# select
okra select -q $ridge --y words.txt --ky 'spectrum(k={1,2})' --metric edit -o whole.okra
okra select -q $ridge --y words.txt --ky 'spectrum(k={1,2})' --metric edit --compact -o half.okra
okra select -q $ridge --y words.txt --ky 'spectrum(k={1,2})' --metric edit --compact=recompute \
    -o small.okra
[ "$(bytes half.okra)" -lt $(($(bytes whole.okra) - 60 * 29 * 8)) ]
[ "$(bytes small.okra)" -lt $(($(bytes half.okra) - 60 * 30 * 7)) ]
for model in whole half small; do
    okra predict -q $model.okra --x t.npy -o $model.txt
done
expect_same whole.txt half.txt
expect_same whole.txt small.txt

# the size is told before a large file is written
"$PYTHON" -c 'import numpy as np
np.save("big.npy", np.random.default_rng(1).normal(size=(3000, 2)))'
expect 0 okra fit --x big.npy --y big.npy --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --lambda 0.1 --compact=no -o big.okra
expect_in "okra fit: the model takes about 68.8 MiB; with --compact 34.4 MiB; with --compact=recompute 93.8 KiB" err
[ "$(bytes big.okra)" -gt $((68 * 1024 * 1024)) ]
# by default it has what prediction needs: no factor where it is large
expect 0 okra fit --x big.npy --y big.npy --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --lambda 0.1 -o small.okra
expect_in "okra fit: the model leaves out its factor, 68.8 MiB, which is computed again where it is needed" err
[ "$(bytes small.okra)" -lt 200000 ]
"$PYTHON" -c 'import numpy as np
np.save("few.npy", np.load("big.npy")[:9])'
for model in big small; do
    okra predict -q $model.okra --x few.npy -o $model.csv
done
expect_same big.csv small.csv
# explicit outputs: coefficients alone; weights, intervals and updates are those of the whole model
okra fit -q --x big.npy --y big.npy --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --keep weights -o big.okra
okra fit -q --x big.npy --y big.npy --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o small.okra
[ "$(bytes big.okra)" -gt $((68 * 1024 * 1024)) ]
[ "$(bytes small.okra)" -lt 200000 ]
for model in big small; do
    okra predict -q $model.okra --x few.npy --weights $model.npy -o $model.csv
done
expect_same big.csv small.csv
"$PYTHON" -c 'import numpy as np
assert np.abs(np.load("big.npy") - np.load("small.npy")).max() < 1e-12'
expect 0 okra update small.okra --x few.npy --y few.npy -o more.okra
expect_in "new fit: the model does not keep its factor (okra fit --keep weights keeps it)" out
"$PYTHON" -c 'import numpy as np
np.save("big.npy", np.random.default_rng(1).normal(size=(3000, 2)))'
expect 0 okra select --x big.npy --y big.npy --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --lambda 0.1 --cv kfold:2 \
    --compact=recompute -o big.okra
[ "$(bytes big.okra)" -lt 200000 ]
expect_fail 2 "okra fit: compact is 'half', expected one of no|yes|recompute|auto" \
    okra fit --x big.npy --y big.npy --compact=half -o m.okra
