"""Weights of pairs and of classes."""
import pickle

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import (average_precision_score, f1_score, mean_absolute_error,
                             r2_score, roc_auc_score)
from sklearn.svm import SVC, SVR

import okra
from okra import IOKR, IOKRCV, KDE, IOKRMargin, KernelSVR, MultiTaskKernelRidge

RNG = np.random.default_rng(0)
X, Y, T = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2)), RNG.normal(size=(9, 3))
W = RNG.uniform(0.1, 3, 40)
WHOLE = RNG.integers(0, 4, 40).astype(float)
INDEX = np.repeat(np.arange(40), WHOLE.astype(int))

ESTIMATORS = [
    IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7),
    IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7, center_output=True),
    IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7, operator="ccov", epsilon=0.1),
    IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7, low_rank_x="chol(rank=10,tol=0)"),
    KDE(kx="rbf(gamma=0.3)", ky="linear", lam=0.7),
    IOKRMargin(kx="rbf(gamma=0.3)", ky="linear", lam=0.7),
    KernelSVR(kx="rbf(gamma=0.3)", cost=1, options={"svm-tolerance": 1e-8}),
    MultiTaskKernelRidge(kx="rbf(gamma=0.3)", lam=0.7),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_weights_are_pairs_repeated(estimator):
    a = estimator.fit(X, Y, sample_weight=WHOLE).predict(T)
    b = estimator.fit(X[INDEX], Y[INDEX]).predict(T)
    assert abs(a - b).max() < 1e-5 * abs(b).max()


def test_equals_kernel_ridge():
    for alpha in (1e-3, 0.7, 20):
        a = IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=alpha).fit(X, Y, W).predict(T)
        b = KernelRidge(alpha=alpha, kernel="rbf", gamma=0.3).fit(X, Y, W).predict(T)
        assert abs(a - b).max() < 1e-10 * abs(b).max()


def test_equals_libsvm_with_weights():
    a = KernelSVR(kx="rbf(gamma=0.3)", options={"svm-tolerance": 1e-9, "cost": 2})
    b = SVR(gamma=0.3, C=2, tol=1e-9)
    got = a.fit(X, Y[:, 0], W).predict(T)
    assert abs(got - b.fit(X, Y[:, 0], sample_weight=W).predict(T)).max() < 1e-5
    labels = (X[:, 0] + 0.3 * Y[:, 0] > 0.5).astype(int)
    model = okra.Model.fit(X, okra.labels(labels).weigh(W),
                           {"method": "svm", "kx": "rbf(gamma=0.3)", "ky": "zero-one",
                            "svm-tolerance": 1e-9, "cost": 2})
    decided = SVC(gamma=0.3, C=2, tol=1e-9).fit(X, labels, sample_weight=W)
    f = model.predict(T, {"decode": "none"}, weights=True).weights()
    first = [int(np.flatnonzero(labels == k)[0]) for k in (0, 1)]
    assert abs(f[:, first[1]] - decided.decision_function(T)).max() < 1e-5


def test_leave_one_out_equals_refits():
    for center in (False, True):
        make = lambda: IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7,  # noqa: E731
                            center_output=center)
        model = make().fit(X, Y, W)
        for i in range(0, 40, 5):
            rest = np.arange(40) != i
            want = make().fit(X[rest], Y[rest], W[rest]).predict(X[i:i + 1])[0]
            assert abs(model.loo_predictions_[i] - want).max() < 1e-12
        assert model.loo_score_ == pytest.approx(
            r2_score(Y, model.loo_predictions_, sample_weight=W))


def test_selection_weighs():
    s = IOKRCV(kx="rbf(gamma=0.3)", ky="linear", lam=[0.1, 1, 10]).fit(
        X, Y, sample_weight=W)
    for cell, lam in enumerate((0.1, 1, 10)):
        m = IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=lam).fit(X, Y, W)
        want = -np.average(m.loo_losses_, weights=W)
        assert s.cv_results_["mean_test_score"][cell] == pytest.approx(want, rel=1e-10)
    assert s.loo_score_ == pytest.approx(
        IOKR(**s.best_params_).fit(X, Y, W).loo_score_)


def test_classes_are_balanced():
    labels = np.where(X[:, 0] > 1, "rare", "common")
    a = IOKR(kx="rbf(gamma=0.3)", ky="zero-one", lam=1, class_weight="balanced")
    counts = {name: (labels == name).sum() for name in ("rare", "common")}
    w = np.array([40 / (2 * counts[name]) for name in labels])
    a.fit(X, okra.labels(labels))
    b = IOKR(kx="rbf(gamma=0.3)", ky="zero-one", lam=1).fit(X, okra.labels(labels), w)
    assert np.array_equal(a.weights(T), b.weights(T))
    assert np.allclose(a.model_.outputs.weights, w)
    kept = pickle.loads(pickle.dumps(a))
    assert np.array_equal(kept.weights(T), a.weights(T))
    assert kept.loo_score_ == a.loo_score_
    some = np.arange(40) % 3 > 0  # pairs of weight 0 are of no class
    a.fit(X, okra.labels(labels), some.astype(float))
    b = IOKR(kx="rbf(gamma=0.3)", ky="zero-one", lam=1, class_weight="balanced")
    b.fit(X[some], okra.labels(labels[some]))
    assert np.array_equal(a.model_.outputs.weights, b.model_.outputs.weights)
    assert np.array_equal(a.weights(T), b.weights(T))
    a.fit(X, okra.labels(labels), WHOLE)  # whole weights are copies, in their class too
    b.fit(X[INDEX], okra.labels(labels[INDEX]))
    rare = labels == "rare"
    for of in (rare, ~rare):
        assert np.allclose(a.weights(T) @ of[WHOLE > 0], b.weights(T) @ of[INDEX], rtol=0,
                           atol=1e-12)
    with pytest.raises(ValueError, match="class_weight is 'even'"):
        IOKR(kx="linear", ky="zero-one", class_weight="even").fit(X, okra.labels(labels))
    with pytest.raises(Exception, match="classes are balanced where the outputs are lab"):
        IOKR(kx="linear", ky="linear", lam=1, class_weight="balanced").fit(X, Y)


def test_metrics_weigh():
    truth, guess = np.abs(Y), np.abs(Y + 0.3 * RNG.normal(size=Y.shape))
    for spec, want in [("r2", r2_score(truth, guess, sample_weight=W)),
                       ("mae", mean_absolute_error(truth, guess, sample_weight=W))]:
        assert okra.metric(spec, truth, guess, W) == pytest.approx(want)
    right = (Y[:, :1] > 0).astype(float)
    score = np.round(guess[:, :1], 1)  # with ties
    assert okra.metric("auc-roc", right, score, W) == pytest.approx(
        roc_auc_score(right, score, sample_weight=W))
    assert okra.metric("auc-pr", right, score, W) == pytest.approx(
        average_precision_score(right, score, sample_weight=W))
    guessed = (guess[:, :1] > 0.5).astype(float)
    assert okra.metric("f1", right, guessed, W) == pytest.approx(
        f1_score(right, guessed, sample_weight=W))
    ones = np.ones(40)
    for spec in ("mse", "rmse", "arrmse", "r2", "auc-roc", "f1:average=macro", "zero-one"):
        a, b = (right, guessed) if spec[0] in "afz" and spec != "arrmse" else (truth, guess)
        assert okra.metric(spec, a, b, ones) == pytest.approx(okra.metric(spec, a, b))
    m = IOKR(kx="rbf(gamma=0.3)", ky="rbf(sigma=2)", lam=1).fit(X, Y)
    whole = m.score(X, Y, sample_weight=WHOLE)
    assert whole == pytest.approx(m.score(X[INDEX], Y[INDEX]))


def test_zero_weights_leave_pairs_out():
    w = W.copy()
    w[::3] = 0
    kept = np.flatnonzero(w)
    a = IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7, center_output=True).fit(X, Y, w)
    b = IOKR(kx="rbf(gamma=0.3)", ky="linear", lam=0.7, center_output=True).fit(
        X[kept], Y[kept], w[kept])
    assert np.array_equal(a.predict(T), b.predict(T))
    assert a.loo_predictions_.shape == (len(kept), 2)
    texts = [f"{'ab'[i % 2]}{'c' * (i % 5)}" for i in range(40)]
    c = IOKR(kx="rbf(gamma=0.3)", ky=lambda p, q: np.array(
        [[float(i == j) for j in q] for i in p]), lam=0.1)
    few = [texts[i] for i in kept]
    assert list(c.fit(X, texts, w).predict(T)) == list(c.fit(X[kept], few, w[kept]).predict(T))
    with pytest.raises(Exception, match="is a Gram matrix"):
        IOKR(kx="precomputed", ky="linear", lam=1).fit(X @ X.T, Y, w)


def test_bad_weights_are_refused():
    m = IOKR(kx="linear", ky="linear", lam=1)
    for bad, text in [(-W, "weight 0"), (W * np.nan, "weight 0"), (W[:5], "expected"),
                      (np.zeros(40), "sum to 0"), (np.ones((40, 2)), "1D")]:
        with pytest.raises(ValueError, match=text):
            m.fit(X, Y, bad)
    assert np.allclose(m.fit(X, Y, 2.0).predict(T),
                       IOKR(kx="linear", ky="linear", lam=0.5).fit(X, Y).predict(T))
    model = m.fit(X, Y, W)
    with pytest.raises(Exception, match="calibrate with other pairs"):
        model.predict_interval(T)
    assert model.predict_interval(T, calibration=(X, Y)).shape == (9, 2, 2)


def test_lambda_zero_is_least_squares_of_least_norm():
    wide = RNG.normal(size=(10, 30))
    target = RNG.normal(size=(10, 2))
    for A, B in ((X, Y), (wide, target)):
        want = A @ np.linalg.lstsq(A, B, rcond=None)[0]
        with pytest.warns(Warning, match="rank is"):
            model = IOKR(kx="linear", ky="linear", lam=0).fit(A, B)
        assert abs(model.predict(A) - want).max() < 1e-9
    left = model.loo_predictions_  # of full rank: a closed form
    for i in range(10):
        rest = np.arange(10) != i
        beta = np.linalg.lstsq(wide[rest], target[rest], rcond=None)[0]
        assert abs(left[i] - wide[i] @ beta).max() < 1e-9


def test_a_lambda_for_each_output():
    x, t = RNG.normal(size=(60, 3)), RNG.normal(size=(9, 3))
    y = np.c_[np.sin(x[:, 0]), RNG.normal(size=60), x[:, 1] + RNG.normal(size=60)]
    grid = [1e-3, 1e-2, 0.1, 1, 10, 100]
    for kwargs in ({}, {"sample_weight": RNG.uniform(0.2, 2, 60)}):
        w = kwargs.get("sample_weight")
        s = IOKRCV(kx="rbf(sigma={0.5,2})", ky="linear", lam=grid, per_output=True).fit(
            x, y, **kwargs)
        best = (np.inf, None, None)
        for sigma in (0.5, 2):
            errors = []
            for lam in grid:
                m = IOKR(kx=f"rbf(sigma={sigma})", ky="linear", lam=lam).fit(x, y, w)
                errors.append(np.average((y - m.loo_predictions_) ** 2, axis=0, weights=w))
            errors = np.array(errors)
            best = min(best, (errors.min(axis=0).sum(), sigma, tuple(errors.argmin(axis=0))))
        assert s.best_score_ == pytest.approx(-best[0])
        assert list(s.output_lam_) == [grid[k] for k in best[2]]
        one = IOKR(**s.best_params_).fit(x, y, w)
        assert np.array_equal(one.predict(t), s.predict(t))
        for j, k in enumerate(best[2]):
            own = IOKR(kx=f"rbf(sigma={best[1]})", ky="linear", lam=grid[k])
            assert np.allclose(own.fit(x, y, w).predict(t)[:, j], s.predict(t)[:, j])
        assert np.average(((y - s.loo_predictions_) ** 2).sum(axis=1), weights=w) == \
            pytest.approx(best[0])
    grouped = IOKRCV(kx="rbf(sigma=2)", ky="linear", lam=grid,
                     per_output=["a", "b", "a"]).fit(x, y)
    assert grouped.output_lam_[0] == grouped.output_lam_[2]
    with pytest.raises(ValueError, match="expected labels of the 3 outputs"):
        IOKRCV(kx="linear", ky="linear", lam=grid, per_output=["a"]).fit(x, y)
    with pytest.raises(ValueError, match="the operator binds the coordinates"):
        IOKRCV(kx="linear", ky="linear", operator="cov", per_output=True).fit(x, y)
    with pytest.raises(ValueError, match="fewer than 3 numbers"):
        IOKR(kx="linear", ky="linear", lam=1, options={"output-lambda": "1,2"}).fit(x, y)
    with pytest.raises(ValueError, match="more than 3 numbers"):
        IOKR(kx="linear", ky="linear", lam=1, options={"output-lambda": "1,2,3,4"}).fit(x, y)
    with pytest.raises(ValueError, match="holds 'x,1' for output 1"):
        IOKR(kx="linear", ky="linear", lam=1, options={"output-lambda": "1,x,1"}).fit(x, y)
    for more in ({"center_output": True}, {"low_rank_x": "chol(rank=20,tol=0)"}):
        m = IOKR(kx="rbf(sigma=2)", ky="linear", lam=2,
                 options={"output-lambda": "1,10,1"}, **more).fit(x, y)
        plain = IOKR(kx="rbf(sigma=2)", ky="linear", lam=20, **more).fit(x, y)
        assert np.allclose(m.predict(t)[:, 1], plain.predict(t)[:, 1])
        with pytest.raises(Exception, match="a lambda of its own for each output"):
            m.predict_interval(t)


@pytest.mark.parametrize("more", [
    {"center-output": "yes"},
    {"lambda2": "0.3", "graph": "knn(k=4)"},
    {"operator": "diagonal(t=0.4)"},
    {"operator": "diagonal(t=1)", "center-output": "yes"},
    {"operator": "diagonal(t=0.4)", "low-rank-x": "nystrom(rank=9)", "center-output": "yes"},
    {"low-rank-x": "chol(rank=9)", "lambda2": "0.3", "graph": "gram"},
    {"low-rank-x": "chol(rank=9)", "solver": "cg", "cg-tolerance": "1e-13"},
    "missing", "missing graph", "weights",
])
def test_outputs_with_lambdas_of_their_own_are_those_of_single_fits(more):
    rng = np.random.default_rng(3)
    x, t = rng.normal(size=(25, 3)), rng.normal(size=(6, 3))
    y = np.sin(x @ rng.normal(size=(3, 3)))
    w = rng.uniform(0.5, 2, 25) if more == "weights" else None
    if "missing" in more:
        y[rng.random(y.shape) < 0.2] = np.nan
        y = okra.missing(y)
    options = more if isinstance(more, dict) else (
        {"lambda2": "0.3", "graph": "gram"} if "graph" in more else {})
    multiples = [3, 0.5, 3]
    own = IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.2,
               options={"output-lambda": "3,0.5,3", **options}).fit(x, y, w)
    for j, k in enumerate(multiples):
        one = IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.2 * k, options=options).fit(x, y, w)
        assert np.allclose(one.predict(t)[:, j], own.predict(t)[:, j], rtol=1e-9, atol=1e-9)
        if not {"low-rank-x", "lambda2"} & set(options) and "missing" not in more:
            assert np.allclose(one.loo_predictions_[:, j], own.loo_predictions_[:, j],
                               rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sigma", [0.2, 0.05])
@pytest.mark.filterwarnings("ignore:.*least norm is taken")
def test_copies_raise_no_rank_where_lambda_is_0(sigma):
    # kernel values of copies differ in their last digits; the prediction is their mean
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 30))
        x, y, copied = rng.normal(size=(n, 2)), rng.normal(size=(n, 1)), rng.integers(0, n, 6)
        kernel = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / (2 * sigma ** 2))
        if np.linalg.cond(kernel) > 1e6:
            continue
        rows, all_y = np.r_[np.arange(n), copied], np.r_[y, rng.normal(size=(6, 1))]
        mean = np.array([all_y[rows == i].mean() for i in range(n)])[:, None]
        model = IOKR(kx=f"rbf(sigma={sigma})", ky="linear", lam=0).fit(x[rows], all_y)
        assert abs(model.predict(x) - mean).max() < 1e-8


def test_a_centred_kernel_has_no_closed_form_of_leaving_out():
    for kernels in ({"kx": "linear | center", "ky": "linear"},
                    {"kx": "linear", "ky": "rbf(sigma=1) | center"}):
        model = IOKR(lam=0.1, **kernels).fit(X, Y)
        with pytest.raises(Exception, match="a kernel depends on the whole training set"):
            model.loo_losses_
