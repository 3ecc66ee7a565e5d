"""Which part of an input decided, and which training pairs carried the answer.

An answer y has the score s(x, y) = <psi(y), f(x)> = sum_j w_j(x) l(y_j, y), linear in the kernel values k(x, x_i). Where
the kernel adds over parts, k(x, .) = sum_p k(p, .), so does the score: s(x, y) = sum_p s(p, y), each part an input by
itself. Parts are columns (others 0), letters (through the k-mers of the spectrum kernel, whose share is divided among
their letters), and peaks. Whether the parts add up to the score is tried, not assumed: where they do not, each part is left
out in turn, and `exact` is False. The first two answers are those of the least distance l(y, y) - 2 s(x, y).
"""
from __future__ import annotations

import re
from typing import Any, Optional

import numpy as np

from .._data import Data, as_data
from .._kernel import gram_matrix
from .._model import Model
from .problem import self_values


def _scores(model: Model, x: Data, values: np.ndarray) -> np.ndarray:
    """Scores of inputs: weights times what the training outputs say of the answers."""
    return model.predict(x, {"decode": "none"}, weights=True).weights() @ values


def _alone(x: Data, kernel: str) -> Optional[tuple]:
    """Every part as an input, which parts share it (part x input), and names of the parts."""
    if x.kind == "dense":
        v = np.asarray(x.objects, dtype=float).ravel()
        return as_data(np.diag(v)), np.eye(len(v)), x.columns or [f"column {j}" for j in range(len(v))]
    if x.kind == "strings":
        text = x.objects[0]
        k = re.search(r"spectrum\(k=(\d+)\)", kernel)
        size = int(k[1]) if k else 1
        if len(text) < size:
            return None
        pieces = [text[i:i + size] for i in range(len(text) - size + 1)]
        share = np.zeros((len(text), len(pieces)))
        for i in range(len(pieces)):
            share[i:i + size, i] = 1 / size
        return as_data(pieces), share, list(text)
    if x.kind == "spectra":
        return _peaks(x, lambda n: [[j] for j in range(n)])
    return None


def _peaks(x: Data, chosen: Any) -> Optional[tuple]:
    """Spectra of some peaks of one."""
    one = x.objects[0]
    peaks = np.asarray(one[0] if isinstance(one, tuple) else one, dtype=float)
    rest = one[1:] if isinstance(one, tuple) else None
    from .._data import spectra
    made = [peaks[np.array(rows, dtype=int)] for rows in chosen(len(peaks))]
    made = [(m, *rest) for m in made] if rest is not None else made
    return spectra(made), np.eye(len(peaks)), [f"m/z {p[0]:.4f}" for p in peaks]


def _without(x: Data) -> Optional[tuple]:
    """The input without each part, and names."""
    if x.kind == "dense":
        v = np.asarray(x.objects, dtype=float).ravel()
        return as_data(v * (1 - np.eye(len(v)))), x.columns or [f"column {j}" for j in range(len(v))]
    if x.kind == "strings":
        text = x.objects[0]
        return (as_data([text[:i] + text[i + 1:] for i in range(len(text))]), list(text)) if len(text) > 1 else None
    if x.kind == "spectra":
        made = _peaks(x, lambda n: [[k for k in range(n) if k != j] for j in range(n)])
        return (made[0], made[2]) if made and len(made[2]) > 1 else None
    return None


def explain(model: Any, x: Any, candidates: Any = None, top: int = 5) -> list:
    """Shares of parts in predictions and in the margin between the first two answers.

    Parameters
    ----------
    model : Model or estimator
    x : objects
    candidates : objects, optional
        The answers; the different training outputs if not given. Vectors under a linear kernel need none.
    top : int
        So many training pairs are named.

    Returns
    -------
    list of dict
        For each input ``parts`` (names), ``shares`` of the first answer (parts x output columns for vectors),
        ``margin`` (of 2 (s(x, first) - s(x, second)); None for vectors), ``exact``, ``answers`` and
        ``pairs``: training pairs with the largest weights.
    """
    model = getattr(model, "model_", model)
    x, about = as_data(x), model.info
    kx, ky = about["kernels"]["x"], about["kernels"]["y"]
    outputs, numbers = model.outputs, None
    vectors = outputs.kind == "dense" and ky == "linear" and candidates is None
    if vectors:
        values = np.asarray(outputs.objects, dtype=float).reshape(len(outputs), -1)
    else:
        numbers = outputs.distinct() if candidates is None else None
        answers = outputs[numbers] if candidates is None else as_data(candidates)
        values, own = gram_matrix(ky, outputs, answers), self_values(ky, answers)
    out = []
    for i in range(len(x)):
        one = x[[i]]
        w = model.predict(one, {"decode": "none"}, weights=True).weights()[0]
        want = w @ values
        if vectors:
            used, first = values, None
        else:
            first = np.argsort(own - 2 * want, kind="stable")[:2]
            used = np.c_[values[:, first[0]], 2 * (values[:, first[0]] - values[:, first[-1]])]
        shares, names, exact = _shares(model, one, kx, used, w @ used)
        heavy = np.argsort(-np.abs(w), kind="stable")[:top]
        told = {"parts": names, "shares": shares if vectors else shares[:, 0], "margin": None if vectors else shares[:, 1],
                "exact": exact, "score": w @ used if vectors else float((w @ used)[0]),
                "pairs": [{"pair": int(j), "weight": float(w[j])} for j in heavy]}
        if not vectors:
            told["answers"] = [int(numbers[k]) if numbers is not None else int(k) for k in first]
        out.append(told)
    return out


def _shares(model: Model, one: Data, kernel: str, used: np.ndarray, total: np.ndarray) -> tuple:
    alone = _alone(one, kernel)
    if alone is not None:
        shares = alone[1] @ _scores(model, alone[0], used)
        if np.abs(shares.sum(axis=0) - total).max() <= 1e-8 * max(np.abs(shares).sum(), np.abs(total).max(), 1e-300):
            return shares, alone[2], True
    left = _without(one)
    if left is None:
        raise ValueError(f"inputs are {one.kind}: parts are known of vectors, strings of two letters or more, and spectra")
    return total[None, :] - _scores(model, left[0], used), left[1], False
