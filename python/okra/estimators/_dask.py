"""Dask arrays and frames: a fit of low rank for each part, then one model of all."""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from .._data import as_data
from .._library import Context, kernel_has, lib
from .._model import Model

_SAMPLE = 10_000  # rows that the basis is chosen from


def is_dask(X: Any) -> bool:
    """Whether `X` is an array or frame that Dask computes."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "rechunk")
                                             or hasattr(X, "to_dask_array"))


def _array(X: Any) -> Any:
    """A Dask array whose parts are whole rows of known number."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.copy()
        X.compute_chunk_sizes()
    return X.rechunk({1: -1}) if X.ndim > 1 else X


def _settings(estimator: Any, values: dict, what: str = "Dask arrays") -> tuple:
    """Options of the basis and of the parts."""
    low = values.pop("low-rank-x", None) or values.pop("low-rank", None)
    if low is None:
        raise ValueError(f"{what} are fitted part by part, which needs low_rank_x, such as "
                         "'nystrom(rank=500)'")
    kx = values.pop("kx")
    if values.get("ky") == "auto":
        values["ky"] = "linear"
    for name, value in (("kx", kx), ("lam", values.get("lambda"))):
        if value == "auto" or kernel_has(value, "GIVEN") or callable(value):
            raise ValueError(f"{name} is {value!r}: for {what} give it as an "
                             "expression or number; parts must agree in it")
    return {"kx": kx, "low-rank-x": low}, {**values, "keep-moments": True}


def _part(basis: Model, X: Any, y: Any, weights: Any, values: dict, context: dict) -> Any:
    """The model of one part; None where all its weights are 0."""
    y = as_data(np.asarray(y, dtype=np.float64))
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if (weights == 0).all():
            return None
        y = y.weigh(weights)
    return Model.fit(np.ascontiguousarray(X, dtype=np.float64), y, values,
                     Context(**context), basis)


def _weights(sample_weight: Any, n: int) -> Any:
    """One number per row, in memory, or None."""
    if sample_weight is None:
        return None
    if is_dask(sample_weight):
        sample_weight = _array(sample_weight).compute()
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape not in ((), (n,)):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},)!")
    weights = np.broadcast_to(weights, n)
    if not (weights >= 0).all() or not weights.any():
        raise ValueError("sample_weight has a negative number, or nothing above 0")
    return weights


def adopt(estimator: Any, model: Model, width: int, flat: bool) -> Any:
    """The estimator with a model that was merged from parts of the data."""
    estimator.model_ = model
    estimator.n_features_in_ = width
    estimator._flat, estimator._y_objects = flat, None
    estimator._columns = estimator._series = estimator._left = estimator._dtype = None
    estimator._chosen, estimator.search_ = None, None
    return estimator


def fit_dask(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """What ``fit`` does with Dask arrays; parts are computed by Dask's scheduler."""
    import dask
    import dask.array as da
    X = _array(X)
    y = _array(y) if is_dask(y) else da.asarray(y)
    if X.ndim != 2 or y.ndim > 2 or X.shape[0] != y.shape[0]:
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected as many rows, "
                         "and rows of numbers")
    y = y.rechunk({0: X.chunks[0], **({1: -1} if y.ndim == 2 else {})})
    context = estimator._context()
    with ExitStack() as stack:
        basis_values, values = _settings(estimator, estimator._options(stack))
        weights = _weights(sample_weight, X.shape[0])
        rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)
                                          ).astype(np.int64))]
        basis = Model.basis(np.asarray(X[rows].compute(), dtype=np.float64), basis_values,
                            context)
        settings = {"threads": 1, "memory": estimator.memory}
        fit = dask.delayed(_part, pure=False)
        shared = dask.delayed(basis)
        ends = np.cumsum(X.chunks[0])
        shares = ([None] * len(ends) if weights is None else np.split(weights, ends[:-1]))
        blocks = zip(X.to_delayed().ravel(), y.to_delayed().reshape(len(ends), -1), shares,
                     X.chunks[0])
        parts = [part for part in dask.compute(
            *(fit(shared, a, b[0], w, values, settings) for a, b, w, size in blocks if size))
            if part is not None]
    return adopt(estimator, Model.merge(parts, context=context), X.shape[1], y.ndim == 1)


def predict_dask(estimator: Any, X: Any, candidates: Any) -> Any:
    """Predictions of a Dask array, part by part, when they are asked for."""
    X = _array(X)

    def part(block: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.predict(block, candidates))

    if estimator._flat:
        return X.map_blocks(part, dtype=np.float64, drop_axis=1)
    width = lib.okra_data_width(estimator.model_.outputs.pointer)
    return X.map_blocks(part, dtype=np.float64, chunks=(X.chunks[0], (width,)))
