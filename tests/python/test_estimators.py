"""Estimators among scikit-learn's tools."""
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

try:  # scikit-learn from 1.6
    from sklearn.utils.estimator_checks import estimator_checks_generator as generate
except ImportError:
    from functools import partial

    from sklearn.utils.estimator_checks import check_estimator
    generate = partial(check_estimator, generate_only=True)

import okra
from okra import (IOKR, IOKRCV, KDE, M3N, OK3, SOAR, ConstrainedRegression, IOKRMargin,
                  JointKernelMap, KernelGram, KernelSVR, LinkPredictor,
                  MultiTaskKernelRidge, TwinGP, TwinKernelLearner)
from okra._library import constants, interface, lib, option_text, structs
from okra.estimators._shared import TagsMixin

# In full: everything that gives vectors, and the transformers.
WHOLE = [IOKR(), IOKR(kx="rbf(sigma=1)", center_output=True),
         IOKRMargin(tolerance=1e-12),
         IOKRMargin(loss="huber", tolerance=1e-12), KDE(), OK3(trees=10), MultiTaskKernelRidge(),
         TwinGP(kx="rbf(sigma=1)"),
         IOKRCV(), KernelSVR(cost=10),
         KernelGram(), KernelGram("rbf(sigma=1)"), TwinKernelLearner()]
# Outputs that are decoded to candidates. The checks that are left out, and why:
OBJECTS = [IOKR(ky="rbf(sigma=1)"), KDE(ky="rbf(sigma=1)"),
           IOKRMargin(ky="rbf(sigma=1)")]
LEFT_OUT = {
    # `score` is minus a distance in feature space, not R², which is at most 1 and which
    # this check wants above 0.5.
    "check_regressors_train",
}
# No single numbers as outputs: pairs of numbers or more, images of the inputs' size, texts
# of the inputs' lengths. Of them the checks that fit nothing.
STRUCTURED = [SOAR(), JointKernelMap(), ConstrainedRegression(), M3N()]
WITHOUT_FITTING = {
    "check_parameters_default_constructible", "check_no_attributes_set_in_init",
    "check_get_params_invariance", "check_set_params", "check_estimators_unfitted",
    "check_requires_y_none"}


def checks(estimator, left_out=frozenset()):
    for copy, check in generate(estimator):
        if check.func.__name__ not in left_out:
            check(copy)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", WHOLE, ids=str)
def test_scikit_learns_own_checks(estimator):
    checks(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", OBJECTS, ids=str)
def test_scikit_learns_own_checks_of_decoded_outputs(estimator):
    checks(estimator, LEFT_OUT)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", STRUCTURED, ids=str)
def test_scikit_learns_own_checks_without_fitting(estimator):
    done = set()
    for copy, check in generate(estimator):
        if check.func.__name__ in WITHOUT_FITTING:
            check(copy)
            done.add(check.func.__name__)
    assert len(done) >= 4  # later versions have other names for some


def test_the_later_tag_protocol():
    """Tags as scikit-learn from 1.6 asks for them, on a stand-in of its tags."""
    class Tagged:
        def __sklearn_tags__(self):
            return SimpleNamespace(input_tags=SimpleNamespace(),
                                   target_tags=SimpleNamespace(),
                                   regressor_tags=SimpleNamespace())

    class Estimator(TagsMixin, Tagged):
        kx = "precomputed"

        def _own_tags(self):
            return IOKRMargin(loss="hinge")._own_tags()

    tags = Estimator().__sklearn_tags__()
    assert tags.input_tags.pairwise and tags.input_tags.sparse
    assert tags.target_tags.multi_output and tags.target_tags.required
    assert tags.regressor_tags.poor_score


@pytest.mark.filterwarnings("ignore")
def test_what_is_left_out_does_fail():
    """No exception outlives its reason."""
    failed = set()
    for estimator in OBJECTS:
        for copy, check in generate(estimator):
            if check.func.__name__ in LEFT_OUT:
                try:
                    check(copy)
                except AssertionError:
                    failed.add(check.func.__name__)
    assert failed == LEFT_OUT


# ---- parameters are the options of the library ---------------------------------------


def option_rows(table):
    import ctypes as c
    rows = c.cast(table.rows, c.POINTER(structs["okra_option"]))
    k = 0
    while rows[k].name:
        yield rows[k].name.decode()
        k += 1


def method_options(method):
    import ctypes as c
    help_, table, index = c.c_char_p(), c.c_void_p(), 0
    while True:
        name = lib.okra_method_name(index, c.byref(help_), c.byref(table))
        if name is None:
            raise KeyError(method)
        if name.decode() == method:
            return set(option_rows(c.cast(
                table, c.POINTER(structs["okra_option_table"])).contents))
        index += 1


@pytest.mark.parametrize("estimator", [IOKR(), IOKRMargin(), KDE(), OK3(), TwinGP(), SOAR(),
                                       KernelSVR(), JointKernelMap(), M3N(),
                                       ConstrainedRegression()], ids=str)
def test_parameters_are_options_of_the_library(estimator):
    """Every parameter but those of running is an option of the method or of fit."""
    names = {estimator._renamed.get(name, name.replace("_", "-"))
             for name in set(estimator.get_params()) - estimator._no_options}
    assert names <= method_options(estimator._method_name()) | {
        "twin", "low-rank", "low-rank-x", "low-rank-y"}
    X = np.eye(4)
    given = type(estimator)(options={"no-such-option": 1})
    with pytest.raises(okra.ArgumentError, match="no-such-option"):
        given.fit(X, X)


@pytest.mark.parametrize("value, text", [
    (True, "yes"), (np.False_, "no"), (3, "3"), (np.int32(3), "3"), (0.1, "0.1"),
    (np.float32(0.1), "0.10000000149011612"), (1 / 3, "0.3333333333333333"), ("a", "a")])
def test_values_as_the_library_reads_them(value, text):
    assert option_text(value) == text


def test_errors_cross_processes():
    error = pickle.loads(pickle.dumps(okra.ArgumentError("text")))
    assert type(error) is okra.ArgumentError and str(error) == "text"


def test_other_options_by_name():
    X = np.random.default_rng(0).normal(size=(20, 2))
    a = IOKR(options={"center_output": True}).fit(X, X + 5)
    assert np.array_equal(a.predict(X), IOKR(center_output=True).fit(X, X + 5).predict(X))


@pytest.mark.parametrize("kind, more", [
    (IOKR, {"operator": "cov"}), (KDE, {"components": 0.9}), (IOKRMargin, {"tolerance": 1e-10})],
    ids=str)
def test_low_rank_of_all_objects_is_the_dense_model(patterns, kind, more):
    """Measured: 1.6e-13 and less; a basis of five objects is another model."""
    X, Y = (a[:40] for a in patterns)
    dense, low, few = (
        kind(kx="rbf(sigma=4)", lam=0.5, low_rank_x=spec, **more).fit(X, Y).predict(X)
        for spec in (None, "chol(rank=40,tol=0)", "chol(rank=5)"))
    assert np.abs(low - dense).max() < 2e-12
    assert np.abs(few - dense).max() > 1e-3


# ---- tasks ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def patterns():
    return okra.datasets.make_patterns(60)


@pytest.fixture(scope="module")
def words():
    x, y, classes = okra.datasets.make_strings(60)
    keep = [i for i in range(60) if len(y[i]) >= 2 and len(x[i]) >= 2]
    return [x[i] for i in keep], [y[i] for i in keep], classes[keep]


STRINGS = "spectrum(k=2) | normalize"


def test_strings_to_strings(words):
    x, y, _ = words
    model = IOKR(kx=STRINGS, ky=STRINGS, lam=0.01).fit(x[:40], y[:40])
    predicted = model.predict(x[40:])
    assert isinstance(predicted, list) and set(predicted) <= set(y[:40])
    best, distance = model.predict(x[40:], return_distance=True)
    assert best == predicted and distance.shape == (len(x) - 40,)
    lists, distances = model.predict(x[40:], top=3, return_distance=True)
    assert [row[0] for row in lists] == predicted
    assert (np.diff(distances, axis=1) >= 0).all()
    assert model.predict(x[40:], candidates=["abad"]) == ["abad"] * (len(x) - 40)
    assert model.score(x[40:], y[40:]) == -model.model_.loss(x[40:], y[40:])
    assert -4 < model.score(x[40:], y[40:], metric="edit") <= 0
    assert 0 < model.score(x[40:], y[40:], metric="characters") <= 1


def test_labels(words):
    x, _, classes = words
    model = IOKR(kx=STRINGS, ky="zero-one", lam=0.01).fit(x, okra.labels(classes))
    assert (model.predict(x) == classes).mean() > 0.8
    named = np.array(["red", "green", "blue"])[classes.astype(int) % 3]
    model.fit(x, okra.labels(named))
    assert set(model.predict(x)) <= set(named)
    model.fit(x, classes)  # numbers in one column
    assert model.predict(x).shape == classes.shape


def test_candidates_of_each_call(patterns):
    X, Y = patterns
    model = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", lam=0.1).fit(X[:40], Y[:40])
    chosen = model.predict(X[40:], candidates=Y[40:])
    assert chosen.shape == (20, 128)
    index, distance = model.rank(X[40:], Y[40:], top=4)
    assert np.array_equal(chosen, Y[40:][index[:, 0]])
    nested = model.predict(X[40:], candidates=Y[40:], top=4)
    assert nested.shape == (20, 4, 128) and np.array_equal(nested[:, 0], chosen)
    sure = model.confidence(X[40:], Y[40:])
    K = rbf(X[:40], X[:40]) + 0.1 * np.eye(40)
    k = rbf(X[40:], X[:40])
    assert np.allclose(sure[:, 0], distance[:, 0], rtol=1e-9)
    assert np.allclose(sure[:, 1], distance[:, 1] - distance[:, 0], rtol=1e-6, atol=1e-9)
    assert np.allclose(sure[:, 2], 1 - (k * np.linalg.solve(K, k.T).T).sum(1), rtol=1e-9)
    ranges = np.stack([np.arange(20), np.arange(1, 21)], axis=1)
    assert np.array_equal(model.predict(X[40:], candidates=Y[40:], ranges=ranges), Y[40:])
    with pytest.raises(ValueError, match="fewer than top"):
        model.predict(X[40:], candidates=Y[40:42], top=3)
    with pytest.raises(ValueError, match="ranges have shape"):
        model.predict(X[40:], candidates=Y[40:], ranges=ranges[:3])


def rbf(a, b, sigma=4.0):
    a, b = np.asarray(a), np.asarray(b)
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(2) / (2 * sigma ** 2))


def rbf_y(a, b):
    return rbf(a, b, 7.0)


def test_expression_callable_and_precomputed_agree(patterns):
    X, Y = patterns
    x, y, t = X[:40], Y[:40], X[40:]
    one = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", lam=0.1).fit(x, y)
    two = IOKR(kx=rbf, ky=rbf_y, lam=0.1).fit(x, y)
    three = IOKR(kx="precomputed", ky="precomputed", lam=0.1).fit(rbf(x, x), rbf_y(y, y))
    W = one.weights(t)
    # Worst over 20 seeds: 3.2e-15.
    assert np.abs(W - two.weights(t)).max() < 4e-14
    assert np.abs(W - three.weights(rbf(t, x))).max() < 4e-14
    assert np.array_equal(one.predict(t), two.predict(t))
    assert np.array_equal(one.predict(t), y[three.predict(rbf(t, x))])
    assert abs(one.score(t, Y[40:]) - two.score(t, Y[40:])) < 4e-14
    rows = rbf_y(Y[40:], y), np.ones(20)
    assert np.array_equal(one.rank(t, Y[40:], top=1)[0],
                          three.rank(rbf(t, x), okra.gram(*rows), top=1)[0])
    again = pickle.loads(pickle.dumps(two))
    assert np.array_equal(again.predict(t), two.predict(t))
    for model in (two, three):
        assert abs(model.loo_score_ - one.loo_score_) < 4e-14
    with pytest.raises(ValueError, match="shape"):
        IOKR(kx=lambda a, b: np.eye(3)).fit(x, y)
    with pytest.raises(ValueError, match="kernel expression"):
        IOKR(kx=3).fit(x, y)


@pytest.mark.parametrize("model", [
    IOKR(kx="rbf(sigma=4)", operator="ccov", lam=1e-3), TwinGP("rbf(sigma=4)", "rbf(sigma=7)"),
    KDE(kx="rbf(sigma=4)", components=0.9), IOKRMargin(kx="rbf(sigma=4)", loss="epsilon"),
    IOKR(kx="rbf(sigma=4)", low_rank_x="chol(rank=20)"), IOKR(twin="2,2", kx="rbf(sigma=4)",
                                                             ky="rbf(sigma=7)"),
    IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", decode="fixed-point",
         decode_options={"starts": 2}),
    OK3(kx="rbf(sigma=4)", trees=5, random_state=1),
    OK3(kx="rbf(sigma=4) | nystrom(rank=9)", ky="rbf(sigma=7)", trees=5),
    KDE(kx="rbf(sigma=4)", low_rank_x="nystrom(rank=9)"),
    IOKRMargin(kx="rbf(sigma=4)", low_rank_x="nystrom(rank=9)"),
    SOAR(kx="rbf(sigma=4)", lam=1.0, associate="rbf(sigma=7)"),
    KernelSVR(kx="rbf(sigma=4)"),
    JointKernelMap(kx="patches(rbf(sigma=1),width=16,patch=4,overlap=2)"),
    IOKRCV(kx="rbf(sigma={2,4})", lam=[0.01, 0.1])], ids=str)
def test_pickled_models_predict_the_same_bits(patterns, model):
    X, Y = patterns
    model = clone(model).fit(X[:40], Y[:40])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X[40:]), model.predict(X[40:]))
    assert again.score(X[40:], Y[40:]) == model.score(X[40:], Y[40:])
    assert pickle.dumps(pickle.loads(pickle.dumps(clone(model)))) == pickle.dumps(
        clone(model))


def test_inputs_without_outputs(patterns):
    X, Y = patterns
    plain = IOKR(kx="rbf(sigma=4)", lam=0.1).fit(X[:20], Y[:20])
    semi = IOKR(kx="rbf(sigma=4)", lam=0.1, lambda2=0.01, graph="knn(k=5)").fit(X, Y[:20])
    assert semi.predict(X).shape == Y.shape
    assert not np.allclose(semi.predict(X), plain.predict(X))
    W = np.exp(-rbf(X, X))
    given = IOKR(kx="rbf(sigma=4)", lam=0.1, lambda2=0.01, graph=(W + W.T) / 2)
    assert given.fit(X, Y[:20]).predict(X[:2]).shape == (2, 128)
    with pytest.raises(ValueError, match="inconsistent"):
        IOKR().fit(X[:20], Y)


def test_multi_task(patterns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    Y = X @ rng.normal(size=(3, 4))
    W = np.ones((4, 4)) - np.eye(4)
    A = np.linalg.inv(0.5 * (np.diag(W.sum(1)) - W) + 0.5 * np.eye(4))
    graph = MultiTaskKernelRidge(lam=0.1, task_graph=W, mu=0.5).fit(X, Y)
    matrix = MultiTaskKernelRidge(lam=0.1, task_matrix=A).fit(X, Y)
    also = IOKR(lam=0.1, operator=A).fit(X, Y)
    # Worst over 20 seeds: 4.4e-15.
    assert np.abs(graph.predict(X) - matrix.predict(X)).max() < 5e-14
    assert np.array_equal(matrix.predict(X), also.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(graph)).predict(X), graph.predict(X))
    assert graph.loo_score_ < graph.score(X, Y) <= 1
    holes = Y.copy()
    holes[::3, 1] = np.nan
    some = MultiTaskKernelRidge(lam=0.1).fit(X, okra.missing(holes))
    assert np.isfinite(some.predict(X)).all()
    with pytest.raises(ValueError, match="not both"):
        MultiTaskKernelRidge(task_graph=W, task_matrix=A).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        MultiTaskKernelRidge().fit(X, holes)


def test_diagonal_operator():
    """One coordinate at a time it is ridge with the kernel 0.7 k + 0.3 x_j x'_j."""
    rng = np.random.default_rng(0)
    X, Y, T = rng.normal(size=(20, 4)), rng.normal(size=(20, 4)), rng.normal(size=(6, 4))

    def k(A, B, j):
        d2 = ((A[:, None] - B[None]) ** 2).sum(-1)
        return 0.7 * np.exp(-d2 / 8) + 0.3 * np.outer(A[:, j], B[:, j])

    model = IOKR(kx="rbf(sigma=2)", lam=0.1, operator="diagonal(t=0.3)").fit(X, Y)
    B = [np.linalg.inv(k(X, X, j) + 0.1 * np.eye(20)) for j in range(4)]
    want = np.stack([k(T, X, j) @ B[j] @ Y[:, j] for j in range(4)], axis=1)
    left = np.stack([B[j] @ Y[:, j] / np.diag(B[j]) for j in range(4)], axis=1)
    # Worst over 20 seeds: 1.2e-14 and 1.0e-13.
    assert np.abs(model.predict(T) - want).max() < 1.2e-13
    assert np.abs(model.loo_losses_ - (left ** 2).sum(1)).max() < 1e-12


def test_support_vector_regression_of_every_coordinate():
    from sklearn.svm import SVR
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]], axis=1)
    model = KernelSVR(kx="rbf(sigma=1)", cost=3.0, tube=0.05, svm_tolerance=1e-6).fit(X, Y)
    want = [SVR(C=3.0, epsilon=0.05, gamma=0.5, tol=1e-6).fit(X, y).predict(T) for y in Y.T]
    # Worst over 20 seeds: 1.7e-15; another LIBSVM may stop elsewhere within the tolerance.
    assert np.abs(model.predict(T) - np.stack(want, axis=1)).max() < 1e-5


def test_outputs_regressed_on_one_another():
    """Without sweeps it is ridge of every output about its mean."""
    rng = np.random.default_rng(0)
    X, Y, T = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.normal(size=(6, 3))
    alone = SOAR(kx="rbf(sigma=2)", lam=0.3, sweeps=0).fit(X, Y)
    B = np.linalg.solve(rbf(X, X, 2.0) + 0.3 * np.eye(20), Y - Y.mean(0))
    # Worst over 20 seeds: 4.9e-15.
    assert np.abs(alone.predict(T) - Y.mean(0) - rbf(T, X, 2.0) @ B).max() < 5e-14
    both = SOAR(kx="rbf(sigma=2)", lam=0.3).fit(X, Y)
    assert not np.allclose(both.predict(T), alone.predict(T))


def test_images_by_patches():
    """Patches of one pixel: ridge of every pixel on that pixel."""
    rng = np.random.default_rng(0)
    X, Y, T = rng.normal(size=(20, 6)), rng.normal(size=(20, 6)), rng.normal(size=(5, 6))
    model = JointKernelMap("patches(rbf(sigma=1),width=3,patch=1,overlap=0)", 0.2).fit(X, Y)
    want = [rbf(T[:, [j]], X[:, [j]], 1.0) @ np.linalg.solve(
        rbf(X[:, [j]], X[:, [j]], 1.0) + 0.2 * np.eye(20), Y[:, j]) for j in range(6)]
    # Worst over 20 seeds: 1.4e-14.
    assert np.abs(model.predict(T) - np.stack(want, axis=1)).max() < 1.4e-13
    tube = JointKernelMap("patches(linear,width=3,patch=1,overlap=0)", tube=0.5).fit(X, Y)
    assert tube.predict(T).shape == (5, 6)
    with pytest.raises(okra.ShapeError, match="images of the same size"):
        JointKernelMap().fit(X, Y[:, :2])


@pytest.mark.parametrize("model", [
    ConstrainedRegression(reach=0, lam=0.01), M3N(tolerance=1e-3),
    ConstrainedRegression(reach=0, lam=0.01, decode_options={"chain": 1})], ids=str)
def test_letters_of_sequences(model):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), size=length)) for length in rng.integers(2, 6, 60)]
    inputs = [2 * np.eye(3)[["abc".index(letter) for letter in text]]
              + 0.1 * rng.normal(size=(len(text), 3)) for text in texts]
    model = clone(model).fit(inputs[:40], texts[:40])
    predicted = model.predict(inputs[40:])
    assert [len(text) for text in predicted] == [len(text) for text in texts[40:]]
    right = np.mean([np.mean([a == b for a, b in zip(*pair)])
                     for pair in zip(predicted, texts[40:])])
    assert model.score(inputs[40:], texts[40:]) == pytest.approx(right, abs=0.05) and right > 0.9
    assert -0.5 < model.score(inputs[40:], texts[40:], metric="edit") <= 0
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(inputs[40:]) == predicted
    with pytest.raises(okra.OkraError):
        model.fit(inputs, [text + "a" for text in texts])


def test_leave_one_out_says_where_it_cannot():
    X = np.eye(4)
    with pytest.raises(okra.UnsupportedError, match="leave-one-out"):
        KDE().fit(X, X).loo_score_
    with pytest.raises(okra.UnsupportedError):
        IOKR(operator="cov").fit(X, X).loo_score_


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
    assert dense.chosen_["decode"] == "labels"
    found = dense.predict(X[40:])
    assert set(np.unique(found)) <= {0, 1}
    assert np.array_equal(found, dense.embedding(X[40:]) > 0.5)
    thin = IOKR(**{**dense.chosen_, "decode": "labels"}).fit(X[:40], csr_matrix(sets[:40]))
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


# ---- links ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    X = np.eye(3)[group] + 0.3 * rng.normal(size=(60, 3))
    a, b = np.triu_indices(60, 1)
    there = rng.random(len(a)) < np.where(group[a] == group[b], 0.5, 0.02)
    return X, np.stack([a, b], axis=1)[there]


def test_links(network):
    networkx = pytest.importorskip("networkx")
    X, edges = network
    known = edges[(edges < 30).all(1)]
    model = LinkPredictor(kx="rbf(sigma=1)", lam=0.1).fit(X, known, np.arange(30))
    pairs, scores = model.rank(top=10)
    assert pairs.shape == (10, 2) and (np.diff(scores) <= 0).all()
    assert np.allclose(model.decision_function(pairs), scores, rtol=1e-12)
    everything, _ = model.rank()
    assert len(everything) == 30 * 30 + 30 * 29 // 2
    areas = model.evaluate(edges)
    assert areas["auc_roc"] > 0.75 and model.score(edges) == areas["auc_roc"]
    # The same from the scores themselves.
    from sklearn.metrics import roc_auc_score
    known_set = {tuple(e) for e in edges}
    listed, values = model.rank()
    truth = [tuple(sorted(p)) in known_set for p in listed.tolist()]
    assert np.isclose(roc_auc_score(truth, values), areas["auc_roc"], rtol=1e-12)
    assert 0.5 < model.loo_score_ <= 1
    graph = networkx.Graph()
    graph.add_edges_from(known.tolist())
    also = LinkPredictor(kx="rbf(sigma=1)", lam=0.1).fit(X, graph, np.arange(30))
    assert np.array_equal(also.decision_function(pairs), model.decision_function(pairs))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(pairs), model.decision_function(pairs))
    gram = LinkPredictor(kx="precomputed", lam=0.1).fit(
        okra.gram_matrix("rbf(sigma=1)", X), known, np.arange(30))
    assert np.allclose(gram.decision_function(pairs), scores, rtol=1e-9)
    for method in ("naive", "kcca", "kml", "local", "em", "pkmr", "ok3"):
        other = LinkPredictor(kx="rbf(sigma=1)", method=method).fit(
            X, known, np.arange(30))
        listed, values = other.rank(pairs="labelled-new")
        truth = [tuple(sorted(p)) in known_set for p in listed.tolist()]
        assert np.isclose(roc_auc_score(truth, values), other.score(edges, "labelled-new"),
                          rtol=1e-12)
    call = LinkPredictor(kx=lambda u, v: okra.gram_matrix("rbf(sigma=1)", u, v), lam=0.1)
    assert np.allclose(call.fit(X, known, np.arange(30)).decision_function(pairs), scores,
                       rtol=1e-9)
    # Nodes that are unseen while learning change nothing for the others.
    semi = LinkPredictor(kx="rbf(sigma=1)", lam=0.1, lambda2=0.1)
    pairs = [[0, 30], [3, 44], [31, 40]]
    without = semi.fit(X[:45], known, np.arange(30)).decision_function(pairs)
    unseen = clone(semi).fit(X, known, np.arange(30), unlabelled=np.arange(30, 45))
    assert np.allclose(unseen.decision_function(pairs), without, rtol=1e-12)
    again = pickle.loads(pickle.dumps(unseen))
    assert np.array_equal(again.decision_function(pairs), unseen.decision_function(pairs))
    all_help = semi.fit(X, known, np.arange(30)).decision_function(pairs)
    assert not np.allclose(all_help, without, rtol=1e-6)
    assert clone(model).get_params() == model.get_params()
    for bad in (lambda: model.rank(pairs="some"), lambda: model.fit(X, np.eye(4)),
                lambda: LinkPredictor().fit(X, [[0, 0]])):
        with pytest.raises(ValueError):
            bad()


def test_constants_are_read():
    assert constants["OKRA_LINK_NEW_NEW"] == 2 and interface.callbacks


def test_networkx_graphs_come_back_as_they_were_given():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(k) for k in range(2, 8)]
    X = 10.0 * np.eye(6)
    model = IOKR(kx="rbf(sigma=1)", ky="wl(h=2)", lam=1e-6).fit(X, graphs)
    assert all(a is b for a, b in zip(model.predict(X), graphs))
    assert all(row[0] is g for row, g in zip(model.predict(X, top=2), graphs))
    assert all(g in graphs for g in model.loo_predictions_)
    again = pickle.loads(pickle.dumps(model)).predict(X)
    assert [len(g) for g in again] == [len(g) for g in graphs]


def test_metrics_of_labels_and_bits_take_what_was_predicted():
    X = 10.0 * np.eye(4)
    names = ["b", "a", "b", "c"]
    model = IOKR(kx="rbf(sigma=1)", ky="zero-one", lam=1e-6).fit(X, okra.labels(names))
    assert model.score(X, okra.labels(names), metric="zero-one") == 0
    assert model.score(X, ["b", "a", "c", "c"], metric="zero-one") == -0.25
    rows = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0]])
    model = IOKR(kx="rbf(sigma=1)", ky="tanimoto", lam=1e-6).fit(X, okra.bits(rows))
    assert model.score(X, okra.bits(rows), metric="hamming") == 0


@pytest.mark.parametrize("jobs", [0, "two", 1.5])
def test_a_number_of_threads_that_is_none(jobs):
    with pytest.raises(ValueError, match="n_jobs is"):
        IOKR(n_jobs=jobs).fit(np.eye(3), np.eye(3))


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


def test_links_choose_kernel_and_lambda():
    r = np.random.default_rng(3)
    X = r.normal(size=(70, 3)) * [1, 1, 50]
    near = np.linalg.norm(X[:, None, :2] - X[None, :, :2], axis=2) < 0.6
    edges = np.argwhere(np.triu(near, 1))
    known = edges[(edges < 45).all(1)]
    model = LinkPredictor().fit(X, known, np.arange(45))
    assert set(model.chosen_) == {"kx", "lam"} and model.search_["kind"] == "select"
    plain = LinkPredictor(kx="linear", lam=0.1).fit(X, known, np.arange(45))
    assert model.score(edges) > plain.score(edges) + 0.02 and plain.chosen_ == {}
    same = LinkPredictor(**model.chosen_).fit(X, known, np.arange(45))
    np.testing.assert_array_equal(same.rank(9)[1], model.rank(9)[1])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.rank(9)[1], model.rank(9)[1])
    for method in ("kcca", "margin", "knn"):  # without a closed form, and of links alone
        other = LinkPredictor(method=method).fit(X, known, np.arange(45))
        assert other.chosen_["kx"] != "auto" and 0 <= other.score(edges) <= 1


@pytest.mark.parametrize("names", [(1, 2), (0, 1), (-1, 1), (True, False), (0.5, 2.5),
                                   ("no", "yes"), (np.uint8(3), np.uint8(9))], ids=str)
def test_classes_come_back_as_they_were_given(names):
    r = np.random.default_rng(0)
    X = r.normal(size=(50, 2))
    y = np.where(X[:, 0] > 0, np.array(names[0]), np.array(names[1]))
    model = IOKR().fit(X[:40], okra.labels(y[:40]))
    got = model.predict(X[40:])
    assert got.dtype == y.dtype and set(got.tolist()) <= set(y.tolist())
    assert model.score(X[40:], y[40:]) == np.mean(got == y[40:]) > 0.7
    assert model.score(X[40:], okra.labels(y[40:])) == np.mean(got == y[40:])
    assert model.loo_score_ == np.mean(model.loo_predictions_ == y[:40]) > 0.7
    assert model.predict(X[:3], top=2).dtype == y.dtype
    assert {type(v) for s in model.predict_set(X[:3]) for v in s.tolist()} == {type(y.tolist()[0])}
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X[40:]), got)
    more = model.partial_fit(X[40:], y[40:])
    assert more.predict(X).dtype == y.dtype
    weighed = model.score(X, y, sample_weight=np.arange(50.0))
    assert weighed == np.average(model.predict(X) == y, weights=np.arange(50.0))


def test_arrays_of_texts_are_classes_where_they_repeat():
    pandas = pytest.importorskip("pandas")
    r = np.random.default_rng(1)
    X = r.normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, "left", "right")
    for form in (y, y.astype(object), pandas.Series(y, name="side")):
        model = IOKR().fit(X, form)
        assert model.model_.outputs.kind == "labels"
        assert model.chosen_["ky"] == "zero-one" and model.score(X, form) > 0.9
    assert model.set_output(predict="pandas").predict(X).name == "side"
    # Data, another kernel, or texts that hardly repeat: strings
    assert IOKR().fit(X, list(y)).model_.outputs.kind == "labels"
    assert IOKR().fit(X, okra.as_data(list(y))).model_.outputs.kind == "strings"
    assert IOKR(ky="spectrum(k=2)").fit(X, y).model_.outputs.kind == "strings"
    words = np.array([f"w{i // 2}x{i}" for i in range(40)])
    assert IOKR().fit(X, words).model_.outputs.kind == "strings"


def test_whole_numbers_that_look_like_classes_are_told():
    X = np.random.default_rng(2).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(okra.OkraWarning, match="y holds 2 different whole numbers, which are "
                      r"learned as numbers; okra.labels\(y\) makes them classes") as told:
        IOKR().fit(X, y + 1)
    assert told[0].filename == __file__
    with pytest.warns(okra.OkraWarning, match="y holds 0 and 1, which are predicted as such"):
        assert set(IOKR().fit(X, y).predict(X)) == {0, 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IOKR().fit(X, y.astype(float))
        IOKR(ky="linear").fit(X, y)
        IOKR().fit(X, okra.labels(y))
        IOKR().fit(np.arange(30.0).reshape(-1, 1), np.arange(30))


def test_set_output_by_the_name_that_transformers_use():
    pandas = pytest.importorskip("pandas")
    r = np.random.default_rng(3)
    X = pandas.DataFrame(r.normal(size=(30, 2)), columns=["a", "b"], index=range(5, 35))
    Y = pandas.DataFrame({"c": X.a * 2, "d": X.b + 1})
    got = IOKR().set_output(transform="pandas").fit(X, Y).predict(X)
    assert list(got.columns) == ["c", "d"] and list(got.index) == list(X.index)
    model = IOKR().set_output(transform="pandas", predict="default").fit(X, Y)
    assert isinstance(model.predict(X), np.ndarray)
    with pytest.raises(ValueError, match="transform is 'polars', expected"):
        IOKR().set_output(transform="polars")
