"""Collections of sequences, spectra, nodes of a network and graphs."""
from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

import numpy as np

from ._collection import Data, c_texts
from ._library import lib, make


def sequences(arrays: Iterable, texts: Optional[Sequence[str]] = None) -> Data:
    """Sequences of vectors, each vector with a label where texts are given.

    Parameters
    ----------
    arrays : iterable of arrays of shape (length, d)
        `length` may differ from one to the next.
    texts : sequence of str, optional
        Text i has one character for each vector of sequence i.

    Returns
    -------
    Data
    """
    arrays = [np.asarray(a, dtype=np.float64) for a in arrays]
    if any(a.ndim != 2 or a.shape[1] != arrays[0].shape[1] for a in arrays):
        raise ValueError("sequences must be matrices with the same number of columns")
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(a) for a in arrays], out=offsets[1:])
    width = arrays[0].shape[1] if arrays else 0
    vectors = np.concatenate(arrays) if arrays else np.empty((0, 0))
    vectors = np.ascontiguousarray(vectors)
    codes = None
    if texts is not None:
        if [len(t) for t in texts] != [len(a) for a in arrays]:
            raise ValueError("each text must have one character for each vector")
        codes = np.array([ord(ch) for t in texts for ch in t], dtype=np.int32)
    return Data(make(lib.okra_data_sequences, lib.okra_data_free, offsets.ctypes.data,
                     vectors.ctypes.data, None if codes is None else codes.ctypes.data,
                     len(arrays), width))


def _make_sequences(objects: Any) -> Data:
    if len(objects) and isinstance(objects[0], tuple):
        return sequences([a for a, _ in objects], [t for _, t in objects])
    return sequences(objects)


def spectra(peaks: Iterable, about: Optional[Iterable] = None) -> Data:
    """Tandem mass spectra, for kernels such as ``ppk | normalize``.

    Parameters
    ----------
    peaks : iterable of arrays of shape (count, 2)
        m/z and intensity of the peaks of each spectrum, in any order.
    about : iterable of dict, optional
        What is said about each spectrum, with the keys of MGF files: ``PEPMASS`` is the
        m/z of the precursor, ``ADDUCT`` or ``CHARGE`` tells the mass of the molecule.

    Returns
    -------
    Data
    """
    arrays = [np.asarray(p, dtype=np.float64) for p in peaks]
    for i, array in enumerate(arrays):
        if array.size and (array.ndim != 2 or array.shape[1] != 2):
            raise ValueError(f"spectrum {i} has shape {array.shape}, expected (count, 2): one row "
                             "of m/z and intensity per peak")
    arrays = [array.reshape(-1, 2) for array in arrays]
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([len(a) for a in arrays], out=offsets[1:])
    both = np.concatenate(arrays) if arrays else np.empty((0, 2))
    mz, height = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
    texts = None
    if about is not None:
        said = ["".join(f"{key}={value}\n" for key, value in d.items()) for d in about]
        if len(said) != len(arrays):
            raise ValueError(f"{len(said)} descriptions of {len(arrays)} spectra")
        texts = c_texts(said)
    return Data(make(lib.okra_data_spectra, lib.okra_data_free, offsets.ctypes.data,
                     mz.ctypes.data, height.ctypes.data, texts, len(arrays)))


def _make_spectra(objects: Any) -> Data:
    return spectra([p for p, _ in objects], [d for _, d in objects])


def _make_nodes(names: Any, ends: Any, weights: Any, codes: Any) -> Data:
    count = names if isinstance(names, int) else len(names)
    texts = None if isinstance(names, int) else c_texts(names)
    return Data(make(lib.okra_data_nodes, lib.okra_data_free, count, texts,
                     ends.ctypes.data, weights.ctypes.data, len(weights),
                     codes.ctypes.data, len(codes)), (names, ends, weights))


def nodes(network: Any, chosen: Optional[Iterable] = None) -> Data:
    """Nodes of one network, for kernels such as ``diffusion(beta=1)``.

    Parameters
    ----------
    network : networkx.Graph, or sparse or dense matrix of shape (nodes, nodes)
        Undirected; edges have the attribute ``weight`` or weigh 1. Of a matrix the upper
        half is taken.
    chosen : iterable, optional
        Which nodes, in which order (numbers for a matrix); all if not given.

    Returns
    -------
    Data
    """
    if _is_graph(network):
        known = {node: i for i, node in enumerate(network)}
        names: Any = [str(node) for node in network]
        listed = [(known[a], known[b], float(w)) for a, b, w in
                  network.edges(data="weight", default=1.0)]
        ends = np.array([e[:2] for e in listed], dtype=np.int64).reshape(-1, 2)
        weights = np.array([e[2] for e in listed], dtype=np.float64)
    else:
        from scipy.sparse import coo_matrix, triu
        upper = coo_matrix(triu(network, k=1))
        names, known = upper.shape[0], None
        ends = np.ascontiguousarray(np.stack([upper.row, upper.col], axis=1),
                                    dtype=np.int64)
        weights = np.ascontiguousarray(upper.data, dtype=np.float64)
    if chosen is None:
        codes = np.arange(names if isinstance(names, int) else len(names))
    else:
        codes = np.array([node if known is None else known[node] for node in chosen])
    return _make_nodes(names, ends, weights, codes.astype(np.int64))


def _is_graph(value: Any) -> bool:
    return hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "adj")


def graphs(networks: Iterable) -> Data:
    """Labelled graphs, one object each.

    Parameters
    ----------
    networks : iterable of networkx.Graph
        The attribute ``label`` of nodes and edges is their label; without one it is 0.

    Returns
    -------
    Data
    """
    networks = list(networks)
    first_node, first_edge = [0], [0]
    node_labels, edge_labels, ends = [], [], []
    for network in networks:
        place = {node: i for i, node in enumerate(network)}
        node_labels += [str(v) for _, v in network.nodes(data="label", default=0)]
        for a, b, v in network.edges(data="label", default=0):
            ends += [place[a], place[b]]
            edge_labels.append(str(v))
        first_node.append(len(node_labels))
        first_edge.append(len(edge_labels))
    arrays = [np.array(v, dtype=np.int64) for v in (first_node, first_edge, ends)]
    return Data(make(lib.okra_data_graphs, lib.okra_data_free, arrays[0].ctypes.data,
                     c_texts(node_labels), arrays[1].ctypes.data, arrays[2].ctypes.data,
                     c_texts(edge_labels), len(networks)))
