"""What is chosen when nothing is given: whatever the units of the outputs, with missing values,
with copies of pairs, without noise; and what names and truth values are taken for."""
import warnings

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

import okra
from okra import IOKR, IOKRCV, SOAR, IOKRMargin, KernelSVR, TwinGP


def smooth(n, noise, seed):
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, 3))
    F = np.c_[2 * X[:, 0], X[:, 1] - X[:, 2], np.sin(X[:, 0])]
    return X, F + noise * r.normal(size=F.shape), r


# ---- missing values ------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_missing_outputs_are_chosen_for_by_what_is_known(share):
    X, F, r = smooth(160, 0, 0)
    Y = F[:80].copy()
    Y[r.random(Y.shape) < share] = np.nan
    model = IOKR().fit(X[:80], okra.missing(Y))
    given = IOKR(kx="rbf(sigma=4)", lam=1e-6, center_output=True).fit(X[:80], okra.missing(Y))
    filled = IOKR().fit(X[:80], np.where(np.isnan(Y), np.nanmean(Y, 0), Y)).chosen_
    by_means = IOKR(**filled).fit(X[:80], okra.missing(Y))
    errors = [((m.predict(X[80:]) - F[80:]) ** 2).mean() for m in (model, given, by_means)]
    assert errors[0] < 6 * errors[1] and errors[0] < 0.2 * errors[2]
    assert model.search_["metric"] == "relative-loss" and model.search_["cv"] == "kfold:10"


def test_a_column_without_a_known_value_is_refused_by_its_number():
    X, Y, _ = smooth(40, 0.1, 1)
    Y[:, 1] = np.nan
    for estimator in (IOKR(), IOKR(kx="rbf(sigma=2)", lam=0.1), IOKRCV()):
        with pytest.raises(ValueError, match=r"y: column 1 \(counted from 0\) has no known"):
            estimator.fit(X, okra.missing(Y))


def test_an_output_of_which_little_is_known_is_learned_all_the_same():
    """The choice looks at some pairs, and these may hold none of its values."""
    X, F, r = smooth(900, 0.1, 4)
    Y = np.c_[F, np.tile(F, (1, 3))]
    Y[:, 3:] = np.nan
    for j in range(3, 12):
        known = r.choice(900, 1 + j % 3, replace=False)
        Y[known, j] = F[known, j % 3]
    model = IOKR().fit(X, okra.missing(Y))
    assert model.search_["pairs"] == 188
    assert model.score(X, np.c_[F, np.full((900, 9), np.nan)]) > 0.9
    assert np.isfinite(model.predict(X)).all()


def test_selection_and_scores_with_missing_values():
    X, F, r = smooth(120, 0.1, 2)
    Y = F.copy()
    Y[r.random(Y.shape) < 0.2] = np.nan
    model = IOKR().fit(X[:80], okra.missing(Y[:80]))
    known = ~np.isnan(Y[80:])
    p = model.predict(X[80:])
    each = [r2_score(Y[80:][known[:, j], j], p[known[:, j], j]) for j in range(3)]
    assert model.score(X[80:], okra.missing(Y[80:])) == pytest.approx(np.mean(each))
    assert model.score(X[80:], Y[80:]) == pytest.approx(np.mean(each))
    assert IOKRCV().fit(X, okra.missing(Y)).best_score_ > -0.2
    assert IOKRCV(kx="rbf(sigma={1,2,4})", lam=[1e-3, 1e-1], cv=4).fit(
        X, okra.missing(Y)).best_score_ < 0
    assert (cross_val_score(IOKR(), X, okra.missing(Y), cv=3) > 0.8).all()
    with pytest.raises(ValueError, match=r"contains NaN.*okra\.missing\(y\)"):
        IOKR().fit(X, Y)


def test_leave_one_out_of_missing_values_is_a_loss_of_what_is_known():
    """feature-loss of folds against fits by hand."""
    X, Y, r = smooth(30, 0.1, 3)
    Y[r.random(Y.shape) < 0.3] = np.nan
    folds = np.arange(30) % 3
    model = IOKRCV(kx="rbf(sigma=2)", lam=[0.1, 1.0]).set_params(cv="kfold:3").fit(
        X, okra.missing(Y), folds=folds)
    for params, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"]):
        losses = []
        for k in range(3):
            part = IOKR(kx="rbf(sigma=2)", lam=params["lam"]).fit(
                X[folds != k], okra.missing(Y[folds != k]))
            e = Y[folds == k] - part.predict(X[folds == k])
            losses.append(np.nansum(e ** 2, axis=1).mean())
        assert -score == pytest.approx(np.mean(losses), rel=1e-9)


# ---- units ---------------------------------------------------------------------------


def units(seed=2):
    r = np.random.default_rng(seed)
    X = r.uniform(-1, 1, size=(300, 2))
    Y = np.c_[1000 * (X[:, 0] + X[:, 1]) + 100 * r.normal(size=300), 1e-2 * np.sin(6 * X[:, 0])]
    return X[:150], Y[:150], X[150:], Y[150:]


def test_outputs_of_different_units_count_alike():
    X, Y, Xt, Yt = units()
    model, scaled = IOKR().fit(X, Y), IOKR().fit(X, Y / Y.std(0))
    r2 = r2_score(Yt, model.predict(Xt), multioutput="raw_values")
    assert (r2 > 0.9).all()
    assert r2 == pytest.approx(r2_score(Yt / Y.std(0), scaled.predict(Xt),
                                        multioutput="raw_values"), abs=1e-6)
    assert IOKRCV().fit(X, Y).best_params_ == {
        **model.chosen_, "kx": model.chosen_["kx"]}
    assert 0 < model.search_["best"]["mean"] < 0.1  # a share of the variance


def test_a_constant_output_has_no_part_in_the_choice():
    X, Y, Xt, Yt = units()
    more = np.c_[Y, np.full(len(Y), 7.0)]
    model, plain = IOKR().fit(X, more), IOKR().fit(X, Y)
    assert model.chosen_["kx"] == plain.chosen_["kx"]
    assert model.predict(Xt)[:, 2] == pytest.approx(7.0)


def test_relative_loss_is_by_name_and_refused_where_outputs_are_not_apart():
    X, Y, _, _ = units()
    by_name = IOKRCV(kx="rbf(sigma={0.3,1})", lam=[0.01, 1], metric="relative-loss").fit(X, Y)
    plain = IOKRCV(kx="rbf(sigma={0.3,1})", lam=[0.01, 1]).fit(X, Y / Y.std(0) / np.sqrt(2))
    assert by_name.cv_results_["mean_test_score"] == pytest.approx(
        plain.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="metric relative-loss is of ridge"):
        IOKRCV(kx="rbf(sigma=1)", lam=[1], operator="cov", metric="relative-loss").fit(X, Y)


@pytest.mark.parametrize("estimator", [TwinGP(), SOAR(), KernelSVR(), IOKRMargin()], ids=str)
def test_the_unit_and_the_origin_of_outputs_do_not_matter(estimator):
    X, Y, r = smooth(140, 0.2, 5)
    Y = Y[:, :2]
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scale, offset in ((1, 0), (1e-3, 0), (1e3, 1e4)):
            Z = Y * scale + offset
            scores.append(estimator.fit(X[:90], Z[:90]).score(X[90:], Z[90:]))
    assert min(scores) > 0.85
    assert np.ptp(scores) < 0.05


def test_scaled_outputs_of_support_vectors_are_those_of_scaled_data():
    X, Y, _ = smooth(60, 0.2, 6)
    Z = (Y - Y.mean(0)) / Y.std(0)
    a = KernelSVR(kx="rbf(sigma=2)", cost=2.0, tube=0.2, scale_output=True,
                  svm_tolerance=1e-8).fit(X, Y)
    b = KernelSVR(kx="rbf(sigma=2)", cost=2.0, tube=0.2, svm_tolerance=1e-8).fit(X, Z)
    assert a.predict(X) == pytest.approx(b.predict(X) * Y.std(0) + Y.mean(0), abs=1e-6)
    same = KernelSVR(kx="rbf(sigma=2)", cost=2.0, scale_output=True).fit(X, np.full(60, 3.0))
    assert same.predict(X) == pytest.approx(3.0)


@pytest.mark.parametrize("seed", [9, 13, 24])
def test_skewed_inputs(seed):
    """Most inputs in a crowd, some far away: a Gaussian of any width swings between them."""
    r = np.random.default_rng(seed)
    X = np.exp(2 * r.normal(size=(300, 2)))
    y = np.log(X).sum(1) + 0.1 * r.normal(size=300)
    assert IOKR().fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.9


def test_rows_in_a_periodic_order_are_seen_all():
    """Two groups in turn, a curve each: 2000 rows, of which 1000 are looked at."""
    r = np.random.default_rng(0)
    X = np.c_[np.arange(2000) % 2, r.uniform(-2, 2, 2000)]
    y = np.where(X[:, 0] == 0, np.sin(3 * X[:, 1]), X[:, 1] ** 2) + 0.01 * r.normal(size=2000)
    model = IOKR(kx="{standardize, standardize | rbf(sigma=0.5)}", n_jobs=1).fit(X, y)
    assert model.search_["pairs"] == 1000 and model.score(X, y) > 0.99


def test_many_periods_of_one_input():
    r = np.random.default_rng(1)
    X = r.uniform(0, 100, (800, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * r.normal(size=800)
    assert IOKR().fit(X[:600], y[:600]).score(X[600:], y[600:]) > 0.9


def test_inputs_that_tell_nothing_are_told():
    r = np.random.default_rng(0)
    X, Y = r.normal(size=(80, 3)), r.normal(size=(80, 2))
    for y in (Y, Y[:, 0] + 5):
        with pytest.warns(okra.OkraWarning, match="no better than the mean"):
            IOKR().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IOKR().fit(X, X @ r.normal(size=(3, 2)) + Y)


def test_margin_of_numbers_with_a_kernel_given_has_their_size():
    X, Y, _ = smooth(90, 0.1, 9)
    model = IOKRMargin(kx="rbf(sigma=2)").fit(X[:60], Y[:60] + 1000)
    assert model.chosen_["loss"] == "huber"
    assert model.score(X[60:], Y[60:] + 1000) > 0.8


# ---- copies, noise, centring ---------------------------------------------------------


def test_copies_of_pairs_do_not_make_lambda_small():
    r = np.random.default_rng(5)
    X = r.normal(size=(240, 4))
    F = np.c_[np.sin(X[:, 0]) + X[:, 1], X[:, 2] * X[:, 3]]
    Y = F + 0.4 * r.normal(size=F.shape)
    once = IOKR().fit(X[:40], Y[:40])
    thrice = IOKR().fit(np.repeat(X[:40], 3, 0), np.repeat(Y[:40], 3, 0))
    errors = [((m.predict(X[40:]) - F[40:]) ** 2).mean() for m in (once, thrice)]
    assert errors[1] < 1.3 * errors[0]
    assert thrice.search_["cv"] == "kfold:10" and once.search_["cv"] == "loo"
    with pytest.warns(okra.OkraWarning, match="120 pairs only 40 have different inputs"):
        IOKRCV(kx="rbf(sigma=2)", lam=[0.1, 1], cv="loo").fit(
            np.repeat(X[:40], 3, 0), np.repeat(Y[:40], 3, 0))
    few = IOKR().fit(np.arange(60).reshape(-1, 1) % 5.0, np.arange(60) % 5 // 2 * 1.0)
    assert few.search_["cv"] == "loo"  # categories come again


def test_rows_of_one_person_are_left_out_together():
    r = np.random.default_rng(2)
    centres, person = r.normal(size=(90, 7)), np.repeat(np.arange(90), 5)
    F = np.c_[np.sin(1.5 * centres[:, 0]) + centres[:, 1], centres[:, 0] * centres[:, 2]] + 0.5 * r.normal(size=(90, 2))
    X, Y = centres[person] + 0.03 * r.normal(size=(450, 7)), F[person] + 0.1 * r.normal(size=(450, 2))
    old = person < 60
    with pytest.warns(okra.OkraWarning, match="(59|60) groups of near copies"):
        model = IOKR().fit(X[old], Y[old])
    by_rows = IOKRCV(kx=[model.chosen_["kx"], "standardize | rbf(sigma=0.75)"], cv="loo").fit(X[old], Y[old])
    errors = [((m.predict(X[~old]) - Y[~old]) ** 2).mean() for m in (model, by_rows)]
    assert model.search_["cv"] == "kfold:10" and errors[0] < 0.9 * errors[1]


def test_groups_need_no_cv():
    X, Y, _ = smooth(60, 0.1, 7)
    model = IOKRCV().fit(X, Y, groups=np.arange(60) // 6)
    assert model.selection_["cv"] == "kfold:10"


@pytest.mark.parametrize("seed", range(4))
def test_without_noise_lambda_goes_as_low_as_it_pays(seed):
    X, F, _ = smooth(160, 0, seed)
    model = IOKR().fit(X[:80], F[:80])
    best = np.inf
    for sigma in (2, 4, 8, 16):
        for lam in (1e-6, 1e-8, 1e-10):
            m = IOKR(kx=f"rbf(sigma={sigma})", lam=lam, center_output=True).fit(X[:80], F[:80])
            best = min(best, ((m.predict(X[80:]) - F[80:]) ** 2).mean())
    assert ((model.predict(X[80:]) - F[80:]) ** 2).mean() < 30 * best


def test_outputs_are_centred_wherever_something_is_chosen():
    X, Y, _ = smooth(80, 0.1, 8)
    far = Y + 1000
    assert IOKR(kx="rbf(sigma=2)").fit(X, far).chosen_["center_output"] is True
    assert IOKR(lam=0.1).fit(X, far).chosen_["center_output"] is True
    assert IOKR(kx="rbf(sigma=2)").fit(X[:60], far[:60]).score(X[60:], far[60:]) > 0.8
    assert "center_output" not in IOKR(kx="rbf(sigma=2)", lam=0.1).fit(X, far).chosen_


# ---- names, sets, truth values -------------------------------------------------------


def test_names_mean_the_same_in_a_list_and_in_an_array():
    X = np.random.default_rng(0).normal(size=(60, 2))
    names = ["red" if a > 0 else "dark blue" for a in X[:, 0]]
    models = [IOKR().fit(X, y) for y in (names, np.array(names))]
    assert [m.chosen_["ky"] for m in models] == ["zero-one"] * 2
    assert models[0].score(X, names) == models[1].score(X, np.array(names)) > 0.9
    words = [f"w{i % 25}" for i in range(60)]  # of so many texts each comes 2.4 times
    for y in (words, np.array(words)):
        assert IOKR().fit(X, y).model_.outputs.kind == "strings"


def test_truth_values_come_back_as_truth_values():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for y in (X[:, 0] > 0, (X[:, 0] > 0).tolist()):
        model = IOKR().fit(X, y)
        assert model.predict(X).dtype == bool and model.score(X, y) > 0.9


def test_lists_of_names_are_refused_with_what_makes_sets_of_them():
    X = np.random.default_rng(0).normal(size=(3, 2))
    for y in ([["a", "b"], ["c"], []], [[1, 2], [3], []]):
        with pytest.raises(ValueError, match="Sets of labels are rows of 0 and 1.*fit_transform"):
            IOKR().fit(X, y)


def test_letters_of_sequences_tell_of_the_method_that_shares_positions():
    r = np.random.default_rng(1)
    centres = {c: r.normal(size=4) for c in "abc"}
    texts = ["".join(r.choice(list("abc"), r.integers(2, 6))) for _ in range(60)]
    X = [np.array([centres[c] for c in t]) + 0.6 * r.normal(size=(len(t), 4)) for t in texts]
    with pytest.warns(okra.OkraWarning, match="method m3n learns it from all positions"):
        plain = IOKR().fit(X[:40], texts[:40])
    shared = okra.M3N().fit(X[:40], texts[:40])
    assert shared.score(X[40:], texts[40:]) > plain.score(X[40:], texts[40:], metric="characters")


def test_texts_where_numbers_are_learned_are_told():
    X = np.random.default_rng(0).normal(size=(6, 2))
    for estimator in (KernelSVR(), SOAR(), IOKR(ky="linear")):
        for y in (list("ababab"), np.array(list("ababab"))):
            with pytest.raises(ValueError, match="y holds texts.*learns numbers.*learns classes"):
                estimator.fit(X, y)


def test_classes_that_the_fit_has_not_seen_are_told():
    from sklearn.datasets import load_iris
    from sklearn.model_selection import StratifiedKFold

    iris = load_iris()
    names = iris.target_names[iris.target]
    with pytest.warns(okra.OkraWarning, match="50 of 50 test labels are of classes that the fit"):
        folds = cross_val_score(okra.IOKR(), iris.data, names, cv=3)
    assert (folds == 0).all()
    assert cross_val_score(okra.IOKR(), iris.data, names, cv=StratifiedKFold(3)).min() > 0.9


def test_rankings_are_compared_by_their_pairs_and_stay_rankings():
    r = np.random.default_rng(3)
    X = r.normal(size=(160, 4))
    Y = (-(X @ r.normal(size=(4, 5)) + 0.1 * r.normal(size=(160, 5)))).argsort(1).argsort(1) + 1.0
    model = IOKR().fit(X[:120], Y[:120])
    found = np.asarray(model.predict(X[120:]))
    assert model.chosen_["ky"] == "kendall" and (np.sort(found, 1) == np.arange(1, 6)).all()
    i, j = np.triu_indices(5, 1)
    wrong = (np.sign(found[:, i] - found[:, j]) != np.sign(Y[120:, i] - Y[120:, j])).mean()
    told = model.search_["left_out"]
    assert wrong < 0.15 and told["measure"] == "pairs in the wrong order" and abs(told["value"] - wrong) < 0.05
    assert told["naive_value"] > 0.3
    Y[0] = 1  # one row that is no ranking: numbers
    assert IOKR().fit(X[:120], Y[:120]).chosen_["ky"] == "linear"


def test_sequences_without_letters_are_outputs_by_their_vectors():
    r = np.random.default_rng(0)
    X = r.normal(size=(60, 3))
    y = [np.outer(np.sin(np.arange(4) * x[0]), [1, x[1]]) for x in X]
    model = IOKR().fit(X[:50], y[:50])
    assert "rbf" in model.chosen_["ky"]  # their labels, which they lack, are all alike
    far = np.mean([np.square(a - b).sum() for a, b in zip(model.predict(X[50:]), y[50:])])
    assert far < 0.5 * np.mean([np.square(a - b).sum() for a, b in zip(y[:10], y[50:])])


def test_arrays_of_images_are_not_taken_for_sequences():
    images = np.random.default_rng(0).random((30, 4, 5))
    rows = images.reshape(30, -1)
    with pytest.raises(ValueError, match=r"y has shape \(30, 4, 5\): images.*y.reshape\(len\(y\), -1\)"):
        IOKR().fit(rows, images)
    with pytest.raises(ValueError, match=r"X has shape \(30, 4, 5\): images"):
        IOKR().fit(images, rows)
    with pytest.raises(ValueError, match="3 dimensions|IOKR|vectors"):
        IOKR(kx="rbf(sigma=1)", lam=0.1).fit(rows, rows).predict(images)
    assert IOKR(kx="position(rbf(sigma=1))", lam=0.1).fit(images, rows).predict(images).shape == (30, 20)


def test_a_number_beside_molecules_takes_nothing_from_them():
    """Of two descriptions each alone has the kernels that it would have without the other."""
    pandas = pytest.importorskip("pandas")
    r = np.random.default_rng(3)
    groups = {"C": 0.5, "O": -1.2, "N": -0.8, "C(=O)": -0.4, "C(Cl)": 1.1, "S": 0.7}
    parts = [list(r.choice(list(groups), r.integers(3, 9))) for _ in range(200)]
    y = np.array([sum(groups[g] for g in part) for part in parts]) + 0.1 * r.normal(size=200)
    frame = pandas.DataFrame({"smiles": ["C" + "".join(part) + "C" for part in parts],
                              "batch": r.normal(size=200)})
    both = IOKR().fit(frame[:140], y[:140]).score(frame[140:], y[140:])
    molecules = okra.smiles(list(frame["smiles"]))
    alone = IOKR().fit(molecules[:140], y[:140]).score(molecules[140:], y[140:])
    assert alone > 0.9 and both > alone - 0.02, (both, alone)
