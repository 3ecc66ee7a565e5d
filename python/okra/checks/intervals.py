"""Standard errors, bootstrap intervals and paired comparisons of scores.

A score is a mean: m = sum_g S_g / sum_g W_g over groups g of rows (rows themselves without groups), with
S_g = sum w v and W_g = sum w of its rows. Its standard error is that of a ratio, with r_g = S_g - m W_g:
se = sqrt(G / (G - 1) sum_g r_g^2) / sum_g W_g. The interval is the studentised bootstrap ("bootstrap-t"): groups
are drawn with replacement, t* = (m* - m) / se*, and quantiles of t* go with m and se. Efron and Tibshirani, An
Introduction to the Bootstrap (1993), chapter 12. Values that are all 0 or 1 have the binomial mid-p interval, since
few failures leave the bootstrap little to draw from. A metric without a value an object (F1, R2, AUC) is computed again on
each draw, and its quantiles are the interval.

Two predictions are compared by the differences D_g of their sums: under the null their signs are exchangeable,
and the p-value is the share of sign patterns whose sum is at least as large. Where there are no values an object, the
predictions themselves change places, row by row or group by group, and the metric is computed again.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np
from scipy import optimize, stats

from .._data import Data, as_data, labels, missing, smiles
from .._errors import OkraError
from .._kernel import metric_is_loss
from .._library import Context, lib

DRAWS, SIGNS, BLOCK = 2000, 4999, 1 << 22


def each(spec: str, truth: Any, predicted: Any, context: Optional[Context] = None) -> tuple:
    """The score, and the value of every object; None where the score is not their mean."""
    truth, predicted = as_data(truth), as_data(predicted)
    value, has, values = c.c_double(), c.c_bool(), np.full(len(truth), np.nan)
    (context or Context()).call(lib.okra_score, spec, truth.pointer, predicted.pointer, c.byref(value),
                                values.ctypes.data, c.byref(has))
    weight = np.ones(len(truth)) if truth.weights is None else truth.weights
    if has.value and len(values):
        known = ~np.isnan(values) & (weight > 0)
        total = weight[known].sum()
        mean = (weight[known] @ values[known]) / total if total > 0 else np.nan
        if np.isclose(mean, value.value, rtol=1e-9, atol=1e-12):
            return value.value, values
    return value.value, None


def _sums(values: np.ndarray, weight: Optional[np.ndarray], groups: Any) -> tuple:
    """S and W of each group, and whether rows are drawn one by one with equal weights."""
    values = np.asarray(values, dtype=float)
    w = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=float)
    keep = ~np.isnan(values) & (w > 0)
    if groups is None:
        return w[keep] * values[keep], w[keep], bool(np.ptp(w[keep]) == 0) if keep.any() else True
    groups = np.asarray(groups)
    if groups.shape != (len(values),):
        raise ValueError(f"groups have shape {groups.shape}, expected ({len(values)},)")
    code = np.unique(groups[keep], return_inverse=True)[1]
    count = int(code.max()) + 1 if len(code) else 0
    return (np.bincount(code, w[keep] * values[keep], count), np.bincount(code, w[keep], count), False)


def _ratio(sv, sw, svv, svw, sww, g):
    """Mean and standard error from sums over groups of S, W, S^2, S W, W^2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        m = sv / sw
        square = np.maximum(svv - 2 * m * svw + m * m * sww, 0)
        return m, np.sqrt(square * g / max(g - 1, 1)) / sw


def hits_interval(hits: int, n: int, tail: float) -> tuple:
    """The shares under which as many hits, or as few, are not rarer than `tail`; those seen count half (mid-p)."""
    def rare(share: float, more: bool) -> float:
        with np.errstate(divide="ignore"):  # of SciPy, at shares that are nearly 0 or 1
            beyond = stats.binom.sf(hits, n, share) if more else stats.binom.cdf(hits - 1, n, share)
            return beyond + stats.binom.pmf(hits, n, share) / 2 - tail
    low = 0.0 if hits == 0 else optimize.brentq(rare, 1e-12, 1 - 1e-12, (True,))
    high = 1.0 if hits == n else optimize.brentq(rare, 1e-12, 1 - 1e-12, (False,))
    return float(low), float(high)


def mean_interval(values: Any, weight: Any = None, groups: Any = None, interval: float = 95,
                  seed: int = 0, draws: int = DRAWS, signed: bool = False) -> dict:
    """The mean of values with its standard error and bootstrap interval, as a dict; `signed`: values might
    have been negative, or beyond 1, even if none is."""
    s, w, plain = _sums(values, weight, groups)
    g = len(s)
    if g == 0:
        return {"value": np.nan, "se": np.nan, "low": np.nan, "high": np.nan, "units": 0}
    m, se = (float(v) for v in _ratio(s.sum(), w.sum(), s @ s, s @ w, w @ w, g))
    out = {"value": m, "se": se if g > 1 else np.nan, "units": g}
    tail = (1 - interval / 100) / 2
    if plain and not signed and np.isin(s / w, (0.0, 1.0)).all():
        low, high = hits_interval(round(float((s / w).sum())), g, tail)
        return {**out, "low": low, "high": high}
    if g < 2 or se <= 1e-14 * abs(m):
        return {**out, "low": m if g > 1 else np.nan, "high": m if g > 1 else np.nan}
    rng, t = np.random.default_rng(seed), []
    d = s - m * w  # about the mean: no digits cancel
    for begin in range(0, draws, max(1, BLOCK // g)):
        count = min(draws - begin, max(1, BLOCK // g))
        drawn = rng.multinomial(g, np.full(g, 1 / g), size=count).astype(float)
        mean, error = _ratio(drawn @ d, drawn @ w, drawn @ (d * d), drawn @ (d * w), drawn @ (w * w), g)
        with np.errstate(divide="ignore", invalid="ignore"):
            t.append(np.where(error > 0, mean / error, np.sign(mean) * np.inf))
    t = np.sort(np.concatenate(t))
    t = np.where(np.isnan(t), 0, t)
    place = lambda q: t[int(np.clip(np.ceil(q * draws) - 1, 0, draws - 1))]  # noqa: E731
    low, high = m - place(1 - tail) * se, m - place(tail) * se
    inside = s / w
    if signed:
        return {**out, "low": float(low), "high": float(high)}
    bounds = (0, 1) if inside.min() >= 0 and inside.max() <= 1 else (0 if inside.min() >= 0 else -np.inf, np.inf)
    return {**out, "low": float(np.clip(low, *bounds)), "high": float(np.clip(high, *bounds))}


def _rows_drawn(n: int, groups: Any, rng: np.random.Generator) -> np.ndarray:
    if groups is None:
        return rng.integers(0, n, n)
    code = np.unique(np.asarray(groups), return_inverse=True)[1]
    members = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    return np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])


def _resampled(spec: str, truth: Any, predictions: list, groups: Any, seed: int,
               draws: int = 400) -> np.ndarray:
    """Scores of every draw: draws x predictions, of one metric without a value an object."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(draws):
        rows = _rows_drawn(len(truth), groups, rng)
        try:
            out.append([each(spec, truth[rows], p[rows])[0] for p in predictions])
        except (ValueError, OkraError):  # a draw with one class has no AUC
            continue
    if len(out) < draws // 2:
        raise ValueError(f"metric {spec} has no value in most draws: no interval")
    return np.array(out)


def _quantiles(values: np.ndarray, interval: float) -> dict:
    tail = (1 - interval / 100) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return {"se": float(values.std(ddof=1)), "low": float(low), "high": float(high)}


def sign_test(values: Any, weight: Any = None, groups: Any = None, seed: int = 0, draws: int = SIGNS) -> float:
    """The p-value of a mean difference of 0, by permutation of the signs of rows or groups."""
    d = _sums(values, weight, groups)[0]
    d = d[d != 0]
    if len(d) == 0:
        return 1.0
    seen, rng = abs(d.sum()), np.random.default_rng(seed)
    seen -= 1e-12 * np.abs(d).sum()
    if len(d) <= 12:  # every pattern
        signs = 1 - 2 * ((np.arange(1 << len(d))[:, None] >> np.arange(len(d))) & 1)
        return float(np.mean(np.abs(signs @ d) >= seen))
    hits, step = 0, max(1, BLOCK // len(d))
    for begin in range(0, draws, step):
        signs = rng.integers(0, 2, (min(step, draws - begin), len(d)), dtype=np.int8)
        hits += int(np.sum(np.abs(2.0 * (signs @ d) - d.sum()) >= seen))
    return (1 + hits) / (1 + draws)


def joined(a: Data, b: Data) -> Data:
    """The objects of two collections in one."""
    first, second = a.objects, b.objects
    if hasattr(first, "tocsr"):
        from scipy.sparse import vstack
        return as_data(vstack([first, second]))
    both = np.concatenate([first, second]) if isinstance(first, np.ndarray) else [*first, *second]
    return {"graphs": smiles, "labels": labels, "dense": missing}.get(a.kind, as_data)(both)


def _swap_test(spec: str, truth: Any, first: Any, second: Any, seen: float, groups: Any, seed: int,
               draws: int = 400) -> float:
    """The p-value of two scores that are alike, by predictions that change places."""
    both, n, hits, rng = joined(first, second), len(truth), 0, np.random.default_rng(seed)
    code = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    for _ in range(draws):
        a = np.arange(n) + n * rng.integers(0, 2, code.max() + 1)[code]
        apart = each(spec, truth, both[(a + n) % (2 * n)])[0] - each(spec, truth, both[a])[0]
        hits += abs(apart) >= abs(seen) * (1 - 1e-12)
    return (1 + hits) / (1 + draws)


def score(truth: Any, predicted: Any, metric: str, groups: Any = None, interval: float = 95, sample_weight: Any = None,
          seed: int = 0) -> dict:
    """A score with its standard error and a bootstrap interval.

    Parameters
    ----------
    truth, predicted : objects
    metric : str
        ``"mse"``, ``"zero-one"``, ...; ``okra help metrics`` lists them.
    groups : array of n, optional
        The group of every row: whole groups are drawn.
    interval : float
        Coverage in percent.
    sample_weight : array of n numbers, optional
    seed : int
        The same seed gives the same bits.

    Returns
    -------
    dict
        ``metric``, ``value``, ``loss`` (is less better?), ``se``, ``low``, ``high``, ``units``.
    """
    truth, predicted = as_data(truth), as_data(predicted)
    truth = truth if sample_weight is None else truth.weigh(sample_weight)
    value, values = each(metric, truth, predicted)
    head = {"metric": metric, "value": value, "loss": metric_is_loss(metric)}
    if values is None:
        drawn = _resampled(metric, truth, [predicted], groups, seed)
        return {**head, **_quantiles(drawn[:, 0], interval),
                "units": len(truth) if groups is None else len(np.unique(groups))}
    return {**head, **mean_interval(values, truth.weights, groups, interval, seed), "value": value}


def compare(truth: Any, first: Any, second: Any, metric: str, groups: Any = None, interval: float = 95,
            sample_weight: Any = None, seed: int = 0) -> dict:
    """Two predictions of the same rows in pairs: the second's score less the first's.

    Parameters
    ----------
    truth, first, second : objects
    metric, groups, interval, sample_weight, seed
        As for `okra.score`.

    Returns
    -------
    dict
        ``metric``, ``difference``, ``se``, ``low``, ``high``, ``p``, ``units``.
    """
    truth, first, second = as_data(truth), as_data(first), as_data(second)
    truth = truth if sample_weight is None else truth.weigh(sample_weight)
    (a, va), (b, vb) = each(metric, truth, first), each(metric, truth, second)
    if va is None or vb is None:
        drawn = _resampled(metric, truth, [first, second], groups, seed)
        return {"metric": metric, "difference": b - a, **_quantiles(drawn[:, 1] - drawn[:, 0], interval),
                "p": _swap_test(metric, truth, first, second, b - a, groups, seed),
                "units": len(truth) if groups is None else len(np.unique(groups))}
    return {"metric": metric, **compare_values(va, vb, truth.weights, groups, interval, seed)}


def compare_values(first: np.ndarray, second: np.ndarray, weight: Any = None, groups: Any = None,
                   interval: float = 95, seed: int = 0) -> dict:
    """The same of values an object."""
    d = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    found = mean_interval(d, weight, groups, interval, seed, signed=True)
    return {"difference": found["value"], "se": found["se"], "low": found["low"], "high": found["high"],
            "p": sign_test(d, weight, groups, seed), "units": found["units"]}


def holm(p: list) -> list:
    """Holm's p-values of several comparisons."""
    out, last = list(p), 0.0
    for place, (v, k) in enumerate(sorted((v, k) for k, v in enumerate(p))):
        last = max(last, min(1.0, v * (len(p) - place)))
        out[k] = last
    return out
