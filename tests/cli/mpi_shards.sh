# Rows in several files, and test rows, shared by processes.
need_python
source "$ROOT/tests/cli/lib/mpi.bash"
cat >make.py <<'P'
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(20001, 3))
y = np.stack([np.sin(x[:, 0]) * x[:, 1], x[:, 2] ** 2], 1)
np.save("x.npy", x)
np.save("y.npy", y)
for k, (a, b) in enumerate([(0, 1), (1, 9000), (9000, 9003), (9003, 20001)]):
    np.save(f"x-{k}.npy", x[a:b])
for k, (a, b) in enumerate([(0, 12000), (12000, 20001)]):
    np.save(f"part-{k}.npy", y[a:b])
np.save("t.npy", r.normal(size=(40, 3)))
np.save("y-0.npy", y[:3])
np.save("y-1.npy", y[3:4])
np.save("t1.npy", r.normal(size=(1, 3)))
P
"$PYTHON" make.py
# near A B: the same numbers to 1e-10; bits A B: basis and all else that is not a sum are the same bytes.
cat >near.py <<'P'
import sys, zipfile
import numpy as np
how, a, b = sys.argv[1:]
if how == "near":
    a, b = np.load(a), np.load(b)
    assert a.shape == b.shape and abs(a - b).max() <= 1e-10 * max(1, abs(b).max()), abs(a - b).max()
else:
    a, b = zipfile.ZipFile(a), zipfile.ZipFile(b)
    names = [n for n in a.namelist() if n.startswith("x/")]
    assert names and all(a.read(n) == b.read(n) for n in names), names
P
near() { "$PYTHON" near.py near "$1" "$2" || complain "$1 and $2 differ"; }
low=(--kx 'rbf(sigma=2)' --ky linear --low-rank-x 'nystrom(rank=25)' --lambda 0.01 --threads 1)
expect 0 okra fit -q --x x.npy --y y.npy "${low[@]}" -o one.okra
expect 0 okra predict -q one.okra --x t.npy -o one.npy
for count in 1 2 3 4 6; do
    expect 0 many $count okra fit -q --x 'shards:x-*.npy' --y 'shards:part-*.npy' "${low[@]}" --engine mpi:8 -o many.okra
    expect 0 okra predict -q many.okra --x t.npy -o many.npy
    near one.npy many.npy
    "$PYTHON" near.py bits one.okra many.okra || complain "another basis with $count processes"
done
expect 0 okra info many.okra
expect_in 'pairs' out
expect 0 okra fit -q --x 'shards:x-*.npy' --y y.npy "${low[@]}" -o own.okra
expect 0 okra predict -q own.okra --x 'shards:t.npy' -o own.npy
near one.npy own.npy
# A fit that sees all pairs brings the rows together.
for count in 1 2; do
    expect 0 many $count okra fit -q --x 'shards:x-[02].npy' --y 'shards:y-*.npy' --kx linear --ky linear --lambda 1 \
        --engine mpi -o dense.okra
    expect 0 okra predict -q dense.okra --x t.npy -o $count.npy
done
near 1.npy 2.npy
# A row that one process reads: its message.
"$PYTHON" -c "
import numpy as np
x = np.load('x-3.npy'); x[10000, 2] = np.nan; np.save('x-3.npy', x)"
expect_fail 1 'okra fit: x-3.npy: row 10000, column 2 (counted from 0) is nan; values must be finite; outputs with gaps are read as missing:FILE' \
    many 3 okra fit -q --x 'shards:x-*.npy' --y 'shards:part-*.npy' "${low[@]}" --engine mpi:8 -o bad.okra
refute [ -e bad.okra ]

# Test rows, more and fewer than candidates and processes.
"$PYTHON" -c "
import numpy as np
x, y = np.load('x.npy'), np.load('y.npy')
np.save('sx.npy', x[:30]); np.save('sy.npy', y[:30]); np.save('c.npy', y[100:117])"
seq 30 | sed 's/.*/&a&b/' >s.txt
decode() { # P MODEL TESTS FLAGS...
    local count=$1 model=$2 tests=$3
    shift 3
    expect 0 okra predict -q "$model" --x "$tests" "$@" --top 3 -o one.csv
    expect 0 many "$count" okra predict -q "$model" --x "$tests" "$@" --top 3 --engine mpi:4 -o many.csv
    "$PYTHON" -c "
import csv
a, b = (list(csv.reader(open(f))) for f in ('one.csv', 'many.csv'))
assert len(a) == len(b) > 1, (len(a), len(b))
for p, q in zip(a, b):
    for u, v in zip(p, q):
        try:
            assert abs(float(u) - float(v)) <= 1e-10, (u, v)
        except ValueError:
            assert u == v, (u, v)" || complain "other candidates with $count processes"
}
expect 0 okra fit -q --x sx.npy --y sy.npy --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.1 -o rbf.okra
expect 0 okra fit -q --x sx.npy --y sy.npy --kx 'rbf(sigma=1)' --ky linear --lambda 0.1 -o linear.okra
expect 0 okra fit -q --x sx.npy --y s.txt --kx 'rbf(sigma=1)' --ky 'spectrum(k=1)' --lambda 0.1 -o strings.okra
for count in 1 2 3 4 6; do
    decode $count rbf.okra t.npy
    decode $count linear.okra t.npy --decode candidates
    decode $count strings.okra t.npy
done
decode 3 rbf.okra t.npy --candidates c.npy
decode 6 rbf.okra t1.npy --candidates c.npy
decode 6 linear.okra t1.npy --decode candidates --candidates c.npy

# A process reads the rows of its share alone: of four it holds a quarter of the 64 MB in its memory.
"$PYTHON" -c "
import numpy as np
r = np.random.default_rng(1)
for k in range(4):
    np.save(f'large-{k}.npy', r.normal(size=(250000, 8)))
np.save('target.npy', r.normal(size=(1000000, 1)))"
cat >peak.py <<'P'
import os, resource, subprocess, sys
subprocess.check_call(sys.argv[1:])
with open(f"rank-{os.getpid()}", "w") as file: # on one stream lines of several processes may mix
    file.write(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n")
P
for count in 1 4; do
    expect 0 many $count "$PYTHON" peak.py okra fit -q --x 'shards:large-*.npy' --y shards:target.npy --kx 'rbf(sigma=2)' \
        --ky linear --low-rank-x 'nystrom(rank=4)' --lambda 0.1 --threads 1 --memory 400M --engine mpi -o large.okra
    sort -n rank-* | tail -1 >"peak-$count"
    rm rank-*
done
[ "$(cat peak-4)" -lt $(($(cat peak-1) - 24000)) ] || complain "peaks of $(cat peak-1) and $(cat peak-4) KiB"
