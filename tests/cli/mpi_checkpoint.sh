# --checkpoint of many processes: one is killed, and the job started again goes on, by as many processes with the same
# bits, by another number with the same numbers.
need_python
source "$ROOT/tests/cli/lib/mpi.bash"
"$PYTHON" -c "
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(30000, 5))
y = np.sin(x @ r.normal(size=(5, 3)))
np.save('x.npy', x); np.save('y.npy', y)
for k in range(3):
    np.save(f'x-{k}.npy', x[k * 10000:(k + 1) * 10000])
np.save('sx.npy', x[:200]); np.save('sy.npy', y[:200])"
arrays() { # NAME MODEL MODEL TOLERANCE
    "$PYTHON" -c "
import sys, zipfile
import numpy as np
a, b = (np.load(zipfile.ZipFile(f).open(f'bag/{sys.argv[1]}.npy')) for f in sys.argv[2:4])
assert abs(a - b).max() <= float(sys.argv[4]) * abs(a).max(), abs(a - b).max()" "$@" || complain "$2 and $3 differ"
}
low=(okra fit -q --x 'shards:x-*.npy' --y y.npy --kx 'rbf(sigma=3)' --ky linear --low-rank-x 'nystrom(rank=120)'
    --lambda 0.1 --threads 1 --engine mpi:16)
expect 0 many 3 "${low[@]}" --checkpoint whole -o whole.okra
killed=0
for i in 1 2 3; do
    mpirun --oversubscribe -n 3 "${low[@]}" --checkpoint state -o again.okra 2>/dev/null &
    job=$!
    until_saved $job state
    sleep "0.0$i"
    victim=$(pgrep -P $job | sed -n "${i}p" || true)
    [ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || true
    wait $job 2>/dev/null || killed=$((killed + 1))
    [ $i != 1 ] || cp state early
done
[ $killed -gt 0 ] || complain "none was killed"
expect 0 many 3 "${low[@]}" --checkpoint state -o again.okra
arrays coefficients whole.okra again.okra 0
cmp whole.okra again.okra || complain "another model"
# Another number of processes goes on from the early state; so does one without MPI.
cp early state
expect 0 many 2 "${low[@]}" --checkpoint state -o two.okra
arrays coefficients whole.okra two.okra 1e-7
expect 0 okra predict -q whole.okra --x sx.npy -o a.npy
expect 0 okra predict -q two.okra --x sx.npy -o b.npy
"$PYTHON" -c "
import numpy as np
a, b = np.load('a.npy'), np.load('b.npy')
assert abs(a - b).max() < 1e-10, abs(a - b).max()"
# Other data, other options, a damaged file.
expect_fail 2 'okra fit: checkpoint state: it is the checkpoint of another fit: other data or options, or conjugate gradients on another kind of processor; remove it, or name another file' \
    many 2 "${low[@]}" --lambda 0.2 --checkpoint state -o no.okra
head -c 1000 state >cut
expect 1 many 2 "${low[@]}" --checkpoint cut -o no.okra
expect_in 'okra fit: checkpoint cut: ' err
[ "$(wc -l <err)" = 1 ] || complain "more than one message"

# The factor: made once, used by any number of processes.
dense=(fit -q --x sx.npy --y sy.npy --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --lambda 0.1 --threads 1)
expect 0 many 3 okra "${dense[@]}" --engine mpi:16 -o plain.okra
expect 0 many 3 okra "${dense[@]}" --engine mpi:16 --checkpoint factor -o first.okra
cmp plain.okra first.okra || complain "a checkpoint changes the model"
for count in 3 2; do
    expect 0 many $count okra "${dense[@]}" --engine mpi:16 --checkpoint factor -o again.okra
    arrays factor plain.okra again.okra 0
done
expect 0 okra "${dense[@]}" --checkpoint factor -o host.okra
arrays factor plain.okra host.okra 0
for file in no.okra *.okra.*.tmp; do [ ! -e "$file" ] || complain "$file was written"; done
