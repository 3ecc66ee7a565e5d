"""What the docstrings of several estimators share."""
from __future__ import annotations

from typing import Callable, Union

Kernel = Union[str, Callable]

_OPTIONS = """
    options : dict, optional
        Other options of the method by name (``okra help methods``).
"""
_CLASSES = """
    class_weight : "balanced", optional
        ``"balanced"``: every class counts the same.
"""
_DECODE = """
    decode : str, optional
        How a predicted point becomes an object (``okra help decoders``). If not given:
        with ``ky="auto"`` label sets for rows of 0 and 1; explicit vectors for a linear
        output kernel on vectors, else the nearest candidate.
    decode_options : dict, optional
        Options of the decoder by name.
"""
_RUN = """
    n_jobs : int, optional
        Threads; None and -1 mean every core.
    random_state : int, RandomState or None
        Seed of everything random; None is 0, as on the command line.
    memory : int or str, optional
        Memory budget, such as ``"8G"``.
    verbose : bool, default=False
        Whether progress is shown.
    engine : str, optional
        Where large matrices live: ``"host"``, or an installed engine such as ``"cuda"``.

    Attributes
    ----------
    model_ : okra.Model
        The fitted model.
    chosen_ : dict
        Parameters that were ``"auto"``, with the values that were chosen for them.
    search_ : dict or None
        How they were, as ``okra select --json`` tells it.
    n_features_in_ : int
        Columns of the inputs, where they are vectors.
    loo_score_, loo_predictions_, loo_losses_
        Leave-one-out in closed form, where the method has one; computed when asked for.
"""
_KERNELS = """
    Parameters
    ----------
    kx, ky : str or callable, default="auto"
        Kernels of inputs and outputs: ``"auto"`` for one that fits the kind of objects
        (that of inputs chosen by leave-one-out from a few where the method has a closed
        form of it), an expression such as ``"rbf(sigma=4)"``, or
        ``"rbf(sigma=4) | nystrom(rank=60)"`` of low rank,
        ``"precomputed"`` (then the objects are rows of Gram matrices), or a function of
        two collections that gives the matrix of kernel values.
"""


def documented(cls: type) -> type:
    """Fills the parts of a docstring that several classes share."""
    parts = {"{kernels}": _KERNELS, "{common}": _OPTIONS + _DECODE[1:] + _RUN[1:],
             "{labelled}": _CLASSES + _OPTIONS[1:] + _DECODE[1:] + _RUN[1:],
             "{rest}": _OPTIONS + _RUN[1:]}
    for mark, text in parts.items():
        cls.__doc__ = cls.__doc__.replace(mark, text.strip("\n"))
    return cls
