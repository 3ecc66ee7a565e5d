"""Estimators that choose: selection, grids, what is automatic."""
import re
import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import okra
from okra import (IOKR, IOKRCV, KDE, OK3, SOAR, IOKRMargin, KernelGram, KernelSVR,
                  MultiTaskKernelRidge, TwinGP, TwinKernelLearner)


STRINGS = "spectrum(k=2) | normalize"


def test_selection(patterns):
    X, Y = patterns
    model = IOKRCV(kx="rbf(sigma={2,4,8})", lam=[0.01, 0.1]).fit(X, Y)
    scores = model.cv_results_["mean_test_score"]
    assert len(scores) == 6 and model.best_score_ == scores.max()
    refit = IOKR(**model.best_params_).fit(X, Y)
    assert np.array_equal(refit.predict(X), model.predict(X))
    assert np.isclose(-refit.loo_losses_.mean(), model.best_score_, rtol=1e-10)
    assert np.isclose(refit.loo_score_, model.loo_score_, rtol=1e-10)
    folds = IOKRCV(kx="rbf(sigma=4)", lam="1e-3..1e0:4", cv="kfold:3", metric="mse",
                   random_state=3).fit(X, Y)
    assert len(folds.cv_results_["params"]) == 4 and folds.best_score_ < 0
    given = IOKRCV(kx="rbf(sigma=4)", lam=[0.1], cv="kfold:3").fit(
        X, Y, folds=np.arange(60) % 3)
    assert np.isfinite(given.best_score_)
    nested = IOKRCV(kx="rbf(sigma=4)", lam=[0.1, 1], cv="nested:3,loo").fit(X, Y)
    assert "nested" in str(nested.selection_)
    method = IOKRCV(kx="rbf(sigma=4)", method="knn", lam=None, options={"k": "1..3"},
                    cv="kfold:3").fit(X, Y)
    assert method.best_params_["options"]["k"] in (1, 2, 3)


@pytest.mark.parametrize("method", ["knn", "ok3", "svr"])
def test_selection_of_methods_without_lambda(patterns, method):
    X, Y = patterns
    y = X[:, 0] if method == "svr" else Y
    model = IOKRCV(kx="rbf(sigma={2,4})", method=method, cv="kfold:3", metric="mse").fit(X, y)
    assert len(model.cv_results_["params"]) == 2 and "lam" not in model.best_params_
    with pytest.raises(okra.ArgumentError, match="does not use the option 'lambda'"):
        IOKRCV(kx="rbf(sigma=2)", method=method, lam=0.1, cv="kfold:3").fit(X, y)


def test_selection_of_kernels_by_the_splitters_of_scikit_learn(patterns):
    from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
    X, Y = patterns
    kernels = ["linear", "rbf(sigma={2,4})", "standardize | rbf(sigma=4)"]
    model = IOKRCV(kx=kernels, lam=[0.01, 0.1], cv=5).fit(X, Y)
    assert model.selection_["cv"] == "kfold:5"
    assert [p["kx"] for p in model.cv_results_["params"]][::2] == [
        "linear", "rbf(sigma=2)", "rbf(sigma=4)", "standardize | rbf(sigma=4)"]
    again = IOKR(**model.best_params_).fit(X, Y)
    assert np.array_equal(again.predict(X), model.predict(X))
    # the mean over the folds of a splitter is that of fits on its training parts
    folds = KFold(4, shuffle=True, random_state=2)
    model = IOKRCV(kx="rbf(sigma=4)", lam=[0.1], cv=folds, metric="mse").fit(X, Y)
    losses = [np.mean((IOKR(kx="rbf(sigma=4)", lam=0.1).fit(X[a], Y[a]).predict(X[b]) -
                       Y[b]) ** 2) for a, b in folds.split(X)]
    assert np.isclose(-model.best_score_, np.mean(losses), rtol=1e-9)
    groups = np.arange(60) // 6
    model = IOKRCV(kx="rbf(sigma=4)", lam=[0.1], cv=GroupKFold(5)).fit(X, Y, groups=groups)
    assert len(model.selection_["best"]["values"]) == 5
    listed = IOKRCV(kx="rbf(sigma=4)", lam=[0.1], cv=list(folds.split(X)),
                    metric="mse").fit(X, Y)
    assert np.isclose(-listed.best_score_, np.mean(losses), rtol=1e-9)
    with pytest.raises(ValueError, match="expected every pair once"):
        IOKRCV(cv=ShuffleSplit(3, random_state=0)).fit(X, Y)


def test_nothing_given(patterns, words):
    X, Y = patterns
    model = IOKR().fit(X[:40], Y[:40])
    assert set(model.chosen_) == {"kx", "ky", "lam", "center_output"}
    assert model.search_["cv"] == "loo"
    again = IOKR(**model.chosen_).fit(X[:40], Y[:40])
    assert again.chosen_ == {} and again.search_ is None
    assert np.array_equal(again.predict(X[40:]), model.predict(X[40:]))
    assert np.isclose(again.loo_score_, model.loo_score_, rtol=1e-12)
    left = (model.loo_predictions_ - Y[:40]) ** 2
    relative = left.mean(0) / np.where(Y[:40].std(0) > 0, Y[:40].var(0), np.inf)
    assert np.isclose(relative.mean(), model.search_["best"]["mean"], rtol=1e-9)
    # rows of 0 and 1 are label sets, dense, sparse or bits; their scores are embeddings
    from scipy.sparse import csr_matrix
    sets = (Y[:, ::16] > np.median(Y[:, ::16], axis=0)).astype(float)
    dense = IOKR().fit(X[:40], sets[:40])
    cut = float(re.match(r"labels:threshold=([\d.]+)", dense.chosen_["decode"])[1])
    found = dense.predict(X[40:])
    assert set(np.unique(found)) <= {0, 1}
    scores = dense.embedding(X[40:])
    wanted = scores > cut
    if "nonempty=yes" in dense.chosen_["decode"]:  # the best label where none passes
        wanted[np.arange(len(wanted)), scores.argmax(1)] = True
    assert np.array_equal(found, wanted)
    thin = IOKR(**dense.chosen_).fit(X[:40], csr_matrix(sets[:40]))
    assert np.array_equal(thin.predict(X[40:]).toarray(), found)
    # strings, classes; other methods
    x, y, classes = words
    assert IOKR().fit(x[:30], y[:30]).predict(x[30:32])[0] in y[:30]
    assert IOKR().fit(x[:30], okra.labels(classes[:30])).predict(x[30:31])[0] in classes
    for estimator in (KDE(), IOKRMargin(), OK3(), KernelSVR(), MultiTaskKernelRidge()):
        assert estimator.fit(X[:40], Y[:40]).predict(X[40:]).shape == (20, 128)


def test_warnings_name_the_argument_once():
    X = np.vstack([np.zeros((2, 3)), np.eye(3), np.ones((3, 3)) + np.eye(3)])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        IOKRCV(kx="cosine", lam=[0.1, 1], cv="kfold:3").fit(X, X)
    texts = [str(w.message) for w in seen if "self-similarity" in str(w.message)]
    assert texts and len(set(texts)) == len(texts)
    assert all(text.startswith("X: ") for text in texts), texts


def test_grid_search_pipeline_and_cross_validation(patterns, words):
    X, Y = patterns
    grid = {"lam": [0.1, 1e6], "kx": ["rbf(sigma=4)", "linear"]}
    search = GridSearchCV(IOKR(), grid, cv=3, n_jobs=2).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4 and search.best_params_["lam"] == 0.1
    again = GridSearchCV(IOKR(), grid, cv=3).fit(X, Y)
    assert np.array_equal(search.cv_results_["mean_test_score"],
                          again.cv_results_["mean_test_score"])
    pipe = make_pipeline(StandardScaler(), IOKR(kx="rbf(sigma=10)"))
    assert len(cross_val_score(pipe, X, Y, cv=3)) == 3
    assert cross_val_predict(pipe, X, Y, cv=3).shape == Y.shape
    x, y, _ = words
    scores = cross_val_score(IOKR(kx=STRINGS, ky=STRINGS), x, y, cv=3)
    assert (scores < 0).all()
    data = GridSearchCV(IOKR(kx=STRINGS, ky=STRINGS), {"lam": [0.01, 1.0]}, cv=3,
                        n_jobs=2).fit(okra.as_data(x), okra.as_data(y))
    assert np.isclose(data.best_score_, GridSearchCV(
        IOKR(kx=STRINGS, ky=STRINGS), {"lam": [0.01, 1.0]}, cv=3).fit(x, y).best_score_)
    K = okra.gram_matrix("rbf(sigma=4)", X)
    assert np.allclose(cross_val_score(IOKR(kx="precomputed"), K, Y, cv=3),
                       cross_val_score(IOKR(kx="rbf(sigma=4)"), X, Y, cv=3), rtol=1e-9)
    gram = make_pipeline(KernelGram("rbf(sigma=4)"), IOKR(kx="precomputed"))
    assert np.allclose(cross_val_score(gram, X, Y, cv=3),
                       cross_val_score(IOKR(kx="rbf(sigma=4)"), X, Y, cv=3), rtol=1e-9)


def test_two_processes(patterns):
    X, Y = patterns
    def work(lam):
        return IOKR(kx="rbf(sigma=4)", lam=lam, n_jobs=1).fit(X, Y).predict(X[:2])
    results = Parallel(n_jobs=2)(delayed(work)(lam) for lam in (0.1, 1.0))
    for lam, result in zip((0.1, 1.0), results):
        assert np.array_equal(result, work(lam))
    fitted = IOKR(kx="rbf(sigma=4)").fit(X, Y)
    predicted = Parallel(n_jobs=2)(delayed(fitted.predict)(X[i::2]) for i in range(2))
    assert np.array_equal(predicted[0], fitted.predict(X[::2]))


def test_twin_kernels(patterns):
    X, Y = patterns
    learner = TwinKernelLearner("rbf(sigma=4)", "rbf(sigma=7)", 2, 3).fit(X, Y)
    assert learner.hsic_.shape == (2, 3) and learner.after_ >= learner.before_
    assert np.isclose(np.linalg.norm(learner.coef_y_), 1)
    model = IOKR(kx=learner.kx_, ky=learner.ky_, lam=0.1).fit(X, Y)
    twin = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", twin="2,3").fit(X, Y)
    assert np.array_equal(model.weights(X), twin.weights(X))
    several = TwinKernelLearner(["rbf(sigma=4)", "linear"], "rbf(sigma=7)", 2, 1).fit(X, Y)
    assert len(several.coef_x_) == 5
    assert np.array_equal(learner.transform(X[:3]),
                          okra.gram_matrix(learner.kx_, X[:3], X))
    low = TwinKernelLearner("rbf(sigma=4)", "rbf(sigma=7)", 2, 3, low_rank="chol(rank=60)")
    # Worst over 20 seeds: 4.9e-14.
    assert np.abs(low.fit(X, Y).coef_x_ - learner.coef_x_).max() < 5e-13
    few = TwinKernelLearner("rbf(sigma=4)", "rbf(sigma=7)", 2, 3, low_rank="chol(rank=3)")
    assert not np.allclose(few.fit(X, Y).hsic_, learner.hsic_, rtol=1e-6)


def test_other_methods_choose_their_parameter():
    r = np.random.default_rng(0)
    X = r.normal(size=(80, 2)) * [1, 100]
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] / 50], axis=1) + 0.1 * r.normal(size=(80, 2))
    for estimator, name in ((IOKRMargin(loss="huber"), "lam"), (KDE(), "lam"),
                            (TwinGP(ky="rbf(sigma=2)"), "lam"), (SOAR(), "lam"),
                            (KernelSVR(), "cost")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = estimator.fit(X, Y).chosen_
        assert chosen[name] > 0 and "standardize" in chosen["kx"], estimator
        assert len(estimator.search_["cells"]) >= 6, estimator
    given = KernelSVR(kx="rbf(sigma=1)", cost=3.0).fit(X, Y)
    assert given.search_ is None and given.chosen_ == {}


def test_the_least_expected_loss():
    r = np.random.default_rng(0)
    X = r.normal(size=(40, 3))
    Y = (X @ r.normal(size=(3, 5)) + r.normal(size=(40, 5)) > 0.3).astype(float)
    model = IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.1, decode="loss:f1").fit(X[:30], Y[:30])
    got, w, y = model.predict(X[30:]), model.weights(X[30:]), Y[:30]
    w = w if w.shape == (10, 30) else w.T
    total = y.sum(1)[:, None] + y.sum(1)[None]
    gain = w @ np.where(total > 0, 2 * y @ y.T / np.maximum(total, 1), 0)
    for t in range(10):
        chosen = np.flatnonzero((y == got[t]).all(1))[0]
        assert gain[t, chosen] >= gain[t].max() - 1e-12
    with pytest.raises(ValueError, match="there is no metric"):
        IOKR(kx="rbf(sigma=2)", lam=0.1, decode="loss:f2").fit(X, Y).predict(X[:2])


def test_automatic_margin_is_no_worse_than_ridge():
    r = np.random.default_rng(1)
    X = r.normal(size=(160, 3)) * [1, 100, 1e-3]
    Z = X / [1, 100, 1e-3]
    Y = np.c_[np.sin(2 * Z[:, 0]) * 1e3 + 5e5, 1e-3 * Z[:, 1] * Z[:, 2]]
    Y += 0.1 * Y.std(0) * r.normal(size=Y.shape)
    ridge, margin = IOKR().fit(X[:100], Y[:100]), IOKRMargin().fit(X[:100], Y[:100])
    assert margin.chosen_["loss"] == "huber" and margin.chosen_["delta"] > 0
    assert margin.score(X[100:], Y[100:]) > ridge.score(X[100:], Y[100:]) - 0.02
    ring = okra.labels(np.where((Z ** 2).sum(1) > 2, "out", "in"))
    classes = IOKRMargin().fit(X[:100], ring[:100])
    assert classes.chosen_["loss"] == "huber"
    truth = np.asarray(ring.objects[100:])
    right = [(np.asarray(m.predict(X[100:])) == truth).mean()
             for m in (classes, IOKR().fit(X[:100], ring[:100]))]
    assert right[0] > 0.85 and right[0] > right[1] - 0.02
    hinge = IOKRMargin(loss="hinge").fit(X[:100], ring[:100])
    assert hinge.chosen_["ky"] == "zero-one | center"
    assert (np.asarray(hinge.predict(X[100:])) == truth).mean() > 0.8
    assert set(classes.predict(X)) == {"in", "out"}


def test_a_selection_without_words_is_the_automatic_fit():
    r = np.random.default_rng(2)
    X = r.normal(size=(90, 4))
    Y = np.c_[np.sin(2 * X[:, 0]) + 40, X[:, 1]] + 0.2 * r.normal(size=(90, 2))
    for y in (Y, (Y > Y.mean(0)).astype(float), okra.labels(np.where(X[:, 0] > 0, "p", "m"))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no list that nobody wrote is told of
            selected = IOKRCV().fit(X, y)
        single = IOKR().fit(X, y)
        again = IOKR(**selected.best_params_).fit(X, y)
        assert selected.best_params_["center_output"] is True
        assert {k: v for k, v in single.chosen_.items()} == selected.best_params_
        for other in (single, again):
            np.testing.assert_array_equal(selected.predict(X), other.predict(X))
    assert IOKRCV(method="margin").fit(X, okra.labels(np.where(X[:, 0] > 0, "p", "m"))
                                       ).selection_["cv"] == "kfold:5"


def test_noise_free_outputs_find_a_small_lambda():
    X = np.linspace(-3, 3, 80).reshape(-1, 1)
    model = IOKR().fit(X[::2], np.sin(2 * X[::2]))
    assert np.abs(model.predict(X) - np.sin(2 * X)).max() < 3e-4  # 3.4e-5, at the end


def test_training_outputs_among_candidates():
    """They are favoured, which is told; as_new compares them as if they were new."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    both = np.vstack([Y[:10], rng.normal(size=(10, 3))])
    model = IOKR(kx="rbf(sigma=1)", ky="rbf(sigma=2)", lam=0.1).fit(X, Y)
    with pytest.warns(okra.OkraWarning, match="10 of 20 are training outputs"):
        model.predict(X[:2], candidates=both)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index, distance = model.rank(X[:1], both, top=20, as_new=True)
        model.predict(X[:2], candidates=Y)
        first = model.predict(X[:1], candidates=both, as_new=True)
    assert np.array_equal(first, both[index[:, 0]])
    # The prediction without the pair of the candidate, by fitting again.
    w = model.weights(X[:1])[0]
    ky = "rbf(sigma=2)"
    gram = okra.gram_matrix(ky, Y)
    rest = IOKR(kx="rbf(sigma=1)", ky=ky, lam=0.1).fit(X[1:], Y[1:])
    inner = rest.weights(X[:1])[0] @ gram[1:, 0]
    got = distance[0, list(index[0]).index(0)]
    assert np.isclose(got, 1 - 2 * inner + w @ gram @ w, rtol=1e-10)
