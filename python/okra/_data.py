"""Collections of objects: from Python to the library and back.

`as_data` takes what people have: NumPy arrays (without a copy when they are float64 and
rows are contiguous), SciPy sparse matrices, pandas frames, lists of texts, networkx
graphs, lists of arrays. Where a kind cannot be told from the objects (SMILES are texts,
class labels are numbers) a function says it: `smiles`, `labels`, `nodes`, `sequences`,
`missing`, `gram`, `spectra`.
"""
from __future__ import annotations

import ctypes as c
import os
import tempfile
import warnings
from typing import Any, Iterable, Optional, Sequence

import numpy as np

from . import _convert
from ._collection import Data, borrow, c_texts, typed
from ._errors import OkraError, OkraWarning
from ._library import Context, _user_level, check, lib, make
from ._structured import (_is_graph, _make_nodes, _make_sequences, _make_spectra, graphs, nodes,
                          sequences, spectra)


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
    made = Data(make(function, lib.okra_data_free, rows.ctypes.data, *rows.shape, stride,
                     keep=rows))
    names = getattr(values, "columns", None)
    return made if names is None else name_columns(made, names)


def name_columns(data: Data, names: Any) -> Data:
    """The same data; columns are called by names, where these are texts that tell them
    apart."""
    if names is not None and len(names) and all(isinstance(name, str) for name in names):
        try:
            lib.okra_data_set_columns(data.pointer, c_texts(names))
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
    if not texts or any("\0" in v for v in values):
        return False
    classes = c.c_bool()
    check(lib.okra_texts_are_classes(c_texts(values), len(values), c.byref(classes)))
    return classes.value


def check_rows(values: Any, name: str) -> None:
    """Refuses a list of lists that are no rows of numbers, such as sets of names."""
    if not isinstance(values, list) or not all(
            isinstance(v, (list, tuple, set, frozenset)) or isinstance(v, np.ndarray) and v.ndim == 1
            for v in values) or not values:
        return
    names = any(isinstance(v, str) for row in values for v in row)
    if names or len({len(row) for row in values}) > 1:
        what = "lists of names" if names else "lists of different lengths"
        raise ValueError(
            f"{name} holds {what}. Sets of labels are rows of 0 and 1: "
            f"sklearn.preprocessing.MultiLabelBinarizer().fit_transform({name}) makes them")


def check_labels(values: Any) -> None:
    """Refuses gaps among labels."""
    gaps = [i for i, v in enumerate(values) if v is None or isinstance(v, float) and v != v]
    if gaps:
        raise ValueError(f"{len(gaps)} of {len(values)} labels are missing (the first: row "
                         f"{gaps[0]}, from 0), NaN: leave these rows out, or name them")


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
    check_labels(values)
    if values.dtype.kind in "iub" and (len(values) == 0 or values.min() >= 0):
        codes, names, count = values, None, int(values.max()) + 1 if len(values) else 0
    else:
        classes, codes = np.unique(values, return_inverse=True)
        names, count = c_texts(str(v) for v in classes), len(classes)
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
    array = c_texts(texts)
    return Data(Context().make(lib.okra_data_smiles, lib.okra_data_free, array,
                               len(array)))


def _takes(kernel: str, data: Data) -> bool:
    value = c.c_double()
    try:
        parsed = make(lib.okra_kernel_parse, lib.okra_kernel_free, kernel)
        Context().call(lib.okra_gram, parsed.pointer, data.pointer, None, c.byref(value), 1)
    except OkraError:
        return False
    return True


def is_texts(values: Any) -> bool:
    """Whether it is a flat list, array or series of texts."""
    if isinstance(values, (Data, tuple, str)) or _is_graph(values) or np.ndim(
            values if hasattr(values, "__array__") else 0) > 1 or hasattr(values, "tocsr"):
        return False
    values = list(values)
    return bool(values) and all(isinstance(v, str) for v in values)


def if_molecules(values: Any, kernel: Any, name: str) -> Any:
    """Molecules where `values` are texts, all of them SMILES (and not all of them words), and
    the kernel is left open; or where it is one of molecules. Else `values`."""
    if not isinstance(kernel, str) or not is_texts(values):
        return values
    texts = list(values)
    if kernel == "auto" and not any(set(v) & set("0123456789()[]=#") for v in texts):
        return values
    try:
        made = smiles(texts if kernel == "auto" else texts[:1])
        if kernel != "auto":
            if not _takes(kernel, made) or _takes(kernel, _strings(texts[:1])):
                return values
            made = smiles(texts)
    except OkraError:
        return values
    if kernel == "auto":
        warnings.warn(f"{name} holds SMILES, read as molecules; okra.as_data({name}) makes them strings",
                      OkraWarning, stacklevel=_user_level())
    check(lib.okra_data_name(made.pointer, name))
    return made


def _strings(texts: Iterable[str]) -> Data:
    array = c_texts(texts)
    return Data(make(lib.okra_data_strings, lib.okra_data_free, array, len(array)))


def _make_tuple(parts: Sequence) -> Data:
    parts = [as_data(part) for part in parts]
    array = (c.c_void_p * len(parts))(*[p.pointer for p in parts])
    return Data(make(lib.okra_data_tuple, lib.okra_data_free, array, len(parts),
                     keep=parts))


def bags(members: Any, sizes: Any = None) -> Data:
    """Bags of objects: an input is several observations of the same thing.

    Parameters
    ----------
    members : sequence of sequences, or objects
        The objects of each bag, as the other functions take objects: arrays of rows, lists of
        texts, lists of spectra ``(peaks, about)``. With `sizes`, all objects one after the
        other, for example a :class:`Data`.
    sizes : sequence of int, optional
        How many of them each bag has.

    Returns
    -------
    Data
    """
    if sizes is None:
        members = [bag.objects if isinstance(bag, Data) else bag for bag in members]
        sizes = [len(bag) for bag in members]
        arrays = all(isinstance(bag, np.ndarray) for bag in members)
        members = np.concatenate(members) if arrays else [one for bag in members for one in bag]
    spectrum = isinstance(members, list) and members and isinstance(members[0], tuple)
    inside = _make_spectra(members) if spectrum else as_data(members)
    offsets = np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])
    return Data(make(lib.okra_data_bags, lib.okra_data_free, inside.pointer,
                     offsets.ctypes.data, len(offsets) - 1, keep=[inside, offsets]))


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


def is_mixed(values: Any) -> bool:
    """Whether a pandas frame has columns of texts, classes or dates, or gaps."""
    if isinstance(values, Data) or not hasattr(values, "dtypes") or not hasattr(values, "columns"):
        return False
    return values.shape[1] > 1 and (
        any(getattr(kind, "kind", "O") not in "biuf" for kind in values.dtypes)
        or bool(values.isna().to_numpy().any()))


def mixed(values: Any, like: Optional[Data] = None) -> Data:
    """Such a frame as the command line reads the table of it; `like`: as these inputs were."""
    with tempfile.TemporaryDirectory(prefix="okra-") as folder, \
            warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = os.path.join(folder, "X.csv")
        values.to_csv(path, index=False)
        try:
            made = Data(Context(header=True).make(lib.okra_data_read_inputs, lib.okra_data_free, path,
                                                  None if like is None else like.pointer))
        except OkraError as error:
            error.args = (str(error).replace(path, "X"),)
            raise
    for told in said:
        text = str(told.message).replace(path, "X").split("; FILE:COLUMN")[0]
        warnings.warn(text, told.category, stacklevel=_user_level())
    check(lib.okra_data_name(made.pointer, "X"))
    return made


def edited(texts: Any, y: Any) -> bool:
    """Whether these are the texts y with a few letters changed (words, and their forms): they
    are strings then, though they may repeat; see cli/edited.c."""
    texts, y = list(texts), list(y)
    if len(y) < 3 or len(y) != len(texts) or not all(isinstance(t, str) for t in texts + y):
        return False

    def shared(a: str, b: str) -> float:
        begin = len(os.path.commonprefix([a, b]))
        end = len(os.path.commonprefix([a[begin:][::-1], b[begin:][::-1]]))
        return (begin + end) / max(len(a), len(b), 1)

    far = [1 + int(part * (len(y) - 1)) for part in (0.618, 0.236, 0.854)]  # of other lemmas
    rows = [s * len(y) // min(200, len(y)) for s in range(min(200, len(y)))]
    return bool(np.mean([shared(texts[i], y[i]) - shared(texts[i], y[(i + k) % len(y)])
                         for i in rows for k in far]) >= 0.25)


def edited_column(X: Any, y: Any) -> Any:
    """The column of a frame whose texts are like those of y, or None."""
    if not is_texts(y):
        return None
    return next((name for name in X.columns if edited(X[name], y)), None)


def beside(X: Any, names: list, like: Optional[Data] = None) -> Data:
    """Columns of a frame as two inputs: the first as strings, then what the others become."""
    for name in names:
        if name not in X.columns:
            raise ValueError(f"X: there is no column {name!r}, which the model has")
    words, others = _strings(list(X[names[0]])), names[1:]
    part = None if like is None else borrow(lib.okra_data_part(like.pointer, 1), like)
    one = list(X[others[0]]) if len(others) == 1 else []
    if part.kind == "labels" if part is not None else bool(one) and is_classes(one):
        return _make_tuple((words, labels(one)))
    if part.kind == "strings" if part is not None else bool(one) and is_texts(one):
        return _make_tuple((words, _strings(one)))
    return _make_tuple((words, mixed(X[others], part)))


def named(values: Any, name: str) -> Data:
    """`as_data`, messages calling what is made by the name of the argument."""
    data = as_data(values)
    if data is not values:
        check(lib.okra_data_name(data.pointer, name))
    return data


def read(spec: Any, memory: Any = None, header: Any = None, bag: Optional[str] = None) -> Data:
    """Reads a file exactly as the command line does; MATLAB files, ARFF files, folders of the
    TU collection, mzML files and records of MassBank, too.

    Parameters
    ----------
    spec : str or path
        A path whose extension tells the format, with the prefixes of the command line
        (``"labels:y.csv"``, ``"file.npz:name"``). ``"file.mat:name"`` is a variable of a MATLAB
        file (SciPy reads it; h5py, if it is of version 7.3), ``"file.arff"`` the features and
        ``"labels:file.arff:name"`` an attribute of a WEKA file (liac-arff reads it),
        ``"tu:FOLDER"`` graphs of the TU collection, ``"run.mzML"`` and ``"massbank:FOLDER"`` spectra.
    memory : int, str or None
        Memory budget in bytes, or a text such as ``"8G"``: a file that needs more is an
        error. None: most of the machine's.
    header : bool, optional
        Whether the first line of a table is the names of its columns. None: what stands below
        it decides, and a warning says where that is not sure.
    bag : str, optional
        Rows with the same text in this field of spectra (``"INCHIKEY"``) or column of a table
        are one bag.

    Returns
    -------
    Data
    """
    def library(known: Any) -> Data:
        if bag is not None:
            return Data(Context(memory=memory, header=header).make(
                lib.okra_data_read_bags, lib.okra_data_free, known, bag.encode(), None))
        return Data(Context(memory=memory, header=header).make(lib.okra_data_read, lib.okra_data_free, known))

    source = _convert.foreign(os.fsdecode(spec))
    return library(spec) if source is None else _convert.read(source, library)
