# Killed while conjugate gradients run and started again with the checkpoint, fit ends with
# the model of a run in one go.
need_python
"$PYTHON" -c "
import numpy
r = numpy.random.default_rng(1)
x = r.normal(size=(6000, 10))
numpy.save('x.npy', x)
numpy.save('y.npy', numpy.sin(x @ r.normal(size=(10, 5))))"
fit=(okra fit -q --x x.npy --y y.npy --kx 'rbf(sigma=3)' --low-rank-x 'nystrom(rank=150)'
    --lambda 1e-3 --solver cg --cg-tolerance 1e-12 --threads 1)
"${fit[@]}" -o whole.okra
killed=0
for i in 1 2 3 4 5; do
    "${fit[@]}" --checkpoint state -o again.okra &
    pid=$!
    until_saved $pid state
    sleep "0.0$i"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || killed=$((killed + 1))
done
[ -e state ]
[ $killed -gt 0 ]
"${fit[@]}" --checkpoint state -o again.okra
"$PYTHON" -c "
import numpy, zipfile
a, b = (numpy.load(zipfile.ZipFile(f).open('bag/coefficients.npy')) for f in ('whole.okra', 'again.okra'))
assert (a == b).all()"

# of other options it is no use, and says so
expect 2 "${fit[@]}" --lambda 2e-3 --checkpoint state -o other.okra
expect_in "another fit" err
