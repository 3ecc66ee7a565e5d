"""Collections of objects: from Python to the library and back.

`as_data` takes what people have: NumPy arrays (without a copy when they are float64 and
rows are contiguous), SciPy sparse matrices, pandas frames, lists of texts, networkx
graphs, lists of arrays. Where a kind cannot be told from the objects (SMILES are texts,
class labels are numbers) a function says it: `smiles`, `labels`, `nodes`, `sequences`,
`missing`, `gram`, `spectra`.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Iterable, Optional, Sequence

import numpy as np

from ._library import Context, Handle, check, lib, make
from ._objects import KINDS, array_of, to_python


class Data:
    """A collection of n objects of one kind, held by the library.

    It has a length, can be indexed by numbers, slices, index arrays and masks (which gives
    a collection), and is taken wherever an estimator takes objects. `objects` gives the
    Python form.
    """

    def __init__(self, handle: Handle, network: Optional[tuple] = None,
                 dtype: Any = None) -> None:
        self._handle = handle
        self._network = network  # what `nodes` was called with, for pickling
        self._dtype = dtype  # of what `labels` was called with; None: as the library has it

    @property
    def pointer(self) -> int:
        return self._handle.pointer

    @property
    def kind(self) -> str:
        """``"dense"``, ``"sparse"``, ``"bits"``, ``"labels"``, ``"gram"``,
        ``"strings"``, ``"sequences"``, ``"graphs"``, ``"nodes"``, ``"spectra"`` or
        ``"tuple"``."""
        return KINDS[lib.okra_data_kind(self.pointer)]

    @property
    def shape(self) -> tuple:
        """The number of objects, and of columns for vectors."""
        if self.kind in ("dense", "sparse", "bits", "gram"):
            return len(self), lib.okra_data_width(self.pointer)
        return (len(self),)

    def __len__(self) -> int:
        return lib.okra_data_count(self.pointer)

    def __repr__(self) -> str:
        return f"<okra.Data: {len(self)} objects, {self.kind}>"

    def __getitem__(self, index: Any) -> "Data":
        index = np.atleast_1d(np.arange(len(self))[index])
        index = np.ascontiguousarray(index, dtype=np.int64)
        return Data(make(lib.okra_data_take, lib.okra_data_free, self.pointer,
                         index.ctypes.data, len(index)), self._network, self._dtype)

    def distinct(self) -> np.ndarray:
        """The numbers of the objects that differ, the first of each; a molecule is the same
        however it is written."""
        index, count = np.empty(len(self), dtype=np.int64), c.c_int64()
        check(lib.okra_candidates_distinct(self.pointer, index.ctypes.data, c.byref(count)))
        return index[:count.value]

    @property
    def columns(self) -> Optional[list]:
        """Names of the columns, as a header or a pandas frame told them, or None. A model
        keeps them, and takes the columns of new inputs that have names by these."""
        if lib.okra_data_column(self.pointer, 0) is None:
            return None
        return [lib.okra_data_column(self.pointer, j).decode()
                for j in range(lib.okra_data_width(self.pointer))]

    @property
    def weights(self) -> Optional[np.ndarray]:
        """How much each object counts, or None: all alike."""
        pointer = lib.okra_data_weights(self.pointer)
        return array_of(pointer, (len(self),)).copy() if pointer else None

    def weigh(self, weights: Any) -> "Data":
        """The same objects with weights of 0 or more: 2 counts as the object twice, 0 as no
        such object. None: without."""
        if weights is None:
            return Data(make(lib.okra_data_weigh, lib.okra_data_free, self.pointer, None, 0,
                             keep=self), self._network, self._dtype)
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.ndim != 1:
            raise ValueError(f"weights have shape {weights.shape}, expected ({len(self)},)")
        return Data(make(lib.okra_data_weigh, lib.okra_data_free, self.pointer,
                         weights.ctypes.data, len(weights), keep=self), self._network,
                    self._dtype)

    def balanced(self) -> np.ndarray:
        """Weights of labels that make all classes count alike."""
        weights = np.empty(len(self))
        check(lib.okra_data_balanced(self.pointer, weights.ctypes.data))
        return weights

    def __iter__(self):
        return iter(self.objects)

    @property
    def masses(self) -> np.ndarray:
        """Exact masses of molecules, or of the molecules behind spectra; 0: not known."""
        return np.array([lib.okra_data_mass(self.pointer, i) for i in range(len(self))])

    @property
    def objects(self) -> Any:
        """The objects as Python has them: arrays, sparse matrices, lists of texts."""
        return typed(to_python(self.pointer), self._dtype)

    def write(self, path: Any) -> None:
        """Writes a file; its extension tells the format."""
        Context().call(lib.okra_data_write, self.pointer, str(path).encode())

    def __reduce__(self):
        kind = self.kind
        if kind == "nodes":
            if self._network is None:
                raise TypeError("nodes of a network that was read from a file cannot be "
                                "pickled; make them with okra.nodes")
            names, ends, weights = self._network
            codes = array_of(lib.okra_data_codes(self.pointer), (len(self),)).copy()
            return _make_nodes, (names, ends, weights, codes)
        if kind == "graphs":
            texts = self.objects
            if any(text == "" or "\n" in text for text in texts):
                raise TypeError("only molecules made from SMILES can be pickled")
            return smiles, (texts,)
        if kind == "tuple":
            count = lib.okra_data_width(self.pointer)
            return _make_tuple, ([borrow(lib.okra_data_part(self.pointer, k), self)
                                  for k in range(count)],)
        maker = {"dense": missing, "sparse": as_data, "bits": bits, "labels": labels,
                 "gram": gram, "strings": as_data, "sequences": _make_sequences,
                 "spectra": _make_spectra}[kind]
        columns = self.columns
        return (_with_columns, (maker, self.objects, columns)) if columns else (
            maker, (self.objects,))


# ---- making collections --------------------------------------------------------------


def _rows(values: Any) -> tuple:
    """An array as rows of float64, and its row stride; no copy where none is needed."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise ValueError(f"expected a matrix of numbers, found {values.ndim} dimensions")
    n, d = values.shape
    step = values.itemsize
    if (d > 1 and values.strides[1] != step) or (
            n > 1 and (values.strides[0] % step or values.strides[0] < d * step)):
        values = np.ascontiguousarray(values)
    stride = values.strides[0] // step if n > 1 else d
    return values, max(stride, d)


def _dense(values: Any, function) -> Data:
    rows, stride = _rows(values)
    made = Data(make(function, lib.okra_data_free, rows.ctypes.data, rows.shape[0],
                     rows.shape[1], stride, keep=rows))
    return name_columns(made, getattr(values, "columns", None))


def name_columns(data: Data, names: Any) -> Data:
    """The same data; columns are called by names, where these are texts that tell them
    apart."""
    if names is not None and len(names) and all(isinstance(name, str) for name in names):
        try:
            lib.okra_data_set_columns(data.pointer, _texts(names))
        except ValueError:  # no UTF-8: they are not kept
            pass
    return data


def _with_columns(maker: Any, objects: Any, names: list) -> Data:
    return name_columns(maker(objects), names)


def missing(values: Any) -> Data:
    """Vectors in which NaN stands for a value that is not known.

    Parameters
    ----------
    values : array of shape (n, d)

    Returns
    -------
    Data
    """
    return _dense(values, lib.okra_data_missing)


def gram(values: Any, diagonal: Any = None) -> Data:
    """Rows of a Gram matrix.

    Parameters
    ----------
    values : array of shape (m, n)
        Kernel values against the n training objects.
    diagonal : array of shape (m,), optional
        Self-similarities of the row objects.

    Returns
    -------
    Data
    """
    if isinstance(values, tuple):
        values, diagonal = values
    values, stride = _rows(values)
    if diagonal is not None:
        diagonal = np.ascontiguousarray(diagonal, dtype=np.float64)
        if diagonal.shape != (len(values),):
            raise ValueError(f"the diagonal has shape {diagonal.shape}, expected "
                             f"({len(values)},)")
    return Data(make(lib.okra_data_gram, lib.okra_data_free, values.ctypes.data,
                     values.shape[0], values.shape[1], stride,
                     None if diagonal is None else diagonal.ctypes.data,
                     keep=(values, diagonal)))


def _sparse(matrix: Any) -> Data:
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:  # SciPy's meaning of an entry given twice
        matrix = matrix.copy()
        matrix.sum_duplicates()
    indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int64)
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)
    return Data(make(lib.okra_data_sparse, lib.okra_data_free, indptr.ctypes.data,
                     indices.ctypes.data, values.ctypes.data, matrix.shape[0],
                     matrix.shape[1]))


def bits(values: Any) -> Data:
    """Vectors of bits, packed.

    Parameters
    ----------
    values : array of shape (n, d)
        Zero or False, anything else or True.

    Returns
    -------
    Data
    """
    values = np.asarray(values) != 0
    packed = np.packbits(values, axis=1, bitorder="little")
    return Data(make(lib.okra_data_bits, lib.okra_data_free, packed.ctypes.data,
                     values.shape[0], values.shape[1], packed.shape[1]))


def _texts(values: Iterable) -> Any:
    """An array of C strings."""
    encoded = []
    for i, text in enumerate(values):
        if not isinstance(text, str):
            raise TypeError(f"object {i} is of type {type(text).__name__}, expected str")
        if "\0" in text:
            raise ValueError(f"text {i} has a zero character")
        encoded.append(text.encode("utf-8"))
    return (c.c_char_p * len(encoded))(*encoded)


def typed(objects: Any, dtype: Any) -> Any:
    """Labels in the type they were given in."""
    if dtype is None or dtype.kind in "US" or not isinstance(objects, np.ndarray):
        return objects
    if dtype.kind == "b":
        return np.isin(objects, ("True", 1)) if objects.dtype.kind in "US" else objects == 1
    return objects.astype(dtype)


def is_classes(values: Any) -> bool:
    """Whether a flat list or array (or pandas series) is taken as classes: truth values, or
    texts of which each comes twice or more on average (of more than 20 texts: five times).
    `as_data` makes strings of texts."""
    if isinstance(values, list):
        flat = bool(values) and all(isinstance(v, (str, bool, np.bool_)) for v in values)
    else:
        flat = hasattr(values, "__array__") and not isinstance(values, (Data, tuple))
    if not flat:
        return False
    values = np.asarray(values)
    if values.ndim == 1 and values.dtype.kind == "b":
        return len(values) > 0
    texts = values.ndim == 1 and values.dtype.kind in "UO" and len(values) > 1 and all(
        isinstance(v, str) for v in values)
    different = len(set(values.tolist())) if texts else 0
    return texts and (2 if different <= 20 else 5) * different <= len(values)


def check_rows(values: Any, name: str) -> None:
    """Refuses a list of lists that are no rows of numbers, such as sets of names."""
    if not isinstance(values, list) or not all(
            isinstance(v, (list, tuple, set, frozenset)) for v in values) or not values:
        return
    names = any(isinstance(v, str) for row in values for v in row)
    if names or len({len(row) for row in values}) > 1:
        what = "lists of names" if names else "lists of different lengths"
        raise ValueError(
            f"{name} holds {what}. Sets of labels are rows of 0 and 1: "
            f"sklearn.preprocessing.MultiLabelBinarizer().fit_transform({name}) makes them")


def labels(values: Any) -> Data:
    """Class labels.

    Parameters
    ----------
    values : sequence of n texts or numbers
        Whole numbers from 0 are codes themselves; anything else is named. `Data.objects`
        and predictions have the type that they were given in.

    Returns
    -------
    Data
    """
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"labels have {values.ndim} dimensions, expected 1")
    if values.dtype.kind in "iub" and (len(values) == 0 or values.min() >= 0):
        codes, names, count = values, None, int(values.max()) + 1 if len(values) else 0
    else:
        classes, codes = np.unique(values, return_inverse=True)
        names, count = _texts(str(v) for v in classes), len(classes)
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    return Data(make(lib.okra_data_labels, lib.okra_data_free, codes.ctypes.data,
                     len(codes), names, count), dtype=values.dtype)


def smiles(texts: Iterable[str]) -> Data:
    """Molecules.

    Parameters
    ----------
    texts : iterable of str
        SMILES.

    Returns
    -------
    Data
    """
    array = _texts(texts)
    return Data(Context().make(lib.okra_data_smiles, lib.okra_data_free, array,
                               len(array)))


def _strings(texts: Iterable[str]) -> Data:
    array = _texts(texts)
    return Data(make(lib.okra_data_strings, lib.okra_data_free, array, len(array)))


def sequences(arrays: Iterable, texts: Optional[Sequence[str]] = None) -> Data:
    """Sequences of vectors, each vector with a label where texts are given.

    Parameters
    ----------
    arrays : iterable of arrays of shape (length, d)
        `length` may differ from one to the next.
    texts : sequence of str, optional
        Text i has one character for each vector of sequence i.

    Returns
    -------
    Data
    """
    arrays = [np.asarray(a, dtype=np.float64) for a in arrays]
    if any(a.ndim != 2 or a.shape[1] != arrays[0].shape[1] for a in arrays):
        raise ValueError("sequences must be matrices with the same number of columns")
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(a) for a in arrays], out=offsets[1:])
    width = arrays[0].shape[1] if arrays else 0
    vectors = np.concatenate(arrays) if arrays else np.empty((0, 0))
    vectors = np.ascontiguousarray(vectors)
    codes = None
    if texts is not None:
        if [len(t) for t in texts] != [len(a) for a in arrays]:
            raise ValueError("each text must have one character for each vector")
        codes = np.array([ord(ch) for t in texts for ch in t], dtype=np.int32)
    return Data(make(lib.okra_data_sequences, lib.okra_data_free, offsets.ctypes.data,
                     vectors.ctypes.data, None if codes is None else codes.ctypes.data,
                     len(arrays), width))


def _make_sequences(objects: Any) -> Data:
    if len(objects) and isinstance(objects[0], tuple):
        return sequences([a for a, _ in objects], [t for _, t in objects])
    return sequences(objects)


def spectra(peaks: Iterable, about: Optional[Iterable] = None) -> Data:
    """Tandem mass spectra, for kernels such as ``ppk | normalize``.

    Parameters
    ----------
    peaks : iterable of arrays of shape (count, 2)
        m/z and intensity of the peaks of each spectrum, in any order.
    about : iterable of dict, optional
        What is said about each spectrum, with the keys of MGF files: ``PEPMASS`` is the
        m/z of the precursor, ``ADDUCT`` or ``CHARGE`` tells the mass of the molecule.

    Returns
    -------
    Data
    """
    arrays = [np.asarray(p, dtype=np.float64).reshape(-1, 2) for p in peaks]
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(a) for a in arrays], out=offsets[1:])
    both = np.concatenate(arrays) if arrays else np.empty((0, 2))
    mz, height = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
    texts = None
    if about is not None:
        said = ["".join(f"{key}={value}\n" for key, value in d.items()) for d in about]
        if len(said) != len(arrays):
            raise ValueError(f"{len(said)} descriptions of {len(arrays)} spectra")
        texts = _texts(said)
    return Data(make(lib.okra_data_spectra, lib.okra_data_free, offsets.ctypes.data,
                     mz.ctypes.data, height.ctypes.data, texts, len(arrays)))


def _make_spectra(objects: Any) -> Data:
    return spectra([p for p, _ in objects], [d for _, d in objects])


def _make_nodes(names: Any, ends: Any, weights: Any, codes: Any) -> Data:
    count = names if isinstance(names, int) else len(names)
    texts = None if isinstance(names, int) else _texts(names)
    return Data(make(lib.okra_data_nodes, lib.okra_data_free, count, texts,
                     ends.ctypes.data, weights.ctypes.data, len(weights),
                     codes.ctypes.data, len(codes)), (names, ends, weights))


def nodes(network: Any, chosen: Optional[Iterable] = None) -> Data:
    """Nodes of one network, for kernels such as ``diffusion(beta=1)``.

    Parameters
    ----------
    network : networkx.Graph, or sparse or dense matrix of shape (nodes, nodes)
        Undirected; edges have the attribute ``weight`` or weigh 1. Of a matrix the upper
        half is taken.
    chosen : iterable, optional
        Which nodes, in which order (numbers for a matrix); all if not given.

    Returns
    -------
    Data
    """
    if _is_graph(network):
        known = {node: i for i, node in enumerate(network)}
        names: Any = [str(node) for node in network]
        listed = [(known[a], known[b], float(w)) for a, b, w in
                  network.edges(data="weight", default=1.0)]
        ends = np.array([e[:2] for e in listed], dtype=np.int64).reshape(-1, 2)
        weights = np.array([e[2] for e in listed], dtype=np.float64)
    else:
        from scipy.sparse import coo_matrix, triu
        upper = coo_matrix(triu(network, k=1))
        names, known = upper.shape[0], None
        ends = np.ascontiguousarray(np.stack([upper.row, upper.col], axis=1),
                                    dtype=np.int64)
        weights = np.ascontiguousarray(upper.data, dtype=np.float64)
    if chosen is None:
        codes = np.arange(names if isinstance(names, int) else len(names))
    else:
        codes = np.array([node if known is None else known[node] for node in chosen])
    return _make_nodes(names, ends, weights, codes.astype(np.int64))


def _is_graph(value: Any) -> bool:
    return hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "adj")


def graphs(networks: Iterable) -> Data:
    """Labelled graphs, one object each.

    Parameters
    ----------
    networks : iterable of networkx.Graph
        The attribute ``label`` of nodes and edges is their label; without one it is 0.

    Returns
    -------
    Data
    """
    networks = list(networks)
    first_node, first_edge = [0], [0]
    node_labels, edge_labels, ends = [], [], []
    for network in networks:
        place = {node: i for i, node in enumerate(network)}
        node_labels += [str(v) for _, v in network.nodes(data="label", default=0)]
        for a, b, v in network.edges(data="label", default=0):
            ends += [place[a], place[b]]
            edge_labels.append(str(v))
        first_node.append(len(node_labels))
        first_edge.append(len(edge_labels))
    arrays = [np.array(v, dtype=np.int64) for v in (first_node, first_edge, ends)]
    return Data(make(lib.okra_data_graphs, lib.okra_data_free, arrays[0].ctypes.data,
                     _texts(node_labels), arrays[1].ctypes.data, arrays[2].ctypes.data,
                     _texts(edge_labels), len(networks)))


def _make_tuple(parts: Sequence) -> Data:
    parts = [as_data(part) for part in parts]
    array = (c.c_void_p * len(parts))(*[p.pointer for p in parts])
    return Data(make(lib.okra_data_tuple, lib.okra_data_free, array, len(parts),
                     keep=parts))


def is_graphs(values: Any) -> bool:
    """Whether `as_data` would take the values as graphs, one object each."""
    return (not isinstance(values, (Data, tuple)) and not _is_graph(values)
            and not is_vectors(values) and _is_graph(next(iter(values), None)))


def is_vectors(values: Any) -> bool:
    """Whether `as_data` would take the values as vectors of numbers."""
    if isinstance(values, (Data, tuple)) or _is_graph(values):
        return False
    if hasattr(values, "tocsr") or hasattr(values, "columns"):  # sparse, a pandas frame
        return True
    first = None
    if isinstance(values, list):
        first = values[0] if values else None
        if getattr(first, "ndim", 0) == 2:
            return False
    elif hasattr(values, "__array__"):
        array = np.asarray(values)
        if array.ndim == 3:
            return False
        if array.ndim == 1 and array.dtype.kind in "UO" and len(array):
            first = array[0]
    return not (isinstance(first, str) or _is_graph(first))


def as_data(values: Any) -> Data:
    """A collection of objects from whatever Python has.

    Parameters
    ----------
    values : object
        `Data` as it is; arrays, pandas frames and lists of lists of numbers are vectors
        (one column if they are flat); SciPy sparse matrices are sparse vectors; texts are
        strings; networkx graphs in a list are graphs, one alone is all its nodes;
        matrices in a list are sequences of vectors; a tuple is several descriptions of
        the same objects.

    Returns
    -------
    Data
    """
    if isinstance(values, Data):
        return values
    if isinstance(values, tuple):
        return _make_tuple(values)
    if _is_graph(values):
        return nodes(values)
    if hasattr(values, "tocsr"):
        return _sparse(values)
    if is_vectors(values):
        return _dense(values, lib.okra_data_dense)
    if isinstance(values, np.ndarray) and values.ndim == 3:
        return sequences(values)
    values = list(values)
    if isinstance(values[0], str):
        return _strings(values)
    if _is_graph(values[0]):
        return graphs(values)
    return sequences(values)


def named(values: Any, name: str) -> Data:
    """`as_data`, messages calling what is made by the name of the argument."""
    data = as_data(values)
    if data is not values:
        check(lib.okra_data_name(data.pointer, name.encode()))
    return data


def read(spec: Any) -> Data:
    """Reads a file exactly as the command line does.

    Parameters
    ----------
    spec : str or path
        A path whose extension tells the format, with the prefixes of the command line
        (``"labels:y.csv"``, ``"file.npz:name"``).

    Returns
    -------
    Data
    """
    return Data(Context().make(lib.okra_data_read, lib.okra_data_free,
                               str(spec).encode()))


def borrow(pointer: int, owner: Any) -> Data:
    """Data that belong to a holder, which is kept alive."""
    return Data(Handle(lib.okra_data_retain(pointer), lib.okra_data_free, owner))
