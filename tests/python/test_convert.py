"""Files of other programs: MATLAB, ARFF, the TU collection; and `python -m okra convert`."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import okra

scipy_io = pytest.importorskip("scipy.io")
scipy_sparse = pytest.importorskip("scipy.sparse")
HERE = Path(__file__).resolve().parent

IRIS = ("% flowers\n@RELATION iris\n\n@attribute 'petal length' REAL\n@attribute n {0, 1}\n"
        "@attribute class {setosa, 'iris x'}\n@DATA\n1.5,0,setosa\n% note\n\n 2 , 1 , 'iris x'\n")
SPARSE = ("@relation r\n@attribute a numeric\n@attribute b integer\n@attribute c {no,yes}\n"
          "@data\n{0 1.5, 1 2}\n{}\n{1 -3, 2 yes}\n")


def convert(folder, *arguments):
    done = subprocess.run([sys.executable, "-m", "okra", "convert", *map(str, arguments)],
                          cwd=folder, text=True, capture_output=True,
                          env={"PYTHONPATH": str(HERE.parent.parent / "python"),
                               "OKRA_LIBRARY": str(okra._library.LIBRARY_PATH),
                               "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stdout, done.stderr


def codes(data):
    pointer = okra._library.lib.okra_data_codes(data.pointer)
    return okra._collection.array_of(pointer, (len(data),)).tolist()


def files(folder):
    return sorted(p.name for p in folder.iterdir())


# ---- MATLAB ----

X = np.array([[1.0, 2, 3], [4, 5, 6.5]])
CUBE = np.arange(24.0).reshape(2, 3, 4)
S = scipy_sparse.csr_matrix(np.array([[0, 2.5, 0], [0.1, 0, 0]]))


@pytest.fixture
def mat(tmp_path):
    path = tmp_path / "m.mat"
    scipy_io.savemat(path, {"x": X, "cube": CUBE, "s": S, "text": "hello", "w": X + 1j,
                            "u": np.array([[1, 255]], dtype=np.uint8), "t": X > 2},
                     do_compression=True)
    return path


def test_variables_of_matlab_files(mat):
    assert np.array_equal(okra.read(f"{mat}:x").objects, X)
    assert np.array_equal(okra.read(f"{mat}:u").objects, [[1, 255]])
    assert np.array_equal(okra.read(f"{mat}:t").objects, X > 2)
    # A(:,:), rows by everything else, the first of these fastest
    want = np.concatenate([CUBE[:, :, k] for k in range(4)], axis=1)
    assert np.array_equal(okra.read(f"{mat}:cube").objects, want)
    sparse = okra.read(f"{mat}:s")
    assert sparse.kind == "sparse"
    assert np.array_equal(okra.read(f"dense:{mat}:s").objects, S.toarray())
    assert okra.read(f"gram:{mat}:x").kind == "gram"


def test_matlab_files_that_are_refused(mat, tmp_path):
    with pytest.raises(okra.OkraError, match="m.mat: there are 5 numeric variables among: x, "):
        okra.read(mat)
    with pytest.raises(okra.OkraError, match="variable 'text' holds no real numbers"):
        okra.read(f"{mat}:text")
    with pytest.raises(okra.OkraError, match="variable 'w' holds no real numbers"):
        okra.read(f"{mat}:w")
    with pytest.raises(okra.OkraError, match="there is no variable 'z'; there is: x, "):
        okra.read(f"{mat}:z")
    with pytest.raises(okra.OkraError, match="/nowhere.mat: cannot be opened: No such file"):
        okra.read("/nowhere.mat")
    scipy_io.savemat(tmp_path / "nan.mat", {"x": np.array([[1, np.nan]])})
    with pytest.raises(okra.OkraError, match="nan.mat: row 0, column 1 .counted from 0. is nan"):
        okra.read(tmp_path / "nan.mat")
    assert np.isnan(okra.read(f"missing:{tmp_path}/nan.mat").objects[0, 1])


def test_matlab_files_that_are_broken(tmp_path):
    """Those that fuzzing found, and cut ones: an answer or an error of okra's."""
    whole = (HERE / "mat" / "dense.mat").read_bytes()
    cases = [path.read_bytes() for path in sorted((HERE / "mat").iterdir())]
    cases += [whole[:cut] for cut in range(5, len(whole), 40)] + [b"some text\n"]
    refused = 0
    for k, bytes_ in enumerate(cases):
        path = tmp_path / f"{k}.mat"
        path.write_bytes(bytes_)
        try:
            assert len(okra.read(path)) >= 0
        except okra.OkraError as failure:
            assert str(failure).startswith(str(path)), failure
            refused += 1
    assert refused > len(cases) / 2


def test_matlab_files_of_version_73(tmp_path, monkeypatch):
    path = HERE / "mat" / "version73.mat"
    pytest.importorskip("h5py")
    assert okra.read(f"{path}:x").objects.ndim == 2
    (tmp_path / "h5py.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(okra.OkraError, match="version 7.3; h5py, which reads those, is not"):
        okra.read(f"{path}:x")


def test_hdf5_takes_no_bytes_of_other_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    secret, whole = tmp_path / "secret", (HERE / "mat" / "version73.mat").read_bytes()
    secret.write_bytes(b"what the reader alone may read!!")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.ones((2, 3))

    def made(change):
        path = tmp_path / "m.mat"
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            change(file)
        return f"{path}:y"

    def bytes_of(file):
        file.create_dataset("y", (2, 2), "f8", external=[(str(secret), 0, 32)])

    def link(file):
        file["y"] = h5py.ExternalLink("other.h5", "/x")

    def pieces(file):
        layout = h5py.VirtualLayout((2, 3), "f8")
        layout[:] = h5py.VirtualSource("other.h5", "x", (2, 3))
        file.create_virtual_dataset("y", layout)

    def nowhere(file):
        file.create_dataset("y", (10**7, 10**4), "f8", chunks=(10, 10))

    def sparse(file):
        group = file.create_group("y")
        group.attrs["MATLAB_sparse"] = 3
        for name in ("jc", "ir"):
            group[name] = np.array([0, 1])
        group.create_dataset("data", (2,), "f8", external=[(str(secret), 0, 16)])

    for change, message in ((bytes_of, "in another file"), (link, "in another file"),
                            (pieces, "in another file"), (nowhere, "absurd"),
                            (sparse, "in another file")):
        with pytest.raises(okra.OkraError, match=message):
            okra.read(made(change))


def test_convert_keeps_who_may_read(mat):
    assert convert(mat.parent, "m.mat:x", "-o", "own.csv")[0] == 0
    (mat.parent / "own.csv").chmod(0o600)
    assert convert(mat.parent, "m.mat:x", "-o", "own.csv")[0] == 0
    assert (mat.parent / "own.csv").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
@pytest.mark.parametrize("what", ["m.mat:x", "m.mat"])
def test_convert_keeps_links_and_owners(mat, what):
    real, link = mat.parent / "theirs.npz", mat.parent / "link.npz"
    real.touch(mode=0o640)
    os.chown(real, 65534, 65533)
    link.symlink_to("theirs.npz")
    assert convert(mat.parent, what, "-o", "link.npz")[0] == 0
    found = real.stat()
    assert link.is_symlink() and found.st_size > 0
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (65534, 65533, 0o640)


def test_convert_matlab(mat):
    folder = mat.parent
    status, out, err = convert(folder, "m.mat", "-o", "m.npz")
    assert (status, err) == (0, "")
    assert "m.npz:x  2 x 3\n" in out and "m.s.mtx  2 x 3, sparse\n" in out
    assert "left out: text, which holds no real numbers" in out
    assert files(folder) == ["m.mat", "m.npz", "m.s.mtx"]
    for name in ("x", "cube", "u", "t"):
        assert np.array_equal(okra.read(f"{folder}/m.npz:{name}").objects,
                              okra.read(f"{mat}:{name}").objects)
    assert np.array_equal(okra.read(f"dense:{folder}/m.s.mtx").objects, S.toarray())
    assert convert(folder, "m.mat:s", "-o", "s.mtx")[:2] == (0, "s.mtx\n")
    assert convert(folder, "m.mat:x", "-o", "x.csv")[0] == 0
    assert np.array_equal(okra.read(folder / "x.csv").objects, X)
    before = files(folder)
    status, out, err = convert(folder, "m.mat:x", "-o", "none/x.npz")
    assert status == 1 and err.startswith("okra convert: ")
    status, out, err = convert(folder, "m.mat:x", "-o", "m.mat")
    assert (status, out, err) == (1, "", "okra convert: m.mat: is the file to convert\n")
    assert files(folder) == before
    assert convert(folder, "m.mat")[0] == 2 and convert(folder, "x.csv", "-o", "y.npy")[0] == 1


# ---- ARFF ----

@pytest.fixture
def arff(tmp_path):
    pytest.importorskip("arff")

    def write(text, name="a.arff"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


def test_features_and_classes_of_arff_files(arff):
    path = arff(IRIS)
    data = okra.read(path)
    assert np.array_equal(data.objects, [[1.5, 0], [2, 1]])
    assert data.columns == ["petal length", "n"]
    classes = okra.read(f"labels:{path}")
    assert list(classes.objects) == ["setosa", "iris x"] and codes(classes) == [0, 1]
    assert codes(okra.read(f"labels:{path}:n")) == [0, 1]
    assert list(okra.read(f"labels:{path}:petal length").objects) == ["1.5", "2"]
    path = arff(SPARSE)
    assert okra.read(path).kind == "sparse"
    assert np.array_equal(okra.read(f"dense:{path}").objects, [[1.5, 2], [0, 0], [0, -3]])
    assert codes(okra.read(f"labels:{path}")) == [0, 0, 1]
    assert list(okra.read(f"labels:{path}:b").objects) == ["2", "0", "-3"]
    assert list(okra.read(f"strings:{path}:c").objects) == ["no", "no", "yes"]


@pytest.mark.parametrize("spec, text, message", [
    ("{}", "", "a.arff: "),
    ("{}", "@relation r\n1,2\n", "a.arff: "),
    ("{}", "@relation r\n@data\n1\n", "a.arff: "),
    ("{}", "@relation r\n@attribute\n@data\n1\n", "a.arff: "),
    ("{}", "@relation r\n@attribute x {a,b\n@data\n1\n", "a.arff: "),
    ("{}", "@relation r\n@attribute x string\n@attribute y real\n@data\na,1\n",
     "attribute 1 ('x') is text; features must be numbers (labels:FILE:NAME reads one"),
    ("{}", "@relation r\n@attribute x {a,b}\n@data\na\n", "there are no features, only the class"),
    ("{}", "@relation r\n@attribute x real\n@attribute y real\n@data\n1,2\n3\n", "a.arff: "),
    ("{}", "@relation r\n@attribute x real\n@data\n?\n", "row 0, column 0 (counted from 0) is nan"),
    ("{}", "@relation r\n@attribute x real\n@data\n{1 1}\n", "a.arff: "),
    ("labels:{}", "@relation r\n@attribute x {a,b}\n@data\nc\n", "a.arff: "),
    ("labels:{}", "@relation r\n@attribute x {a,b}\n@data\n?\n",
     "row 0 (counted from 0): the value of 'x' is missing"),
    ("labels:{}:y", "@relation r\n@attribute x {a,b}\n@data\na\n", "there is no attribute 'y'"),
    ("{}:x", "@relation r\n@attribute x real\n@data\n1\n",
     "'x' cannot be chosen from a file of format arff but by labels:"),
])
def test_arff_files_that_are_refused(arff, spec, text, message):
    path = arff(text)
    with pytest.raises(okra.OkraError) as found:
        okra.read(spec.format(path))
    assert str(found.value).startswith(f"{path}: ") and message in str(found.value)


def test_convert_arff(arff):
    folder = arff(IRIS).parent
    assert convert(folder, "a.arff", "-o", "a.csv") == (
        0, "a.csv:!class  the features\nlabels:a.csv:class  the classes\n", "")
    assert (folder / "a.csv").read_text() == "petal length,n,class\n1.5,0,setosa\n2,1,iris x\n"
    assert np.array_equal(okra.read(f"{folder}/a.csv:!class").objects, [[1.5, 0], [2, 1]])
    assert list(okra.read(f"labels:{folder}/a.csv:class").objects) == ["setosa", "iris x"]
    arff(SPARSE, "s.arff")
    assert convert(folder, "s.arff", "-o", "s.mtx") == (0, "s.mtx\n", "")
    assert np.array_equal(okra.read(f"dense:{folder}/s.mtx").objects, [[1.5, 2], [0, 0], [0, -3]])
    arff("@relation r\n@attribute 1 real\n@attribute 2 real\n@data\n3,?\n", "n.arff")
    assert convert(folder, "n.arff", "-o", "n.csv") == (0, "n.csv\n", "")
    assert (folder / "n.csv").read_text() == "x1,x2\n3,?\n"
    status, _, err = convert(folder, "none.arff", "-o", "none.csv")
    assert (status, err) == (
        1, "okra convert: none.arff: cannot be opened: No such file or directory\n")
    assert "none.csv" not in files(folder)


# ---- graphs ----

def tu(folder, indicator, edges, labels=None, edge_labels=None):
    folder = folder / "SET"
    folder.mkdir(exist_ok=True)
    for name, text in (("graph_indicator", indicator), ("A", edges), ("node_labels", labels),
                       ("edge_labels", edge_labels)):
        path = folder / f"SET_{name}.txt"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
    return okra.read(f"tu:{folder}/")


def test_folders_of_graphs(tmp_path):
    networkx = pytest.importorskip("networkx")
    data = tu(tmp_path, "1\n1\n2\n2\n2\n", "1, 2\n2, 1\n3, 4\n4, 5\n", "3\n-4\n5\n5\n5\n",
              "1\n1\n0\n2\n")
    one, two = networkx.Graph(), networkx.Graph()
    one.add_nodes_from([(0, {"label": 3}), (1, {"label": -4})])
    one.add_edge(0, 1, label=1)
    two.add_nodes_from([(k, {"label": 5}) for k in range(3)])
    two.add_edge(0, 1, label=0)
    two.add_edge(1, 2, label=2)
    assert data.kind == "graphs" and len(data) == 2
    for kernel in ("wl(h=2)", "paths", "shortest-path"):
        assert np.array_equal(okra.gram_matrix(kernel, data),
                              okra.gram_matrix(kernel, okra.graphs([one, two])))
    assert len(tu(tmp_path, "1\n", "")) == 1
    status, out, err = convert(tmp_path, "tu:SET", "-o", "SET.graphml")
    assert (status, out, err) == (0, "SET.graphml\n", "")
    assert len(okra.read(tmp_path / "SET.graphml")) == 1


@pytest.mark.parametrize("parts, message", [
    (("1\n1\n", "1, 1\n"), "line 1: an edge from a node to itself"),
    (("1\n1\n", "1, 3\n"), "line 1: node 3; there are 2 nodes"),
    (("1\n2\n", "1, 2\n"), "line 1: an edge between nodes of two graphs"),
    (("1\n3\n", ""), "line 2: graph 3; graphs are numbered from 1, one after another"),
    (("2\n", ""), "line 1: graph 2; graphs are numbered from 1"),
    (("1\n1\n", "1, 2\n2, 1\n", None, "1\n2\n"), "line 2: the edge has another label on line 1"),
    (("1\n1\n", "1, 2\n", "1\n"), "1 lines; there are 2 nodes"),
    (("1\n1\n", "1, 2\n", None, "1\n1\n"), "2 lines; there are 1 edges"),
    (("1\nx\n", ""), "line 2: expected 1 whole number"),
    (("1\n1 1\n", ""), "line 2: expected 1 whole number"),
    (("1\n\n", ""), "line 2: expected 1 whole number"),
    (("1\n", "1\n"), "line 1: expected 2 whole numbers"),
    (("1\n", None), "SET_A.txt: cannot be opened: No such file or directory"),
])
def test_folders_of_graphs_that_are_refused(tmp_path, parts, message):
    with pytest.raises(okra.OkraError) as found:
        tu(tmp_path, *parts)
    assert message in str(found.value)


# ---- the program ----

def test_other_commands_are_the_program(tmp_path):
    done = subprocess.run([sys.executable, "-m", "okra", "gram", "--x", "m.mat", "--kernel", "linear",
                           "-o", "k.csv"], cwd=tmp_path, text=True, capture_output=True,
                          env={"PYTHONPATH": str(HERE.parent.parent / "python"),
                               "OKRA_LIBRARY": str(okra._library.LIBRARY_PATH)})
    assert done.returncode == 1
    assert done.stderr == ("okra gram: m.mat: only the Python package reads MATLAB files; convert "
                           "it: python -m okra convert m.mat -o m.npz\n")
