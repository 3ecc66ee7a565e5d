"""Probabilities and scores of classes, and scikit-learn's tools for classifiers."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import okra
from okra import IOKR, IOKRClassifier

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 3))
Y = np.array(["low", "mid", "up"])[np.digitize(X[:, 0] + 0.4 * rng.normal(size=60), [-0.5, 0.5])]
GIVEN = {"kx": "rbf(sigma=1.5)", "ky": "zero-one", "lam": 0.3}


def left_out_scores():
    """By as many fits as there are pairs."""
    rows = []
    for i in range(len(X)):
        stay = np.arange(len(X)) != i
        model = IOKR(**GIVEN).fit(X[stay], okra.labels(Y[stay]))
        rows.append(model.weights(X[i:i + 1])[0] @ (Y[stay][:, None] == np.unique(Y)))
    return np.array(rows)


def test_naive_form():
    """Platt's targets, softmax(a h + b) fitted to left-out scores by another optimiser."""
    classes, codes = np.unique(Y, return_inverse=True)
    H = left_out_scores()
    rest = 1 / (np.bincount(codes)[codes] + 2.0)
    Q = np.repeat(rest[:, None] / 2, 3, axis=1)
    Q[np.arange(60), codes] = 1 - rest

    def loss(p):
        return -(Q * log_softmax(p[0] * H + p[1:], axis=1)).sum() + 5e-4 * (p[1:] ** 2).sum()

    p = minimize(loss, np.r_[1.0, 0, 0, 0], method="BFGS", options={"gtol": 1e-9}).x
    model = IOKR(**GIVEN).fit(X, Y)
    new = rng.normal(size=(9, 3))
    scores = model.weights(new) @ (Y[:, None] == classes)
    np.testing.assert_array_equal(model.classes_, classes)
    np.testing.assert_allclose(model.decision_function(new), scores, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(new), np.exp(log_softmax(p[0] * scores + p[1:], axis=1)),
                               atol=1e-5)  # 4e-7 measured: the other optimiser's


def test_program(tmp_path):
    model = IOKR(**GIVEN).fit(X, Y)
    model.save(tmp_path / "m.okra")
    np.savetxt(tmp_path / "x.csv", X[:7], delimiter=",", fmt="%.17g")
    program = Path(os.environ.get("OKRA_LIBRARY") or Path(__file__).parents[2] / "build/libokra.so").parent / "okra"
    if not program.exists():
        pytest.skip("the program is not built")
    subprocess.run([program, "predict", "-q", "m.okra", "--x", "x.csv", "--probabilities", "p.csv"],
                   cwd=tmp_path, check=True)
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "test,low,mid,up"
    told = np.array([[float(v) for v in line.split(",")[1:]] for line in lines[1:]])
    np.testing.assert_allclose(told, model.predict_proba(X[:7]), atol=1e-9)


@pytest.mark.parametrize("method", ["svm", "margin", "knn"])
def test_other_methods(method):
    values = {"method": method, "kx": "rbf(sigma=1.5)", "ky": "zero-one"}
    model = okra.Model.fit(X, okra.labels(Y), values)
    found = model.classes(X[:5])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()


def test_odd_labels():
    """Codes without pairs, one class alone, other outputs."""
    codes = np.array([2, 5])[(X[:, 0] > 0) * 1]
    model = IOKR(**GIVEN).fit(X, okra.labels(codes))
    assert model.classes_.tolist() == [2, 5]
    p = model.predict_proba(X[:6])
    assert p.shape == (6, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert model.decision_function(X[:6]).shape == (6,)
    assert (IOKR(**GIVEN).fit(X, okra.labels(np.zeros(60, int))).predict_proba(X[:3]) == 1).all()
    numbers = IOKR(kx="rbf(sigma=1)", lam=0.1).fit(X, X[:, :2])
    assert not hasattr(numbers, "predict_proba") and not hasattr(numbers, "classes_")
    sets = (X > 0).astype(int)
    scores = IOKR(kx="rbf(sigma=1)", ky="tanimoto", lam=0.1).fit(X, sets).decision_function(X[:4])
    assert scores.shape == (4, 3)


@pytest.mark.parametrize("data", [load_breast_cancer, load_wine, load_iris])
def test_against_logistic_regression(data):
    inputs, truth = data(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    other = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    ours, theirs = (cross_val_predict(model, inputs, truth, cv=folds, method="predict_proba")
                    for model in (IOKRClassifier(), other))
    # Measured: breast cancer .086 to .074, wine .066 to .063, iris .117 to .155. bench/bench_probabilities.py has more folds.
    assert log_loss(truth, ours) < 1.2 * log_loss(truth, theirs)
    sure = ours.max(axis=1)  # what it promises is what comes true
    assert abs(sure.mean() - (ours.argmax(axis=1) == truth).mean()) < 0.04


def test_tools_for_classifiers():
    two = (Y == "up").astype(int)
    auc = cross_val_score(IOKR(**GIVEN), X, two == 1, scoring="roc_auc", cv=2)
    assert np.isfinite(auc).all() and auc.mean() > 0.8
    assert cross_val_score(IOKRClassifier(**GIVEN), X, two, scoring="roc_auc").mean() > 0.8
    assert np.isfinite(cross_val_score(IOKRClassifier(**GIVEN), X, Y, scoring="neg_log_loss")).all()
    stack = StackingClassifier([("okra", IOKRClassifier(**GIVEN)), ("line", LogisticRegression())]).fit(X, Y)
    assert stack.score(X, Y) > 0.7
    other = CalibratedClassifierCV(IOKRClassifier(**GIVEN), cv=3).fit(X, Y)
    assert other.predict_proba(X[:4]).shape == (4, 3)
