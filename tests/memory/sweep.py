#!/usr/bin/env python3
"""sweep.py OKRA SHIM [RUNS [COMMAND...]]: allocations fail anywhere in the process, okra stays honest.

Each command runs with one allocation failing: every one of them, or, where they are more than RUNS (0: MOST,
FEW where there are MANY), one drawn from each of as many equal stretches of the whole run, from the first to the
last, and the last five. SEED=n draws others, so that further runs look at further ones. Then it runs with every
k-th failing. It must end by itself; with status 0 its files are the right ones to the byte; with another status it
says why, every file that was there before is there still as it was, and no other file is left.
"""
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent import futures

import numpy as np

OKRA, SHIM = (os.path.abspath(p) for p in sys.argv[1:3])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 25
MOST, MANY, FEW = 2000, 10000, 300  # a command with MANY tries out settings, in the same code again and again
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
    np.save(folder / "ty.npy", r.normal(size=(5, 3)))
    np.save(folder / "cells.npy", r.normal(size=(5, 30)))
    (folder / "bag.csv").write_text("id,a,y\n" + "".join("m%d,%d,%d\n" % (i // 2, i * i % 7, i // 2) for i in range(12)))
    (folder / "rows.csv").write_text("3\n7\n")
    (folder / "lines.json").write_text('{"id": 7, "x": [1, 2, 3, 4]}\n[0, 1, 0, 1]\n')
    (folder / "t.smi").write_text("CCO\nCCC\nC1CC1\nCO\n")
    for k, name in enumerate(("a.tsv", "b.tsv")):
        (folder / name).write_text("test\tcandidate\tdistance\n" + "".join(
            "%d\t%d\t%g\n" % (t, c, (7 * c + 3 * t + k) % 11) for t in range(4) for c in range(6)))
    (folder / "s.mgf").write_text("".join("BEGIN IONS\nPEPMASS=%d\nSMILES=CCO\n50.5 1\n%g 2\nEND IONS\n" % (90 + i, 60 + i)
                                          for i in range(8)))
    for arguments in MAKE:
        subprocess.run([OKRA, *arguments, "-q"], cwd=folder, check=True, env=dict(os.environ, **BLAS))
    scores = subprocess.run([OKRA, "score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "--json"],
                            cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    (folder / "r.json").write_bytes(scores)


PAIRS = ["fit", "--rows", "tx.npy", "--columns", "x.npy", "--y", "cells.npy", "--kx", "rbf(sigma=2) * linear", "--lambda", "0.1"]
MAKE = [
    ["fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky", "linear", "--lambda", "0.1", "-o", "m.okra"],
    ["fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky", "linear", "--lambda", "0.1", "--compact",
     "-o", "half.okra"],
    ["basis", "--x", "x.npy", "--kx", "rbf(sigma=2)", "--low-rank-x", "nystrom(rank=6)", "-o", "basis.okra"],
    ["fit", "--basis", "basis.okra", "--x", "x.npy", "--y", "y.npy", "--lambda", "0.1", "-o", "p1.okra"],
    ["fit", "--basis", "basis.okra", "--x", "tx.npy", "--y", "ty.npy", "--lambda", "0.1", "-o", "p2.okra"],
    ["fit", "--x", "s.mgf", "--y", "s.mgf:smiles", "--kx", "ppk", "--ky", "ecfp(bits=64)|tanimoto", "--lambda", "0.1",
     "-o", "spectra.okra"],
    ["index", "t.smi", "--model", "spectra.okra", "--rank", "2", "-o", "c.okx"],
    [*PAIRS, "-o", "pairs.okra"],
]
FIT = ["fit", "--x", "x.npy", "--kx", "rbf(sigma=2)", "--lambda", "0.1", "-o", "out.okra", "-q"]
# name, arguments, the file or folder it writes (None: standard output); "<" FILE: its standard input
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
    ("predict-compact", ["predict", "half.okra", "--x", "tx.npy", "-o", "out.npy", "-q"], "out.npy"),
    ("predict-intervals", ["predict", "m.okra", "--x", "tx.npy", "--interval", "0.2", "-o", "out.tsv", "-q"], "out.tsv"),
    ("predict-sets", ["predict", "m.okra", "--x", "tx.npy", "--set", "0.2", "--conformal", "jackknife+", "-o", "out.tsv",
                      "-q"], "out.tsv"),
    ("predict-stream", ["predict", "m.okra", "--x", "-", "--stream", "-q", "<", "lines.json"], None),
    ("predict-index", ["predict", "spectra.okra", "--x", "s.mgf", "--candidates", "c.okx", "--top", "2", "-o", "out.tsv",
                       "-q"], "out.tsv"),
    ("index", ["index", "t.smi", "--ky", "ecfp(bits=64)|tanimoto", "-o", "out.okx", "-q"], "out.okx"),
    ("index-low", ["index", "t.smi", "--model", "spectra.okra", "--rank", "2", "-o", "out.okx", "-q"], "out.okx"),
    ("index-check", ["index", "c.okx", "--check"], None),
    ("update", ["update", "m.okra", "--x", "tx.npy", "--y", "ty.npy", "--remove", "rows.csv", "-o", "out.okra", "-q"],
     "out.okra"),
    ("update-low", ["update", "p1.okra", "--x", "tx.npy", "--y", "ty.npy", "-o", "out.okra", "-q"], "out.okra"),
    ("basis", ["basis", "--x", "x.npy", "--kx", "rbf(sigma=2)", "--low-rank-x", "nystrom(rank=6)", "-o", "out.okra", "-q"],
     "out.okra"),
    ("fit-basis", ["fit", "--basis", "basis.okra", "--x", "x.npy", "--y", "y.npy", "--lambda", "0.1", "-o", "out.okra",
                   "-q"], "out.okra"),
    ("fit-pairs", [*PAIRS, "--calibration", "0.3", "-o", "out.okra", "-q"], "out.okra"),
    ("predict-pairs", ["predict", "pairs.okra", "--rows", "x.npy", "--top", "2", "-o", "out.tsv", "-q"], "out.tsv"),
    ("info-pairs", ["info", "pairs.okra"], None),
    ("fit-bags", ["fit", "--x", "bag.csv", "--y", "bag.csv:y", "--bag", "id", "--kx", "bag(rbf(sigma=1),match)", "--lambda", "0.1", "-o",
                  "out.okra", "-q"], "out.okra"),
    ("merge", ["merge", "p1.okra", "p2.okra", "-o", "out.okra", "-q"], "out.okra"),
    ("fuse", ["fuse", "a.tsv", "b.tsv", "-o", "out.tsv", "-q"], "out.tsv"),
    ("select-resume", ["select", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma={1,2})", "--ky", "linear", "--lambda",
                       "0.1,1", "--cv", "kfold:3", "--resume", "state", "-o", "out.okra", "-q"], "out.okra"),
    ("fit-spectra", ["fit", "--x", "s.mgf", "--y", "s.mgf:smiles", "--kx", "ppk", "--ky", "ecfp(bits=64)|tanimoto",
                     "--lambda", "0.1", "-o", "out.okra", "-q"], "out.okra"),
    ("twin", ["twin", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky", "rbf(sigma=2)",
              "--degrees", "1,3", "-o", "out.json", "-q"], "out.json"),
]


def run(folder, arguments, **fail):
    """Status and what was written, in a folder with a file that is not to be lost."""
    env = dict(os.environ, LD_PRELOAD=SHIM, **BLAS,
               **{"OKRA_FAIL_" + k.upper(): str(v) for k, v in fail.items()})
    given = b""
    if "<" in arguments:
        given = (folder / arguments[-1]).read_bytes()
        arguments = arguments[:-2]
    threads = [] if arguments[0] in ("report", "fuse") else ["--threads", "1"]
    return subprocess.run([OKRA] + arguments + threads, cwd=folder, env=env, input=given,
                          capture_output=True, timeout=ANYTIME)


def strip(text):
    """Without what differs from run to run."""
    return b"\n".join(line for line in text.splitlines() if b"seconds" not in line)


def files(work):
    """What is in a folder. Work that goes on where it stopped (an index, a selection) may be left."""
    found = {str(p.relative_to(work)): p.read_bytes() for p in work.rglob("*") if p.is_file()}
    return {name: text for name, text in found.items() if not name.startswith(("out.okx.part", "state"))}


def restore(work, wanted):
    """Makes the folder hold these files again."""
    for path in work.iterdir():
        if path.name.startswith(("out.", "state")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, text in wanted.items():
        path = work / name
        if not path.exists() or path.read_bytes() != text:
            path.write_bytes(text)


def judge(p, before, now, right):
    """What is wrong with one run; None: nothing."""
    message = p.stderr.decode(errors="replace").strip()
    if p.returncode < 0 or p.returncode > 2:
        return f"ended with {p.returncode}: {message}"
    if p.returncode == 0:
        good = {name: strip(text) for name, text in now.items()} == right[0] and strip(p.stdout) == right[1]
        return None if good else "status 0 and another answer"
    if now != before:
        return f"status {p.returncode}, and files are gone, altered or left: {set(now.items()) ^ set(before.items())}"
    return None if message else f"status {p.returncode} without a word"


def spread(calls, count):
    """One of each of `count` stretches of 1..calls - 5, as equal as they can be."""
    r = random.Random(int(os.environ.get("SEED") or 7))
    ends = [1 + (calls - 5) * i // count for i in range(count + 1)]
    return [r.randrange(a, b) for a, b in zip(ends, ends[1:])]


def check(name, arguments, target, base):
    faults = []
    work, count = base.parent / name, base.parent / f"count-{name}"
    shutil.copytree(base, work)
    good = run(work, arguments, count=count)
    if good.returncode != 0:
        return 0, 0, [f"{name}: without a failure: status {good.returncode}: {good.stderr.decode()}"]
    calls = int(count.read_text())
    if calls < 20:
        return 0, 0, [f"{name}: {calls} allocations: they are not seen"]
    right = {name: strip(text) for name, text in files(work).items()}, strip(good.stdout)
    before = files(base)
    if target and target != "out.okx":
        before[target] = b"a good file\n"
    points = list(range(1, calls + 1))
    limit = RUNS or (MOST if calls < MANY else FEW)
    if calls > limit:
        points = spread(calls, limit - 5) + points[-5:]
    cases = [{"at": k} for k in points] + [{"every": k} for k in (2, 7, 23, 101, 997)]
    for fail in cases:
        restore(work, before)
        try:
            p = run(work, arguments, **fail)
        except subprocess.TimeoutExpired:
            faults.append(f"{name}: {fail} of {calls}: hangs")
            continue
        fault = judge(p, before, files(work), right)
        if fault:
            faults.append(f"{name}: {fail} of {calls}: {fault}"[:1000])
    return len(cases), calls, faults


def main():
    chosen = sys.argv[4:]
    faults, runs, all_calls = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="okra-memory-") as top:
        base = pathlib.Path(top, "base")
        base.mkdir()
        make(base)
        commands = [one for one in COMMANDS if not chosen or one[0] in chosen]
        with futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
            for (name, *_), (count, calls, found) in zip(commands, pool.map(lambda one: check(*one, base), commands)):
                runs += count
                all_calls += calls
                faults += found
                print(f"{name}: {count} runs of {calls} allocations, {len(found)} faults", *found, sep="\n", flush=True)
    print(f"{runs} runs with failing allocations of {all_calls} in all, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
