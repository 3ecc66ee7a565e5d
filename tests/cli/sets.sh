# Prediction sets, intervals and rejections.
awk 'BEGIN { for (i = 0; i < 120; i++) {
    a = (i * 0.7548777) % 1; part = i < 60 ? "train" : i < 90 ? "cal" : "test";
    print a > (part "_x.csv"); print sin(6 * a) + 0.1 * ((i * 0.37) % 1) "," a > (part "_y.csv")
    print (a < 0.3 ? "low" : a < 0.7 ? "mid" : "high") > (part "_l.csv") } }'
okra fit -q --x train_x.csv --y labels:train_l.csv --kx 'rbf(sigma=0.2)' --ky zero-one \
    --lambda 0.1 -o l.okra
okra fit -q --x train_x.csv --y train_y.csv --kx 'rbf(sigma=0.2)' --ky linear --lambda 0.1 \
    -o v.okra

# every candidate of a set, most plausible first; equal ones in the order of the candidates
okra predict -q l.okra --x test_x.csv --set 0.1 -o sets.tsv
[ "$(head -1 sets.tsv)" = "$(printf 'test\tcandidate\tobject\tp_value')" ] 
awk -F'\t' 'NR > 1 && $4 <= 0.1 { exit 1 }' sets.tsv
okra predict -q l.okra --x test_x.csv --set 0.01 -o all.tsv
awk -F'\t' 'NR > 2 && $1 == t { more++; bad += $4 > p || ($4 == p && $2 <= c) }
    { t = $1; c = $2; p = $4 } END { exit bad > 0 || more < 20 }' all.tsv
grep -q "	low	" sets.tsv

# p-values of all candidates, and the sets are those above alpha
okra predict -q l.okra --x test_x.csv --set-p-values p.csv
expect 0 okra predict l.okra --x test_x.csv --set 0.1 -o s.tsv --set-p-values -
cmp out p.csv
[ "$(awk -F, '{ for (j = 1; j <= NF; j++) n += $j > 0.1 } END { print n }' p.csv)" = \
    "$(($(wc -l <sets.tsv) - 1))" ]

# ways, scores, groups and weights
for how in full jackknife+ cv+; do
    okra predict -q l.okra --x test_x.csv --set 0.1 --conformal $how --conformal-score normalized -o s.tsv
done
split="--calibrate-x cal_x.csv --calibrate-y labels:cal_l.csv"
for score in distance normalized rank zero-one; do
    okra predict -q l.okra --x test_x.csv --set 0.1 $split --conformal-score $score -o s.tsv
done
okra predict -q l.okra --x test_x.csv --set 0.1 $split --groups class -o s.tsv
okra predict -q l.okra --x test_x.csv --set 0.1 $split --groups labels:cal_l.csv \
    --test-groups labels:test_l.csv -o s.tsv
okra predict -q l.okra --x test_x.csv --set 0.1 $split --shift-weights cal_x.csv \
    --test-shift-weights test_x.csv -o s.tsv

# rejection answers where one candidate is left
expect 0 okra predict l.okra --x test_x.csv --reject 0.1 -o r.tsv
expect_in answered out
awk -F'\t' 'NR > 1 && seen[$1]++ { exit 1 }' r.tsv

# intervals as a table and as an array
okra predict -q v.okra --x test_x.csv --interval 0.1 --bounds b.npy -o i.csv
[ "$(head -1 i.csv)" = "test,output,lower,upper,radius" ] 
[ "$(wc -l <i.csv)" = 61 ]
"$PYTHON" - <<'P'
import numpy as np
b = np.load("b.npy"); t = np.loadtxt("i.csv", delimiter=",", skiprows=1)
assert b.shape == (30, 2, 2) and (b.reshape(-1, 2) == t[:, 2:4]).all() and (b[..., 0] <= b[..., 1]).all()
P
okra predict -q v.okra --x test_x.csv --interval 0.1 --conformal jackknife+ -o i.tsv
[ "$(head -1 i.tsv)" = "$(printf 'test\toutput\tlower\tupper\tradius')" ] 

# refusals
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --reject 0.1 -o s.tsv
expect_in "exclude one another" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1
expect_in "nothing to write" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 -o s.npy
expect_in "expected a table" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --top 3 -o s.tsv
expect_in "top have no use" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --conformal half -o s.tsv
expect_in "conformal is 'half'" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --conformal split -o s.tsv
expect_in "pairs to calibrate with" err
expect 1 okra predict l.okra --x test_x.csv --set 0.1 $split --shift-weights train_x.csv \
    --test-shift-weights test_x.csv -o s.tsv
expect_in "one column of 30 numbers" err

# against the truth: coverage in words, and a result that becomes a page
expect 0 okra predict l.okra --x test_x.csv --set 0.1 -o s.tsv --truth labels:test_l.csv
expect_in "coverage       " out
okra predict l.okra --x test_x.csv --set 0.1 $split --groups labels:cal_l.csv \
    --test-groups labels:test_l.csv -o s.tsv --truth labels:test_l.csv --json >sets.json
okra report sets.json -o page.html -q
for text in "Coverage against the promise" "p-values of the truth" "Sets by group" \
    "Wrong answers against answers given" "by difficulty"; do
    expect_in "$text" page.html
done
"$PYTHON" - <<'P'
import csv, json
r = json.load(open("sets.json"))
truth = [row.strip() for row in open("test_l.csv")]
sets = {}
for row in csv.DictReader(open("s.tsv"), delimiter="\t"):
    sets.setdefault(int(row["test"]), set()).add(row["object"])
held = sum(t in sets.get(i, ()) for i, t in enumerate(truth)) / len(truth)
assert abs(held - r["coverage"]) < 1e-12
first = r["tables"][0]["rows"][0]["cells"]
assert abs(first["coverage"]["okra"] - held) < 1e-12
assert abs(first["set size"]["okra"] - sum(map(len, sets.values())) / len(truth)) < 1e-12
low = [t == "low" for t in truth]
row = next(x for x in r["tables"][1]["rows"] if x["label"] == "low")["cells"]
assert abs(row["coverage"]["okra"] - sum(
    t in sets.get(i, ()) for i, t in enumerate(truth) if low[i]) / sum(low)) < 1e-12
bars = next(f for f in r["figures"] if f["id"] == "p-values")["series"][0]["y"]
assert abs(sum(bars) - 1) < 1e-12
P
okra predict v.okra --x test_x.csv --interval 0.1 -o i.csv --truth test_y.csv --json >i.json
expect_in '"Intervals that hold the truth"' i.json
expect 1 okra predict l.okra --x test_x.csv --set 0.1 -o s.tsv --truth labels:train_l.csv
expect_in "expected 30, one per test input" err

# levels and flags without a use
expect 2 okra predict l.okra --x test_x.csv --set 0 -o s.tsv
expect_in "set is 0, expected a number between 0 and 1" err
expect 2 okra predict l.okra --x test_x.csv --reject 1 -o s.tsv
expect 2 okra predict l.okra --x test_x.csv --truth labels:test_l.csv -o s.csv
expect_in "truth has no use without --set" err

# infinite widths are null in JSON
okra predict v.okra --x test_x.csv --interval 0.001 -o i.csv --json >i.json
expect_in '"mean width": null' i.json

# why an interval is infinite: too few pairs (of a group), or a fit that follows any output
# (within the range of the inputs noise-free data and a small lambda leave no doubt)
awk 'BEGIN { for (i = 0; i < 160; i++) { line = ""; sum = 0
    for (j = 1; j <= 3; j++) { v = (i * (0.3141593 + j * j * 0.1270903) + j / 7) % 1; v = i < 80 ? v : 0.3 + 0.4 * v
        line = line (j > 1 ? "," : "") v; sum += j * v }
    print line >(i < 80 ? "clean_x.csv" : "inner_x.csv"); if (i < 80) print sin(sum) >"clean_y.csv" } }'
okra fit -q --x clean_x.csv --y clean_y.csv --kx 'rbf(sigma=1)' --ky linear --lambda 1e-12 -o clean.okra
expect 0 okra predict clean.okra --x inner_x.csv --interval 0.1 --conformal full -o i.csv
refute grep -q infinite err # normalized: none can be but for want of pairs
expect 0 okra predict clean.okra --x inner_x.csv --interval 0.1 --conformal full --conformal-score distance -o i.csv
expect_in "of 80 intervals are infinite: what the model predicts for the other pairs moves as much as" err
! grep "pairs calibrate" err
expect 0 okra predict clean.okra --x inner_x.csv --interval 0.1 --conformal jackknife+ -o i.csv
! grep infinite err
awk 'NR <= 4 { print "few"; next } { print "many" }' cal_x.csv >cal_g.csv
awk 'NR <= 6 { print "few"; next } { print "many" }' test_x.csv >test_g.csv
expect 0 okra predict v.okra --x test_x.csv --interval 0.1 --calibrate-x cal_x.csv --calibrate-y cal_y.csv \
    --groups labels:cal_g.csv --test-groups labels:test_g.csv -o i.csv
expect_in "12 of 60 intervals are infinite: 4 pairs calibrate in the smallest of their groups, and alpha = 0.1 needs 9" err
awk '{ print NR == 3 ? 100 : 1 }' test_x.csv >heavy.csv
awk '{ print 1 }' cal_x.csv >even.csv
expect 0 okra predict v.okra --x test_x.csv --interval 0.1 --calibrate-x cal_x.csv --calibrate-y cal_y.csv \
    --shift-weights even.csv --test-shift-weights heavy.csv -o i.csv
expect_in "2 of 60 intervals are infinite: the weight of the test input is more than alpha = 0.1" err

# related tasks with missing values: what is known calibrates each output
awk -F, -v OFS=, '{ if (NR % 5 == 0) $1 = "nan"; print }' train_y.csv >some_y.csv
awk -F, -v OFS=, '{ if (NR % 4 == 0) $2 = "nan"; print }' cal_y.csv >some_cal.csv
okra fit -q --x train_x.csv --y missing:some_y.csv --kx 'rbf(sigma=0.2)' --ky linear \
    --lambda 0.1 -o some.okra
okra predict -q some.okra --x test_x.csv --interval 0.1 --calibrate-x cal_x.csv \
    --calibrate-y missing:some_cal.csv -o some.csv --truth test_y.csv
awk -F, 'NR > 1 { if (!($3 < $4)) exit 1; n++ } END { exit n != 60 }' some.csv
expect 1 okra predict some.okra --x test_x.csv --interval 0.1 --calibrate-x cal_x.csv \
    --calibrate-y cal_x.csv -o some.csv
expect_in "expected dense vectors of length 2" err
expect 2 okra predict l.okra --x test_x.csv --set-p-values p.csv --truth labels:test_l.csv
expect_in "p-values alone" err
expect_fail 2 "okra predict: --p-values is for ranked candidates: the p-values of sets are written by --set-p-values FILE" \
    okra predict l.okra --x test_x.csv --set 0.1 --p-values -o s.tsv
for flags in "--within mass=1ppm" "--about s.tsv" "--known-pairs kept" "--shortlist 2" --exact; do
    # shellcheck disable=SC2086
    expect_fail 2 "okra predict: ${flags%% *} has no use with sets and intervals" \
        okra predict v.okra --x test_x.csv --interval 0.1 $flags -o i.csv
done
expect 2 okra predict v.okra --x test_x.csv --interval 0.1 --candidates test_y.csv -o i.csv
expect_in "candidates has no use with --interval" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --conformal-folds 3 -o s.tsv
expect_in "conformal-folds is for" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 -o - --truth labels:test_l.csv
expect_in "takes standard output" err

# the truth is of the model's kind; classes are groups of a report; ends never cross
expect 1 okra predict l.okra --x test_x.csv --set 0.1 -o s.tsv --truth test_y.csv
expect_in "holds dense, but the model predicts labels" err
okra predict l.okra --x test_x.csv --set 0.1 --groups class -o s.tsv --truth labels:test_l.csv \
    --json >class.json
expect_in '"Sets by group"' class.json
okra predict -q v.okra --x test_x.csv --interval 0.99 --conformal jackknife+ -o i.csv
awk -F, 'NR > 1 && $3 > $4 { exit 1 }' i.csv

# an automatic fit: standardised inputs, centred outputs
for y in test_y.csv labels:test_l.csv; do
    train=$(printf %s "$y" | sed s/test/train/)
    okra fit -q --x train_x.csv --y "$train" -o auto.okra
    okra info auto.okra >auto.txt
    expect_in "center-output  yes" auto.txt
    for how in full jackknife+ cv+; do
        expect 0 okra predict auto.okra --x test_x.csv --set 0.1 --conformal $how -o s.tsv --truth "$y"
        expect_in "coverage       " out
    done
    okra predict -q auto.okra --x test_x.csv --reject 0.1 -o r.tsv
    okra predict -q auto.okra --x test_x.csv --set-p-values p.csv
done
awk '{ print ($1 < 0.3 ? "low" : $1 < 0.7 ? "middle" : "highest") }' train_x.csv >train_s.txt
awk '{ print ($1 < 0.3) "," ($1 > 0.2) "," ($1 > 0.8) }' train_x.csv >train_bits.csv
awk '{ print ($1 < 0.3 ? "CCO" : $1 < 0.7 ? "CCN" : "c1ccccc1") }' train_x.csv >train.smi
for y in train_s.txt train_bits.csv train.smi; do
    okra fit -q --x train_x.csv --y $y -o kind.okra
    okra predict -q kind.okra --x test_x.csv --set 0.2 -o s.tsv
    [ "$(wc -l <s.tsv)" -gt 20 ]
done
okra fit -q --x train_s.txt --y train.smi -o strings.okra
okra predict -q strings.okra --x train_s.txt --set 0.2 -o s.tsv
okra fit -q --x train_x.csv --y train_y.csv -o auto.okra
okra predict -q auto.okra --x test_x.csv --interval 0.1 --groups labels:train_l.csv \
    --test-groups labels:test_l.csv -o i.csv --truth test_y.csv --json >i.json
expect_in '"Intervals by group"' i.json
"$PYTHON" - <<'P'
import csv, json
r = json.load(open("i.json"))
groups = [g.strip() for g in open("test_l.csv")]
y = [list(map(float, line.split(","))) for line in open("test_y.csv")]
rows = list(csv.DictReader(open("i.csv")))
for row in r["tables"][1]["rows"]:
    mine = [float(x["lower"]) <= y[int(x["test"])][int(x["output"])] <= float(x["upper"])
            for x in rows if groups[int(x["test"])] == row["label"]]
    assert abs(row["cells"]["coverage"]["okra"] - sum(mine) / len(mine)) < 1e-12
assert len(r["tables"][1]["rows"]) == 3
P

# pairs held back at the fit: any method, in one file
expect 0 okra fit --x train_x.csv --y labels:train_l.csv --method knn --calibration 0.5 --seed 3 -o held.okra
expect_in "calibration    30 pairs held back" out
expect_in " --calibration 0.5 " out
expect_in " --seed 3 -o " out
okra info held.okra >held.txt
expect_in "calibration    30 pairs held back" held.txt
expect 0 okra predict held.okra --x test_x.csv --set 0.1 -o s.tsv
expect_in "split, score distance" out
okra predict -q held.okra --x test_x.csv --set 0.1 --groups class -o s.tsv
seq 30 >ones.csv
okra predict -q held.okra --x test_x.csv --set 0.1 --shift-weights ones.csv --test-shift-weights \
    test_x.csv -o s.tsv
okra fit -q --x train_x.csv --y missing:some_y.csv --calibration 0.4 -o held.okra
okra predict -q held.okra --x test_x.csv --interval 0.2 -o i.csv
okra fit -q --x train_x.csv --y train_y.csv --calibration 0.4 --compact --lambda 0.1,1 -o 'held-{lambda}.okra'
okra predict -q held-1.okra --x test_x.csv --interval 0.2 -o i.csv
expect 1 okra predict held-1.okra --x test_x.csv --set 0.1 --groups labels:train_l.csv \
    --test-groups labels:test_l.csv -o s.tsv
expect_in "there are 60 and 30 groups, expected 24" err
expect 1 okra fit --x train_x.csv --y train_y.csv --calibration 0.999 -o held.okra
expect_in "leaves 0 to learn from and 60 to calibrate with" err
expect 2 okra fit --x train_x.csv --y train_y.csv --calibration 1.5 -o held.okra
expect 1 okra predict some.okra --x test_x.csv --interval 0.1 -o i.csv
expect_in "outputs have missing values; hold back pairs when fitting (--calibration)" err

# a precomputed kernel: the closed forms need k(x, x)
okra gram -q --x train_x.csv --kernel 'rbf(sigma=0.2)' -o K.npy
okra gram -q --x test_x.csv --y train_x.csv --kernel 'rbf(sigma=0.2)' -o Kt.npy
okra fit -q --x gram:K.npy --y train_y.csv --kx precomputed --ky linear --lambda 0.1 -o gram.okra
expect 2 okra predict gram.okra --x gram:Kt.npy --interval 0.1 -o i.csv
expect_in "give the diagonal too (okra predict --x-diagonal)" err
seq 30 | sed 's/.*/1/' >self.csv
okra predict -q gram.okra --x gram:Kt.npy --x-diagonal self.csv --interval 0.1 -o i.csv
okra predict -q v.okra --x test_x.csv --interval 0.1 -o j.csv
"$PYTHON" - <<'P'
import numpy as np
a, b = (np.loadtxt(f, delimiter=",", skiprows=1) for f in ("i.csv", "j.csv"))
assert np.allclose(a, b, atol=1e-9)
P
expect 1 okra predict gram.okra --x gram:Kt.npy --x-diagonal test_y.csv --interval 0.1 -o i.csv
expect_in "expected one column of 30 numbers" err
seq 30 | sed 's/.*/-1/' >wrong.csv
for how in full jackknife+ cv+; do
    expect 2 okra predict gram.okra --x gram:Kt.npy --x-diagonal wrong.csv --interval 0.1 -o i.csv \
        --conformal $how
    expect_in "k(x, x) of test input 0 is -1, expected at least 0." err
done
expect 2 okra predict v.okra --x test_x.csv --x-diagonal self.csv --interval 0.1 -o i.csv
expect_in "x-diagonal is for rows of a precomputed kernel" err
expect 1 okra fit --x gram:K.npy --y train_y.csv --kx precomputed --ky linear --lambda 0.1 \
    --calibration 0.2 -o held.okra
expect_in "a precomputed kernel cannot be parted" err

# missing truths are left out of the coverage, and counted
awk -F, -v OFS=, '{ if (NR % 3 == 0) $1 = "nan"; print }' test_y.csv >gaps.csv
expect 0 okra score --y missing:gaps.csv --lists j.csv --metric coverage
expect_in "10 missing values of --y are left out" err
"$PYTHON" - <<'P'
import numpy as np
t = np.loadtxt("j.csv", delimiter=",", skiprows=1)
y = np.genfromtxt("gaps.csv", delimiter=",").ravel()
known = ~np.isnan(y)
inside = ((t[:, 2] <= y) & (y <= t[:, 3]))[known].mean()
assert abs(float(open("out").read().split()[1]) - inside) < 1e-9
P

# groups of numbers
cut="--groups cal_x.csv --test-groups test_x.csv"
okra predict l.okra --x test_x.csv --set 0.1 $split $cut --group-cuts 0.25,0.5 -o s.tsv \
    --truth labels:test_l.csv --json >cut.json
for text in '"below 0.25"' '"0.25 to 0.5"' '"from 0.5"'; do
    expect_in "$text" cut.json
done
awk '{ print ($1 < 0.25 ? "a" : $1 < 0.5 ? "b" : "c") }' cal_x.csv >cal_g.csv
awk '{ print ($1 < 0.25 ? "a" : $1 < 0.5 ? "b" : "c") }' test_x.csv >test_g.csv
okra predict -q l.okra --x test_x.csv --set 0.1 $split --groups labels:cal_g.csv \
    --test-groups labels:test_g.csv -o same.tsv
cmp s.tsv same.tsv
expect 2 okra predict l.okra --x test_x.csv --set 0.1 $split $cut -o s.tsv
expect_in "numbers are cut into groups by --group-cuts" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 $split $cut --group-cuts 1,,2 -o s.tsv
expect_in "expected numbers between commas" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 $split $cut --group-cuts 2,1 -o s.tsv
expect_in "cut 1 is 1, expected growing numbers" err
expect 2 okra predict l.okra --x test_x.csv --set 0.1 --groups class --group-cuts 1 -o s.tsv
expect_in "group-cuts needs --groups FILE" err
expect 1 okra predict l.okra --x test_x.csv --set 0.1 $split --groups labels:cal_l.csv \
    --test-groups labels:test_l.csv --group-cuts 1 -o s.tsv
expect_in "holds labels of width 3, expected one column of numbers" err
# a share of right sets in place of a level, and numbers, which are hardly ever met again
expect 0 okra predict l.okra --x test_x.csv --set 0.9 -o s.tsv
expect_in "okra: warning: 0.9 is the share of sets that may miss the truth; 0.1 makes sets that hold it with \
probability 0.9" err
expect 0 okra predict l.okra --x test_x.csv --set 0.1 -o s.tsv --truth labels:test_l.csv
[ ! -s err ]
cut -d, -f1 train_y.csv >one.csv
cut -d, -f1 test_y.csv >truth.csv
okra fit -q --x train_x.csv --y one.csv --kx 'rbf(sigma=0.2)' --ky linear --lambda 0.1 -o one.okra
expect 0 okra predict one.okra --x test_x.csv --set 0.1 -o s.tsv
expect_in "of numbers most true outputs are no candidates" err
expect 0 okra predict one.okra --x test_x.csv --set 0.1 -o s.tsv --truth truth.csv
expect_in "okra: warning: most true outputs are no candidates, so that no set holds them; --candidates FILE" err
