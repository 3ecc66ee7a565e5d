# okra predict from a pipe: lines as they come, JSON lines, bounded memory.
need_python
"$PYTHON" - <<'P'
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(80, 3))
np.savetxt("x.csv", x, delimiter=",", fmt="%.17g")
np.savetxt("y.csv", np.sin(x @ r.normal(size=(3, 2))), delimiter=",", fmt="%.17g")
t = r.normal(size=(3000, 3))
np.savetxt("t.csv", t, delimiter=",", fmt="%.17g")
np.save("t.npy", t)
P
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o m.okra
near() { "$PYTHON" -c "
import numpy as np
a, b = np.loadtxt('$1', delimiter=','), np.loadtxt('$2', delimiter=',')
assert a.shape == b.shape and abs(a - b).max() < 1e-12"; }

# the same as from a file, to standard output or into a file, whole or not at all
okra predict m.okra --x t.csv -q -o whole.csv
okra predict m.okra --x - -o - <t.csv >piped.csv
near whole.csv piped.csv
okra predict m.okra --x csv:- -q -o file.csv <t.csv
expect_same piped.csv file.csv
# the bits of an answer do not depend on when its line comes, and with which others
slowly() { while IFS= read -r row; do echo "$row"; sleep 0.005; done; }
head -50 t.csv | slowly | okra predict m.okra --x - -o - >slow.csv
head -50 piped.csv | expect_same - slow.csv
sed -n 7,46p t.csv | okra predict m.okra --x - -o - >later.csv
sed -n 7,46p piped.csv | expect_same - later.csv
sed 's/.*/[&]/' t.csv | okra predict m.okra --x - --stream >piped.json
head -50 t.csv | sed 's/.*/[&]/' | slowly | okra predict m.okra --x - --stream >slow.json
head -50 piped.json | expect_same - slow.json
# an array is one block, so that the last bits may differ
okra predict m.okra --x - -q -o array.csv <t.npy
near whole.csv array.csv
# each good row is answered, each bad line is told with its number and has an empty answer
printf '1,2,3\n1,2\n1,two,3\n4,5,6\n\n0x,1,1\n1,2,3' >mixed.csv
status=0
okra predict m.okra --x - -o - <mixed.csv >got.csv 2>err || status=$?
[ $status = 1 ]
[ "$(wc -l <got.csv)" = 7 ]
[ "$(wc -l <err)" = 3 ]
printf '1,2,3\n4,5,6\n1,2,3\n' | okra predict m.okra --x - -o - >want.csv
grep . got.csv >some.csv
near some.csv want.csv
[ "$(sed -n 2p got.csv)" = "" ]
[ "$(sed -n 3p got.csv)" = "" ]
[ "$(sed -n 5p got.csv)" = "" ] # the blank line
[ "$(sed -n 6p got.csv)" = "" ]
grep -q "^okra predict: standard input, line 2: " err
grep -qx "okra predict: standard input, line 3, column 2: 'two' is not a number" err
grep -q "^okra predict: standard input, line 6" err
refute grep -q "line 1" err
# also where they come far behind the first batch
"$PYTHON" -c "
for i in range(2500):
    print('oops,1,2' if i in (0, 1700, 2499) else '0.1,0.2,0.3')" >many.csv
sed -i 1d many.csv
status=0
okra predict m.okra --x - -o - <many.csv >got.csv 2>err || status=$?
[ $status = 1 ]
[ "$(wc -l <got.csv)" = 2499 ]
[ "$(grep -c . got.csv)" = 2497 ]
grep -q "line 1700" err && grep -q "line 2499" err && [ "$(wc -l <err)" = 2 ]
# a file is written whole or not at all
expect 1 okra predict m.okra --x - -o broken.csv <mixed.csv
expect_in "okra predict: broken.csv is not written: lines without an answer: 3" err
[ ! -e broken.csv ]
expect 0 okra predict m.okra --x - -o - </dev/null
[ ! -s out ]

# a line is answered when it comes
mkfifo ask tell
okra predict m.okra --x - -o - <ask >tell &
exec 3>ask 4<tell
echo 1,2,3 >&3
read -r -t 20 first <&4
echo 1,2,3 >&3
read -r -t 20 second <&4
[ "$first" = "$second" ]
[ -n "$first" ]
exec 3>&- 4<&-
wait

# JSON lines: an answer each, mistakes hold up nothing
status=0
printf '%s\n' '{"id": 7, "x": [1, 2, 3]}' '[1, 2, 3]' 'nonsense' '{"id": "a", "x": [1, 2]}' '{"z": 1}' '[1, "b", 3]' |
    okra predict m.okra --x - --stream >answers 2>err || status=$?
[ $status = 1 ] # lines that have no answer are told at the end
expect_in "okra predict: lines that were answered with an error: 4" err
"$PYTHON" - "$first" <<'P'
import json, sys
lines = [json.loads(line) for line in open("answers")]
want = [float(v) for v in sys.argv[1].split(",")]
assert lines[0]["id"] == 7 and max(abs(a - b) for a, b in zip(lines[0]["y"], want)) < 1e-12
assert set(lines[1]) == {"y"} and lines[1]["y"] == lines[0]["y"]
assert lines[2] == {"error": "no JSON: invalid token near 'nonsense'"}
assert lines[3] == {"id": "a", "error": "expected an array of 3 numbers"}
assert lines[4] == {"error": "the object has no \"x\""}
assert lines[5] == {"error": "element 1 is no number"} and len(lines) == 6
P
echo '[1, 2, 3]' | okra predict m.okra --x - --stream --decode candidates --top 2 >answers
"$PYTHON" -c "
import json
top = json.load(open('answers'))['top']
assert len(top) == 2 and top[0]['distance'] <= top[1]['distance'] and len(top[0]['y']) == 2"

# different candidates, with their numbers among those given, as in tables
seq 1 80 | awk '{ print $1 % 3 }' >classes.txt
okra fit -q --x x.csv --y labels:classes.txt --kx 'rbf(sigma=2)' --ky zero-one --lambda 0.1 -o classes.okra
echo '[1, 2, 3]' | okra predict classes.okra --x - --stream --top 3 >answers
echo '1,2,3' | okra predict classes.okra --x - --top 3 -o - >ranked.tsv
"$PYTHON" - <<'P'
import json
top = json.load(open("answers"))["top"]
rows = [line.split("\t") for line in open("ranked.tsv")][1:]
assert [c["candidate"] for c in top] == [int(r[2]) for r in rows] and len(top) == 3
assert sorted(c["y"] for c in top) == [0, 1, 2], top
P

# strings, molecules, sparse vectors
printf 'abba\nab\nbca\nac\n' >w.txt
okra fit -q --x w.txt --y w.txt --kx 'spectrum(k=2)' --ky 'spectrum(k=2)' --lambda 0.01 -o w.okra
expect_out "ab
bca" sh -c 'printf "ab\nbca\n" | okra predict w.okra --x - -o txt:-'
expect_out '{"y":"ab"}
{"error":"expected a text"}' sh -c 'printf "\"ab\"\n3\n" | okra predict w.okra --x - --stream 2>err || [ $? = 1 ]'
printf 'CCO\nCCN\nCCC\nc1ccccc1\n' >m.smi
head -4 y.csv >four.csv
okra fit -q --x m.smi --y four.csv --kx wl --ky linear --lambda 0.1 -o smi.okra
printf '"CCO"\n"not a molecule ("\n"CCN"\n' |
    okra predict smi.okra --x - --stream >answers 2>err || [ $? = 1 ]
[ "$(wc -l <answers)" = 3 ]
grep -q error answers
[ "$(grep -c '"y"' answers)" = 2 ]
printf '0 1:1 3:2\n0 2:1\n0 1:2\n0 3:1\n' >s.svm
okra fit -q --x s.svm --y four.csv --kx linear --ky linear --lambda 0.1 -o s.okra
okra predict s.okra --x s.svm -q -o whole.csv
okra predict s.okra --x - -o - <s.svm >piped.csv
near whole.csv piped.csv
printf '{"0": 1, "2": 2}\n{"x": {"1": 1}}\n{"-1": 1}\n' |
    okra predict s.okra --x - --stream >answers 2>err || [ $? = 1 ]
[ "$(grep -c '"y"' answers)" = 2 ]
# an index is written in one way, and it is one
printf '{"00": 1}\n{" 0": 1}\n{"9223372036854775807": 1}\n{"99999999999999999999": 1}\n{"": 1}\n' |
    okra predict s.okra --x - --stream >answers 2>err || [ $? = 1 ]
[ "$(grep -c 'expected indices from 0' answers)" = 5 ]
# a line whose JSON would not fit the budget
(printf '['; head -c 400000 /dev/zero | tr '\0' 1; echo ']') >long.json
expect 1 okra predict m.okra --x - --stream --memory 32M <long.json
expect_in '{"error":"the line is too long for the memory budget"}' out

expect_fail 2 "okra predict: --stream answers standard input: --x is 't.csv', expected -" \
    okra predict m.okra --x t.csv --stream
expect_fail 2 "okra predict: --weights has no use with --stream" \
    okra predict m.okra --x - --stream --weights w.npy
for flags in "--within mass=1ppm" --p-values --exact; do
    # shellcheck disable=SC2086
    expect_fail 2 "okra predict: ${flags%% *} has no use with --stream" okra predict m.okra --x - --stream --top 2 $flags
done
# what is wrong with flags is wrong before the first line
for flags in "--decode nearest" "--decode string" "--decode position" "--candidates w.txt" "--decode none"; do
    status=0
    # shellcheck disable=SC2086
    echo '[1, 2, 3]' | okra predict m.okra --x - --stream $flags >answers 2>err || status=$?
    [ $status != 0 ]
    [ ! -s answers ]
    [ "$(wc -l <err)" -ge 1 ]
done

# blank lines and comments are no rows; each has an empty line for an answer, so that line k
# of the answers is that of line k
(head -2 s.svm; sleep 0.2; echo; sleep 0.2; echo '# more'; sleep 0.2; tail -2 s.svm) |
    okra predict s.okra --x svm:- -o - >piped.csv
(head -2 whole.csv; echo; echo; tail -2 whole.csv) >want.csv
expect_same want.csv piped.csv
(head -1 s.svm; echo '# more'; echo; sed -n 2p s.svm; echo '  '; tail -n +3 s.svm; echo) |
    okra predict s.okra --x svm:- -o - >piped.csv
[ "$(wc -l <piped.csv)" = 8 ]
[ "$(grep -n '^$' piped.csv | tr -d '\n')" = 2:3:5:8: ]
grep -v '^$' piped.csv >filled.csv
[ "$(wc -l <filled.csv)" = 4 ]

# standard input can be read once
for twice in "--x - --candidates -" "--x csv:- --candidates -" "--x - --x -"; do
    status=0
    # shellcheck disable=SC2086
    okra predict m.okra $twice -o - <t.csv >got.csv 2>err || status=$?
    [ $status = 2 ]
    [ ! -s got.csv ]
    expect_in "okra predict: standard input is named twice: '-' can be read once" err
done
expect_fail 2 "okra fit: standard input is named twice: '-' can be read once" \
    okra fit --x - --y - --kx linear --ky linear --lambda 1 -o e.okra <t.csv

printf 'a b\n' >edges.tsv
printf 'a\nb\n' >names.txt
expect_fail 2 "okra link: standard input is named twice: '-' can be read once" \
    sh -c 'okra link --x - --edges - -o - <t.csv'
expect_fail 2 "okra link: standard input is named twice: '-' can be read once" \
    sh -c 'head -2 x.csv | okra link --x - --edges edges.tsv --nodes - -o -'
expect_fail 2 "okra link: standard input is named twice: '-' can be read once" \
    sh -c 'head -2 x.csv >two.csv; okra link --x two.csv --nodes names.txt --edges - --truth - -o - <edges.tsv'
expect_fail 2 "okra report: standard input is named twice: '-' can be read once" \
    sh -c 'okra fit -q --json --x x.csv --y y.csv --kx linear --ky linear --lambda 1 -o r.okra | okra report - - -o r.html'
expect_fail 2 "okra merge: a model is mapped from its file: '-' is none; --list - reads the names of models from standard input" \
    sh -c 'okra merge - - -o e.okra <m.okra'

# 1,000,000 rows in 100 MiB
"$PYTHON" - <<'P'
import os, resource, subprocess
# the address sanitizer keeps freed blocks back: only what is in use counts here
env = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1:" + os.environ.get("ASAN_OPTIONS", ""))
p = subprocess.Popen(["okra", "predict", "m.okra", "--x", "-", "-o", "-"], stdin=subprocess.PIPE,
                     stdout=open("many", "wb"), env=env)
piece = b"0.1,0.2,0.3\n-1,2,0.5\n" * 5000
for _ in range(100):
    p.stdin.write(piece)
p.stdin.close()
assert p.wait() == 0
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
assert sum(1 for _ in open("many", "rb")) == 1000000
assert peak < 100, peak
P

# a heading comes first and alone is nothing to answer; later it is no row; blank lines are answered
# by blank lines
source "$ROOT/tests/cli/lib/small.bash"
okra fit -q --x x.csv --y y.csv --kx linear --ky linear --lambda 0.1 -o head.okra
okra predict -q head.okra --x tx.csv -o want.csv
(echo a,b; cat tx.csv) | okra predict -q head.okra --x - -o - >got.csv
expect_same want.csv got.csv
(echo a,b; sleep 0.2; echo; sleep 0.2; cat tx.csv) | okra predict -q head.okra --x - -o - >got.csv
(echo; cat want.csv) >with_blank.csv
expect_same with_blank.csv got.csv
status=0
echo a,b | okra predict -q head.okra --x - -o - >got.csv 2>err || status=$?
[ $status = 1 ]
[ ! -s got.csv ]
expect_in "okra predict: standard input: line 1 is a heading, and no row of numbers comes after it" err
status=0
printf '1|2\n3|4\n' | okra predict -q head.okra --x - -o - >got.csv 2>err || status=$?
[ $status = 1 ]
[ "$(wc -l <err)" = 2 ]
expect_in "okra predict: standard input, line 1: '1|2' is no row of numbers" err
status=0
(head -1 tx.csv; sleep 0.5; echo a,b; sleep 0.5; tail -1 tx.csv) |
    okra predict -q head.okra --x - -o - >got.csv 2>err || status=$?
[ $status = 1 ]
[ "$(wc -l <got.csv)" = 3 ]
grep -q "standard input, line 2: 'a,b' is no row of numbers" err
# columns by the names of the heading, in every batch; another heading is wrong for all lines
(echo u,v; cat x.csv) >named.csv
okra fit -q --x named.csv --y y.csv --kx linear --ky linear --lambda 0.1 -o named.okra
awk -F, -v OFS=, '{ print $2, $1 }' tx.csv >swapped.csv
(echo v,u; cat swapped.csv) | okra predict named.okra --x - -o - >got.csv 2>err
expect_same want.csv got.csv
expect_in "okra: warning: standard input: its columns stand in another order than those of named.okra; they are taken by name" err
(echo v,u; head -1 swapped.csv; sleep 0.3; tail -n +2 swapped.csv) |
    okra predict named.okra --x - -o - >got.csv 2>err
near want.csv got.csv
[ "$(wc -l <err)" = 1 ]
status=0
(echo u,w; cat tx.csv) | okra predict named.okra --x - -o - >got.csv 2>err || status=$?
[ $status = 1 ]
[ ! -s got.csv ]
expect_in "okra predict: standard input: column 2 is 'w', expected 'v' or another of the 2 columns of named.okra, in any order" err
[ "$(wc -l <err)" = 1 ]
okra predict -q named.okra --x - -o - <tx.csv >got.csv
expect_same want.csv got.csv
# molecules and strings on standard output are lines, as in files
printf 'CCO\nCCC\nc1ccccc1\nCO\nCN\nCCN\nCCCO\nCCCC\n' >m.smi
okra fit -q --x x.csv --y m.smi --kx linear --ky 'ecfp | tanimoto' --lambda 0.1 -o m.okra
okra predict -q m.okra --x tx.csv -o want.smi
okra predict -q m.okra --x tx.csv -o - >got.smi
expect_same want.smi got.smi
okra predict -q m.okra --x - -o - <tx.csv >got.smi
expect_same want.smi got.smi
printf 'a,b\nc\nd "e"\nf\ng\nh\ni\nj\n' >s.txt
okra fit -q --x x.csv --y s.txt --kx linear --ky 'spectrum(k=1)' --lambda 0.1 -o s.okra
okra predict -q s.okra --x x.csv -o want.txt
okra predict -q s.okra --x x.csv -o - >got.txt
expect_same want.txt got.txt
