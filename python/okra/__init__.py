"""okra: output kernel regression for any structure.

Learns mappings between structured objects: from vectors, strings, sequences, graphs or
molecules to vectors, strings, labels, images, or nodes of a network. The work is done by
the C library of the same name; this package hands objects over and gives results back.
"""
from . import datasets
from ._data import (Data, as_data, bags, bits, gram, graphs, labels, missing, nodes, read,
                    sequences, smiles, spectra)
from ._errors import OkraError, OkraWarning
from ._index import Index, Ranking
from ._kernel import gram_matrix, kernel_text, metric
from ._library import build_info, exceptions as _exceptions, version as _version
from ._model import Model, Prediction

__version__ = _version()
__all__ = ["Data", "Index", "Model", "OkraError", "OkraWarning", "Prediction", "Ranking",
           "as_data", "bags", "bits", "build_info", "datasets", "gram", "gram_matrix", "graphs", "kernel_text",
           "labels", "metric", "missing", "nodes", "read", "sequences", "smiles",
           "spectra"]
for _class in filter(None, _exceptions):
    globals()[_class.__name__] = _class
    __all__.append(_class.__name__)
del _class

try:
    from .estimators import *  # noqa: F401,F403
    from .estimators import __all__ as _estimators
    __all__ += _estimators
except ImportError as _error:  # the library alone works without scikit-learn
    if "sklearn" not in str(_error):
        raise


_CHECKS = {"score": "intervals", "compare": "intervals", "audit": "audit", "split": "split", "explain": "explain",
           "next_inputs": "measure"}  # of okra.checks; they need SciPy
__all__ += _CHECKS


def __getattr__(name: str) -> object:
    """``okra.plot``, imported when it is first named: it needs matplotlib; and the checks."""
    import importlib
    if name in _CHECKS:
        return getattr(importlib.import_module(f".checks.{_CHECKS[name]}", __name__), name)
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module 'okra' has no attribute {name!r}")
