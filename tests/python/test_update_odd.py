"""Updates at the edges: kernels that are functions, weights of 0, other inputs than those that
were learned from, pairs of very different sizes."""
import pickle
import warnings

import numpy as np
import pytest

import okra
from okra import IOKR, Model


def problem(n=40, seed=0):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 3))
    return x, np.sin(x @ r.normal(size=(3, 2))), r.normal(size=(7, 3))


def rbf(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / 2)


def linear(a, b):
    return np.asarray(a) @ np.asarray(b).T


@pytest.mark.parametrize("kernels", [{"kx": rbf, "ky": "linear"},
                                     {"kx": "rbf(sigma=1)", "ky": linear},
                                     {"kx": rbf, "ky": linear}])
def test_kernels_that_are_functions(kernels):
    x, y, t = problem()

    def weights(model):
        return model.weights(t)

    now = IOKR(lam=0.1, **kernels).fit(x[:30], y[:30])
    before = weights(now)
    now.partial_fit(x[30:], y[30:])
    assert now.update_["how"] == "refit" and now.update_["why"] == "a kernel is a function"
    assert now.update_["added"] == 10
    assert np.array_equal(weights(now), weights(IOKR(lam=0.1, **kernels).fit(x, y)))
    now.remove([3, 0])
    stay = np.r_[1:3, 4:40]
    assert np.array_equal(weights(now), weights(IOKR(lam=0.1, **kernels).fit(x[stay], y[stay])))
    now.remove(np.arange(28, 38)).partial_fit(x[:1], y[:1]).partial_fit(x[3:4], y[3:4])
    order = np.r_[1:3, 4:30, 0, 3]
    assert np.array_equal(weights(now), weights(IOKR(lam=0.1, **kernels).fit(x[order], y[order])))
    assert np.allclose(weights(now)[:, [28, 0, 1, 29]], before[:, :4], atol=1e-12)
    for wrong in ([40], [-1], [1, 1], [0.5]):
        with pytest.raises(ValueError, match="rows to remove are"):
            now.remove(wrong)
    kept = weights(now)
    with pytest.raises(ValueError):
        now.partial_fit(x[:2, :2], y[:2])
    assert np.array_equal(weights(now), kept)  # a failure leaves it as it was
    again = pickle.loads(pickle.dumps(now)).partial_fit(x[5:7], y[5:7])
    assert len(again.model_) == 32


def test_functions_with_weights():
    x, y, t = problem()
    w = np.random.default_rng(1).integers(1, 4, 40).astype(float)
    now = IOKR(kx=rbf, ky="linear", lam=0.1).fit(x[:20], y[:20], sample_weight=w[:20])
    now.partial_fit(x[20:], y[20:], sample_weight=w[20:])
    whole = IOKR(kx=rbf, ky="linear", lam=0.1).fit(x, y, sample_weight=w)
    assert np.array_equal(now.predict(t), whole.predict(t))
    plain = IOKR(kx=rbf, ky="linear", lam=0.1).fit(x[:20], y[:20])
    plain.partial_fit(x[20:], y[20:], sample_weight=2)
    twice = IOKR(kx=rbf, ky="linear", lam=0.1).fit(x, y, sample_weight=np.r_[np.ones(20),
                                                                            np.full(20, 2)])
    assert np.array_equal(plain.predict(t), twice.predict(t))


def test_functions_keep_what_was_chosen():
    x, y, t = problem()
    now = IOKR(kx=rbf, ky="linear").fit(x[:30], y[:30])
    chosen = dict(now.chosen_)
    now.partial_fit(x[30:], y[30:])
    assert now.chosen_ == chosen
    whole = IOKR(kx=rbf, ky="linear", lam=chosen["lam"],
                 center_output=chosen.get("center_output", False)).fit(x, y)
    assert np.abs(now.predict(t) - whole.predict(t)).max() < 1e-12


def test_functions_of_loaded_models(tmp_path):
    x, y, _ = problem()
    IOKR(kx=rbf, ky="linear", lam=0.1).fit(x, y).save(tmp_path / "f.okra")
    with pytest.raises(ValueError, match="fit anew"):
        IOKR.load(tmp_path / "f.okra", kx=rbf).partial_fit(x, y)


@pytest.mark.parametrize("more", [{}, {"low_rank_x": "nystrom(rank=10)", "keep_moments": True},
                                  {"kx": rbf}])
def test_weights_of_zero_are_no_pairs(more):
    x, y, t = problem()
    model = IOKR(**{"kx": "rbf(sigma=1)", "ky": "linear", "lam": 0.1, **more}).fit(x[:30], y[:30])
    before = model.predict(t)
    model.partial_fit(x[30:31], y[30:31], sample_weight=0)
    assert np.array_equal(model.predict(t), before) and len(model.model_) == 30
    model.partial_fit(x[30:32], y[30:32], sample_weight=[0, 0])
    assert model.update_["added"] == 0 and len(model.model_) == 30
    model.partial_fit(x[30:32], y[30:32], sample_weight=[0, 1])
    assert model.update_["added"] == 1 and len(model.model_) == 31
    with pytest.raises((ValueError, okra.OkraError)):
        model.partial_fit(x[30:31], y[30:31], sample_weight=-1)


def test_other_inputs_than_those_that_were_learned_from():
    x, y, t = problem()
    model = IOKR(kx="rbf(sigma=1)", ky="linear", lam=0.1, low_rank_x="nystrom(rank=10)",
                 keep_moments=True).fit(x, y)
    with pytest.raises(okra.OkraError, match="not the input of training pair 3"):
        model.remove([3, 5], x[[5, 3]])
    with pytest.raises(okra.OkraError, match="not the input of training pair 3"):
        model.remove([3], x[3:4] + 1e-9)
    model.remove([5, 3], x[[5, 3]])
    assert len(model.model_) == 38


@pytest.mark.parametrize("size", [1.0, 1e6, 1e9, 1e12, 1e15])
def test_large_outputs_that_go(size):
    x, y, t = problem()
    values = {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.1, "low-rank-x": "rff(rank=20)",
              "keep-moments": True}
    first = Model.fit(x, y, values)

    def h(model):
        return model.predict(t, {"decode": "none"}, embedding=True).embedding()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        more = first.update(x[:1] + 1, np.full((1, 2), size))[0]
        if size >= 1e15:
            with pytest.raises(okra.OkraError, match="fit the pairs that stay anew"):
                more.update(remove=[40], removed_x=x[:1] + 1)
            return
        back, report = more.update(remove=[40], removed_x=x[:1] + 1)
    off = np.abs(h(back) - h(first)).max()
    assert off <= 1e3 * report["drift"] and (off < 1e-9 or told)
    assert len(told) == (report["drift"] > 1e-12)


def test_many_additions_do_not_warn_each_time():
    x, y, _ = problem(200)
    model = Model.fit(x[:20], y[:20], {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.1,
                                       "low-rank-x": "rff(rank=4)", "keep-moments": True})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for i in range(3000):  # a window of 20 pairs
            a, b = i % 200, (i + 20) % 200
            model, report = model.update(x[b:b + 1], y[b:b + 1], [0], x[a:a + 1])
    assert 1e-12 < report["drift"] < 2e-12 and len(told) == 1


@pytest.mark.parametrize("kx", ["rbf(sigma=1)", rbf])
def test_masks_name_rows(kx):
    x, y, t = problem()
    mask = x[:, 0] > 1.2
    model = IOKR(kx=kx, ky="linear", lam=0.1).fit(x, y).remove(mask)
    assert 0 < mask.sum() < 20 and len(model.model_) == (~mask).sum()
    want = IOKR(kx=kx, ky="linear", lam=0.1).fit(x[~mask], y[~mask])
    assert np.abs(model.predict(t) - want.predict(t)).max() < 1e-12
    with pytest.raises(ValueError, match="rows to remove are"):
        model.remove(mask[:3])
