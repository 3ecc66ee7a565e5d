"""Gram matrices against sklearn.metrics.pairwise, dense and sparse; Tanimoto against
SciPy's Jaccard distance."""
import ctypes
import sys
import warnings

try:
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.spatial.distance import cdist
    from sklearn.metrics import pairwise as sk
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

okra.LIB.okra_kernel_free.argtypes = [ctypes.c_void_p]

KERNELS = {
    "linear": sk.linear_kernel,
    "rbf(gamma=0.3)": lambda x, y: sk.rbf_kernel(x, y, gamma=0.3),
    "rbf(sigma=2)": lambda x, y: sk.rbf_kernel(x, y, gamma=1 / 8),
    "poly(degree=3,gamma=0.5,coef0=1)":
        lambda x, y: sk.polynomial_kernel(x, y, degree=3, gamma=0.5, coef0=1),
    "cosine": sk.cosine_similarity,
    "laplacian(gamma=0.2)": lambda x, y: sk.laplacian_kernel(x, y, gamma=0.2),
}
# Relative to the largest value; ten times the worst of these cases, 1.4e-15.
TOLERANCE = 1.4e-14
failures = 0
worst = 0


def gram(text, a, b, m, n):
    kernel = okra.Handle("kernel", "okra_kernel_parse", text.encode())
    out = np.empty((m, n))
    okra.check(okra.LIB.okra_gram(None, kernel.pointer, a.pointer,
                                  b.pointer if b else None, okra.pointer(out),
                                  okra.INT(n)))
    return out


def compare(what, got, want):
    global failures, worst
    error = abs(got - want).max() / max(1e-300, abs(want).max())
    worst = max(worst, error)
    if not error <= TOLERANCE:
        failures += 1
        print(f"{what}: relative difference {error:.2g}")


def vectors(rng, m, n, d, density):
    x, y = (rng.normal(size=(k, d)) * (rng.random((k, d)) < density) / np.sqrt(d)
            for k in (m, n))
    x[0] = 0  # no features at all
    for text, theirs in KERNELS.items():
        want, square = theirs(x, y), theirs(x, x)
        for name, a, b in (("dense", okra.dense(x), okra.dense(y)),
                           ("sparse", okra.sparse(csr_matrix(x)),
                            okra.sparse(csr_matrix(y))),
                           ("mixed", okra.sparse(csr_matrix(x)), okra.dense(y))):
            compare(f"{text} {name} {m}x{n}x{d}", gram(text, a, b, m, n), want)
            compare(f"{text} {name} {m}x{m}x{d}", gram(text, a, None, m, m), square)


def bits(rng, m, n, d):
    x, y = (rng.random((m, d)) < 0.2), (rng.random((n, d)) < 0.2)
    x[0] = y[1] = False
    want = 1 - cdist(x, y, "jaccard")
    compare(f"tanimoto {m}x{n}x{d}",
            gram("tanimoto", okra.dense(x), okra.dense(y), m, n), want)


rng = np.random.default_rng(1)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    for shape in ((1, 1, 1), (5, 7, 3), (40, 230, 16), (300, 20, 130)):
        for density in (1, 0.3):
            vectors(rng, *shape, density)
    for shape in ((2, 2, 5), (30, 210, 100)):
        bits(rng, *shape)
print(f"worst relative difference {worst:.2g}, {failures} failures")
sys.exit(failures > 0)
