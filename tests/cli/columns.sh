# Names of columns: a table in another order is taken by name, another table is refused.
"$PYTHON" - <<'P'
import random
random.seed(1)
rows = [[random.gauss(0, 1) for _ in range(3)] for _ in range(30)]
def write(name, names, rows, separator=","):
    with open(name, "w") as f:
        f.writelines(separator.join(map(str, r)) + "\n" for r in ([names] if names else []) + rows)
y = [[r[0] + 2 * r[1], r[2]] for r in rows]
write("x.csv", ["age", "height", "weight"], rows[:20])
write("y.csv", ["p", "q"], y[:20])
test = rows[20:]
write("t.csv", ["age", "height", "weight"], test)
write("bare.csv", None, test)
write("moved.csv", ["weight", "age", "height"], [[r[2], r[0], r[1]] for r in test])
write("moved.tsv", ["weight", "age", "height"], [[r[2], r[0], r[1]] for r in test], "\t")
write("bad.csv", ["age", "hight", "weight"], test)
write("more.csv", ["id", "age", "height", "weight"], [[i] + r for i, r in enumerate(test)])
write("less.csv", ["age", "height"], [r[:2] for r in test])
write("twice.csv", ["age", "age", "weight"], test)
write("ty.csv", ["p", "q"], y[20:])
write("moved_y.csv", ["q", "p"], [r[::-1] for r in y[20:]])
P
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o m.okra
okra info m.okra >out
expect_in "  columns      age, height, weight" out
expect_in "  columns      p, q" out
okra info --json m.okra | "$PYTHON" -c "
import json, sys
about = json.load(sys.stdin)
assert about['x']['columns'] == ['age', 'height', 'weight'] and about['y']['columns'] == ['p', 'q']"
okra predict m.okra --x t.csv -o want.csv >out 2>err
[ ! -s err ]

# the same names in another order, of every table; a table without a header; as before
for file in moved.csv moved.tsv; do
    okra predict m.okra --x $file -o got.csv >out 2>err
    expect_same want.csv got.csv
    expect_in "okra: warning: $file: its columns stand in another order than those of m.okra; they are taken by name" err
done
okra predict m.okra --x bare.csv -o got.csv >out 2>err
expect_same want.csv got.csv
[ ! -s err ]
okra predict -q m.okra --x 'more.csv:!id' -o got.csv
expect_same want.csv got.csv
okra fit --x twice.csv --y ty.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o twice.okra >out 2>err
expect_in "okra: warning: twice.csv: the names of its columns are not kept: the name of column 1 (counted from 0) is that of another column" err
okra info twice.okra >out # names that tell no columns apart are none
[ "$(grep -c columns out)" = 1 ]
okra predict -q twice.okra --x t.csv -o got.csv
okra fit -q --x sparse:x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o s.okra
okra predict -q s.okra --x sparse:t.csv -o want_s.csv
okra predict -q s.okra --x sparse:moved.csv -o got_s.csv
expect_same want_s.csv got_s.csv

# other names
expect_fail 1 "okra predict: bad.csv: column 2 is 'hight', expected 'height' or another of the 3 columns of m.okra, in any order" \
    okra predict m.okra --x bad.csv -o e.csv
expect_fail 1 "okra predict: more.csv: column 1 is 'id', which is none of the 3 columns of m.okra; FILE:!COLUMN is without that column" \
    okra predict m.okra --x more.csv -o e.csv
expect_fail 1 "okra predict: twice.csv: its header does not tell its columns apart; expected the 3 columns of m.okra, in any order" \
    okra predict -q m.okra --x twice.csv -o e.csv
expect_fail 1 "okra predict: less.csv: there is no column 'weight', which is one of the 3 columns of m.okra" \
    okra predict m.okra --x less.csv -o e.csv
[ ! -e e.csv ]

# standard input as a file: no line is answered
printf 'zz%0300d,age,height\n1,2,3\n' 0 >long.csv
printf 'weight,age,\377\n1,2,3\n' >bytes.csv
for file in twice.csv long.csv bytes.csv; do
    expect_fail 1 "okra predict: standard input: its header does not tell its columns apart; expected the 3 columns of m.okra, in any order" \
        okra predict -q m.okra --x - -o e.csv <$file
    [ ! -e e.csv ]
done
okra predict -q twice.okra --x - -o got.csv <twice.csv # a model without names takes it

# a table that is x and y: a column that is both is told
paste -d, x.csv y.csv >xy.csv
okra fit --x 'xy.csv:!p' --y xy.csv:q --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o both.okra >out 2>err
expect_in "okra fit: warning: the column 'q' of xy.csv is an output, and stays among the inputs" err
okra fit --x xy.csv --y xy.csv:q --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o both.okra >out 2>err
[ "$(grep -c "stays among the inputs" err)" = 0 ]

# sets and intervals, updates, unlabelled inputs, a basis, Gram matrices, scores
okra predict -q m.okra --x t.csv --interval 0.2 -o want_i.csv
okra predict -q m.okra --x moved.csv --interval 0.2 -o got_i.csv
expect_same want_i.csv got_i.csv
okra predict -q m.okra --x t.csv --interval 0.2 --conformal split --calibrate-x t.csv --calibrate-y ty.csv -o want_i.csv
okra predict -q m.okra --x moved.csv --interval 0.2 --conformal split --calibrate-x moved.csv --calibrate-y moved_y.csv -o got_i.csv
expect_same want_i.csv got_i.csv
okra predict -q m.okra --x t.csv --interval 0.5 --truth ty.csv -o got_i.csv >want
okra predict -q m.okra --x t.csv --interval 0.5 --truth moved_y.csv -o got_i.csv >got
cmp want got
sed 1s/.*/p,r/ ty.csv >other_y.csv
expect_fail 1 "okra predict: other_y.csv: column 2 is 'r', expected 'q' or another of the 2 columns of m.okra, in any order" \
    okra predict m.okra --x t.csv --interval 0.5 --truth other_y.csv -o e.csv
okra update -q m.okra --x t.csv --y ty.csv -o a.okra
okra update m.okra --x moved.csv --y moved_y.csv -o b.okra >out 2>err
[ "$(grep -c 'taken by name' err)" = 2 ]
cmp a.okra b.okra
expect_fail 1 "okra update: bad.csv: column 2 is 'hight', expected 'height' or another of the 3 columns of m.okra, in any order" \
    okra update m.okra --x bad.csv --y ty.csv -o e.okra
expect_fail 1 "okra update: less.csv: column 1 is 'age', expected 'p' or another of the 2 columns of m.okra, in any order" \
    okra update m.okra --x t.csv --y less.csv -o e.okra
okra fit -q --x x.csv --y y.csv --unlabelled t.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --lambda2 0.1 --graph gram -o a.okra
okra fit -q --x x.csv --y y.csv --unlabelled moved.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --lambda2 0.1 --graph gram -o b.okra
cmp a.okra b.okra
okra basis -q --x x.csv --kx 'rbf(sigma=2)' --low-rank-x 'nystrom(rank=5)' -o basis.okra
okra fit -q --basis basis.okra --x t.csv --y ty.csv --ky linear --lambda 0.1 -o a.okra
okra fit -q --basis basis.okra --x moved.csv --y ty.csv --ky linear --lambda 0.1 -o b.okra
cmp a.okra b.okra
okra fit -q --basis basis.okra --x x.csv --y y.csv --ky linear --lambda 0.1 -o c.okra
okra fit -q --basis basis.okra --x t.csv --y moved_y.csv --ky linear --lambda 0.1 -o d.okra
okra merge -q c.okra a.okra -o all.okra
expect_fail 2 "okra merge: models 1 and 2 differ in the names of their columns, or the order of these; expected fits with one basis and the same options (c.okra, d.okra)" \
    okra merge c.okra d.okra -o e.okra
sed 1d ty.csv >bare_y.csv
okra fit -q --basis basis.okra --x t.csv --y bare_y.csv --ky linear --lambda 0.1 -o n.okra
expect_fail 2 "okra merge: models 2 and 3 differ in the names of their columns, or the order of these; expected fits with one basis and the same options (c.okra, d.okra)" \
    okra merge n.okra c.okra d.okra -o e.okra
okra merge -q n.okra c.okra -o all.okra # names of any part
okra info all.okra >out
expect_in "  columns      p, q" out
expect_fail 2 "okra merge: models 1 and 2 differ in the names of their columns, or the order of these; expected fits with one basis and the same options (all.okra, d.okra)" \
    okra merge all.okra d.okra -o e.okra
okra gram -q --x t.csv --y x.csv --kernel linear -o want.npy
okra gram -q --x moved.csv --y x.csv --kernel linear -o got.npy
cmp want.npy got.npy
[ "$(okra score --y ty.csv --yhat moved_y.csv --metric rmse 2>err)" = "$(printf 'rmse\t0')" ]
expect_in "okra: warning: moved_y.csv: its columns stand in another order than those of ty.csv; they are taken by name" err
sed 1s/.*/a,b/ ty.csv >strange_y.csv # what somebody called them does not count
[ "$(okra score --y ty.csv --yhat strange_y.csv --metric rmse)" = "$(printf 'rmse\t0')" ]
sed 1s/.*/p,b/ ty.csv >half.csv
expect_fail 1 "okra score: half.csv: column 2 is 'b', expected 'q' or another of the 2 columns of ty.csv, in any order" \
    okra score --y ty.csv --yhat half.csv --metric rmse
