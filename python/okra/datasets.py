"""Real data that come with okra, and synthetic tasks: same seed, same numbers, on every machine."""
from __future__ import annotations

import ctypes as c
from pathlib import Path
from typing import Any

import numpy as np

from ._data import Data, read
from ._library import Handle, check, lib

_free = lib.okra_data_free


def _make(function: Any, count: int, *arguments: Any) -> list:
    out = [c.c_void_p() for _ in range(count)]
    check(function(*arguments, *(c.byref(p) for p in out)))
    return [Data(Handle(p.value, _free)) for p in out]


def spectra_file() -> str:
    """The path of measured tandem mass spectra of 179 molecules, one each, in MGF.

    They are records of MassBank (massbank.eu) in the public domain (CC0); TITLE is the accession.
    """
    return str(Path(__file__).with_name("data") / "spectra.mgf")


def load_spectra() -> tuple:
    """Measured tandem mass spectra and their molecules, see `spectra_file`.

    Returns
    -------
    spectra, molecules : Data
    """
    return read(spectra_file()), read(spectra_file() + ":smiles")


def make_patterns(n: int = 200, seed: int = 0) -> tuple:
    """Smooth patterns of 16 x 16 pixels cut in two.

    Returns
    -------
    upper, lower : ndarray of shape (n, 128)
    """
    x, y = _make(lib.okra_synthetic_patterns, 2, seed, n)
    return x.objects, y.objects


def make_s_shape(n: int = 200, seed: int = 0) -> tuple:
    """The S-shape: three outputs fit one input in the middle.

    Returns
    -------
    x, y : ndarray of shape (n, 1)
    """
    x, y = _make(lib.okra_synthetic_s_shape, 2, seed, n)
    return x.objects, y.objects


def make_strings(n: int = 200, seed: int = 0) -> tuple:
    """Strings over a, b, c, d and their distorted words, in three classes.

    Returns
    -------
    x, y : list of str
    classes : ndarray
    """
    x, y, classes = _make(lib.okra_synthetic_strings, 3, seed, n)
    return x.objects, y.objects, classes.objects


def make_network(n: int = 200, classes: int = 4, p_intra: float = 0.1,
                 p_inter: float = 0.005, seed: int = 0) -> Data:
    """All nodes of a random network of classes (one class: the Erdos-Renyi law).

    Returns
    -------
    okra.Data
        Its nodes; `network_inputs` describes them, `network_edges` lists their edges.
    """
    return _make(lib.okra_synthetic_network, 1, seed, n, classes, p_intra, p_inter)[0]


def network_inputs(nodes: Data, inertia: float = 0.95, beta: float = 0.0) -> np.ndarray:
    """Descriptions of the nodes: kernel principal components of diffusion.

    Parameters
    ----------
    nodes : okra.Data
    inertia : float
        The share of the variance that the components hold.
    beta : float
        Time of diffusion; 0: chosen so that the kernel's values say most.

    Returns
    -------
    ndarray of shape (n, components)
    """
    time, out = c.c_double(beta), c.c_void_p()
    check(lib.okra_network_inputs(None, nodes.pointer, c.byref(time), inertia,
                                  c.byref(out)))
    return Data(Handle(out.value, _free)).objects
