"""Data sets with and without planted faults, and what each check of okra.audit says of them.

test_audit.py takes a few of each, bench/bench_audit.py 200.
"""
import numpy as np

from okra.checks import audit as checks
from okra.checks.intervals import mean_interval, sign_test

OPTIONS = {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.03}


def clean(rng, n=120, tests=60):
    """A function of the inputs with noise: numbers, classes or two outputs."""
    x = rng.normal(size=(n + tests, 3))
    kind = rng.integers(3)
    if kind == 0:
        y = np.sin(x[:, :1]) + x[:, 1:2] ** 2 / 2 + 0.3 * rng.normal(size=(n + tests, 1))
    elif kind == 1:
        y = np.c_[x[:, 0] + x[:, 1], np.cos(x[:, 2])] + 0.3 * rng.normal(size=(n + tests, 2))
    else:
        c = (x[:, 0] + 0.4 * rng.normal(size=n + tests) > 0).astype(int)
        y = np.eye(2)[c]
    return x[:n], y[:n], x[n:], y[n:]


def blind(rng):
    x, y, tx, ty = clean(rng)
    return rng.normal(size=x.shape), y, rng.normal(size=tx.shape), ty


def leak(rng):
    """A sixth of the test inputs are training inputs, some with a little noise."""
    x, y, tx, ty = clean(rng)
    noise = 1e-4 * rng.normal(size=(10, 3)) * rng.integers(0, 2)
    tx[:10], ty[:10] = x[:10] + noise, y[:10]
    return x, y, tx, ty


def broken(rng):
    """Test rows come from elsewhere."""
    x, y, tx, ty = clean(rng)
    return x, y, tx + 1.5, ty


def labels(rng):
    """Six of the training outputs are wrong."""
    x = rng.normal(size=(180, 3))
    y = x[:, :1] + 0.1 * rng.normal(size=(180, 1))
    y[:6] += np.where(rng.random((6, 1)) < 0.5, 5, -5)
    return x[:120], y[:120], x[120:], y[120:]


def copies(rng):
    """Copies of inputs with other outputs."""
    x = rng.normal(size=(180, 3))
    y = x[:, :1] + 0.1 * rng.normal(size=(180, 1))
    x[:6], y[:6] = x[6:12], y[6:12] + np.where(rng.random((6, 1)) < 0.5, 4, -4)
    return x[:120], y[:120], x[120:], y[120:]


def settings(rng, count=5):
    """Left-out errors of settings, of which some are better than others."""
    base = rng.gamma(2, size=(150, 1))
    return base * (1 + 0.1 * np.arange(count)) + 0.1 * rng.normal(size=(150, count))


def lucky(rng):
    """A hundred settings that are all the same, each with errors of its own."""
    return rng.gamma(2, size=(150, 100))


def misread(rng):
    """Four of the test outputs are wrong."""
    x, y, tx, ty = clean(rng)
    ty[:4] += 6
    return x, y, tx, ty


def elsewhere(x, y, tx):
    """Predictions of another program: ridge in NumPy."""
    def gauss(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=-1) / 8)
    return gauss(tx, x) @ np.linalg.solve(gauss(x, x) + 0.05 * np.eye(len(x)), y)


def said(check, data, seed):
    """The light of a check."""
    if check == "selection":
        return checks.selection(data, seed)["light"]
    x, y, tx, ty = data
    name, _, of = check.partition(" of ")
    given = {"options": {k: OPTIONS[k] for k in ("kx", "ky")}, "predicted": elsewhere(x, y, tx)} if of else {"options": OPTIONS}
    found = checks.audit(x, y, tx, ty, checks=(name,), permutations=99, seed=seed, **given)
    return found["checks"][0]["light"]


FAULTS = {"blind": [blind], "leak": [leak], "dependence": [blind], "selection": [lucky], "guarantee": [broken],
          "stability": [labels, copies], "blind of predictions": [blind], "leak of predictions": [leak],
          "stability of predictions": [misread, copies]}


def rates(check, count, seed=0):
    """Shares of false alarms on clean data, and of planted faults that are found."""
    rng = np.random.default_rng(seed)
    make = settings if check == "selection" else clean
    false = np.mean([said(check, make(rng), k) != "green" for k in range(count)])
    found = {plant.__name__: float(np.mean([said(check, plant(rng), k) != "green" for k in range(count)]))
             for plant in FAULTS[check]}
    return float(false), found


def coverage(draw, truth, count, seed=0, **more):
    """How often intervals of 95 % hold the truth."""
    rng, inside = np.random.default_rng(seed), 0
    for k in range(count):
        found = mean_interval(**draw(rng), seed=k, **more)
        inside += found["low"] <= truth <= found["high"]
    return inside / count


def _groups(rng):
    code = np.repeat(np.arange(40), rng.integers(1, 6, 40))
    return {"values": (1 + 0.5 * rng.normal(size=40))[code] + 0.5 * rng.normal(size=len(code)), "groups": code}


DRAWS = {"normal, 50 rows": (lambda r: {"values": r.normal(size=50)}, 0),
         "squared errors, 100 rows": (lambda r: {"values": r.normal(size=100) ** 2}, 1),
         "hits of 70 %, 100 rows": (lambda r: {"values": (r.random(100) < 0.7).astype(float)}, 0.7),
         "40 groups of 1 to 5 rows": (_groups, 1)}


def null_p_values(count, seed=0):
    """p-values of two predictions that are as good."""
    rng = np.random.default_rng(seed)
    return np.array([sign_test(rng.normal(size=40) ** 2 - rng.normal(size=40) ** 2, seed=k, draws=499) for k in range(count)])
