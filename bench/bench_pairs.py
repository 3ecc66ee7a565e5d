"""Pairs: seconds, memory and error of okra fit --rows --columns.

    bench/bench_pairs.py build/okra [--davis FOLDER]

Davis (with the folder): the published test fold is left out of the matrix, everything is chosen on the rest.
Synthetic: 118,254 known pairs of 2,111 x 229.
"""
import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


def concordance(y, f):
    """The share of pairs with different values whose predictions are in the same order; ties: half."""
    good = total = 0.0
    for i in range(len(y)):
        lower = f[y < y[i]]
        total += len(lower)
        good += (lower < f[i]).sum() + 0.5 * (lower == f[i]).sum()
    return good / total


def run(okra, folder, rows, columns, values):
    """Fits, predicts all pairs; prints what okra says of left-out pairs."""
    begin = time.time()
    out = subprocess.run([okra, "fit", "--rows", rows, "--columns", columns, "--y", values, "--threads", "2", "-o",
                          folder / "m.okra", "--json"], check=True, capture_output=True, text=True).stdout
    seconds = time.time() - begin
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"fit {seconds:.1f} s, at most {memory:.0f} MiB")
    for line in json.loads(out)["scores"]:
        print(f"  left out {line['setting']:7} mse {line['mse']:.4f}  concordance {line['concordance']:.4f}  {line['how']}")
    subprocess.run([okra, "predict", folder / "m.okra", "-o", folder / "f.npy", "-q"], check=True)
    return np.load(folder / "f.npy")


def davis(okra, folder, data):
    """The published test fold."""
    lines = [line.split("\t") for line in (data / "proteins.tsv").read_text().splitlines()[1:]]
    (folder / "p.fasta").write_text("".join(f">{name}\n{sequence}\n" for name, sequence in lines))
    Y = np.load(data / "affinity.npy").astype(float)
    test = np.array(json.loads((data / "test_fold_setting1.txt").read_text()))
    train = Y.copy()
    train.ravel()[test] = np.nan
    np.save(folder / "y.npy", train)
    f = run(okra, folder, data / "drugs.smi", folder / "p.fasta", folder / "y.npy").ravel()[test]
    y = Y.ravel()[test]
    print(f"Davis, test fold: mse {((y - f) ** 2).mean():.4f}, concordance {concordance(y, f):.4f}")


def synthetic(okra, folder):
    """A matrix with many gaps."""
    random = np.random.default_rng(0)
    n, m = 2111, 229
    X, Z = random.normal(size=(n, 20)), random.normal(size=(m, 10))
    Y = np.tanh(X @ (0.2 * random.normal(size=(20, 10))) @ Z.T) + 0.3 * random.normal(size=(n, m))
    known = np.zeros(n * m, bool)
    known[random.choice(n * m, 118254, replace=False)] = True
    for name, array in (("x", X), ("z", Z), ("y", np.where(known.reshape(n, m), Y, np.nan))):
        np.save(folder / f"{name}.npy", array)
    f = run(okra, folder, folder / "x.npy", folder / "z.npy", folder / "y.npy")
    hidden = ~known.reshape(n, m)
    print(f"synthetic, hidden pairs: mse {((Y - f)[hidden] ** 2).mean():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("okra")
    parser.add_argument("--davis", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.davis:
            davis(given.okra, Path(name), given.davis)
        synthetic(given.okra, Path(name))
