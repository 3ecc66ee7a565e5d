#!/usr/bin/env python3
"""sweep.py OKRA SHIM [RUNS]: allocations fail anywhere in the process, okra stays honest.

Each command runs with the k-th allocation failing, for RUNS values of k spread over all of
them (0: every one), and with every k-th failing. It must end by itself; with status 0 its
files are the right ones to the byte; with another status it says why, the file that was
there before is there still, and no other file is left.
"""
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np

OKRA, SHIM = (os.path.abspath(p) for p in sys.argv[1:3])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 25
ANYTIME = 60  # seconds: more is a hang
# OpenBLAS's products of small matrices on AVX-512 allocate and do not look whether they
# got something; those for other processors do not allocate.
BLAS = {"OPENBLAS_NUM_THREADS": "1"}
if platform.machine() == "x86_64":
    BLAS["OPENBLAS_CORETYPE"] = "Haswell"


def make(folder):
    r = np.random.default_rng(1)
    np.save(folder / "x.npy", r.normal(size=(30, 4)))
    np.save(folder / "y.npy", r.normal(size=(30, 3)))
    np.save(folder / "tx.npy", r.normal(size=(5, 4)))
    (folder / "s.txt").write_text("".join("".join(r.choice(list("abc"), 6)) + "\n" for _ in range(30)))
    (folder / "m.smi").write_text("CCO\nc1ccccc1\nCC(=O)O\nCCN\nC1CC1\n")
    (folder / "a.csv").write_text("\n".join("%d,%d" % (i, i * i) for i in range(20)) + "\n")
    (folder / "b.svm").write_text("1 1:2 3:4\n2 2:1\n1 1:1\n")
    (folder / "l.tsv").write_text("".join("%d\t%d\n" % (i, (3 * i + 1) % 20) for i in range(20)))
    (folder / "nodes.txt").write_text("".join("%d\n" % i for i in range(20)))
    subprocess.run([OKRA, "fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky",
                    "linear", "--lambda", "0.1", "-o", "m.okra", "-q"], cwd=folder, check=True,
                   env=dict(os.environ, **BLAS))
    scores = subprocess.run([OKRA, "score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "--json"],
                            cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    (folder / "r.json").write_bytes(scores)


FIT = ["fit", "--x", "x.npy", "--kx", "rbf(sigma=2)", "--lambda", "0.1", "-o", "out.okra", "-q"]
# name, arguments, the file it writes (None: standard output)
COMMANDS = [
    ("fit", FIT + ["--y", "y.npy", "--ky", "rbf(sigma=2)", "--operator", "cov"], "out.okra"),
    ("fit-strings", FIT + ["--y", "s.txt", "--ky", "ssk(length=2,decay=0.5)|normalize"], "out.okra"),
    ("fit-low-rank", FIT + ["--y", "y.npy", "--ky", "linear", "--low-rank-x", "nystrom(rank=8)"], "out.okra"),
    ("predict", ["predict", "m.okra", "--x", "tx.npy", "-o", "out.npy", "-q"], "out.npy"),
    ("fit-nothing-given", ["fit", "--x", "x.npy", "--y", "y.npy", "-o", "out.okra", "-q"], "out.okra"),
    ("fit-compact", FIT + ["--y", "s.txt", "--ky", "spectrum(k=1)", "--compact"], "out.okra"),
    ("predict-top", ["predict", "m.okra", "--x", "tx.npy", "--top", "3", "-o", "out.json", "-q"], "out.json"),
    ("info", ["info", "m.okra"], None),
    ("info-json", ["info", "m.okra", "--json"], None),
    ("score", ["score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "-q"], None),
    ("gram", ["gram", "--x", "m.smi", "--kernel", "ecfp(radius=2)|tanimoto", "-o", "out.csv", "-q"], "out.csv"),
    ("gram-csv", ["gram", "--x", "a.csv", "--kernel", "linear", "-o", "out.mtx.csv", "-q"], "out.mtx.csv"),
    ("gram-svm", ["gram", "--x", "b.svm", "--kernel", "linear", "-o", "out.csv", "-q"], "out.csv"),
    ("select", ["select", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma={1,2})", "--ky", "linear",
                "--lambda", "0.1,1", "--cv", "loo", "-o", "out.okra", "-q"], "out.okra"),
    ("report", ["report", "r.json", "-o", "out.md", "-q"], "out.md"),
    ("report-page", ["report", "r.json", "-o", "out.html", "-q"], "out.html"),
    ("link", ["link", "--x", "x.npy", "--edges", "l.tsv", "--labelled", "nodes.txt", "--kx", "rbf(sigma=2)",
              "--top", "20", "-o", "out.tsv", "-q"], "out.tsv"),
    ("twin", ["twin", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky", "rbf(sigma=2)",
              "--degrees", "1,3", "-o", "out.json", "-q"], "out.json"),
]


def run(folder, arguments, **fail):
    """Status and what was written, in a folder with a file that is not to be lost."""
    env = dict(os.environ, LD_PRELOAD=SHIM, **BLAS,
               **{"OKRA_FAIL_" + k.upper(): str(v) for k, v in fail.items()})
    threads = [] if arguments[0] == "report" else ["--threads", "1"]
    return subprocess.run([OKRA] + arguments + threads, cwd=folder, env=env,
                          capture_output=True, timeout=ANYTIME)


def strip(text):
    """Without what differs from run to run."""
    return b"\n".join(line for line in text.splitlines() if b"seconds" not in line)


def check(name, arguments, target, base, work):
    faults = []
    for path in work.iterdir():
        path.unlink()
    for path in base.iterdir():
        shutil.copy(path, work)
    good = run(work, arguments, count=str(work / "count"))
    if good.returncode != 0:
        return 0, [f"{name}: without a failure: status {good.returncode}: {good.stderr.decode()}"]
    calls = int((work / "count").read_text())
    (work / "count").unlink()
    if calls < 20:
        return 0, [f"{name}: {calls} allocations: they are not seen"]
    right = (work / target).read_bytes() if target else good.stdout
    before = {p.name for p in work.iterdir()}
    r = random.Random(7)
    points = list(range(1, calls + 1))
    if RUNS and len(points) > RUNS:
        points = sorted(set(r.sample(points, RUNS - 5)) | set(points[-5:]))
    cases = [{"at": k} for k in points] + [{"every": k} for k in (2, 7, 23, 101, 997)]
    for fail in cases:
        where = f"{name}: {fail} of {calls}"
        if target:
            (work / target).write_bytes(b"a good file\n")
        try:
            p = run(work, arguments, **fail)
        except subprocess.TimeoutExpired:
            faults.append(f"{where}: hangs")
            continue
        message = p.stderr.decode(errors="replace").strip()
        now = (work / target).read_bytes() if target else p.stdout
        if p.returncode < 0 or p.returncode > 2:
            faults.append(f"{where}: ended with {p.returncode}: {message}")
        elif p.returncode == 0 and strip(now) != strip(right):
            faults.append(f"{where}: status 0 and another answer")
        elif p.returncode != 0 and target and now != b"a good file\n":
            faults.append(f"{where}: status {p.returncode}, and the file is gone: {message}")
        elif p.returncode != 0 and not message:
            faults.append(f"{where}: status {p.returncode} without a word")
        left = {q.name for q in work.iterdir()} - before
        if left:
            faults.append(f"{where}: leaves {left}")
            for path in left:
                (work / path).unlink()
    return len(cases), faults


def main():
    chosen = sys.argv[4:]
    faults, runs = [], 0
    with tempfile.TemporaryDirectory(prefix="okra-memory-") as top:
        base, work = pathlib.Path(top, "base"), pathlib.Path(top, "work")
        base.mkdir()
        work.mkdir()
        make(base)
        for name, arguments, target in COMMANDS:
            if not chosen or name in chosen:
                count, found = check(name, arguments, target, base, work)
                runs += count
                faults += found
                print(f"{name}: {count} runs, {len(found)} faults", flush=True)
    print("\n".join(faults))
    print(f"{runs} runs with failing allocations, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
