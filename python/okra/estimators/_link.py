"""Links of a network from descriptions of its nodes."""
from __future__ import annotations

import ctypes as c
import json
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._data import _is_graph, as_data, gram, is_mixed, mixed
from .._library import Handle, constants, kernel_has, lib, options, structs
from ._documents import Kernel
from ._shared import ContextMixin, number

_LINK = np.dtype([("a", "<i8"), ("b", "<i8"), ("value", "<f8")])
assert _LINK.itemsize == c.sizeof(structs["okra_link"])


def _names(X: Any) -> Optional[dict]:
    """The number of each node by its name: the index of a pandas frame, if it holds texts."""
    names = list(getattr(X, "index", ())) if hasattr(X, "columns") else []
    if not any(isinstance(name, str) for name in names):
        return None
    numbers = {name: i for i, name in enumerate(names)}
    if len(numbers) < len(names):
        raise ValueError("the index of X has the name of a node twice")
    return numbers


def _numbered(nodes: Any, names: Optional[dict]) -> list:
    """Nodes by number; texts are names of the index of X."""
    nodes = list(nodes)
    for name in nodes:
        if isinstance(name, str) and (names is None or name not in names):
            raise ValueError(f"there is no node {str(name)!r}: " + (
                "texts are names in the index of a pandas frame, X.set_index(COLUMN)"
                if names is None else "the index of X has the names"))
    return [names[name] if isinstance(name, str) else name for name in nodes] if names else nodes


def _links(edges: Any, names: Optional[dict] = None) -> np.ndarray:
    """Pairs of nodes (with weights) in the library's layout."""
    if _is_graph(edges):
        edges = [(a, b, w) for a, b, w in edges.edges(data="weight", default=1.0)]
    elif hasattr(edges, "columns"):  # a pandas frame
        edges = list(edges.itertuples(index=False))
    if isinstance(edges, list) or getattr(edges, "dtype", np.dtype("f8")).kind in "OU":
        edges = [(*_numbered(edge[:2], names), *edge[2:]) for edge in edges]
    edges = np.asarray(edges, dtype=np.float64)
    edges = edges.reshape(-1, 2) if edges.size == 0 else edges
    if edges.ndim != 2 or edges.shape[1] not in (2, 3):
        raise ValueError(f"edges have shape {edges.shape}, expected (edges, 2) or "
                         "(edges, 3)")
    out = np.zeros(len(edges), dtype=_LINK)
    out["a"], out["b"] = edges[:, 0], edges[:, 1]
    out["value"] = edges[:, 2] if edges.shape[1] == 3 else 1.0
    return out


@dataclass(eq=False, repr=False)
class LinkPredictor(ContextMixin, BaseEstimator):
    """Unknown links of a network from the known ones and from descriptions of its nodes.

    Nodes are the objects of a collection. The edges among some of them, the labelled
    nodes, are all known. A score ranks pairs; it is no probability.

    Parameters
    ----------
    kx : str or callable, default="auto"
        Kernel of the descriptions, or ``"precomputed"`` (nodes x nodes). ``"auto"``: by
        leave-one-out from a few that fit the kind of objects.
    ky : str, optional
        Kernel of the labelled nodes in the known network; diffusion if not given.
    beta : float, default=1.0
        Time of diffusion where `ky` is not given; 0: chosen by information.
    norm : float or "auto", default="auto"
        The score is <h(u), h(v)> / (abs(h(u)) abs(h(v)))**norm: 0 the inner product, 1 the
        cosine. ``"auto"``: 0.5, 0.75 or 1 by left-out links. More than 0 normalises the
        diffusion kernel, too.
    known : bool, default=False
        Whether a labelled node stands for itself and not for its prediction.
    method : str, default="ridge"
        Any method of the library that scores links.
    lam : float or "auto", default="auto"
        Regularisation of the method. ``"auto"``: by leave-one-out, or by five folds where
        that has no closed form.
    lambda2 : float, optional
        Weight of smoothness, for which the new nodes are inputs without outputs.
    options : dict, optional
        Other options of the method by name.
    n_jobs, random_state, memory, verbose, engine
        As in `IOKR`.

    Attributes
    ----------
    labelled_ : ndarray
        The labelled nodes.
    n_nodes_ : int
        How many nodes there are.
    chosen_ : dict
        Parameters that were ``"auto"``, with the values that were chosen for them.
    search_ : dict or None
        How they were, as ``okra select --json`` tells it.
    """

    kx: Kernel = "auto"
    ky: Optional[str] = None
    beta: float = 1.0
    norm: Any = "auto"
    known: bool = False
    method: str = "ridge"
    lam: Any = "auto"
    lambda2: Optional[float] = None
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def fit(self, X: Any, edges: Any, labelled: Any = None,
            unlabelled: Any = None) -> "LinkPredictor":
        """Learns from the known part of a network.

        Parameters
        ----------
        X : objects
            One description a node, of labelled and new nodes. Texts in the index of a
            pandas frame are the names of the nodes.
        edges : array of shape (edges, 2) or (edges, 3), frame, or networkx.Graph
            Known edges between labelled nodes by number or name, with weights in the
            third column; nodes of a networkx graph are such numbers or names.
        labelled : sequence of int or str, optional
            Nodes whose edges with one another are all known; those that have an edge
            if not given.
        unlabelled : sequence of int, optional
            The new nodes that help with `lambda2`; all if not given. The others are
            unseen while learning.

        Returns
        -------
        self
        """
        self._names = _names(X)
        links = _links(edges, self._names)
        if labelled is None:
            labelled = np.union1d(links["a"], links["b"])
        labelled = np.ascontiguousarray(_numbered(labelled, self._names), dtype=np.int64)
        if callable(self.kx):
            X = gram(np.asarray(self.kx(X, X), dtype=np.float64))
        elif kernel_has(self.kx, "GIVEN"):
            X = gram(X)
        x = mixed(X) if is_mixed(X) else as_data(X)
        if unlabelled is not None:
            unlabelled = np.ascontiguousarray(_numbered(unlabelled, self._names), dtype=np.int64)
        self._arguments = x, links, labelled, unlabelled
        self._chosen, self.search_ = None, None
        self._links = self._learn()
        self.labelled_, self.n_nodes_ = labelled, len(x)
        return self

    def _learn(self) -> Handle:
        x, links, labelled, unlabelled = self._arguments
        values = {"kx": "precomputed" if callable(self.kx) else self.kx, "ky": self.ky,
                  "method": self.method, "lambda": self.lam, "lambda2": self.lambda2}
        for name, value in (self.options or {}).items():
            values[name.replace("_", "-")] = value
        task = structs["okra_link_task"](
            x=x.pointer, labelled=labelled.ctypes.data, labelled_count=len(labelled),
            edges=links.ctypes.data, edge_count=len(links), gram=None)
        norm = self.norm if self.norm != "auto" else 0.75
        settings = structs["okra_link_settings"](beta=self.beta, known=self.known, norm=norm)
        if unlabelled is not None:
            settings.unlabelled = unlabelled.ctypes.data
            settings.unlabelled_count = len(unlabelled)
        context = self._context()
        if "auto" in (values["kx"], values["lambda"]):
            values.update(self._choose(task, settings, values, context))
        chosen = options(lib.okra_fit_options, values)
        if self.norm == "auto":
            settings.norm = self._choose_norm(task, settings, chosen, context)
        return context.make(lib.okra_link_fit, lib.okra_links_free, c.byref(task),
                            chosen.pointer, c.byref(settings), keep=self._arguments)

    _chosen = None
    _names = None

    def _choose(self, task: Any, settings: Any, values: dict, context: Any) -> dict:
        """Values of what is ``"auto"``, as ``okra link`` chooses; once, so that a copy has
        the same."""
        if self._chosen is None:
            given = options(lib.okra_select_options, {
                name: v for name, v in values.items() if v != "auto"})
            fit, search = c.c_void_p(), c.c_void_p()
            context.call(lib.okra_choose_links, c.byref(task), c.byref(settings),
                         given.pointer, c.byref(fit), c.byref(search))
            fitted = Handle(fit.value, lib.okra_options_free)
            searched = Handle(search.value, lib.okra_selection_free)
            if searched.pointer:
                self.search_ = json.loads(lib.okra_selection_json(searched.pointer).decode())
            self._chosen = {
                name: lib.okra_options_get(fitted.pointer, name).decode()
                for name in ("kx", "lambda") if values[name] == "auto"
                and lib.okra_options_is_set(fitted.pointer, name)}
        found = {k: v for k, v in self._chosen.items() if k != "norm"}
        return {"lambda": None, **found} if values["lambda"] == "auto" else found

    def _choose_norm(self, task: Any, settings: Any, chosen: Any, context: Any) -> float:
        self._chosen = self._chosen or {}
        if "norm" not in self._chosen:
            norm = c.c_double()
            context.call(lib.okra_link_norm, c.byref(task), chosen.pointer, c.byref(settings),
                         c.byref(norm))
            self._chosen["norm"] = norm.value
        return self._chosen["norm"]

    @property
    def chosen_(self) -> dict:
        """Parameters that were ``"auto"``, with the values that were chosen for them."""
        names = {"lambda": "lam"}
        return {names.get(k, k): number(v) for k, v in (self._chosen or {}).items()}

    def __getstate__(self) -> dict:
        return {k: v for k, v in super().__getstate__().items() if k != "_links"}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if "_arguments" in state:
            self._links = self._learn()  # no file holds it; same inputs, same bits

    def _handle(self) -> int:
        check_is_fitted(self, "labelled_")
        return self._links.pointer

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Scores of pairs of nodes.

        Parameters
        ----------
        pairs : array of shape (m, 2)

        Returns
        -------
        ndarray of shape (m,)
        """
        handle = self._handle()
        rows = pairs.itertuples(index=False) if hasattr(pairs, "columns") else pairs
        links = _links([tuple(pair[:2]) for pair in rows], self._names)
        self._context().call(lib.okra_link_score, handle, links.ctypes.data, len(links))
        return links["value"].copy()

    @staticmethod
    def _which(pairs: str) -> int:
        names = {"labelled-new": "LABELLED_NEW", "new-new": "NEW_NEW", "all": "ALL"}
        if pairs not in names:
            raise ValueError(f"pairs is {pairs!r}, expected one of {sorted(names)}")
        return constants["OKRA_LINK_" + names[pairs]]

    def rank(self, top: int = 0, pairs: str = "all", least: float = -np.inf) -> tuple:
        """The best unknown links.

        Parameters
        ----------
        top : int, default=0
            How many; 0: all.
        pairs : {"all", "labelled-new", "new-new"}, default="all"
            Pairs of a labelled node and a new one, of two new ones, or both.
        least : float
            Only scores of at least this.

        Returns
        -------
        pairs : ndarray of shape (m, 2)
            Of numbers; of names where the index of X had them.
        scores : ndarray of shape (m,)
        """
        found, count = c.c_void_p(), c.c_int64()
        self._context().call(lib.okra_link_rank, self._handle(), self._which(pairs), top,
                             max(least, -np.finfo(float).max), c.byref(found),
                             c.byref(count))
        try:
            content = c.string_at(found.value, count.value * _LINK.itemsize) if (
                count.value) else b""
            links = np.frombuffer(content, dtype=_LINK)
        finally:
            lib.okra_link_list_free(found)
        ends = np.stack([links["a"], links["b"]], axis=1)
        if self._names:
            ends = np.array(list(self._names), dtype=object)[ends]
        return ends, links["value"].copy()

    def evaluate(self, edges: Any, pairs: str = "all") -> dict:
        """Areas under the curves of all pairs of a kind, given the true edges.

        Parameters
        ----------
        edges : as in `fit`
        pairs : {"all", "labelled-new", "new-new"}, default="all"

        Returns
        -------
        dict
            ``auc_roc`` and ``auc_pr``.
        """
        links = _links(edges, self._names)
        ranking = self._context().make(
            lib.okra_link_evaluate, lib.okra_ranking_free, self._handle(),
            self._which(pairs), links.ctypes.data, len(links))
        return self._areas(ranking)

    @staticmethod
    def _areas(ranking: Handle) -> dict:
        return {"auc_roc": lib.okra_ranking_auc_roc(ranking.pointer),
                "auc_pr": lib.okra_ranking_auc_pr(ranking.pointer)}

    def score(self, edges: Any, pairs: str = "all") -> float:
        """The area under the ROC curve."""
        return self.evaluate(edges, pairs)["auc_roc"]

    @property
    def loo_score_(self) -> float:
        """AUC-ROC over the labelled pairs, each node predicted by a model that has not
        seen it where the method can tell."""
        left = c.c_bool()
        out = c.c_void_p()
        self._context().call(lib.okra_link_training, self._handle(), c.byref(out),
                             c.byref(left))
        return self._areas(Handle(out.value, lib.okra_ranking_free))["auc_roc"]
