"""Objects of the library as Python has them."""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np

from ._library import constants, lib

KINDS = {constants["OKRA_" + name.upper()]: name for name in (
    "dense", "sparse", "bits", "labels", "gram", "strings", "sequences", "graphs",
    "nodes", "tuple", "spectra", "bags")}



def array_of(pointer: Any, shape: tuple) -> np.ndarray:
    """A view of memory of the library; empty arrays have none."""
    if 0 in shape or not pointer:
        return np.empty(shape, dtype=pointer._type_)
    return np.ctypeslib.as_array(pointer, shape)


def _object_texts(pointer: int, n: int) -> Optional[list]:
    texts, length = [], c.c_int64()
    for i in range(n):
        text = lib.okra_data_text(pointer, i, c.byref(length))
        if not text:
            return None
        # Labels of a file may be no UTF-8; `c_texts` gives such bytes back.
        texts.append(c.string_at(text, length.value).decode("utf-8", "surrogateescape"))
    return texts


def _string(pointer: int, i: int) -> str:
    length = c.c_int64()
    codes = array_of(lib.okra_data_characters(pointer, i, c.byref(length)),
                   (length.value,))
    return "".join(map(chr, codes))


def _sparse_objects(pointer: int, n: int, d: int) -> Any:
    from scipy.sparse import csr_matrix
    indices, values = c.POINTER(c.c_int64)(), c.POINTER(c.c_double)()
    indptr = lib.okra_data_compressed(pointer, c.byref(indices), c.byref(values))
    indptr = array_of(indptr, (n + 1,))
    count = int(indptr[-1])
    values, indices = array_of(values, (count,)), array_of(indices, (count,))
    return csr_matrix((values.copy(), indices.copy(), indptr.copy()), shape=(n, d))


def _sequence_objects(pointer: int, n: int, d: int) -> list:
    length, out = c.c_int64(), []
    for i in range(n):
        vectors = lib.okra_data_vectors(pointer, i, c.byref(length))
        vectors = array_of(vectors, (length.value, d)).copy()
        codes = array_of(lib.okra_data_characters(pointer, i, c.byref(length)),
                       (length.value,))
        out.append((vectors, "".join(map(chr, codes))) if (codes >= 0).any() else vectors)
    return out


def _spectra_objects(pointer: int, n: int) -> list:
    mz, height, length = c.POINTER(c.c_double)(), c.POINTER(c.c_double)(), c.c_int64()
    out = []
    for i in range(n):
        count = lib.okra_data_peaks(pointer, i, c.byref(mz), c.byref(height))
        about = lib.okra_data_about(pointer, i, None, c.byref(length))
        about = c.string_at(about, length.value).decode("utf-8")
        peaks = np.stack([array_of(mz, (count,)), array_of(height, (count,))], axis=1)
        out.append((peaks, dict(line.split("=", 1) for line in about.splitlines())))
    return out


def to_python(pointer: int) -> Any:
    """The objects of a collection as Python has them; always a copy."""
    kind = KINDS[lib.okra_data_kind(pointer)]
    n, d = lib.okra_data_count(pointer), lib.okra_data_width(pointer)
    if kind in ("dense", "gram"):
        ld = c.c_int64()
        values = lib.okra_data_values(pointer, c.byref(ld))
        return array_of(values, (n, ld.value))[:, :d].copy() if n else np.empty((n, d))
    if kind == "sparse":
        return _sparse_objects(pointer, n, d)
    if kind == "bits":
        words = c.c_int64()
        packed = array_of(lib.okra_data_words(pointer, c.byref(words)), (n, words.value))
        packed = np.ascontiguousarray(packed, dtype="<u8").view(np.uint8)
        return np.unpackbits(packed.reshape(n, 8 * words.value), axis=1,
                             bitorder="little")[:, :d]
    if kind in ("labels", "nodes"):
        texts = _object_texts(pointer, n) if n else None
        codes = array_of(lib.okra_data_codes(pointer), (n,)).copy()
        return codes if texts is None else np.array(texts)
    if kind == "strings":
        return [_string(pointer, i) for i in range(n)]
    if kind == "sequences":
        return _sequence_objects(pointer, n, d)
    if kind == "spectra":
        return _spectra_objects(pointer, n)
    if kind == "graphs":
        return _object_texts(pointer, n)
    if kind == "bags":
        offsets = array_of(lib.okra_data_offsets(pointer), (n + 1,))
        members = to_python(lib.okra_data_part(pointer, 0))
        return [members[offsets[i]:offsets[i + 1]] for i in range(n)]
    return tuple(to_python(lib.okra_data_part(pointer, k)) for k in range(d))
