"""Names of columns: frames and files meet models by them."""
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import okra
from okra import IOKR
from okra._data import name_columns

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["age", "height", "weight"])
Y = X.to_numpy() @ RNG.normal(size=(3, 2))
VALUES = {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.1}
OTHER = X[["weight", "age", "height"]]


def embed(model, x):
    return model.predict(x, {"decode": "explicit"}, embedding=True).embedding()


def test_models_take_columns_by_name():
    model = okra.Model.fit(X, Y, VALUES)
    assert model.info["x"]["columns"] == list(X.columns)
    want = embed(model, X)
    with pytest.warns(okra.OkraWarning, match="another order"):
        assert np.array_equal(embed(model, OTHER), want)
    assert np.array_equal(embed(model, X.to_numpy()), want)
    again = okra.Model.from_bytes(model.to_bytes())
    with pytest.warns(okra.OkraWarning, match="another order"):
        assert np.array_equal(embed(again, OTHER), want)
    with pytest.raises(ValueError, match="column 2 is 'hight', expected 'height'"):
        embed(model, X.rename(columns={"height": "hight"}))
    with pytest.raises(ValueError, match="column 4 is 'id', which is none of the 3"):
        embed(model, X.assign(id=1.0))
    with pytest.raises(ValueError, match="there is no column 'weight'"):
        embed(model, X[["age", "height"]])
    plain = okra.Model.fit(X.to_numpy(), Y, VALUES)
    assert "columns" not in plain.info["x"]
    assert np.array_equal(embed(plain, X), want)


def test_other_kinds():
    bits = (X > 0).astype(float)
    for convert in (okra.bits, lambda a: okra.as_data(csr_matrix(a))):
        a = name_columns(convert(bits.to_numpy()), bits.columns)
        b = name_columns(convert(bits[OTHER.columns].to_numpy()), OTHER.columns)
        model = okra.Model.fit(a, Y, {**VALUES, "kx": "linear"})
        with pytest.warns(okra.OkraWarning, match="another order"):
            assert np.allclose(embed(model, b), embed(model, a), rtol=0, atol=1e-14)
    both = okra.as_data((okra.as_data(X), okra.as_data(bits)))
    model = okra.Model.fit(both, Y, {**VALUES, "kx": "standardize@1 + linear@2"})
    moved = okra.as_data((okra.as_data(X), okra.as_data(bits[OTHER.columns])))
    with pytest.warns(okra.OkraWarning, match="another order"):
        assert np.array_equal(embed(model, moved), embed(model, both))


def test_names_that_tell_nothing_are_none():
    a = X.to_numpy()
    for names in (["a", "a", "b"], ["", "a", "b"], ["a\n", "b", "c"], ["x" * 300, "b", "c"],
                  ["a\0", "b", "c"], ["\ud800", "b", "c"], [1, 2, 3]):
        assert okra.as_data(pd.DataFrame(a, columns=names)).columns is None
    names = ["größe", "x" * 255, "c c"]
    data = okra.as_data(pd.DataFrame(a, columns=names))
    assert data.columns == names
    assert data[[3, 1]].columns == names
    assert data.weigh(np.arange(1, 31)).columns == names
    assert pickle.loads(pickle.dumps(data)).columns == names


def test_low_rank_updates_and_parts():
    want = None
    for low in ("chol(rank=6)", "nystrom(rank=6,pivots=centres)", "rff(rank=6)"):
        model = okra.Model.fit(X, Y, {**VALUES, "low-rank-x": low, "keep-moments": True})
        want = embed(model, X)
        with pytest.warns(okra.OkraWarning, match="another order"):
            assert np.array_equal(embed(model, OTHER), want)
    model = okra.Model.fit(X[:20], Y[:20], VALUES)
    with pytest.warns(okra.OkraWarning, match="another order"):
        a, _ = model.update(OTHER[20:], Y[20:])
    b, _ = model.update(X[20:], Y[20:])
    assert np.array_equal(embed(a, X), embed(b, X))
    assert a.info["x"]["columns"] == list(X.columns)
    with pytest.raises(ValueError, match="is 'hight'"):
        model.update(X[20:].rename(columns={"height": "hight"}), Y[20:])


def test_estimators_refuse_as_scikit_learn_does(tmp_path):
    model = IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.1).fit(X, Y)
    assert model.model_.info["x"]["columns"] == list(X.columns)
    with pytest.raises(ValueError, match="order"):
        model.predict(OTHER)
    model.save(tmp_path / "m.okra")
    loaded = IOKR.load(tmp_path / "m.okra")
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="order"):
        loaded.predict(OTHER)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"height": "hight"}))


def test_estimators_know_the_names_of_outputs():
    y = pd.DataFrame(Y, columns=["u", "v"])
    for weight in (None, np.arange(10) + 1.0):
        want, model = (IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.1).fit(X[:20], y[:20])
                       for _ in range(2))
        assert model.model_.info["y"]["columns"] == ["u", "v"]
        want.partial_fit(X[20:], y[20:], weight)
        with pytest.raises(ValueError, match="column 2 is 'w', expected 'v'"):
            model.partial_fit(X[20:], y[20:].rename(columns={"v": "w"}), weight)
        with pytest.warns(okra.OkraWarning, match="another order"):
            model.partial_fit(X[20:], y[20:][["v", "u"]], weight)
        assert np.array_equal(model.predict(X), want.predict(X))


def test_files(tmp_path):
    X.to_csv(tmp_path / "x.csv", index=False)
    OTHER.to_csv(tmp_path / "o.csv", index=False)
    data = okra.read(tmp_path / "x.csv")
    assert data.columns == list(X.columns)
    assert okra.read(f"{tmp_path}/x.csv:!height").columns == ["age", "weight"]
    assert okra.read(f"{tmp_path}/x.csv:height").columns == ["height"]
    model = okra.Model.fit(data, Y, VALUES)
    with pytest.warns(okra.OkraWarning, match="o.csv: its columns stand in another order"):
        assert np.allclose(embed(model, okra.read(tmp_path / "o.csv")), embed(model, X))


def test_frames_with_molecules_and_gaps(tmp_path):
    """Molecules are a description of their own; what is left out is told; classes have no gaps."""
    smiles = ["C" * (1 + i % 7) + "C(=O)" * (i % 3) + "O" + "N" * (i % 5) + "C" * (i % 11) for i in range(60)]
    frame = pd.DataFrame({"name": [f"m{i}x" for i in range(60)], "drug": smiles, "dose": np.arange(60) % 4})
    y = np.array([text.count("C") + 0.0 for text in smiles]) + frame["dose"]
    with pytest.warns(okra.OkraWarning, match="^X: left out: name, whose texts mostly differ$"):
        model = okra.IOKR().fit(frame[:45], y[:45])
    assert model.model_.info["x"]["kind"] == "tuple"
    assert model.score(frame[45:], y[45:]) > 0.7
    predicted = model.predict(frame[45:])
    model.save(tmp_path / "m.okra")
    np.testing.assert_array_equal(okra.IOKR.load(tmp_path / "m.okra").predict(frame[45:]), predicted)
    kinds = np.array(["low", "high"], dtype=object)[(y > 8).astype(int)]
    kinds[7] = np.nan
    with pytest.raises(ValueError, match=r"1 of 60 labels are missing \(the first: row 7, from 0\)"):
        okra.IOKRClassifier().fit(frame[["dose"]], kinds)


SMILES = [a + b for a in ("CC", "CCC", "c1ccccc1", "C(C)(C)C") for b in ("O", "N", "C(=O)O", "Cl", "C#N")]


def test_lists_of_smiles_are_molecules():
    y = np.arange(20.0)
    want = okra.IOKR().fit(okra.smiles(SMILES), y)
    for x in (SMILES, np.array(SMILES), pd.Series(SMILES)):
        with pytest.warns(okra.OkraWarning, match="X holds SMILES, read as molecules; okra.as_data"):
            got = okra.IOKR().fit(x, y)
        assert got.chosen_ == want.chosen_ and (got.predict(x) == want.predict(okra.smiles(SMILES))).all()
    given = okra.IOKR(kx="ecfp | tanimoto", lam=0.1).fit(SMILES, y)  # no warning: the kernel says it
    assert given.model_.info["x"]["kind"] == "graphs" and given.predict(SMILES[:2]).shape == (2,)
    strings = okra.IOKR(kx="spectrum(k=2)", lam=0.1).fit(SMILES, y)
    assert strings.model_.info["x"]["kind"] == "strings"
    strings = okra.IOKR(kx="auto", lam=0.1).fit(okra.as_data(SMILES), y)
    assert strings.model_.info["x"]["kind"] == "strings"
    words = okra.IOKR().fit(["CN" * (1 + i % 5) + "CO" * (1 + i // 5) for i in range(20)], y)  # letters alone
    assert words.model_.info["x"]["kind"] == "strings"


def test_lists_of_smiles_as_outputs():
    x = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(okra.OkraWarning, match="y holds SMILES"):
        model = okra.IOKR().fit(x, SMILES)
    assert model._kind() == "graphs" and set(model.predict(x)) <= set(SMILES)
    found = model.predict(x[:2], candidates=["CCBr", "CCF", "OCC"])
    assert set(found) <= {"CCBr", "CCF", "OCC"}
    assert np.isfinite(model.score(x, SMILES))


def test_messages_of_inputs_name_what_is_wrong():
    """Gaps and texts in arrays, unequal counts, and frames by the name X."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    holes = X.copy()
    holes[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 4, column 1 \(from 0\).*pandas frame may have gaps"):
        IOKR(lam=1).fit(holes, y)
    with pytest.raises(ValueError, match="'a'. A pandas frame may have columns of texts"):
        IOKR(lam=1).fit(np.array([["a", 1]] * 20, dtype=object), y)
    with pytest.raises(ValueError, match="X has 20 objects, y has 19; expected an output for each input"):
        IOKR().fit(X, y[:19])
    with pytest.raises(TypeError, match=r"object 3 \(from 0\) is missing"):
        IOKR().fit(X, np.array(["a", "b", "c", None] * 5, dtype=object))
    frame = pd.DataFrame({"town": ["Oslo", "Rome"] * 10, "size": X[:, 0]})
    model = IOKR(kx="rbf(sigma=1)", lam=1).fit(frame, y)
    with pytest.raises(ValueError, match="^X: there is no column 'town', which the model has"):
        model.predict(frame[["size"]])
    with pytest.raises(ValueError, match="^X: row 0: 'x' is not a number"):
        model.predict(frame.assign(size="x"))
    with pytest.raises(ValueError, match="y has columns that are no numbers: town. Outputs are numbers, or one"):
        IOKR().fit(X, frame)
    with pytest.raises(ValueError, match="y holds dates or times"):
        IOKR().fit(X, pd.Series(pd.date_range("2020-01-01", periods=20)))
    with pytest.warns(okra.OkraWarning, match="column 'town': 20 of 20 texts are none of the model's"):
        model.predict(frame.assign(town="Paris"))


def test_words_of_a_frame_stand_beside_what_tells_of_their_forms(tmp_path):
    """A list of paradigms, sorted: lemma and tag, and the form to predict."""
    endings = {"pst": "ta", "prs": "m", "fut": "vor", "cnd": "lisi"}
    lemmas = ["kanta", "bileno", "sorpe", "mida", "furno", "telka"]
    rows = [(lemma, tag, lemma + end) for lemma in lemmas for tag, end in endings.items()]
    words = pd.DataFrame(rows, columns=["lemma", "tag", "form"])
    new = pd.DataFrame({"form": ["", ""], "tag": ["fut", "prs"], "lemma": ["bolra", "kirpe"]})
    model = IOKR().fit(words[["lemma", "tag"]], words["form"])
    model.save(tmp_path / "words.okra")
    for one in (model, IOKR.load(tmp_path / "words.okra"), pickle.loads(pickle.dumps(model)),
                IOKR(**model.chosen_).fit(words[["lemma", "tag"]], words["form"]),
                IOKR().fit(words[["lemma", "tag"]].assign(count=range(24)), words["form"])):
        asked = new.assign(count=[3, 4])
        assert list(one.predict(asked)) == ["bolravor", "kirpem"]
        with pytest.raises(ValueError, match="X: there is no column 'tag', which the model has"):
            one.predict(asked[["lemma", "count"]])
    plain = IOKR(kx="rbf(sigma=1)", lam=0.1).fit(words[["lemma", "tag"]], words["form"])
    assert plain.model_.info["x"]["kind"] == "dense"


def test_columns_may_be_called_by_numbers():
    """As pandas calls those of an array, beside one with a name."""
    frame = pd.DataFrame(RNG.normal(size=(40, 2))).assign(town=["Oslo", "Rome"] * 20)
    y = frame[0] + 3 * (frame["town"] == "Oslo")
    model = IOKR().fit(frame[:30], y[:30])
    assert model.score(frame[30:], y[30:]) > 0.9
    assert np.array_equal(model.predict(frame[["town", 1, 0]]), model.predict(frame))
    holes = frame[[0, 1]].where(RNG.random((40, 2)) > 0.1)
    assert IOKR(kx="standardize | rbf(sigma=1)", lam=0.1).fit(holes, y).predict(holes).shape == (40,)


def test_outputs_of_different_lengths_beside_a_mixed_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"word": [f"w{k % 5}" for k in range(30)], "size": np.arange(30.0)})
    sequences = [np.ones((1 + k % 3, 2)) * k for k in range(30)]
    assert len(IOKR().fit(frame, sequences).predict(frame)) == 30
    with pytest.raises(ValueError, match="y holds lists of different lengths"):
        IOKR().fit(frame, [row[:, 0] for row in sequences])
