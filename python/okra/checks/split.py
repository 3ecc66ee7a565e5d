"""Fair folds: by group, by similarity, by order or by scaffold, with a report of what crosses.

Units (groups, clusters, scaffolds, equal keys) are never cut. They go to the smallest fold, the largest units first; by
order the folds are blocks of the sorted keys. Clusters by similarity are those of average linkage on kernel
distances, cut as high as no cluster is larger than a fold; equal objects stay together even so.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._data import Data, as_data
from .._kernel import gram_matrix, vector_distances

WAYS = ("random", "groups", "similarity", "order", "scaffold")


def _packed(units: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Whole units in folds of about one size."""
    code, size = np.unique(units, return_inverse=True)[1], None
    size = np.bincount(code)
    if len(size) < folds:
        raise ValueError(f"{len(size)} units that must stay whole, expected {folds} or more for {folds} folds")
    order = rng.permutation(len(size))
    order = order[np.argsort(-size[order], kind="stable")]
    load, place = np.zeros(folds, dtype=int), np.empty(len(size), dtype=int)
    for unit in order:
        place[unit] = load.argmin()
        load[place[unit]] += size[unit]
    return place[code]


def _ordered(key: np.ndarray) -> np.ndarray:
    """Keys as numbers: dates, too."""
    for kind in (float, "datetime64[s]") if key.dtype.kind in "OUS" else (key.dtype,):
        try:
            read = key.astype(kind)
            made = read.astype(float)
        except (TypeError, ValueError):
            continue
        if read.dtype.kind == "M":
            made[np.isnat(read)] = np.nan
        if not np.isfinite(made).all():
            raise ValueError(f"the key of row {int(np.argmin(np.isfinite(made)))} (from 0) is no number")
        return made
    raise ValueError(f"keys such as '{key[0]}' have no order: expected numbers, or dates like 2024-05-31")


def _blocks(key: np.ndarray, folds: int) -> np.ndarray:
    """Blocks of sorted keys; equal keys stay together."""
    values, code, size = np.unique(key, return_inverse=True, return_counts=True)
    if len(values) < folds:
        raise ValueError(f"{len(values)} different keys, expected {folds} or more for {folds} folds")
    middle = np.cumsum(size) - size / 2
    fold = np.minimum((middle * folds / len(key)).astype(int), folds - 1)
    return fold[code]


def distances(kernel: str, x: Data) -> np.ndarray:
    """Kernel distances of all objects."""
    square = vector_distances(kernel, x, x)
    if square is None:
        square = gram_matrix(kernel, x)
        own = np.diag(square).copy()
        square *= -2
        square += own[:, None]
        square += own[None, :]
        np.maximum(square, 0, out=square)
    return np.sqrt(square, out=square)


def clusters(distance: np.ndarray, most: int) -> np.ndarray:
    """Average linkage, cut as high as no cluster has more than `most` objects; equal objects are never cut."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    if len(distance) < 2:
        return np.zeros(len(distance), dtype=int)
    tree = linkage(squareform(distance, checks=False), "average")
    low, high = int(np.sum(tree[:, 2] <= 1e-6 * max(np.median(distance), 1e-300))), len(tree)  # so many joins are made
    while low < high:
        middle = (low + high + 1) // 2
        if tree[:middle, 3].max() <= most:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        return np.arange(len(distance))
    parent = np.arange(2 * len(distance) - 1)
    for k in range(low):
        for child in tree[k, :2].astype(int):
            parent[child] = len(distance) + k
    root = np.arange(len(distance))
    for _ in range(len(parent)):
        above = parent[root]
        if (above == root).all():
            break
        root = above
    return np.unique(root, return_inverse=True)[1]


def scaffolds(x: Data) -> np.ndarray:
    """Bemis and Murcko's scaffold of every molecule, as text."""
    try:
        from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
    except ImportError as error:
        raise ValueError("scaffolds need RDKit: pip install rdkit, or apt install python3-rdkit") from error
    out = []
    for i, text in enumerate(x.objects):
        try:
            out.append(MurckoScaffoldSmiles(str(text)))
        except ValueError as error:
            raise ValueError(f"molecule {i} ({text}): RDKit cannot read it") from error
    return np.array(out)


def split(x: Any = None, by: str = "random", folds: int = 5, key: Any = None, kernel: str = "linear", inner: int = 0,
          seed: int = 0, n: Optional[int] = None) -> dict:
    """Divides data into fair folds.

    Parameters
    ----------
    x : objects, optional
        For ``similarity`` and ``scaffold``, and for the report of what crosses.
    by : str
        ``random``, ``groups``, ``similarity``, ``order`` (time, mass) or ``scaffold``.
    folds : int
    key : array, optional
        Groups, or numbers or dates to sort by; masses of `x`, where it has them, if not given.
    kernel : str
        Of `x`, for ``similarity`` and the report.
    inner : int
        So many folds of the rest for every fold that is left out (nested), by the same rule.
    seed, n : int
        `n`: how many rows, where neither `x` nor `key` says.

    Returns
    -------
    dict
        ``folds`` (n numbers), ``inner`` (n x folds, -1: left out), ``units``, ``sizes``, and with `x` ``crossing``: the
        median distance to the nearest object of another fold, and that of a random split.
    """
    if by not in WAYS:
        raise ValueError(f"by is '{by}', expected {', '.join(WAYS)}")
    x = None if x is None else as_data(x)
    if by == "order" and key is None and x is not None and (x.masses > 0).all():
        key = x.masses
    if by in ("groups", "order") and key is None:
        raise ValueError(f"a split by {by} needs a key for every row")
    if by in ("similarity", "scaffold") and x is None:
        raise ValueError(f"a split by {by} needs the objects x")
    key = None if key is None else np.asarray(key)
    n = len(x) if x is not None else len(key) if key is not None else n
    if n is None or not 2 <= folds <= n:
        raise ValueError(f"{folds} folds of {n} rows, expected 2 or more and no more than rows")
    if key is not None and len(key) != n:
        raise ValueError(f"{len(key)} keys for {n} rows, expected as many")
    rng, distance = np.random.default_rng(seed), None
    if x is not None and (by == "similarity" or n <= 5000):
        distance = distances(kernel, x)
    if by == "order":
        key = _ordered(key)
        found = _blocks(key, folds)
        units = np.unique(key, return_inverse=True)[1]
    else:
        units = key if by == "groups" else clusters(distance, max(1, n // folds)) if by == "similarity" else \
            scaffolds(x) if by == "scaffold" else np.arange(n)
        found = _packed(units, folds, rng)
    out = {"by": by, "folds": found, "units": int(len(np.unique(units))), "sizes": np.bincount(found, minlength=folds).tolist()}
    if inner:
        table = np.full((n, folds), -1)
        for f in range(folds):
            rest = np.flatnonzero(found != f)
            table[rest, f] = _blocks(key[rest], inner) if by == "order" else _packed(np.asarray(units)[rest], inner, rng)
        out["inner"] = table
    if distance is not None:
        def reach(fold: np.ndarray) -> np.ndarray:
            return np.where(fold[:, None] != fold[None, :], distance, np.inf).min(axis=1)
        mine, chance = reach(found), reach(_packed(np.arange(n), folds, rng))
        scale = max(float(np.median(distance)), 1e-300)
        out["crossing"] = {"nearest": float(np.median(mine)), "nearest_random": float(np.median(chance)),
                           "equal": int(np.sum(mine <= 1e-6 * scale)), "equal_random": int(np.sum(chance <= 1e-6 * scale))}
    return out
