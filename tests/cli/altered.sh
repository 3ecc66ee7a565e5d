# A model with an altered byte or a missing end is never accepted, and nothing crashes.
source "$ROOT/tests/cli/lib/small.bash"
need_python
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' -o m.okra
"$PYTHON" - <<'END'
import random, subprocess
good = open("m.okra", "rb").read()
random.seed(1)
places = [random.randrange(len(good)) for _ in range(60)] + list(range(0, 60, 6))
places += [len(good) - 1 - i for i in range(0, 60, 6)]
cases = [good[:p] + bytes([good[p] ^ 1 << random.randrange(8)]) + good[p + 1:] for p in places]
cases += [good[:p] for p in places[:30]] + [good + b"x", good[1:]]
for case in cases:
    open("bad.okra", "wb").write(case)
    run = subprocess.run(["okra", "predict", "bad.okra", "--x", "tx.csv", "-o", "bad.csv"],
                         capture_output=True, text=True, errors="replace")
    assert run.returncode == 1, run
    assert run.stderr.startswith("okra predict: bad.okra: "), run.stderr
    assert run.stderr.count("\n") == 1 and run.stdout == "", run
END
[ ! -e bad.csv ]

# a description that is packed, or too large, is refused before it takes memory
"$PYTHON" - <<'END'
import resource, subprocess, zipfile, zlib
def seal(path):
    b = open(path, "rb").read()
    b = b[:-2] + (19).to_bytes(2, "little")
    open(path, "wb").write(b + b"okra crc32 %08x" % zlib.crc32(b))
about = zipfile.ZipFile("m.okra").read("model.json").rstrip().rstrip(b"}")
bomb = about + b', "more": [' + b"[]," * 6000000 + b"[]]}"
for how, text, words in (
        (zipfile.ZIP_DEFLATED, bomb, "entry 'model.json' is compressed; a model's entries are stored"),
        (zipfile.ZIP_STORED, bomb, "model.json has "),
        (zipfile.ZIP_STORED, bomb[:2000000] + b"[]]}", "model.json needs ")):
    with zipfile.ZipFile("bomb.okra", "w") as to, zipfile.ZipFile("m.okra") as good:
        for name in good.namelist():
            to.writestr(name, text if name == "model.json" else good.read(name),
                        how if name == "model.json" else zipfile.ZIP_STORED)
    seal("bomb.okra")
    run = subprocess.run(["okra", "info", "bomb.okra", "--memory", "256M"], capture_output=True, text=True)
    assert run.returncode == 1 and words in run.stderr, run
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    assert most < 256 + 64, most
END

# a file that may not grow any more is an error that leaves nothing
(
    ulimit -f 2
    expect 1 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' -o large.okra
)
expect_in "large.okra: cannot be written: File too large" err
refute ls large.okra* 2>/dev/null

# permissions of what is replaced, and links
chmod 600 m.okra
ln -s m.okra link.okra
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=3)' -o link.okra
[ -L link.okra ]
[ "$(stat -c %a m.okra)" = 600 ]
okra twin -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=2)' --degrees 1,2 -o t.json
chmod 600 t.json
ln -s t.json link.json
okra twin -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=2)' --degrees 1,2 -o link.json
[ -L link.json ]
[ "$(stat -c %a t.json)" = 600 ]
