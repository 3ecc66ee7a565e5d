"""Objects of every kind: to the library and back, pickled, and without copies."""
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

import okra

networkx = pytest.importorskip("networkx")


def same(a, b):
    if sp.issparse(a):
        return (a != b).nnz == 0 and a.shape == b.shape
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(u, v) for u, v in zip(a, b))
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


def path_graph(n):
    g = networkx.path_graph(n)
    networkx.set_node_attributes(g, {0: "C"}, "label")
    return g


RAGGED = [np.arange(6.0).reshape(3, 2), np.ones((1, 2))]
CASES = {
    "dense": np.arange(6.0).reshape(3, 2),
    "sparse": sp.random(5, 4, 0.5, format="csr", random_state=0),
    "strings": ["abc", "", "zéro", "€😀"],
    "sequences": RAGGED,
}


@pytest.mark.parametrize("kind", CASES)
def test_there_and_back(kind):
    data = okra.as_data(CASES[kind])
    assert data.kind == kind
    assert same(data.objects, CASES[kind])
    again = pickle.loads(pickle.dumps(data))
    assert again.kind == kind and same(again.objects, CASES[kind])


def test_kinds_that_are_named():
    bits = np.random.default_rng(0).integers(0, 2, (3, 70))
    made = {
        "bits": (okra.bits(bits), bits),
        "labels": (okra.labels(["b", "a", "b"]), np.array(["b", "a", "b"])),
        "graphs": (okra.smiles(["CCO", "c1ccccc1 benzene"]), ["CCO", "c1ccccc1 benzene"]),
        "gram": (okra.gram(np.eye(2)), np.eye(2)),
        "dense": (okra.missing([[1, np.nan]]), np.array([[1, np.nan]])),
        "sequences": (okra.sequences(RAGGED, ["abc", "d"]),
                      [(RAGGED[0], "abc"), (RAGGED[1], "d")]),
        "tuple": (okra.as_data((np.eye(2), ["a", "b"])), (np.eye(2), ["a", "b"])),
        "spectra": (okra.spectra([[[70, 1], [50, 2]], [[60, 3]]],
                                 [{"PEPMASS": "100", "ADDUCT": "[M+H]+"}, {}]),
                    [(np.array([[50, 2], [70, 1]]), {"PEPMASS": "100",
                                                     "ADDUCT": "[M+H]+"}),
                     (np.array([[60, 3]]), {})]),
        "nodes": (okra.nodes(networkx.path_graph(4), [2, 0]), np.array(["2", "0"])),
    }
    for kind, (data, objects) in made.items():
        assert data.kind == kind
        assert same(data.objects, objects), kind
        again = pickle.loads(pickle.dumps(data))
        assert again.kind == kind and same(again.objects, objects), kind
    assert same(okra.labels([2, 0]).objects, [2, 0])
    assert same(okra.labels([2.5, -1]).objects, [2.5, -1.0])


def test_what_cannot_be_pickled_says_so(tmp_path):
    path = tmp_path / "net.edges"
    path.write_text("a\tb\nb\tc\n")
    for data in (okra.graphs([path_graph(3)]), okra.read(path)):
        with pytest.raises(TypeError):
            pickle.dumps(data)


def test_graphs_of_networkx():
    graphs = [path_graph(3), path_graph(2)]
    K = okra.gram_matrix("wl(h=0)", graphs)
    assert K.tolist() == [[5, 3], [3, 2]]  # labels C, 0, 0 and C, 0
    assert len(okra.as_data(graphs[0])) == 3  # one alone: its nodes
    L = okra.gram_matrix("commute-time", networkx.path_graph(5))
    want = np.linalg.pinv(networkx.laplacian_matrix(networkx.path_graph(5)).toarray())
    assert np.abs(L - want).max() < 1e-14  # 1.0e-15
    adjacency = networkx.adjacency_matrix(networkx.path_graph(5)).astype(float)
    assert np.array_equal(okra.gram_matrix("commute-time", okra.nodes(adjacency)), L)


def test_spectra_have_kernels_and_masses():
    data = okra.spectra([[[50, 1], [70, 4]], [[50.0001, 1]]], [{"PEPMASS": 100}, {}])
    K = okra.gram_matrix("ppk(power=1,da=0.01)", data)
    assert K[1, 1] == 1 and abs(K[0, 0] - 1.0625) < 1e-9 and abs(K[0, 1] - 0.25) < 1e-4
    assert data.masses.tolist() == [0, 0]
    assert abs(okra.smiles(["CCO"]).masses[0] - 46.041865) < 1e-5
    with pytest.raises(ValueError, match="intensity is -1"):
        okra.spectra([[[50, -1]]])
    with pytest.raises(ValueError, match="1 descriptions of 2 spectra"):
        okra.spectra([[[50, 1]], [[60, 1]]], [{}])
    for turned in (np.ones((2, 5)), np.ones((2, 6)), np.ones(4), np.ones((1, 2, 2))):
        with pytest.raises(ValueError, match="spectrum 1 has shape"):
            okra.spectra([[[50, 1]], turned])


def test_smiles_have_kernels():
    K = okra.gram_matrix("ecfp(radius=2) | tanimoto", okra.smiles(["CCO", "OCC", "CCC"]))
    assert K[0, 1] == 1 and 0 < K[0, 2] < 1


def test_pandas_frames_and_series():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 1, 2]})
    assert same(okra.as_data(frame).objects, frame.to_numpy(float))
    assert okra.as_data(pandas.Series(["x", "yy"])).kind == "strings"
    assert okra.as_data(frame["a"]).shape == (3, 1)
    model = okra.IOKR().fit(frame, frame["b"])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.predict(frame).shape == (3,)


@pytest.mark.parametrize("index, want", [
    (1, [1]), (slice(None, None, -1), [2, 1, 0]), ([2, 2], [2, 2]),
    (np.array([True, False, True]), [0, 2]), ([], []), (-1, [2])])
def test_indexing(index, want):
    if isinstance(index, list) and not index:
        index = np.array([], dtype=int)
    assert okra.as_data(["a", "b", "c"])[index].objects == [
        ["a", "b", "c"][i] for i in want]
    with pytest.raises(IndexError):
        okra.as_data(["a"])[3]


@pytest.mark.parametrize("values, error", [
    ([["a", 1]], ValueError), (["a", 1], TypeError), (["a\0b"], ValueError),
    (np.zeros((2, 2, 2, 2)), ValueError),
    ([np.eye(2), np.eye(3)], ValueError), (np.array([[np.inf]]), okra.FormatError)])
def test_what_is_refused(values, error):
    with pytest.raises(error):
        okra.as_data(values)


def test_refused_by_name():
    with pytest.raises(ValueError, match="one character"):
        okra.sequences(RAGGED, ["ab", "c"])
    with pytest.raises(ValueError, match="diagonal"):
        okra.gram(np.eye(2), [1.0])
    with pytest.raises(ValueError, match="dimensions"):
        okra.labels(np.eye(2))
    with pytest.raises(okra.FormatError, match="SMILES 1"):
        okra.smiles(["C", "C("])


def test_views_need_no_copy_and_others_are_right():
    base = np.random.default_rng(0).normal(size=(6, 8))
    for values in (base, base[:, :5], base[::2], base[::2, 1:4], base.T, base[::-1],
                   base[:, ::2], base[:1, ::3], base[:, :1], base.astype(np.float32),
                   np.asfortranarray(base), base[:0]):
        assert same(okra.as_data(values).objects, values)
    for values in (base, base[:, :5], base[::2], base[::2, 1:4]):
        kept = okra.as_data(values)._handle.keep
        assert np.shares_memory(kept, base)


def test_read_and_write(tmp_path):
    data = okra.as_data(np.arange(4.0).reshape(2, 2))
    data.write(tmp_path / "x.csv")
    assert same(okra.read(tmp_path / "x.csv").objects, data.objects)
    np.savez(tmp_path / "x.npz", a=np.eye(3))
    assert same(okra.read(f"{tmp_path}/x.npz:a").objects, np.eye(3))
    (tmp_path / "s.txt").write_text("one\ntwo\n")
    assert list(okra.read(tmp_path / "s.txt")) == ["one", "two"]
    (tmp_path / "l.txt").write_bytes(b"\xe9t\xe9\nhiver\n")  # no UTF-8
    data = okra.read(f"labels:{tmp_path}/l.txt")
    assert same(okra.labels(data.objects).objects, data.objects)
    (tmp_path / "b.csv").write_text("a,b\n")
    assert okra.read(f"bits:{tmp_path}/b.csv").objects.shape == (0, 2)


def test_reading_asks_for_memory_by_what_the_file_holds(tmp_path):
    """A file of 66 bytes that claims rows for 2.4 GB, and a budget that is too small."""
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n"
                                    "300000000 9 1\n1 1 1\n")
    with pytest.raises(okra.FormatError, match="claims 300000000 rows"):
        okra.read(tmp_path / "x.mtx")
    np.save(tmp_path / "x.npy", np.eye(100, dtype=np.float32))
    assert okra.read(tmp_path / "x.npy", memory="1M").shape == (100, 100)
    with pytest.raises(okra.MemoryBudgetError):
        okra.read(tmp_path / "x.npy", memory=10000)


def test_peak_memory_of_handing_over():
    """64 MB handed over cost no second 64 MB: neither in `as_data` nor in a Gram matrix."""
    code = """
        import resource
        import numpy as np, okra
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        X = np.ones((8, 1 << 20))          # 64 MB
        okra.gram_matrix("linear", np.eye(8))
        before = peak()
        okra.gram_matrix("linear", X)
        print(peak() - before)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True,
                         capture_output=True, text=True).stdout
    assert int(out) < 20  # 5


def test_entries_of_sparse_matrices_given_twice_are_added():
    twice = sp.csr_matrix((np.array([1.0, 2, 3, 4]), np.array([2, 2, 1, 0]),
                           np.array([0, 2, 4])), shape=(2, 3))
    assert np.array_equal(okra.as_data(twice).objects.toarray(), [[0, 0, 3], [4, 3, 0]])
    assert twice.nnz == 4  # the matrix that was given is left as it is


def test_bags():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(size, 3)) for size in (2, 1, 4)]
    x = okra.bags(bags)
    assert x.kind == "bags" and len(x) == 3
    assert all(np.array_equal(a, b) for a, b in zip(x.objects, bags))
    want = [[np.mean(np.exp(-((a[:, None] - b) ** 2).sum(axis=2) / 2)) for b in bags] for a in bags]
    assert np.allclose(okra.gram_matrix("bag(rbf(sigma=1))", x), want, rtol=1e-14)
    again = pickle.loads(pickle.dumps(x[1:]))
    assert np.allclose(okra.gram_matrix("bag(rbf(sigma=1))", again), np.array(want)[1:, 1:], rtol=1e-14)
    spectra = [[(np.array([[50.0, 1.0], [60.0, 2.0]]), {"TITLE": "a"})],
               [(np.array([[50.0, 1.0]]), {}), (np.array([[70.0, 3.0]]), {})]]
    assert okra.gram_matrix("bag(ppk | normalize)", okra.bags(spectra)).shape == (2, 2)
    with pytest.raises(okra.OkraError):
        okra.bags(np.ones((3, 2)), [1, 1])


def test_measured_spectra_come_with_okra():
    spectra, molecules = okra.datasets.load_spectra()
    assert len(spectra) == len(molecules) == 179
    with open(okra.datasets.spectra_file()) as file:
        text = file.read()
    assert text.count("TITLE=MSBNK-") == 179 and text.count("INCHIKEY=") == 179
    assert len(set(line for line in text.splitlines() if line.startswith("INCHIKEY="))) == 179
