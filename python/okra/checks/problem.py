"""What the checks look at: weights of every tested row over the training pairs, and outputs as features.

A model with weights predicts f(x) = sum_j w_j(x) phi(y_j) in the feature space of the output kernel. W (rows x n) holds
the weights of test rows, or, without test data, of training rows that are left out: ridge has the
hat matrix H, whose rows become left-out weights H_ij / (1 - H_ii), 0 at j = i. Permuted outputs need no further fit: the
weights stay, and 200 permutations are 200 right-hand sides of the one factor behind them.

Outputs and inputs get features Phi with Phi Phi' ~ L, by Nystroem's method on at most 128 landmarks (exact
where there are no more objects, or no more dimensions). A permutation test is valid with any
statistic, so that only power depends on them.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np

from .._collection import borrow
from .._data import Data, as_data
from .._kernel import gram_matrix
from .._library import Context, Handle, lib, options, set_options
from .._model import Model

LANDMARKS, MOST_ROWS = 128, 1000


def fitted(x: Data, y: Data, values: dict) -> Model:
    """A model as ``okra fit`` makes it: what is not given is chosen."""
    values = {"kx": "auto", "ky": "auto", "lambda": "auto", **values}
    context = Context()
    if "auto" in (values["kx"], values["ky"], values["lambda"]):
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


def features(kernel: str, train: Data, more: Optional[Data], rng: np.random.Generator) -> tuple:
    """Phi of the training objects and of others."""
    n = len(train)
    marks = np.sort(rng.choice(n, min(n, LANDMARKS), replace=False))
    chosen = train[marks]
    small = gram_matrix(kernel, chosen)
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    keep = values > 1e-10 * max(values.max(), 0)
    map_ = vectors[:, keep] / np.sqrt(values[keep])
    made = gram_matrix(kernel, train, chosen) @ map_
    return made, None if more is None else gram_matrix(kernel, more, chosen) @ map_


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
    """A fitted model with the rows on which it is judged."""

    def __init__(self, model: Model, x: Optional[Data], y: Optional[Data], test_x: Any = None, test_y: Any = None,
                 groups: Any = None, seed: int = 0) -> None:
        about = model.info
        self.model, self.seed = model, seed
        self.rng = np.random.default_rng(seed)
        self.kx, self.ky = about["kernels"]["x"], about["kernels"]["y"]
        self.ridge = about["method"] == "ridge"
        self.x, self.y = (inputs_of(model) if x is None else x), (model.outputs if y is None else y)
        n = len(self.y)
        if len(self.x) != n:
            raise ValueError(f"the model keeps {len(self.x)} inputs of {n} pairs: give the training inputs")
        self.test = test_x is not None
        if self.test:
            test_x, test_y = as_data(test_x), as_data(test_y)
            if len(test_x) != len(test_y):
                raise ValueError(f"{len(test_x)} test inputs and {len(test_y)} test outputs, expected as many")
        elif not self.ridge:
            raise ValueError(f"method {about['method']} has no left-out weights in closed form: give test data")
        total = len(test_x) if self.test else n
        if total < 8:
            raise ValueError(f"{total} rows to judge, expected 8 or more")
        self.rows = np.sort(self.rng.choice(total, min(total, MOST_ROWS), replace=False))
        self.row_x = (test_x if self.test else self.x)[self.rows]
        self.row_y = (test_y if self.test else self.y)[self.rows]
        if groups is not None and np.shape(groups) != (total,):
            raise ValueError(f"groups have shape {np.shape(groups)}, expected ({total},): one for every judged row")
        self.groups = None if groups is None else np.asarray(groups)[self.rows]
        weights = model.predict(self.row_x, {"decode": "none"}, weights=True).weights()
        if weights is None or weights.shape[1] != n:
            raise ValueError("the model gives no weights over its training pairs: audit a model of full rank")
        self.w = weights if self.test else left_out(weights, self.rows)
        self.phi, self.row_phi = features(self.ky, self.y, self.row_y, self.rng)
        self.px = None
        self.mean = self.phi.mean(axis=0)
        blind = np.broadcast_to(self.mean, self.row_phi.shape)
        if not self.test:  # the row itself is left out of the mean, too
            blind = (n * self.mean - self.row_phi) / (n - 1)
        self.loss = ((self.row_phi - self.w @ self.phi) ** 2).sum(axis=1)
        self.blind_loss = ((self.row_phi - blind) ** 2).sum(axis=1)
        self.near = nearest(self.kx, self.row_x, self.x, None if self.test else self.rows)

    @property
    def skill(self) -> float:
        """The share of the blind loss that inputs take away."""
        return 1 - self.loss.mean() / max(self.blind_loss.mean(), 1e-300)

    def input_features(self) -> np.ndarray:
        if self.px is None:
            self.px = features(self.kx, self.x, None, self.rng)[0]
        return self.px

    def permuted_losses(self, count: int, strata: Optional[np.ndarray] = None) -> np.ndarray:
        """Mean losses where outputs were permuted before the fit."""
        rows, out = slice(0, min(len(self.rows), 500)), np.empty(count)
        for k in range(count):
            order = shuffled(len(self.phi), strata, self.rng)
            mixed = self.phi[order]
            truth = self.row_phi[rows] if self.test else mixed[self.rows[rows]]
            out[k] = ((truth - self.w[rows] @ mixed) ** 2).sum(axis=1).mean()
        return out


def nearest(kernel: str, rows: Data, train: Data, own: Optional[np.ndarray]) -> dict:
    """Squared kernel distances of rows to the two nearest training inputs, and which the nearest is."""
    if kernel.startswith("center("):  # distances are the same without
        kernel = kernel[len("center("):-1]
    k = gram_matrix(kernel, rows, train)
    diagonal = self_values(kernel, train)
    mine = self_values(kernel, rows)
    square = np.maximum(mine[:, None] + diagonal[None, :] - 2 * k, 0)
    scale = np.maximum(mine, 1e-300)
    if own is not None:
        square[np.arange(len(own)), own] = np.inf
    two = np.argpartition(square, 1, axis=1)[:, :2] if square.shape[1] > 2 else np.argsort(square, axis=1)[:, :2]
    found = np.take_along_axis(square, two, axis=1)
    order = np.argsort(found, axis=1)
    found, two = np.take_along_axis(found, order, axis=1), np.take_along_axis(two, order, axis=1)
    return {"first": found[:, 0], "second": found[:, -1], "which": two[:, 0], "scale": scale}


def self_values(kernel: str, data: Data, block: int = 64) -> np.ndarray:
    """k(x, x) of every object, from small Gram matrices."""
    return np.concatenate([np.diag(gram_matrix(kernel, data[np.arange(i, min(i + block, len(data)))]))
                           for i in range(0, len(data), block)]) if len(data) else np.empty(0)
