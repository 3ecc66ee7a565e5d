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
okra fit --x xy.csv:age,q --y xy.csv:q --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o both.okra >out 2>err
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

# several columns, all but some, and the column of y in the same table
cat >mixed.csv <<'E'
id,smiles,mw,kind,logp,"a,b"
m1,CCO,46.07,alcohol,-0.31,1
m2,CCCO,60.1,alcohol,0.25,2
m3,CCCCO,74.12,alcohol,0.88,3
m4,c1ccccc1,78.11,aromatic,2.13,4
m5,Cc1ccccc1,92.14,aromatic,2.73,5
m6,CCc1ccccc1,106.17,aromatic,3.15,6
E
sed 's/"a,b"/ab/' mixed.csv | cut -d, -f3,5 >two.csv
okra gram -q --x two.csv --kernel linear -o want.npy
for part in mw,logp logp,mw 3,5 mw,5 mw,logp,mw '!id,smiles,kind,6'; do
    okra gram -q --x "mixed.csv:$part" --kernel linear -o got.npy
    cmp want.npy got.npy
done
okra gram -q --x 'mixed.csv:a,b' --kernel linear -o got.npy # the name of one column
printf '%s\n' 1 2 3 4 5 6 >ab.csv
okra gram -q --x ab.csv --kernel linear -o want.npy
cmp want.npy got.npy
short() { okra fit -q --kx 'rbf(sigma=9)' --ky linear --lambda 0.1 -o "$@"; }
cut -d, -f2 two.csv >logp.csv
short want.okra --x 'mixed.csv:!id,smiles,kind,logp' --y logp.csv
short got.okra --x 'mixed.csv:!id,smiles,kind' --y :logp
cmp want.okra got.okra
short got.okra --x mixed.csv:mw,6 --y :logp
cmp want.okra got.okra
short got.okra --x csv:mixed.csv:mw,6 --y missing::logp
okra fit --x 'mixed.csv:!1' --y labels::kind --kx 'rbf(sigma=9)@1' --lambda 0.1 -o got.okra >out 2>err
expect_in "okra fit: x is mixed.csv:!1 without the column 'kind', which is y" err
expect_in "outputs        labels, 6 of width 2" out
okra fit --x mixed.csv:smiles --x 'mixed.csv:!id,smiles' --y :mw,logp --kx 'rbf(sigma=9)@2' --lambda 0.1 -o got.okra >out 2>err
expect_in "okra fit: x is mixed.csv:!id,smiles without the columns 'mw,logp', which are y" err
expect_in "outputs        dense, 6 of width 2" out
names="id, smiles, mw, kind, logp, a,b"
expect_fail 2 "okra fit: mixed.csv: there is no column 'logP' among the 6 columns: $names" \
    okra fit -q --x mixed.csv:mw --y :logP -o e.okra
expect_fail 2 "okra fit: mixed.csv: there is no column '' among the 6 columns: $names" \
    okra fit -q --x mixed.csv:mw, --y :logp -o e.okra
expect_fail 1 "okra gram: two.csv: without these columns the table is empty" \
    okra gram --x 'two.csv:!1,logp' --kernel linear -o e.npy
expect_fail 2 "okra fit: mixed.csv:!logp becomes vectors and molecules, and cannot stand beside other inputs; give them apart: --x TABLE:A,B of the numbers and classes, --x TABLE:C of the SMILES" \
    okra fit -q --x mixed.csv --x strings:mixed.csv:id --y :logp -o e.okra
expect_fail 2 "okra fit: molecules:mixed.csv: there is no such file, and 'molecules:' is no prefix: molecules are smiles:FILE, smiles:TABLE:COLUMN or sdf:FILE; expected a format (npy npz csv tsv svm svm0 mtx smiles sdf mgf msp txt fasta letters graphml edges) or how to take values (dense sparse bits packed labels targets gram strings sequences nodes missing distances permutations)" \
    okra fit -q --x molecules:mixed.csv --y logp.csv -o e.okra
printf 'a,c\n1,x\n2,y\n3,\n4,x\n5,y\n' >gaps.csv
for y in :c labels::c; do
    expect_fail 1 "okra fit: gaps.csv: line 4, column 2: a class is missing; classes may have no gaps: take such rows out, or give the gap a name" \
        okra fit -q --x gaps.csv:a --y $y -o e.okra
done

# shards of tables are one table: the names stay, and their order in the first one counts
printf 'a,b\n1,2\n3,4\n5,7\n' >part-1.csv
printf 'b,a\n20,10\n40,31\n' >part-2.csv
printf 'a,b\n1,2\n3,4\n5,7\n10,20\n31,40\n' >parts.csv
printf '1\n2\n3\n4\n5\n' >parts-y.csv
okra fit -q --x 'shards:part-*.csv' --y parts-y.csv --kx linear --ky linear --lambda 0.1 -o parts.okra
okra fit -q --x parts.csv --y parts-y.csv --kx linear --ky linear --lambda 0.1 -o whole.okra
okra predict -q parts.okra --x part-2.csv -o parts-p.csv 2>parts.err
okra predict -q whole.okra --x part-2.csv -o whole-p.csv 2>whole.err
cmp parts-p.csv whole-p.csv
