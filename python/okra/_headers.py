"""The C interface, read from the public headers that come with the library.

Prototypes, structures, enumerations and status codes have one home, ``include/okra``. The
package carries a copy of those files beside the library and reads them when it is
imported, so that nothing is written twice and nothing can drift apart.
"""
from __future__ import annotations

import ctypes as c
import operator
import os
import re
from pathlib import Path
from typing import Any, Optional

_PLAIN = {
    "void": None, "int": c.c_int, "double": c.c_double, "bool": c.c_bool,
    "size_t": c.c_size_t, "okra_int": c.c_int64, "int64_t": c.c_int64,
    "int32_t": c.c_int32, "uint64_t": c.c_uint64, "char": c.c_char,
    "unsigned char": c.c_ubyte,
}


def text_of(value: Any) -> Optional[bytes]:
    """A text or a path (str, bytes or PathLike) as C has it. A zero would cut it short."""
    if value is None:
        return None
    value = os.fspath(value)
    encoded = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"{value!r} has a zero character")
    return encoded


class _Text:
    """The argument type of ``const char *``."""

    @staticmethod
    def from_param(value: Any) -> c.c_char_p:
        return value if isinstance(value, c.c_char_p) else c.c_char_p(text_of(value))


class _Whole:
    """The argument type of whole numbers: ctypes would wrap one that does not fit."""

    def __init__(self, kind: Any) -> None:
        self.kind, bits = kind, 8 * c.sizeof(kind)
        signed = kind(-1).value < 0
        self.low, self.high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def from_param(self, value: Any) -> Any:
        return value if isinstance(value, self.kind) else self.kind(self.checked(value))

    def checked(self, value: Any) -> int:
        value = operator.index(value)
        if not self.low <= value <= self.high:
            raise ValueError(f"{value} is out of range: expected {self.low} to {self.high}")
        return value


_WHOLE = {kind: _Whole(kind) for kind in (c.c_int, c.c_size_t, c.c_int64, c.c_int32, c.c_uint64)}


def checks(kind: Any) -> bool:
    """Whether an argument type looks at values before they reach C."""
    return kind is _Text or isinstance(kind, _Whole)


class _Struct(c.Structure):
    """A struct whose texts and whole numbers are checked as arguments are. One of settings
    tells its own size, as OKRA_SIZED does in C."""

    def __init__(self, *places, **values) -> None:
        values.update(zip((field[0] for field in self._fields_), places))
        if self._fields_[0][0] == "size":
            values["size"] = c.sizeof(self)
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = dict(self._fields_).get(name)
        if kind is c.c_char_p:
            value = text_of(value)
        elif kind in _WHOLE and value is not None:
            value = _WHOLE[kind].checked(value)
        super().__setattr__(name, value)


class Interface:
    """What the headers in `folder` declare.

    Attributes
    ----------
    statuses : dict
        Symbol of each status code, in order, with its general text.
    constants : dict
        Values of the enumerations.
    structs : dict
        Structures that are handed over by pointer, as ``ctypes.Structure`` classes.
    functions : dict
        Name of each function with its result type and its argument types.
    """

    def __init__(self, folder: Path) -> None:
        text = "\n".join((folder / name).read_text(encoding="utf-8")
                         for name in self._order(folder))
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.statuses = dict(re.findall(r'X\((OKRA_\w+), "([^"]*)"\)', text))
        text = re.sub(r"\\\n", " ", text)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        self._types: dict = dict(_PLAIN)
        self.constants: dict = {}
        self.structs: dict = {}
        self.callbacks: dict = {}
        self.functions: dict = {}
        self._types["okra_status"] = c.c_int
        self._enums(text)
        self._callbacks(text)
        self._structs(text)
        self._functions(text)

    @staticmethod
    def _order(folder: Path) -> list:
        """The headers, each after those that it includes."""
        umbrellas = "".join((folder / name).read_text(encoding="utf-8") for name in
                            ("okra.h", "more.h", "program.h") if (folder / name).exists())
        names = re.findall(r'#include "okra/([\w/]+\.h)"', umbrellas) + ["program.h"]
        order: list = []

        def visit(name: str) -> None:
            if name in order or not (folder / name).exists():
                return
            for other in re.findall(r'#include "okra/([\w/]+\.h)"',
                                    (folder / name).read_text(encoding="utf-8")):
                visit(other)
            order.append(name)

        for name in names:
            visit(name)
        return order

    def _enums(self, text: str) -> None:
        for body, name in re.findall(r"enum(?:\s+\w+)?\s*\{([^}]*)\}\s*(\w*)\s*;", text):
            value = -1
            for item in filter(None, (part.strip() for part in body.split(","))):
                symbol, _, given = (part.strip() for part in item.partition("="))
                if not re.fullmatch(r"\w+", symbol):
                    break  # made by a macro: the status codes
                value = int(given, 0) if given else value + 1
                self.constants[symbol] = value
            if name:
                self._types[name] = c.c_int

    def _callbacks(self, text: str) -> None:
        for result, name, arguments in re.findall(
                r"typedef\s+(\w+)\s*\(\*(\w+)\)\(([^)]*)\)\s*;", text):
            kinds = [self._type(a, named=True) for a in arguments.split(",")]
            self.callbacks[name] = c.CFUNCTYPE(self._types[result], *kinds)

    def _structs(self, text: str) -> None:
        for body, name in re.findall(
                r"typedef\s+struct\s+\w+\s*\{([^}]*)\}\s*(\w+)\s*;", text):
            fields = []
            for line in filter(None, (part.strip() for part in body.split(";"))):
                first, *others = line.split(",")
                base = re.match(r"(.*?)[\s*]*\w+$", first.strip()).group(1)
                for item in [first] + [f"{base} {other}" for other in others]:
                    fields.append((re.search(r"(\w+)$", item.strip()).group(1),
                                   self._type(item, named=True)))
            self.structs[name] = self._types[name] = type(name, (_Struct,), {"_fields_": fields})

    def _functions(self, text: str) -> None:
        for result, name, arguments in re.findall(
                r"(?:OKRA_API|OKRA_EXPERIMENTAL)\s+([\w\s*]*?[\s*])(okra_\w+)\s*\(([^;]*?)\)\s*"
                r"(?:OKRA_\w+(?:\([^)]*\))?\s*)*;", text):
            if "..." in arguments:
                continue
            kinds = [] if arguments.strip() == "void" else [
                self._type(a, named=True) for a in arguments.split(",")]
            kinds = [_Text if kind is c.c_char_p else _WHOLE.get(kind, kind) for kind in kinds]
            self.functions[name] = (self._type(result, named=False, result=True), kinds)

    def _type(self, text: str, named: bool, result: bool = False):
        """The ctypes type of a declaration such as ``const double *values``."""
        text = " ".join(text.replace("*", " * ").split())
        if named:
            text = re.sub(r"\s*\w+$", "", text)
        stars = text.count("*")
        base = " ".join(w for w in text.replace("*", " ").split() if w not in (
            "const", "struct"))
        if base in self.callbacks:
            return self.callbacks[base]
        if stars == 0:
            return self._types[base]
        if base == "char" and stars == 1:
            return c.c_char_p
        if result and stars == 1 and _PLAIN.get(base):
            return c.POINTER(_PLAIN[base])
        return c.c_void_p
