"""What the estimators share: checking, fitting, updating, files."""
from __future__ import annotations

import ctypes as c
import json
import os
import re
import tempfile
import warnings
from contextlib import ExitStack
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._data import (Data, beside, check_rows, edited_column, gram, if_molecules, is_classes,
                     is_graphs, is_mixed, is_texts, is_vectors, labels, mixed, name_columns,
                     named, smiles)
from .._errors import OkraWarning
from .._library import Handle, constants, kernel_has, lib, option_types, options, set_options
from .._collection import borrow
from .._model import Model, hold
from ._conformal import ConformalMixin
from ._dask import fit_dask, is_dask
from ._mpi import fit_shard
from ._predicting import PredictMixin
from ._scoring import ScoreMixin
from ._shared import (ContextMixin, TagsMixin, as_sequence, kernel_values,
                      dtype_of, number, self_values, take, validate)
from ._updating import UpdateMixin


def _names_file(option: str, text: str) -> bool:
    """Whether a fit with this option might open a file; no model from elsewhere may make it."""
    text = text.strip()
    files = {constants["OKRA_OPTION_READ"], constants["OKRA_OPTION_WRITTEN"]}
    if option == "decode" and re.match(r"labels:\w+=", text):  # its own options
        return False
    return (option_types("fit").get(option) in files and text != "") or "file" in text or (
        re.match(r"[\w-]+:(?!\w+\()", text) is not None)  # KIND:FILE, not KIND:NAME(...)


class OutputKernelEstimator(UpdateMixin, PredictMixin, ConformalMixin, ScoreMixin,
                            ContextMixin, TagsMixin, RegressorMixin, BaseEstimator):
    """Base of every estimator that maps inputs to outputs through kernels.

    A subclass names its method and which of its parameters are options of the library.
    """

    _method = ""
    _least_pairs = 1
    # Parameter and name of the option, where it is not the name with '-' for '_'.
    _renamed = {"lam": "lambda"}
    _no_options = {"options", "decode", "decode_options", "n_jobs", "random_state",
                   "memory", "verbose", "engine", "kx", "ky", "class_weight"}

    # ---- options ---------------------------------------------------------------------

    def _method_name(self) -> str:
        return self._method

    def _options(self, stack: ExitStack) -> dict:
        """Options of fit by name; arrays become files while `stack` is open."""
        values: dict = {"method": self._method_name()}
        for side in ("kx", "ky"):
            kernel = getattr(self, side)
            if not callable(kernel) and not isinstance(kernel, str):
                raise ValueError(f"{side} is of type {type(kernel).__name__}; expected a "
                                 "kernel expression, a callable or 'precomputed'")
            values[side] = "precomputed" if callable(kernel) else kernel
        for name in self.get_params(deep=False):
            if name in self._no_options:
                continue
            value = getattr(self, name)
            if value is None or (
                    value is False and name not in ("center_output", "scale_output")):
                continue
            option = self._renamed.get(name, name.replace("_", "-"))
            if isinstance(value, np.ndarray):
                value = self._array_option(name, value, stack)
            values[option] = value
        for name, value in (self.options or {}).items():
            values[name.replace("_", "-")] = value
        return values

    @staticmethod
    def _write_array(values: np.ndarray, stack: ExitStack) -> str:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "matrix.npy")
        np.save(path, np.ascontiguousarray(values, dtype=np.float64))
        return path

    def _array_option(self, name: str, value: np.ndarray, stack: ExitStack) -> str:
        # Parameters of estimators that may be arrays, and how their options name a file.
        if name == "operator":
            return "matrix:" + self._write_array(value, stack)
        if name == "graph":
            return "file(" + self._write_array(value, stack) + ")"
        raise ValueError(f"{name} cannot be an array")

    # ---- data ------------------------------------------------------------------------

    def _inputs(self, X: Any, reset: bool) -> Any:
        """Inputs as the library takes them; numbers are checked by scikit-learn."""
        if callable(self.kx):
            X = as_sequence(X)
            if reset:
                self._x_objects = X
                return gram(kernel_values(self.kx, X, X, "kx"))
            needed = lib.okra_method_has(self._method_name(),
                                         constants["OKRA_TRAIT_SELF"])
            own = self_values(self.kx, X) if needed else None
            return gram(kernel_values(self.kx, X, self._x_objects, "kx"), own)
        if not is_vectors(X):
            if reset:
                X = if_molecules(X, self.kx, "X")
            elif self._fitted().info["x"]["kind"] == "graphs" and is_texts(X):
                X = smiles(X)
            X = named(X, "X")
            if reset:
                self._forget_features()
            return X
        if is_mixed(X) or not reset and getattr(self, "_mixed", False) and hasattr(X, "columns"):
            return self._table(X, reset)
        return self._vectors(validate(self, X, accept_sparse="csr", dtype=np.float64, order="C",
                                      reset=reset))

    def _table(self, X: Any, reset: bool) -> Data:
        """A frame of numbers, classes, dates and gaps."""
        if reset:
            self._mixed, self.n_features_in_ = True, X.shape[1]
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
            return mixed(X) if self._words is None else beside(X, self._words)
        inputs = borrow(lib.okra_model_inputs(self.model_._handle.pointer), self.model_)
        return mixed(X, inputs) if self._words is None else beside(X, self._words, inputs)

    _words: Any = None  # the column of a frame that is strings, and the others beside it

    def _vectors(self, X: Any) -> Data:
        """Checked numbers as the library takes them, with the names that the check knows."""
        X = gram(X) if kernel_has(self.kx, "GIVEN") else named(X, "X")
        return name_columns(X, getattr(self, "feature_names_in_", None))

    def _forget_features(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)

    def _pairs(self, X: Any, y: Any) -> tuple:
        """Training pairs as the library takes them."""
        self._mixed = False
        if y is not None and getattr(self, "lambda2", None) is None and _num_samples(X) > _num_samples(y):
            raise ValueError(f"X has {_num_samples(X)} objects, y has {_num_samples(y)}; expected an "
                             "output for each input")
        numbers_x = is_vectors(X) and not callable(self.kx) and not is_mixed(X)
        numbers_y = is_vectors(y) and not callable(self.ky) and not hasattr(y, "tocsr")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the "
                             "target y is None")
        check_rows(X, "X")
        check_rows(y, "y")
        for name, values, kernel in (("X", X, self.kx), ("y", y, self.ky)):
            if kernel == "auto" and isinstance(values, np.ndarray) and values.ndim > 2:
                raise ValueError(
                    f"{name} has shape {values.shape}: images are rows of numbers, {name}.reshape("
                    f"len({name}), -1); list({name}) makes sequences of vectors")
        if kernel_has(self.ky, "LINEAR") and not isinstance(y, (Data, tuple)) and not numbers_y and any(
                isinstance(v, str) for v in list(y)[:1]):
            raise ValueError(f"y holds texts; {type(self).__name__} with a linear output kernel "
                             "learns numbers. IOKR() learns classes and strings")
        self._flat, self._y_objects = False, None
        frame = hasattr(y, "columns") and not isinstance(y, Data)
        self._columns = list(y.columns) if frame else None
        self._series = getattr(y, "name", None) if hasattr(y, "iloc") else None
        if (self.ky == "auto" or kernel_has(self.ky, "EQUALITY")) and is_classes(y):
            y, numbers_y = labels(y), False
        several = is_mixed(X) and X.shape[1] > 1 and (self.kx == "auto" or "@" in str(self.kx))
        words = edited_column(X, y) if several else None
        self._words = None if words is None else [words, *(k for k in X.columns if k != words)]
        self._dtype = y._dtype if isinstance(y, Data) else dtype_of(y) if numbers_y else None
        if getattr(getattr(y, "dtype", None), "kind", "") in ("M", "m"):
            raise ValueError("y holds dates or times, which are no numbers: learn the days since one, "
                             "(y - y.min()) / np.timedelta64(1, 'D')")
        if numbers_y and frame and self.ky == "auto":
            odd = [str(name) for name, kind in zip(y.columns, y.dtypes) if kind.kind not in "biuf"]
            if odd:
                raise ValueError(f"y has columns that are no numbers: {', '.join(odd)}. Outputs are "
                                 "numbers, or one column of classes or texts: a model for each")
        if numbers_x and numbers_y and _num_samples(y) >= _num_samples(X):
            X, y = self._validated(X, y)
            X = self._vectors(X)
        else:
            X = self._inputs(X, reset=True)
        if callable(self.ky):
            self._y_objects = as_sequence(y)
            y = gram(kernel_values(self.ky, self._y_objects, self._y_objects, "ky"))
        elif kernel_has(self.ky, "GIVEN"):
            y = y if isinstance(y, Data) else gram(y)
        elif not isinstance(y, Data):
            self._flat = numbers_y and np.ndim(y) == 1
            if numbers_y:
                self._warn_of_classes(y)
                y = np.asarray(y, dtype=np.float64)
            elif is_graphs(y):  # the library does not give them back
                self._y_objects = list(y)
            y = name_columns(named(if_molecules(y, self.ky, "y"), "y"), self._columns)
        return X, y

    def _validated(self, X: Any, y: Any) -> tuple:
        try:
            return validate(self, X, y, accept_sparse="csr", dtype=np.float64, order="C",
                            multi_output=True, y_numeric=True,
                            ensure_min_samples=self._least_pairs)
        except ValueError as error:
            if "Input y contains NaN" not in str(error):
                raise
            raise ValueError(f"{error} okra.missing(y) says that NaN stands for a value that "
                             "is not known.") from None

    def _warn_of_classes(self, y: Any) -> None:
        """Whole numbers that look like classes are learned as numbers, and that is told."""
        kind = np.asarray(y).dtype.kind
        if self.ky == "auto" and kind in "iu" and np.ndim(y) == 1 and len(y) >= 10:
            values = np.unique(y).tolist()
            what = ("0 and 1, which are predicted as such but scored as numbers"
                    if values == [0, 1] else
                    f"{len(values)} different whole numbers, which are learned as numbers")
            if 1 < len(values) <= min(20, len(y) // 3):
                warnings.warn(f"y holds {what}; okra.labels(y) makes them classes", OkraWarning,
                              stacklevel=5)

    def _outputs(self, y: Any) -> Data:
        """Outputs that are compared with those of the training set."""
        if self._kind() == "labels" and not isinstance(y, Data):
            return labels(y)
        if callable(self.ky):
            y = as_sequence(y)
            return gram(kernel_values(self.ky, y, self._y_objects, "ky"),
                        self_values(self.ky, y))
        if kernel_has(self.ky, "GIVEN") and not isinstance(y, Data):
            return gram(y)
        return named(smiles(y) if self._kind() == "graphs" and is_texts(y) else y, "y")

    # ---- fitting ---------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, calibration: Optional[float] = None
            ) -> "OutputKernelEstimator":
        """Learns from pairs.

        Parameters
        ----------
        X : objects
            Inputs: an array or sparse matrix of shape (n, p), a pandas frame, texts,
            networkx graphs, `okra.Data`; a Gram matrix with ``kx="precomputed"``. There may
            be more inputs than outputs where the method can use them: the first ones are
            those of `y`. Dask arrays and frames are fitted part by part where `low_rank_x`
            is given, and never brought together.
        y : objects
            Outputs, of any of these forms.
        calibration : float, optional
            A share of the pairs, drawn with `random_state`, that is held back and kept in
            the model: `predict_set`, `predict_interval` and `p_values` calibrate with it.

        Returns
        -------
        self
        """
        return self._learn(X, y, None, calibration)

    def fit_shard(self, X: Any, y: Any, comm: Any = None) -> "OutputKernelEstimator":
        """Learns from the rows that all processes of a job under mpi4py have.

        Each process calls it with its own rows, and all get the same model. Rows stay where
        they are: moments of low rank are added up, and the outputs are brought together.

        Parameters
        ----------
        X : array of shape (n_own, p)
            Inputs that this process has; none at all is fine.
        y : array of shape (n_own,) or (n_own, d)
            Their outputs.
        comm : mpi4py communicator, optional
            The processes, all of ``MPI.COMM_WORLD`` where it is left out.

        Returns
        -------
        self
        """
        return fit_shard(self, X, y, comm)

    def _weigh(self, X: Any, outputs: Data, sample_weight: Any) -> Data:
        """The outputs with the weights of their pairs, and of their classes."""
        weights = None
        if sample_weight is not None:
            n = len(outputs)
            weights = np.asarray(sample_weight, dtype=np.float64)
            weights = np.full(n, weights) if weights.ndim == 0 else weights
            if weights.ndim != 1:
                raise ValueError("Sample weights must be 1D array or scalar")
            if weights.shape != (n,):
                raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},)!")
        balance = getattr(self, "class_weight", None)
        if balance is not None:
            if balance != "balanced":
                raise ValueError(f"class_weight is {balance!r}, expected None or 'balanced'")
            weights = (outputs.balanced() if weights is None
                       else outputs.weigh(weights).balanced() * weights)
        if weights is None:
            return outputs
        weighed = outputs.weigh(weights)
        if self._y_objects is not None:  # pairs of weight 0 are no pairs
            self._y_objects = take(self._y_objects, np.flatnonzero(weights > 0))
        return weighed

    def _learn(self, X: Any, y: Any, sample_weight: Any,
               calibration: Optional[float] = None, again: bool = False
               ) -> "OutputKernelEstimator":
        if is_dask(X):
            if calibration is not None or getattr(self, "class_weight", None) is not None:
                raise ValueError("calibration and class_weight are for data in memory, not "
                                 "for Dask arrays")
            return fit_dask(self, X, y, sample_weight)
        X, y, sample_weight = self._that_count(X, y, sample_weight)
        x, outputs = self._pairs(X, y)
        outputs = self._weigh(X, outputs, sample_weight)
        self._keep_given(X, y, sample_weight)
        context = self._context()
        held = None
        if calibration is not None:
            x, outputs, *held = hold(x, outputs, calibration, context)
            held[1] = held[1].weigh(None)  # these count the same
        with ExitStack() as stack:
            values = self._options(stack)
            if again:  # what was chosen stays
                values.update(self._chosen or {})
            else:
                self._chosen, self.search_ = None, None
            open_cost = values.get("cost") == "auto"
            for name in ("cost", "loss"):
                if values.get(name) == "auto":
                    del values[name]  # the library chooses it where it is not set
            if open_cost or "auto" in (values.get("kx"), values.get("ky"),
                                       values.get("lambda")):
                values = self._choose(x, outputs, values, context)
            values.pop("effort", None)
            self.model_ = Model.fit(x, outputs, values, context)
            if held:
                self.model_.calibrate(*held)
            self._left = None
        return self

    _chosen = None
    def _choose(self, x: Data, outputs: Data, values: dict, context: Any) -> dict:
        """Values of all options where some are ``"auto"``, as ``okra fit`` chooses."""
        given = options(lib.okra_select_options, values)
        fit, search = c.c_void_p(), c.c_void_p()
        context.call(lib.okra_choose, x.pointer, outputs.pointer, given.pointer,
                     c.byref(fit), c.byref(search))
        fitted = Handle(fit.value, lib.okra_options_free)
        searched = Handle(search.value, lib.okra_selection_free)
        if searched.pointer:
            self.search_ = json.loads(lib.okra_selection_json(searched.pointer).decode())
        chosen = set_options(fitted, "fit")
        known = set_options(given, "fit")
        self._chosen = {
            name: text for name, text in chosen.items()
            if name in ("kx", "ky", "lambda") or name != "method" and known.get(name) != text}
        return {**values, **self._chosen}

    @property
    def chosen_(self) -> dict:
        """Parameters that were ``"auto"``, with the values that were chosen for them."""
        names = {option: name for name, option in self._renamed.items()}
        return {names.get(option, option.replace("-", "_")): number(text)
                for option, text in (self._chosen or {}).items()}

    @property
    def _is_regressor(self) -> bool:
        """Whether predictions are the explicit vectors themselves."""
        return (self._explicit and self.model_.outputs.kind == "dense"
                and kernel_has(self.model_.info["kernels"]["y"], "LINEAR"))

    _explicit = True
    _dtype = None  # of labels

    def _kind(self) -> Optional[str]:
        """The kind of the outputs that were learned."""
        return self.model_.outputs.kind if hasattr(self, "model_") else None

    def _fitted(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    # ---- files -----------------------------------------------------------------------

    def save(self, path: Any, compact: bool | str = "auto") -> None:
        """Writes the model file that ``okra predict`` reads; `compact` says how much of it,
        see `okra.Model.save`. A loaded estimator predicts what this one does, of the same
        type, shape and names."""
        form = {"flat": self._flat, "dtype": None if self._dtype is None else self._dtype.str,
                "output": self._predicts, "columns": self._columns, "series": self._series,
                "words": self._words}
        try:
            note = json.dumps({"python": form})
        except TypeError:  # names that are no texts or numbers
            note = json.dumps({"python": {**form, "columns": None, "series": None}})
        self._fitted().save(path, compact, note)

    def _restore(self, note: Optional[str]) -> None:
        """The form of predictions that `save` noted, where the file has one."""
        try:
            form = json.loads(note or "{}")["python"]
            self._flat = form["flat"] is True
            self._dtype = None if form["dtype"] is None else np.dtype(str(form["dtype"]))
            self._predicts = "pandas" if form["output"] == "pandas" else None
            self._columns, self._series = form["columns"], form["series"]
            self._words = form.get("words")
            self._mixed = self._words is not None
        except (ValueError, KeyError, TypeError):  # somebody else's note
            pass

    @classmethod
    def load(cls, path: Any, **parameters: Any) -> "OutputKernelEstimator":
        """An estimator around a model file, whoever wrote it.

        Parameters
        ----------
        path : str or path
        **parameters
            Parameters of the estimator that concern prediction, and those that name a
            file: what a model says of files is not taken over.

        Returns
        -------
        OutputKernelEstimator
        """
        model = Model.load(path)
        self = cls()
        info = model.info
        written = {**info["options"], "kx": info["kernels"]["x"],
                   "ky": info["kernels"]["y"]}
        presets = options(lib.okra_fit_options, {})
        for name in self.get_params(deep=False):
            option = self._renamed.get(name, name.replace("_", "-"))
            preset = lib.okra_options_get(presets.pointer, option)
            if preset is None or option not in written or (
                    getattr(self, name) != "auto" and written[option] == preset.decode()):
                continue
            if not _names_file(option, str(written[option])):
                setattr(self, name, number(written[option]))
            elif name not in parameters:
                warnings.warn(f"the model was fitted with {option} = {written[option]!r}, which names a file: a "
                              f"fit would open it, so the parameter {name} stays as it is; give it to load() if "
                              "it is yours", OkraWarning, stacklevel=2)
        self.set_params(**parameters)
        self.model_, self._left, self._chosen, self.search_ = model, None, None, None
        self._flat, self._y_objects = False, None
        self._restore(info.get("note"))
        columns = info["x"].get("columns")
        if columns:  # scikit-learn checks those of frames by it
            self.feature_names_in_ = np.array(columns, dtype=object)
            self.n_features_in_ = len(columns)
            self._mixed = any("=" in name or name.endswith(" missing") for name in columns)
        return self

    def __getstate__(self) -> dict:
        state = super().__getstate__()
        return {**state, "_left": None} if "_left" in state else state

    @property
    def _estimator_type(self) -> str:
        """Of a model of class labels ``"classifier"``: scorers then ask for probabilities."""
        return "classifier" if self._kind() == "labels" else "regressor"

    def _own_tags(self) -> dict:
        return {"multioutput": True, "requires_y": True}


class WeightedEstimator(OutputKernelEstimator):
    """An estimator whose method uses weights of pairs."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None,
            calibration: Optional[float] = None) -> "WeightedEstimator":
        """Learns from pairs.

        Parameters
        ----------
        X : objects
            Inputs: an array or sparse matrix of shape (n, p), a pandas frame, texts,
            networkx graphs, `okra.Data`; a Gram matrix with ``kx="precomputed"``. There may
            be more inputs than outputs where the method can use them: the first ones are
            those of `y`.
        y : objects
            Outputs, of any of these forms.
        sample_weight : float or array of shape (n,), optional
            How much each pair counts, 0 or more: 2 is the pair twice, 0 no such pair.
            Leave-one-out is then of the pairs whose weight is not 0.
        calibration : float, optional
            A share of the pairs, drawn with `random_state`, that is held back and kept in
            the model: `predict_set`, `predict_interval` and `p_values` calibrate with it.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, calibration)
