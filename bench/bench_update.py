"""Updates against new fits: pairs that come, one, ten or a hundred; moments; merged parts.

The target is 50 times faster than a fit. Operations set a bound: bordering n pairs by m takes
n²m, a new factor n³/3, so that no ratio is far above n / 3m where kernel values are cheap, and
n / 2m where they are all that counts; the bound stands beside each ratio. What is timed is an
update of a model that was updated before; `first` is the one after the fit, which moves the
factor to where it can grow. --only NAME (factor, strings, moments, merge) one part; --sizes
N,N,... other sizes of the first.
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


def words(n, seed=1):
    """Random words of 24 letters; outputs count two of the letters."""
    letters = np.random.default_rng(seed).integers(0, 20, (n, 24))
    x = ["".join(chr(97 + c) for c in row) for row in letters]
    return x, np.stack([(letters == c).sum(1) for c in range(2)], 1).astype(float)


def grow(x, y, n, values, name, bound, runs=2):
    """One lambda for all: nothing is chosen."""
    ctx = Context(threads=common.THREADS)
    first = Model.fit(x[:n], y[:n], values, ctx)
    for m in (1, 10, 100):
        once = seconds({"first": lambda: first.update(x[n:n + m], y[n:n + m], context=ctx)}, 1)
        before = first.update(x[n:n + 1], y[n:n + 1], context=ctx)[0]
        a, b = n + 1, n + 1 + m
        s = seconds({"fit": lambda: Model.fit(x[:b], y[:b], values, ctx),
                     "update": lambda: before.update(x[a:b], y[a:b], context=ctx)}, runs)
        whole = embedding(Model.fit(x[:b], y[:b], values, ctx), x[:100])
        now = embedding(before.update(x[a:b], y[a:b], context=ctx)[0], x[:100])
        what = f"{m} of {n} {name} come"
        times = {"fit": s["fit"], "update": s["update"], "first": once["first"],
                 "bound": float(f"{bound(m):.4g}")}
        if n == 10000:
            report(f"{what}, against a fit", s["fit"] / s["update"], 50, **times)
        else:
            common.cost(f"{what}, against a fit", faster=s["fit"] / s["update"], **times)
        report(f"{what}: difference from a fit",
               float(np.abs(now - whole).max() / np.abs(whole).max()), 1e-10, "lower")


def factor(sizes=(1000, 3000, 10000)):
    """Kernel values cost little: the factor counts."""
    for n in sizes:
        x, y = task(n + 101)
        grow(x, y, n, {"kx": "rbf(sigma=4)", "ky": "linear", "lambda": 0.1}, "vectors",
             lambda m: n / 3 / m)


def strings(n=10000):
    """Kernel values cost much: they count."""
    x, y = words(n + 101)
    grow(x, y, n, {"kx": "ssk(length=4,decay=0.5) | normalize", "ky": "linear", "lambda": 0.1},
         "strings", lambda m: n / 2 / m, 1)


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
    names = {"factor": factor, "strings": strings, "moments": moments, "merge": merge}
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
