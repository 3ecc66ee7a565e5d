"""The command line and Python give the same bits and read each other's models."""
import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import okra
from okra import (IOKR, IOKRCV, KDE, OK3, SOAR, Blend, IOKRMargin, KernelSVR, LinkPredictor,
                  TwinGP)

PROGRAM = os.environ["OKRA_PROGRAM"]


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, Y = okra.datasets.make_patterns(50, seed=3)
    parts = {"x": X[:35], "y": Y[:35], "t": X[35:], "u": Y[35:]}
    for name, values in parts.items():
        np.save(folder / f"{name}.npy", values)
    return folder, parts


CASES = [
    (IOKR(kx="rbf(sigma=4)", lam=0.3), ["--lambda", "0.3", "--decode", "explicit"]),
    (IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", lam=0.1),
     ["--ky", "rbf(sigma=7)", "--lambda", "0.1"]),
    (IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", operator="ccov", lam=1e-4, epsilon=0.02),
     ["--ky", "rbf(sigma=7)", "--operator", "ccov", "--lambda", "1e-4", "--epsilon",
      "0.02"]),
    (IOKR(kx="rbf(sigma=4)", lam=1 / 3, center_output=True),
     ["--lambda", repr(1 / 3), "--center-output", "--decode", "explicit"]),
    (IOKRMargin(kx="rbf(sigma=4)", ky="rbf(sigma=7)"),
     ["--method", "margin", "--ky", "rbf(sigma=7)"]),
    (KDE(kx="rbf(sigma=4)", ky="rbf(sigma=7)", components=5),
     ["--method", "kpca", "--components", "5", "--ky", "rbf(sigma=7)"]),
    (KDE(kx="rbf(sigma=4)", ky="rbf(sigma=7)", rank_output="auto"),
     ["--method", "kpca", "--rank-output", "auto", "--ky", "rbf(sigma=7)"]),
    (OK3(kx="rbf(sigma=4)", ky="rbf(sigma=7)", trees=7, random_state=5),
     ["--method", "ok3", "--trees", "7", "--ky", "rbf(sigma=7)", "--seed", "5"]),
    (TwinGP("rbf(sigma=4)", "rbf(sigma=7)", lam=0.01),
     ["--method", "tgp-kl", "--lambda", "0.01", "--ky", "rbf(sigma=7)"]),
]


def split(flags):
    """Flags of fit and of predict."""
    if "--decode" in flags:
        k = flags.index("--decode")
        return flags[:k], flags[k:]
    return flags, []


@pytest.mark.parametrize("estimator, flags", CASES, ids=str)
def test_same_bits(files, estimator, flags):
    folder, parts = files
    fit, predict = split(flags)
    run("fit", "--x", folder / "x.npy", "--y", folder / "y.npy", "--kx", "rbf(sigma=4)",
        *fit, "-o", folder / "cli.okra")
    run("predict", folder / "cli.okra", "--x", folder / "t.npy", "-o", folder / "p.npy",
        *predict)
    run("predict", folder / "cli.okra", "--x", folder / "t.npy", "--weights",
        folder / "w.npy")
    estimator.fit(parts["x"], parts["y"])
    predicted, weights = np.load(folder / "p.npy"), np.load(folder / "w.npy").T
    assert np.array_equal(estimator.predict(parts["t"]), predicted)
    assert np.array_equal(estimator.weights(parts["t"]), weights)
    # The command line's model here, ours there.
    loaded = type(estimator).load(folder / "cli.okra")
    assert np.array_equal(loaded.predict(parts["t"]), predicted)
    assert np.array_equal(loaded.weights(parts["t"]), weights)
    assert loaded.score(parts["t"], parts["u"]) == estimator.score(parts["t"], parts["u"])
    estimator.save(folder / "python.okra")
    run("predict", folder / "python.okra", "--x", folder / "t.npy", "-o", folder / "q.npy",
        *predict)
    assert np.array_equal(np.load(folder / "q.npy"), predicted)


def test_a_loaded_model_knows_its_options(files):
    folder, parts = files
    run("fit", "--x", folder / "x.npy", "--y", folder / "y.npy", "--kx", "rbf(sigma=4)",
        "--lambda", "0.25", "--center-output", "-o", folder / "cli.okra")
    loaded = IOKR.load(folder / "cli.okra", verbose=False)
    assert (loaded.lam, loaded.center_output, loaded.kx) == (0.25, True, "rbf(sigma=4)")
    fitted = IOKR(kx="rbf(sigma=4)", lam=0.25, center_output=True).fit(
        parts["x"], parts["y"])
    assert loaded.loo_score_ == fitted.loo_score_
    model = okra.Model.load(folder / "cli.okra")
    assert len(model) == 35 and model.info["method"] == "ridge"


@pytest.mark.parametrize("option, text", [
    ("checkpoint", "evil.state"), ("operator", "matrix:secret.csv"), ("operator", " graph:secret.csv,mu=1"),
    ("graph", "file(secret.csv)"), ("kx", "metric(file=secret.csv)"), ("ky", "metric(file=secret.csv)")])
def test_a_loaded_model_makes_no_fit_open_files(files, monkeypatch, option, text):
    """A stranger's file says how it was fitted; what names files is told and not taken over."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[1] / "cli" / "lib")
    import seal
    folder, parts = files
    monkeypatch.chdir(folder)
    (folder / "secret.csv").write_text("1,0\n0,1\n")
    IOKR(kx="rbf(sigma=4)", lam=0.25).fit(parts["x"], parts["y"]).save(folder / "m.okra")
    entries, about = seal.read(str(folder / "m.okra"))
    about["options"][option] = text
    if option == "checkpoint":
        about["options"].update({"solver": "cg", "low-rank-x": "nystrom(rank=4)"})
    if option in ("kx", "ky"):
        information = okra.Model.load(folder / "m.okra").info
        information["kernels"][option[1]] = text
        monkeypatch.setattr(okra.Model, "info", property(lambda self: information))
    seal.write(str(folder / "evil.okra"), entries, about)
    with pytest.warns(okra.OkraWarning, match="names a file"):
        loaded = IOKR.load(folder / "evil.okra")
    name = option.replace("-", "_")
    assert getattr(loaded, name) == getattr(IOKR(), name)
    loaded.set_params(ky="linear").fit(parts["x"], parts["y"])
    assert not (folder / "evil.state").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(IOKR.load(folder / "evil.okra", **{name: text}), name) == text


def test_what_names_a_file_needs_no_name_of_an_option():
    """A method that is added may have an option KIND:FILE of its own."""
    from okra.estimators._base import _names_file
    assert _names_file("mixing", "table:secret.csv") and _names_file("mixing", " table:a/b,mu=1")
    assert not _names_file("operator", "graph:estimate(gamma=2),mu=1")
    assert not _names_file("decode", "labels:threshold=0.5,nonempty=yes") and _names_file("decode", "labels:a.csv")
    assert not any(_names_file("kx", k) for k in ("rbf(sigma=4)", "{linear,rbf(sigma=0.1..10:5)}", "linear"))


def test_compact_files(files):
    folder, parts = files
    model = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", lam=0.25).fit(parts["x"], parts["y"])
    sizes, want = [], model.weights(parts["t"])
    for compact in (False, True, "recompute"):
        model.save(folder / "c.okra", compact=compact)
        sizes.append((folder / "c.okra").stat().st_size)
        assert np.array_equal(IOKR.load(folder / "c.okra").weights(parts["t"]), want)
    assert sizes[0] > sizes[1] > sizes[2]
    with pytest.raises(ValueError, match="compact is 'half', expected False, True, 'recompute' or 'auto'"):
        model.save(folder / "c.okra", compact="half")


def test_ranked_candidates(files):
    folder, parts = files
    run("fit", "--x", folder / "x.npy", "--y", folder / "y.npy", "--kx", "rbf(sigma=4)",
        "--ky", "rbf(sigma=7)", "-o", folder / "cli.okra")
    run("predict", folder / "cli.okra", "--x", folder / "t.npy", "--candidates",
        folder / "u.npy", "--top", "4", "-o", folder / "ranked.csv")
    rows = np.loadtxt(folder / "ranked.csv", delimiter=",", skiprows=1)
    model = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)").fit(parts["x"], parts["y"])
    index, distance = model.rank(parts["t"], parts["u"], top=4)
    assert np.array_equal(rows[:, 2], index.ravel())
    # Distances are printed with fewer digits.
    assert np.allclose(rows[:, 3], distance.ravel(), rtol=1e-5, atol=1e-9)


def test_gram_matrix_and_metric(files):
    folder, parts = files
    run("gram", "--x", folder / "t.npy", "--y", folder / "x.npy", "--kernel",
        "poly(degree=3) | normalize", "-o", folder / "K.npy")
    assert np.array_equal(okra.gram_matrix("poly(degree=3) | normalize", parts["t"],
                                           parts["x"]), np.load(folder / "K.npy"))
    out = run("score", "--y", folder / "u.npy", "--yhat", folder / "t.npy", "--metric",
              "mse")
    assert np.isclose(float(out.split()[-1]), okra.metric("mse", parts["u"], parts["t"]),
                      rtol=1e-5)


def test_selection(files):
    folder, parts = files
    run("select", "--x", folder / "x.npy", "--y", folder / "y.npy", "--kx",
        "rbf(sigma={2,4,8})", "--lambda", "{0.01,0.1,1}", "-o", folder / "best.okra")
    model = IOKRCV(kx="rbf(sigma={2,4,8})", lam="{0.01,0.1,1}").fit(parts["x"], parts["y"])
    best = IOKR.load(folder / "best.okra")
    assert np.array_equal(best.predict(parts["t"]), model.predict(parts["t"]))
    assert best.kx == model.best_params_["kx"]


def test_strings_and_molecules_from_files(tmp_path):
    x, y, _ = okra.datasets.make_strings(30)
    (tmp_path / "x.txt").write_text("\n".join(x) + "\n")
    (tmp_path / "y.txt").write_text("\n".join(y) + "\n")
    assert okra.read(tmp_path / "x.txt").objects == x
    kernel = "spectrum(k=1)"
    run("fit", "--x", tmp_path / "x.txt", "--y", tmp_path / "y.txt", "--kx", kernel, "--ky",
        kernel, "-o", tmp_path / "m.okra")
    run("predict", tmp_path / "m.okra", "--x", tmp_path / "x.txt", "-o",
        tmp_path / "p.txt")
    model = IOKR(kx=kernel, ky=kernel).fit(x, y)
    assert model.predict(x) == (tmp_path / "p.txt").read_text().splitlines()
    assert IOKR.load(tmp_path / "m.okra").predict(x) == model.predict(x)
    smiles = ["CCO", "CCN", "c1ccccc1", "CC(=O)O"]
    (tmp_path / "m.smi").write_text("\n".join(smiles) + "\n")
    assert np.array_equal(okra.gram_matrix("ecfp(radius=2)", okra.smiles(smiles)),
                          okra.gram_matrix("ecfp(radius=2)", okra.read(tmp_path / "m.smi")))


def test_links(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    edges = [(i, j) for i in range(12) for j in range(i) if (X[i] - X[j]) @ (X[i] - X[j]) < 4]
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "e.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in edges))
    (tmp_path / "l.txt").write_text("".join(f"{i}\n" for i in range(12)))
    run("link", "--x", tmp_path / "x.npy", "--edges", tmp_path / "e.tsv", "--labelled",
        tmp_path / "l.txt", "--kx", "rbf(sigma=1)", "--lambda", "0.2", "-o",
        tmp_path / "out.tsv")
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    rows = [r for r in rows if r[0].isdigit()]
    model = LinkPredictor(kx="rbf(sigma=1)", lam=0.2).fit(X, edges, np.arange(12))
    pairs, scores = model.rank(top=len(rows))
    assert len(rows) > 50
    assert [tuple(map(int, r[:2])) for r in rows] == [tuple(p) for p in pairs.tolist()]
    assert np.allclose([float(r[2]) for r in rows], scores, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("estimator, method", [
    (IOKR(), "ridge"), (TwinGP(), "tgp-kl"), (TwinGP(criterion="hsic"), "tgp-hsic"),
    (SOAR(), "soar"), (KernelSVR(), "svr"), (IOKRMargin(), "margin"), (KDE(), "kpca"),
    (OK3(trees=100), "ok3"), (Blend(trees=100), "blend")], ids=str)
def test_what_is_not_given_means_the_same(tmp_path, estimator, method):
    r = np.random.default_rng(0)
    X = r.normal(size=(40, 2)) * [1, 50]
    Y = np.c_[1e3 * np.sin(X[:, 0]) + 1e4, 1e-3 * X[:, 1]] * (1 + 0.01 * r.normal(size=(40, 2)))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    run("fit", "-q", "--x", tmp_path / "x.npy", "--y", tmp_path / "y.npy", "--method", method,
        "-o", tmp_path / "m.okra")
    run("predict", "-q", tmp_path / "m.okra", "--x", tmp_path / "x.npy", "-o",
        tmp_path / "p.npy")
    found = estimator.fit(X, Y).predict(X)
    assert np.array_equal(found, np.load(tmp_path / "p.npy"))
