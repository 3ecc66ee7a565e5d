# --engine mpi: what several processes compute together is what one computes, to rounding;
# one of them talks and writes; and where one fails all end, with its message and no file.
expect 0 okra version --build-info
line=$(grep '^engine mpi: ' out)
awk 'BEGIN { for (i = 0; i < 41; i++) printf "%.6f,%.6f\n", sin(i), cos(3 * i) }' >x.csv
awk -F, '{ printf "%.6f,%.6f\n", $1 * $2, $1 - $2 }' x.csv >y.csv
case $line in
*": not here: "*)
    why=${line#*not here: }
    expect_fail 1 "okra fit: engine mpi: $why" okra fit --x x.csv --y y.csv --engine mpi -o m.okra
    refute [ -e m.okra ]
    exit 0
    ;;
esac
expect_in 'engine mpi: many processes, started by mpirun: Open MPI' out

source "$ROOT/tests/cli/lib/mpi.bash"
# near FILE FILE [MOST]: the same numbers to 1e-10, or to MOST.
near() {
    paste -d, "$1" "$2" | awk -F, -v most="${3:-1e-10}" '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (!(d * d <= most * most)) bad = 1 } }
        END { exit bad || NR == 0 }' || complain "$1 and $2 differ"
}
# same P FLAGS...: fits with the flags as one process and as P, predicts both ways. Weights of kernel PCA are as near
# as the rounding of its least eigenvalue, here 1e-12 of the largest (worst seen 1.9e-10, with OpenBLAS's code for AVX2).
same() {
    local most=1e-10
    case " $* " in *' --method kpca '*) most=1e-8 ;; esac
    local count=$1
    shift
    expect 0 okra fit -q "$@" -o host.okra
    expect 0 many "$count" okra fit -q --threads 1 "$@" --engine mpi:4 -o many.okra
    expect 0 okra predict -q host.okra --x "$2" --decode none --weights host.csv
    expect 0 okra predict -q many.okra --x "$2" --decode none --weights one.csv
    expect 0 many "$count" okra predict -q many.okra --x "$2" --decode none --weights many.csv --engine mpi:4
    near host.csv one.csv $most
    near host.csv many.csv $most
}
head -1 x.csv >x1.csv
head -3 x.csv >x3.csv
head -1 y.csv >y1.csv
head -3 y.csv >y3.csv
same 2 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1
same 6 --x x3.csv --y y3.csv --kx 'rbf(sigma=1)' --lambda 0.1
same 3 --x x1.csv --y y1.csv --kx linear --ky 'rbf(sigma=1)' --lambda 0.1
# Strings, and molecules.
printf 'abra\ncadabra\nbar\ncab\nabracadabra\nda\nrab\nbraca\ncard\n' >s.txt
printf 'CCO\nc1ccccc1\nCC(=O)O\nCCN\nCCCC\nOCC(O)CO\nCC#N\n' >m.smi
same 4 --x s.txt --y s.txt --kx 'spectrum(k=2) | normalize' --ky 'spectrum(k=2)' --lambda 0.1
same 3 --x m.smi --y m.smi --kx 'wl | normalize' --ky 'wl' --operator ccov --lambda 0.1

# Models that keep n x n numbers: written from blocks of rows, which no process has as a whole.
awk 'BEGIN { for (i = 0; i < 41; i++) print 0.5 + i % 3 }' >w.csv
printf '2,0\n0,1\n' >A.csv
for count in 1 2 3 4 6; do
    same $count --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.1
    same $count --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --operator ccov --lambda 0.1 --sample-weight w.csv
done
same 3 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.1 --sample-weight w.csv
same 3 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.1 --compact
same 2 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.1 --compact=recompute
same 3 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --method kpca --lambda 0.1
same 4 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --method kpca --lambda 0.1 --sample-weight w.csv
# The same arrays as those of one process, factors of an operator among them.
fields() { unzip -Z1 "$1" | sort; }
for flags in '--operator matrix:A.csv --keep weights' '--operator cov' '--lambda 0.2'; do
    expect 0 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky linear --lambda 0.1 $flags -o host.okra
    expect 0 many 3 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky linear --lambda 0.1 $flags --engine mpi:4 -o many.okra
    [ "$(fields host.okra)" = "$(fields many.okra)" ] || complain "other arrays: $flags"
    "$OKRA_PYTHON" -c '
import io, sys, zipfile
import numpy as np
one, many = (zipfile.ZipFile(name) for name in ("host.okra", "many.okra"))
for name in one.namelist():
    if name.endswith(".npy"):
        a, b = (np.load(io.BytesIO(z.read(name))) for z in (one, many))
        assert a.shape == b.shape and np.max(np.abs(a - b), initial=0) <= 1e-10, name' ||
        complain "other numbers: $flags"
done
# And an update of such a model, by several processes.
expect 0 okra update -q host.okra --x x3.csv --y y3.csv -o host2.okra
expect 0 many 3 okra update -q many.okra --x x3.csv --y y3.csv --engine mpi:4 -o many2.okra
expect 0 okra predict -q host2.okra --x x.csv --decode none --embedding host.csv
expect 0 okra predict -q many2.okra --x x.csv --decode none --embedding many.csv
near host.csv many.csv

# Low rank: each process goes over its rows, and fewer rows than processes.
low() {
    local count=$1
    shift
    expect 0 okra fit -q "$@" -o host.okra
    expect 0 many "$count" okra fit -q "$@" --engine mpi:4 -o many.okra
    expect 0 okra predict -q host.okra --x "$2" --decode none --embedding host.csv
    expect 0 many "$count" okra predict -q many.okra --x "$2" --decode none --embedding many.csv --engine mpi:4
    near host.csv many.csv
}
low 3 --x x.csv --y y.csv --kx 'rbf(sigma=1)' --low-rank-x 'nystrom(rank=12)' --operator ccov --lambda 0.1
low 6 --x x3.csv --y y3.csv --kx 'rbf(sigma=1)' --low-rank-x 'chol(rank=2)' --lambda 0.1
# Selection: leave-one-out over a grid of lambda, from one decomposition.
for engine in host mpi:4; do
    [ $engine = host ] && count=1 || count=3
    expect 0 many $count okra select -q --x x.csv --y y.csv --kx 'rbf(sigma={0.5,2})' \
        --lambda 1e-4..1e1 --cv loo --engine $engine -o best.okra
    expect 0 okra predict -q best.okra --x x.csv --decode none --embedding "${engine%:*}.csv"
done
near host.csv mpi.csv

# A Gram matrix.
expect 0 okra gram -q --x s.txt --kernel 'ssk(length=2) | normalize' -o host.csv
expect 0 many 3 okra gram -q --x s.txt --kernel 'ssk(length=2) | normalize' --engine mpi:2 -o many.csv
near host.csv many.csv
# A larger one, square and not, goes to the file in several blocks of rows.
awk 'BEGIN { for (i = 0; i < 700; i++) printf "%.6f,%.6f\n", sin(i), cos(3 * i) }' >many_x.csv
for y in '' '--y many_x.csv'; do
    expect 0 okra gram -q --x many_x.csv $y --kernel 'rbf(sigma=1)' -o host.npy
    for count in 2 3; do
        expect 0 many $count okra gram -q --x many_x.csv $y --kernel 'rbf(sigma=1)' --engine mpi -o many.npy
        "$OKRA_PYTHON" -c '
import numpy as np
a, b = np.load("host.npy"), np.load("many.npy")
assert a.shape == b.shape == (700, 700) and abs(a - b).max() <= 1e-14' || complain "another matrix"
    done
done

# One process talks. It is silent where it should be, and says the same as one does.
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1 -o m.okra
grep -v '^time' out >host.txt
expect 0 many 3 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1 --engine mpi -o m.okra
grep -v '^time' out >many.txt
expect_same host.txt many.txt
[ ! -s err ] || complain "something on standard error"

# One fails: its message, a status that is not 0, no file, nobody left.
rm -f m.okra
for r in 0 2; do ln -s x.csv "x-$r.csv"; done
expect 1 many 3 bash -c 'okra fit --x x-$OMPI_COMM_WORLD_RANK.csv --y y.csv --engine mpi -o m.okra'
expect_in 'okra fit: x-1.csv: cannot be opened: No such file or directory' err
[ "$(wc -l <err)" = 1 ] || complain "more than one message"
# All fail: one says why.
expect_fail 1 'okra fit: no.csv: cannot be opened: No such file or directory' \
    many 3 okra fit --x no.csv --y y.csv --engine mpi -o m.okra
# One has other data.
sed 's/^0\.8/0.7/' x.csv >x-1.csv
expect 1 many 3 bash -c 'okra fit --x x-$OMPI_COMM_WORLD_RANK.csv --y y.csv --kx "rbf(sigma=1)" --lambda 0.1 --engine mpi -o m.okra'
expect_in 'okra fit: engine mpi: the 3 processes do not do the same (this one: data and options of a fit, fingerprint ' err
# or another lambda, other rows of low rank, other test rows or candidates, or another model.
differ() { # WHAT COMMAND...: %s is x, y or m of this process
    local what=$1
    shift
    expect 1 many 2 bash -c 'r=$OMPI_COMM_WORLD_RANK; '"$*"' --engine mpi -o m.okra'
    expect_in "the 2 processes do not do the same (this one: $what" err
    [ "$(wc -l <err)" = 1 ] || complain "more than one message"
}
cp x.csv other-0.csv && sed 's/^0\.8/0.7/' x.csv >other-1.csv
cp y.csv target-0.csv && sed '$s/.*/7,7/' y.csv >target-1.csv
fit="okra fit --kx 'rbf(sigma=1)' --ky linear"
differ 'data and options of a fit' "$fit --x x.csv --y y.csv --lambda 0.\$((r + 1))"
differ 'data and options of a fit' "$fit --x other-\$r.csv --y y.csv --lambda 0.1 --low-rank-x 'nystrom(rank=5)'"
differ 'data and options of a fit' "$fit --x x.csv --y target-\$r.csv --lambda 0.1 --low-rank-x 'nystrom(rank=5)'"
differ 'data and options of a selection' 'okra select --cv loo --kx "rbf(sigma=1)" --lambda 1e-2..1 --x x.csv --y target-$r.csv'
differ 'model, data and options of a prediction' 'okra predict host.okra --x other-$r.csv'
differ 'model, data and options of a prediction' \
    'okra predict host.okra --x x.csv --decode candidates --candidates target-$r.csv'
expect 0 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1 -o model-0.okra
expect 0 okra fit -q --x x.csv --y target-1.csv --kx 'rbf(sigma=1)' --lambda 0.1 -o model-1.okra
differ 'model, data and options of a prediction' 'okra predict model-$r.okra --x x.csv'
expect_fail 2 'okra fit: engine mpi:x: expected the size of blocks after the colon, 1 to 4096, such as mpi:64 or mpi:64,scalapack' \
    okra fit --x x.csv --y y.csv --engine mpi:x -o m.okra
expect_fail 1 'okra fit: standard input: it reaches one of 2 processes alone: name a file' \
    many 2 okra fit --x csv:- --y y.csv --engine mpi -o m.okra
mkfifo pipe.csv
expect_fail 1 'okra fit: pipe.csv: it reaches one of 2 processes alone: name a file' \
    many 2 okra fit --x pipe.csv --y y.csv --engine mpi -o m.okra
expect_fail 2 'okra predict: standard input reaches one of 2 processes alone: --x needs a file' \
    many 2 okra predict host.okra --x - --engine mpi -o m.okra.csv
for file in m.okra m.okra*; do [ ! -e "$file" ] || complain "$file was written"; done
