"""Twin kernel learning against reading its matrices, and the cost of twin predictions.

Each claim is one JSON line with the ratio measured in this run and its target; the costs
of predictions are JSON lines without one.
"""
import ctypes
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import common
import numpy as np
from common import Handle, check, context, dense, fit, lib, predict, report, seconds


class Base(ctypes.Structure):
    """okra_twin_base"""
    _fields_ = [("kernels", ctypes.POINTER(ctypes.c_void_p)), ("count", ctypes.c_size_t),
                ("degree", ctypes.c_int), ("low_rank", ctypes.c_char_p)]


def gram_data(k):
    h = Handle("okra_data_free")
    h.keep = k
    n = ctypes.c_int64(len(k))
    check(lib.okra_data_gram(k.ctypes.data_as(ctypes.c_void_p), n, n, n, None,
                             ctypes.byref(h.p)))
    return h


def learn(ctx, x, y, degree):
    kernel, twin = Handle("okra_kernel_free"), Handle("okra_twin_free")
    check(lib.okra_kernel_parse(b"precomputed", ctypes.byref(kernel.p)))
    one = (ctypes.c_void_p * 1)(kernel.p)
    base = Base(one, 1, degree, None)
    check(lib.okra_twin_learn(ctx.p, x.p, y.p, ctypes.byref(base), ctypes.byref(base), False,
                              ctypes.byref(twin.p)))


def stkl(n, degree=11):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, 3))
    d2 = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1) if n < 2000 else None
    if d2 is None:
        square = (x ** 2).sum(1)
        d2 = np.maximum(square[:, None] + square[None] - 2 * (x @ x.T), 0)
        d2 = (d2 + d2.T) / 2
        np.fill_diagonal(d2, 0)
    k, g = np.exp(-0.2 * d2), np.exp(-0.5 * d2)
    del d2
    ctx, dk, dg = context(), gram_data(k), gram_data(g)

    pool = ThreadPoolExecutor(common.THREADS)  # NumPy sums without Python's lock
    parts = [a for m in (k, g) for a in np.array_split(m, common.THREADS)]

    def read():
        for _ in range(degree):
            list(pool.map(np.sum, parts))

    s = seconds({"okra": lambda: learn(ctx, dk, dg, degree), "read": read}, 3)
    report(f"twin kernels n={n}, degrees {degree},{degree}, in units of reading both "
           f"matrices {degree} times", s["okra"] / s["read"], 3.0, "lower", okra=s["okra"],
           read=s["read"])


def cost(n, m, d, tests=40, method="tgp-kl"):
    """Seconds a prediction."""
    rng = np.random.default_rng(2)
    x, t = rng.standard_normal((n, 8)), rng.standard_normal((tests, 8))
    w = rng.standard_normal((8, d))
    y = np.tanh(x @ w) + 0.1 * rng.standard_normal((n, d))
    ctx = context()
    model = fit(ctx, dense(x), dense(y), kx="rbf(gamma=0.1)", ky=f"rbf(gamma={0.5 / d})",
                method=method, neighbours=m)
    s = seconds({"okra": lambda: predict(ctx, model, dense(t), (tests, d))}, 2)
    print(json.dumps({"cost": method, "n": n, "M": m, "d": d, "threads": common.THREADS,
                      "ms a prediction": round(1e3 * s["okra"] / tests, 3)}), flush=True)


def main():
    quick = "--quick" in sys.argv
    stkl(1500 if quick else 7425)
    for method in ("tgp-kl", "tgp-hsic"):
        for n in (1000, 2000) if quick else (1000, 2000, 4000, 8000):
            cost(n, 200, 16, method=method)
        for m in (50, 100, 200) if quick else (50, 100, 200, 400, 800):
            cost(2000, m, 16, method=method)
        for d in (1, 16) if quick else (1, 4, 16, 64):
            cost(2000, 200, d, method=method)
        cost(1000, 0, 16, method=method)


if __name__ == "__main__":
    main()
