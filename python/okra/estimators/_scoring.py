"""How good a fitted model is: on test pairs, and on its own pairs left out one by one."""
from __future__ import annotations

import warnings
from contextlib import ExitStack
from typing import Any, Optional

import numpy as np
from sklearn.metrics import r2_score

from .._data import Data, as_data, bits, labels, missing
from .._errors import OkraWarning
from .._kernel import metric as metric_value
from .._kernel import metric_is_loss


class ScoreMixin:
    """Scores of a fitted model."""

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
            explicit vectors (of what is known of `y`), the accuracy for class labels, else minus the mean squared
            distance of the undecoded prediction in feature space.

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
            if np.isnan(np.asarray(truth, dtype=np.float64)).any():
                return metric_value("r2", missing(truth), as_data(self.embedding(X)),
                                    sample_weight)
            return r2_score(truth, self._shaped(self.embedding(X)),
                            sample_weight=sample_weight)
        truth = self._outputs(y)
        if truth.kind == "labels":
            self._warn_of_new_classes(truth, model)
            right = self._shaped(truth.objects) == np.asarray(self.predict(X))
            return float(np.average(right, weights=sample_weight))
        if sample_weight is not None:
            truth = truth.weigh(sample_weight)
        return -model.loss(self._inputs(X, reset=False), truth, self._context())

    def _warn_of_new_classes(self, truth: Data, model: Any) -> None:
        """Folds that cut sorted classes apart give an accuracy of 0: that is told."""
        new = ~np.isin(np.asarray(truth.objects), np.asarray(model.outputs.objects))
        if new.any():
            warnings.warn(f"{new.sum()} of {new.size} test labels are of classes that the fit has "
                          "not seen, and count as wrong; folds by StratifiedKFold keep all "
                          "classes", OkraWarning, stacklevel=3)

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
        ``ky="precomputed"`` its number). In closed form: what the kernels learned from
        all pairs (`standardize`, weights of `align`, widths) stays; ``| center`` is
        refused."""
        p, _ = self._leave_one_out()
        if self._is_regressor:
            return self._shaped(p.embedding())
        return self._candidates(None, p.index()[:, 0])

    @property
    def loo_score_(self) -> float:
        """`score` of the leave-one-out predictions of the training pairs."""
        p, losses = self._leave_one_out()
        outputs = self.model_.outputs
        if outputs.kind == "labels":
            right = self._shaped(outputs.objects) == self.loo_predictions_
            return float(np.average(right, weights=outputs.weights))
        if self._is_regressor:
            return r2_score(self.model_.outputs.objects, p.embedding(),
                            sample_weight=self.model_.outputs.weights)
        return -float(np.average(losses, weights=self.model_.outputs.weights))

    @property
    def loo_losses_(self) -> np.ndarray:
        """Squared distances in feature space of the leave-one-out predictions, one for
        each training pair."""
        return self._leave_one_out()[1].copy()
