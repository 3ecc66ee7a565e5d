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
