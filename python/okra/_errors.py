"""Exceptions of the library: one class for each status code."""
from __future__ import annotations

import builtins


class OkraError(Exception):
    """An error that the library reports; the text is the library's own message."""


class OkraWarning(UserWarning):
    """Something worth knowing that is no error: jitter added, no convergence."""


# What each status code also is, so that ordinary handlers catch it.
_BASES = {
    "OKRA_EARG": ValueError, "OKRA_ESHAPE": ValueError, "OKRA_EMEM": MemoryError,
    "OKRA_EBUDGET": MemoryError, "OKRA_EIO": OSError, "OKRA_EFORMAT": ValueError,
    "OKRA_EVERSION": ValueError, "OKRA_ENUMERIC": ArithmeticError,
    "OKRA_EUNSUPPORTED": NotImplementedError, "OKRA_EINTERNAL": RuntimeError,
}
_NAMES = {
    "OKRA_EARG": "ArgumentError", "OKRA_ESHAPE": "ShapeError",
    "OKRA_EMEM": "OutOfMemoryError", "OKRA_EBUDGET": "MemoryBudgetError",
    "OKRA_EIO": "FileError", "OKRA_EFORMAT": "FormatError",
    "OKRA_EVERSION": "VersionError", "OKRA_ENUMERIC": "NumericalError",
    "OKRA_EUNSUPPORTED": "UnsupportedError", "OKRA_ECANCELLED": "CancelledError",
    "OKRA_EINTERNAL": "InternalError",
}


def make_exceptions(statuses: dict, module: str) -> list:
    """One exception class for each status code, in the order of the codes."""
    classes: list = []
    for symbol, text in statuses.items():
        if symbol == "OKRA_OK":
            classes.append(None)
            continue
        base = _BASES.get(symbol)
        name = _NAMES.get(symbol, symbol.title().replace("_", ""))
        assert name not in vars(builtins)
        classes.append(type(name, (OkraError, base) if base else (OkraError,), {
            "__doc__": text[0].upper() + text[1:] + ".", "__module__": module,
            "symbol": symbol}))
    return classes
