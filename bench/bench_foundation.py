"""Ridge, covariance operators and Gram matrices against scikit-learn, LAPACK and NumPy.

Each claim is one JSON line with the ratio measured in this run and its target.
"""
import os
import subprocess
import sys

import common
import numpy as np
from common import context, dense, fit, gram, peak_bytes, predict, report, seconds


def ridge_data(n=4000, d_in=256, d_out=128, tests=1000):
    rng = np.random.default_rng(1)
    x, t = rng.standard_normal((n, d_in)), rng.standard_normal((tests, d_in))
    return x, rng.standard_normal((n, d_out)), t


def okra_ridge(ctx, x, y, t):
    model = fit(ctx, dense(x), dense(y), kx="rbf(gamma=0.002)", ky="linear",
                **{"lambda": 0.5})
    return predict(ctx, model, dense(t), (len(t), y.shape[1]), decode="explicit")


def ridge():
    from sklearn.kernel_ridge import KernelRidge
    x, y, t = ridge_data()
    ctx, out = context(), {}

    def ours():
        out["okra"] = okra_ridge(ctx, x, y, t)

    def theirs():
        out["sklearn"] = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.002).fit(x, y).predict(t)

    s = seconds({"okra": ours, "sklearn": theirs}, 3)
    error = np.abs(out["okra"] - out["sklearn"]).max() / np.abs(out["sklearn"]).max()
    report("ridge n=4000 fit+predict against KernelRidge", s["sklearn"] / s["okra"], 1.0,
           okra=s["okra"], sklearn=s["sklearn"], difference=f"{error:.1e}")


def ridge_memory():
    """In a process of its own: what fit and predict add to the resident size."""
    line = subprocess.run([sys.executable, os.path.abspath(__file__), "--memory"],
                          capture_output=True, text=True, check=True).stdout
    added = float(line)
    report("ridge n=4000 peak memory in n^2 doubles", added / (8 * 4000.0**2), 2.5, "lower",
           bytes=added)


def ridge_memory_child():
    x, y, t = ridge_data()
    ctx = context()
    before = peak_bytes()
    okra_ridge(ctx, x, y, t)
    print(peak_bytes() - before)


def ccov(n=1200):
    from scipy.linalg import eigh
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((n, 64)), rng.standard_normal((n, 32))
    k = np.exp(-0.01 * ((x[:, None, :8] - x[None, :, :8]) ** 2).sum(-1))
    ctx, dx, dy = context(), dense(x), dense(y)
    s = seconds({
        "okra": lambda: fit(ctx, dx, dy, kx="rbf(sigma=8)", ky="rbf(sigma=6)",
                            operator="ccov", epsilon="0.01", **{"lambda": "0.1"}),
        "eigen": lambda: (eigh(k, driver="evd", check_finite=False),
                          eigh(k, driver="evd", check_finite=False))}, 3)
    report("ccov n=1200 fit in units of two eigendecompositions", s["okra"] / s["eigen"], 4.0,
           "lower", okra=s["okra"], eigen=s["eigen"])


def rbf_wide(n=4000, d=256):
    rng = np.random.default_rng(3)
    x, k = rng.standard_normal((n, d)), np.empty((n, n))
    ctx, dx = context(), dense(x)
    s = seconds({"okra": lambda: gram(ctx, "rbf(gamma=0.002)", dx, n, k),
                 "dgemm": lambda: np.dot(x, x.T + 0.0, out=k)}, 5)
    # np.dot(x, x.T) itself would call syrk; adding 0.0 makes a copy and so a true dgemm.
    y = np.ascontiguousarray(x.T)
    s.update(seconds({"dgemm": lambda: np.dot(x, y, out=k)}, 5))
    rate = 2.0 * n * n * d
    report("rbf Gram d=256 rate in units of dgemm", s["dgemm"] / s["okra"], 0.5,
           okra_gflops=rate / s["okra"] / 1e9, dgemm_gflops=rate / s["dgemm"] / 1e9)


def rbf_narrow(n=4000, d=16):
    from sklearn.metrics.pairwise import rbf_kernel
    rng = np.random.default_rng(4)
    x, k = rng.standard_normal((n, d)), np.empty((n, n))
    ctx, dx = context(), dense(x)
    s = seconds({"okra": lambda: gram(ctx, "rbf(gamma=0.05)", dx, n, k),
                 "sklearn": lambda: rbf_kernel(x, gamma=0.05)}, 5)
    report("rbf Gram d=16 against rbf_kernel", s["sklearn"] / s["okra"], 3.0,
           okra=s["okra"], sklearn=s["sklearn"])


def tanimoto(n=5000, d=1024):
    rng = np.random.default_rng(5)
    x = (rng.random((n, d)) < 0.1).astype(np.uint8)
    packed, k = np.packbits(x, axis=1, bitorder="little"), np.empty((n, n))
    ctx, db, f = context(), common.bits(packed, d), x.astype(np.float64)

    def dense_tanimoto():
        g = f @ f.T
        s = np.diag(g)
        return g / (s[:, None] + s[None, :] - g)

    s = seconds({"okra": lambda: gram(ctx, "tanimoto", db, n, k), "numpy": dense_tanimoto}, 3)
    error = np.abs(k - dense_tanimoto()).max()
    report("bit Tanimoto 5000x5000x1024 against dense GEMM in NumPy", s["numpy"] / s["okra"],
           20.0, okra=s["okra"], numpy=s["numpy"], difference=f"{error:.1e}")


if __name__ == "__main__":
    if "--memory" in sys.argv:
        ridge_memory_child()
    else:
        try:
            import sklearn  # noqa: F401  (SciPy comes with it)
        except ImportError:
            common.skip("scikit-learn is not installed")
        for job in (ridge, ridge_memory, ccov, rbf_wide, rbf_narrow, tanimoto):
            job()
        common.finish()
