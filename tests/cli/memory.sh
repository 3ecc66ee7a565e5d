# Arrays larger than --memory: converted into files in TMPDIR, and told where there is no
# room.

# descr rows columns bytes: a header, then so many bytes of standard input
array() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '$1', 'fortran_order': False, 'shape': ($2, $3), }"
    head -c $(($2 * $3 * $4))
}
seq 1000000 2000000 | array '|u1' 20000 100 1 >x.npy || true
seq 9000000 9200000 | array '|u1' 20000 20 1 >y.npy || true
fit="okra fit --x x.npy --y y.npy --kx rbf(sigma=20) --low-rank-x nystrom(rank=100) --quiet"

mkdir scratch
export TMPDIR="$PWD/scratch"
$fit -o plain.okra
$fit --memory 14M -o small.okra # x alone is 15.3 MiB
[ -z "$(ls scratch)" ]
okra predict plain.okra --x x.npy --decode explicit -o a.npy --quiet
okra predict small.okra --x x.npy --decode explicit -o b.npy --quiet
okra score --y a.npy --yhat b.npy --metric mse --quiet >score
awk '{ exit !($NF < 1e-16) }' score

(
    ulimit -f 1000
    expect_fail 1 "okra fit: x.npy: an array of 20000 x 100 doubles is larger than a quarter of the \
memory that is left, and $TMPDIR (TMPDIR) does not take its 16000000 bytes: File too large; expected a \
TMPDIR with more room, or a larger memory budget" $fit --memory 14M -o none.okra
)
TMPDIR=/nowhere expect_fail 1 "okra fit: x.npy: no file can be created in /nowhere (TMPDIR): \
No such file or directory" $fit --memory 14M -o none.okra
[ ! -e none.okra ]

# a file that is cut short is told as ever
head -c 100000 x.npy >cut.npy
expect_fail 1 "okra fit: cut.npy: an array of 20000 x 100 elements of 1 bytes does not fit in the \
99872 bytes after the header" okra fit --x cut.npy --y y.npy --memory 14M -o none.okra

# what grows with a file obeys the budget, too
head -c 6000000 /dev/zero | tr '\0' C | fold -w 1000 >s.txt
expect 1 okra gram --x s.txt --kernel 'spectrum(k=1)' --memory 8M -o none.npy
expect_in "characters of strings needs" err
expect 1 okra gram --x smiles:s.txt --kernel wl --memory 8M -o none.npy
expect_in "are beyond the memory budget" err

# limits under which matrix products would hang are told before them (a sanitizer's own
# memory does not fit such limits)
if okra --build-info | grep -q '^sanitizers: none$'; then
    seq 1000000 2000000 | array '|u1' 1500 20 1 >many.npy || true
    for option in -v -d; do
        (
            ulimit $option 200000
            OPENBLAS_NUM_THREADS=1 expect_fail 1 "okra: this process may have 195 MiB (ulimit \
-v, -d), and matrix products on 1 thread need 384: raise the limit" timeout -s KILL 20 okra demo --quiet
        )
        # more threads than the limit has buffers for: as many work as there is room for
        (
            export OPENBLAS_NUM_THREADS=1
            ulimit $option 900000
            expect 0 timeout -s KILL 60 okra gram -q --x many.npy --kernel 'rbf(sigma=9)' --threads 32 -o few.npy
        )
    done
    OPENBLAS_NUM_THREADS=1 okra gram -q --x many.npy --kernel 'rbf(sigma=9)' --threads 1 -o one.npy
    cmp few.npy one.npy
fi

# what nobody counts before obeys the budget, too: a wide beam, tables to fuse, results to report
printf 'ab\nabc\nabd\nbcd\nabcd\nbbd\n' >s.txt
okra fit -q --x s.txt --y s.txt --kx 'spectrum(k=2)' --ky 'spectrum(k=2)' --lambda 0.1 -o s.okra
expect 1 okra predict s.okra --x s.txt --decode loss:edit --over-all --beam 1000000 --threads 2 --memory 60M -o p.txt
expect_in "the memory budget is 60.00 MiB" err
okra predict -q s.okra --x s.txt --decode loss:edit --over-all --beam 20000 --threads 2 --memory 60M -o p.txt
awk 'BEGIN { print "test\tcandidate\tdistance"; for (i = 0; i < 100000; i++) print "1\t" i "\t0.5" }' >t.tsv
expect 1 okra fuse t.tsv t.tsv --memory 4M -o f.tsv
expect_in "more than the memory budget of 4 MiB" err
okra fuse -q t.tsv t.tsv -o f.tsv
awk 'BEGIN { printf "{\"okra\":\"0\",\"format\":1,\"kind\":\"a\",\"note\":\""; for (i = 0; i < 100000; i++) printf "0123456789"; print "\"}" }' >r.json
expect 1 okra report r.json --memory 4M -o r.html
expect_in "more than the memory budget of 4 MiB" err
# of what has no end, too
ln -s /dev/zero endless.tsv
expect 1 okra fuse endless.tsv endless.tsv --memory 4M -o f.tsv
expect_in "endless.tsv: cannot be read: File too large" err
expect 1 okra report endless.tsv --memory 4M -o r.html
expect_in "endless.tsv: more than 512 MiB" err

# a budget that the matrix of the fit breaks is told before kernels and lambda are chosen
seq 1000000 2000000 | array '|u1' 3000 3 1 >x3.npy || true
expect 1 okra fit --x x3.npy --y x3.npy --memory 60M -o none.okra
expect_in "the Gram matrix of the inputs of 3000 x 3000 doubles needs 68.66 MiB" err
expect_in " KiB are in use" err # of a search some MiB are left

# pairs with gaps: groups that are left out once do not stay, and what cannot be is told at once
awk 'BEGIN { srand(1); for (i = 0; i < 140; i++) { print rand() "," rand() >"side.csv"
    for (j = 0; j < 140; j++) printf "%s%s", rand() < 0.5 ? "nan" : rand(), j == 139 ? "\n" : "," >"gaps.csv" } }'
pairs="okra fit --rows side.csv --columns side.csv --y gaps.csv --memory"
$pairs 5000kB -o pairs.okra >/dev/null # 7 MB where all groups stayed
expect 1 $pairs 2000kB -o none.okra
expect_in "conjugate gradients of 140 x 140 pairs needs 1.64 MiB" err
expect 1 $pairs 400kB -o none.okra
expect_in "the fit of 140 x 140 pairs needs" err
