"""Pairs: seconds, memory and error of okra fit --rows --columns.

Times are those of all processors together, which other work on the machine moves least.

Davis: the published test fold is left out of the matrix, everything is chosen on the rest. Synthetic: 118,254 known pairs of
2,111 x 229; then the same kind with rows and columns that no fit has seen, where the four left-out errors that okra prints
stand beside the errors that came true."""
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from common import BUILD, THREADS, finish, report

DATA = Path(os.environ.get("OKRA_DATA", Path(__file__).parent / "../../shared/data"))
ROWS, COLUMNS, KNOWN = 2111, 229, 118254


def concordance(y, f):
    """The share of pairs with different values whose predictions are in the same order; ties: half."""
    good = total = 0.0
    for i in range(len(y)):
        lower = f[y < y[i]]
        total += len(lower)
        good += (lower < f[i]).sum() + 0.5 * (lower == f[i]).sum()
    return good / total


def okra(*arguments):
    done = subprocess.run([os.path.join(BUILD, "okra"), *map(str, arguments), "--threads", str(THREADS)], check=True,
                          capture_output=True, text=True)
    return done.stdout


def fit(folder, rows, columns, values, *more):
    """Seconds, those of processors, MiB at most so far, mean squared errors of left-out pairs by setting."""
    begin, before = time.perf_counter(), os.times()
    out = okra("fit", "--rows", rows, "--columns", columns, "--y", values, "-o", folder / "m.okra", "--json", *more)
    spent, after = time.perf_counter() - begin, os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, busy, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, {
        line["setting"]: line["mse"] for line in json.loads(out)["scores"]}


def predict(folder, *sides):
    okra("predict", folder / "m.okra", *sides, "-o", folder / "f.npy", "-q")
    return np.load(folder / "f.npy")


def davis(folder, data):
    lines = [line.split("\t") for line in (data / "proteins.tsv").read_text().splitlines()[1:]]
    (folder / "p.fasta").write_text("".join(f">{name}\n{sequence}\n" for name, sequence in lines))
    Y = np.load(data / "affinity.npy").astype(float)
    test = np.array(json.loads((data / "test_fold_setting1.txt").read_text()))
    train = Y.copy()
    train.ravel()[test] = np.nan
    np.save(folder / "y.npy", train)
    spent, busy, memory, left = fit(folder, data / "drugs.smi", folder / "p.fasta", folder / "y.npy")
    f, y = predict(folder).ravel()[test], Y.ravel()[test]
    error = float(((y - f) ** 2).mean())
    report("Davis, published test fold: mean squared error", error, 0.26, better="lower", **left)
    report("Davis, published test fold: concordance", concordance(y, f), 0.89)
    report("Davis: fit with its choices, seconds of both processors together, of 5", busy / 5, 1, better="lower", processors=busy,
           wall=spent, mib=memory)


def made(random, n, m, known):
    """Objects of both sides, values of all pairs, and these where only so many are known."""
    X, Z = random.normal(size=(n, 20)), random.normal(size=(m, 10))
    Y = np.tanh(X @ (0.2 * random.normal(size=(20, 10))) @ Z.T) + 0.3 * random.normal(size=(n, m))
    there = np.zeros(n * m, bool)
    there[random.choice(n * m, known, replace=False)] = True
    return X, Z, Y, np.where(there.reshape(n, m), Y, np.nan)


def keep(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def synthetic(folder, random):
    X, Z, Y, known = made(random, ROWS, COLUMNS, KNOWN)
    keep(folder, x=X, z=Z, y=known)
    spent, busy, memory, left = fit(folder, folder / "x.npy", folder / "z.npy", folder / "y.npy")
    hidden = np.isnan(known)
    error = float(((Y - predict(folder))[hidden] ** 2).mean())
    report("118,254 pairs of 2,111 x 229: fit with its choices, seconds of both processors together, of 60", busy / 60, 1,
           better="lower", processors=busy, wall=spent)
    report("the same: peak memory of 1 GiB", memory / 1024, 1, better="lower", mib=memory)
    report("the same: left-out error of a pair over that of hidden pairs", left["pair"] / error, 1.1, better="lower",
           left_out=left["pair"], hidden=error)


def settings(folder, random):
    """A third of rows and of columns is new; of the other pairs a half is known."""
    n, m = 300, 120
    X, Z, Y, known = made(random, n, m, n * m // 2)
    old, held = (slice(0, 2 * n // 3), slice(0, 2 * m // 3)), (slice(2 * n // 3, n), slice(2 * m // 3, m))
    keep(folder, x=X[old[0]], z=Z[old[1]], y=known[old], u=X[held[0]], v=Z[held[1]])
    rows, columns = ("--rows", folder / "u.npy"), ("--columns", folder / "v.npy")
    new = {"pair": ([], np.where(np.isnan(known[old]), Y[old], np.nan)), "row": (rows, Y[held[0], old[1]]),
           "column": (columns, Y[old[0], held[1]]), "both": ([*rows, *columns], Y[held])}
    for setting, (sides, truth) in new.items():
        left = fit(folder, folder / "x.npy", folder / "z.npy", folder / "y.npy", "--setting", setting)[3][setting]
        error = float(np.nanmean((truth - predict(folder, *sides)) ** 2))
        report(f"what is new is a {setting}: left-out error over that which came true" if setting != "both" else
               "what is new are both: left-out error over that which came true", left / error, 1.25, better="lower",
               left_out=left, came=error)


def main():
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        if (DATA / "davis").exists():
            davis(Path(name), DATA / "davis")
        else:
            print(f"left out: Davis needs {DATA / 'davis'}")
        synthetic(Path(name), random)
        settings(Path(name), random)
    finish()


main()
