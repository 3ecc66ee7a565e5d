# Finished work of select, checkpoints of fits: what is no file, cannot be read, was cut, altered or is another's is
# refused with its name, at once; nothing half-written stays, and what was refused is not changed.
source "$ROOT/tests/cli/lib/small.bash"
need_python
select=(okra select -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1,1 --cv kfold:2 --resume)
fit=(okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 -o m.okra --checkpoint)
cg=(okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky linear --lambda 0.1 --low-rank-x 'chol(rank=2)'
    --solver cg -o m.okra --checkpoint)
"${select[@]}" journal >want
"${cg[@]}" state
"${fit[@]}" factor
okra predict -q m.okra --x tx.csv -o want.csv

# a pipe that nobody writes, a folder, a device, a link to nothing, a path through a file
mkfifo pipe
mkdir folder
ln -s gone link
ln -s journal good
for what in pipe folder /dev/null; do
    expect_fail 1 "okra select: $what: is no plain file, which finished work is kept in" timeout 20 "${select[@]}" $what
    for command in fit cg; do
        declare -n these=$command
        expect_fail 1 "okra fit: checkpoint $what: is no plain file, which finished work is kept in" timeout 20 "${these[@]}" $what
    done
done
expect_fail 1 "okra select: x.csv/journal: cannot be written: Not a directory" "${select[@]}" x.csv/journal
expect_fail 1 "okra fit: checkpoint x.csv/state: cannot be read: Not a directory" "${fit[@]}" x.csv/state
[ -p pipe ] && [ -d folder ] && [ -c /dev/null ]
"${select[@]}" link >out # the file that it names is made
cmp out want
[ -L link ] && [ -s gone ]
"${select[@]}" good >out
cmp out want
[ -L good ]

# somebody else's: journals as checkpoints, checkpoints as journals, of another fit
for what in state factor m.okra x.csv; do
    cp $what $what.kept
    expect_fail 1 "okra select: $what.kept: not the finished work of a selection" "${select[@]}" $what.kept
    cmp $what.kept $what
done
for what in journal factor m.okra x.csv; do
    cp $what $what.kept
    expect 1 "${cg[@]}" $what.kept
    expect_in "okra fit: checkpoint $what.kept: " err
    cmp $what.kept $what
done
expect 1 "${fit[@]}" state
expect_in "okra fit: checkpoint state: it is no checkpoint of such a fit" err

# cut anywhere: refused, or the same answer
"$PYTHON" - "${fit[@]}" <<'END'
import os, subprocess, sys
journal, state, factor = (open(name, "rb").read() for name in ("journal", "state", "factor"))
select = ["okra", "select", "-q", "--x", "x.csv", "--y", "y.csv", "--kx", "rbf(sigma=2)", "--ky", "linear", "--lambda", "0.1,1",
          "--cv", "kfold:2", "--resume", "cut"]
fit = sys.argv[1:] + ["cut"]
want = open("want").read()
for whole, command in ((journal, select), (factor, fit)):
    for k in range(12):
        size = k * len(whole) // 12
        open("cut", "wb").write(whole[:size])
        if os.path.exists("m.okra"):
            os.remove("m.okra")
        p = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert p.returncode in (0, 1), (size, p)
        assert p.returncode == 1 and "cut: " in p.stderr or p.returncode == 0 and not p.stderr, (size, p.stderr)
        assert command is not select or p.returncode == 1 or p.stdout == want, (size, p.stdout)
        assert command is select or os.path.exists("m.okra") == (p.returncode == 0), (size, p)
        assert p.returncode == 0 or open("cut", "rb").read() == whole[:size], size
        assert not [f for f in os.listdir(".") if f.endswith(".tmp")], os.listdir(".")
END

# sealed again with numbers that are none, and a line of so many values that copying them again and again would take a day
"$PYTHON" - <<'END'
import struct, zipfile, zlib
with zipfile.ZipFile("state") as z:
    entries = {name: z.read(name) for name in z.namelist()}
entries["a"] = struct.pack("<d", float("nan")) * (len(entries["a"]) // 8)
with zipfile.ZipFile("nan", "w") as z:
    for name, data in entries.items():
        z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    z.comment = b"okra crc32 00000000"
whole = open("nan", "rb").read()[:-19]
open("nan", "wb").write(whole + b"okra crc32 %08x" % zlib.crc32(whole))
record = b'{"outer": 0, "cell": "x", "values": [' + b", ".join([b"0.123456789"] * 300000) + b"]}"
open("long", "wb").write(open("journal", "rb").read() + b'{"crc32": "%08x", "record": %s}\n' % (zlib.crc32(record), record))
END
expect_fail 1 "okra fit: checkpoint nan: it is no checkpoint of such a fit" "${cg[@]}" nan
timeout 60 "${select[@]}" long >out
cmp out want

# a disk that is full, and a folder that nobody may write, where this can be had
okra fit -q --x x.csv --y y.csv --lambda 0.1 -o m.okra
mkdir full
if mount -t tmpfs -o size=16k tmpfs full 2>err; then (
    trap 'umount -l full' EXIT
    head -c 20000 /dev/zero >full/all 2>err || true
    expect 1 "${select[@]}" full/journal
    expect_in "okra select: full/journal: " err
    expect 1 "${fit[@]}" full/factor
    expect_in "full/factor: " err
    expect 1 okra fit -q --x x.csv --y y.csv --lambda 0.1 -o full/m.okra
    expect_in "okra fit: full/m.okra: " err
    expect 1 okra predict -q m.okra --x tx.csv -o full/p.csv
    expect_in "okra predict: full/p.csv: " err
    [ "$(ls full)" = all ]
    mount -o remount,ro full
    expect 1 "${select[@]}" full/journal
    expect_in "okra select: full/journal: " err
    expect 1 "${fit[@]}" full/factor
    [ "$(ls full)" = all ]
) fi
