# okra link: ranked pairs, given pairs, truth, a predicted network and its picture; bad lists.
cat >x.csv <<'END'
0,0
0.1,0
0,0.1
5,5
5.1,5
5,5.1
0.05,0.05
5.05,5.05
END
printf 'a\nb\nc\nd\ne\nf\nnew1\nnew2\n' >names.txt
printf 'a b\nb c\na c\nd e\ne f\nd f\n' >known.tsv
printf 'a\nb\nc\nd\ne\nf\n' >lab.txt
printf 'new1 a\nnew1 b\nnew1 c\nnew2 d\nnew2 e\nnew2 f\n' >truth.tsv
common="--x x.csv --nodes names.txt --edges known.tsv --kx rbf(sigma=1) --lambda 0.1"

# two clusters, so the network is in two pieces: links of new nodes go to their own
okra link $common --labelled lab.txt -o ranked.tsv -q --pairs lu
[ "$(wc -l <ranked.tsv)" = 13 ]
[ "$(head -1 ranked.tsv)" = "$(printf 'node_a\tnode_b\tscore')" ]
awk 'NR > 1 && NR < 8 && !(($2 == "new1" && $1 ~ /[abc]/) || ($2 == "new2" && $1 ~ /[def]/)) \
    { exit 1 }' ranked.tsv
# without a list, the ends of the edges are the labelled nodes
okra link $common -o same.tsv -q --pairs lu
expect_same ranked.tsv same.tsv
# several descriptions, and weights of their kernels that are learned
cut -d, -f1 x.csv >x1.csv
cut -d, -f2 x.csv >x2.csv
two="--x x1.csv --x x2.csv --nodes names.txt --edges known.tsv --lambda 0.1 --pairs lu -q"
okra link $two --kx 'rbf(sigma=1)@1*rbf(sigma=1)@2' -o two.tsv
paste <(sort ranked.tsv) <(sort two.tsv) | awk '$1 != "node_a" && ($1 != $4 || $2 != $5 || ($3 - $6) ^ 2 > 1e-20) { exit 1 }'
okra link $two --kx 'align(rbf(sigma=1)@1, rbf(sigma=1)@2)' -o two.tsv
[ "$(wc -l <two.tsv)" = 13 ]
# the best alone are the first of all; more than there are: all
okra link $common --pairs all -o all.tsv -q
okra link $common --pairs all --top 3 -o top.tsv -q
head -4 all.tsv >want
expect_same want top.tsv
okra link $common --pairs all --top 1000 -o top.tsv -q
expect_same all.tsv top.tsv
[ "$(wc -l <all.tsv)" = 14 ]
# given pairs have the scores of the ranking
printf 'new2 new1\nnew1,a\n' >pairs.txt
okra link $common --pairs pairs.txt -o given.tsv -q
compare() { # FILE FILE COUNT: COUNT pairs of the second have their scores in the first
    awk -v count="$3" 'FNR == NR { if (FNR > 1) score[$1 $2] = $3; next }
        FNR > 1 { want = ($1 $2) in score ? score[$1 $2] : score[$2 $1]
                  if ($3 - want > 1e-12 || want - $3 > 1e-12) exit 1; n++ }
        END { exit n != count }' "$1" "$2"
}
compare all.tsv given.tsv 2
# standard output holds data alone
okra link $common --pairs lu -o - 2>err | diff ranked.tsv -
expect_in "kx             rbf(sigma=1)" err

expect 0 okra link $common --pairs lu --truth truth.tsv --at 6,100 --network net.tsv --plot net.svg
expect_in "AUC-ROC        1.0000" out
expect_in "AUC-PR         1.0000" out
expect_in "precision@6    1.0000" out
expect_in "precision@100  0.5000" out
# 6 of 15 labelled pairs are edges, and so 5 of the 12 others
expect_in "predicted      5 links, as dense as the known ones; expected precision 1.0000, by left-out nodes" out
[ "$(wc -l <net.tsv)" = 11 ]
# what needs no descriptions stands beside it
expect_in "degree         AUC-ROC 0.5000, AUC-PR 0.5000" out
expect_in "no inputs      AUC-ROC 0.5000, AUC-PR 0.5000" out
[ ! -s err ]
# the norm of the score: chosen, and as given
okra link $common --pairs lu --norm 0.75 -o given.tsv -q
expect_same ranked.tsv given.tsv
okra link $common --pairs lu --norm 0 -o inner.tsv -q
refute cmp -s ranked.tsv inner.tsv
okra link $common --pairs lu --norm 1 -o cosine.tsv -q
awk 'NR > 1 && ($3 > 1 + 1e-12 || $3 < -1 - 1e-12) { exit 1 }' cosine.tsv
expect_fail 2 "okra link: --norm is '2', expected a number from 0 to 1, or auto" okra link $common --norm 2 -o o.tsv
expect_fail 2 "okra link: method naive has a score of its own: norm has no use" \
    okra link --x x.csv --nodes names.txt --edges known.tsv --kx 'rbf(sigma=1)' --method naive --norm 1 -o o.tsv
# descriptions that tell nothing: the degree wins, and a predicted network is weak
"$PYTHON" - <<'END'
import random
degree = [9 if i < 6 else 1 for i in range(60)]
for scale in (30, 120):
    random.seed(2)
    with open("noise.csv", "w") as x, open(f"known{scale}.tsv", "w") as known, open(f"all{scale}.tsv", "w") as truth:
        for i in range(60):
            x.write(f"{random.gauss(0, 1)},{random.gauss(0, 1)}\n")
            for j in range(i):
                if random.random() < degree[i] * degree[j] / scale:
                    print(i, j, file=truth)
                    if i < 40:
                        print(i, j, file=known)
END
seq 0 39 >forty.txt
expect 0 okra link --x noise.csv --edges known30.tsv --labelled forty.txt --truth all30.tsv
grep -q "^okra: warning: 'no inputs' ranks these links better (AUC-PR 0.2.* against 0.1.*): the descriptions tell little of them" err
expect 0 okra link --x noise.csv --edges known120.tsv --labelled forty.txt --network net.tsv
expect_in "okra: warning: the ranking is weak: about" err
expect 0 okra link --x noise.csv --edges known30.tsv --labelled forty.txt --fdr 0.01 -o found.tsv
expect_in "found          0 pairs" out
expect_in "okra: warning: links: no list of so few false links could be found" err
expect_in "true network" net.svg
expect_in "predicted network" net.svg
expect 0 okra link $common --pairs lu --truth truth.tsv --known --beta auto -q
expect 0 okra link $common --pairs pairs.txt --truth truth.tsv
expect_in "AUC-ROC        1.0000" out
expect 0 okra link $common -o all.tsv --lambda2 0.1 --graph 'knn(k=2)'
# the new nodes that help: all of them is the default, one of them is another model
printf 'new1\nnew2\n' >both.txt
printf 'new1\n' >one.txt
okra link $common -q --lambda2 0.1 -o all2.tsv
okra link $common -q --lambda2 0.1 --unlabelled both.txt -o both.tsv
expect_same all2.tsv both.tsv
okra link $common -q --lambda2 0.1 --unlabelled one.txt -o one.tsv
refute cmp -s all2.tsv one.tsv
# ... the one fitted where new2 is not there at all
head -7 x.csv >seven.csv
head -7 names.txt >seven.txt
okra link -q --x seven.csv --nodes seven.txt --edges known.tsv --kx 'rbf(sigma=1)' --lambda 0.1 \
    --lambda2 0.1 -o seven.tsv
compare one.tsv seven.tsv 6
printf 'a\n' >labelled.txt
expect_fail 2 "okra link: unlabelled node 0: expected new nodes, each once" \
    okra link $common --lambda2 1 --unlabelled labelled.txt -o o.tsv
expect_fail 2 "okra link: --unlabelled has no use without --lambda2" \
    okra link $common --unlabelled one.txt -o o.tsv
printf '# none\n' >nobody.txt
expect_fail 1 "okra link: nobody.txt names no node" \
    okra link $common --lambda2 1 --unlabelled nobody.txt -o o.tsv
# a ranked file is a file of pairs, headings and all
okra link $common --pairs ranked.tsv -o again.tsv -q
compare ranked.tsv again.tsv 12
# Gram matrices in place of kernels
okra gram -q --x x.csv --kernel 'rbf(sigma=1)' -o K.npy
okra link -q --x K.npy --kx precomputed --nodes names.txt --edges known.tsv --lambda 0.1 \
    --pairs lu -o gram.tsv
compare ranked.tsv gram.tsv 12
printf '1,.5,0,0,0,0\n.5,1,.5,0,0,0\n0,.5,1,0,0,0\n0,0,0,1,.5,0\n0,0,0,.5,1,0\n0,0,0,0,0,1\n' >L.csv
expect 0 okra link $common --y L.csv -o gram.tsv
expect_in "ky             precomputed" out
# an edge that comes again counts once
printf 'a b\nb a\nb c\na c\nd e\ne f\nd f\n' >again.tsv
expect 0 okra link --x x.csv --nodes names.txt --edges again.tsv --kx 'rbf(sigma=1)' --lambda 0.1 \
    --pairs lu -o same.tsv
expect_same ranked.tsv same.tsv
expect_in "okra: warning: again.tsv: 1 pairs come again and are left out" err

# a table with the names in a column, classes and headings, and edges below a line of headings
{ echo node,kind,u,v; paste -d, names.txt <(printf '%s\n' p q p q p q p q) x.csv; } >table.csv
{ echo from,to; tr ' \t' ',' <known.tsv; } >headings.csv
expect 0 okra link --x table.csv:u,v --nodes table.csv:node --edges headings.csv --kx 'rbf(sigma=1)' \
    --lambda 0.1 --pairs lu -o table.tsv
expect_in "okra: headings.csv: line 1 (from, to) is taken as headings" err
expect_same ranked.tsv table.tsv
okra link -q --x table.csv:u,v --nodes labels:table.csv:node --edges headings.csv --kx 'rbf(sigma=1)' \
    --lambda 0.1 --pairs lu -o table.tsv
expect_same ranked.tsv table.tsv
expect 0 okra link --x 'table.csv:!node' --nodes table.csv:1 --edges known.tsv --kx 'rbf(sigma=1)' \
    --lambda 0.1 --pairs lu -o table.tsv
expect_in "okra: table.csv: 3 columns become 4 numbers; a class is 0 or 1 for each of its texts" err
expect_fail 1 "okra link: table.csv:kind: two nodes are called 'p'" \
    okra link --x table.csv:u,v --nodes table.csv:kind --edges known.tsv -o o.tsv
{ echo id,u,v; seq 0 7 | paste -d, - x.csv; } >numbered.csv
expect 0 okra link --x 'numbered.csv:!id' --nodes numbered.csv:id --edges <(tr a-f 0-5 <known.tsv) \
    --kx 'rbf(sigma=1)' --lambda 0.1 --pairs lu -o table.tsv
awk 'FNR == NR { number[$1] = FNR - 1; next } FNR > 1 { $1 = number[$1]; $2 = number[$2] } 1' names.txt ranked.tsv >numbers.tsv
compare numbers.tsv table.tsv 12

bad() { # TEXT LINES...: known edges that are refused
    local text=$1
    shift
    printf '%s\n' "$@" >bad.tsv
    expect_fail 1 "okra link: $text" okra link --x x.csv --nodes names.txt --edges bad.tsv \
        --labelled lab.txt -o o.tsv
}
bad "bad.tsv: line 2: there is no node 'z'" 'a b' 'b z'
bad "bad.tsv: line 2: there is no node 'z'" '# net' 'z a'
bad "bad.tsv: line 2: there is no node 'from'" 'from to' 'from to'
bad "bad.tsv: line 1: there is no node 'from'" 'from to 0.5' # a weight: no headings
bad "bad.tsv: line 3: node 'new1' is no labelled node" '# comment' 'a b' 'new1 a'
bad "bad.tsv: line 1: node 'a' with itself" 'a a'
bad "bad.tsv: line 1: expected two nodes and perhaps a number, found one word" 'a'
bad "bad.tsv: line 1: expected two nodes and perhaps a number, found more" 'a b 1 2'
bad "bad.tsv: line 1: the weight is '-1', expected a positive number" 'a b -1'
bad "bad.tsv: line 2: the weight is '0', expected a positive number" 'a b 1' 'b c 0'
printf 'a b 1\nb c 0\n' >zero.tsv
expect_fail 1 "okra gram: zero.tsv: line 2: the weight 0 of an edge; expected more than 0; a pair \
without an edge is left out" okra gram --x nodes:zero.tsv --kernel 'diffusion(beta=1)' -o o.npy
[ ! -e o.tsv ]
printf '' >none.tsv
expect_fail 2 "okra link: there is no known edge: links are learned from known ones" \
    okra link --x x.csv --nodes names.txt --edges none.tsv --labelled lab.txt -o o.tsv
printf 'a\nb\na\n' >twice.txt
expect_fail 1 "okra link: twice.txt: line 3: node 'a' comes twice" \
    okra link --x x.csv --nodes names.txt --edges known.tsv --labelled twice.txt -o o.tsv
expect_fail 1 "okra link: known.tsv: line 2: there is no node 'b': expected 0 to 7, or --nodes FILE" \
    okra link --x x.csv --edges known.tsv -o o.tsv
printf 'a\nb\n' >short.txt
expect_fail 1 "okra link: short.txt: 2 names, but --x has 8 nodes" \
    okra link --x x.csv --nodes short.txt --edges known.tsv -o o.tsv
printf 'a\nb\nc\nd\ne\nf\ng\na\n' >double.txt
expect_fail 1 "okra link: double.txt: two nodes are called 'a'" \
    okra link --x x.csv --nodes double.txt --edges known.tsv -o o.tsv
printf 'a\nb\nc\nd\ne\nf\ng\nh\ni\n' >long.txt
expect_fail 1 "okra link: long.txt: line 9: more names than the 8 nodes of --x" \
    okra link --x x.csv --nodes long.txt --edges known.tsv -o o.tsv
printf 'a b\n' >wide.txt
expect_fail 1 "okra link: wide.txt: line 1: expected one name, found 'b' after 'a'" \
    okra link --x x.csv --nodes wide.txt --edges known.tsv -o o.tsv
expect_fail 1 "okra link: wide.txt: line 1: expected one node, found 'b' after 'a'" \
    okra link --x x.csv --nodes names.txt --edges known.tsv --labelled wide.txt -o o.tsv
expect_fail 1 "okra link: gone.tsv: No such file or directory" \
    okra link --x x.csv --edges gone.tsv -o o.tsv
expect_fail 2 "okra link: nothing to do: give -o, --truth, --network or --plot a file" \
    okra link $common
expect_fail 2 "okra link: --plot is 'n.png', expected a name in .svg" okra link $common --plot n.png
expect_fail 2 "okra link: --network and --plot take whole kinds of pairs: --pairs lu, uu or all" \
    okra link $common --pairs pairs.txt --network n.tsv
expect_fail 2 "okra link: --at has no use without --truth" okra link $common -o o.tsv --at 5
expect_fail 2 "okra link: --at is '5,0', expected numbers from 1 between commas" \
    okra link $common --truth truth.tsv --at 5,0
expect_fail 2 "okra link: --beta is '-1', expected a positive number or auto" \
    okra link $common -o o.tsv --beta=-1
expect_fail 2 "okra link: --beta is of the diffusion kernel that stands in for --ky: it has no use \
with --ky" okra link $common -o o.tsv --ky commute-time --beta 2
expect_fail 2 "okra link: knn: k is 7, expected at most 6, the number of training pairs" \
    okra link --x x.csv --nodes names.txt --edges known.tsv --method knn --k 7 -o o.tsv

need_python
okra link $common --pairs lu --truth truth.tsv --network net.tsv --json >out
"$PYTHON" - <<'END'
import json
r = json.load(open("out"))
assert (r["format"], r["kind"], r["nodes"], r["labelled"], r["edges"]) == (1, "link", 8, 6, 6), r
assert r["tables"][0]["rows"][0]["cells"]["AUC-ROC"]["okra"] == 1
assert [row["label"] for row in r["tables"][0]["rows"]] == ["links", "degree", "no inputs"]
assert (r["predicted"], r["expected_precision"]) == (5, 1)
assert [f["id"] for f in r["figures"]] == ["roc", "pr", "network"]
assert sum(len(r["figures"][2]["panels"][1][part]) for part in ("edges", "new")) == 11
END

# the best of 12.5 million pairs of new nodes without their matrix of 200 MB
"$PYTHON" - <<'END'
import random
random.seed(1)
with open("many.csv", "w") as f:
    for _ in range(5040):
        f.write("%.4f,%.4f\n" % (random.random(), random.random()))
with open("few.tsv", "w") as f:
    for i in range(39):
        f.write("%d %d\n" % (i, i + 1))
with open("few.txt", "w") as f:
    f.writelines("%d\n" % i for i in range(40))
END
expect 0 okra link --x many.csv --edges few.tsv --labelled few.txt --kx 'rbf(sigma=0.3)' --pairs uu \
    --top 5 --memory 60M -o best.tsv
[ "$(wc -l <best.tsv)" = 6 ]
if okra link --x many.csv --edges few.tsv --labelled few.txt --kx 'rbf(sigma=0.3)' --pairs uu \
    --memory 60M -o every.tsv 2>err; then
    false
fi
expect_in "okra link: the list of 12497500 pairs needs 286.05 MiB" err
[ ! -e every.tsv ]

# a list with few false links
awk 'BEGIN { s = 7; for (i = 0; i < 120; i++) { c = i % 3
    for (j = 0; j < 3; j++) { s = (s * 16807) % 2147483647
        printf "%s%g", j ? "," : "", (j == c) + 0.3 * s / 2147483647 }
    print "" } }' >many.csv
awk 'BEGIN { for (i = 0; i < 90; i++) for (j = i + 3; j < 90; j += 3) print i, j }' >many.tsv
awk 'BEGIN { for (i = 0; i < 120; i++) for (j = i + 3; j < 120; j += 3) if (j >= 90) print i, j }' >true.tsv
seq 0 89 >many.txt
many="--x many.csv --edges many.tsv --labelled many.txt --kx rbf(sigma=0.5) --lambda 0.1"
expect 0 okra link $many --fdr 0.1 -o found.tsv --truth true.tsv
expect_in "a share of 0.1 at most" out
expect_in "false here" out
[ "$(head -1 found.tsv)" = "$(printf 'node_a\tnode_b\tscore\tp_value')" ]
[ "$(wc -l <found.tsv)" -gt 500 ]
awk 'NR > 1 { if ($4 > 0.1 || $4 < p) exit 1; p = $4; n++; wrong += ($1 - $2) % 3 != 0 } END { exit wrong > 0.1 * n }' found.tsv
expect 2 okra link $many --fdr 0.1 --top 3 -o found.tsv
expect_in "top has no use" err
expect 2 okra link $many --hold-back 0.2 -o found.tsv
expect_in "hold-back has no use without --fdr" err

# kernel and lambda are chosen where they are not given, and told as a command that does the same
expect 0 okra link --x x.csv --nodes names.txt --edges known.tsv --pairs lu -o auto.tsv
expect_in "chosen         leave-one-out on 6 nodes: " out
sed -n 's/^the same  *//p' out | sed 's/auto\.tsv$/again.tsv/' >command
grep -q "^okra link --x x.csv --nodes names.txt --edges known.tsv --norm [0-9.]* --pairs lu --kx .* --lambda " command
bash -e command >out
if grep -q '^the same' out; then exit 1; fi
expect_same auto.tsv again.tsv
expect 0 okra link --x x.csv --nodes names.txt --edges known.tsv --kx auto --lambda auto --pairs lu \
    -o again.tsv --json
expect_in '"command": "okra link --x x.csv' out
expect_same auto.tsv again.tsv
expect 0 okra link --x x.csv --nodes names.txt --edges known.tsv --lambda 0.5 -o a.tsv
expect_in " --lambda 0.5 " out
expect 0 okra link --x x.csv --nodes names.txt --edges known.tsv --method kcca -o a.tsv
expect_in "chosen         a guess: nothing could be left out" out
# all nodes labelled: nothing is unknown, and okra says so
expect 0 okra link --x x.csv --nodes names.txt --edges known.tsv --labelled names.txt --kx 'rbf(sigma=1)' --lambda 0.5 -o a.tsv
expect_in "all 8 nodes are labelled, which leaves no pair unknown: --labelled FILE names" err
