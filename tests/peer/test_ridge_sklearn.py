"""Ridge predictions against scikit-learn's KernelRidge, for every kernel both have, on
dense and sparse inputs, and with centred outputs against Ridge, which has an intercept.
okra's lambda is scikit-learn's alpha."""
import sys

try:
    import numpy as np
    from scipy.sparse import random as random_sparse
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

TOLERANCE = 1e-9  # promised; printed below is the worst found
KERNELS = [
    ("linear", dict(kernel="linear")),
    ("rbf(gamma=0.3)", dict(kernel="rbf", gamma=0.3)),
    ("rbf(sigma=2)", dict(kernel="rbf", gamma=1 / 8)),
    ("poly(degree=3,gamma=0.5,coef0=1)",
     dict(kernel="polynomial", degree=3, gamma=0.5, coef0=1)),
    ("laplacian(gamma=0.2)", dict(kernel="laplacian", gamma=0.2)),
    ("cosine", dict(kernel="cosine")),
]


def difference(what, got, reference):
    """The largest difference relative to the largest value."""
    error = np.abs(got - reference).max() / np.abs(reference).max()
    if not error <= TOLERANCE:
        print(f"{what}: relative difference {error:.3g}")
    return error


def intercept(rng):
    """Outputs far from 0: the mean must be restored whole."""
    x, q, y = rng.normal(size=(40, 5)), rng.normal(size=(9, 5)), rng.normal(size=(40, 2))
    y += 100
    reference = Ridge(alpha=0.7).fit(x, y).predict(q)
    model = okra.fit(okra.dense(x), okra.dense(y), kx="linear | center", ky="linear",
                     center_output="yes", **{"lambda": 0.7})
    return difference("intercept", okra.predict(model, okra.dense(q), decode="explicit"),
                      reference)


def main():
    rng = np.random.default_rng(0)
    n, m, p, d = 60, 25, 8, 3
    y = rng.normal(size=(n, d))
    worst = 0
    for text, theirs in KERNELS:
        for sparse in (False, True):
            if sparse:
                x = random_sparse(n, p, 0.5, "csr", random_state=1)
                q = random_sparse(m, p, 0.5, "csr", random_state=2)
                wrap = okra.sparse
            else:
                x, q, wrap = rng.normal(size=(n, p)), rng.normal(size=(m, p)), okra.dense
            for alpha in (1e-3, 0.1, 10):
                reference = KernelRidge(alpha=alpha, **theirs).fit(x, y).predict(q)
                model = okra.fit(wrap(x), okra.dense(y), kx=text, ky="linear",
                                 **{"lambda": alpha})
                got = okra.predict(model, wrap(q), decode="explicit")
                where = f"{text}, {'sparse' if sparse else 'dense'}, alpha={alpha}"
                worst = max(worst, difference(where, got, reference))
    worst = max(worst, intercept(rng))
    print(f"worst relative difference {worst:.3g}, allowed {TOLERANCE:g}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
