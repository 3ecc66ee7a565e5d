"""Sets and intervals with a guarantee."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._data import Data, labels
from .._errors import OkraWarning


class ConformalMixin:
    """Conformal prediction with a fitted model."""

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
                 score: str = "auto", folds: int = 10, calibration: Any = None,
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
        score : str, default="auto"
            "distance", "normalized", "residual" (full), "rank" or a metric (split).
            "auto" is "normalized", with "split" the one of the first two under which
            left-out training pairs have the smaller sets.
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
        if alpha > 0.5:
            warnings.warn(f"alpha = {alpha:g} is the share of sets that may miss the truth; "
                          f"{1 - alpha:g} makes sets that hold it with probability {alpha:g}",
                          OkraWarning, stacklevel=2)
        outputs = self.model_.outputs
        if candidates is None and outputs.kind == "dense" and self.model_.info["y"]["width"] == 1 and (
                2 * p.shape[1] > len(outputs)):
            warnings.warn("of numbers most true outputs are no candidates, so that no set holds "
                          "them: predict_interval is for numbers", OkraWarning, stacklevel=2)
        mean = (p > alpha).sum() / max(len(p), 1)
        if mean > 1.5 and 3 * mean > 2 * p.shape[1]:
            warnings.warn(f"sets hold {mean:.3g} of {p.shape[1]} candidates on average: the "
                          "model hardly tells them apart; more pairs, other kernels or a "
                          "larger alpha make them smaller", OkraWarning, stacklevel=2)
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
        defaults = ("auto", "auto", 10, None, None, None, None, None)
        chosen = self._conformal(*(settings.get(n, d) for n, d in zip(names, defaults)))
        bounds, radius = self._fitted().intervals(
            self._inputs(X, reset=False), alpha, chosen, region, self._context())
        return (bounds, radius) if region else bounds

    def _distinct_index(self) -> np.ndarray:
        return self._fitted().outputs.distinct()

    def _distinct(self) -> Data:
        return self._fitted().outputs[self._distinct_index()]
