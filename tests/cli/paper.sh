# okra paper: the list, entries without their data, unknown names, resuming, reports.
okra paper list --data . >out
for text in "Table 2, left   bottom half of a digit from its top half      kadri-t2-left" \
    "not run: the HoG features that it was made from are not published" \
    "usps/train_x.npy, or zip.train as published: not there" "not run here yet"; do
    expect_in "$text" out
done
okra paper --json --data . >list.json
expect_in '"name": "kadri-t2-left"' list.json
if [ -n "$PYTHON" ]; then # every entry is listed beside a table or figure, and the reverse
    "$PYTHON" - <<'END'
import json
found = json.load(open("list.json"))
entries = {e["name"] for e in found["entries"]}
named = {n for i in found["items"] for n in i["entries"]}
assert entries == named, entries ^ named
assert all(i["entries"] or i["note"] for i in found["items"])
per = [sum(i["paper"].startswith(p) for i in found["items"]) for p in ("We", "Ka", "To", "Br")]
assert per == [6, 6, 7, 17], per
END
fi
expect_fail 1 "okra paper: kadri-t2-left needs usps/train_x.npy in the data folder (.); give it by --data DIR or OKRA_DATA" \
    okra paper kadri-t2-left --data .
expect_fail 2 "okra paper: there is no entry 'kadri-t2-lef'; did you mean 'kadri-t2-left'?" \
    okra paper kadri-t2-lef --data .
expect_fail 2 "okra paper: --quick and --full exclude each other" \
    okra paper kadri-t2-left --quick --full

# all: what is finished is taken, also of another okra with --keep; the rest is left out or run.
# Here every built-in entry has a result already, so that nothing runs.
mkdir results
for name in $(sed -n 's/^ *"name": "\(.*\)",$/\1/p' list.json); do
    printf '{"okra":"0","format":1,"kind":"paper","name":"%s","title":"t","date":"2001-02-03","seed":0,"source":"other","tables":[],"figures":[]}' \
        "$name" >"results/$name-quick.json"
done
expect 0 okra paper all --quick --keep --data . --report page.html
expect_in "okra paper: weston-t1 is finished, its result of 2001-02-03 is taken" err
expect_in "okra paper: weston-t3 is left out: it needs usps/train_x.npy, usps/train_y.npy, or zip.train as published" err
expect_in "left out: it needs usps/train_x.npy, or zip.train as published in the data folder" page.html
expect_in "2001-02-03" page.html
expect 0 okra paper all --quick --keep --data . --report page.md --quiet --json
expect_in "## weston-t1" page.md
expect_in '"left_out": true' out
expect 0 okra paper list --data .
expect_in "run here: quick 2001-02-03" out
# A result with another seed is none of this run: it would be computed anew.
expect 0 okra paper list --data . --seed 5
[ "$(grep -c 'run here:' out)" = 0 ]

# An entry that fails is told of; the others come into the page all the same.
mkdir -p broken/umist
echo garbage | tee broken/umist/x.npy >broken/umist/subject.npy
mv results/kadri-t3-quick.json kadri-t3.json
expect 1 okra paper all --quick --keep --data broken --report rest.html
expect_in "broken/umist/" err
expect_in "okra paper: brouard-t8 is finished" err
expect_in "2001-02-03" rest.html
[ ! -e results/kadri-t3-quick.json ]
mv kadri-t3.json results/kadri-t3-quick.json

expect 1 okra paper all --quick --data . --report none/page.html

# That results cannot be kept is said before an entry runs.
: >file
expect_fail 1 "okra paper: file: is a file, expected the folder of results" \
    okra paper brouard-t8 --quick --results file
expect_fail 1 "okra paper: no/where: the folder of results cannot be made: No such file or directory" \
    okra paper brouard-t8 --quick --results no/where
if [ "$(id -u)" != 0 ]; then # root may write everywhere
    mkdir -m 555 closed
    expect_fail 1 "okra paper: closed: results cannot be written there: Permission denied" \
        okra paper brouard-t8 --quick --results closed
fi

# A killed run goes on where it stopped: steps of these sources are taken, those of others
# are computed again, and a line cut short is no step.
partial=$PWD/again/when-it-helps-quick-seed0.partial
run_until() { # until the file has that many whole lines, then kill -9
    okra paper when-it-helps --quick --results again --quiet >/dev/null 2>&1 &
    local pid=$!
    for _ in $(seq 1200); do
        if [ -e "$partial" ] && [ "$(wc -l <"$partial")" -ge "$1" ]; then break; fi
        kill -0 "$pid" || complain "the run ended by itself"
        sleep 0.05
    done
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
}
keys() { sed -n 's/.*"key":"\([^"]*\)".*}$/\1/p' "$partial"; }
seconds() { sed -n 's/.*"seconds":\([0-9.]*\),.*/\1/p' "$partial"; }
run_until 1
keys | sort >before
seconds | tail -n 1 >spent
printf '{"key":"cut' >>"$partial"
run_until $(($(wc -l <before) + 2)) # the cut line counts as one
[ -z "$(keys | sort | uniq -d)" ]            # nothing was computed twice
keys | sort | comm -23 before - >lost
[ ! -s lost ]
seconds | sort -nc                           # the time of the killed run counts too
[ "$(seconds | tail -n 1)" != "$(cat spent)" ]
sed -i 's/"source":"[^"]*"/"source":"other"/' "$partial"
run_until $(($(wc -l <"$partial") + 1))
[ -n "$(keys | sort | uniq -d)" ]            # the first step again

# Continued after kills and with lines cut short or altered, it ends with what a run in one go gives.
plain() { grep -vE '"(seconds|date)": ' "$1"; }
okra paper when-it-helps --quick --results whole --quiet
rm -rf again
for lines in 2 4; do
    run_until "$lines"
    size=$(stat -c %s "$partial")
    truncate -s $((size - lines)) "$partial" # a part of the last step
done
sed -i '2s/[0-9]\],/7],/; 2s/,0\.[0-9]/,0.5/' "$partial" # another number, and the checksum is wrong
okra paper when-it-helps --quick --results again --quiet
plain whole/when-it-helps-quick.json >a
plain again/when-it-helps-quick.json >b
expect_same a b
[ ! -e "$partial" ]

# Processes that run one entry in one folder at a time share its steps, and each ends with the result
# of one that runs alone; one that is killed leaves its step to the others.
shared=$PWD/shared/when-it-helps-quick-seed0.partial
okra paper when-it-helps --quick --results shared --quiet >/dev/null 2>&1 &
first=$!
okra paper when-it-helps --quick --results shared --quiet &
second=$!
okra paper when-it-helps --quick --results shared --quiet &
third=$!
for _ in $(seq 1200); do
    if [ -e "$shared" ] && [ "$(wc -l <"$shared")" -ge 2 ]; then break; fi
    sleep 0.05
done
keys_of() { sed -n 's/.*"key":"\([^"]*\)".*}$/\1/p' "$1"; }
[ -z "$(keys_of "$shared" | sort | uniq -d)" ] # no step twice
kill -9 "$first" 2>/dev/null || true
wait "$first" 2>/dev/null || true
wait "$second"
wait "$third"
plain shared/when-it-helps-quick.json >c
expect_same a c
[ -z "$(ls shared | grep -v json)" ]
