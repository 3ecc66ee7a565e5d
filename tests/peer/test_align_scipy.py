"""align(...), align-each(...), align-loo(...): weights against SciPy.

ALIGNF is the quadratic programme min w'Mw - 2a'w, w >= 0 of centred Gram matrices, solved here
by SciPy's non-negative least squares on a factor of M (exact to rounding) and by SLSQP; ALIGN
the closed form. align-loo is compared with SLSQP on left-out losses of models fitted anew.
"""
import os
import sys

try:
    import numpy as np
    from scipy.optimize import minimize, nnls
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from okra import IOKR, Model, gram_matrix  # noqa: E402

KERNELS = ["rbf(sigma=0.5)", "rbf(sigma=2)", "linear", "poly(degree=2,gamma=1,coef0=1)",
           "rbf(sigma=10)", "laplacian(gamma=0.2)", "cosine"]


def weights(how, kernels, x, y, w=None, **options):
    from okra import as_data
    outputs = as_data(y) if w is None else as_data(y).weigh(w)
    model = Model.fit(x, outputs, {"kx": f"{how}({','.join(kernels)})", **options})
    texts = model.info["texts"]
    return np.array([float(v) for v in texts["align.weights"].split(",")]), model


def centred(K, w):
    s = np.sqrt(w)
    P = np.eye(len(s)) - np.outer(s, s) / (s @ s)
    G = P @ (K * np.outer(s, s)) @ P
    # products off the diagonal: none of a pair with itself, u^2 - u of u equal pairs
    G[np.diag_indices(len(s))] *= np.sqrt(np.maximum(1 - 1 / w, 0))
    return G


def programme(kernels, x, L, w):
    Ks = [centred(gram_matrix(k, x), w) for k in kernels]
    L = centred(L, w)
    M = np.array([[np.sum(a * b) for b in Ks] for a in Ks])
    return M, np.array([np.sum(a * L) for a in Ks]), L


def by_nnls(M, a):
    scale = 1 / np.sqrt(np.diag(M))
    v, E = np.linalg.eigh(M * np.outer(scale, scale))
    root = (E * np.sqrt(np.maximum(v, 0))).T
    b = np.linalg.lstsq(root.T, a * scale, rcond=None)[0]
    found = nnls(root, b)[0] * scale
    return found / found.sum()


def main():
    rng = np.random.default_rng(0)
    worst = each_worst = slsqp_worst = 0
    for seed in range(20):
        n = int(rng.integers(20, 80))
        x, t = rng.normal(size=(n, 4)), rng.normal(size=(7, 4))
        y = np.c_[np.sin(x[:, 0]), x[:, 1] ** 2] + 0.3 * rng.normal(size=(n, 2))
        w = np.ones(n) if seed % 2 else rng.integers(1, 4, n).astype(float)
        ky = ["linear", "rbf(sigma=1)"][seed % 3 == 0]
        kernels = list(rng.permutation(KERNELS)[:int(rng.integers(2, 8))])
        M, a, _ = programme(kernels, x, gram_matrix(ky, y), w)
        got, model = weights("align", kernels, x, y, w, ky=ky)
        want = by_nnls(M, a)
        worst = max(worst, abs(got - want).max())
        value = lambda v: v @ M @ v - 2 * a @ v  # noqa: E731
        start = want * (a @ want) / (want @ M @ want)
        found = minimize(lambda v: value(v) / abs(value(start)), start * 0.9, jac=lambda v:
                         2 * (M @ v - a) / abs(value(start)), bounds=[(0, None)] * len(a),
                         method="SLSQP", options={"ftol": 1e-15, "maxiter": 500}).x
        best = got * (a @ got) / (got @ M @ got)
        slsqp_worst = max(slsqp_worst, (value(best) - value(found)) / abs(value(found)))
        each, _ = weights("align-each", kernels, x, y, w, ky=ky)
        ours = np.maximum(a, 0) / np.sqrt(np.diag(M))  # less than chance: nothing
        each_worst = max(each_worst, abs(each - ours / ours.sum()).max())
        # the model is that of the combination written out
        text = "+".join(f"{float(v)!r}*({k})" for v, k in zip(got, kernels) if v > 0)
        plain = IOKR(kx=text, ky=ky, lam=0.1).fit(x, y, w)
        other = model.predict(t, {"decode": "none"}, weights=True).weights()
        assert abs(plain.weights(t) - other).max() < 1e-9
        # a weight of 2 is the pair twice
        index = np.repeat(np.arange(n), w.astype(int))
        again, _ = weights("align", kernels, x[index], y[index], ky=ky)
        assert abs(again - got).max() < 1e-8, abs(again - got).max()
    print(f"ALIGNF: {worst:.1e} from SciPy's NNLS, objective {slsqp_worst:.1e} above SLSQP's; "
          f"ALIGN: {each_worst:.1e}")
    assert worst < 1e-8 and slsqp_worst < 1e-9 and each_worst < 1e-12

    # left-out losses: no better combination is near; outputs explicit, centred, weighted, or not
    x = rng.normal(size=(60, 4))
    y = np.c_[np.sin(x[:, 0]), x[:, 1] ** 2] + 0.1 * rng.normal(size=(60, 2))
    kernels = KERNELS[:4]
    heavy = rng.integers(1, 4, 60).astype(float)
    for ky, center, w in (("linear", None, None), ("2*linear", True, None),
                          ("linear", True, heavy), ("rbf(sigma=1)", None, heavy)):
        def loss(v):
            text = "+".join(f"{float(q)!r}*({k})" for q, k in zip(v, kernels))
            model = IOKR(kx=text, ky=ky, lam=0.1, center_output=center)
            left = model.fit(x, y, sample_weight=w).loo_losses_
            return left.sum() if w is None else left @ w

        more = {"lambda": 0.1, "center-output": "yes" if center else "no"}
        got, _ = weights("align-loo", kernels, x, y, w, ky=ky, **more)
        start, _ = weights("align", kernels, x, y, w, ky=ky)
        reference = minimize(lambda v: loss(np.exp(v)), np.log(np.maximum(got, 1e-6)),
                             method="Nelder-Mead", options={"maxfev": 120}).fun
        reached = loss(np.maximum(got, 1e-12))
        print(f"align-loo, {ky}: {reached:.6g}, after Nelder-Mead {reference:.6g}; align "
              f"{loss(np.maximum(start, 1e-12)):.6g}")
        assert reached < reference * (1 + 1e-3)
        assert reached < loss(np.maximum(start, 1e-12))
        assert reached < loss(np.ones(len(kernels)) / len(kernels)) * (1 + 1e-9)


main()
