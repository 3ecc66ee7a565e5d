"""Seconds against n: fit and prediction of kernel ridge regression with 16 outputs, beside scikit-learn's KernelRidge and beside
the bound, what LAPACK takes for the Cholesky factor of such a matrix alone.

Rounds in turns, medians; the spread is that of the middle half of the rounds of okra, as a share of the median."""
import statistics
import time

import numpy as np

from common import THREADS, context, dense, finish, fit, predict, report, skip

SIZES, INPUTS, OUTPUTS = (250, 500, 1000, 2000, 4000), 32, 16


def timed(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def main():
    try:
        from scipy.linalg import cholesky
        from sklearn.kernel_ridge import KernelRidge
    except ImportError as missing:
        skip(f"scikit-learn and SciPy are not installed: {missing.name}")
    rng, ctx = np.random.default_rng(0), context(THREADS)
    for n in SIZES:
        X, T, Y = rng.normal(size=(n, INPUTS)), rng.normal(size=(n, INPUTS)), rng.normal(size=(n, OUTPUTS))
        x, t, y = dense(X), dense(T), dense(Y)
        K = np.exp(-((X[:, None, 0] - X[None, :, 0]) ** 2)) + np.eye(n)

        def ours():
            model = fit(ctx, x, y, kx="rbf(sigma=4)", ky="linear", **{"lambda": 0.1})
            predict(ctx, model, t, (n, OUTPUTS))

        ways = {"okra": ours, "bound": lambda: cholesky(K, lower=True, check_finite=False),
                "kernel_ridge": lambda: KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / 32).fit(X, Y).predict(T)}
        spent = {name: [] for name in ways}
        for _ in range(max(5, min(25, 20000 // n))):
            for name, way in ways.items():
                spent[name].append(timed(way))
        low, _, high = statistics.quantiles(spent["okra"], n=4)
        middle = {f"{name}_seconds": statistics.median(times) for name, times in spent.items()}
        report(f"kernel ridge, n = {n}: fit and predict, times faster than KernelRidge",
               middle["kernel_ridge_seconds"] / middle["okra_seconds"], 1, **middle,
               spread=(high - low) / middle["okra_seconds"])
    finish()


main()
