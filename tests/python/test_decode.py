"""Model.decode: weights of anyone over the training outputs."""
import numpy as np
import pytest
import scipy.sparse

import okra


@pytest.fixture(name="model")
def fixture_model():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3))
    y = np.hstack([np.sin(x[:, :1]), x[:, 1:2]])
    return okra.Model.fit(x, y, {"method": "blend", "kx": "rbf(sigma=2)", "ky": "linear",
                                 "lambda": "0.1", "trees": "5"}), rng.normal(size=(4, 3)), y


def test_own_weights_give_own_predictions(model):
    model, x, y = model
    own = model.predict(x, weights=True)
    for weights in (own.weights(), scipy.sparse.csr_matrix(own.weights())):
        np.testing.assert_allclose(model.decode(weights).objects().objects, own.weights() @ y,
                                   atol=1e-12)
        ranked = model.decode(weights, {"decode": "candidates", "top": "3"})
        want = model.predict(x, {"decode": "candidates", "top": "3"})
        assert np.array_equal(ranked.index(), want.index())


def test_shapes_are_checked(model):
    model, _, _ = model
    with pytest.raises(okra.OkraError, match="has 3 numbers, expected 20"):
        model.decode(np.ones((4, 3)))
    with pytest.raises(okra.OkraError, match="weights of 4 test points, expected 2"):
        model.decode(np.ones((4, 20)), x=np.zeros((2, 3)))


def told(kernel, decoder, strings=False, **options):
    """Predictions at 0, where the training output is empty, far from all, and at 1."""
    outputs = ["", "ab", "abb", "ba", "bab", "b"]
    x, new = np.arange(6.0)[:, None], np.array([[0.0], [9.0], [1.0]])
    if strings:
        x, new = list("abcdef"), ["a", "zz", "b"]
    model = okra.Model.fit(okra.as_data(x), okra.as_data(outputs), {
        "kx": "edit(sigma=1)" if strings else "rbf(sigma=0.5)", "ky": kernel, "lambda": 1e-3})
    return list(model.predict(okra.as_data(new), {"decode": decoder, **options}).objects())


@pytest.mark.filterwarnings("ignore")
def test_all_decoders_treat_the_empty_string_alike():
    """One without features is left out unless it is let in; where the kernel sees it, it is as any other."""
    allow = {"allow-empty-candidates": "yes"}
    for decoder in ("candidates", "string", "position"):
        assert "" not in told("spectrum(k=2)", decoder)
        assert told("spectrum(k=2)", decoder, **allow) == ["", "", "ab"]
        assert "" not in told("position(zero-one)", decoder)
        assert told("position(zero-one)", decoder, **allow) == ["", "", "ab"]
    assert "" not in told("spectrum(k=2)", "rewrite", strings=True)
    for kernel in ("edit(sigma=1)", "ends"):
        for decoder in ("candidates", "string", "rewrite"):
            assert told(kernel, decoder, decoder == "rewrite")[0] == ""
        # its own features, those of letters at places, do not see it
        assert "" not in told(kernel, "position")
        assert told(kernel, "position", **allow)[0] == ""
    assert "" not in told("spectrum(k=2) | normalize", "position", **allow)
    assert told("spectrum(k=2)", "loss:edit")[0] == ""
