# Any loss over candidates and over all objects; rankings; directions of fitted outputs.
need_python
printf '0\n1\n2\n3\n' >x.csv
printf '1,1,0,0,0\n1,0,1,0,0\n0,1,1,0,0\n0,0,0,1,1\n' >sets.csv
printf '1\n' >one.csv

# The three neighbours share labels in pairs: no training set has all three.
expect 0 okra fit --x x.csv --y sets.csv --kx 'rbf(sigma=1)' --ky tanimoto --method knn --k 3 -o sets.okra
expect_out '1,1,1,0,0' okra predict sets.okra --x one.csv --decode loss:f1 --over-all -o -
expect_out '1,1,1,0,0' okra predict sets.okra --x one.csv --decode loss:hamming --over-all -o -
expect 0 okra predict sets.okra --x one.csv --decode loss:f1 -o among.csv
grep -qx "$(cat among.csv)" sets.csv || complain "a candidate that is no training output"
expect 0 okra predict sets.okra --x one.csv --decode loss:kernel-loss:kernel=tanimoto --over-all -o -
expect 2 okra predict sets.okra --x one.csv --decode loss:f1 --over-all --candidates sets.csv -o -
expect_in 'takes no candidates' err
expect 2 okra predict sets.okra --x one.csv --decode loss:f1 --beam 4 -o -
expect_in 'beam has no use without over-all' err

# The best of all sets, rankings and strings, as a table, as JSON and in a stream.
table() { cut -f 1,2,5 "$1" | tr '\t' '|'; }
expect 0 okra predict sets.okra --x one.csv --decode loss:f1 --over-all --top 2 -o two.tsv
[ "$(table two.tsv)" = 'test|rank|object
0|1|1 1 1 0 0
0|2|1 1 0 0 0' ] || complain "the two best sets: $(cat two.tsv)"
expect 0 okra predict sets.okra --x one.csv --decode labels --top 40 -o all.tsv
[ "$(wc -l <all.tsv)" = 33 ] || complain "not every set of five labels once"
# More than there are: all there are, and no more memory than that.
for decode in labels 'loss:f1 --over-all' loss:f1 candidates; do
    expect 0 okra predict sets.okra --x one.csv --memory 64M --decode $decode --top 100000000 -o every.tsv
    case $decode in labels|*all) lines=33 ;; *) lines=5 ;; esac
    [ "$(wc -l <every.tsv)" = $lines ] || complain "$decode: $(wc -l <every.tsv) lines"
done
expect 0 okra predict sets.okra --x one.csv --decode labels --top 1 -o best.json
expect_in '"object": [1.0, 1.0, 1.0, 0.0, 0.0]' best.json
printf '1 1:1 2:1\n1 1:1 3:1\n1 2:1 3:1\n1 4:1 5000:1\n' >sparse.svm
expect 0 okra fit --x x.csv --y sparse.svm --kx 'rbf(sigma=1)' --ky tanimoto --method knn --k 3 -o sparse.okra
expect 0 okra predict sparse.okra --x one.csv --decode labels --top 2 -o two.tsv
[ "$(table two.tsv | sed -n 2p)" = '0|1|0 1 2' ] || complain "sparse sets: $(cat two.tsv)"
echo '[1]' | okra predict sparse.okra --x - --stream --decode labels --top 1 >line.json
expect_in '{"y":{"0":1.0,"1":1.0,"2":1.0},"top":[{"candidate":0' line.json

# Strings: by places, and by edits.
printf 'cat\ncar\nbat\nzzzz\n' >words.txt
expect 0 okra fit --x x.csv --y words.txt --kx 'rbf(sigma=1)' --ky 'ssk(length=2)' --method knn --k 3 -o words.okra
expect_out cat okra predict words.okra --x one.csv --decode loss:hamming --over-all -o -
expect_out cat okra predict words.okra --x one.csv --decode loss:edit --over-all -o -
expect 0 okra predict words.okra --x one.csv --decode string --top 3 -o words.tsv
expect_in 'cat' words.tsv
[ "$(cut -f 5 words.tsv | sort -u | wc -l)" = 4 ] || complain "the three best strings: $(cat words.tsv)"
expect 2 okra predict words.okra --x one.csv --decode string --top 3 --candidates words.txt -o words.tsv
expect_in 'decoder string takes no candidates' err
expect 0 okra predict words.okra --x one.csv --decode position --top 3 -o words.tsv
[ "$(cut -f 5 words.tsv | sort -u | wc -l)" = 4 ] || complain "the three best by position: $(cat words.tsv)"
expect 2 okra predict words.okra --x one.csv --decode gradient --top 3 -o words.tsv
expect_in 'decoder gradient ranks nothing: top is 3, expected 1' err
printf 'a\nb\na\nb\n' >classes.csv
expect 0 okra fit --x x.csv --y labels:classes.csv --ky zero-one -o classes.okra
expect 1 okra predict classes.okra --x one.csv --decode loss:zero-one --over-all -o -
expect_in 'the outputs are labels' err

# Texts in tables: as they are in JSON, in quotes in CSV.
printf 'a,b\na"b\na\\b\n=1+é\n' >odd.txt
expect 0 okra fit --x x.csv --y odd.txt --kx 'rbf(sigma=0.1)' --ky edit --lambda 1e-6 -o odd.okra
for decode in string candidates; do
    expect 0 okra predict odd.okra --x x.csv --decode $decode --top 1 -o odd.json
    expect 0 okra predict odd.okra --x x.csv --decode $decode --top 1 -o odd.csv
    expect 0 okra predict odd.okra --x x.csv --decode $decode --top 1 -o odd.tsv
    "$OKRA_PYTHON" - <<'END_PY' || complain "texts of tables, $decode"
import csv, json
want = open("odd.txt", encoding="utf-8").read().splitlines()
assert [r["object"] for r in json.load(open("odd.json", encoding="utf-8"))] == want
assert [r["object"] for r in csv.DictReader(open("odd.csv", encoding="utf-8"))] == want
lines = [line.split("\t")[4] for line in open("odd.tsv", encoding="utf-8").read().splitlines()[1:]]
assert [t.replace("\\x5c", "\\") for t in lines] == want, lines
END_PY
done

# Rankings: no training output has the order of most pairs.
printf '1,2,3,4\n2,1,3,4\n1,2,4,3\n4,3,2,1\n' >ranks.csv
expect 0 okra fit --x x.csv --y permutations:ranks.csv --kx 'rbf(sigma=1)' --ky kendall --method knn --k 3 -o ranks.okra
expect_out '1,2,3,4' okra predict ranks.okra --x one.csv --decode rankings -o -
expect_out '1,2,3,4' okra predict ranks.okra --x one.csv --decode loss:spearman --over-all -o -
expect 0 okra predict ranks.okra --x one.csv --decode rankings --top 30 -o ranks.tsv
[ "$(wc -l <ranks.tsv)" = 25 ] || complain "not every ranking of four items once"
[ "$(table ranks.tsv | sed -n 2p)" = '0|1|1 2 3 4' ] || complain "rankings: $(cat ranks.tsv)"
expect_out "kendall$(printf '\t')0" okra score --y ranks.csv --yhat ranks.csv --metric kendall
expect 0 okra fit --x x.csv --y permutations:ranks.csv --kx 'rbf(sigma=1)' --ky 'kendall | rbf(sigma=1)' --lambda 0.01 -o mallows.okra
expect 0 okra predict mallows.okra --x x.csv --decode rankings -o again.csv
expect_same ranks.csv again.csv
expect 0 okra fit --x x.csv --y permutations:ranks.csv --ky linear -o linear.okra
expect 0 okra predict linear.okra --x x.csv --decode rankings -o -
printf '1,2,3,4\n2,1,3,3\n1,2,4,3\n4,3,2,1\n' >bad.csv
expect 2 okra fit --x x.csv --y permutations:bad.csv --ky kendall -o bad.okra
expect_in 'bad.csv: row 1 is not a ranking: found 3 in column 3, expected each of 1 to 4 once' err
expect 0 okra fit --x x.csv --y bad.csv --ky kendall -o bad.okra
expect 2 okra predict bad.okra --x one.csv --decode rankings -o -
expect_in 'row 1 is not a ranking' err

# NDCG: rankings say that they are, relevances become scores.
expect_out '1,2,3,4' okra predict ranks.okra --x one.csv --decode loss:ndcg:order=ranks --over-all -o -
expect 2 okra predict ranks.okra --x one.csv --decode loss:ndcg --over-all -o -
expect_in 'say order=ranks (1 is first) or order=relevance (larger is better)' err
printf '3,0,1,2\n3,0,0,2\n1,0,1,2\n0,3,0,0\n' >rel.csv
expect 0 okra fit --x x.csv --y rel.csv --kx 'rbf(sigma=1)' --method knn --k 3 -o rel.okra
expect 0 okra predict rel.okra --x x.csv --decode loss:ndcg:k=3 --over-all -o scores.csv
expect 0 okra predict rel.okra --x x.csv --decode loss:ndcg:k=3 -o chosen.csv
expect 2 okra predict rel.okra --x x.csv --decode loss:ndcg:k=3 --over-all --top 2 -o two.tsv
expect_in 'one vector of scores per test point: top is 2' err
expect 0 okra score --y rel.csv --yhat scores.csv --metric ndcg:k=3 --metric ndcg:gain=exponential
expect_out "ndcg$(printf '\t')1" okra score --y rel.csv --yhat rel.csv --metric ndcg
expect 2 okra predict rel.okra --x one.csv --decode loss:ndcg:order=ranks --over-all -o -
expect_in 'row 0 is not a ranking' err

# Directions of fitted outputs: all of them are ridge about the mean.
printf '1,0\n0,1\n1,1\n3,2\n' >y.csv
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --method kpca --rank-output all --lambda 0.1 -o all.okra
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --center-output --lambda 0.1 -o ridge.okra
expect 0 okra predict all.okra --x one.csv --decode explicit -o all.csv
expect 0 okra predict ridge.okra --x one.csv --decode explicit -o ridge.csv
awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) a[i] = $i; next }
    { for (i = 1; i <= NF; i++) if ((a[i] - $i) ^ 2 > 1e-20) exit 1 }' all.csv ridge.csv || complain "not ridge"
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --method kpca --rank-output auto --lambda 0.1 -o auto.okra
expect 0 okra info auto.okra
expect_in 'rank-output' out
expect 0 okra select --x x.csv --y y.csv --kx 'rbf(sigma=1)' --method kpca --rank-output '{1,2}' --lambda '{0.1,1}' --cv loo -o chosen.okra
expect_in '4 cells' out
expect_in 'rank-output=2' out
expect 2 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --method kpca --rank-output 1 --components 1 --lambda 0.1 -o no.okra
expect_in 'give one of the two' err
expect 2 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --method kpca --rank-output some --lambda 0.1 -o no.okra
expect_in "rank-output is 'some', expected a whole number" err
expect_fail 2 "okra fit: method ridge does not use the option 'rank-output'; method kpca does" \
    okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --rank-output 1 --lambda 0.1 -o no.okra
expect 1 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky linear --method kpca --rank-output auto --lambda 0.1 --low-rank-x 'nystrom(rank=2)' -o no.okra
expect_in 'rank-output auto needs the whole input Gram matrix' err
expect 0 okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --ky linear --method kpca --rank-output 1 --lambda 0.1 --low-rank-x 'nystrom(rank=2)' -o low.okra
expect 0 okra predict low.okra --x one.csv -o -

# Over all rankings of many items: what items x items numbers take is asked of the memory budget first.
awk 'BEGIN { for (i = 0; i < 4; i++) for (j = 0; j < 1500; j++) printf "%d%s", (j * 7 + i * 11) % 1500 + 1, j < 1499 ? "," : "\n" }' >many.csv
printf '0\n1\n2\n3\n' >four.csv
okra fit -q --x four.csv --y many.csv --ky linear -o many.okra
for loss in mae hamming ndcg:order=ranks; do
    expect 1 okra predict many.okra --x four.csv --decode loss:$loss --over-all --memory 8M -o ranked.csv
    expect_in "of 1500 x 1500 doubles needs 17.17 MiB" err
    [ ! -e ranked.csv ]
done
expect 1 okra predict many.okra --x four.csv --decode loss:kendall --over-all --memory 8M -o ranked.csv
expect_in "the neighbours of a ranking of 1500 items needs" err
expect 0 okra predict -q many.okra --x four.csv --decode loss:hamming --over-all --memory 64M -o ranked.csv
