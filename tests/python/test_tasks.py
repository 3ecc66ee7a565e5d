"""Estimators on tasks of every kind: strings, labels, candidates, images, sequences."""
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import okra
from okra import (IOKR, IOKRCV, KDE, M3N, OK3, SOAR, ConstrainedRegression, IOKRMargin,
                  JointKernelMap, KernelSVR, MultiTaskKernelRidge, TwinGP)


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
