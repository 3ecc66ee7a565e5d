"""Indexes of candidate molecules or vectors: made once, searched by a model."""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Iterable, Iterator, Optional

import numpy as np

from ._collection import c_texts
from ._data import as_data, smiles
from ._library import Context, lib, options, structs
from ._objects import array_of

_REPORT = ("lines", "kept", "broken", "repeated", "apart", "massless", "shards", "resumed",
           "whole", "width")


def _model_of(model: Any) -> Any:
    """The model itself, or that of a fitted estimator."""
    return getattr(model, "model_", model)


class Ranking:
    """The nearest candidates of each query.

    Attributes
    ----------
    index : array of shape (queries, top)
        Numbers of candidates, their rows in the file, best first; -1 where fewer fit.
    distance : array of shape (queries, top)
        Squared distances in feature space; infinite where there is no candidate.
    compared : array of shape (queries,)
        How many candidates fit each query.
    error : float
        By how much squared distances of low rank were off among those measured exactly.
    """

    def __init__(self, index: "Index", handle: Any) -> None:
        top = c.c_int64()
        numbers = lib.okra_prediction_index(handle.pointer, c.byref(top))
        shape = (lib.okra_prediction_count(handle.pointer), top.value)
        self._of = index
        self.index = array_of(numbers, shape).copy()
        self.distance = array_of(lib.okra_prediction_distance(handle.pointer, None), shape).copy()
        self.compared = np.array([lib.okra_prediction_compared(handle.pointer, i)
                                  for i in range(shape[0])], dtype=np.int64)
        self.error = lib.okra_prediction_error(handle.pointer)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, query: int) -> list:
        """The candidates of one query, best first, as dictionaries."""
        return [{"candidate": int(k), "distance": float(d), **self._of[int(k)]}
                for k, d in zip(self.index[query], self.distance[query]) if k >= 0]

    def p_values(self, model: Any, training: Optional[bool] = None,
                 context: Optional[Context] = None) -> np.ndarray:
        """The share of known pairs that are at least as far from their prediction.

        Parameters
        ----------
        model : Model or fitted estimator
            The one that the candidates were ranked by.
        training : bool, optional
            False: pairs that the model keeps to calibrate with. True: its training pairs,
            each left out, which promises nothing exact. None: the former if there are any.

        Returns
        -------
        array of shape (queries, top)
            NaN where there is no candidate.
        """
        pointer = _model_of(model)._handle.pointer
        if training is None:
            training = lib.okra_model_calibration(pointer, None, None) == 0
        p = np.empty(self.distance.shape)
        (context or Context()).call(
            lib.okra_conformal_distances, pointer, training, self.distance.ctypes.data,
            self.distance.size, p.ctypes.data, None)
        p[self.index < 0] = np.nan
        return p


class Index:
    """Candidate molecules or vectors on disk, the same that ``okra index`` makes.

    Parameters
    ----------
    path : path
        The folder, NAME.okx. It is mapped, not read; it must stay in place.

    Examples
    --------
    >>> index = Index.build("candidates.smi", "candidates.okx", model=model)  # doctest: +SKIP
    >>> index.search(model, spectra, within="mass=10ppm")[0]                  # doctest: +SKIP
    """

    def __init__(self, path: Any, context: Optional[Context] = None) -> None:
        self._context = context or Context()
        self.path = os.fspath(path)
        self.report: Optional[dict] = None
        self._handle = self._context.make(lib.okra_index_open, lib.okra_index_free,
                                          self.path)

    @classmethod
    def build(cls, source: Any, path: Any, ky: Optional[str] = None, model: Any = None,
              rank: int = 0, shard: int = 0, columns: Iterable[str] = (), table: Any = None,
              context: Optional[Context] = None) -> "Index":
        """Makes an index in bounded memory; one that was interrupted goes on.

        Parameters
        ----------
        source : path
            One SMILES per line, a name behind a blank; or a table NAME.tsv whose header
            has the column ``smiles``; or vectors, NAME.npy. Broken lines are left out
            with a warning.
        path : path
            The folder to make; its name ends in ``.okx``.
        ky : str, optional
            The output kernel whose features are kept, e.g.
            ``"ecfp(bits=2048) | tanimoto"``; that of the model if not given.
        model : Model or fitted estimator, optional
        rank : int
            With a model: numbers of low rank for each candidate, so that all of them can
            be searched without a window.
        shard : int
            Candidates in one file; 0: 250,000.
        columns : iterable of str
            Columns of a table whose numbers are kept, for windows.
        table : path, optional
            Of vectors: NAME.tsv, whose lines below a header tell about one after the
            other: the column ``name``, and ``columns``.

        Returns
        -------
        Index
            Its ``report`` says what came of the lines.
        """
        context = context or Context()
        request = structs["okra_index_request"](
            source=source, path=path,
            ky=ky,
            model=None if model is None else _model_of(model)._handle.pointer, rank=rank,
            shard=shard, columns=",".join(columns), table=table)
        report = structs["okra_index_report"]()
        context.call(lib.okra_index_build, c.byref(request), c.byref(report))
        index = cls(path, context)
        index.report = {name: getattr(report, name) for name in _REPORT}
        return index

    def __len__(self) -> int:
        return lib.okra_index_count(self._handle.pointer)

    def __repr__(self) -> str:
        return f"<okra.Index: {len(self)} candidates, {self.kernel}, rank {self.rank}>"

    @property
    def kernel(self) -> str:
        """The output kernel that its features are of."""
        return lib.okra_index_kernel(self._handle.pointer, None).decode()

    @property
    def rank(self) -> int:
        """Numbers of low rank of each candidate; 0: none."""
        return lib.okra_index_rank(self._handle.pointer)

    @property
    def width(self) -> int:
        """Numbers of each candidate that is a vector; 0: they are molecules."""
        return lib.okra_index_width(self._handle.pointer)

    @property
    def columns(self) -> list:
        """Names of the numbers that candidates came with."""
        return [lib.okra_index_column(self._handle.pointer, k).decode()
                for k in range(lib.okra_index_columns(self._handle.pointer))]

    def __getitem__(self, i: int) -> dict:
        """The candidate of row i: row, smiles of a molecule, name, mass (0: not known), columns.

        A row that is broken, or repeats another, holds none: IndexError.
        """
        length = c.c_int64()
        text = lib.okra_index_text(self._handle.pointer, i, c.byref(length))
        if text is None:
            raise IndexError(f"row {i} holds no candidate")
        words = c.string_at(text, length.value).decode("utf-8", "replace")
        what = {"row": i, "name": words}
        if not self.width:
            smiles_, _, name = words.partition(" ")
            what = {"row": i, "smiles": smiles_, "name": name.lstrip()}
        return {**what, "mass": lib.okra_index_mass(self._handle.pointer, i),
                **{name: lib.okra_index_value(self._handle.pointer, i, k)
                   for k, name in enumerate(self.columns)}}

    def __iter__(self) -> Iterator[dict]:
        """All candidates, in the order of their rows."""
        length = c.c_int64()
        for i in range(lib.okra_index_lines(self._handle.pointer)):
            if lib.okra_index_text(self._handle.pointer, i, c.byref(length)) is not None:
                yield self[i]

    def check(self) -> None:
        """Reads all of it; raises where a checksum is wrong."""
        self._context.call(lib.okra_index_check, self._handle.pointer)

    def find(self, molecules: Any) -> np.ndarray:
        """The numbers of candidates that are these, molecules however written; -1: none."""
        data = smiles(molecules) if not self.width and isinstance(molecules, (list, tuple)) \
            else as_data(molecules)
        number = np.empty(len(data), dtype=np.int64)
        self._context.call(lib.okra_index_find, self._handle.pointer, data.pointer,
                           number.ctypes.data)
        return number

    def search(self, model: Any, x: Any, top: int = 10, within: Optional[str] = None,
               masses: Any = None, formulas: Any = None, values: Any = None,
               shortlist: int = 0, exact: bool = False,
               context: Optional[Context] = None) -> Ranking:
        """The candidates nearest to the predictions of a model.

        Parameters
        ----------
        model : Model or fitted estimator
            Its outputs are molecules, or vectors, as the candidates.
        x : objects
            The queries, e.g. spectra.
        top : int
            How many candidates of each.
        within : str, optional
            What fits: ``"mass=10ppm"``, ``"formula"``, ``"logp=0.5"``, ``"logp=1..3"``,
            several between commas.
        masses, formulas, values : optional
            What windows need of each query where the queries do not tell: masses,
            formulas, and a row of numbers in the order of ``columns``.
        shortlist : int
            With a rank: how many candidates to measure exactly; 0: 1,000.
        exact : bool
            Measure all of them exactly.

        Returns
        -------
        Ranking
        """
        x = as_data(x)
        shapes = {"masses": (len(x),), "values": (len(x), len(self.columns))}
        given = {}
        for name, numbers in (("masses", masses), ("values", values)):
            if numbers is not None:
                given[name] = np.ascontiguousarray(numbers, dtype=np.float64)
                if given[name].shape != shapes[name]:
                    raise ValueError(f"{name} have shape {given[name].shape}, expected "
                                     f"{shapes[name]}")
        texts = None if formulas is None else c_texts(formulas)
        if texts is not None and len(texts) != len(x):
            raise ValueError(f"{len(texts)} formulas of {len(x)} queries")
        window = structs["okra_window"](
            within=within, shortlist=shortlist, exact=exact,
            formulas=None if texts is None else c.cast(texts, c.c_void_p),
            **{name: numbers.ctypes.data for name, numbers in given.items()})
        request = structs["okra_predict_request"](
            index=self._handle.pointer, window=c.cast(c.pointer(window), c.c_void_p))
        chosen = options(lib.okra_predict_options, {"top": top})
        handle = (context or self._context).make(
            lib.okra_predict, lib.okra_prediction_free, _model_of(model)._handle.pointer,
            x.pointer, chosen.pointer, c.byref(request))
        return Ranking(self, handle)
