"""Kernel PCA regression against a construction in NumPy: the components of the outputs by
a singular value decomposition of their centred features, one ridge each, and the choice
among candidates in the space of the components."""
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

TOLERANCE = 1e-10  # promised; printed below is the worst found


def rbf(a, b, sigma):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(2) / (2 * sigma ** 2))


def weights(K, Kx, L, p, lam):
    """w = S diag(1/mu) S'(K + lam)^-1 k + 1/n through features F with F F' = L."""
    n = len(L)
    values, vectors = np.linalg.eigh(L)
    features = vectors * np.sqrt(np.maximum(values, 0))
    centred = features - features.mean(0)
    u, s, axes = np.linalg.svd(centred)
    coordinates = centred @ axes[:p].T
    predicted = Kx @ np.linalg.solve(K + lam * np.eye(n), coordinates)
    point = predicted @ axes[:p] + features.mean(0)
    w = predicted @ (u[:, :p] / s[:p]).T + 1 / n
    return w, point, axes[:p], features


def reduced(K, Kx, L, p, lam):
    """Ridge about the mean, projected on the p leading directions of its fitted outputs."""
    values, vectors = np.linalg.eigh(L)
    features = vectors * np.sqrt(np.maximum(values, 0))
    mean = features.mean(0)
    inverse = np.linalg.inv(K + lam * np.eye(len(L)))
    axes = np.linalg.svd(K @ inverse @ (features - mean))[2][:p]
    return Kx @ inverse @ (features - mean) @ axes.T @ axes + mean, features


def rank_output(rng):
    """The worst difference of points, and candidates chosen otherwise, in the whole space."""
    worst = wrong = 0
    for p, lam in ((1, 0.1), (5, 0.01), (20, 1)):
        n, m = 40, 15
        x, q, y = rng.normal(size=(n, 4)), rng.normal(size=(m, 4)), rng.normal(size=(n, 3))
        others = rng.normal(size=(30, 3))
        model = okra.fit(okra.dense(x), okra.dense(y), method="kpca", kx="rbf(sigma=2)",
                         ky="rbf(sigma=1.5)", **{"lambda": lam, "rank-output": p})
        point, features = reduced(rbf(x, x, 2), rbf(q, x, 2), rbf(y, y, 1.5), p, lam)
        got = okra.weights(model, okra.dense(q)) @ features
        worst = max(worst, np.abs(got - point).max() / np.abs(point).max())
        inner = point @ np.linalg.lstsq(features, rbf(y, others, 1.5), rcond=None)[0]
        chosen = okra.predict(model, okra.dense(q), candidates=okra.dense(others))
        best = np.array([np.flatnonzero((others == c).all(1))[0] for c in chosen])
        wrong += (inner[np.arange(m), best] < inner.max(1) - 1e-9).sum()
    return worst, wrong


def main():
    rng = np.random.default_rng(0)
    worst = wrong = 0
    for p, lam in ((1, 0.1), (5, 0.01), (20, 1), (39, 0.3)):
        n, m = 40, 15
        x, q, y = rng.normal(size=(n, 4)), rng.normal(size=(m, 4)), rng.normal(size=(n, 3))
        others = rng.normal(size=(30, 3))
        model = okra.fit(okra.dense(x), okra.dense(y), method="kpca", components=p,
                         kx="rbf(sigma=2)", ky="rbf(sigma=1.5)", **{"lambda": lam})
        L = rbf(y, y, 1.5)
        w, point, axes, features = weights(rbf(x, x, 2), rbf(q, x, 2), L, p, lam)
        got = okra.weights(model, okra.dense(q))
        worst = max(worst, np.abs(got - w).max() / np.abs(w).max())
        # candidates: coordinates of new outputs by their inner products with the axes
        mapped = np.linalg.lstsq(features, rbf(y, others, 1.5), rcond=None)[0].T
        apart = (((mapped[None] - point[:, None]) @ axes.T) ** 2).sum(2)
        chosen = okra.predict(model, okra.dense(q), candidates=okra.dense(others))
        best = np.array([np.flatnonzero((others == c).all(1))[0] for c in chosen])
        wrong += (apart[np.arange(m), best] > apart.min(1) + 1e-9).sum()
    reached, others = rank_output(rng)
    worst, wrong = max(worst, reached), wrong + others
    print(f"worst relative difference {worst:.3g}, allowed {TOLERANCE:g}; "
          f"{wrong} candidates chosen otherwise")
    return 0 if worst <= TOLERANCE and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
