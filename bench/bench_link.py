"""Links: one fold of a network of yeast's size against LAPACK, a forest of output-kernel trees,
and the best of 2e8 pairs in bounded memory.

Each claim is one JSON line with the ratio measured in this run and its target.
"""
import os
import resource
import subprocess
import tempfile

import numpy as np
from common import BUILD, THREADS, finish, report, seconds

OKRA = os.path.join(BUILD, "okra")


def write(folder, n, labelled, edges, d=20, gram=True, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    if gram:
        g = x @ x.T
        q = np.diag(g)
        np.save(f"{folder}/x.npy", np.exp(-0.02 * (q[:, None] + q[None] - 2 * g)))
    else:
        np.save(f"{folder}/x.npy", x)
    np.savetxt(f"{folder}/labelled.txt", np.arange(labelled), fmt="%d")
    pairs = rng.integers(labelled, size=(2 * edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    np.savetxt(f"{folder}/edges.tsv", rng.permutation(pairs)[:edges], fmt="%d")


def link(folder, *words):
    command = [OKRA, "link", "--x", f"{folder}/x.npy", "--edges", f"{folder}/edges.tsv",
               "--labelled", f"{folder}/labelled.txt", "-q", "--threads", str(THREADS),
               "-o", f"{folder}/out.tsv", *words]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def fold(n=1830, tests=458):
    """Training and all scores with the kernel given, the reading of files included."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, n + tests, n, 3500)
        rng = np.random.default_rng(0)
        a = rng.standard_normal((n, n))
        a = a + a.T

        def lapack():
            np.linalg.eigh(a)
            a @ a
            a @ a

        def ours():
            link(folder, "--kx", "precomputed", "--pairs", "lu", "--top", "1", "--lambda", "1")

        s = seconds({"okra": ours, "lapack": lapack}, 3)
        report("link: one fold against an eigendecomposition and two products",
               s["lapack"] / s["okra"], 1.0, okra=s["okra"], lapack=s["lapack"])

        def trees(*words):
            link(folder, "--kx", "precomputed", "--pairs", "lu", "--top", "1", "--method", "ok3",
                 "--leaf", "5", *words)

        # sqrt(n) splits per node, and 1,000, the default, which predicts better.
        for splits in (43, 1000):
            t = seconds({"trees": lambda: trees("--features", str(splits))}, 1)["trees"]
            report(f"link: 100 output-kernel trees on one fold, {splits:,} splits per node, seconds",
                   t, 30, "lower", seconds=t)


def top(n=500, new=20000):
    """Peak memory of the best 1,000 of 2e8 pairs, in matrices of all pairs."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, n + new, n, 1500, gram=False)
        link(folder, "--kx", "rbf(gamma=0.02)", "--pairs", "uu", "--top", "1000")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024.0
        report("link: peak memory of the best of 20,000 new nodes, in 20,000^2 doubles",
               peak / (8.0 * new**2), 0.2, "lower", bytes=peak)


if __name__ == "__main__":
    top()
    fold()
    finish()
