"""scikit-learn's own tests of KernelRidge, run on okra's estimator.

A thin adapter gives okra.IOKR the parameters of KernelRidge; the functions of
sklearn/tests/test_kernel_ridge.py (part of the installed package) are then called one after
the other with the adapter in the place of KernelRidge. Sparse inputs, precomputed kernels,
several outputs, sample weights, alpha = 0.
"""
import os
import sys
import warnings

try:
    import numpy as np
    from sklearn.kernel_ridge import KernelRidge as Theirs
    from sklearn.tests import test_kernel_ridge as theirs
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from okra import IOKR  # noqa: E402


class KernelRidge:
    """KernelRidge's way of saying it."""

    def __init__(self, alpha=1, kernel="linear", gamma=None, degree=3, coef0=1):
        self.alpha, self.kernel, self.gamma = alpha, kernel, gamma
        self.degree, self.coef0 = degree, coef0

    def _expression(self, X):
        gamma = self.gamma if self.gamma is not None else 1 / X.shape[1]
        return {"linear": "linear", "precomputed": "precomputed", "cosine": "cosine",
                "rbf": f"rbf(gamma={gamma!r})",
                "poly": f"poly(degree={self.degree},gamma={gamma!r},coef0={self.coef0})",
                }[self.kernel]

    def fit(self, X, y, sample_weight=None):
        self.model = IOKR(kx=self._expression(X), ky="linear", lam=self.alpha,
                          center_output=False)
        self.model.fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.model.predict(X)


def arguments(function):
    """What pytest would call it with: newer versions try every sparse container."""
    marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
    assert len(marks) < 2, function
    return [{marks[0].args[0]: value} for value in marks[0].args[1]] if marks else [{}]


def run_theirs():
    theirs.KernelRidge = KernelRidge
    calls = [(name, given) for name in dir(theirs) if name.startswith("test_")
             for given in arguments(getattr(theirs, name))]
    assert len(calls) >= 8, calls
    for name, given in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(theirs, name)(**given)
        print("ok", name, *given.values())


def same_to_1e_10():
    """Weights of all sizes, several outputs, kernels: both programs agree."""
    rng = np.random.default_rng(0)
    worst = 0
    for seed in range(20):
        X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
        w = np.exp(rng.normal(size=40) * (1 + seed % 3))
        alpha = 10.0 ** rng.integers(-3, 2)
        ours = KernelRidge(alpha, "rbf", 0.3).fit(X, Y, w).predict(X[:10] + 0.1)
        want = Theirs(alpha=alpha, kernel="rbf", gamma=0.3).fit(X, Y, w).predict(
            X[:10] + 0.1)
        worst = max(worst, abs(ours - want).max() / abs(want).max())
    print(f"largest relative difference {worst:.1e}")
    assert worst < 1e-10, worst


run_theirs()
same_to_1e_10()
