"""The C interface, read from the public headers that come with the library.

Prototypes, structures, enumerations and status codes have one home, ``include/okra``. The
package carries a copy of those files beside the library and reads them when it is
imported, so that nothing is written twice and nothing can drift apart.
"""
from __future__ import annotations

import ctypes as c
import re
from pathlib import Path

_PLAIN = {
    "void": None, "int": c.c_int, "double": c.c_double, "bool": c.c_bool,
    "size_t": c.c_size_t, "okra_int": c.c_int64, "int64_t": c.c_int64,
    "int32_t": c.c_int32, "uint64_t": c.c_uint64, "char": c.c_char,
    "unsigned char": c.c_ubyte,
}


def _sized_init(self, **values) -> None:
    """A struct of settings tells its own size, as OKRA_SIZED does in C."""
    c.Structure.__init__(self, size=c.sizeof(self), **values)


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
        names = re.findall(r'#include "okra/(\w+\.h)"',
                           (folder / "okra.h").read_text(encoding="utf-8"))
        order: list = []

        def visit(name: str) -> None:
            if name in order or not (folder / name).exists():
                return
            for other in re.findall(r'#include "okra/(\w+\.h)"',
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
            struct = type(name, (c.Structure,), {"_fields_": fields})
            if fields[0][0] == "size":  # OKRA_SIZED
                struct = type(name, (struct,), {"__init__": _sized_init})
            self.structs[name] = self._types[name] = struct

    def _functions(self, text: str) -> None:
        for result, name, arguments in re.findall(
                r"OKRA_API\s+([\w\s*]*?[\s*])(okra_\w+)\s*\(([^;]*?)\)\s*"
                r"(?:OKRA_\w+(?:\([^)]*\))?\s*)*;", text):
            if "..." in arguments:
                continue
            kinds = [] if arguments.strip() == "void" else [
                self._type(a, named=True) for a in arguments.split(",")]
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
