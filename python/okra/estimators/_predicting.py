"""Predictions of estimators: objects, ranks, proposals, weights, embeddings."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._data import typed
from .._library import decoder_has, kernel_has, lib
from .._objects import array_of
from ._dask import is_dask, predict_dask
from ._shared import shaped, take


class PredictMixin:
    """What a fitted model says of new inputs."""

    def _decode_values(self) -> dict:
        values = dict(getattr(self, "decode_options", None) or {})
        return {name.replace("_", "-"): v for name, v in values.items()}

    def _decoder(self, candidates: Any, top: Optional[int]) -> dict:
        decode = self.decode
        if decode is None:
            plain = candidates is None and top is None
            decode = None if plain else "candidates"
        return {"decode": decode, "top": top, **self._decode_values()}

    def _makes_up(self, chosen: bool = False) -> bool:
        """Whether the decoder (`chosen`: or that of the fit) makes up objects and does not
        choose among candidates."""
        decode = self.decode or (self._chosen or {}).get("decode") if chosen else self.decode
        chooses = decoder_has(decode, "CHOOSES")
        return decoder_has(decode, "MAKES_UP") or \
            chooses and self._decode_values().get("over-all") not in (None, False, "no")

    def predict(self, X: Any, candidates: Any = None, ranges: Any = None,
                top: Optional[int] = None, return_distance: bool = False,
                as_new: bool = False) -> Any:
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
            Give the `top` best candidates of each input, best first; where the decoder
            makes up objects, a list of the best of these for each input.
        return_distance : bool, default=False
            Give squared distances in feature space (expected losses under a loss) as
            well; implies candidates unless the decoder makes up objects.
        as_new : bool, default=False
            Compare candidates that are training outputs as if they had not been learned:
            else the model favours them over candidates that it never saw.

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
        if (top or return_distance) and candidates is None and ranges is None \
                and not as_new and self._makes_up(chosen=True):
            return self._made_up(X, top, return_distance)
        if top is None and (return_distance or candidates is not None
                            or ranges is not None or as_new):
            index, distance = self.rank(X, candidates, ranges, 1, as_new)
            found = self._candidates(candidates, index[:, 0])
            return (found, distance[:, 0]) if return_distance else found
        if top is not None:
            index, distance = self.rank(X, candidates, ranges, top, as_new)
            found = self._nested(candidates, index, top)
            return (found, distance) if return_distance else found
        model = self._fitted()
        if self._y_objects is not None or kernel_has(self.ky, "GIVEN"):
            return self._candidates(None, self.rank(X, None, None, 1)[0][:, 0])
        p = model.predict(self._inputs(X, reset=False), self._decoder(None, None),
                          context=self._context())
        return self._framed(self._shaped(p.objects().objects), X)

    def _made_up(self, X: Any, top: Optional[int], return_distance: bool) -> Any:
        lists = self.proposals(X, top or 1)
        found = [[y for y, _ in row] for row in lists]
        far = [[d for _, d in row] for row in lists]
        if top is None:
            found = self.predict(X)
            far = np.array([row[0] for row in far])
        return (found, far) if return_distance else found

    def _shaped(self, objects: Any) -> Any:
        if self._kind() == "labels":
            return typed(objects, self._dtype)
        sets = str((self._chosen or {}).get("decode", self.decode)).startswith("labels")
        whole = self._dtype is not None and self._dtype.kind in "biu" and self._is_regressor \
            and not sets
        made = objects if whole else shaped(objects, self._dtype)
        return made.ravel() if self._flat else made

    _columns = _series = _predicts = None

    def set_output(self, *, transform: Optional[str] = None,
                   predict: Optional[str] = None) -> "PredictMixin":
        """Chooses the form of predictions.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            The same as `predict`, as transformers call it; `predict` goes first.
        predict : {"default", "pandas"}, optional
            "pandas": a data frame with the columns of the training outputs (a series where
            these were flat) and the index of the inputs; "default": as they are.

        Returns
        -------
        self
        """
        for name, form in (("predict", predict), ("transform", transform)):
            if form not in (None, "default", "pandas"):
                raise ValueError(f"{name} is {form!r}, expected 'default' or 'pandas'")
        if predict is not None or transform is not None:
            self._predicts = transform if predict is None else predict
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
        if kernel_has(self.ky, "GIVEN"):
            return index
        if candidates is None:
            candidates = self._y_objects
        if candidates is None:
            return self._shaped(self.model_.outputs[index].objects)
        return take(candidates, index)

    def _nested(self, candidates: Any, index: np.ndarray, wanted: int) -> Any:
        if index.shape[1] < wanted or (index < 0).any():
            raise ValueError(f"fewer than top = {wanted} candidates for some inputs")
        found = self._candidates(candidates, index.ravel())
        m, top = index.shape
        if isinstance(found, np.ndarray):
            return found.reshape((m, top) + found.shape[1:])
        return [found[i * top:(i + 1) * top] for i in range(m)]

    def rank(self, X: Any, candidates: Any = None, ranges: Any = None, top: int = 10,
             as_new: bool = False) -> tuple:
        """The best candidates of each input.

        Parameters
        ----------
        X : objects
        candidates : objects, optional
            The training outputs if not given.
        ranges : array of shape (m, 2), optional
        top : int, default=10
        as_new : bool, default=False
            As in `predict`.

        Returns
        -------
        index : ndarray of shape (m, top)
            Numbers of candidates, best first; -1 where an input has fewer, no more columns
            than there are candidates. Of equal training
            outputs the first stands for all.
        distance : ndarray of shape (m, top)
            Squared distances in feature space, or the method's own criterion.
        """
        model = self._fitted()
        given = None if candidates is None else self._outputs(candidates)
        if self._makes_up() and candidates is None and ranges is None:
            raise ValueError(f"decode={self.decode!r} makes up objects and ranks no "
                             "candidates: proposals gives the best of what it makes up")
        ranks = decoder_has(self.decode, "CHOOSES") and not self._makes_up()
        values = {"decode": self.decode if ranks else "candidates", "top": top,
                  **(self._decode_values() if ranks else {}),
                  **({"as-new": True} if as_new else {})}
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
        """The best objects that a decoder makes up for each input.

        Under ``decode="labels"``, ``"rankings"``, ``"string"``, ``"position"`` or a loss
        with ``decode_options={"over_all": True}`` the best of all sets, rankings or
        strings; otherwise the best strings that the decoder ``rewrite`` makes of each
        input, where the outputs are strings.

        Parameters
        ----------
        X : objects
        top : int, default=8
            The most of each.

        Returns
        -------
        list of lists of (object, squared distance or expected loss)
            One list per input, best first.
        """
        own = self._makes_up(chosen=True) or ":" in str(self.decode)  # a loss
        decode = self.decode if own else "rewrite"
        if not own and self._fitted().outputs.kind != "strings":
            raise ValueError(f"decode={self.decode!r} makes up no objects: set decode to "
                             "'labels' (sets of labels), 'rankings', 'string', 'position' "
                             "or 'rewrite' (strings)")
        values = self._decode_values() if own else {}
        p = self._fitted().predict(self._inputs(X, reset=False),
                                   {**values, "decode": decode, "top": top},
                                   context=self._context())
        if p.proposals() is None:
            raise ValueError(f"decode={decode!r} chooses among candidates: over_all is not "
                             "set; rank and predict(..., top=...) give the best of them")
        made = self._shaped(p.proposals().objects)
        index, distance = p.index(), p.distance()
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

    # ---- classes -----------------------------------------------------------------------

    def _codes(self) -> np.ndarray:
        """The classes that have training pairs, as the library counts them."""
        outputs = self._fitted().outputs
        codes = array_of(lib.okra_data_codes(outputs.pointer), (len(outputs),))
        return np.unique(codes)

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of `predict_proba`; of models of class labels alone."""
        if not hasattr(self, "model_") or self._kind() != "labels":
            raise AttributeError("classes_ is there where a model of class labels is fitted")
        outputs = self.model_.outputs
        codes = array_of(lib.okra_data_codes(outputs.pointer), (len(outputs),))
        return self._shaped(outputs[np.unique(codes, return_index=True)[1]].objects)

    def _learns_classes(self) -> bool:
        return self._kind() == "labels" or self._kind() is None and \
            self._estimator_type == "classifier"

    def _learns_sets(self) -> bool:
        if self._kind() not in ("dense", "bits"):
            return self._learns_classes()
        objects = np.asarray(self.model_.outputs.objects)
        return objects.shape[1] > 1 and bool(np.isin(objects, (0, 1)).all())

    @available_if(_learns_classes)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of classes, calibrated by left-out predictions of the training inputs.

        Parameters
        ----------
        X : objects

        Returns
        -------
        ndarray of shape (m, classes)
            In the order of `classes_`. The most probable class need not be what `predict`
            says where two are nearly equal: that is the one with the highest score.
        """
        found = self._fitted().classes(self._inputs(X, reset=False), context=self._context())
        return found[:, self._codes()]

    @available_if(_learns_sets)
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of classes, or of each label of a set: sums of the weights of training pairs.

        Parameters
        ----------
        X : objects

        Returns
        -------
        ndarray of shape (m, classes), or (m,) of two classes
            Of two classes the score of the second less that of the first.
        """
        model = self._fitted()
        if self._kind() in ("dense", "bits"):
            return self.weights(X) @ np.asarray(model.outputs.objects, dtype=np.float64)
        found = model.classes(self._inputs(X, reset=False), False, self._context())[:, self._codes()]
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

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
