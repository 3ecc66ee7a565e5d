#!/usr/bin/env python3
"""kill.py OKRA COUNT [SEED]: okra killed (SIGKILL) at COUNT random moments loses and breaks nothing.

fit, update, merge, predict, report: the file is the old one or the new one, to the byte. select --resume, fit --checkpoint
and paper: run again after the kills, they end with what a run in one go gives. No file that was left behind
is taken for a model.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

OKRA = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2])
R = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
ENV = dict(os.environ, OPENBLAS_NUM_THREADS="1")
OLD = b"what was there before\n"
PROGRAM = [path for path in (pathlib.Path(OKRA), pathlib.Path(OKRA).with_name("libokra.so")) if path.exists()]


def made():
    """When the program was built: results tell of which commit."""
    return [path.stat().st_mtime_ns for path in PROGRAM]


def okra(folder, arguments, **more):
    return subprocess.Popen([OKRA] + arguments, cwd=folder, env=ENV, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **more)


def whole(folder, arguments):
    """Runs to the end; how long that took."""
    begin = time.monotonic()
    p = okra(folder, arguments)
    err = p.communicate()[1]
    assert p.returncode == 0, (arguments, err)
    return time.monotonic() - begin


def killed(folder, arguments, took):
    """Whether the process was killed before its end, at a moment up to a little past it."""
    p = okra(folder, arguments)
    wait = R.uniform(0, 1.15 * took) if R.random() < 0.7 else R.uniform(0.7, 1.1) * took
    try:
        p.wait(wait)
    except subprocess.TimeoutExpired:
        p.kill()
    p.communicate()
    assert p.returncode in (0, -9), (arguments, p.returncode)
    return p.returncode == -9


def plain(path):
    """The file without what differs from run to run."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return re.sub(rb'"(seconds|date|time)[^"]*": [^,\n]*,?', b"", data)
    return data


def replaced(folder, arguments, target, count):
    """Commands whose file is the old one or the new one."""
    took = whole(folder, arguments)
    right, kills = plain(folder / target), 0
    for _ in range(count):
        (folder / target).write_bytes(OLD)
        kills += killed(folder, arguments, took)
        now = plain(folder / target)
        assert now in (OLD, right), f"{arguments}: {target} is neither the old nor the new file"
        for left in folder.glob(target + ".*"):
            p = subprocess.run([OKRA, "info", left.name], cwd=folder, capture_output=True)
            assert p.returncode != 0 or left.read_bytes() == right, f"{left} is taken for a model"
            left.unlink()
    return kills


def resumed(folder, arguments, target, state, count):
    """Commands that go on where they were killed."""
    took = whole(folder, arguments)
    right, kills = plain(folder / target), 0
    while count > 0:
        for path in folder.glob(state):
            path.unlink()
        (folder / target).unlink(missing_ok=True)
        for _ in range(min(count, 5)):
            kills += killed(folder, arguments, took)
            count -= 1
        whole(folder, arguments)
        assert plain(folder / target) == right, f"{arguments}: {target} is another one after the kills"
    return kills


def make(folder):
    r = np.random.default_rng(1)
    np.save(folder / "x.npy", r.normal(size=(300, 10)))
    np.save(folder / "y.npy", r.normal(size=(300, 10)))
    x = r.normal(size=(4000, 10))
    np.save(folder / "lx.npy", x)
    np.save(folder / "ly.npy", np.sin(x @ r.normal(size=(10, 3))))
    whole(folder, ["score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "-q"])
    p = subprocess.run([OKRA, "score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "--json"], cwd=folder,
                       check=True, stdout=subprocess.PIPE, env=ENV)
    (folder / "r.json").write_bytes(p.stdout)


def main():
    base = ["-q", "--threads", "1"]
    fit = ["fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=3)", "--ky", "rbf(sigma=3)", *base]
    large = ["fit", "--x", "lx.npy", "--y", "ly.npy", "--kx", "rbf(sigma=3)", "--ky", "linear", "--low-rank-x",
             "nystrom(rank=80)", "--lambda", "1e-3", "--solver", "cg", "--cg-tolerance", "1e-12", *base]
    select = ["select", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma={2,3,4})", "--ky", "rbf(sigma=3)", "--lambda",
              "0.1,1", "--cv", "kfold:3", "--resume", "state", *base]
    paper = ["paper", "brouard-t8", "--quick", "--results", ".", *base]
    jobs = [
        (replaced, fit + ["--operator", "cov", "-o", "k.okra"], "k.okra"),
        (replaced, ["predict", "m.okra", "--x", "x.npy", "-o", "p.npy", *base], "p.npy"),
        (replaced, ["report", "r.json", "-o", "r.html", "-q"], "r.html"),
        (replaced, ["update", "m.okra", "--x", "x.npy", "--y", "y.npy", "--remove", "rows.csv", "-o", "u.okra", *base],
         "u.okra"),
        (replaced, ["merge", "part.okra", "part2.okra", "part3.okra", "-o", "all.okra", *base], "all.okra"),
        (resumed, select + ["-o", "s.okra"], "s.okra", "state*"),
        (resumed, large + ["--checkpoint", "cg", "-o", "l.okra"], "l.okra", "cg*"),
        (resumed, paper, "brouard-t8-quick.json", "*.partial"),
    ]
    with tempfile.TemporaryDirectory(prefix="okra-kill-") as top:
        folder = pathlib.Path(top)
        make(folder)
        whole(folder, fit + ["-o", "m.okra"])
        (folder / "rows.csv").write_text("3\n100\n250\n")
        whole(folder, ["fit", "--x", "lx.npy", "--y", "ly.npy", "--kx", "rbf(sigma=3)", "--ky", "linear", "--low-rank-x",
                       "nystrom(rank=80)", "--lambda", "1e-3", "--keep-moments", "-o", "part.okra", *base])
        for copy in ("part2.okra", "part3.okra"):  # the same file twice is refused
            (folder / copy).write_bytes((folder / "part.okra").read_bytes())
        total, kills, first = 0, 0, made()
        for k, (kind, *rest) in enumerate(jobs):
            count = COUNT * (k + 1) // len(jobs) - COUNT * k // len(jobs)
            try:
                one = kind(folder, *rest, count)
            finally:
                if made() != first:
                    sys.exit("kill.py: okra was built anew while it was killed: run this again")
            print(f"{rest[0][0]}: {count} moments, {one} killed", flush=True)
            total += count
            kills += one
    print(f"{total} moments ({kills} before the end), 0 faults: nothing lost, nothing broken")
    return 0 if kills > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
