# Model files that were altered and sealed again: refused by info and predict alike, no file is opened
# because a model names it, and nothing of a file reaches the terminal as a command.
source "$ROOT/tests/cli/lib/small.bash"
need_python
export PYTHONPATH="$ROOT/tests/cli/lib"
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear -o m.okra
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --method soar -o s.okra
printf '2,0\n0,1\n' >metric.csv
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'metric(file=metric.csv)' -o k.okra
okra fit -q --x x.csv --y y.csv --unlabelled tx.csv --kx 'rbf(sigma=2)' --lambda2 0.1 --graph 'knn(k=2)' -o g.okra
awk 'BEGIN { for (i = 0; i < '"$(wc -l <y.csv)"'; i++) print i % 3 }' >l.txt
okra fit -q --x x.csv --y labels:l.txt --kx 'rbf(sigma=2)' --ky zero-one -o l.okra
"$PYTHON" - <<'END'
import seal
entries, about = seal.read("m.okra")
seal.write("same.okra", entries, about)

# more inputs than outputs
about["x"]["count"] = 4
seal.write("count.okra", entries, about)
entries, about = seal.read("m.okra")
about["numbers"]["other"] = 1
seal.write("other.okra", entries, about)
entries, about = seal.read("m.okra")
about["options"]["operator"] = "\x1b]0;owned\x07\x1b[31m\u009b31m\u202e\nkx             forged"
about["okra"] = "9\x1b[2J"
seal.write("escape.okra", entries, about)
about["method"] = "\x1b[2Jridge"
seal.write("method.okra", entries, about)
entries, about = seal.read("s.okra")
about["texts"]["associate"] = "metric(file=pipe.csv)"
seal.write("pipe.okra", entries, about)
entries, about = seal.read("m.okra")
about["kernels"]["x"] = "metric(file=pipe.csv)"
seal.write("kx.okra", entries, about)
entries, about = seal.read("k.okra")
about["kernels"]["y"] = about["kernels"]["y"].replace("metric.csv", "pipe.csv")
seal.write("ky.okra", entries, about)
# options that no fit would take
for name, option, text in (("lambda", "lambda", "-1"), ("infinite", "lambda", "inf"), ("nonsense", "lambda", "x"),
                           ("steps", "cg-iterations", "0"), ("choice", "keep", "all"), ("flag", "center-output", "perhaps"),
                           ("disguise", "method", "knn")):
    entries, about = seal.read("m.okra")
    about["options"][option] = text
    seal.write(name + ".okra", entries, about)
# many lines about kernels are told in a time that grows with their number alone
entries, about = seal.read("m.okra")
about["texts"].update({"align.kernels": "\n" * 300000, "align.weights": "," * 300000})
seal.write("lines.okra", entries, about)
for name, text in (("loss", "nonsense"), ("losskernel", "kernel-loss:kernel=metric(file=pipe.csv)"),
                   ("losskind", "kernel-loss:kernel=spectrum(k=2)"), ("lossgood", "kernel-loss:kernel=linear")):
    entries, about = seal.read("m.okra")
    about["texts"]["decode"] = "loss:" + text
    seal.write(name + ".okra", entries, about)
# more classes than labels can have would take memory for each
entries, about = seal.read("l.okra")
assert "names" not in about["y"] and about["y"]["width"] == 3
about["y"]["width"] = 1 << 31
seal.write("classes.okra", entries, about)
about["y"]["width"] = 1000001
seal.write("million.okra", entries, about)
for name, text in (("graph", "file(pipe.csv)"), ("space", " file  ( pipe.csv ) | normalized")):
    entries, about = seal.read("g.okra")
    about["options"]["graph"] = text
    seal.write(name + ".okra", entries, about)
END
expect 0 okra predict same.okra --x tx.csv -o same.csv
okra predict -q m.okra --x tx.csv -o want.csv
cmp same.csv want.csv
expect_fail 1 "okra info: count.okra: the array x/values has a shape that does not fit" \
    okra info count.okra
for model in count other method pipe kx loss losskernel losskind; do
    expect 1 okra info $model.okra
    expect 1 okra predict $model.okra --x tx.csv -o bad.csv
    [ ! -e bad.csv ]
done
expect_in "okra predict: losskind.okra: " err
expect_fail 1 "okra info: classes.okra: y: 8 labels of 2147483648 classes without names, expected at most 1000001 classes" \
    okra info classes.okra
expect 0 okra predict million.okra --x tx.csv --memory 64M -o million.txt
expect 0 okra predict lossgood.okra --x tx.csv -o good.csv
# a pipe that nobody writes to would hang whoever opens it
mkfifo pipe.csv
expect 1 timeout 20 okra predict pipe.okra --x tx.csv -o bad.csv
expect_in "expected a kernel of vectors without files" err
expect 1 timeout 20 okra predict kx.okra --x tx.csv -o bad.csv
expect_in "'kx.leaf0' is missing" err
for model in graph space; do
    expect 1 timeout 20 okra update $model.okra --x tx.csv --y ty.csv -o bad.okra
    expect_in "its option graph names a file" err
done
# what the file said is in the model: it predicts, and candidates are prepared for it
expect 0 timeout 20 okra predict ky.okra --x tx.csv -o ky.csv
expect 0 timeout 20 okra index dense:y.csv -q --model ky.okra --rank 2 -o ky.okx
expect 0 timeout 20 okra index dense:y.csv -q --model ky.okra -o plain.okx
expect 0 timeout 20 okra info lines.okra
# options out of the ranges of their tables
expect_fail 1 "okra info: lambda.okra: ridge: lambda is -1, expected 0 to 1e+300" okra info lambda.okra
expect_fail 1 "okra info: disguise.okra: its options name the method 'knn', it is of ridge" okra info disguise.okra
for model in lambda infinite nonsense steps choice flag disguise; do
    expect 1 okra info $model.okra
    expect 1 okra predict $model.okra --x tx.csv -o bad.csv
    [ ! -e bad.csv ]
done
# names of sequences stay on their lines
printf '>first\nACG\n>second\nTTT\n>third\nGGA\n' >s.fasta
head -3 x.csv >x3.csv
okra fit -q --x x3.csv --y s.fasta --ky 'spectrum(k=1)' -o f.okra
"$PYTHON" - <<'END'
import seal
entries, about = seal.read("f.okra")
name = [n for n in entries if b"firstsecondthird" in entries[n]]
assert len(name) == 1, list(entries)
entries[name[0]] = entries[name[0]].replace(b"second", b"s\n>\x1bxx")
seal.write("names.okra", entries, about)
END
expect 0 okra predict -q names.okra --x x3.csv -o names.fasta
expect_in '>s\x0a>\x1bx' names.fasta
[ "$(grep -c '^>' names.fasta)" = 3 ]
# escapes
expect 0 okra info escape.okra
expect_in '\x1b]0;owned\x07\x1b[31m\xc2\x9b31m\xe2\x80\xae\x0akx' out
if grep -q $'\033' out || grep -q $'^kx  .*forged' out; then
    exit 1
fi
okra info escape.okra --json >out
expect_in '\u001B[2J' out
expect_in '\u009B31m\u202E' out
if LC_ALL=C grep -q $'\xc2\x9b\|\xe2\x80\xae\|\033' out; then
    exit 1
fi
"$PYTHON" -c 'import json, sys; assert "\u009b31m\u202e" in json.load(sys.stdin)["options"]["operator"]' <out
expect 1 okra info method.okra
expect_in '\x1b[2Jridge' err
if grep -q $'\033' err; then
    exit 1
fi
# nor does anything of a data file that a command quotes
printf '3\033[2J\n' >rows.csv
expect_fail 1 'okra update: rows.csv: line 1: found '"'"'3\x1b[2J'"'"', expected one whole number' \
    okra update m.okra --remove rows.csv -o bad.okra
# the directory of an archive takes memory for each of its files
"$PYTHON" - <<'END'
import struct
n = 100001
entry = b"PK\x01\x02" + struct.pack("<6H3I5H2I", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
end64 = b"PK\x06\x06" + struct.pack("<Q2H2I4Q", 44, 45, 45, 0, 0, n, n, n * len(entry), 0)
locator = b"PK\x06\x07" + struct.pack("<IQI", 0, n * len(entry), 1)
end = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
open("many.npz", "wb").write(entry * n + end64 + locator + end)
END
expect 1 okra gram --x many.npz --kernel linear -o bad.csv
expect_in "an archive of 100001 files, expected at most 100000" err
