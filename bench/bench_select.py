"""Leave-one-out over 50 lambdas against its own decomposition and scikit-learn.

n = 2,000 pairs, 128 outputs. scikit-learn fits every fold and lambda anew, at one cost
each: its leave-one-out is estimated from 20 of the n folds at one of the 50 lambdas, its
5-fold search from 2 of the lambdas; `measured` is the time taken for these fits, `fits` how
many of them were run and `fits_all` how many the whole search has. Each claim is one JSON
line with the ratio measured in this run and its target.
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

    def search(cv, some):
        """The first and the last of the lambdas, or the first alone."""
        model = KernelRidge(kernel="rbf", gamma=gamma)
        GridSearchCV(model, {"alpha": LAMBDAS[[0, -1][:some]]}, cv=cv, refit=False,
                     scoring="neg_mean_squared_error").fit(x, y)

    def against(name, ours, theirs, fits, fits_all, target):
        report(name, theirs * fits_all / fits / ours, target, okra=ours, measured=theirs,
               fits=fits, fits_all=fits_all)

    s = seconds({"okra": loo, "one": decomposition}, 3)
    report("loo of 50 lambdas, in eigendecompositions + products", s["okra"] / s["one"], 2.0,
           "lower", okra=s["okra"], one=s["one"])
    everyone = np.arange(n)
    some = [(np.delete(everyone, i), [i]) for i in range(20)]

    def kfold():
        select(ctx, x, y, kx=f"rbf(gamma={gamma})", cv="kfold:5", **{"lambda": grid})

    t = seconds({"okra": loo, "kfold": kfold, "some": lambda: search(some, 1),
                 "sklearn": lambda: search(KFold(5), 2)}, 1)
    lambdas = len(LAMBDAS)
    against("loo of 50 lambdas against GridSearchCV(LeaveOneOut), estimated", t["okra"],
            t["some"], 20, n * lambdas, 20.0)
    against("loo of 50 lambdas against 5-fold GridSearchCV, estimated", t["okra"],
            t["sklearn"], 10, 5 * lambdas, 5.0)
    against("5-fold of 50 lambdas against 5-fold GridSearchCV, estimated", t["kfold"],
            t["sklearn"], 10, 5 * lambdas, 1.0)


if __name__ == "__main__":
    main()
