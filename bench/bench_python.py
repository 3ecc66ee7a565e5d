"""What the Python package adds to the library's own time.

The time of a call is compared with the time that the library itself takes inside it, in the
same run: a small call, where the difference is the overhead, and a fit and a prediction at
n = 2,000, where its share counts. Each claim is one JSON line.
"""
import os
import statistics
import sys
import time

from common import BUILD, THREADS, report

os.environ.setdefault("OKRA_LIBRARY", os.path.join(os.path.abspath(BUILD), "libokra.so"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np  # noqa: E402

import okra  # noqa: E402
from okra import _interrupt  # noqa: E402

inside = 0.0
plain = _interrupt.Watch.call


def timed(self, context, function, arguments):
    """The library's own part of a call."""
    def measured(*given):
        global inside
        begin = time.perf_counter()
        status = function(*given)
        inside += time.perf_counter() - begin
        return status
    return plain(self, context, measured, arguments)


def overhead(work, repeats):
    """Seconds outside and inside the library, medians."""
    global inside
    outer, inner = [], []
    for _ in range(repeats):
        inside = 0.0
        begin = time.perf_counter()
        work()
        total = time.perf_counter() - begin
        outer.append(total - inside)
        inner.append(inside)
    return statistics.median(outer), statistics.median(inner)


def main():
    _interrupt.Watch.call = timed
    rng = np.random.default_rng(0)
    small = rng.normal(size=(10, 3))
    data = okra.as_data(small)
    model = okra.Model.fit(data, data, {"kx": "rbf(sigma=1)"})
    context = okra._library.Context(threads=THREADS)
    estimator = okra.IOKR(kx="rbf(sigma=1)", n_jobs=THREADS).fit(small, small)
    calls = {
        "gram_matrix": lambda: okra.gram_matrix("rbf(sigma=1)", data, context=context),
        "Model.predict": lambda: model.predict(data, {"decode": "explicit"},
                                               context=context).objects(),
        "IOKR.predict": lambda: estimator.predict(small),
    }
    for name, call in calls.items():
        call()
        outside, _ = overhead(call, 300)
        report(f"{name}: microseconds outside the library", outside * 1e6, 100, "lower")
    X, Y = rng.normal(size=(2000, 20)), rng.normal(size=(2000, 5))
    estimator = okra.IOKR(kx="rbf(sigma=4)", n_jobs=THREADS)
    dx, dy, options = okra.as_data(X), okra.as_data(Y), {"kx": "rbf(sigma=4)"}
    model = okra.Model.fit(dx, dy, options)
    # Model is the binding alone; IOKR adds scikit-learn's checks of its arguments.
    for name, call in {"Model.fit": lambda: okra.Model.fit(dx, dy, options),
                       "Model.predict": lambda: model.predict(dx),
                       "IOKR.fit": lambda: estimator.fit(X, Y),
                       "IOKR.predict": lambda: estimator.predict(X)}.items():
        call()
        outside, within = overhead(call, 5)
        report(f"{name} at n = 2000: share of time outside the library",
               outside / (outside + within), 0.01, "lower")


if __name__ == "__main__":
    main()
