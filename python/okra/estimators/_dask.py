"""Dask arrays and frames: a fit of low rank for each part, then one model of all."""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from .._library import Context, lib
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


def _settings(estimator: Any, values: dict) -> tuple:
    """Options of the basis and of the parts."""
    low = values.pop("low-rank-x", None) or values.pop("low-rank", None)
    if low is None:
        raise ValueError("Dask arrays are fitted part by part, which needs low_rank_x, such "
                         "as 'nystrom(rank=500)'")
    kx = values.pop("kx")
    if values.get("ky") == "auto":
        values["ky"] = "linear"
    for name, value in (("kx", kx), ("lam", values.get("lambda"))):
        if value in ("auto", "precomputed") or callable(value):
            raise ValueError(f"{name} is {value!r}: for Dask arrays give it as an "
                             "expression or number; parts must agree in it")
    return {"kx": kx, "low-rank-x": low}, {**values, "keep-moments": True}


def _part(basis: Model, X: Any, y: Any, values: dict, context: dict) -> Model:
    y = np.asarray(y, dtype=np.float64)
    return Model.fit(np.ascontiguousarray(X, dtype=np.float64), y, values,
                     Context(**context), basis)


def fit_dask(estimator: Any, X: Any, y: Any) -> Any:
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
        rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)
                                     ).astype(np.int64))
        basis = Model.basis(np.asarray(X[rows].compute(), dtype=np.float64), basis_values,
                            context)
        settings = {"threads": 1, "memory": estimator.memory}
        fit = dask.delayed(_part, pure=False)
        shared = dask.delayed(basis)
        blocks = zip(X.to_delayed().ravel(), y.to_delayed().reshape(len(X.chunks[0]), -1))
        parts = dask.compute(*(fit(shared, a, b[0], values, settings)
                               for (a, b), size in zip(blocks, X.chunks[0]) if size > 0))
    estimator.model_ = Model.merge(parts, context=context)
    estimator.n_features_in_ = X.shape[1]
    estimator._flat, estimator._y_objects = y.ndim == 1, None
    estimator._columns = estimator._series = estimator._left = estimator._dtype = None
    estimator._chosen, estimator.search_ = None, None
    return estimator


def predict_dask(estimator: Any, X: Any, candidates: Any) -> Any:
    """Predictions of a Dask array, part by part, when they are asked for."""
    X = _array(X)

    def part(block: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.predict(block, candidates))

    if estimator._flat:
        return X.map_blocks(part, dtype=np.float64, drop_axis=1)
    width = lib.okra_data_width(estimator.model_.outputs.pointer)
    return X.map_blocks(part, dtype=np.float64, chunks=(X.chunks[0], (width,)))
