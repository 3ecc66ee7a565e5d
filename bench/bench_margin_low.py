"""Maximum margin regression on thin factors: against the dense form, and at n = 50,000.

Without arguments: all; --only NAME (dense, large) one. --child N RANK is for itself.
"""
import os
import subprocess
import sys
import time

import common
import numpy as np
from common import context, dense, fit, peak_bytes, predict, report, seconds


def task(n, d_in=64, d_out=128, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d_in))
    w = rng.standard_normal((d_in, d_out)) / np.sqrt(d_in)
    return x, np.tanh(x @ w) + 0.1 * rng.standard_normal((n, d_out))


def cosine(a, b):
    return float(((a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))).mean())


def against_dense(n=4000, rank=300, tests=1000):
    """A gap of 1e-8 for both. The margin asks for the direction of an output, so what the
    rank costs is told by the mean cosine between outputs and predictions."""
    x, y = task(n + tests)
    ctx, found = context(), {}
    dx, dy, dt = dense(x[:n].copy()), dense(y[:n].copy()), dense(x[n:].copy())

    def run(name, **more):
        model = fit(ctx, dx, dy, method="margin", kx="rbf(sigma=8)", ky="linear",
                    **{"lambda": 0.1}, **more)
        found[name] = cosine(predict(ctx, model, dt, (tests, y.shape[1]), decode="explicit"),
                             y[n:])

    s = seconds({"dense": lambda: run("dense"),
                 "low": lambda: run("low", **{"low-rank-x": f"nystrom(rank={rank})"})}, 3)
    report(f"margin n={n}, dense against rank {rank}", s["dense"] / s["low"], 1.2,
           dense=s["dense"], low=s["low"])
    report(f"margin n={n}, cosine of rank {rank} in units of dense",
           found["low"] / found["dense"], 0.95, dense=found["dense"], low=found["low"])


def child(n, rank):
    """Seconds of one fit in a process of its own, its peak memory, and that before it."""
    line = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", str(n),
                           str(rank)], capture_output=True, text=True, check=True)
    return [float(v) for v in line.stdout.split()]


def child_main(n, rank):
    ctx, (x, y) = context(), task(n)
    dx, dy = dense(x), dense(y)
    before, begin = peak_bytes(), time.perf_counter()
    fit(ctx, dx, dy, method="margin", kx="rbf(sigma=8)", ky="linear",
        **{"lambda": 0.1, "low-rank-x": f"nystrom(rank={rank})"})
    print(time.perf_counter() - begin, peak_bytes(), before)


def large(n=50000, rank=500):
    """The dense form would hold 19 GiB in each of its matrices. The features take
    8 n (rank + 128) bytes, and what a face keeps of them comes on top."""
    half, _, _ = child(n // 2, rank)
    took, peak, before = child(n, rank)
    report(f"margin n={n:,} rank={rank} peak resident GiB beyond the data",
           (peak - before) / 2**30, 1.0, "lower", seconds=took, peak=peak / 2**30)
    report(f"margin growth from n={n // 2:,} to {n:,}", took / half, 3.0, "lower", half=half,
           whole=took)


if __name__ == "__main__":
    if "--child" in sys.argv:
        child_main(int(sys.argv[2]), int(sys.argv[3]))
    else:
        chosen = sys.argv[2] if "--only" in sys.argv else None
        for name, job in (("dense", against_dense), ("large", large)):
            if chosen in (None, name):
                job()
        common.finish()
