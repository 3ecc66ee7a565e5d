# okra demo: the table, the drawings, and that what it says to type next works as it stands.
expect 0 okra demo --threads 1
for text in "patterns: " "s-shape: " "k-NN, best k of" "okra, operator ccov" " +- " \
    "truth             okra              k-NN" "What to type next:"; do
    expect_in "$text" out
done
cp out first
expect 0 okra demo --threads 1
expect_same first out
sed -n '/What to type next/,$p' out | sed '1,2d' >next.sh
[ "$(grep -c '^  okra ' next.sh)" = 6 ]
bash -eu next.sh >next.out
expect_in "mse	" next.out
# okra does better than its peer on both tasks
awk '/k-NN, best/ { peer = $(NF - 2) } /okra, operator identity|okra, rbf/ {
     if (!($(NF - 2) < peer)) exit 1; found++ } END { exit found != 2 }' first
expect 0 okra demo --threads 1 --seed 7 -q -o demo.svg --save here
expect_in "</svg>" demo.svg
[ "$(ls here | wc -l)" = 8 ]
if grep -q "What to type next" out || cmp -s first out; then
    exit 1
fi
expect_fail 1 "okra demo: /proc/no: No such file or directory" okra demo -q --save /proc/no
need_python
okra demo --threads 1 --json >out
"$PYTHON" - <<'END'
import json, xml.dom.minidom
tasks = json.load(open("out"))["tasks"]
assert [t["task"] for t in tasks] == ["patterns", "s-shape"]
for t in tasks:
    for row in t["rows"]:
        assert abs(sum(row["values"]) / 5 - row["mean"]) < 1e-12
xml.dom.minidom.parse("demo.svg")
END
