"""Leave-one-out over 50 lambdas against its own decomposition and scikit-learn.

n = 2,000 pairs, 128 outputs. scikit-learn's leave-one-out is estimated from 20 of the n
folds. Each claim is one JSON line with the ratio measured in this run and its target.
"""
import ctypes
import json

import numpy as np
from common import context, dense, lib, options, check, report, seconds, Handle

LAMBDAS = np.logspace(-4, 2, 50)
lib.okra_selection_json.restype = ctypes.c_char_p


def select(ctx, x, y, **values):
    h, a, b = Handle("okra_selection_free"), dense(x), dense(y)
    o = options("okra_select_options", values)
    check(lib.okra_select(ctx.p, a.p, b.p, o.p, None, ctypes.byref(h.p)))
    return json.loads(lib.okra_selection_json(h.p))


def main(n=2000, d_in=64, d_out=128):
    from scipy.linalg import eigh
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV, KFold
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((n, d_in)), rng.standard_normal((n, d_out))
    ctx, out, gamma = context(), {}, 0.01
    grid = ",".join(f"{v:.17g}" for v in LAMBDAS)
    k = np.exp(-gamma * ((x**2).sum(1)[:, None] + (x**2).sum(1) - 2 * x @ x.T))

    def loo():
        out["loo"] = select(ctx, x, y, kx=f"rbf(gamma={gamma})", cv="loo",
                            **{"lambda": grid})

    def decomposition():
        out["product"] = eigh(k)[1] @ k

    def search(cv):
        model = KernelRidge(kernel="rbf", gamma=gamma)
        return GridSearchCV(model, {"alpha": LAMBDAS}, cv=cv, refit=False,
                            scoring="neg_mean_squared_error").fit(x, y)

    s = seconds({"okra": loo, "one": decomposition}, 3)
    report("loo of 50 lambdas, in eigendecompositions + products", s["okra"] / s["one"], 2.0,
           "lower", okra=s["okra"], one=s["one"])
    everyone = np.arange(n)
    some = [(np.delete(everyone, i), [i]) for i in range(20)]
    t = seconds({"okra": loo, "some": lambda: search(some)}, 1)
    report("loo of 50 lambdas against GridSearchCV(LeaveOneOut), estimated from 20 folds",
           t["some"] * n / 20 / t["okra"], 20.0, okra=t["okra"], folds20=t["some"])
    t = seconds({"okra": loo, "five": lambda: out.update(five=search(KFold(5)))}, 1)
    report("loo of 50 lambdas against 5-fold GridSearchCV", t["five"] / t["okra"], 5.0,
           okra=t["okra"], sklearn=t["five"])

    def kfold():
        out["kfold"] = select(ctx, x, y, kx=f"rbf(gamma={gamma})", cv="kfold:5",
                              **{"lambda": grid})

    t = seconds({"okra": kfold}, 1)
    report("5-fold of 50 lambdas against 5-fold GridSearchCV",
           t["okra"] and seconds({"s": lambda: search(KFold(5))}, 1)["s"] / t["okra"], 2.0,
           okra=t["okra"])


if __name__ == "__main__":
    main()
