"""Links of networks."""
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import okra
from okra import LinkPredictor


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


def test_links_choose_kernel_and_lambda():
    r = np.random.default_rng(3)
    X = r.normal(size=(70, 3)) * [1, 1, 50]
    near = np.linalg.norm(X[:, None, :2] - X[None, :, :2], axis=2) < 0.6
    edges = np.argwhere(np.triu(near, 1))
    known = edges[(edges < 45).all(1)]
    model = LinkPredictor().fit(X, known, np.arange(45))
    assert set(model.chosen_) == {"kx", "lam", "norm"} and model.search_["kind"] == "select"
    plain = LinkPredictor(kx="linear", lam=0.1).fit(X, known, np.arange(45))
    assert model.score(edges) > plain.score(edges) + 0.02 and set(plain.chosen_) == {"norm"}
    same = LinkPredictor(**model.chosen_).fit(X, known, np.arange(45))
    np.testing.assert_array_equal(same.rank(9)[1], model.rank(9)[1])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.rank(9)[1], model.rank(9)[1])
    for method in ("kcca", "margin", "knn"):  # without a closed form, and of links alone
        other = LinkPredictor(method=method).fit(X, known, np.arange(45))
        assert other.chosen_["kx"] != "auto" and 0 <= other.score(edges) <= 1


def test_nodes_have_names_and_descriptions_of_several_kinds():
    pandas, networkx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    r = np.random.default_rng(4)
    X = r.normal(size=(40, 2))
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 0.7
    edges = np.argwhere(np.triu(near, 1))
    known = edges[(edges < 30).all(1)]
    names = np.array([f"P{i:03d}" for i in range(40)])
    frame = pandas.DataFrame(X, columns=["u", "v"], index=names)
    plain = LinkPredictor(kx="rbf(sigma=1)", lam=0.1).fit(X, known, np.arange(30))
    want, scores = plain.rank(9)
    graph = networkx.Graph([tuple(names[pair]) for pair in known])
    for form in (names[known], graph, pandas.DataFrame(names[known], columns=["a", "b"])):
        named = LinkPredictor(kx="rbf(sigma=1)", lam=0.1).fit(frame, form, names[:30])
        pairs, values = pickle.loads(pickle.dumps(named)).rank(9)
        assert pairs.tolist() == names[want].tolist() and np.array_equal(values, scores)
        assert named.score(names[edges]) == plain.score(edges)
        assert np.array_equal(named.decision_function(pairs), plain.decision_function(want))
        assert np.array_equal(named.decision_function(pandas.DataFrame(pairs, columns=["a", "b"])),
                              plain.decision_function(want))
    kinds = frame.assign(where=np.where(X[:, 0] > 0, "left", "right"))
    mixed = LinkPredictor(kx="standardize | rbf(sigma=1)", lam=0.1)
    assert len(mixed.fit(kinds, names[known]).rank(3)[0]) == 3
    with pytest.raises(ValueError, match="there is no node 'P0.*set_index"):
        plain.fit(X, names[known])
    with pytest.raises(ValueError, match="there is no node 'nobody'"):
        mixed.fit(kinds, [("P001", "nobody")])
    with pytest.raises(ValueError, match="twice"):
        mixed.fit(kinds.set_index("where", drop=False), names[known])
