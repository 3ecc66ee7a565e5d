"""What the checks look at: weights of every tested row over the training pairs, and outputs as features.

A model with weights predicts f(x) = sum_j w_j(x) phi(y_j) in the feature space of the output kernel. W (rows x n) holds
the weights of test rows, or, without test data, of training rows that are left out: ridge has the
hat matrix H, whose rows become left-out weights H_ij / (1 - H_ii), 0 at j = i. Permuted outputs need no further fit: the
weights stay, and 200 permutations are 200 right-hand sides of the one factor behind them. Predictions of another program
have no weights: their own features stand for W Phi, and the truths are permuted against them.

Outputs and inputs get features Phi with Phi Phi' ~ L, by Nystroem's method on at most 128 landmarks. A permutation test is
valid with any statistic, so that only power depends on them. Losses need more: what lies beside the landmarks, which
are training outputs, would be missing from test outputs alone. Up to 5,000 pairs they are l(y, y) - 2 w' l(Y, y) + w' L w
where features are not exact.
"""
from __future__ import annotations

import ctypes as c
import warnings
from typing import Any, Callable, Optional

import numpy as np

from .._collection import borrow
from .._data import Data, as_data, smiles
from .._kernel import gram_matrix, vector_distances
from .._library import Context, Handle, lib, method_options, options, set_options
from .._model import Model

LANDMARKS, MOST_ROWS, MOST_EXACT = 128, 1000, 5000


def fitted(x: Data, y: Data, values: dict) -> Model:
    """A model as ``okra fit`` makes it: what is not given is chosen."""
    open_ = ["kx", "ky"] + ["lambda"] * ("lambda" in method_options(values.get("method", "ridge")))
    values, context = {**dict.fromkeys(open_, "auto"), **values}, Context()
    if "auto" in (values[name] for name in open_):
        given = options(lib.okra_select_options, values)
        fit, search = c.c_void_p(), c.c_void_p()
        context.call(lib.okra_choose, x.pointer, y.pointer, given.pointer, c.byref(fit), c.byref(search))
        handle = Handle(fit.value, lib.okra_options_free)
        Handle(search.value, lib.okra_selection_free)
        given = {k: v for k, v in values.items() if v != "auto"}
        values = {**set_options(handle, "fit"), **given}
    return Model.fit(x, y, values, context)


def inputs_of(model: Model) -> Data:
    """The training inputs that a model keeps."""
    return borrow(lib.okra_model_inputs(model._handle.pointer), model._handle)


def left_out(hat: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Left-out weights from rows of the hat matrix."""
    own = hat[np.arange(len(rows)), rows]
    w = hat / np.maximum(1 - own, 1e-12)[:, None]
    w[np.arange(len(rows)), rows] = 0
    return w


def kernels_of(x: Optional[Data], y: Data, values: dict) -> tuple:
    """Kernels of objects that no model learned: those given, else chosen on at most 500 of them; None without x."""
    given = tuple(values.get(name, "auto") for name in ("kx", "ky"))
    if x is None or "auto" in given:
        some = slice(0, 500)
        with warnings.catch_warnings():  # of a fit that nobody asked for
            warnings.simplefilter("ignore")
            chosen = fitted((y if x is None else x)[some], y[some], values).info["kernels"]
        given = tuple(chosen[name[1]] if one == "auto" else one for name, one in zip(("kx", "ky"), given))
    return (None if x is None else given[0]), given[1]


def feature_map(kernel: str, train: Data, rng: np.random.Generator) -> Callable[[Data], np.ndarray]:
    """Phi, as a function of objects."""
    n = len(train)
    marks = np.sort(rng.choice(n, min(n, LANDMARKS), replace=False))
    chosen = train[marks]
    small = gram_matrix(kernel, chosen)
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    keep = values > 1e-10 * max(values.max(), 0)
    map_ = vectors[:, keep] / np.sqrt(values[keep])
    return lambda objects: gram_matrix(kernel, objects, chosen) @ map_


def leading(phi: np.ndarray, most: int) -> np.ndarray:
    """The directions of features with the most spread; all where there are no more."""
    c = phi - phi.mean(axis=0)
    return np.eye(phi.shape[1]) if phi.shape[1] <= most else np.linalg.eigh(c.T @ c)[1][:, -most:]


def shuffled(n: int, strata: Optional[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """A permutation, within strata where there are some."""
    if strata is None:
        return rng.permutation(n)
    out = np.arange(n)
    for one in np.unique(strata):
        members = np.flatnonzero(strata == one)
        out[members] = members[rng.permutation(len(members))]
    return out


class Problem:
    """A fitted model, or predictions of any program, with the rows on which they are judged."""

    def __init__(self, model: Optional[Model], x: Optional[Data], y: Optional[Data], test_x: Any = None, test_y: Any = None,
                 groups: Any = None, seed: int = 0, predicted: Optional[Data] = None, kernels: tuple = ()) -> None:
        self.model, self.seed = model, seed
        self.rng = np.random.default_rng(seed)
        if model is not None:
            about = model.info
            kernels = about["kernels"]["x"], about["kernels"]["y"]
            x, y = inputs_of(model) if x is None else x, model.outputs if y is None else y
        (self.kx, self.ky), self.x, self.y = kernels, x, y
        self.ridge = model is not None and about["method"] == "ridge"
        n = len(self.y)
        if x is not None and len(x) != n:
            raise ValueError(f"the model keeps {len(x)} inputs of {n} pairs: give the training inputs" if model else
                             f"{len(x)} inputs and {n} outputs, expected as many")
        self.test = test_x is not None
        if self.test:
            test_x, test_y = as_data(test_x), as_data(test_y)
            if len(test_x) != len(test_y):
                raise ValueError(f"{len(test_x)} test inputs and {len(test_y)} test outputs, expected as many")
        elif model is not None and not self.ridge:
            raise ValueError(f"method {about['method']} has no left-out weights in closed form: give test data")
        total = len(test_x) if self.test else n
        if total < 8:
            raise ValueError(f"{total} rows to judge, expected 8 or more")
        self.rows = np.sort(self.rng.choice(total, min(total, MOST_ROWS), replace=False))
        self.row_x = None if x is None else (test_x if self.test else x)[self.rows]
        self.row_y = (test_y if self.test else self.y)[self.rows]
        if groups is not None and np.shape(groups) != (total,):
            raise ValueError(f"groups have shape {np.shape(groups)}, expected ({total},): one for every judged row")
        self.groups = None if groups is None else np.asarray(groups)[self.rows]
        phi = feature_map(self.ky, self.y, self.rng)
        self.phi, self.row_phi, self.px, self.w, self.known = phi(self.y), phi(self.row_y), None, None, None
        own = self_values(self.ky, self.row_y)
        exact = np.abs(own - (self.row_phi ** 2).sum(axis=1)).max() <= 1e-6 * max(np.abs(own).max(), 1e-300)
        self.gram = None if exact or n > MOST_EXACT or self.ky.startswith("center(") else gram_matrix(self.ky, self.y)
        if model is None:
            if len(predicted) != total:
                raise ValueError(f"{len(predicted)} predictions of {total} outputs, expected as many")
            self.guess = phi(predicted[self.rows])
        else:
            weights = model.predict(self.row_x, {"decode": "none"}, weights=True).weights()
            if weights is None or weights.shape[1] != n:
                raise ValueError("the model gives no weights over its training pairs: audit a model of full rank")
            self.w = weights if self.test else left_out(weights, self.rows)
            self.guess = self.w @ self.phi
        if self.gram is None:
            self.loss = ((self.row_phi - self.guess) ** 2).sum(axis=1)
            self.blind_loss = ((self.row_phi - self.phi.mean(axis=0)) ** 2).sum(axis=1)
        else:
            cross = gram_matrix(self.ky, self.row_y, self.y) if self.test else self.gram[self.rows]
            self.blind_loss = own - 2 * cross.mean(axis=1) + self.gram.mean()
            self.loss = self.losses(self.w, own, cross) if model is not None else own + self_values(
                self.ky, predicted[self.rows]) - 2 * self_values(self.ky, self.row_y, predicted[self.rows])
        if not self.test:  # the row itself is left out of the mean, too
            self.blind_loss *= (n / (n - 1)) ** 2
            self.known = None if model is None else (self.rows, weights, self.loss)
        self.near = None if x is None else nearest(self.kx, self.row_x, x, None if self.test else self.rows)

    def losses(self, w: np.ndarray, own: np.ndarray, cross: np.ndarray) -> np.ndarray:
        """|phi(y) - sum_j w_j phi(y_j)|^2 of rows by kernel values."""
        return np.maximum(own - 2 * (w * cross).sum(axis=1) + ((w @ self.gram) * w).sum(axis=1), 0)

    @property
    def skill(self) -> float:
        """The share of the blind loss that inputs take away."""
        return 1 - self.loss.mean() / max(self.blind_loss.mean(), 1e-300)

    def input_features(self) -> np.ndarray:
        if self.px is None:
            self.px = feature_map(self.kx, self.x, self.rng)(self.x)
        return self.px

    def learned(self) -> tuple:
        """Some training rows, their rows of the hat matrix, and their left-out losses."""
        if self.known is None:
            rows = np.sort(self.rng.choice(len(self.y), min(len(self.y), MOST_ROWS), replace=False))
            hat = self.model.predict(self.x[rows], {"decode": "none"}, weights=True).weights()
            w = left_out(hat, rows)
            self.known = rows, hat, ((self.phi[rows] - w @ self.phi) ** 2).sum(axis=1) if self.gram is None else \
                self.losses(w, np.diag(self.gram)[rows], self.gram[rows])
        return self.known

    def permuted_losses(self, count: int, strata: Optional[np.ndarray] = None) -> tuple:
        """In the leading directions of the outputs: the mean loss, that without inputs, and those where outputs were permuted
        before the fit."""
        rows, basis = slice(0, min(len(self.rows), 300)), leading(self.phi, 16)
        phi, truth, guess = self.phi @ basis, self.row_phi[rows] @ basis, self.guess[rows] @ basis
        out = np.empty(count)
        for k in range(count):
            if self.w is None:
                order = shuffled(rows.stop, None if strata is None else strata[self.rows[rows]], self.rng)
                out[k] = ((truth[order] - guess) ** 2).sum(axis=1).mean()
                continue
            mixed = phi[shuffled(len(phi), strata, self.rng)]
            own = truth if self.test else mixed[self.rows[rows]]
            out[k] = ((own - self.w[rows] @ mixed) ** 2).sum(axis=1).mean()
        blind = ((truth - phi.mean(axis=0)) ** 2).sum(axis=1).mean()
        return ((truth - guess) ** 2).sum(axis=1).mean(), blind, out


def _key(one: Any) -> Any:
    """What equal objects have alike; of molecules only those that are written alike."""
    if isinstance(one, (list, tuple)):
        return tuple(_key(v) for v in one if not isinstance(v, dict))
    return one.tobytes() if isinstance(one, np.ndarray) else str(one)


def twins(rows: Data, train: Data, ties: np.ndarray) -> np.ndarray:
    """Of each row a training object that is the same, not only to the kernel, or -1; `ties` (rows x n): those that may be."""
    found = np.full(len(rows), -1)
    few = np.flatnonzero(ties.any(axis=1))
    if not len(few) or rows.kind in ("tuple", "gram", "nodes"):
        return np.where(ties.any(axis=1), ties.argmax(axis=1), -1)
    mine, others = ([_key(o.toarray() if hasattr(o, "toarray") else o) for o in d.objects] for d in (rows[few], train))
    for at, j in enumerate(few):
        tied = np.flatnonzero(ties[j])
        same = next((i for i in tied if others[i] == mine[at]), -1)
        if same < 0 and rows.kind == "graphs" and mine[at]:  # written otherwise
            same = next((i for i in tied[:20] if len(smiles([mine[at], others[i]]).distinct()) == 1), -1)
        found[j] = same
    return found


def nearest(kernel: str, rows: Data, train: Data, own: Optional[np.ndarray]) -> dict:
    """Squared kernel distances of rows to the two nearest training inputs, and a twin: a training input that is the same."""
    if kernel.startswith("center("):  # distances are the same without
        kernel = kernel[len("center("):-1]
    mine = self_values(kernel, rows)
    square = vector_distances(kernel, rows, train)
    if square is None:
        k = gram_matrix(kernel, rows, train)
        square = np.maximum(mine[:, None] + self_values(kernel, train)[None, :] - 2 * k, 0)
    else:  # exact, wherever 0 is
        mine = np.minimum(mine, np.median(square))
    scale = np.maximum(mine, 1e-300)
    if own is not None:
        square[np.arange(len(own)), own] = np.inf
    two = np.argpartition(square, 1, axis=1)[:, :2] if square.shape[1] > 2 else np.argsort(square, axis=1)[:, :2]
    found = np.take_along_axis(square, two, axis=1)
    order = np.argsort(found, axis=1)
    found, two = np.take_along_axis(found, order, axis=1), np.take_along_axis(two, order, axis=1)
    return {"first": found[:, 0], "second": found[:, -1], "twin": twins(rows, train, square <= 1e-10 * scale[:, None]),
            "scale": scale}


def self_values(kernel: str, data: Data, other: Optional[Data] = None, block: int = 64) -> np.ndarray:
    """k(x, x) of every object, or k(x, x') with the same of others, from small Gram matrices."""
    parts = [np.arange(i, min(i + block, len(data))) for i in range(0, len(data), block)]
    return np.concatenate([np.diag(gram_matrix(kernel, data[k], None if other is None else other[k])) for k in parts]) \
        if len(data) else np.empty(0)
