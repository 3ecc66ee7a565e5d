"""One collection of objects, held by the library."""
from __future__ import annotations

import ctypes as c
from typing import Any, Iterable, Optional

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
        """How much each object counts, or None: all the same."""
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
        """Weights of labels that make every class count the same."""
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
        Context().call(lib.okra_data_write, self.pointer, path)

    def __reduce__(self):
        from . import _data as to  # which makes collections, and so imports this
        kind = self.kind
        if kind == "nodes":
            if self._network is None:
                raise TypeError("nodes of a network that was read from a file cannot be "
                                "pickled; make them with okra.nodes")
            names, ends, weights = self._network
            codes = array_of(lib.okra_data_codes(self.pointer), (len(self),)).copy()
            return to._make_nodes, (names, ends, weights, codes)
        if kind == "graphs":
            texts = self.objects
            if any(text == "" or "\n" in text for text in texts):
                raise TypeError("only molecules made from SMILES can be pickled")
            return to.smiles, (texts,)
        if kind == "tuple":
            count = lib.okra_data_width(self.pointer)
            return to._make_tuple, ([borrow(lib.okra_data_part(self.pointer, k), self)
                                  for k in range(count)],)
        if kind == "bags":
            sizes = np.diff(array_of(lib.okra_data_offsets(self.pointer), (len(self) + 1,)))
            return to.bags, (borrow(lib.okra_data_part(self.pointer, 0), self), sizes)
        maker = {"dense": to.missing, "sparse": to.as_data, "bits": to.bits, "labels": to.labels,
                 "gram": to.gram, "strings": to.as_data, "sequences": to._make_sequences,
                 "spectra": to._make_spectra}[kind]
        columns = self.columns
        return (to._with_columns, (maker, self.objects, columns)) if columns else (
            maker, (self.objects,))


def borrow(pointer: int, owner: Any) -> Data:
    """Data that belong to a holder, which is kept alive."""
    return Data(Handle(lib.okra_data_retain(pointer), lib.okra_data_free, owner))


def typed(objects: Any, dtype: Any) -> Any:
    """Labels in the type they were given in."""
    if dtype is None or dtype.kind in "US" or not isinstance(objects, np.ndarray):
        return objects
    if dtype.kind == "b":
        return np.isin(objects, ("True", 1)) if objects.dtype.kind in "US" else objects == 1
    return objects.astype(dtype)


def c_texts(values: Iterable) -> Any:
    """An array of C strings."""
    encoded = []
    for i, text in enumerate(values):
        if not isinstance(text, str):
            gap = text is None or text != text
            raise TypeError(f"object {i} (from 0) is {'missing' if gap else f'of type {type(text).__name__}'}, "
                            f"expected str{': leave out rows without one' if gap else ''}")
        if "\0" in text:
            raise ValueError(f"text {i} has a zero character")
        encoded.append(text.encode("utf-8", "surrogateescape"))
    return (c.c_char_p * len(encoded))(*encoded)
