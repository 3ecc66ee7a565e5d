"""Maximum margin regression on thin factors: against the dense form, and at n = 50,000.

Without arguments: all; --only NAME (dense, robust, large) one. --child N RANK is for
itself.
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


def against_dense():
    compare(4000, 300, 1.2)
    compare(12000, 500, 2.0)


def compare(n, rank, faster, tests=1000):
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
    report(f"margin, hinge, n={n}, dense against rank {rank}", s["dense"] / s["low"], faster,
           dense=s["dense"], low=s["low"])
    report(f"margin, hinge, n={n}, cosine of rank {rank} in units of dense",
           found["low"] / found["dense"], 0.95, dense=found["dense"], low=found["low"])


def robust(n=1500, rank=300):
    """Huber's loss, whose dense form takes Newton steps of n^3. Of epsilon, which takes
    hundreds of steps of conjugate gradients, see the time at n = 50,000."""
    x, y = task(n, d_out=32)
    ctx, dx, dy = context(), dense(x), dense(y)

    def run(**more):
        fit(ctx, dx, dy, method="margin", kx="rbf(sigma=8)", ky="linear", **{"lambda": 0.1},
            **more)

    s = seconds({"dense": lambda: run(loss="huber"),
                 "low": lambda: run(loss="huber", **{"low-rank-x": f"nystrom(rank={rank})"})},
                3)
    report(f"margin, huber, n={n}, dense against rank {rank}", s["dense"] / s["low"], 2.0,
           dense=s["dense"], low=s["low"])


def child(n, rank, loss="hinge"):
    """One fit in a process of its own: seconds, processor seconds, peak memory, and that
    before the fit."""
    line = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", str(n),
                           str(rank), loss], capture_output=True, text=True, check=True)
    return [float(v) for v in line.stdout.split()]


def child_main(n, rank, loss):
    ctx, (x, y) = context(), task(n)
    dx, dy = dense(x), dense(y)
    before, begin, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    fit(ctx, dx, dy, method="margin", loss=loss, kx="rbf(sigma=8)", ky="linear",
        **{"lambda": 0.1, "low-rank-x": f"nystrom(rank={rank})"})
    print(time.perf_counter() - begin, time.process_time() - cpu, peak_bytes(), before)


def large(n=50000, rank=500):
    """The dense form would hold 19 GiB in each of its matrices. The features take
    8 n (rank + 128) bytes, and what a face keeps of them comes on top."""
    _, half, _, _ = child(n // 2, rank)
    for loss in ("huber", "epsilon", "hinge"):
        took, whole, peak, before = child(n, rank, loss)
        report(f"margin, {loss}, n={n:,} rank={rank} peak resident GiB beyond the data",
               (peak - before) / 2**30, 1.0, "lower", seconds=took, cpu=whole,
               peak=peak / 2**30)
    report(f"margin, hinge, processor time from n={n // 2:,} to {n:,}", whole / half, 3.0,
           "lower", half=half, whole=whole)


if __name__ == "__main__":
    if "--child" in sys.argv:
        child_main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        chosen = sys.argv[2] if "--only" in sys.argv else None
        for name, job in (("dense", against_dense), ("robust", robust), ("large", large)):
            if chosen in (None, name):
                job()
        common.finish()
