"""What to measure next: inputs whose outputs would shrink the variance of predictions most.

Ridge with kernel k and ridge term c has the posterior covariance C = K_pp - K_pt (K_tt + c I)^-1 K_tp over a pool p of inputs
without outputs; the weights W_p = K_pt (K_tt + c I)^-1 come from the model. Knowing the output of pool input q takes
sum_z C_zq^2 / (C_qq + c) off the total variance; the best q is taken, C is updated by its rank-1 term, and so on for a
batch. c comes from the weights themselves, K_st - W_s K_tt = c W_s of some training inputs s, whatever unit the
model's lambda has.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._data import as_data
from .._kernel import gram_matrix
from .problem import inputs_of


def ridge_term(model: Any, x: Any, kernel: str, most: int = 20) -> float:
    """The number that the model adds to the diagonal of its Gram matrix."""
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), most)).astype(int))
    w = model.predict(x[rows], {"decode": "none"}, weights=True).weights()
    k = gram_matrix(kernel, x)
    return max(float(np.sum((k[rows] - w @ k) * w) / max(np.sum(w * w), 1e-300)), 1e-12 * float(np.diag(k).mean()))


def next_inputs(model: Any, pool: Any, count: int = 10, x: Any = None, most: int = 3000, seed: int = 0) -> dict:
    """Which inputs without outputs to measure next.

    Parameters
    ----------
    model : Model or estimator
        Ridge of full rank.
    pool : objects
        Inputs without outputs.
    count : int
        How many, as one batch.
    x : objects, optional
        The training inputs, where the model does not keep them.
    most, seed : int
        A larger pool is judged on a random part of this size.

    Returns
    -------
    dict
        ``chosen`` (rows of the pool, the best first), ``variance`` (the mean over the pool before, and after each).
    """
    model, pool = getattr(model, "model_", model), as_data(pool)
    about = model.info
    if about["method"] != "ridge":
        raise ValueError(f"the model's method is {about['method']}, expected ridge: it has variances in closed form")
    if not 1 <= count <= len(pool):
        raise ValueError(f"count is {count}, expected 1 to {len(pool)}, the size of the pool")
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(pool), min(len(pool), max(most, count)), replace=False))
    x, kernel = (inputs_of(model) if x is None else as_data(x)), about["kernels"]["x"]
    some = pool[rows]
    w = model.predict(some, {"decode": "none"}, weights=True).weights()
    if w is None or w.shape[1] != len(x):
        raise ValueError("the model gives no weights over its training inputs: give one of full rank")
    c = ridge_term(model, x, kernel)
    cov = gram_matrix(kernel, some) - w @ gram_matrix(kernel, x, some)
    cov = (cov + cov.T) / 2
    chosen, left, variance = [], np.ones(len(rows), dtype=bool), [float(np.diag(cov).mean())]
    for _ in range(count):
        gain = np.where(left, (cov ** 2).sum(axis=0) / (np.maximum(np.diag(cov), 0) + c), -np.inf)
        q = int(gain.argmax())
        chosen.append(int(rows[q]))
        left[q] = False
        cov = cov - np.outer(cov[:, q], cov[q]) / (max(cov[q, q], 0) + c)
        variance.append(float(np.diag(cov).mean()))
    return {"chosen": chosen, "variance": variance, "ridge_term": c}
