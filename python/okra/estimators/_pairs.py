"""A number for each pair of two objects."""
from __future__ import annotations

import ctypes as c
import json
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._data import as_data, gram
from .._library import check, constants, lib, structs
from ._shared import ContextMixin


@dataclass(eq=False, repr=False)
class PairRegressor(ContextMixin, BaseEstimator):
    """Kernel ridge regression over pairs of a row object and a column object.

    Parameters
    ----------
    kernel : str, default="auto"
        ``"E1 * E2"``, a kernel of rows times one of columns, or a sum of such products
        with numbers; ``auto`` in place of either: by the kind of objects. ``precomputed``:
        that side is a Gram matrix.
    lam : float or "auto", default="auto"
        Regularisation; ``"auto"``: by left-out error in the setting.
    own : float or "auto", default="auto"
        Added to k(x, x) of each training object, for what it does not share with others.
    setting : {"pair", "row", "column", "both"}, default="pair"
        What will be new when predictions are made.
    calibration : float, default=0.0
        Share that is held back for `interval`.
    n_jobs, random_state, memory, verbose, engine
        As in `IOKR`.

    Attributes
    ----------
    scores_ : dict
        Mean squared error and concordance of left-out predictions, by setting.
    about_ : dict
        Kernels, lambda and the rest of what was fitted.
    """

    kernel: str = "auto"
    lam: Any = "auto"
    own: Any = "auto"
    setting: str = "pair"
    calibration: float = 0.0
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _side(self, objects: Any, given: bool) -> Any:
        return gram(objects) if given else as_data(objects)

    def fit(self, rows: Any, columns: Any, Y: Any, sample_weight: Any = None) -> "PairRegressor":
        """Learns from the values Y (rows x columns), NaN where none is known."""
        sides = [part.strip() == "precomputed" for part in self.kernel.split("*")]
        self._given = sides if len(sides) == 2 else [False, False]
        data = [self._side(x, g) for x, g in zip((rows, columns), self._given)]
        values = np.ascontiguousarray(Y, dtype=np.float64)
        weights = None if sample_weight is None else np.ascontiguousarray(
            sample_weight, dtype=np.float64)
        shape = (len(data[0]), len(data[1]))
        for name, array in (("Y", values), ("sample_weight", weights)):
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}, expected {shape}: rows x columns")
        settings = ("pair", "row", "column", "both")
        if self.setting not in settings:
            raise ValueError(f"setting is {self.setting!r}, expected one of {settings}")
        request = structs["okra_pairs_request"](
            rows=data[0].pointer, columns=data[1].pointer, values=values.ctypes.data,
            weights=None if weights is None else weights.ctypes.data,
            kernel=self.kernel.encode(), calibration=float(self.calibration),
            setting=constants["OKRA_PAIR_" + self.setting.upper()])
        setattr(request, "lambda", 0.0 if self.lam == "auto" else float(self.lam))
        request.own = -1.0 if self.own == "auto" else float(self.own)
        self._handle = self._context().make(lib.okra_pairs_fit, lib.okra_pairs_free,
                                            c.byref(request))
        return self._describe()

    def _describe(self) -> "PairRegressor":
        self.about_ = json.loads(lib.okra_pairs_json(self._handle.pointer).decode())
        self.scores_ = {line["setting"]: {"mse": line["mse"], "concordance": line["concordance"],
                                          "how": line["how"]} for line in self.about_["scores"]}
        return self

    @classmethod
    def load(cls, path: Any, **parameters: Any) -> "PairRegressor":
        """A regressor from a file of ``okra fit --rows --columns`` or of `save`, which must stay in place."""
        self = cls(**parameters)
        self._handle = self._context().make(lib.okra_pairs_load, lib.okra_pairs_free, path)
        self._describe()
        kernels = self.about_["kernels"]
        self.kernel = " + ".join(f"{scale!r} * ({rows}) * ({columns})" for scale, rows, columns in kernels)
        self.lam, self.own, self.setting = self.about_["lambda"], max(self.about_["own"]), self.about_["setting"]
        self._given = [all(term[side] == "precomputed" for term in kernels) for side in (1, 2)]
        return self

    def predict(self, rows: Any = None, columns: Any = None) -> np.ndarray:
        """Predictions, rows x columns; None: the objects of the fit."""
        check_is_fitted(self, "_handle")
        sides = [None if x is None else self._side(x, g)
                 for x, g in zip((rows, columns), self._given)]
        n, m = c.c_int64(), c.c_int64()
        lib.okra_pairs_size(self._handle.pointer, c.byref(n), c.byref(m))
        out = np.empty([size.value if x is None else len(x) for size, x in zip((n, m), sides)])
        self._context().call(lib.okra_pairs_predict, self._handle.pointer,
                             *(x and x.pointer for x in sides), out.ctypes.data)
        return out

    def score(self, rows: Any, columns: Any, Y: Any) -> float:
        """The coefficient of determination over the known values of Y."""
        Y = np.asarray(Y, dtype=np.float64)
        known = ~np.isnan(Y)
        y, f = Y[known], self.predict(rows, columns)[known]
        return 1 - float(((y - f) ** 2).sum() / ((y - y.mean()) ** 2).sum())

    def interval(self, alpha: float = 0.1) -> float:
        """Half the width of intervals that hold a new value with probability 1 - alpha."""
        check_is_fitted(self, "_handle")
        width = c.c_double()
        check(lib.okra_pairs_interval(self._handle.pointer, float(alpha), c.byref(width)))
        return width.value

    def save(self, path: Any) -> None:
        """Writes the file that ``okra predict`` reads."""
        check_is_fitted(self, "_handle")
        self._context().call(lib.okra_pairs_save, self._handle.pointer, path)
