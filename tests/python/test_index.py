"""Indexes of candidate molecules: made, opened, searched, against plain sums in NumPy."""
import os
import subprocess

import numpy as np
import pytest

import okra
from okra import IOKR, Index

OKRA = os.environ["OKRA_PROGRAM"]
KY = "ecfp(bits=256) | tanimoto"
KNOWN = ["CCO", "CCCO", "CC(C)=O", "CCC(C)=O", "c1ccccc1", "Cc1ccccc1", "CCN", "CC(=O)O"]
OTHERS = ["OCC", "COC", "CCCN", "CC(C)O", "Oc1ccccc1", "C1CC", "C(C)O", "CCOC(C)=O", "CC#N"]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "c.smi").write_text("".join(f"{s} name {i}\n" for i, s in enumerate(OTHERS)))
    return tmp_path


@pytest.fixture
def model():
    x = np.random.default_rng(0).normal(size=(len(KNOWN), 3))
    return IOKR(kx="rbf(sigma=1)", ky=KY, lam=0.1).fit(x, okra.smiles(KNOWN))


def queries(m=4):
    return np.random.default_rng(1).normal(size=(m, 3))


def distances(model, index, x):
    """l(y,y) - 2 w'l(y) + w'Lw of every row; infinite where it holds no candidate."""
    rows = [row["row"] for row in index]
    texts = [index[i]["smiles"] for i in rows]
    assert len(rows) == len(index)
    w = model.weights(x)
    known, some = okra.smiles(KNOWN), okra.smiles(texts)
    inner = okra.gram_matrix(KY, known)
    cross = okra.gram_matrix(KY, known, some)
    out = np.full((len(w), max(rows) + 1), np.inf)
    out[:, rows] = 1 - 2 * w @ cross + np.einsum("qi,ij,qj->q", w, inner, w)[:, None]
    return out


def left_out(i):
    """The distance of output i to the prediction of the model that has not seen it."""
    x = np.random.default_rng(0).normal(size=(len(KNOWN), 3))
    keep = [k for k in range(len(KNOWN)) if k != i]
    rest = okra.smiles([KNOWN[k] for k in keep])
    w = IOKR(kx="rbf(sigma=1)", ky=KY, lam=0.1).fit(x[keep], rest).weights(x[[i]])[0]
    return 1 - 2 * w @ okra.gram_matrix(KY, rest, okra.smiles([KNOWN[i]]))[:, 0] + \
        w @ okra.gram_matrix(KY, rest) @ w


@pytest.mark.parametrize("rank", [0, 3])
def test_search_equals_plain_sums(files, model, rank):
    with pytest.warns(okra.OkraWarning, match="line 6"):
        index = Index.build(files / "c.smi", files / "c.okx", model=model, rank=rank, shard=3)
    assert index.report["kept"] == len(index) == 7 and index.report["repeated"] == 1
    assert index.report["broken"] == 1 and index.report["shards"] == 3
    assert index.kernel.startswith("ecfp") and index.rank == rank and index.columns == []
    index.check()
    x = queries()
    want = distances(model, index, x)
    found = index.search(model, x, top=5)
    order = np.sort(want, axis=1)[:, :5]
    assert np.abs(found.distance - order).max() < 1e-12
    assert np.abs(np.take_along_axis(want, found.index, 1) - found.distance).max() < 1e-12
    assert (found.compared == 7).all() and (found.error > 0) == (rank > 0)
    best = found[0][0]
    assert best["candidate"] == found.index[0, 0] and best["distance"] == found.distance[0, 0]
    assert best["smiles"] in OTHERS and best["name"].startswith("name ")


def test_windows(files, model):
    rows = ["smiles\tname\tlogp"] + [f"{s}\tn{i}\t{i if i % 3 else ''}" for i, s in enumerate(
        OTHERS) if s != "C1CC"]
    (files / "t.tsv").write_text("\n".join(rows) + "\n")
    index = Index.build(files / "t.tsv", files / "t.okx", model=model, columns=["logp"])
    x = queries(2)
    near = index.search(model, x, within="logp=1", values=[[4], [7]], top=9)
    assert [sorted(r["name"] for r in near[q]) for q in range(2)] == [["n4"], ["n7", "n8"]]
    some = index.search(model, x, within="mass=0.1Da,formula", masses=[46.04, 60.06],
                        formulas=["OC2H6", "C3H8O"])
    assert sorted(r["smiles"] for r in some[0]) == ["COC", "OCC"]
    assert [r["smiles"] for r in some[1]] == ["CC(C)O"]
    assert some.index.shape == (2, 7) and (some.index[1, 1:] == -1).all()
    assert np.isnan(index[index.find(["OCC"])[0]]["logp"])
    with pytest.raises(ValueError, match="values have shape"):
        index.search(model, x, within="logp=1", values=[1, 2])
    with pytest.raises(ValueError, match="1 formulas of 2 queries"):
        index.search(model, x, within="formula", formulas=["C"])
    with pytest.raises(okra.OkraError, match="has no column 'rt'"):
        index.search(model, x, within="rt=1")


def test_find_and_p_values(files, model):
    with pytest.warns(okra.OkraWarning):
        index = Index.build(files / "c.smi", files / "c.okx", ky=KY)
    found = index.find(["C(C)O", "CCCCCC", "c1cc(O)ccc1"])
    assert found[1] == -1 and index[int(found[0])]["smiles"] == "OCC"
    assert index[int(found[2])]["smiles"] == "Oc1ccccc1"
    for row in (-1, OTHERS.index("C1CC"), 1000):
        with pytest.raises(IndexError):
            index[row]
    ranked = index.search(model, queries(), top=6, within="mass=40..60")
    p = ranked.p_values(model)
    held = ranked.index >= 0
    left = np.array([left_out(i) for i in range(len(KNOWN))])
    want = (1 + (left[None, None] >= ranked.distance[:, :, None]).sum(axis=2)) / (1 + len(KNOWN))
    assert np.abs(p - want)[held].max() < 1e-12 and np.isnan(p[~held]).all() and not held.all()


def test_the_program_opens_what_python_made(files, model):
    with pytest.warns(okra.OkraWarning):
        index = Index.build(files / "c.smi", files / "c.okx", model=model, rank=2)
    out = subprocess.run([OKRA, "index", files / "c.okx", "--check"], check=True,
                         capture_output=True, text=True).stdout
    assert "checksums      right" in out and f"candidates     {len(index)}" in out
    shard = files / "c.okx" / "shard-00000"
    data = bytearray(shard.read_bytes())
    data[1030] ^= 1
    shard.write_bytes(data)
    with pytest.raises(okra.OkraError, match="a checksum is wrong"):
        Index(files / "c.okx").check()
    with pytest.raises(okra.OkraError, match="cannot be opened"):
        Index(files / "none.okx")


def test_vectors_equal_plain_sums(tmp_path):
    rng = np.random.default_rng(3)
    x, y, v = rng.normal(size=(15, 3)), rng.normal(size=(15, 4)), rng.normal(size=(40, 4))
    np.save(tmp_path / "v.npy", v)
    (tmp_path / "t.tsv").write_text("name\tyear\n" + "".join(
        f"n {i}\t{2000 + i}\n" for i in range(40)))
    model = IOKR(kx="rbf(sigma=1)", ky="rbf(sigma=1)", lam=0.1).fit(x, y)
    w = model.weights(queries())
    kernel = lambda a, b: np.exp(-((a[:, None] - b) ** 2).sum(axis=2) / 2)  # noqa: E731
    want = 1 - 2 * w @ kernel(y, v) + np.einsum("qi,ij,qj->q", w, kernel(y, y), w)[:, None]
    for rank in (0, 6):
        index = Index.build(tmp_path / "v.npy", tmp_path / f"v{rank}.okx", model=model, rank=rank, shard=13,
                            table=tmp_path / "t.tsv", columns=["year"])
        assert index.width == index.report["width"] == 4 and len(index) == 40
        found = index.search(model, queries(), top=7)
        assert np.abs(found.distance - np.sort(want, axis=1)[:, :7]).max() < 1e-12
        rows = np.array([[r["row"] for r in found[q]] for q in range(4)])
        assert (rows == np.argsort(want, axis=1)[:, :7]).all()
        assert found[0][0]["name"] == f"n {rows[0, 0]}" and found[0][0]["year"] == 2000 + rows[0, 0]
    some = index.search(model, queries(), top=40, within="year=2005..2008")
    assert all(sorted(r["row"] for r in some[q]) == [5, 6, 7, 8] for q in range(4))
    assert list(index.find(v[[3, 30]])) == [3, 30] and list(index.find(v[:1] + 1)) == [-1]
    assert index[12]["row"] == 12
    with pytest.raises(okra.OkraError, match="expected vectors of length 4"):
        index.find(x)
