"""Margin against SciPy's general optimisers: the hinge dual as a box-constrained quadratic
programme (L-BFGS-B), supervised and semi-supervised, and the Huber loss as a smooth
unconstrained problem (BFGS on its primal)."""
import os
import sys
import tempfile

try:
    import numpy as np
    from scipy.optimize import minimize
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

TOLERANCE = 3e-6  # of predictions, whose error goes with the root of the gap; found 2.5e-7


def rbf(a, b):
    return np.exp(-0.3 * ((a[:, None] - b) ** 2).sum(2))


def box_programme(Q):
    best = minimize(lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1), np.full(len(Q), 0.5),
                    jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(Q),
                    options=dict(maxiter=100000, maxfun=1000000, ftol=1e-16, gtol=1e-11))
    return best.x


def hinge(x, u, q, y, W, lam, lam2):
    every = np.vstack([x, u])
    K, N, n = rbf(every, every), len(every), len(x)
    M = np.diag(W.sum(1)) - W
    deformed = np.linalg.inv(lam * np.eye(N) + 2 * lam2 * K @ M)
    alpha = box_programme((y @ y.T) * (deformed @ K)[:n, :n] / 2)
    return rbf(q, every) @ deformed.T[:, :n] @ (alpha[:, None] * y) / 2


def huber(x, q, y, lam, delta):
    K = rbf(x, x)

    def value(flat):
        c = flat.reshape(y.shape)
        h = K @ c
        r = np.maximum(np.sqrt(((y - h) ** 2).sum(1)), 1e-300)
        loss = np.where(r <= delta, r ** 2, 2 * delta * r - delta ** 2).sum()
        pull = (np.where(r <= delta, 2, 2 * delta / r))[:, None] * (h - y)
        return loss + lam * (c * h).sum(), (K @ (pull + 2 * lam * c)).ravel()

    best = minimize(value, np.zeros(y.size), jac=True, method="BFGS",
                    options=dict(maxiter=100000, gtol=1e-10))
    return rbf(q, x) @ best.x.reshape(y.shape)


def main():
    rng = np.random.default_rng(0)
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "W.npy")
        for trial in range(6):
            x, u, q = (rng.normal(size=(k, 2)) for k in (14, 6, 9))
            y = rng.normal(size=(14, 3))
            W = rng.random((20, 20)) * (rng.random((20, 20)) < 0.3)
            W = np.triu(W, 1) + np.triu(W, 1).T
            np.save(file, W)
            lam, lam2 = [(0.2, 0.5), (0.05, 0), (1, 0.1)][trial % 3]
            common = dict(kx="rbf(gamma=0.3)", ky="linear", method="margin",
                          tolerance=1e-13, **{"lambda": lam})
            model = okra.fit(okra.dense(np.vstack([x, u])), okra.dense(y), lambda2=lam2,
                             graph=f"file({file})", **common)
            pairs = [(okra.predict(model, okra.dense(q), decode="explicit"),
                      hinge(x, u, q, y, W, lam, lam2))]
            model = okra.fit(okra.dense(x), okra.dense(y), loss="huber", delta=0.7, **common)
            pairs += [(okra.predict(model, okra.dense(q), decode="explicit"),
                       huber(x, q, y, lam, 0.7))]
            for got, reference in pairs:
                worst = max(worst, np.abs(got - reference).max() / np.abs(reference).max())
    print(f"worst relative difference {worst:.3g}, allowed {TOLERANCE:g}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
