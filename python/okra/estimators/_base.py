"""What the estimators share: checking, fitting, predicting, scoring, pickling."""
from __future__ import annotations

import ctypes as c
import json
import os
import tempfile
from contextlib import ExitStack
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._data import (Data, as_data, bits, gram, is_graphs, is_vectors, labels,
                     named)
from .._kernel import metric as metric_value
from .._kernel import metric_is_loss
from .._library import Handle, constants, lib, options
from .._model import Model, hold
from ._dask import fit_dask, is_dask, predict_dask
from ._shared import (ContextMixin, TagsMixin, as_sequence, is_linear, kernel_values,
                      number, self_values, take, validate)


class OutputKernelEstimator(ContextMixin, TagsMixin, RegressorMixin, BaseEstimator):
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
            if value is None or (value is False and name != "center_output"):
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
            needed = lib.okra_method_has(self._method_name().encode(),
                                         constants["OKRA_TRAIT_SELF"])
            own = self_values(self.kx, X) if needed else None
            return gram(kernel_values(self.kx, X, self._x_objects, "kx"), own)
        if not is_vectors(X):
            X = named(X, "X")
            if reset:
                self._forget_features()
            return X
        X = validate(self, X, accept_sparse="csr", dtype=np.float64, order="C",
                      reset=reset)
        return gram(X) if self.kx == "precomputed" else named(X, "X")

    def _forget_features(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)

    def _pairs(self, X: Any, y: Any) -> tuple:
        """Training pairs as the library takes them."""
        numbers_x = is_vectors(X) and not callable(self.kx)
        numbers_y = is_vectors(y) and not callable(self.ky) and not hasattr(y, "tocsr")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the "
                             "target y is None")
        self._flat, self._y_objects = False, None
        self._columns = list(y.columns) if hasattr(y, "columns") else None
        self._series = getattr(y, "name", None) if hasattr(y, "iloc") else None
        if numbers_x and numbers_y and _num_samples(y) >= _num_samples(X):
            X, y = validate(self, X, y, accept_sparse="csr", dtype=np.float64, order="C",
                             multi_output=True, y_numeric=True,
                             ensure_min_samples=self._least_pairs)
            X = gram(X) if self.kx == "precomputed" else named(X, "X")
        else:
            X = self._inputs(X, reset=True)
        if callable(self.ky):
            self._y_objects = as_sequence(y)
            y = gram(kernel_values(self.ky, self._y_objects, self._y_objects, "ky"))
        elif self.ky == "precomputed":
            y = y if isinstance(y, Data) else gram(y)
        elif not isinstance(y, Data):
            self._flat = numbers_y and np.ndim(y) == 1
            if numbers_y:
                y = np.asarray(y, dtype=np.float64)
            elif is_graphs(y):  # the library does not give them back
                self._y_objects = list(y)
            y = named(y, "y")
        return X, y

    def _outputs(self, y: Any) -> Data:
        """Outputs that are compared with those of the training set."""
        if callable(self.ky):
            y = as_sequence(y)
            return gram(kernel_values(self.ky, y, self._y_objects, "ky"),
                        self_values(self.ky, y))
        if self.ky == "precomputed" and not isinstance(y, Data):
            return gram(y)
        return named(y, "y")

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
            weights = outputs.balanced() * (1 if weights is None else weights)
        if weights is None:
            return outputs
        weighed = outputs.weigh(weights)
        if self._y_objects is not None:  # pairs of weight 0 are no pairs
            self._y_objects = take(self._y_objects, np.flatnonzero(weights > 0))
        return weighed

    def _learn(self, X: Any, y: Any, sample_weight: Any,
               calibration: Optional[float] = None) -> "OutputKernelEstimator":
        if is_dask(X):
            if any(v is not None for v in (calibration, sample_weight,
                                           getattr(self, "class_weight", None))):
                raise ValueError("calibration and weights are for data in memory, not for "
                                 "Dask arrays")
            return fit_dask(self, X, y)
        x, outputs = self._pairs(X, y)
        outputs = self._weigh(X, outputs, sample_weight)
        context = self._context()
        held = None
        if calibration is not None:
            x, outputs, *held = hold(x, outputs, calibration, context)
            held[1] = held[1].weigh(None)  # these count alike
        with ExitStack() as stack:
            values = self._options(stack)
            self._chosen, self.search_ = None, None
            open_cost = values.get("cost") == "auto"
            for name in ("cost", "loss"):
                if values.get(name) == "auto":
                    del values[name]  # the library chooses it where it is not set
            if open_cost or "auto" in (values.get("kx"), values.get("ky"),
                                       values.get("lambda")):
                values = self._choose(x, outputs, values, context)
            self.model_ = Model.fit(x, outputs, values, context)
            if held:
                self.model_.calibrate(*held)
            self._left = None
        return self

    def _update(self, **change: Any) -> "OutputKernelEstimator":
        self.model_, self.update_ = self._fitted().update(
            **change, context=self._context())
        self._left = None
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None
                    ) -> "OutputKernelEstimator":
        """Adds training pairs: what `fit` on all pairs gives, to rounding.

        The first call is `fit`. Kernels, `lam` and all that was chosen stay those of that
        call. Ridge with the operator identity changes its Cholesky factor, low rank with
        ``keep_moments=True`` adds moments; all others fit anew. ``update_`` says which,
        and how far rounding has added up.

        Parameters
        ----------
        X, y : objects
            New pairs, of the kinds that were learned from.
        sample_weight : float or array, optional
            How much each new pair counts.

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
        if is_vectors(y) and not callable(self.ky) and not hasattr(y, "tocsr"):
            y = np.asarray(y, dtype=np.float64)
        more = self._y_objects is not None and self._y_objects + list(y)
        outputs = self._outputs(y)
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, np.float64), len(outputs))
            outputs = outputs.weigh(np.ascontiguousarray(weights))
            more = more and self._y_objects + take(list(y), np.flatnonzero(weights > 0))
        self._update(x=self._inputs(X, reset=False), y=outputs)
        self._y_objects = more if more else self._y_objects
        return self

    def remove(self, rows: Any, X: Any = None) -> "OutputKernelEstimator":
        """Takes training pairs out: what `fit` without them gives, to rounding.

        Parameters
        ----------
        rows : array of int
            Training pairs, counted from 0 in the order of `fit` and `partial_fit`.
        X : objects, optional
            Their inputs, for models of low rank with kept moments, which hold none.

        Returns
        -------
        self
        """
        gone = set(np.asarray(rows).ravel().tolist())
        self._update(remove=rows,
                     removed_x=None if X is None else self._inputs(X, reset=False))
        if self._y_objects is not None:
            self._y_objects = [y for i, y in enumerate(self._y_objects) if i not in gone]
        return self

    _chosen = None
    # Options that okra_choose may set beside those it is given.
    _choices = ("kx", "ky", "lambda", "k", "cost", "center-output", "decode", "low-rank-x",
                "loss", "delta")

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
        self._chosen = {
            name: lib.okra_options_get(fitted.pointer, name.encode()).decode()
            for name in self._choices
            if lib.okra_options_is_set(fitted.pointer, name.encode())}
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
                and is_linear(self.model_.info["kernels"]["y"]))

    _explicit = True

    def _fitted(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    # ---- predicting ------------------------------------------------------------------

    def _decoder(self, candidates: Any, top: Optional[int]) -> dict:
        values = dict(getattr(self, "decode_options", None) or {})
        decode = self.decode
        if decode is None:
            plain = candidates is None and top is None
            decode = None if plain else "candidates"
        return {"decode": decode, "top": top,
                **{name.replace("_", "-"): v for name, v in values.items()}}

    def predict(self, X: Any, candidates: Any = None, ranges: Any = None,
                top: Optional[int] = None, return_distance: bool = False) -> Any:
        """Predicts outputs.

        Parameters
        ----------
        X : objects
            Inputs of the kind that was learned from.
        candidates : objects, optional
            Outputs to choose from; the training outputs if not given. With
            ``ky="precomputed"`` a pair of Gram rows and self-similarities.
        ranges : array of shape (m, 2), optional
            First and last-plus-one candidate of each input.
        top : int, optional
            Give the `top` best candidates of each input, best first.
        return_distance : bool, default=False
            Give squared distances in feature space as well; implies candidates.

        Returns
        -------
        outputs : array or list
            In the form of the training outputs. With `top`, `top` outputs an input. With
            ``ky="precomputed"``, numbers of candidates.
        distance : ndarray of shape (m,) or (m, top)
            If `return_distance`.
        """
        if is_dask(X) and not (top or return_distance):
            return predict_dask(self, X, candidates)
        if top is None and (return_distance or candidates is not None
                            or ranges is not None):
            index, distance = self.rank(X, candidates, ranges, 1)
            found = self._candidates(candidates, index[:, 0])
            return (found, distance[:, 0]) if return_distance else found
        if top is not None:
            index, distance = self.rank(X, candidates, ranges, top)
            found = self._nested(candidates, index)
            return (found, distance) if return_distance else found
        model = self._fitted()
        if self._y_objects is not None or self.ky == "precomputed":
            return self._candidates(None, self.rank(X, None, None, 1)[0][:, 0])
        p = model.predict(self._inputs(X, reset=False), self._decoder(None, None),
                          context=self._context())
        return self._framed(self._shaped(p.objects().objects), X)

    def _shaped(self, objects: Any) -> Any:
        return objects.ravel() if self._flat else objects

    _columns = _series = _predicts = None

    def set_output(self, *, transform: Optional[str] = None,
                   predict: Optional[str] = None) -> "OutputKernelEstimator":
        """Chooses the form of predictions.

        Parameters
        ----------
        transform : ignored
            For transformers, as in scikit-learn.
        predict : {"default", "pandas"}, optional
            "pandas": a data frame with the columns of the training outputs (a series where
            these were flat) and the index of the inputs; "default": as they are.

        Returns
        -------
        self
        """
        if predict not in (None, "default", "pandas"):
            raise ValueError(f"predict is {predict!r}, expected 'default' or 'pandas'")
        if predict is not None:
            self._predicts = predict
        return self

    def _framed(self, objects: Any, X: Any) -> Any:
        if self._predicts != "pandas":
            return objects
        import pandas as pd
        index = getattr(X, "index", None)
        index = index if hasattr(X, "iloc") else None
        if isinstance(objects, np.ndarray) and objects.ndim == 2:
            return pd.DataFrame(objects, index=index, columns=self._columns)
        return pd.Series(list(objects), index=index, name=self._series)

    def _candidates(self, candidates: Any, index: np.ndarray) -> Any:
        if self.ky == "precomputed":
            return index
        if candidates is None:
            candidates = self._y_objects
        if candidates is None:
            return self._shaped(self.model_.outputs[index].objects)
        return take(candidates, index)

    def _nested(self, candidates: Any, index: np.ndarray) -> Any:
        if (index < 0).any():
            raise ValueError(f"fewer than top = {index.shape[1]} candidates for some "
                             "inputs")
        found = self._candidates(candidates, index.ravel())
        m, top = index.shape
        if isinstance(found, np.ndarray):
            return found.reshape((m, top) + found.shape[1:])
        return [found[i * top:(i + 1) * top] for i in range(m)]

    def rank(self, X: Any, candidates: Any = None, ranges: Any = None, top: int = 10
             ) -> tuple:
        """The best candidates of each input.

        Parameters
        ----------
        X : objects
        candidates : objects, optional
            The training outputs if not given.
        ranges : array of shape (m, 2), optional
        top : int, default=10

        Returns
        -------
        index : ndarray of shape (m, top)
            Numbers of candidates, best first; -1 where there are fewer. Of equal training
            outputs the first stands for all.
        distance : ndarray of shape (m, top)
            Squared distances in feature space, or the method's own criterion.
        """
        model = self._fitted()
        given = None if candidates is None else self._outputs(candidates)
        values = self._decoder(candidates, top)
        values["decode"] = "candidates"
        rows = None
        if candidates is None and ranges is None and model.outputs.kind != "gram":
            rows = self._distinct_index()  # each different output once
            given = self._distinct() if len(rows) < len(model) else None
        p = model.predict(self._inputs(X, reset=False), values, given, ranges,
                          context=self._context())
        index = p.index()
        if given is not None and rows is not None:
            index = np.where(index < 0, -1, rows[index])
        return index, p.distance()

    def proposals(self, X: Any, top: int = 8) -> list:
        """The best strings that the decoder ``rewrite`` makes of each input.

        Parameters
        ----------
        X : objects
        top : int, default=8
            At most so many of each.

        Returns
        -------
        list of lists of (string, squared distance)
            One list per input, best first.
        """
        values = dict(getattr(self, "decode_options", None) or {}) \
            if self.decode == "rewrite" else {}
        p = self._fitted().predict(self._inputs(X, reset=False),
                                   {**values, "decode": "rewrite", "top": top},
                                   context=self._context())
        made, index, distance = p.proposals().objects, p.index(), p.distance()
        return [[(made[k], float(d)) for k, d in zip(row, far) if k >= 0]
                for row, far in zip(index, distance)]

    def weights(self, X: Any) -> np.ndarray:
        """Weights of the training outputs, of which a prediction is a combination.

        Parameters
        ----------
        X : objects

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._fitted().predict(self._inputs(X, reset=False), {"decode": "none"},
                                      weights=True, context=self._context()).weights()

    def embedding(self, X: Any) -> np.ndarray:
        """The explicit prediction, where the output kernel is linear.

        Parameters
        ----------
        X : objects

        Returns
        -------
        ndarray of shape (m, d)
        """
        return self._fitted().predict(self._inputs(X, reset=False), {"decode": "none"},
                                      embedding=True, context=self._context()).embedding()

    def confidence(self, X: Any, candidates: Any = None) -> np.ndarray:
        """How sure predictions are.

        Parameters
        ----------
        X : objects
        candidates : objects, optional
            The training outputs if not given.

        Returns
        -------
        ndarray of shape (m, 3)
            Squared distance to the best candidate, gap to the one after it, and the
            predictive variance in units of the input kernel, of methods that predict the
            mean of a Gaussian process (ridge, kpca, tgp-kl); NaN where there is none.
        """
        given = None if candidates is None else self._outputs(candidates)
        return self._fitted().predict(
            self._inputs(X, reset=False), {"decode": "candidates"}, given,
            confidence=True, context=self._context()).confidence()

    # ---- sets and intervals with a guarantee -----------------------------------------

    def _conformal(self, how: str, score: str, folds: int, calibration: Any,
                   groups: Any, test_groups: Any, weights: Any, test_weights: Any
                   ) -> dict:
        if isinstance(groups, str) and groups != "class":
            raise ValueError(f"groups is {groups!r}, expected labels or 'class'")
        if (groups is None or isinstance(groups, str)) != (test_groups is None):
            raise ValueError("groups of the pairs and test_groups go together; with "
                             "groups='class' there are no test_groups")
        settings = {"how": how, "score": score, "folds": folds, "weights": weights,
                    "test_weights": test_weights, "by_class": groups == "class"
                    if isinstance(groups, str) else False}
        if calibration is not None:
            x, y = calibration
            settings["calibration_x"] = self._inputs(x, reset=False)
            settings["calibration_y"] = self._outputs(y)
        if groups is not None and not isinstance(groups, str):
            settings["groups"] = labels(groups)
            settings["test_groups"] = labels(test_groups)
        return settings

    def p_values(self, X: Any, candidates: Any = None, how: str = "auto",
                 score: str = "distance", folds: int = 10, calibration: Any = None,
                 groups: Any = None, test_groups: Any = None, weights: Any = None,
                 test_weights: Any = None) -> np.ndarray:
        """Conformal p-values of candidates: small where an output can be excluded.

        Parameters
        ----------
        X : objects
        candidates : objects, optional
            The distinct training outputs, in order of first appearance, if not given.
        how : {"auto", "split", "full", "jackknife+", "cv+"}, default="auto"
            "split" needs `calibration`, here or in `fit`; the others are for ridge with
            the identity operator. "auto" is "split" with `calibration`, else "full".
        score : str, default="distance"
            "distance", "normalized", "residual" (full), "rank" or a metric (split).
        folds : int, default=10
            Folds of "cv+".
        calibration : pair of objects, optional
            Inputs and outputs that the fit has not seen.
        groups, test_groups : array of labels, or groups="class"
            The guarantee holds in every group of pairs.
        weights, test_weights : array, optional
            Ratios of densities, for test inputs of another distribution.

        Returns
        -------
        ndarray of shape (m, candidates)
        """
        given = self._distinct() if candidates is None else self._outputs(candidates)
        settings = self._conformal(how, score, folds, calibration, groups, test_groups,
                                   weights, test_weights)
        return self._fitted().p_values(self._inputs(X, reset=False), given, settings,
                                       self._context())

    def predict_set(self, X: Any, alpha: float = 0.1, candidates: Any = None,
                    **settings: Any) -> list:
        """Sets of outputs that hold the truth with probability 1 - `alpha`.

        Parameters
        ----------
        X : objects
        alpha : float, default=0.1
        candidates : objects, optional
            The distinct training outputs if not given.
        **settings
            As in `p_values`.

        Returns
        -------
        list
            For each input its set, most plausible output first, in the form of the
            training outputs.
        """
        if not 0 < alpha < 1:
            raise ValueError(f"alpha is {alpha}, expected a number between 0 and 1")
        p = self.p_values(X, candidates, **settings)
        sets = []
        for row in p:
            inside = np.flatnonzero(row > alpha)
            inside = inside[np.argsort(-row[inside], kind="stable")]
            if candidates is None:
                inside = self._distinct_index()[inside]
            sets.append(self._candidates(candidates, inside))
        return sets

    def predict_interval(self, X: Any, alpha: float = 0.1, region: bool = False,
                         **settings: Any) -> Any:
        """Intervals of each output that hold the truth with probability 1 - `alpha`.

        Parameters
        ----------
        X : objects
        alpha : float, default=0.1
        region : bool, default=False
            Give the radius of a ball around the prediction for the whole vector as well.
        **settings
            As in `p_values`.

        Returns
        -------
        bounds : ndarray of shape (m, d, 2)
            Lower and upper ends; infinite where the pairs are too few for `alpha`.
        radius : ndarray of shape (m,)
            If `region`.
        """
        names = ("how", "score", "folds", "calibration", "groups", "test_groups",
                 "weights", "test_weights")
        unknown = set(settings) - set(names)
        if unknown:
            raise TypeError(f"predict_interval has no argument {sorted(unknown)[0]!r}")
        defaults = ("auto", "distance", 10, None, None, None, None, None)
        chosen = self._conformal(*(settings.get(n, d) for n, d in zip(names, defaults)))
        bounds, radius = self._fitted().intervals(
            self._inputs(X, reset=False), alpha, chosen, region, self._context())
        return (bounds, radius) if region else bounds

    def _distinct_index(self) -> np.ndarray:
        return self._fitted().outputs.distinct()

    def _distinct(self) -> Data:
        return self._fitted().outputs[self._distinct_index()]

    # ---- scoring ---------------------------------------------------------------------

    def score(self, X: Any, y: Any, sample_weight: Any = None,
              metric: Optional[str] = None) -> float:
        """How good predictions are; larger is better.

        Parameters
        ----------
        X, y : objects
            Test pairs.
        sample_weight : array of shape (m,), optional
            How much each pair counts.
        metric : str, optional
            A metric of the library (``"zero-one"``, ``"rbf-loss:sigma=12"``) of decoded
            predictions, with its sign changed if it is a loss. If not given: R² for
            explicit vectors, else minus the mean squared distance of the undecoded
            prediction in feature space.

        Returns
        -------
        float
        """
        model = self._fitted()
        if metric is not None:
            kind = {"labels": labels, "bits": bits}.get(model.outputs.kind, as_data)
            value = metric_value(metric, y if isinstance(y, Data) else kind(y),
                                 kind(self.predict(X)), sample_weight)
            return -value if metric_is_loss(metric) else value
        if self._is_regressor:
            truth = y.objects if isinstance(y, Data) else y
            return r2_score(truth, self._shaped(self.embedding(X)),
                            sample_weight=sample_weight)
        truth = self._outputs(y)
        if sample_weight is not None:
            truth = truth.weigh(sample_weight)
        return -model.loss(self._inputs(X, reset=False), truth, self._context())

    def _leave_one_out(self) -> tuple:
        model = self._fitted()
        if self._left is None:
            with ExitStack() as stack:
                values = {**self._options(stack), **(self._chosen or {})}
                self._left = model.leave(values, self._context())
        return self._left

    @property
    def loo_predictions_(self) -> Any:
        """Each training output as the model that has not seen its pair predicts it: the
        explicit vector, else the nearest of the other training outputs (with
        ``ky="precomputed"`` its number)."""
        p, _ = self._leave_one_out()
        if self._is_regressor:
            return self._shaped(p.embedding())
        return self._candidates(None, p.index()[:, 0])

    @property
    def loo_score_(self) -> float:
        """`score` of the leave-one-out predictions of the training pairs."""
        p, losses = self._leave_one_out()
        if self._is_regressor:
            return r2_score(self.model_.outputs.objects, p.embedding(),
                            sample_weight=self.model_.outputs.weights)
        return -float(np.average(losses, weights=self.model_.outputs.weights))

    @property
    def loo_losses_(self) -> np.ndarray:
        """Squared distances in feature space of the leave-one-out predictions, one for
        each training pair."""
        return self._leave_one_out()[1].copy()

    # ---- files -----------------------------------------------------------------------

    def save(self, path: Any, compact: bool | str = False) -> None:
        """Writes the model file that ``okra predict`` reads; `compact` (True or
        "recompute"): a smaller one, see `okra.Model.save`."""
        self._fitted().save(path, compact)

    @classmethod
    def load(cls, path: Any, **parameters: Any) -> "OutputKernelEstimator":
        """An estimator around a model file, whoever wrote it.

        Parameters
        ----------
        path : str or path
        **parameters
            Parameters of the estimator that concern prediction.

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
            preset = lib.okra_options_get(presets.pointer, option.encode())
            if preset is not None and option in written and (
                    getattr(self, name) == "auto"
                    or written[option] != preset.decode()):
                setattr(self, name, number(written[option]))
        self.set_params(**parameters)
        self.model_, self._left, self._chosen, self.search_ = model, None, None, None
        self._flat, self._y_objects = False, None
        return self

    def __getstate__(self) -> dict:
        state = super().__getstate__()
        return {**state, "_left": None} if "_left" in state else state

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
