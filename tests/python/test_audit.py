"""okra.audit: every check against a plain form, finds its planted fault, and stays green on clean data."""
import json
import os
import subprocess

import numpy as np
import pytest

import okra
import simulated
from okra.checks import audit as checks
from okra.checks.problem import Problem, feature_map, inputs_of, left_out

PROGRAM = os.environ["OKRA_PROGRAM"]
FIT = {"kx": "rbf(sigma=2)", "ky": "rbf(sigma=1)", "lambda": 0.1}


def pairs(seed=0, n=40):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, np.sin(x[:, :1]) + 0.1 * rng.normal(size=(n, 1))


def test_left_out_weights_are_those_of_fits_without_the_pair():
    x, y = pairs(n=15)
    model = okra.Model.fit(x, y, FIT)
    w = left_out(model.predict(x, weights=True).weights(), np.arange(15))
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        want = okra.Model.fit(x[rest], y[rest], {**FIT, "lambda": FIT["lambda"]}).predict(x[[i]], weights=True).weights()[0]
        assert np.abs(w[i, rest] - want).max() < 1e-10 and w[i, i] == 0


def test_features_give_the_kernel():
    x, y = pairs(n=30)
    phi = feature_map("rbf(sigma=1)", okra.as_data(y), np.random.default_rng(0))
    a, b = phi(okra.as_data(y)), phi(okra.as_data(y[:5]))
    assert np.abs(a @ a.T - okra.gram_matrix("rbf(sigma=1)", y)).max() < 1e-6  # of 1; small eigenvalues are dropped
    assert np.abs(b - a[:5]).max() < 1e-6


def test_losses_are_those_of_the_library():
    x, y = pairs()
    model = okra.Model.fit(x, y, FIT)
    p = Problem(model, None, None)
    assert np.abs(p.loss - model.leave(FIT)[1]).max() < 1e-6
    assert len(inputs_of(model)) == 40
    seen, none, two = p.permuted_losses(2)
    assert abs(seen - p.loss.mean()) < 1e-6 and abs(none * (40 / 39) ** 2 - p.blind_loss.mean()) < 1e-6
    again = okra.Model.fit(x, y, FIT)
    rng = np.random.default_rng(0)
    order = rng.permutation(40)
    same = Problem(okra.Model.fit(x, y[order], FIT), None, None).loss.mean()
    w = left_out(again.predict(x, weights=True).weights(), np.arange(40))
    phi = p.phi[order]
    assert abs(((phi - w @ phi) ** 2).sum(axis=1).mean() - same) < 1e-6 and (two > p.loss.mean()).all()


def test_losses_have_what_lies_beside_the_landmarks():
    """200 outputs that are all far from one another: features of 128 landmarks would miss most of the test outputs."""
    x, y = pairs(n=260)
    options = {**FIT, "ky": "rbf(sigma=0.01)"}
    model = okra.Model.fit(x[:200], y[:200], options)
    p = Problem(model, None, None)
    assert np.abs(p.loss - model.leave(options)[1]).max() < 1e-6
    gram = okra.gram_matrix("rbf(sigma=0.01)", y)
    rest = [np.delete(np.arange(200), i) for i in range(200)]
    blind = [1 - 2 * gram[i, r].mean() + gram[np.ix_(r, r)].mean() for i, r in enumerate(rest)]
    assert np.abs(p.blind_loss - blind).max() < 1e-9
    p = Problem(model, None, None, x[200:], y[200:])
    w = model.predict(x[200:], weights=True).weights()
    want = 1 - 2 * (w * gram[200:, :200]).sum(axis=1) + ((w @ gram[:200, :200]) * w).sum(axis=1)
    assert np.abs(p.loss - want).max() < 1e-9 and np.abs(want - ((p.row_phi - p.guess) ** 2).sum(axis=1)).max() > 0.1
    assert checks.exchangeability(p)["light"] == "green"
    p = Problem(None, None, okra.as_data(y), predicted=okra.as_data(y + 0.01), kernels=(None, "rbf(sigma=0.01)"))
    assert np.abs(p.loss - (2 - 2 * np.exp(-0.5))).max() < 1e-9


def test_influence_is_that_of_fits_without_the_pair():
    x, y = pairs(n=12)
    options = {**FIT, "ky": "linear"}
    tests = np.random.default_rng(1).normal(size=(5, 2))
    model = okra.Model.fit(x, y, options)
    hat, w = (model.predict(v, weights=True).weights() for v in (x, tests))
    found = checks.influence(w, hat, np.arange(12), y - hat @ y)
    for j in range(12):
        rest = np.delete(np.arange(12), j)
        moved = okra.Model.fit(x[rest], y[rest], options).predict(tests, weights=True).weights() @ y[rest] - w @ y
        assert abs(found[j] - np.sqrt((moved ** 2).sum(axis=1).mean())) < 1e-10


def test_hsic_is_the_trace():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    h = np.eye(20) - 1 / 20
    want = np.trace(h @ a @ a.T @ h @ b @ b.T) / 400
    assert abs(checks.hsic(a, b, rng, count=19)["hsic"] - want) < 1e-13
    assert checks.hsic(a, a, rng, count=99)["p"] == 0.01


def test_optimism_of_equal_settings_is_what_luck_gives():
    rng = np.random.default_rng(3)
    errors = rng.normal(size=(400, 50))
    found = checks.optimism(errors)
    luck = -errors.mean(axis=0).min()  # the true error is 0
    assert 0.5 * luck < found["optimism"] < 1.5 * luck and found["other_wins"] > 0.5
    with pytest.raises(ValueError, match="expected 8 or more rows"):
        checks.selection(np.ones((3, 2)))


def test_beta_binomial_coverage():
    rng = np.random.default_rng(0)
    good = checks.guarantee(rng.random(300), 200, np.repeat(["a", "b"], 150))
    assert good["light"] == "green" and set(good["numbers"]["groups"]) == {"a", "b"}
    bad = np.r_[rng.random(200), 0.15 * rng.random(100)]
    found = checks.guarantee(bad, 200, np.repeat(["a", "b"], [200, 100]))
    assert found["light"] == "red" and "group b" in found["says"]


@pytest.mark.parametrize("check", simulated.FAULTS)
def test_planted_faults_are_found_and_clean_data_are_green(check):
    false, found = simulated.rates(check, 12)  # the rates of 200: bench/bench_audit.py
    assert false <= 0.17 and all(share >= 0.75 for share in found.values()), (false, found)


def test_other_leaks():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    y = x @ rng.normal(size=(3, 1)) + 0.2 * rng.normal(size=(120, 1))

    def says(**more):
        return checks.audit(options=simulated.OPTIONS, checks=("leak",), **{"x": x, "y": y, **more})["checks"][0]
    assert says()["light"] == "green"
    assert "Column 3 (from 0) alone tells 100 %" in says(x=np.c_[x, 2 * y + 1])["says"]
    order = np.argsort(y.ravel())
    assert "order of rows" in says(x=x[order], y=y[order])["says"]
    assert "should not tell" in says(names=okra.labels((y.ravel() > 0).astype(int)))["says"]
    assert says(names=okra.labels(rng.integers(0, 2, 120)))["light"] == "green"
    texts = ["CC", "c1ccccc1", "CCO"] * 20
    found = checks.written_otherwise(texts, ["C1=CC=CC=C1", "CCN", "CC"] * 20)
    assert {one["what"] for one in found} >= {"aromatic letters", "double bonds in rings (=C1)"}
    truth = okra.as_data(["a" * k for k in range(1, 21)])
    listed = okra.as_data(["a" * k for k in range(1, 21)] + ["b" * 30] * 40)
    assert {one["what"] for one in checks.candidates_tell(truth, listed)} == {"place in the list", "length"}
    mixed = [("ab" * 20)[:5 + k % 7] + str(k) for k in range(90)]
    rng.shuffle(mixed)
    assert checks.candidates_tell(okra.as_data(mixed[::3]), okra.as_data(mixed)) == []


def test_strings_and_labels():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab" if k % 2 else "cd"), 8)) for k in range(80)]
    kind = okra.labels(["x" if k % 2 else "y" for k in range(80)])
    found = okra.audit(words, kind, options={"kx": "spectrum(k=2)", "lambda": 0.1}, metric="zero-one",
                       checks=("blind", "dependence"))
    assert [c["light"] for c in found["checks"]] == ["green", "green"]
    assert found["checks"][0]["numbers"]["value"] < found["checks"][0]["numbers"]["value_no_input"]


def test_refusals():
    x, y = pairs()
    with pytest.raises(ValueError, match="check is 'leaks', expected blind"):
        okra.audit(x, y, checks=("leaks",))
    with pytest.raises(ValueError, match="give training inputs"):
        okra.audit()
    with pytest.raises(ValueError, match="predictions need the outputs y"):
        okra.audit(predicted=y)
    with pytest.raises(ValueError, match="39 predictions of 40 outputs"):
        okra.audit(y=y, predicted=y[1:])
    with pytest.raises(ValueError, match="3 test inputs and 4 test outputs"):
        okra.audit(x, y, x[:3], y[:4], FIT)
    with pytest.raises(ValueError, match="5 rows to judge"):
        okra.audit(x[:5], y[:5], options=FIT)


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, **more)


def test_program(tmp_path):
    x, y, tx, ty = simulated.leak(np.random.default_rng(0))
    for name, values in (("x", x), ("y", y), ("tx", tx), ("ty", ty)):
        np.save(tmp_path / f"{name}.npy", values)
    words = ("audit", "--x", "x.npy", "--y", "y.npy", "--test-x", "tx.npy", "--test-y", "ty.npy")
    done = run(*words, "--kx", "rbf(sigma=2)", "--lambda=0.03", "--fail-on", "leak", cwd=tmp_path)
    assert done.returncode == 3 and "red     leak" in done.stdout and done.stderr == ""
    assert run(*words, "--fail-on", "dependence", "--checks", "dependence", cwd=tmp_path).returncode == 0
    made = json.loads(run(*words, "--json", "-o", "page.html", cwd=tmp_path).stdout)
    assert made["kind"] == "audit" and made["light"] == "red"
    assert [c["check"] for c in made["checks"]] == ["blind", "leak", "dependence", "selection", "guarantee", "stability"]
    page = (tmp_path / "page.html").read_text()
    assert "training set" in page and "red" in page
    assert run("fit", "--x", "x.npy", "--y", "y.npy", "-o", "m.okra", "--quiet", cwd=tmp_path).returncode == 0
    done = run("audit", "--model", "m.okra", "--test-x", "tx.npy", "--test-y", "ty.npy", cwd=tmp_path)
    assert done.returncode == 0 and "red     leak" in done.stdout
    done = run("audit", "--y", "ty.npy", "--yhat", "ty.npy", "--metric", "mse", cwd=tmp_path)
    assert done.stdout.startswith("green   blind")
    np.save(tmp_path / "flat.npy", np.zeros_like(ty) + ty.mean(axis=0))
    assert run("audit", "--y", "ty.npy", "--yhat", "flat.npy", "--metric", "mse", cwd=tmp_path).stdout.startswith("red     blind")
    for words, text in ((("--x", "x.npy"), "give --x and --y, or --model, or --y and --yhat"),
                        (("--x", "x.npy", "--y", "y.npy", "--fail-on", "leaks"), "--fail-on is 'leaks'"),
                        (("--x", "x.npy", "--y", "y.npy", "--test-x", "tx.npy"), "give --test-x and --test-y"),
                        (("--x", "x.npy", "--y", "y.npy", "--lamda", "1"), "lamda"),
                        (("--x", "no.npy", "--y", "y.npy"), "no.npy")):
        done = run("audit", *words, cwd=tmp_path)
        assert done.returncode == 1 and text in done.stderr and done.stderr.startswith("okra audit: "), done.stderr


def test_near_outputs_and_lists():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    said = checks.audit(x[:100], y[:100], x[100:], y[100:], FIT, checks=("leak",))["checks"][0]
    assert said["light"] == "green" and said["numbers"]["near_outputs"] < 5
    y[100:115] = y[:15] + 1e-4 * rng.normal(size=(15, 3))
    said = checks.audit(x[:100], y[:100], x[100:], y[100:], FIT, checks=("leak",))["checks"][0]
    assert said["light"] == "yellow" and "15 test outputs are nearly equal" in said["says"]
    # with a list the controls answer from it
    words = ["".join(rng.choice(list("abcd"), 5)) for _ in range(60)]
    fit = {"kx": "spectrum(k=2)", "ky": "spectrum(k=1)", "lambda": 0.1}
    numbers = checks.audit(words, words, options=fit, metric="edit", candidates=okra.as_data(["zzzzz", "yyyyy"]),
                           checks=("blind",))["checks"][0]["numbers"]
    assert numbers["value"] == numbers["value_no_input"] == 5 and numbers["reached"] == 1


def test_refuses_test_outputs_without_test_inputs():
    y = np.arange(20.0)
    with pytest.raises(ValueError, match="test inputs and test outputs, or neither"):
        okra.audit(y=y, test_y=y[::-1], predicted=y[::-1])


def test_refuses_lists_of_another_length():
    x, y = pairs()
    for more, text in (({"within": np.zeros(7)}, "within has shape"), ({"groups": np.zeros(7)}, "groups have shape")):
        with pytest.raises(ValueError, match=text):
            checks.audit(x, y, options=FIT, checks=("blind",), **more)


def test_predictions_of_any_program():
    """Objects of any kind, with inputs and training pairs or without."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab" if k % 2 else "cd"), 6)) for k in range(90)]
    near = [w[:-1] + "a" for w in words]
    lights = {c["check"]: c["light"] for c in okra.audit(y=words, predicted=near)["checks"]}
    assert lights == {"blind": "green", "leak": "green", "dependence": "green", "selection": "none", "guarantee": "none",
                      "stability": "green"}
    lights = {c["check"]: c["light"] for c in okra.audit(y=words, predicted=[near[k] for k in rng.permutation(90)])["checks"]}
    assert lights["blind"] == "red"
    made = okra.audit(near[:45], words[:45], near[40:], words[40:], predicted=near[40:], checks=("leak",))["checks"][0]
    assert made["light"] == "red" and made["numbers"]["equal"] >= 5 and len(made["numbers"]["by_similarity"]) == 4
    order = sorted(range(90), key=lambda k: words[k])
    made = okra.audit(y=[words[k] for k in order], predicted=[near[k] for k in order], checks=("leak",))["checks"][0]
    assert "order of rows" in made["says"]
    # controls permute within strata of judged rows: what a stratum alone tells is not learned
    parts = np.array(["a" in w or "b" in w for w in words])
    same = ["aabbab" if one else "ccddcd" for one in parts]
    assert okra.audit(y=words, predicted=same, checks=("blind",))["light"] == "green"
    assert okra.audit(y=words, predicted=same, within=parts, checks=("blind",))["light"] == "red"


def test_molecules_of_outputs_are_compared():
    ringed = ["Oc1ccccc1" + "C" * k for k in range(12)]
    train = [*ringed, *("N" + one for one in ringed)]
    test = ["OC1=CC=CC=C1" + "C" * k + "N" for k in range(12)]
    said = checks.audit(np.arange(24.0)[:, None], okra.smiles(train), np.arange(12.0)[:, None], okra.smiles(test),
                        {"kx": "rbf(sigma=1)", "ky": "ecfp | tanimoto", "lambda": 1}, checks=("leak",))["checks"][0]["says"]
    assert "aromatic letters" in said and "of the test outputs have them" in said


def test_what_is_not_checked_is_said_and_never_passes(tmp_path):
    x, y = pairs()
    for name, values in (("x", x), ("y", y), ("p", y + 0.01)):
        np.save(tmp_path / f"{name}.npy", values)
    words = ("audit", "--y", "y.npy", "--yhat", "p.npy")
    done = run(*words, "--json", cwd=tmp_path)
    lights = {c["check"]: c["light"] for c in json.loads(done.stdout)["checks"]}
    assert lights["guarantee"] == "none" and lights["leak"] == "green" and done.returncode == 0
    assert run(*words, "--fail-on", "any", cwd=tmp_path).returncode == 0
    assert run("audit", "--x", "x.npy", *words[1:], "--checks", "leak", cwd=tmp_path).stdout.startswith("green   leak")
    for more, text in ((("--fail-on", "guarantee"), "--fail-on guarantee: Not checked: it needs test data"),
                       (("--fail-on", "leak", "--checks", "blind"), "--fail-on leak: it is not among --checks"),
                       (("--lambda", "1"), "--yhat judges predictions: leave out --lambda"),
                       (("--model", "m.okra"), "leave out --model"),
                       (("--test-x", "x.npy", "--test-y", "y.npy"), "--test-x with --yhat needs --x")):
        done = run(*words, *more, cwd=tmp_path)
        assert done.returncode == 1 and text in done.stderr, done.stderr


def test_copies_are_equal_objects_and_not_what_a_kernel_confuses():
    from okra.checks.problem import nearest
    rng = np.random.default_rng(0)
    words = ["".join(rng.permutation(list("aabbccdd"))) for _ in range(60)]
    kinds = okra.labels([w[0] for w in words])
    made = okra.audit(words, kinds, options={"kx": "spectrum(k=1)", "ky": "zero-one", "lambda": 1}, checks=("leak", "stability"))
    leaks, stable = (c["numbers"] for c in made["checks"])
    assert leaks["equal"] == sum(words.count(w) > 1 for w in words) and leaks["equal"] + leaks["alike"] == 60
    assert stable["contradicting_count"] == 0
    found = nearest("ecfp | tanimoto", okra.smiles(["C(O)C", "CCCCCCCN"]), okra.smiles(["CCCCCCN", "CCO", "CCCCCCCCN"]), None)
    assert found["twin"].tolist() == [1, -1]  # written otherwise; longer chains are equal to the kernel alone
    assert found["first"].max() < 1e-9
    for make in (okra.as_data, okra.bits):
        x = rng.integers(0, 2, (20, 30)).astype(float)
        assert nearest("linear", make(x[:5]), make(x), None)["twin"].tolist() == [0, 1, 2, 3, 4]
    spectra = [np.c_[[50.0, 60 + k], [1.0, 2]] for k in range(4)]
    assert nearest("ppk", okra.spectra(spectra[2:]), okra.spectra(spectra[:3]), None)["twin"].tolist() == [2, -1]


def test_outlying_rows_stand_apart_from_heavy_tails():
    rng = np.random.default_rng(0)
    normal, heavy = rng.normal(size=(2, 2000)), np.exp(rng.normal(size=2000)) * rng.normal(size=2000)
    assert len(checks.outlying(normal[0] ** 2)) == 0 and len(checks.outlying(heavy ** 2)) <= 20  # by deviations alone: 72
    assert checks.outlying(np.r_[normal[1] ** 2, 400.0, 500]).tolist() == [2000, 2001]
    assert checks.outlying(np.r_[np.zeros(50), 1.0]).tolist() == [50]
    assert len(checks.outlying(np.r_[np.zeros(30), np.ones(21)])) == 0  # most are right: the others are not odd


def test_a_weak_score_is_no_blind_one():
    rng = np.random.default_rng(3)
    x = rng.standard_t(3, size=(180, 5))
    y = x[:, :1] * np.abs(x[:, 1:2]) + rng.standard_t(4, size=(180, 1))
    made = okra.audit(x[:120], y[:120], x[120:], y[120:], {"kx": "standardize | rbf(sigma=3)", "ky": "linear", "lambda": 0.3},
                      checks=("blind",))["checks"][0]
    assert made["light"] == "yellow" and "not shown to be better than none" in made["says"]
    for seed, text in ((0, "Inputs are not shown to help: they take away 19.8 %"), (1, "Without any input the score is as good")):
        rng = np.random.default_rng(seed)
        x = rng.standard_t(3, size=(180, 5))
        y = x[:, :1] * np.abs(x[:, 1:2]) + rng.standard_t(4, size=(180, 1))
        few = okra.audit(x[:30], y[:30], x[30:45], y[30:45], {"kx": "rbf(sigma=3)", "ky": "linear", "lambda": 0.3},
                         checks=("blind",))
        assert few["light"] == "red" and few["checks"][0]["says"].startswith(text)


def test_recipes_of_every_method_with_weights():
    x, y = pairs(n=80)
    for method, more in (("knn", {"k": 3}), ("ok3", {}), ("kpca", {}), ("ridge", {})):
        made = okra.audit(x[:60], y[:60], x[60:], y[60:], {"method": method, **more}, checks=("blind", "stability"))["checks"]
        assert [c["light"] for c in made] == ["green", "green" if method == "ridge" else "none"], method


def test_inputs_are_read_as_a_fit_reads_them(tmp_path):
    """Tables of several kinds, several --x, and lemmas that come again."""
    rng = np.random.default_rng(2)
    towns = rng.choice(["Oslo", "Rome"], 40)
    rows = [f"{'' if i == 3 else i},{town},{i + 50 * (town == 'Oslo')}" for i, town in enumerate(towns)]
    (tmp_path / "t.csv").write_text("size,town,price\n" + "\n".join(rows) + "\n")
    few = ("--checks", "blind", "--permutations", "20", "--json")
    done = run("audit", "--x", "t.csv:!price", "--y", "t.csv:price", *few, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("split", "--x", "t.csv:!price", "--folds", "2", "-o", "f.csv", cwd=tmp_path).returncode == 0
    endings = {"pst": "ta", "prs": "m", "fut": "vor", "cnd": "lisi"}
    words = [f"{lemma}\t{tag}\t{lemma}{end}" for lemma in "kanta bileno sorpe mida furno telka".split()
             for tag, end in endings.items()]
    (tmp_path / "w.tsv").write_text("\n".join(words) + "\n")
    done = run("audit", "--x", "w.tsv:1", "--x", "w.tsv:2", "--y", "w.tsv:3", *few, cwd=tmp_path)
    assert done.returncode == 0 and "exact matches 0 " not in done.stderr, done.stderr
    assert run("fit", "-q", "--x", "t.csv:!price", "--y", "t.csv:price", "-o", "m.okra", cwd=tmp_path).returncode == 0
    told = run("explain", "m.okra", "--x", "t.csv", "--rows", "0", cwd=tmp_path)
    assert "town=" in told.stdout, told.stderr
