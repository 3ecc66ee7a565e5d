"""Rows that lie on the processes of a job under mpi4py: a fit of low rank on each, then one model of all."""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Optional

import numpy as np

from .._model import Model
from ._dask import _SAMPLE, _part, _settings, adopt


def _agree(comm: Any, error: Optional[Exception]) -> None:
    """Raises on all processes where one has failed: its own error there, a word of it elsewhere."""
    for rank, text in enumerate(comm.allgather(None if error is None else str(error))):
        if error is not None:
            raise error
        if text is not None:
            raise RuntimeError(f"process {rank}: {text}")


def _rows(X: Any, y: Any) -> tuple:
    X, y = (np.ascontiguousarray(values, dtype=np.float64) for values in (X, y))
    if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y):
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected as many rows of "
                         "numbers")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError("X or y has a value that is not finite")
    return X, y


def fit_shard(estimator: Any, X: Any, y: Any, comm: Any = None) -> Any:
    """What `fit_shard` of an estimator does."""
    if comm is None:
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
    error, part = None, None
    try:
        X, y = _rows(X, y)
    except Exception as found:  # whatever it is, the others must hear of it
        error = found
    _agree(comm, error)
    shapes = comm.allgather((len(X), X.shape[1:], y.shape[1:]))
    if any(shape[1:] != shapes[0][1:] for shape in shapes):
        raise ValueError("rows of X and y on the processes have lengths "
                         f"{[shape[1:] for shape in shapes]}; expected the same on all")
    sizes = [shape[0] for shape in shapes]
    if sum(sizes) == 0:
        raise ValueError("no process has a row")
    first = sum(sizes[:comm.Get_rank()])
    chosen = np.unique(np.linspace(0, sum(sizes) - 1, min(sum(sizes), _SAMPLE)).astype(np.int64))
    own = chosen[(chosen >= first) & (chosen < first + len(X))] - first
    sample = np.vstack(comm.allgather(X[own]))
    context = estimator._context()
    try:
        with ExitStack() as stack:
            basis_values, values = _settings(estimator, estimator._options(stack),
                                             "rows of several processes")
            basis = Model.basis(sample, basis_values, context)
            if len(X):
                part = _part(basis, X, y, None, values,
                             {"threads": 1, "memory": estimator.memory})
    except Exception as found:
        error = found
    _agree(comm, error)
    parts = [model for model in comm.allgather(part) if model is not None]
    return adopt(estimator, Model.merge(parts, context=context), X.shape[1], y.ndim == 1)
