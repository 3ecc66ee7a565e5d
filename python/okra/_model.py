"""Fitted models and their predictions."""
from __future__ import annotations

import ctypes as c
import json
import os
import tempfile
from html import escape
from typing import Any, Optional

import numpy as np

from ._data import Data, as_data, borrow
from ._library import Context, Handle, check, constants, lib, options, structs
from ._objects import array_of


def hold(x: Data, y: Data, share: float, context: Context) -> list:
    """Inputs and outputs to learn from, then those of a share that is held back."""
    parts = (c.c_void_p * 4)()
    context.call(lib.okra_pairs_split, x.pointer, y.pointer, float(share), parts)
    return [Data(Handle(part, lib.okra_data_free), source._network, source._dtype)
            for part, source in zip(parts, (x, y, x, y))]


class Prediction:
    """What a model says of some inputs."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def objects(self) -> Optional[Data]:
        """The decoded objects, or None."""
        pointer = lib.okra_prediction_objects(self._handle.pointer)
        return borrow(pointer, self._handle) if pointer else None

    def _matrix(self, function) -> Optional[np.ndarray]:
        rows, cols = c.c_int64(), c.c_int64()
        values = function(self._handle.pointer, c.byref(rows), c.byref(cols))
        return array_of(values, (rows.value, cols.value)).copy() if values else None

    def weights(self) -> Optional[np.ndarray]:
        """n_test x n_train, or None if not asked for."""
        return self._matrix(lib.okra_prediction_weights)

    def embedding(self) -> Optional[np.ndarray]:
        """n_test x d, or None if not asked for."""
        return self._matrix(lib.okra_prediction_embedding)

    def confidence(self) -> Optional[np.ndarray]:
        """n_test x 3: distance, gap to the runner-up, variance; None if not asked for."""
        rows = c.c_int64()
        values = lib.okra_prediction_confidence(self._handle.pointer, c.byref(rows))
        columns = constants["OKRA_CONFIDENCE_COLUMNS"]
        return array_of(values, (rows.value, columns)).copy() if values else None

    def _ranked(self, function) -> Optional[np.ndarray]:
        top = c.c_int64()
        values = function(self._handle.pointer, c.byref(top))
        shape = (lib.okra_prediction_count(self._handle.pointer), top.value)
        return array_of(values, shape).copy() if values else None

    def index(self) -> Optional[np.ndarray]:
        """n_test x top candidates, best first."""
        return self._ranked(lib.okra_prediction_index)

    def distance(self) -> Optional[np.ndarray]:
        """n_test x top squared distances in feature space."""
        return self._ranked(lib.okra_prediction_distance)

    def proposals(self) -> Optional[Data]:
        """What `index` counts where the decoder made it up, or None: it chose candidates."""
        pointer = lib.okra_prediction_proposals(self._handle.pointer)
        return borrow(pointer, self._handle) if pointer else None

    def report(self) -> Optional[dict]:
        """Columns of how each prediction was found, by name (decoders optimum, rewrite)."""
        rows = c.c_int64()
        values = lib.okra_prediction_report(self._handle.pointer, c.byref(rows))
        if not values:
            return None
        columns = constants["OKRA_REPORT_COLUMNS"]
        table = array_of(values, (rows.value, columns)).copy()
        return {lib.okra_prediction_report_name(self._handle.pointer, k).decode(): table[:, k]
                for k in range(columns)}


class Model:
    """A fitted model, the same that the command line writes and reads.

    Examples
    --------
    >>> model = Model.fit(X, Y, {"kx": "rbf(sigma=1)", "lambda": 0.1})  # doctest: +SKIP
    >>> model.save("digits.okra")                                       # doctest: +SKIP
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @classmethod
    def fit(cls, x: Any, y: Any, values: dict, context: Optional[Context] = None,
            basis: Optional["Model"] = None) -> "Model":
        """Learns from pairs; `values` are options by their names on the command line.

        With `basis`, a model of `Model.basis` or one that keeps its moments: on its
        features, so that `Model.merge` can put several fits together.
        """
        x, y = as_data(x), as_data(y)
        chosen = options(lib.okra_fit_options, values)
        if basis is not None:
            return cls((context or Context()).make(
                lib.okra_fit_as, lib.okra_model_free, x.pointer, y.pointer, chosen.pointer,
                c.byref(structs["okra_fit_request"](basis=basis._handle.pointer))))
        return cls((context or Context()).make(
            lib.okra_fit, lib.okra_model_free, x.pointer, y.pointer, chosen.pointer))

    @classmethod
    def basis(cls, x: Any, values: dict, context: Optional[Context] = None) -> "Model":
        """Features of low rank that several fits share, from a sample of inputs.

        Parameters
        ----------
        x : objects
            The sample.
        values : dict
            ``kx`` and ``low-rank-x``, as on the command line.

        Returns
        -------
        Model
            It predicts the features of inputs.
        """
        x = as_data(x)
        chosen = options(lib.okra_fit_options, values)
        return cls((context or Context()).make(
            lib.okra_basis_create, lib.okra_model_free, x.pointer, chosen.pointer))

    @classmethod
    def merge(cls, models: Any, lam: Optional[float] = None,
              context: Optional[Context] = None) -> "Model":
        """One model of several that were fitted on parts of the data.

        Parameters
        ----------
        models : sequence of Model
            Fits of low rank with one basis, which keep their moments. The same ones in
            the same order give the same bits.
        lam : float, optional
            Another lambda than theirs.

        Returns
        -------
        Model
        """
        models = list(models)
        pointers = (c.c_void_p * max(len(models), 1))(
            *(m._handle.pointer for m in models))
        return cls((context or Context()).make(
            lib.okra_model_merge, lib.okra_model_free, pointers, len(models),
            float(lam or 0)))

    @classmethod
    def load(cls, path: Any) -> "Model":
        """A model from its file, which must stay in place while the model lives."""
        return cls(Context().make(lib.okra_model_load, lib.okra_model_free,
                                  path))

    def save(self, path: Any, compact: bool | str = "auto", note: Optional[str] = None) -> None:
        """Writes the model file that ``okra predict`` reads.

        It has what prediction needs: a large model is saved without its factor (n x n numbers),
        which weights, updates and conformal prediction then compute again. ``compact=False``
        keeps all of it. With ``compact=True`` the file is smaller: coefficients alone where outputs are
        explicit (it then gives no weights), else half of the factor. With
        ``compact="recompute"`` it holds no factor: loading computes it again. `note` is a text
        of yours, ``info["note"]`` of the model that is loaded.
        """
        if compact not in (False, True, "recompute", "auto"):
            raise ValueError(f"compact is {compact!r}, expected False, True, 'recompute' or 'auto'")
        how = {"recompute": 2, "auto": 3}.get(compact, int(compact is True))
        Context().call(lib.okra_model_save, self._handle.pointer, c.byref(
            structs["okra_save_request"](compact=how, note=note and note.encode())), path)

    def to_bytes(self) -> bytes:
        """The content of the model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.okra")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """A model from the content of its file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.okra")
            with open(path, "wb") as file:
                file.write(content)
            # The file is mapped, and a mapping outlives the name of its file.
            return cls.load(path)

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    def update(self, x: Any = None, y: Any = None, remove: Any = None,
               removed_x: Any = None, context: Optional[Context] = None) -> tuple:
        """A model with more training pairs, or fewer, and a report.

        Parameters
        ----------
        x, y : objects, optional
            New pairs. They come after those that stay.
        remove : array of int, optional
            Training pairs that go, counted from 0; or True for each pair that goes.
        removed_x : objects, optional
            Their inputs, for models of low rank, which hold none.

        Returns
        -------
        model : Model
        report : dict
            ``how``: "factor", "moments" or "refit"; ``why`` there was a new fit;
            ``drift``: rounding that added up; ``added``, ``removed``.
        """
        x, y, removed_x = (None if v is None else as_data(v) for v in (x, y, removed_x))
        rows = np.ascontiguousarray([] if remove is None else remove)
        if rows.dtype == bool and rows.shape == (len(self),):  # a mask
            rows = np.flatnonzero(rows)
        if rows.size and rows.dtype.kind not in "iu":
            raise ValueError(f"rows to remove are of type {rows.dtype}, expected integers")
        rows = rows.astype(np.int64).ravel()
        request = structs["okra_update_request"](
            x=None if x is None else x.pointer, y=None if y is None else y.pointer,
            remove=rows.ctypes.data, remove_count=len(rows),
            removed_x=None if removed_x is None else removed_x.pointer)
        report = structs["okra_update_report"]()
        handle = (context or Context()).make(
            lib.okra_model_update, lib.okra_model_free, self._handle.pointer,
            c.byref(request), c.byref(report))
        names = {constants["OKRA_UPDATE_" + n.upper()]: n
                 for n in ("factor", "moments", "refit")}
        return Model(handle), {
            "how": names[report.how], "why": report.why and report.why.decode(),
            "drift": report.drift, "added": report.added, "removed": report.removed}

    @property
    def info(self) -> dict:
        """What the model holds, as ``okra info --json`` shows it."""
        return json.loads(lib.okra_model_json(self._handle.pointer).decode())

    @property
    def outputs(self) -> Data:
        """The training outputs."""
        return borrow(lib.okra_model_outputs(self._handle.pointer), self._handle)

    def __len__(self) -> int:
        return lib.okra_model_count(self._handle.pointer)

    def _summary(self) -> dict:
        about = self.info
        data = {name: f"{about[name]['count']} {about[name]['kind']}" + (
            f", width {about[name]['width']}" if about[name]["width"] else "")
            for name in ("x", "y")}
        shown = {"method": about["method"], "kx": about["kernels"]["x"],
                 "ky": about["kernels"]["y"], "inputs": data["x"], "outputs": data["y"]}
        return {**shown, **({"lambda": about["options"]["lambda"]}
                            if "lambda" in about["options"] else {})}

    def __repr__(self) -> str:
        return "okra.Model(" + ", ".join(f"{k}={v!r}" for k, v in self._summary().items()) \
            + ")"

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        rows = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th>"
                       f"<td>{escape(str(v))}</td></tr>" for k, v in self._summary().items())
        return f"<table><caption>okra.Model</caption>{rows}</table>"

    def predict(self, x: Any, values: Optional[dict] = None, candidates: Any = None,
                ranges: Any = None, weights: bool = False, embedding: bool = False,
                confidence: bool = False,
                context: Optional[Context] = None) -> Prediction:
        """Predicts; `values` are options by their names on the command line."""
        x = as_data(x)
        chosen = options(lib.okra_predict_options, values or {})
        candidates = None if candidates is None else as_data(candidates)
        if ranges is not None:
            ranges = np.ascontiguousarray(ranges, dtype=np.int64)
            if ranges.shape != (len(x), 2):
                raise ValueError(f"ranges have shape {ranges.shape}, expected "
                                 f"({len(x)}, 2)")
        request = None
        if candidates is not None or ranges is not None or weights or embedding \
                or confidence:
            request = c.byref(structs["okra_predict_request"](
                candidates=None if candidates is None else candidates.pointer,
                ranges=None if ranges is None else ranges.ctypes.data,
                weights=weights, embedding=embedding, confidence=confidence))
        return Prediction((context or Context()).make(
            lib.okra_predict, lib.okra_prediction_free, self._handle.pointer, x.pointer,
            chosen.pointer, request))

    def decode(self, weights: Any, values: Optional[dict] = None, candidates: Any = None,
               x: Any = None, context: Optional[Context] = None) -> Prediction:
        """Decodes weights over the training outputs, n_test x n_train, of whatever made them.

        An array or a sparse matrix; `values` as for `predict`. Decoder ``rewrite`` needs the
        test inputs `x`.
        """
        given = as_data(weights)
        x = None if x is None else as_data(x)
        candidates = None if candidates is None else as_data(candidates)
        chosen = options(lib.okra_predict_options, values or {})
        request = c.byref(structs["okra_predict_request"](
            candidates=None if candidates is None else candidates.pointer,
            given=given.pointer))
        return Prediction((context or Context()).make(
            lib.okra_predict, lib.okra_prediction_free, self._handle.pointer,
            None if x is None else x.pointer, chosen.pointer, request))

    def classes(self, x: Any, probabilities: bool = True, context: Optional[Context] = None
                ) -> np.ndarray:
        """Of a model of labels, n_test x classes: probabilities, or the scores behind them."""
        x = as_data(x)
        made = np.empty((len(x), lib.okra_data_width(self.outputs.pointer)))
        where = (None, made.ctypes.data) if probabilities else (made.ctypes.data, None)
        (context or Context()).call(lib.okra_predict_classes, self._handle.pointer, x.pointer,
                                    *where)
        return made

    def calibrate(self, x: Any, y: Any) -> None:
        """Keeps pairs that the fit has not seen, for split conformal prediction."""
        x, y = as_data(x), as_data(y)
        check(lib.okra_model_set_calibration(self._handle.pointer, x.pointer, y.pointer))

    def _conformal(self, settings: dict, tests: int) -> tuple:
        """The C struct of `settings`, and what must live as long as it does."""
        held = settings.get("calibration_y")
        kept = lib.okra_model_calibration(self._handle.pointer, None, None)
        pairs = len(self) if held is None else len(as_data(held))
        if held is None and kept and settings.get("how", "auto") in ("auto", "split"):
            pairs = kept
        s = structs["okra_conformal_settings"]()
        keep = []
        for name, value in settings.items():
            if value is None:
                continue
            if name in ("how", "score"):
                value = str(value)
            elif name in ("weights", "test_weights"):
                value = np.ascontiguousarray(value, dtype=np.float64)
                want = (pairs if name == "weights" else tests,)
                if value.shape != want:
                    raise ValueError(f"{name} have shape {value.shape}, expected {want}")
                keep.append(value)
                value = value.ctypes.data
            elif name not in ("folds", "by_class"):
                value = as_data(value)
                keep.append(value)
                value = value.pointer
            setattr(s, name, value)
        return s, keep

    def p_values(self, x: Any, candidates: Any, settings: Optional[dict] = None,
                 context: Optional[Context] = None) -> np.ndarray:
        """Conformal p-values, n_test x candidates; `settings` as in okra/conformal.h."""
        x, candidates = as_data(x), as_data(candidates)
        s, keep = self._conformal(settings or {}, len(x))
        p = np.empty((len(x), len(candidates)))
        (context or Context()).call(
            lib.okra_conformal_p_values, self._handle.pointer, x.pointer,
            candidates.pointer, c.byref(s), p.ctypes.data)
        del keep
        return p

    def intervals(self, x: Any, alpha: float, settings: Optional[dict] = None,
                  region: bool = False, context: Optional[Context] = None) -> tuple:
        """Conformal intervals, n_test x d x 2, and with `region` the radii of balls."""
        x = as_data(x)
        s, keep = self._conformal(settings or {}, len(x))
        bounds = np.empty((len(x), lib.okra_data_width(self.outputs.pointer), 2))
        radius = np.empty(len(x)) if region else None
        (context or Context()).call(
            lib.okra_conformal_intervals, self._handle.pointer, x.pointer, alpha,
            c.byref(s), bounds.ctypes.data, None if radius is None else radius.ctypes.data)
        del keep
        return bounds, radius

    def loss(self, x: Any, y: Any, context: Optional[Context] = None) -> float:
        """Mean squared distance in feature space of undecoded predictions to `y`."""
        x, y, value = as_data(x), as_data(y), c.c_double()
        (context or Context()).call(lib.okra_model_loss, self._handle.pointer, x.pointer,
                                    y.pointer, c.byref(value), None)
        return value.value

    def leave(self, values: dict, context: Optional[Context] = None) -> tuple:
        """Leave-one-out predictions in closed form, and their losses."""
        chosen = options(lib.okra_fit_options, values)
        losses = np.empty(len(self))
        handle = (context or Context()).make(
            lib.okra_model_leave, lib.okra_prediction_free, self._handle.pointer,
            chosen.pointer, losses.ctypes.data)
        return Prediction(handle), losses
