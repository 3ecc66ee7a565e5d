"""okra.split, okra.explain and okra.next_inputs against plain forms, and their commands."""
import json
import os
import re
import subprocess

import numpy as np
import pytest

import okra
from okra.checks.explain import explain
from okra.checks.measure import next_inputs, ridge_term
from okra.checks.problem import nearest as audit_nearest
from okra.checks.split import clusters, split

PROGRAM = os.environ["OKRA_PROGRAM"]


def test_units_stay_whole_and_folds_alike():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 300)
    made = split(by="groups", key=groups, folds=4, inner=3)
    assert max(made["sizes"]) - min(made["sizes"]) <= np.bincount(groups).max()
    for g in np.unique(groups):
        assert len(set(made["folds"][groups == g])) == 1
        for f in range(4):
            inner = set(made["inner"][groups == g, f])
            assert len(inner) == 1 and (inner == {-1}) == (made["folds"][groups == g][0] == f)
    assert (split(by="groups", key=groups, folds=4)["folds"] == made["folds"]).all()


def test_order_has_no_future():
    key = np.r_[np.arange(30), np.repeat(7, 5)]
    folds = split(by="order", key=key, folds=5)["folds"]
    for f in range(4):
        assert key[folds <= f].max() < key[folds > f].min()


def test_order_of_dates_and_masses():
    days = np.array([f"20{k % 7 + 10}-0{k % 9 + 1}-01" for k in range(40)])
    folds = split(by="order", key=days, folds=3)["folds"]
    assert all(max(days[folds == f]) < min(days[folds == f + 1]) for f in (0, 1))
    chains = okra.smiles(["C" * (1 + (7 * k) % 20) for k in range(20)])
    folds = split(chains, "order", 2, kernel="ecfp")["folds"]
    assert chains.masses[folds == 0].max() < chains.masses[folds == 1].min()
    assert (split(by="order", key=np.array(["10", "9", "100"]), folds=3)["folds"] == [1, 0, 2]).all()
    with pytest.raises(ValueError, match="key of row 1"):
        split(by="order", key=np.array(["2024-05-01", "NaT", "2024-05-03"]), folds=2)
    with pytest.raises(ValueError, match="have no order"):
        split(by="order", key=[object(), object()], folds=2)
    with pytest.raises(ValueError, match="keys such as 'b' have no order"):
        split(by="order", key=["b", "a"], folds=2)
    with pytest.raises(ValueError, match="needs a key"):
        split(np.ones((9, 2)), "order", 2)


def test_similarity_keeps_clusters_together():
    rng = np.random.default_rng(1)
    middle = 20 * rng.normal(size=(12, 2))
    code = np.repeat(np.arange(12), 8)
    x = middle[code] + 0.1 * rng.normal(size=(96, 2))
    made = split(x, "similarity", 4, kernel="linear")
    assert all(len(set(made["folds"][code == c])) == 1 for c in range(12))
    assert made["crossing"]["nearest"] > 5 * made["crossing"]["nearest_random"]
    assert np.bincount(clusters(np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0))), 3)).max() <= 3
    twice = split(np.r_[x, x], "similarity", 4)["crossing"]
    assert twice["equal"] == 0 and twice["equal_random"] > 50
    many = split(np.r_[np.repeat(x[:1], 60, axis=0), x], "similarity", 4)  # more copies than a fold has rows
    assert many["crossing"]["equal"] == 0 and max(many["sizes"]) >= 61


def test_similarity_of_rows_far_from_0():
    """Distances are those of the rows wherever 0 is: k(a, a) + k(b, b) - 2 k(a, b) has no digits left."""
    rng = np.random.default_rng(2)
    x = np.repeat(20 * rng.normal(size=(6, 3)), 20, axis=0) + np.round(rng.normal(size=(120, 3)), 3)
    x = np.round(x * 1024) / 1024  # so that 2^29 more is exact
    near, far = split(x, "similarity", 3), split(x + 2.0 ** 29, "similarity", 3)
    assert (near["folds"] == far["folds"]).all()
    assert far["crossing"] == pytest.approx(near["crossing"], rel=1e-6)
    found = audit_nearest("linear", okra.as_data(x[:5] + 2.0 ** 29), okra.as_data(x[5:] + 2.0 ** 29), None)
    square = ((x[:5, None] - x[None, 5:]) ** 2).sum(axis=2)
    assert np.allclose(found["first"], square.min(axis=1), rtol=1e-12)


def test_the_matrix_of_distances_asks_for_memory(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(1500, 2)))
    for more in ([], ["--kx", "rbf(sigma=1)"]):
        out = subprocess.run([PROGRAM, "split", "--by", "similarity", "--x", tmp_path / "x.npy", "--folds", "2", *more,
                              "--memory", "10MB"], capture_output=True, text=True)
        assert out.returncode == 1 and "1500 x 1500 doubles needs 18000000 bytes; the memory budget is 10485760" in out.stderr


def test_split_refusals():
    for more, text in (({"by": "groups"}, "needs a key"), ({"by": "size"}, "expected random, groups"),
                       ({"by": "groups", "key": [1] * 9}, "1 units that must stay whole"),
                       ({"x": np.ones((20, 2)), "by": "similarity"}, "1 units that must stay whole"),
                       ({"by": "order", "key": [1, 2, np.nan, 4, 5, 6]}, "the key of row 2"),
                       ({"by": "similarity"}, "needs the objects"), ({"n": 3}, "5 folds of 3 rows")):
        with pytest.raises(ValueError, match=text):
            split(**more)


def test_columns_of_a_linear_kernel_are_exact():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    y = x @ rng.normal(size=(3, 2))
    model = okra.Model.fit(x, y, {"kx": "linear", "ky": "linear", "lambda": 0.01})
    slope = np.linalg.solve(x.T @ x + ridge_term(model, okra.as_data(x), "linear") * np.eye(3), x.T @ y)
    one = explain(model, x[:2])[1]
    assert one["exact"] and np.abs(one["shares"] - x[1][:, None] * slope).max() < 1e-9
    assert [q["pair"] for q in one["pairs"]] == list(np.argsort(-np.abs(model.predict(x[[1]], weights=True).weights()[0]))[:5])
    for kernel in ("3*linear", "linear | normalize"):
        found = explain(okra.Model.fit(x, y, {"kx": kernel, "ky": "linear", "lambda": 0.01}), x[:1])[0]
        assert found["exact"] and np.abs(found["shares"].sum(axis=0) - found["score"]).max() < 1e-9
    curved = explain(okra.Model.fit(x, y, {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.01}), x[:1])[0]
    assert not curved["exact"] and curved["shares"].shape == (3, 2)


def test_the_second_answer_is_one_that_the_kernel_tells_apart():
    x = np.arange(12.0)[:, None]
    y = okra.smiles([*("C" * k + "O" for k in range(9, 13)), "CCCCCN", "CCN"] * 2)  # long chains are alike
    one = explain(okra.Model.fit(x % 6, y, {"kx": "rbf(sigma=1)", "ky": "ecfp | tanimoto", "lambda": 0.1}), [[1.0]])[0]
    assert one["answers"][0] < 4 <= one["answers"][1] and abs(one["margin"]).max() > 1e-3


def test_letters_of_a_spectrum_kernel_are_exact():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), 9)) for _ in range(60)]
    kinds = okra.labels(["yes" if "ab" in w else "no" for w in words])
    model = okra.Model.fit(words, kinds, {"kx": "spectrum(k=2)", "ky": "zero-one", "lambda": 0.1})
    at = next(k for k, w in enumerate(words) if "ab" in w)
    one = explain(model, [words[at]])[0]
    assert one["exact"] and one["parts"] == list(words[at])
    assert abs(one["shares"].sum() - one["score"]) < 1e-9
    if np.asarray(kinds.objects)[one["answers"][0]] == "yes":
        assert words[at].find("ab") <= int(np.argmax(one["margin"])) <= words[at].find("ab") + 1


def exact(kernel, x, one=None):
    """The shares of an input, which add up to its score."""
    made = explain(okra.Model.fit(x, np.arange(len(x), dtype=float)[:, None], {"kx": kernel, "ky": "linear", "lambda": 0.1}),
                   x[:1] if one is None else one)[0]
    assert made["exact"] and np.abs(np.sum(made["shares"], axis=0) - made["score"]).max() < 1e-9 * np.abs(made["shares"]).sum()
    return np.ravel(made["shares"])


def molecules(n, rng):
    return ["".join(rng.choice(["C", "N", "O", "C(C)", "c1ccncc1", "C1CC1"], 5)) for _ in range(n)]


def test_atoms_and_nodes_have_what_their_surroundings_say():
    import networkx as nx
    rng = np.random.default_rng(0)
    texts = molecules(40, rng)
    for kernel in ("wl", "wl(h=2) | normalize", "ecfp(radius=1,count=1)", "0.5*wl + ecfp(count=1)"):
        exact(kernel, okra.smiles(texts))
    assert not explain(okra.Model.fit(okra.smiles(texts), np.ones((40, 1)), {"kx": "ecfp | tanimoto", "ky": "linear", "lambda": 0.1}),
                       okra.smiles(texts[:1]))[0]["exact"]
    # labels alone: f(x) is a sum over nodes, whose coefficients are those of a linear model of counts
    graphs = [nx.gnp_random_graph(7, 0.4, seed=k) for k in range(30)]
    for g in graphs:
        nx.set_node_attributes(g, {v: "xyz"[rng.integers(3)] for v in g}, "label")
    counts = np.array([[list(nx.get_node_attributes(g, "label").values()).count(t) for t in "xyz"] for g in graphs], dtype=float)
    model = okra.Model.fit(counts, np.arange(30.0)[:, None], {"kx": "linear", "ky": "linear", "lambda": 0.1})
    slope = model.predict(np.eye(3)).objects().objects.ravel()
    want = [slope["xyz".index(graphs[0].nodes[v]["label"])] for v in graphs[0]]
    assert np.abs(exact("wl(h=0)", graphs) - want).max() < 1e-9
    assert len(exact("wl(h=1)", graphs)) == 7


def test_peaks_members_and_pieces_add_up():
    rng = np.random.default_rng(0)
    about = [{"PEPMASS": "400"}] * 60
    spectra = okra.spectra([np.c_[np.sort(rng.choice(300, 6, replace=False)) + 50.0, rng.exponential(size=6)] for _ in range(60)], about)
    for kernel in ("ppk", "ppk | normalize"):
        shares = exact(kernel, spectra)
    k = okra.gram_matrix("ppk(power=1)", spectra)  # whose peaks weigh what they are high
    model = okra.Model.fit(spectra, np.arange(60.0)[:, None], {"kx": "ppk(power=1)", "ky": "linear", "lambda": 0.1})
    peaks = np.asarray(spectra[[0]].objects[0][0])
    single = okra.spectra([peaks[[j]] for j in range(6)], about[:6])
    c = model.predict(single, {"decode": "none"}, weights=True).weights() @ np.arange(60.0)
    assert np.abs(exact("ppk(power=1)", spectra) - c * peaks[:, 1] / peaks[:, 1].max()).max() < 1e-9 * np.abs(k).max()
    members = rng.normal(size=(120, 3))
    bags = okra.bags(members, [3] * 40)
    assert len(exact("bag(linear)", bags)) == len(exact("bag(poly(degree=2))", bags)) == 3
    lone = okra.bags(members[:40], [1] * 40)
    assert len(exact("bag(rbf(sigma=1))", lone)) == 1
    words = ["".join(rng.choice(list("abcd"), 9)) for _ in range(40)]
    exact("spectrum(k=1) + spectrum(k=3)", okra.as_data(words))
    exact("spectrum(k=2) | normalize", okra.as_data(words))
    exact("standardize", okra.as_data(members))


def test_parts_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "m.smi").write_text("\n".join(molecules(30, rng)) + "\n")
    (tmp_path / "w.txt").write_text("\n".join("".join(rng.choice(list("abcd"), 7)) for _ in range(30)) + "\n")
    (tmp_path / "s.mgf").write_text("".join(f"BEGIN IONS\nPEPMASS=300\n{rng.uniform(50, 90):.4f} 1\n{rng.uniform(90, 290):.4f} 2\nEND IONS\n"
                                            for _ in range(30)))
    np.save(tmp_path / "y.npy", np.arange(30.0)[:, None])
    for file, kernel in (("m.smi", "ecfp"), ("w.txt", "spectrum(k=2)"), ("s.mgf", "ppk")):
        assert run("fit", "--x", file, "--y", "y.npy", "--kx", kernel, "--lambda", "0.1", "-o", "m.okra", "-q", cwd=tmp_path).returncode == 0
        done = run("explain", "m.okra", "--x", file, "--rows", "1", "-o", "e.html", cwd=tmp_path)
        page = (tmp_path / "e.html").read_text()
        assert done.returncode == 0 and "Input 1: share of the answer" in page and page.count("<svg") == 2, done.stderr
        assert "Blue parts speak for the answer" in page


def test_batches_shrink_the_variance_as_fits_say():
    rng = np.random.default_rng(0)
    x, pool = rng.normal(size=(15, 2)), rng.normal(size=(25, 2))
    fit = {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.2}
    model = okra.Model.fit(x, x[:, :1], fit)
    made = next_inputs(model, pool, 3)
    c, k = made["ridge_term"], lambda a, b: okra.gram_matrix("rbf(sigma=1)", a, b)

    def variance(known):
        return np.mean(np.diag(k(pool, pool) - k(pool, known) @ np.linalg.solve(
            k(known, known) + c * np.eye(len(known)), k(known, pool))))
    assert abs(made["variance"][0] - variance(x)) < 1e-9
    best = min(range(25), key=lambda q: variance(np.r_[x, pool[[q]]]))
    assert made["chosen"][0] == best and abs(made["variance"][3] - variance(np.r_[x, pool[made["chosen"]]])) < 1e-9
    with pytest.raises(ValueError, match="count is 99, expected 1 to 25"):
        next_inputs(model, pool, 99)


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, **more)


def test_programs(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[:, :1])
    (tmp_path / "g.csv").write_text("\n".join(f"g{k // 4}" for k in range(40)) + "\n")
    done = run("split", "--by", "groups", "--key", "g.csv", "--x", "x.npy", "-o", "folds.csv", cwd=tmp_path)
    assert done.returncode == 0 and "5 folds of 8 to 8 rows, 10 units by groups" in done.stdout
    folds = np.loadtxt(tmp_path / "folds.csv", dtype=int)
    assert len(folds) == 40 and (folds == okra.split(by="groups", key=np.repeat(np.arange(10), 4), n=40)["folds"]).all()
    done = run("select", "--x", "x.npy", "--y", "y.npy", "--folds", "folds.csv", "--lambda", "0.1,1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("fit", "--x", "x.npy", "--y", "y.npy", "-o", "m.okra", "--quiet", cwd=tmp_path).returncode == 0
    done = run("explain", "m.okra", "--x", "x.npy", "--rows", "3", "--json", "-o", "e.html", cwd=tmp_path)
    assert json.loads(done.stdout)["rows"][0]["row"] == 3 and "</html>" in (tmp_path / "e.html").read_text()
    done = run("next", "m.okra", "--x", "x.npy", "--count", "2", cwd=tmp_path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    for words, text in ((("split", "--by", "groups"), "needs a key"), (("explain", "m.okra", "--x", "x.npy", "--rows", "40"),
                                                                      "expected numbers from 0 to 39"),
                        (("next", "x.npy", "--x", "x.npy"), "x.npy")):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 1 and text in done.stderr and done.stderr.startswith(f"okra {words[0]}: "), done.stderr


@pytest.mark.parametrize("name", ["audit", "split", "explain", "next"])
def test_help_lists_the_flags_that_are_read(name, monkeypatch):
    from okra.checks import main
    told = subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True, check=True).stdout
    told = set(re.findall(r"--[a-z][a-z-]*", told[told.index("Flags:"):]))
    read, make = [], main._parser
    monkeypatch.setattr(main, "_parser", lambda *a: read.append(make(*a)) or read[0])
    with pytest.raises((SystemExit, main.Refused)):
        main.COMMANDS[name](["--no-such-flag"])
    known = {word for action in read[0]._actions for word in action.option_strings if word.startswith("--")}
    others = {"--yhat", "--x", "--select", "--fit"} - known  # in texts
    assert told - others == known
    listed = subprocess.run([PROGRAM, "help", "--completion", "bash"], capture_output=True, text=True, check=False)
    assert listed.returncode or all(word in listed.stdout for word in known)
