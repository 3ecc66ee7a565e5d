"""Selection over grids, in closed form where there is one."""
from __future__ import annotations

import ctypes as c
import json
import numbers
from dataclasses import dataclass, fields
from typing import Any, Optional

import numpy as np
from sklearn.utils.validation import _num_samples

from .._data import as_data
from .._library import (Context, Handle, check, decoder_has, lib, method_options, metric_has,
                        option_types, options, structs)
from .._model import Model
from ._base import OutputKernelEstimator
from ._regressors import IOKR
from ._shared import number


def _grid(value: Any) -> Any:
    """A list or array of values as the library writes grids: numbers, or kernels."""
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
    kx, ky : str or list of str, default="auto"
        Kernels of inputs and outputs, with grids; a list of kernels, or ``"{A,B}"``, tries
        each. ``"auto"``: a few that fit the kind of objects.
    lam : float, str or sequence, default="auto"
        Regularisation; ``"auto"``: a list about the scale of the kernel, refined, of methods
        that have it.
    method : str, default="ridge"
        Any method of the library.
    operator : str, optional
        As in `IOKR`.
    options : dict, optional
        Other options of the method by name, with grids.
    cv : str, int, splitter or iterable, optional
        ``"loo"``, ``"gcv"``, ``"kfold:K"``, ``"nested:K,INNER"``; a number of folds; a
        splitter of scikit-learn or a list of (train, test) that leaves out every pair
        once. If not given: leave-one-out. Where `kx` or `lam` is ``"auto"``: five folds if
        that has no closed form, ten of groups of equal inputs if pairs are copies.
    metric : str, optional
        What is measured of left-out pairs: ``"feature-loss"``, the distance in feature
        space; ``"relative-loss"``, the same with each output over its variance (ridge on
        vectors); or a metric of decoded objects. If not given: feature-loss. Where `kx` or
        `lam` is ``"auto"``: relative-loss of several outputs that are numbers; of methods
        without leave-one-out in closed form a metric by the kind of outputs.
    budget, refine, repeats : int, optional
        Cells drawn at random; evaluations around the best cell (if not given: of lists that
        ``"auto"`` made); draws of the folds.
    per_output : bool or sequence of d labels, default=False
        A value of `lam` for each coordinate of vector outputs (method ridge), or for each
        group of coordinates: one label per coordinate.
    class_weight : "balanced", optional
        ``"balanced"``: every class counts the same.
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
        Parameters of the best cell: ``IOKR(**best_params_)`` is that model (of method
        ridge). Options that `IOKR` has no parameter for are in ``options``.
    best_score_ : float
        Its mean, with the sign changed if the metric is a loss.
    cv_results_ : dict
        ``params``, ``mean_test_score`` (sign as for `best_score_`) and ``std_error`` of
        every cell.
    output_lam_ : ndarray of shape (d,) or None
        With `per_output`: the value of each coordinate.
    selection_ : dict
        The whole result, as ``okra select --json`` prints it.
    """

    _least_pairs = 2
    _no_options = OutputKernelEstimator._no_options | {
        "method", "options", "cv", "metric", "budget", "refine", "repeats", "class_weight",
        "per_output"}

    kx: Any = "auto"
    ky: Any = "auto"
    lam: Any = "auto"
    method: str = "ridge"
    operator: Optional[str] = None
    options: Optional[dict] = None
    cv: Any = None
    metric: Optional[str] = None
    budget: Optional[int] = None
    refine: Optional[int] = None
    repeats: Optional[int] = None
    per_output: Any = False
    class_weight: Optional[str] = None
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
        cv = self.cv if isinstance(self.cv, str) else None
        values = {"kx": _grid(self.kx), "ky": _grid(self.ky), "method": self.method,
                  "lambda": self._select_lambda(), "operator": self.operator, "cv": cv,
                  "metric": self.metric, "budget": self.budget, "refine": self.refine,
                  "repeats": self.repeats, "decode": self._select_decoder()}
        for given in (self.options, self.decode_options):
            for name, value in (given or {}).items():
                values[name.replace("_", "-")] = _grid(value)
        return {name: "precomputed" if callable(value) else value
                for name, value in values.items()}

    def _select_lambda(self) -> Any:
        """The grid of lambda; of a method without lambda, none unless one is given."""
        auto = isinstance(self.lam, str) and self.lam == "auto"
        return None if auto and "lambda" not in method_options(self.method) else _grid(self.lam)

    def _select_decoder(self) -> Optional[str]:
        if self.metric is None or metric_has(self.metric, "UNDECODED"):
            return None
        return self.decode

    def _folds(self, X: Any, y: Any, groups: Any) -> Optional[np.ndarray]:
        """The fold of each pair, where `cv` is no text."""
        if self.cv is None or isinstance(self.cv, (str, numbers.Integral)):
            return None
        n = _num_samples(y)
        splits = self.cv.split(X, y, groups) if hasattr(self.cv, "split") else self.cv
        fold = np.full(n, -1)
        for k, (_, test) in enumerate(splits):
            test = np.arange(n)[test]
            if (fold[test] >= 0).any():
                raise ValueError(f"cv leaves out pair {test[fold[test] >= 0][0]} twice; "
                                 "expected every pair once")
            fold[test] = k
        if (fold < 0).any():
            raise ValueError(f"cv never leaves out pair {np.argmin(fold)}; expected every "
                             "pair once")
        return fold

    def fit(self, X: Any, y: Any = None, candidates: Any = None, groups: Any = None,
            folds: Any = None, sample_weight: Any = None) -> "IOKRCV":
        """Selects, then fits the best on all pairs.

        Parameters
        ----------
        X, y : objects
            Training pairs.
        candidates : objects, optional
            Outputs to decode to; the training outputs of each fold if not given.
        groups, folds : sequence of n labels, optional
            Pairs of one group are left out together; the fold of each pair.
        sample_weight : float or array of shape (n,), optional
            How much each pair counts, in fits and in what is measured: 2 is the pair twice
            (but they are left out together), 0 no such pair.

        Returns
        -------
        self
        """
        from .._data import labels
        x, outputs = self._pairs(X, y)
        outputs = self._weigh(X, outputs, sample_weight)
        context = self._context()
        values = self._select_options()
        if isinstance(self.cv, numbers.Integral):
            values["cv"] = f"kfold:{self.cv}"
        split = self._folds(X, y, groups) if folds is None else None
        if split is not None:
            folds, groups = split, None
            values["cv"] = f"kfold:{split.max() + 1}"
        of_outputs = not isinstance(self.per_output, (bool, np.bool_))
        values["per-output"] = True if of_outputs else bool(self.per_output) or None
        chosen = options(lib.okra_select_options, values)
        given = {"candidates": None if candidates is None else as_data(candidates),
                 "groups": None if groups is None else labels(groups),
                 "folds": None if folds is None else labels(folds),
                 "output_groups": labels(self.per_output) if of_outputs else None}
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
        metric = self.selection_["metric"]
        if not metric_has(metric, "UNDECODED"):
            check(lib.okra_metric_is_loss(metric, c.byref(loss)))
        sign = -1.0 if loss.value else 1.0
        mean, error = c.c_double(), c.c_double()
        params, means, errors = [], [], []
        for cell in range(lib.okra_selection_count(p)):
            check(lib.okra_selection_cell(p, cell, c.byref(mean), c.byref(error)))
            means.append(sign * mean.value)
            errors.append(error.value)
            params.append(self._params(p, cell))
        best = lib.okra_selection_best(p)
        self.cv_results_ = {"params": params, "mean_test_score": np.array(means),
                            "std_error": np.array(errors)}
        self.best_params_, self.best_score_ = params[best], means[best]
        lambdas = self.selection_.get("output_lambda")
        self.output_lam_ = None if lambdas is None else np.array(
            [float(v) for v in lambdas.split(",")])
        if lambdas is not None:
            self.best_score_ = -self.selection_["output_loss"]
            others = {**params[best].get("options", {}), "output-lambda": lambdas}
            self.best_params_ = {**params[best], "lam": 1.0, "options": others}

    def _params(self, selection: Any, cell: int) -> dict:
        """A cell as parameters of `IOKR`."""
        known = {f.name for f in fields(IOKR)}
        names = {option: name for name, option in self._renamed.items()}
        params: dict = {}
        others: dict = {}
        chosen = dict.fromkeys(option_types("fit"))  # what "auto" may have set
        for option in {**self._select_options(), **chosen}:
            text = lib.okra_selection_value(selection, cell, option)
            if not text or option == "method" and self.method == type(self).method:
                continue
            if option == "decode" and self.decode is None and not decoder_has(
                    text.decode(), "MAKES_UP"):  # what is taken where none is asked for
                continue
            name = names.get(option, option.replace("-", "_"))
            value = number(text.decode())
            value = value in (True, "yes") if name == "center_output" else value
            if name in known:
                params[name] = value
            elif option in (self.decode_options or {}):
                params.setdefault("decode_options", {})[option] = value
            else:
                others[option] = value
        return {**params, "options": others} if others else params

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
                (lib.okra_options_get(presets.pointer, name) or b"").decode()}
