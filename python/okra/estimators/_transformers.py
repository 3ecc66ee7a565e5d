"""Transformers: Gram matrices, and kernels that are learned."""
from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._data import Data, as_data, is_vectors
from .._kernel import gram_matrix
from .._library import constants, lib, make, structs
from .._objects import array_of
from ._shared import ContextMixin, TagsMixin, validate


class _Gram(ContextMixin, TagsMixin, TransformerMixin, BaseEstimator):
    """Objects to their kernel values against the training objects."""

    _pairwise_parameter = ""

    def _objects(self, X: Any, reset: bool) -> Any:
        if not is_vectors(X):
            return as_data(X)
        return validate(self, X, accept_sparse="csr", dtype=np.float64, order="C",
                         reset=reset)

    def _expression(self) -> str:
        raise NotImplementedError

    def transform(self, X: Any) -> np.ndarray:
        """Kernel values of new objects against the training objects.

        Parameters
        ----------
        X : objects

        Returns
        -------
        ndarray of shape (len(X), n)
        """
        check_is_fitted(self, "X_fit_")
        return gram_matrix(self._expression(), self._objects(X, reset=False),
                           self.X_fit_, self._context())

    @property
    def _n_features_out(self) -> int:
        return self.X_fit_.shape[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns: the class and the number of the training object."""
        check_is_fitted(self, "X_fit_")
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)],
                          dtype=object)

    def _keep(self, X: Any) -> None:
        self.X_fit_ = X if isinstance(X, Data) or hasattr(X, "tocsr") else np.array(X)


@dataclass(eq=False, repr=False)
class KernelGram(_Gram):
    """Objects to the rows of their Gram matrix against the training objects.

    Parameters
    ----------
    kernel : str, default="linear"
        A kernel expression.
    n_jobs, random_state, memory, verbose, engine
        As in `IOKR`.

    Attributes
    ----------
    X_fit_ : array or okra.Data
        The training objects.

    Examples
    --------
    >>> from okra import KernelGram
    >>> KernelGram("spectrum(k=2)").fit_transform(["abab", "ab"]).round(1).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    kernel: str = "linear"
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def fit(self, X: Any, y: Any = None) -> "KernelGram":
        """Keeps the training objects.

        Parameters
        ----------
        X : objects
        y : ignored

        Returns
        -------
        self
        """
        self._keep(self._objects(X, reset=True))
        return self

    def _expression(self) -> str:
        return self.kernel


@dataclass(eq=False, repr=False)
class TwinKernelLearner(_Gram):
    """Kernels of inputs and outputs learned together, so that the two depend most on each
    other; `transform` gives kernel values of the learned input kernel.

    Parameters
    ----------
    kx, ky : str or list of str, default="rbf(sigma=1)"
        Base kernels of the two sides, one to eight each.
    degree_x, degree_y : int, default=3
        Degrees of the polynomials.
    unbiased : bool, default=False
        Whether the unbiased estimator of dependence is used.
    low_rank : str, optional
        Low rank of the base kernels while learning, such as ``"chol(rank=500)"``: no n x n
        matrix is stored.
    n_jobs, random_state, memory, verbose, engine
        As in `IOKR`.

    Attributes
    ----------
    kx_, ky_ : str
        The learned kernels, to be used in any estimator.
    coef_x_, coef_y_ : ndarray
        Coefficients of the terms.
    hsic_ : ndarray of shape (terms of x, terms of y)
        Dependence of every pair of terms.
    before_, after_ : float
        Dependence of the best pair of base kernels, and of the learned ones.
    """

    kx: Union[str, Sequence[str]] = "rbf(sigma=1)"
    ky: Union[str, Sequence[str]] = "rbf(sigma=1)"
    degree_x: int = 3
    degree_y: int = 3
    unbiased: bool = False
    low_rank: Optional[str] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _base(self, kernels: Any, degree: int) -> tuple:
        texts = [kernels] if isinstance(kernels, str) else list(kernels)
        parsed = [make(lib.okra_kernel_parse, lib.okra_kernel_free, text)
                  for text in texts]
        array = (c.c_void_p * len(parsed))(*[k.pointer for k in parsed])
        return structs["okra_twin_base"](
            kernels=c.cast(array, c.c_void_p), count=len(parsed), degree=degree,
            low_rank=self.low_rank), (parsed, array)

    def fit(self, X: Any, y: Any = None) -> "TwinKernelLearner":
        """Learns the two kernels from pairs.

        Parameters
        ----------
        X, y : objects

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("TwinKernelLearner requires y to be passed, but the target y "
                             "is None")
        if is_vectors(X) and is_vectors(y):
            X, y = validate(self, X, y, accept_sparse="csr", dtype=np.float64, order="C",
                             multi_output=True, y_numeric=True, ensure_min_samples=2)
        else:
            X = self._objects(X, reset=True)
        base_x, keep_x = self._base(self.kx, self.degree_x)
        base_y, keep_y = self._base(self.ky, self.degree_y)
        x, outputs = as_data(X), as_data(y)
        twin = self._context().make(lib.okra_twin_learn, lib.okra_twin_free, x.pointer,
                                    outputs.pointer, c.byref(base_x), c.byref(base_y),
                                    bool(self.unbiased), keep=(keep_x, keep_y))
        sides = constants["OKRA_SIDE_X"], constants["OKRA_SIDE_Y"]
        self.kx_, self.ky_ = (lib.okra_twin_kernel(twin.pointer, side).decode()
                              for side in sides)
        count, rows, cols = c.c_int64(), c.c_int64(), c.c_int64()
        self.coef_x_, self.coef_y_ = (
            array_of(lib.okra_twin_coefficients(twin.pointer, side, c.byref(count)),
                   (count.value,)).copy() for side in sides)
        values = lib.okra_twin_matrix(twin.pointer, c.byref(rows), c.byref(cols))
        self.hsic_ = array_of(values, (rows.value, cols.value)).copy()
        self.before_ = lib.okra_twin_before(twin.pointer)
        self.after_ = lib.okra_twin_after(twin.pointer)
        self._keep(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """Learns, and gives the Gram matrix of the inputs under the learned kernel."""
        return self.fit(X, y).transform(X)

    def _expression(self) -> str:
        return self.kx_

    def _own_tags(self) -> dict:
        return {"requires_y": True, "multioutput": True}
