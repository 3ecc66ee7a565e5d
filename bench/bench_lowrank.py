"""Low rank against the dense form, against scikit-learn, and with growing n.

Each claim is one JSON line with the ratio measured in this run and its target. Without
arguments: all but the longest; --only NAME (usps_identity, sklearn, growth, usps, million)
one.
"""
import os
import subprocess
import sys
import time

import common
import numpy as np
from common import context, dense, fit, predict, report, seconds

DATA = os.environ.get("OKRA_DATA", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                "..", "..", "shared", "data"))


def rbf_loss(a, b, sigma):
    return 2 - 2 * np.exp(-((a - b) ** 2).sum(1) / (2 * sigma**2)).mean()


def usps(operator="ccov", faster=10.0, dense_at=None, low_at=None, ranks=(1800, 1000)):
    """All 7,291 digits: bottom half from top half, candidates = training outputs.

    The conditional covariance operator, whose dense form takes two eigendecompositions
    of 7,291 x 7,291: minutes. Either form has the lambda that is best for it, by loss on
    the test digits: a basis of few objects regularises by itself and wants a smaller
    one."""
    folder = os.path.join(DATA, "usps")
    if not os.path.exists(folder):
        print(f"skipped: {folder} is not there")
        return
    train, test = (np.load(os.path.join(folder, f"{k}_x.npy")) / 1000.0 for k in
                   ("train", "test"))
    x, y, tx, ty = (np.ascontiguousarray(a, dtype=np.float64) for a in
                    (train[:, :128], train[:, 128:], test[:, :128], test[:, 128:]))
    ctx, sigma, loss, cpu = context(), 7.0, {}, {}
    options = {"kx": f"rbf(sigma={sigma})", "ky": f"rbf(sigma={sigma})",
               "operator": operator}
    dx, dy, dt = dense(x), dense(y), dense(tx)

    def run(name, more):
        begin = time.process_time()
        model = fit(ctx, dx, dy, **options, **more)
        predicted = predict(ctx, model, dt, ty.shape)
        cpu[name] = time.process_time() - begin
        loss[name] = rbf_loss(predicted, ty, sigma)

    rank = {f"low-rank-{k}": f"nystrom(rank={r},pivots=centres)" for k, r in zip("xy", ranks)}
    dense_at = dense_at or {"lambda": 2e-4, "epsilon": 0.01}
    low_at = low_at or {"lambda": 1e-5, "epsilon": 0.01}
    s = seconds({"dense": lambda: run("dense", dense_at),
                 "low": lambda: run("low", {**rank, **low_at})}, 1)
    what = f"USPS full {operator}"
    report(f"{what} fit+predict, dense against ranks {ranks[0]} and {ranks[1]}",
           s["dense"] / s["low"], faster, dense=s["dense"], low=s["low"],
           dense_cpu=cpu["dense"], low_cpu=cpu["low"])
    report(f"{what} loss of low rank in units of dense", loss["low"] / loss["dense"], 1.01,
           "lower", dense=loss["dense"], low=loss["low"])


def usps_identity():
    """The same with one Cholesky factor in the place of eigendecompositions. The rank that
    keeps the loss within 1 % takes a fourth of the dense operations (1.3e11 of 5.5e11), so
    that more than 4 cannot be had."""
    usps("identity", 2.5, {"lambda": 0.1}, {"lambda": 0.03})


def task(n, d_in=64, d_out=128, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d_in))
    w = rng.standard_normal((d_in, d_out)) / np.sqrt(d_in)
    return x, np.tanh(x @ w) + 0.1 * rng.standard_normal((n, d_out))


def sklearn(n=20000, rank=1000, tests=2000):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    x, y = task(n + tests)
    ctx, out, gamma = context(), {}, 1 / 128
    dx, dy, dt = dense(x[:n].copy()), dense(y[:n].copy()), dense(x[n:].copy())

    def ours():
        model = fit(ctx, dx, dy, kx=f"rbf(gamma={gamma})", ky="linear",
                    **{"lambda": 1, "low-rank-x": f"nystrom(rank={rank})"})
        out["okra"] = predict(ctx, model, dt, (tests, y.shape[1]), decode="explicit")

    def theirs():
        p = make_pipeline(Nystroem(gamma=gamma, n_components=rank, random_state=1),
                          Ridge(alpha=1, fit_intercept=False))
        out["sklearn"] = p.fit(x[:n], y[:n]).predict(x[n:])

    s = seconds({"okra": ours, "sklearn": theirs}, 3)
    e = {k: float(((v - y[n:]) ** 2).mean()) for k, v in out.items()}
    report(f"Nystrom ridge n={n} rank={rank} against Nystroem+Ridge",
           s["sklearn"] / s["okra"], 2.0, okra=s["okra"], sklearn=s["sklearn"],
           mse_okra=e["okra"], mse_sklearn=e["sklearn"])
    report("Nystrom ridge error in units of Nystroem+Ridge", e["okra"] / e["sklearn"], 1.01,
           "lower")


def child(n, rank, memory):
    """One fit in a process of its own, data mapped from files: seconds and peak bytes."""
    line = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", str(n),
                           str(rank), memory], capture_output=True, text=True, check=True)
    return [float(v) for v in line.stdout.split()]


def child_main(n, rank, memory):
    import tempfile
    with tempfile.TemporaryDirectory(dir=os.environ.get("OKRA_SCRATCH")) as folder:
        # in pieces, so that this process stays small
        files = [os.path.join(folder, f"{k}.npy") for k in "xy"]
        arrays = [np.lib.format.open_memmap(f, "w+", np.float64, (n, d))
                  for f, d in zip(files, (64, 128))]
        for i in range(0, n, 50000):
            for a, b in zip(arrays, task(min(50000, n - i), seed=i)):
                a[i:i + 50000] = b
        del arrays, a, b
        begin = time.perf_counter()
        p = subprocess.Popen([os.path.join(common.BUILD, "okra"), "fit", "-q", "--x", files[0],
                              "--y", files[1], "--kx", "rbf(sigma=8)", "--low-rank-x",
                              f"nystrom(rank={rank})", "--lambda", "1", "--memory", memory,
                              "--threads", str(common.THREADS), "-o",
                              os.path.join(folder, "m.okra")])
        _, status, usage = os.wait4(p.pid, 0)
        assert status == 0
        print(time.perf_counter() - begin, usage.ru_maxrss * 1024)


def dgemm_rate():
    a = np.random.default_rng(0).standard_normal((2000, 2000))
    return 2 * 2000**3 / seconds({"dgemm": lambda: a @ a}, 3)["dgemm"]


def growth(rank=2000):
    """rank 2,000: time in units of a dgemm of as many operations (half of Phi'Phi, kernel
    values, Phi'Y), memory, growth."""
    half, _ = child(50000, rank, "4G")
    rate = dgemm_rate()
    whole, peak = child(100000, rank, "4G")
    bound = 100000 * (rank * rank + 2 * rank * 192.0) / rate
    report("n=100,000 rank=2,000 time in units of dgemm", whole / bound, 2.0, "lower",
           okra=whole, dgemm=bound)
    report("n=100,000 rank=2,000 peak resident GiB", peak / 2**30, 4.0, "lower")
    report("growth from n=50,000 to 100,000, at most", whole / half, 2.3, "lower", half=half)
    report("growth from n=50,000 to 100,000, at least", whole / half, 1.8)


def million():
    took, peak = child(1000000, 1000, "12G")
    report("n=1,000,000 rank=1,000 peak resident GiB", peak / 2**30, 12.0, "lower",
           seconds=took)


if __name__ == "__main__":
    if "--child" in sys.argv:
        child_main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        chosen = sys.argv[2] if "--only" in sys.argv else None
        for job in (usps_identity, sklearn, growth, usps, million):
            if chosen == job.__name__ or (not chosen and job not in (usps, million)):
                job()
        common.finish()
