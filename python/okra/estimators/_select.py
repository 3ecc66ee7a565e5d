"""Selection over grids, in closed form where there is one."""
from __future__ import annotations

import ctypes as c
import json
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .._data import as_data
from .._library import Context, Handle, check, lib, options, structs
from .._model import Model
from ._base import OutputKernelEstimator
from ._regressors import Kernel
from ._shared import is_linear


def _grid(value: Any) -> Any:
    """A list or array of values as the library writes grids."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return "{" + ",".join(v if isinstance(v, str) else repr(float(v))
                              for v in value) + "}"
    return value


@dataclass(eq=False, repr=False)
class IOKRCV(OutputKernelEstimator):
    """Output kernel regression whose kernels and options are selected.

    Any number may be a grid: ``"{a,b,c}"``, ``"lo..hi"`` (ten values, evenly spaced in
    their logarithms) or ``"lo..hi:steps"``, in kernels and in options; options take lists
    as well. Leave-one-out of ridge models comes from one decomposition for all values of
    `lam`.

    Parameters
    ----------
    kx, ky : str, default="linear"
        Kernels of inputs and outputs, with grids.
    lam : float, str or sequence, default="1e-4..1e1"
        Regularisation.
    method : str, default="ridge"
        Any method of the library.
    operator : str, optional
        As in `IOKR`.
    options : dict, optional
        Other options of the method by name, with grids.
    cv : str, default="loo"
        ``"loo"``, ``"gcv"``, ``"kfold:K"``, ``"nested:K,INNER"``.
    metric : str, default="feature-loss"
        What is measured of left-out pairs: the distance in feature space, or a metric of
        decoded objects.
    budget, refine, repeats : int, optional
        Cells drawn at random; evaluations around the best cell; draws of the folds.
    decode : str, optional
        The decoder.
    decode_options : dict, optional
        Options of the decoder by name.
    n_jobs, random_state, memory, verbose, engine
        As in `IOKR`.

    Attributes
    ----------
    model_ : okra.Model
        The model of the best cell, fitted on all pairs.
    best_params_ : dict
        Options of the best cell, as texts.
    best_score_ : float
        Its mean, with the sign changed if the metric is a loss.
    cv_results_ : dict
        ``params``, ``mean_test_score`` (sign as for `best_score_`) and ``std_error`` of
        every cell.
    selection_ : dict
        The whole result, as ``okra select --json`` prints it.
    """

    _least_pairs = 2
    _no_options = OutputKernelEstimator._no_options | {
        "method", "options", "cv", "metric", "budget", "refine", "repeats"}

    kx: Kernel = "linear"
    ky: Kernel = "linear"
    lam: Any = "1e-4..1e1"
    method: str = "ridge"
    operator: Optional[str] = None
    options: Optional[dict] = None
    cv: str = "loo"
    metric: str = "feature-loss"
    budget: Optional[int] = None
    refine: Optional[int] = None
    repeats: Optional[int] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _method_name(self) -> str:
        return self.method

    def _select_options(self) -> dict:
        values = {"kx": self.kx, "ky": self.ky, "method": self.method,
                  "lambda": _grid(self.lam), "operator": self.operator, "cv": self.cv,
                  "metric": self.metric, "budget": self.budget, "refine": self.refine,
                  "repeats": self.repeats, "decode": self._select_decoder()}
        for given in (self.options, self.decode_options):
            for name, value in (given or {}).items():
                values[name.replace("_", "-")] = _grid(value)
        return {name: "precomputed" if callable(value) else value
                for name, value in values.items()}

    def _select_decoder(self) -> Optional[str]:
        if self.metric == "feature-loss":
            return None
        return self.decode or ("explicit" if is_linear(self.ky) else None)

    def fit(self, X: Any, y: Any = None, candidates: Any = None, groups: Any = None,
            folds: Any = None) -> "IOKRCV":
        """Selects, then fits the best on all pairs.

        Parameters
        ----------
        X, y : objects
            Training pairs.
        candidates : objects, optional
            Outputs to decode to; the training outputs of each fold if not given.
        groups, folds : sequence of n labels, optional
            Pairs of one group are left out together; the fold of each pair.

        Returns
        -------
        self
        """
        from .._data import labels
        x, outputs = self._pairs(X, y)
        context = self._context()
        chosen = options(lib.okra_select_options, self._select_options())
        given = {"candidates": None if candidates is None else as_data(candidates),
                 "groups": None if groups is None else labels(groups),
                 "folds": None if folds is None else labels(folds)}
        request = structs["okra_select_request"](**{
            name: value.pointer for name, value in given.items() if value is not None})
        selection = context.make(lib.okra_select, lib.okra_selection_free, x.pointer,
                                 outputs.pointer, chosen.pointer, c.byref(request))
        self._report(selection)
        self._fit_best(selection, x, outputs, context)
        return self

    def _report(self, selection: Handle) -> None:
        p = selection.pointer
        self.selection_ = json.loads(lib.okra_selection_json(p).decode())
        loss = c.c_bool(True)
        if self.metric != "feature-loss":
            check(lib.okra_metric_is_loss(self.metric.encode(), c.byref(loss)))
        sign = -1.0 if loss.value else 1.0
        mean, error = c.c_double(), c.c_double()
        params, means, errors = [], [], []
        for cell in range(lib.okra_selection_count(p)):
            check(lib.okra_selection_cell(p, cell, c.byref(mean), c.byref(error)))
            means.append(sign * mean.value)
            errors.append(error.value)
            params.append({name: lib.okra_selection_value(p, cell, name.encode()).decode()
                           for name in self._select_options()
                           if lib.okra_selection_value(p, cell, name.encode())})
        best = lib.okra_selection_best(p)
        self.cv_results_ = {"params": params, "mean_test_score": np.array(means),
                            "std_error": np.array(errors)}
        self.best_params_, self.best_score_ = params[best], means[best]

    def _fit_best(self, selection: Handle, x: Any, outputs: Any, context: Context) -> None:
        out = c.c_void_p()
        check(lib.okra_selection_options(selection.pointer,
                                         lib.okra_selection_best(selection.pointer),
                                         c.byref(out), None))
        chosen = Handle(out.value, lib.okra_options_free)
        self.model_ = Model(context.make(lib.okra_fit, lib.okra_model_free, x.pointer,
                                         outputs.pointer, chosen.pointer))
        self._left = None

    def _options(self, stack: Any) -> dict:
        """Those of the model that was chosen, for leave-one-out."""
        written = self.model_.info["options"]
        presets = options(lib.okra_fit_options, {})
        return {name: text for name, text in written.items() if text !=
                (lib.okra_options_get(presets.pointer, name.encode()) or b"").decode()}
