"""Updates against new fits: pairs that come, one or a hundred; moments; merged parts.

The targets of factors are what operations allow: bordering n pairs by m takes n²m, a new
factor n³/3, so that no ratio is above n / 3m where kernel values are cheap. --only NAME
(factor, moments, merge) one part; --sizes N,N,... other sizes of the first.
"""
import pathlib
import sys

import numpy as np

import common
from common import report, seconds

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from okra import Model  # noqa: E402
from okra._library import Context  # noqa: E402


def task(n, d_in=20, d_out=2, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d_in))
    return x, np.sin(x @ rng.standard_normal((d_in, d_out)) / np.sqrt(d_in))


def embedding(model, x):
    return model.predict(x, {"decode": "none"}, embedding=True).embedding()


def factor(sizes=(1000, 3000, 10000)):
    """One lambda for all: nothing is chosen."""
    for n in sizes:
        x, y = task(n + 100)
        ctx = Context(threads=common.THREADS)
        fixed = {"kx": "rbf(sigma=4)", "ky": "linear", "lambda": 0.1}
        first = Model.fit(x[:n], y[:n], fixed, ctx)
        for m in (1, 10, 100):
            s = seconds({"fit": lambda: Model.fit(x[:n + m], y[:n + m], fixed, ctx),
                         "update": lambda: first.update(x[n:n + m], y[n:n + m], context=ctx)},
                        2)
            whole = embedding(Model.fit(x[:n + m], y[:n + m], fixed, ctx), x[:100])
            now = embedding(first.update(x[n:n + m], y[n:n + m], context=ctx)[0], x[:100])
            report(f"{m} of {n} pairs come, against a fit", s["fit"] / s["update"], 1,
                   fit=s["fit"], update=s["update"],
                   difference=f"{np.abs(now - whole).max() / np.abs(whole).max():.1e}")


def moments(n=100000, m=300):
    x, y = task(n + 100)
    ctx = Context(threads=common.THREADS)
    values = {"kx": "rbf(sigma=4)", "ky": "linear", "lambda": 0.1,
              "low-rank-x": f"nystrom(rank={m})", "keep-moments": True}
    first = Model.fit(x[:n], y[:n], values, ctx)
    s = seconds({"fit": lambda: Model.fit(x, y, values, ctx),
                 "update": lambda: first.update(x[n:], y[n:], context=ctx)}, 2)
    report(f"low rank {m}: 100 of {n} pairs come, against a fit", s["fit"] / s["update"], 10,
           fit=s["fit"], update=s["update"])


def merge(n=100000, parts=8):
    x, y = task(n)
    ctx = Context(threads=common.THREADS)
    basis = Model.basis(x[::20], {"kx": "rbf(sigma=4)", "low-rank-x": "nystrom(rank=300)"})
    values = {"ky": "linear", "lambda": 0.1, "keep-moments": True}
    step = n // parts
    models = [Model.fit(x[k * step:(k + 1) * step], y[k * step:(k + 1) * step], values, ctx,
                        basis) for k in range(parts)]
    s = seconds({"fit": lambda: Model.fit(x, y, values, ctx, basis),
                 "merge": lambda: Model.merge(models, context=ctx)}, 2)
    whole = embedding(Model.fit(x, y, values, ctx, basis), x[:100])
    off = np.abs(embedding(Model.merge(models), x[:100]) - whole).max() / np.abs(whole).max()
    report(f"{parts} parts of {n} pairs merged, against one fit", s["fit"] / s["merge"], 10,
           fit=s["fit"], merge=s["merge"], difference=f"{off:.1e}")


def main():
    names = {"factor": factor, "moments": moments, "merge": merge}
    arguments = sys.argv[1:]
    chosen = [arguments[arguments.index("--only") + 1]] if "--only" in arguments else names
    for name in chosen:
        if name == "factor" and "--sizes" in arguments:
            sizes = arguments[arguments.index("--sizes") + 1]
            factor([int(n) for n in sizes.split(",")])
        else:
            names[name]()
    common.finish()


if __name__ == "__main__":
    main()
