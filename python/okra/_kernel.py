"""Kernels and metrics as functions."""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np

from ._data import as_data
from ._library import Context, lib, make


def kernel_text(expression: str) -> str:
    """A kernel expression in canonical form, every parameter written.

    Parameters
    ----------
    expression : str

    Returns
    -------
    str
    """
    kernel = make(lib.okra_kernel_parse, lib.okra_kernel_free, expression)
    return lib.okra_kernel_text(kernel.pointer).decode()


def gram_matrix(kernel: str, x: Any, y: Any = None,
                context: Optional[Context] = None) -> np.ndarray:
    """The Gram matrix of a kernel.

    Parameters
    ----------
    kernel : str
        A kernel expression.
    x : objects
        Those of the rows.
    y : objects, optional
        Those of the columns, whose statistics ``center`` uses; those of `x` if not given.

    Returns
    -------
    ndarray of shape (len(x), len(y))
    """
    parsed = make(lib.okra_kernel_parse, lib.okra_kernel_free, kernel)
    x = as_data(x)
    y = None if y is None else as_data(y)
    rows, columns = len(x), len(x if y is None else y)
    context = context or Context()
    context.ask(rows, columns, "the Gram matrix")
    out = np.empty((rows, columns))
    context.call(lib.okra_gram, parsed.pointer, x.pointer, None if y is None else y.pointer,
                 out.ctypes.data, columns)
    return out


def vector_distances(kernel: str, x: Any, y: Any) -> Optional[np.ndarray]:
    """|a - b|^2 of all pairs where this is what the kernel's values say, or None: k(a, a) + k(b, b) - 2 k(a, b)
    has no digits left of vectors far from 0."""
    if kernel.strip() != "linear" or not x.kind == y.kind == "dense":
        return None
    from scipy.spatial.distance import cdist
    Context().ask(len(x), len(y), "the matrix of distances")
    return cdist(x.objects, y.objects, "sqeuclidean")


def metric(spec: str, truth: Any, predicted: Any, sample_weight: Any = None) -> float:
    """How far predictions are from the truth, as ``okra score`` gives it.

    Parameters
    ----------
    spec : str
        ``"mse"``, ``"rbf-loss:sigma=12"``, ...
    truth, predicted : objects
    sample_weight : array of n numbers, optional
        How much each pair counts.

    Returns
    -------
    float
    """
    truth, predicted = as_data(truth), as_data(predicted)
    if sample_weight is not None:
        truth = truth.weigh(sample_weight)
    value = c.c_double()
    Context().call(lib.okra_score, spec, truth.pointer, predicted.pointer,
                   c.byref(value), None, None)
    return value.value


def metric_is_loss(spec: str) -> bool:
    """Whether a smaller value of this metric is better."""
    loss = c.c_bool()
    from ._library import check
    check(lib.okra_metric_is_loss(spec, c.byref(loss)))
    return loss.value
