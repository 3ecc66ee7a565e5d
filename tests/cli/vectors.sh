# Candidates that are vectors: kept in an index, ranked, windows by a table, what does not fit.
need_python
"$PYTHON" - <<'END_PY'
import numpy as np
rng = np.random.default_rng(0)
np.save("x.npy", rng.normal(size=(20, 3)))
np.save("y.npy", rng.normal(size=(20, 4)))
np.save("new.npy", rng.normal(size=(3, 3)))
v = rng.normal(size=(60, 4))
np.save("v.npy", v)
np.save("narrow.npy", v[:, :3])
np.save("single.npy", v.astype("f4"))
np.savetxt("v.csv", v, delimiter=",", fmt="%.17g")
v[7, 2] = np.nan
np.save("gap.npy", v)
v[7, 2] = np.inf
np.save("inf.npy", v)
np.save("none.npy", np.full((2, 4), np.nan))
with open("about.tsv", "w") as f:
    f.write("name\tyear\n")
    for i in range(60):
        f.write(f"item {i}\t{'' if i == 9 else 1990 + i % 5}\n")
END_PY
# some predict vectors themselves, without weights over the training outputs
for how in '--ky rbf(sigma=1)' '--ky linear' '--ky 3*linear --low-rank-x chol(rank=5) --center-output' \
    '--operator graph:estimate(gamma=1),mu=0.5' '--ky cosine'; do
    okra fit -q --x x.npy --y y.npy --kx 'rbf(sigma=1)' $how --lambda 0.1 -o m.okra
    rm -rf a.okx b.okx
    expect 0 okra index v.npy --ky 'poly(degree=2)' -o a.okx
    expect_in "candidates     60 of 60 vectors" out
    expect 0 okra index v.npy -q --model m.okra --rank 4 --shard 25 -o b.okx
    # the same distances as of a plain list of candidates
    okra predict m.okra -q --x new.npy --candidates v.npy --top 60 -o plain.tsv
    for index in a.okx b.okx 'b.okx --exact'; do
        expect 0 okra predict m.okra -q --x new.npy --candidates $index --top 60 -o r.tsv
        "$PYTHON" - <<'END_PY'
import csv
read = lambda name, row: [(r["test"], r[row], float(r["distance"])) for r in csv.DictReader(open(name), delimiter="\t")]
got, want = read("r.tsv", "candidate"), read("plain.tsv", "candidate")
assert len(got) == len(want) == 180
for (t, row, d), (u, other, e) in zip(got, want):
    assert t == u and abs(d - e) < 1e-9 * max(1, e) and (row == other or abs(d - e) < 1e-12), (t, row, other, d, e)
END_PY
    done
done
expect 0 okra index b.okx --check
expect_in "vectors        of 4 numbers" out
# a table: names, and windows by its columns
expect 0 okra index v.npy -q --model m.okra --table about.tsv --columns year --shard 25 -o t.okx
expect 0 okra predict m.okra -q --x new.npy --candidates t.okx --within year=1991..1992 --top 60 -o w.tsv
[ "$(tail -n +2 w.tsv | wc -l)" = 72 ]
awk -F'\t' 'NR > 1 && ($5 != "item " $3 || ($3 % 5 != 1 && $3 % 5 != 2)) { exit 1 }' w.tsv
expect 0 okra predict m.okra --x new.npy --candidates t.okx --within year=1991..1992 --top 2 -o w.json
expect_in '"name": "item ' w.json
expect_fail 2 "okra predict: new.npy: object 0 (counted from 0) does not tell its year, which a window needs" \
    okra predict m.okra --x new.npy --candidates t.okx --within year=1 --top 2 -o w.tsv
# test points whose numbers stand in a table
printf 'id\tyear\na\t1991\nb\t1993.5\nc\tNA\n' >told.tsv
expect 0 okra predict m.okra --x new.npy --candidates t.okx --within year=0.5 --about told.tsv --top 60 -o w.tsv
expect_in "okra: warning: new.npy: 1 of 3 objects do not tell their year, which a window needs: they get no candidates" err
awk -F'\t' 'NR > 1 { count[$1]++; if ($1 == 0 ? $3 % 5 != 1 : $3 % 5 < 3) exit 1 }
    END { exit !(count[0] == 12 && count[1] == 23 && count[2] == 0) }' w.tsv
head -3 told.tsv >short.tsv
expect_fail 1 "okra predict: short.tsv has 2 lines below its header, there are 3 test points" \
    okra predict m.okra --x new.npy --candidates t.okx --within year=0.5 --about short.tsv --top 6 -o w.tsv
expect_fail 2 "okra predict: --about has no use without --within" \
    okra predict m.okra --x new.npy --candidates t.okx --about told.tsv --top 6 -o w.tsv
expect_fail 2 "okra predict: within is 'mass=10ppm', but the index has no column 'mass'" \
    okra predict m.okra --x new.npy --candidates t.okx --within mass=10ppm --top 2 -o w.tsv
# the truth among them, and a page of it all
okra predict m.okra -q --x new.npy --candidates b.okx --top 5 --json -o r.tsv >ranked.json
expect 0 okra report -q ranked.json -o page.html
"$PYTHON" -c "
import csv, numpy as np
best = [int(r['candidate']) for r in csv.DictReader(open('r.tsv'), delimiter='\t') if r['rank'] == '2']
np.save('truth.npy', np.load('v.npy')[best])"
expect_out "$(printf 'hit-rate:k=1\t0\nmrr\t0.5')" okra score --y truth.npy --lists r.tsv --candidates b.okx --metric hit-rate:k=1,mrr
expect_fail 2 "okra score: narrow.npy: expected vectors of length 4, found 60 dense vectors of length 3" \
    okra score --y narrow.npy --lists r.tsv --candidates b.okx --metric mrr
# other files of numbers
expect 0 okra index dense:v.csv -q --ky linear -o c.okx
expect 0 okra index single.npy -q --ky linear -o s.okx
expect 0 okra predict m.okra -q --x new.npy --candidates c.okx --top 5 -o c.tsv
# the same candidates in the same order; distances sum in another order (worst seen 3e-16)
"$PYTHON" - <<'END_PY'
import csv
read = lambda name: list(csv.DictReader(open(name), delimiter="\t"))
r, c = read("r.tsv"), read("c.tsv")
assert len(r) == len(c) == 15, (len(r), len(c))
for a, b in zip(r, c):
    assert all(a[k] == b[k] for k in ("test", "rank", "candidate")), (a, b)
    assert abs(float(a["distance"]) - float(b["distance"])) < 1e-14, (a, b)
END_PY
# rows that are not all numbers
expect 0 okra index gap.npy --ky linear -o gap.okx
expect_in "okra: warning: gap.npy: row 7, column 2 (counted from 0) is nan, expected a number whose square is one: left out" err
expect_in "okra: warning: gap.npy: 1 of 60 vectors are broken and left out" err
expect_fail 1 "okra index: gap.npy: row 7, column 2 (counted from 0) is nan, expected a number whose square is one" \
    okra index gap.npy --ky linear --strict -o g.okx
expect_fail 1 "okra index: inf.npy: row 7, column 2 (counted from 0) is infinite; expected a number, or nan for a missing value" \
    okra index inf.npy --ky linear -o g.okx
expect_fail 1 "okra index: none.npy: there is no vector of finite numbers in the file" \
    okra index -q none.npy --ky linear -o n.okx
expect 0 okra index narrow.npy -q --ky linear -o narrow.okx
expect_fail 2 "okra predict: the model's outputs are 20 dense vectors of length 4, the candidates dense vectors of length 3" \
    okra predict m.okra --x new.npy --candidates narrow.okx --top 1 -o r.tsv
expect_fail 2 "okra index: v.npy: columns need a table with a header, NAME.tsv, beside the vectors" \
    okra index v.npy --ky linear --columns year -o g.okx
expect_fail 1 "okra index: about.tsv: 60 lines below the header, expected 20, one for each vector of y.npy" \
    okra index y.npy --ky linear --table about.tsv -o g.okx
