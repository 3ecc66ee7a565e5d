"""Training pairs that come and go."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._data import Data, is_vectors, name_columns
from .._library import kernel_has
from ._shared import as_sequence, join, take


class UpdateMixin:
    """`partial_fit` and `remove`."""

    _given: Optional[tuple] = None  # pairs and weights, where a kernel is a function

    def _update(self, **change: Any) -> Any:
        self.model_, self.update_ = self._fitted().update(
            **change, context=self._context())
        self._left = None
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Adds training pairs: what `fit` on all pairs gives, to rounding.

        The first call is `fit`. Kernels, `lam` and all that was chosen stay those of that
        call. Ridge with the operator identity changes its Cholesky factor, low rank with
        ``keep_moments=True`` adds moments; all others fit anew, and so do kernels that are
        functions. ``update_`` says which, and how far rounding has added up.

        Parameters
        ----------
        X, y : objects
            New pairs, of the kinds that were learned from.
        sample_weight : float or array, optional
            How much each new pair counts; one of weight 0 does not come.

        Returns
        -------
        self
        """
        if not hasattr(self, "model_"):
            return (self.fit(X, y) if sample_weight is None
                    else self.fit(X, y, sample_weight=sample_weight))
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight is for fit: with every new pair the weights of "
                             "all would change")
        names = None
        if is_vectors(y) and not callable(self.ky) and not hasattr(y, "tocsr") and (
                self._kind() != "labels"):
            names = getattr(y, "columns", None)
            y = np.asarray(y, dtype=np.float64)
        weights = None
        if sample_weight is not None:
            y = as_sequence(y) if not isinstance(y, Data) else y
            weights = np.asarray(sample_weight, np.float64)
            if weights.shape not in ((), (len(y),)):
                raise ValueError(f"sample_weight.shape == {weights.shape}, expected "
                                 f"({len(y)},)!")
            weights = np.ascontiguousarray(np.broadcast_to(weights, len(y)))
        if weights is not None and (weights < 0).any():
            raise ValueError("sample_weight has a negative number")
        if weights is not None and len(weights) and (weights == 0).all():  # no such pairs
            self._inputs(X, reset=False)
            self.update_ = {"how": "none", "why": "all weights are 0", "drift": 0.0,
                            "added": 0, "removed": 0}
            return self
        if self._is_function():
            if weights is not None and (weights == 0).any():
                some = np.flatnonzero(weights > 0)
                X, y = take(as_sequence(X), some), take(as_sequence(y), some)
                weights = weights[some]
            return self._fit_again(X, y, weights)
        more = self._y_objects is not None and self._y_objects + list(y)
        outputs = name_columns(self._outputs(y), names)
        inputs = self._inputs(X, reset=False)
        if weights is not None:
            outputs = outputs.weigh(weights)
            more = more and self._y_objects + take(list(y), np.flatnonzero(weights > 0))
        self._update(x=inputs, y=outputs)
        self._y_objects = more if more else self._y_objects
        return self

    def remove(self, rows: Any, X: Any = None) -> Any:
        """Takes training pairs out: what `fit` without them gives, to rounding.

        Parameters
        ----------
        rows : array of int
            Training pairs, counted from 0 in the order of `fit` and `partial_fit`, or a
            mask of them. Pairs of weight 0 never were in the model and have no number, and neither have
            those that `calibration` held back: the others are counted without them.
            After a `remove` those that stay are counted anew.
        X : objects, optional
            Their inputs, for models of low rank with kept moments, which hold none. Others
            than those that were learned from are refused.

        Returns
        -------
        self
        """
        if np.asarray(rows).dtype == bool and np.shape(rows) == (len(self._fitted()),):
            rows = np.flatnonzero(rows)
        gone = set(np.asarray(rows).ravel().tolist())
        if hasattr(self, "model_") and self._is_function():
            return self._fit_again(gone=rows)
        self._update(remove=rows,
                     removed_x=None if X is None else self._inputs(X, reset=False))
        if self._y_objects is not None:
            self._y_objects = [y for i, y in enumerate(self._y_objects) if i not in gone]
        return self

    # ---- kernels that are functions -----------------------------------------------------

    def _is_function(self) -> bool:
        return callable(self.kx) or callable(self.ky)

    def _that_count(self, X: Any, y: Any, weights: Any) -> tuple:
        """Pairs whose weight is not 0, where a function makes a Gram matrix of them."""
        if not self._is_function() or weights is None or y is None or any(
                kernel_has(k, "GIVEN") for k in (self.kx, self.ky)):
            return X, y, weights
        X, y = as_sequence(X), as_sequence(y)
        values = np.asarray(weights, np.float64)
        if values.shape != (len(y),) or not (values == 0).any() or not (values > 0).any():
            return X, y, weights
        some = np.flatnonzero(values != 0)  # of others than numbers above 0 it is told later
        more = np.arange(len(y), len(X))  # inputs without an output
        return take(X, np.concatenate([some, more])), take(y, some), values[some]

    def _keep_given(self, X: Any, y: Any, weights: Any) -> None:
        """The model has values of the functions alone: pairs are kept beside it."""
        self._given = ((as_sequence(X), as_sequence(y), weights) if self._is_function()
                       else None)

    def _fit_again(self, X: Any = None, y: Any = None, weights: Any = None,
                   gone: Any = ()) -> Any:
        """A new fit on the changed pairs with all that was chosen."""
        if self._given is None:
            raise ValueError("a kernel is a function, and the pairs of the fit are not at "
                             "hand: fit anew")
        xs, ys, old = self._given
        n, rows = len(ys), np.asarray(gone)
        if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n
                          or len(np.unique(rows)) < rows.size):
            raise ValueError(f"rows to remove are {rows.tolist()}, expected different ones "
                             f"of the {n} training pairs, counted from 0")
        stay = np.setdiff1d(np.arange(n), rows.astype(np.int64).ravel())
        added = 0 if y is None else len(as_sequence(y))
        if old is not None or weights is not None:
            ones = [np.ones(k) if v is None else np.broadcast_to(v, k)
                    for v, k in ((old, n), (weights, added))]
            weights = np.concatenate([ones[0][stay], ones[1]])
        if rows.size:
            xs, ys = take(xs, stay), take(ys, stay)
        if y is not None:
            xs, ys = join(xs, as_sequence(X)), join(ys, as_sequence(y))
        before = dict(self.__dict__)
        try:
            self._learn(xs, ys, weights, again=True)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.update_ = {"how": "refit", "why": "a kernel is a function", "drift": 0.0,
                        "added": added, "removed": int(rows.size)}
        return self
