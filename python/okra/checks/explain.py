"""Which part of an input decided, and which training pairs carried the answer.

An answer y has the score s(x, y) = <psi(y), f(x)> = sum_j w_j(x) l(y_j, y), linear in the kernel values k(x, x_i). Parts are
columns, letters, peaks, atoms, nodes, members of a bag. Let F(S) be the score of the input with the parts S alone (other
columns 0, or their mean where the kernel is no inner product; other letters and peaks gone, other atoms unlike any). Where the kernel adds over sets of parts (k-mers, the surroundings of an
atom), F(S) is the sum of v(T) over these sets T within S, so that

    v(S) = F(S) - sum of v(T) over smaller sets T in S,    share of a part = sum over S with it of v(S) / |S|.

`E | normalize` divides by |x|: F(S) times |S| / |x| undoes that. A part by itself may weigh otherwise than beside others (peaks
are scaled by the highest): the factors c with k(x, x_i) = sum_p c_p k(p, x_i) for all training inputs then tell.
Whether the shares add up to the score is tried, not assumed: where they do not, and for atoms, nodes and letters under kernels
that are no sums of wl, ecfp(count=1), spectrum and mismatch, each part is left out in turn, and `exact` is False. The first two answers are those of the least distance l(y, y) - 2 s(x, y)
that the output kernel tells apart.
"""
from __future__ import annotations

import re
import warnings
from typing import Any, Callable, Optional

import numpy as np

from .._data import Data, as_data, bags, graphs, is_graphs, smiles, spectra
from .._kernel import gram_matrix
from .._model import Model
from .problem import inputs_of, self_values

_ONE = r"(?:[\d.e+-]+\s*\*\s*)?(?:wl|spectrum|mismatch|ecfp\([^()]*count=(?:1|yes)[^()]*\))(?:\((?![^()]*count=(?:0|no))[^()]*\))?"
ADDS = rf"\(?{_ONE}(?:\s*\+\s*{_ONE})*\)?(?:\s*\|\s*normalize)?"
ATOM = r"\[[^\]]*\]|Br|Cl|[BCNOPSFI]|[bcnops]|\*"


class _Parts:
    """The parts of one input: `names`, `sets` over which kernels may add, `keep`: inputs of some parts alone."""

    def __init__(self, names: list, sets: list, keep: Callable[[list], Data], single: bool = True) -> None:
        self.names, self.keep, self.single = names, keep, single
        self.sets = sorted({frozenset(s) for s in sets}, key=lambda s: (len(s), sorted(s)))


def _balls(count: int, around: list, kernel: str) -> list:
    """What lies within 0, 1, ... steps of each node."""
    most, out = max([3] + [int(v) for v in re.findall(r"(?:radius|h|m)=(\d+)", kernel)]), []
    for node in range(count):
        ball = {node}
        for _ in range(most + 1):
            out.append(frozenset(ball))
            ball = ball.union(*(around[k] for k in ball))
    return out


def _smiles_bonds(text: str) -> tuple:
    """Places of the atoms in a SMILES, and the neighbours of each."""
    atoms, around, last, stack, rings = [], [], None, [], {}
    for found in re.finditer(rf"({ATOM})|(%\d\d|\d)|([().])", text):
        if found[1]:
            atoms.append(found.span())
            around.append(set())
            other, last = last, len(atoms) - 1
        elif found[2]:
            other = rings.pop(found[2], None)
            if other is None:
                rings[found[2]] = last
        else:
            other = None
            if found[3] == "(":
                stack.append(last)
            else:
                last = stack.pop() if found[3] == ")" else None
        if other is not None and other != last:
            around[last].add(other)
            around[other].add(last)
    return atoms, around


def _molecule(text: str, kernel: str) -> _Parts:
    places, around = _smiles_bonds(text)

    def without(kept: frozenset) -> str:
        out, at = "", 0
        for k, (begin, end) in enumerate(places):
            atom = text[begin:end] if k in kept else "*"
            if atom.islower():  # with its hydrogens: they must not depend on what stands for other atoms of the ring
                atom = f"[{atom}H]" if atom == "c" and len(around[k]) < 3 else f"[{atom}]"
            out, at = out + text[at:begin] + atom, end
        return out + text[at:]

    def keep(sets: list) -> Data:
        with warnings.catch_warnings():  # rings of other atoms have no Kekule structure
            warnings.simplefilter("ignore")
            return smiles([without(s) for s in sets])
    return _Parts([text[b:e] for b, e in places], _balls(len(places), around, kernel), keep, False)


def _network(network: Any, kernel: str) -> _Parts:
    nodes = list(network)
    place = {node: k for k, node in enumerate(nodes)}

    def keep(sets: list) -> Data:
        made = [network.copy() for _ in sets]
        for one, kept in zip(made, sets):
            for k, node in enumerate(nodes):
                if k not in kept:
                    one.nodes[node]["label"] = "another label than all"
        return graphs(made)
    around = [{place[v] for v in network[node]} for node in nodes]
    return _Parts([f"{network.nodes[v].get('label', 0)}" for v in nodes], _balls(len(nodes), around, kernel), keep, False)


def _parts(x: Data, kernel: str, train: Data, network: Any) -> _Parts:
    one = x.objects[0]
    if x.kind == "dense":
        v = np.asarray(one, dtype=float).ravel()
        rest = np.zeros(len(v)) if re.match(r"(?:[\d.e+-]+\s*\*\s*)?(?:linear|poly|cosine)", kernel) else np.nan_to_num(np.nanmean(train.objects, axis=0))
        return _Parts(x.columns or [f"column {j}" for j in range(len(v))], [[j] for j in range(len(v))],
                      lambda sets: as_data(np.array([[v[j] if j in s else rest[j] for j in range(len(v))] for s in sets])))
    if x.kind == "strings" and len(one) > 1:
        most = max([1] + [int(v) for v in re.findall(r"\bk=(\d+)", kernel)] + [3 * ("spectrum" in kernel and "k=" not in kernel)])
        sets = [range(i, i + k) for k in range(1, most + 1) for i in range(len(one) - k + 1)]
        return _Parts(list(one), sets, lambda sets: as_data(["".join(one[j] for j in sorted(s)) for s in sets]), False)
    if x.kind == "spectra":
        peaks, about = one if isinstance(one, tuple) else (one, {})
        peaks = np.asarray(peaks, dtype=float)
        return _Parts([f"m/z {p[0]:.4f}" for p in peaks], [[j] for j in range(len(peaks))],
                      lambda sets: spectra([peaks[sorted(s)] for s in sets], [about] * len(sets)))
    if x.kind == "bags":
        return _Parts([f"member {j}" for j in range(len(one))], [[j] for j in range(len(one))],
                      lambda sets: bags([[one[j] for j in sorted(s)] for s in sets]))
    if network is not None:
        return _network(network, kernel)
    if x.kind == "graphs" and one:
        return _molecule(one, kernel)
    raise ValueError(f"inputs are {x.kind}: parts are known of vectors, strings of two letters or more, spectra, molecules, "
                     "graphs of networkx and bags")


def explain(model: Any, x: Any, candidates: Any = None, top: int = 5) -> list:
    """Shares of parts in predictions and in the margin between the first two answers.

    Parameters
    ----------
    model : Model or estimator
    x : objects
    candidates : objects, optional
        The answers; the different training outputs if not given. Vectors under a linear kernel need none.
    top : int
        So many training pairs are named.

    Returns
    -------
    list of dict
        For each input ``parts`` (names), ``shares`` of the first answer (parts x output columns for vectors),
        ``margin`` (of 2 (s(x, first) - s(x, second)); None for vectors), ``exact``, ``answers`` and
        ``pairs``: training pairs with the largest weights.
    """
    model = getattr(model, "model_", model)
    networks = list(x) if is_graphs(x) else None
    x, about = as_data(x if networks is None else networks), model.info
    kx, ky = about["kernels"]["x"], about["kernels"]["y"]
    outputs, numbers = model.outputs, None
    vectors = outputs.kind == "dense" and ky == "linear" and candidates is None
    if vectors:
        values = np.asarray(outputs.objects, dtype=float).reshape(len(outputs), -1)
    else:
        numbers = outputs.distinct() if candidates is None else None
        answers = outputs[numbers] if candidates is None else as_data(candidates)
        values, own = gram_matrix(ky, outputs, answers), self_values(ky, answers)
    out = []
    for i in range(len(x)):
        one = x[[i]]
        w = model.predict(one, {"decode": "none"}, weights=True).weights()[0]
        want = w @ values
        if vectors:
            used, first = values, None
        else:
            order = np.argsort(own - 2 * want, kind="stable")
            told = np.abs(values[:, order] - values[:, order[:1]]).max(axis=0) > 1e-12 * max(np.abs(values).max(), 1e-300)
            first = np.r_[order[0], order[told][:1]]  # the second is one that the kernel tells from the first
            used = np.c_[values[:, first[0]], 2 * (values[:, first[0]] - values[:, first[-1]])]
        shares, names, exact = _shares(model, one, kx, used, w @ used, networks and networks[i])
        heavy = np.argsort(-np.abs(w), kind="stable")[:top]
        told = {"parts": names, "shares": shares if vectors else shares[:, 0], "margin": None if vectors else shares[:, 1],
                "exact": exact, "score": w @ used if vectors else float((w @ used)[0]),
                "pairs": [{"pair": int(j), "weight": float(w[j])} for j in heavy]}
        if not vectors:
            told["answers"] = [int(numbers[k]) if numbers is not None else int(k) for k in first]
        out.append(told)
    return out


def _factors(kernel: str, parts: _Parts, alone: Data, one: Data, train: Data) -> list:
    """What the score of each set may have to be multiplied with; see above."""
    out = [np.ones(len(parts.sets))]
    inner = re.fullmatch(r"(.*)\|\s*normalize\s*", "linear | normalize" if kernel == "cosine" else kernel, re.S)
    if inner:
        own, whole = self_values(inner[1].strip(), alone), self_values(inner[1].strip(), one)[0]
        out.append(np.sqrt(np.maximum(own, 0) / whole) if whole > 0 else np.ones(len(own)))
    if parts.single and len(train) >= len(parts.sets) + 8:
        k = gram_matrix(kernel, train, alone)
        size = np.sqrt((k * k).sum(axis=0))
        used = size > 0
        c, _, rank, _ = np.linalg.lstsq(k[:, used] / size[used], gram_matrix(kernel, train, one).ravel(), rcond=1e-9)
        if rank == used.sum() and (c > 0).all():
            out.append(np.zeros(len(used)))
            out[-1][used] = c / size[used]
    return out


def _shares(model: Model, one: Data, kernel: str, used: np.ndarray, total: np.ndarray, network: Any) -> tuple:
    def scores(x: Data) -> np.ndarray:
        return model.predict(x, {"decode": "none"}, weights=True).weights() @ used
    train = inputs_of(model)
    parts = _parts(one, kernel, train, network)
    count = len(parts.names)
    alone = parts.keep(parts.sets)
    found = scores(alone)
    within = [[b for b in range(a) if len(parts.sets[b]) < len(s) and parts.sets[b] < s] for a, s in enumerate(parts.sets)]
    told = parts.single or re.fullmatch(ADDS, kernel.strip())
    for factor in _factors(kernel, parts, alone, one, train) if told else ():
        v, shares = found * factor[:, None], np.zeros((count, used.shape[1]))
        for a, smaller in enumerate(within):
            v[a] -= v[smaller].sum(axis=0)
            shares[list(parts.sets[a])] += v[a] / len(parts.sets[a])
        if np.abs(shares.sum(axis=0) - total).max() <= 1e-8 * max(np.abs(shares).sum(), np.abs(total).max(), 1e-300):
            return shares, parts.names, True
    if count == 1:
        return total[None, :], parts.names, True
    everything = frozenset(range(count))
    return total[None, :] - scores(parts.keep([everything - {j} for j in range(count)])), parts.names, False
