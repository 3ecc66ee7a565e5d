# okra predict: objects, weights, embeddings, ranked candidates, in another folder too.
source "$ROOT/tests/cli/lib/small.bash"
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.01 -o m.okra
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --lambda 0.01 -o r.okra

# the vector itself, as the output kernel is linear
expect 0 okra predict m.okra --x tx.csv -q -o h.csv
okra predict m.okra --x tx.csv --decode explicit -q -o e.csv
expect_same h.csv e.csv
[ "$(grep -cxFf y.csv h.csv)" = 0 ]
expect 0 okra predict m.okra --x tx.csv --decode candidates -o a.csv
for text in "tests          3" "output         a.csv" "time           "; do
    expect_in "$text" out
done
# what is chosen is one of the training outputs
while read -r line; do
    grep -qxF "$line" y.csv
done <a.csv
expect_out "$(cat a.csv)" okra predict m.okra --x tx.csv --decode candidates -o -

# elsewhere, with nothing but the model and the inputs
mkdir far away
cp m.okra tx.csv far
(cd away && okra predict ../far/m.okra --x ../far/tx.csv --decode candidates -q -o a.csv)
expect_same a.csv away/a.csv

# warnings about the training set name the model
okra fit -q --x x.csv --y y.csv --kx cosine -o zero.okra
expect 0 okra predict zero.okra --x tx.csv -o zero.csv
expect_in "okra: warning: zero.okra: in 1 of 8 objects (the first: row " err

# ranked candidates
okra predict r.okra --x tx.csv --top 2 -q -o top.tsv
[ "$(head -1 top.tsv)" = "$(printf 'test\trank\tcandidate\tdistance')" ]
[ "$(wc -l <top.tsv)" = 7 ]
[ "$(sed 1d top.tsv | cut -f 1,2 | tr '\t\n' ':;')" = "0:1;0:2;1:1;1:2;2:1;2:2;" ]
okra predict r.okra --x tx.csv --top 2 -q -o top.csv
tr '\t' , <top.tsv >commas
expect_same commas top.csv
okra predict r.okra --x tx.csv --top 2 -q -o top.json
[ "$(grep -c '"test": .*"rank": .*"candidate": .*"distance": ' top.json)" = 6 ]
expect 0 okra predict r.okra --x tx.csv --top 2 -o -
expect_same top.tsv out

# a model that has a decoder which makes up nothing ranks different candidates, too
printf '%s\n' 0,1 0,1 1,0 1,0 0,1 1,1 1,1 0,1 >few.csv
okra fit -q --x x.csv --y few.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --decode explicit -o few.okra
okra predict few.okra --x tx.csv --top 3 -q -o top.tsv
[ "$(awk '$1 == "0" { print $3 }' top.tsv | sort -u | wc -l)" = 3 ]
[ "$(awk '$1 == "0" { print $4 }' top.tsv | sort -u | wc -l)" = 3 ]

# each different candidate once, with its text
printf 'b\na\nb\na\nb\na\nb\nc\n' >names.csv
okra fit -q --x x.csv --y labels:names.csv --kx 'rbf(sigma=2)' --ky zero-one --lambda 0.1 -o l.okra
okra predict l.okra --x tx.csv --top 8 -q -o top.tsv
[ "$(head -1 top.tsv)" = "$(printf 'test\trank\tcandidate\tdistance\tobject')" ]
[ "$(awk '$1 == 0 { print $5 }' top.tsv | sort | tr -d '\n')" = abc ]
awk 'NR > 1 { want = $3 == 0 ? "b" : $3 == 1 ? "a" : $3 == 7 ? "c" : ""; if ($5 != want) exit 1 }' top.tsv
okra predict l.okra --x tx.csv --top 2 -q -o top.json
[ "$(grep -c '"object": "[abc]"}' top.json)" = 6 ]
"$PYTHON" -c 'import json; assert len(json.load(open("top.json"))) == 6'
okra predict r.okra --x tx.csv --top 2 -q -o top.tsv

# the best of the ranking is the predicted object
okra predict r.okra --x tx.csv -q -o best.csv
sed 1d top.tsv | awk '$2 == 1 { print $3 + 1 }' | while read -r row; do
    sed -n "${row}p" y.csv
done >chosen.csv
expect_same chosen.csv best.csv

# candidates of one's own, and a range of them for each test point
printf '0,0\n9,9\n2,1\n1,1\n' >c.csv
okra predict m.okra --x tx.csv --candidates c.csv --top 1 -q -o c.tsv
[ "$(awk 'NR > 1 && $3 == 1' c.tsv | wc -l)" = 0 ]
printf '1,2\n0,4\n2,3\n' >ranges.csv
okra predict m.okra --x tx.csv --candidates c.csv --ranges ranges.csv --top 3 -q -o c.tsv
expect 0 okra predict m.okra --x tx.csv --candidates c.csv --ranges ranges.csv --top 3 -o more.tsv
cmp c.tsv more.tsv
expect_in "candidates     4, compared with a test point 2.0" out
# other files beside the table are named; on standard output they stand alone
expect 0 okra predict m.okra --x tx.csv --top 2 --weights w.csv -o more.tsv
expect_in "weights        w.csv" out
expect 0 okra predict m.okra --x tx.csv --top 2 --weights w.csv --json -o more.tsv
expect_in '"weights": "w.csv"' out
expect 0 okra predict m.okra --x tx.csv --top 2 --weights - -o more.tsv
cmp out w.csv
expect 0 okra predict m.okra --x tx.csv --top 2 --weights - --json -o more.tsv
cmp out w.csv
for top in "" "--top 2"; do
    # shellcheck disable=SC2086
    okra predict m.okra --x tx.csv $top --confidence sure.tsv -q -o more.tsv
    # shellcheck disable=SC2086
    expect 0 okra predict m.okra --x tx.csv $top --confidence - -o more.tsv
    [ "$(wc -l <out)" = "$(wc -l <sure.tsv)" ]
done
[ "$(awk '$1 == "0" { print $3 }' c.tsv)" = 1 ]
[ "$(awk '$1 == "1" { print $3 }' c.tsv | wc -l)" = 3 ]
[ "$(awk '$1 == "2" { print $3 }' c.tsv)" = 2 ]
printf '1,2\n0,4\n2,9\n' >ranges.csv
expect_fail 2 "okra predict: candidates: the range of test point 2 is 2 to 9, expected begin < \
end within 0 to 4" okra predict m.okra --x tx.csv --candidates c.csv --ranges ranges.csv -o d.csv
printf '1,2\n0,4\n' >ranges.csv
expect_fail 1 "okra predict: ranges.csv: expected two columns and 3 rows, one per test point" \
    okra predict m.okra --x tx.csv --ranges ranges.csv -o c.csv
printf '1,2\n0,4\n0,1.5\n' >ranges.csv
expect_fail 1 "okra predict: ranges.csv: row 2 holds 1.5, expected a whole number" \
    okra predict m.okra --x tx.csv --ranges ranges.csv -o c.csv

expect_fail 2 "okra predict: nothing to write: give -o, --weights, --embedding or --probabilities" \
    okra predict m.okra --x tx.csv
expect_fail 2 "okra predict: -o and --weights both name 'w.npy'" \
    okra predict m.okra --x tx.csv -o w.npy --weights w.npy
expect_fail 2 "okra predict: --weights and --embedding both name '-'" \
    okra predict m.okra --x tx.csv --weights - --embedding -
expect_fail 2 "okra predict: --top writes a table of ranked candidates: -o is 'a.npy', expected \
a name in .tsv, .csv or .json" okra predict m.okra --x tx.csv --top 2 -o a.npy
expect_fail 2 "okra predict: nothing is decoded without -o: --decode, --candidates, --ranges, \
--report and --confidence have no use" okra predict m.okra --x tx.csv --weights w.npy --decode explicit
expect_fail 2 "okra predict: --decode none gives no objects: -o has no use" \
    okra predict m.okra --x tx.csv --decode none -o a.csv
expect_fail 2 "okra predict: there is no decoder 'explicitt'; did you mean 'explicit'?" \
    okra predict m.okra --x tx.csv --decode explicitt -o a.csv
expect_fail 1 "okra predict: the output kernel rbf(sigma=1) has no explicit features: an \
embedding needs ky linear, metric or tasks on dense outputs" okra predict r.okra --x tx.csv --embedding e.npy
expect_fail 1 "okra predict: none.okra: cannot be opened: No such file or directory" \
    okra predict none.okra --x tx.csv -o a.csv
expect_fail 1 "okra predict: no/a.csv: cannot be written: No such file or directory" \
    okra predict m.okra --x tx.csv -o no/a.csv

need_python
okra predict m.okra --x tx.csv --weights w.npy --embedding h.npy --decode explicit -o e.npy --json >out
"$PYTHON" - <<'END'
import json, numpy
w, h, e = (numpy.load(name + ".npy") for name in "whe")
assert w.shape == (8, 3) and w.dtype == numpy.float64 and w.flags.c_contiguous
assert h.shape == (3, 2) and h.dtype == numpy.float64
x, y, t = (numpy.loadtxt(name + ".csv", delimiter=",") for name in ("x", "y", "tx"))
k = lambda a, b: numpy.exp(-((a[:, None] - b[None]) ** 2).sum(2) / 8)
want = numpy.linalg.solve(k(x, x) + 0.01 * numpy.eye(8), k(x, t))
assert abs(w - want).max() < 3e-13, abs(w - want).max()        # measured: 2.9e-14
assert abs(h - w.T @ y).max() < 1e-14, abs(h - w.T @ y).max()  # measured: 1.0e-15
assert (h == e).all()
about = json.load(open("out"))
assert about["model"] == "m.okra" and about["n"] == 8 and about["tests"] == 3
assert about["output"] == "e.npy" and about["weights"] == "w.npy" and about["seconds"] >= 0
END
okra predict r.okra --x tx.csv --top 2 -q -o top.json
"$PYTHON" -c "import json; assert json.load(open('top.json'))[3].keys() == \
{'test', 'rank', 'candidate', 'distance'}"

# how sure predictions are: three columns, empty where there is nothing to say
expect 0 okra predict m.okra --x tx.csv -o a.csv --confidence c.csv
expect_in "test,distance,gap,variance" c.csv
test "$(wc -l < c.csv)" -gt 2

# the candidate of the least expected loss
"$PYTHON" - <<'END'
import numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(40, 3))
y = (x @ r.normal(size=(3, 5)) + 0.5 * r.normal(size=(40, 5)) > 0.3).astype(float)
numpy.save("lx.npy", x[:30]), numpy.save("ly.npy", y[:30]), numpy.save("lt.npy", x[30:])
END
okra fit --x lx.npy --y ly.npy --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -q -o l.okra
okra predict l.okra --x lt.npy --decode loss:f1 --weights lw.npy -q -o lf.npy
okra predict l.okra --x lt.npy --decode loss:f1 -q -o again.npy
cmp lf.npy again.npy
"$PYTHON" - <<'END'
import numpy
w, y, got = numpy.load("lw.npy"), numpy.load("ly.npy"), numpy.load("lf.npy")
total = y.sum(1)[:, None] + y.sum(1)[None]
f1 = numpy.where(total > 0, 2 * y @ y.T / numpy.maximum(total, 1), 0)
gain = w.T @ f1
assert (f1.shape == (30, 30)) and gain.shape == (10, 30)
for t in range(10):
    c = numpy.flatnonzero((y == got[t]).all(1))
    assert len(c) and abs(gain[t, c[0]] - gain[t].max()) < 1e-12, t
END
expect_fail 2 "okra predict: decoder loss: expected loss:METRIC, as in loss:f1, loss:hamming, \
loss:edit or loss:kernel-loss:kernel=tanimoto" \
    okra predict l.okra --x lt.npy --decode loss -o no.npy
expect_fail 2 "okra predict: there is no metric 'f2'; did you mean 'f1'?" \
    okra predict l.okra --x lt.npy --decode loss:f2 -o no.npy
expect_fail 2 "okra predict: there is no decoder 'candidates:f1'; did you mean 'candidates'?" \
    okra predict l.okra --x lt.npy --decode candidates:f1 -o no.npy
okra fit --x lx.npy --y ly.npy --kx 'rbf(sigma=2)' --lambda 0.1 --decode loss:f1 -q -o kept.okra
okra predict kept.okra --x lt.npy -q -o kept.npy
cmp lf.npy kept.npy

# --top names a molecule once, however it is written
printf 'CCO\nOCC\nc1ccccc1\nC1=CC=CC=C1\nCN\nCCN\nCCCO\nCCCC\n' >twice.smi
okra fit -q --x x.csv --y twice.smi --kx linear --ky 'ecfp | tanimoto' --lambda 0.1 -o twice.okra
okra predict -q twice.okra --x tx.csv --top 6 -o twice.tsv
awk 'NR > 1 && ($5 == "OCC" || $5 == "C1=CC=CC=C1") { exit 1 }' twice.tsv
