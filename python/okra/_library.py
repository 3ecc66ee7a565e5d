"""libokra through ctypes: handles, contexts, options by name, errors as exceptions."""
from __future__ import annotations

import ctypes as c
import numbers
import os
import sys
import warnings
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Optional

from ._errors import OkraError, OkraWarning, make_exceptions
from ._headers import Interface, checks
from ._interrupt import Watch
from ._progress import Progress

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent  # of a source tree


def _find() -> tuple:
    """The library and the folder of its headers."""
    built = _ROOT / "build" / "libokra.so"
    headers = _HERE / "include"
    if not headers.exists():
        headers = _ROOT / "include" / "okra"
    inside = sorted(_HERE.glob("libokra.so*")) or [_HERE / "libokra.so"]
    places = [Path(os.environ["OKRA_LIBRARY"])] if os.environ.get("OKRA_LIBRARY") else [
        *inside, built]
    for place in places:
        if place.exists() and headers.exists():
            return place, headers
    raise ImportError("libokra.so was not found; looked for " +
                      ", ".join(str(p) for p in places) +
                      " (the variable OKRA_LIBRARY names another one)")


LIBRARY_PATH, HEADERS_PATH = _find()
interface = Interface(HEADERS_PATH)
structs = interface.structs
constants = interface.constants


def _plain(function: Callable) -> Callable:
    """The same; an argument that does not fit raises what it raised, not ctypes' own error."""
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except c.ArgumentError as failure:
            kind, _, message = str(failure).partition(": ")[2].partition(": ")
            raise (TypeError if kind == "TypeError" else ValueError)(message) from None
    call.argtypes = function.argtypes
    return call


def _declare(library: c.CDLL) -> SimpleNamespace:
    """The functions of the library by their names."""
    functions = {}
    for name, (result, kinds) in interface.functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, kinds
        if name in ("okra_data_text", "okra_index_text"):  # not ended by NUL: the length comes beside it
            function.restype = c.c_void_p
        functions[name] = _plain(function) if any(map(checks, kinds)) else function
    return SimpleNamespace(**functions)


lib = _declare(c.CDLL(str(LIBRARY_PATH)))
exceptions = make_exceptions(interface.statuses, "okra")
_CANCELLED = list(interface.statuses).index("OKRA_ECANCELLED")
_watch = Watch(lib.okra_context_cancel)
_progress_fn = interface.callbacks["okra_progress_fn"]
_warning_fn = interface.callbacks["okra_warning_fn"]
_NO_PROGRESS = _progress_fn()


def error(status: int) -> OkraError:
    """The exception of a status code, with this thread's message."""
    message = lib.okra_message().decode("utf-8", "replace")
    return exceptions[status](message)


def check(status: int) -> None:
    """Raises what a status code stands for."""
    if status != 0:
        raise error(status)


class Handle:
    """An opaque pointer of the library, freed once."""

    __slots__ = ("pointer", "_free", "keep", "__weakref__")

    def __init__(self, pointer: int, free: Callable, keep: Any = None) -> None:
        self.pointer, self._free, self.keep = pointer, free, keep

    def __del__(self) -> None:
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer:
            self._free(pointer)


def _user_level() -> int:
    """How far up the stack the first frame outside this package is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(str(_HERE)):
        frame, level = frame.f_back, level + 1
    return level


def option_types(topic: str) -> dict:
    """The options of ``"fit"``, ``"predict"`` or ``"select"``: names as typed, and types."""
    count = c.c_size_t()
    tables = c.cast(lib.okra_option_tables(topic, c.byref(count)),
                    c.POINTER(c.POINTER(structs["okra_option_table"])))
    return {name: kind for table in tables[:count.value]
            for name, kind in _rows(table.contents).items()}


def _rows(table: Any) -> dict:
    """The names and types of one table of options."""
    row, k, types = c.cast(table.rows, c.POINTER(structs["okra_option"])), 0, {}
    while row and row[k].name:
        types[row[k].name.decode()] = row[k].type
        k += 1
    return types


def method_options(method: str) -> dict:
    """The options of one method, and their types; none of one that is not known."""
    table, k = c.c_void_p(), 0
    while name := lib.okra_method_name(k, None, c.byref(table)):
        if name.decode() == method:
            return _rows(structs["okra_option_table"].from_address(table.value))
        k += 1
    return {}


def set_options(given: Handle, topic: str) -> dict:
    """The options of a topic that are set, with their texts."""
    return {name: lib.okra_options_get(given.pointer, name).decode()
            for name in option_types(topic)
            if lib.okra_options_is_set(given.pointer, name)}


def decoder_has(name: Optional[str], trait: str) -> bool:
    """Whether a decoder does what ``OKRA_DECODER_<trait>`` says."""
    return name is not None and lib.okra_decoder_has(
        str(name), constants["OKRA_DECODER_" + trait])


def kernel_has(kernel: Any, trait: str) -> bool:
    """Whether a kernel is what ``OKRA_KERNEL_<trait>`` says; a callable and "auto" are not."""
    return isinstance(kernel, str) and lib.okra_kernel_has(
        kernel, constants["OKRA_KERNEL_" + trait])


def metric_has(metric: Optional[str], trait: str) -> bool:
    """Whether a metric is what ``OKRA_METRIC_<trait>`` says."""
    return metric is not None and lib.okra_metric_has(
        str(metric), constants["OKRA_METRIC_" + trait])


# By address, which serves again when a context is gone. Weak: one that nobody holds goes
# at once, and its engine with it.
_contexts: dict = {}
_warned = _warning_fn(lambda where, *told: _contexts[where]()._warn(*told))
_reported = _progress_fn(lambda where, *told: _contexts[where]()._report(*told))


class Context:
    """Threads, memory, seed and callbacks of one run.

    Parameters
    ----------
    threads : int
        0 means every core this process may use.
    seed : int
        Seed of everything random.
    memory : int, str or None
        Memory budget in bytes, or a text such as ``"8G"``.
    verbose : bool
        Whether progress is shown.
    engine : str or None
        Where large matrices live: ``"host"``, or an installed engine such as ``"cuda"``
        or ``"cuda:1"``. One that cannot run is an error.
    header : bool or None
        Whether the first line of a table is its names; None: what stands below it decides.
    """

    _threads, _memory, _strict = 0, None, False

    @classmethod
    def everywhere(cls, threads: int, memory: Any, strict: bool) -> None:
        """What contexts of this process take that are given nothing else."""
        cls._threads, cls._memory, cls._strict = threads, memory, strict
        Context()  # refuses what is wrong

    def __init__(self, threads: int = 0, seed: int = 0, memory: Any = None,
                 verbose: bool = False, engine: Optional[str] = None,
                 header: Any = None) -> None:
        pointer = c.c_void_p()
        check(lib.okra_context_create(c.byref(pointer)))
        self._handle = Handle(pointer.value, lib.okra_context_free)
        self.pointer = pointer.value
        self._failure: Optional[BaseException] = None
        self._said: set = set()  # every warning is given once
        self._progress = Progress() if verbose else None
        threads, memory = threads or self._threads, self._memory if memory is None else memory
        if threads:
            check(lib.okra_context_set_threads(self.pointer, threads))
        if self._strict:
            check(lib.okra_context_set_strict(self.pointer, 1))
        if seed:
            lib.okra_context_set_seed(self.pointer, seed)
        self._budget: Optional[int] = None
        if memory is not None:
            size = memory
            if not isinstance(memory, numbers.Integral):
                size = c.c_int64()
                check(lib.okra_parse_bytes(str(memory), c.byref(size)))
                size = size.value
            check(lib.okra_context_set_memory(self.pointer, size))
            self._budget = int(size)
        if header is not None:
            check(lib.okra_context_set_header(self.pointer, 1 if header in (True, "yes") else -1))
        if engine is not None:
            check(lib.okra_context_set_engine(self.pointer, str(engine)))
        _contexts[self.pointer] = weakref.ref(self)
        lib.okra_context_set_warning(self.pointer, _warned, self.pointer)
        if verbose:
            lib.okra_context_set_progress(self.pointer, _reported, self.pointer)

    def ask(self, rows: int, columns: int, what: str) -> None:
        """Is there room for so many doubles of NumPy in a budget that was given?"""
        if self._budget is not None and 8 * rows * columns > self._budget:
            raise exceptions[list(interface.statuses).index("OKRA_EBUDGET")](
                f"{what} of {rows} x {columns} doubles needs {8 * rows * columns} bytes; the memory budget is "
                f"{self._budget} bytes")

    def _stop(self, failure: BaseException) -> None:
        """What a callback raises stops the call, which then raises it."""
        self._failure = failure
        lib.okra_context_cancel(self.pointer)

    def _warn(self, text: bytes) -> None:
        try:
            if text in self._said:
                return
            self._said.add(text)
            if text.startswith(b"note: "):  # of a file, whose data say their kind here
                return
            warnings.warn(text.decode("utf-8", "replace"), OkraWarning,
                          stacklevel=_user_level())
        except BaseException as failure:
            self._stop(failure)

    def _report(self, what: bytes, done: int, total: int) -> None:
        try:
            self._progress.report(what.decode(), done, total)
        except BaseException as failure:
            self._stop(failure)

    def call(self, function: Callable, *arguments: Any) -> None:
        """``function(context, *arguments)``; what it reports is raised."""
        try:
            status, seen = _watch.call(self.pointer, function,
                                       (self.pointer,) + arguments)
        finally:
            if self._progress is not None:
                self._progress.close()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            lib.okra_context_resume(self.pointer)
            raise failure
        if status == 0:
            return
        failure = error(status)
        if status == _CANCELLED:
            lib.okra_context_resume(self.pointer)
            if seen:
                raise KeyboardInterrupt from None
        raise failure

    def make(self, function: Callable, free: Callable, *arguments: Any,
             keep: Any = None) -> Handle:
        """The handle that ``function(context, *arguments, &out)`` creates."""
        out = c.c_void_p()
        self.call(function, *arguments, c.byref(out))
        return Handle(out.value, free, keep)


def make(function: Callable, free: Callable, *arguments: Any, keep: Any = None) -> Handle:
    """The handle that ``function(*arguments, &out)`` creates."""
    out = c.c_void_p()
    check(function(*arguments, c.byref(out)))
    return Handle(out.value, free, keep)


def option_text(value: Any) -> str:
    """A value as the library reads it; floats keep all their digits."""
    if isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's too, whichever its version
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


def options(create: Callable, values: dict) -> Handle:
    """Options set by name; None leaves the library's default."""
    handle = make(create, lib.okra_options_free)
    for name, value in values.items():
        if value is not None:
            check(lib.okra_options_set(handle.pointer, name, option_text(value)))
    return handle


def version() -> str:
    """The version of the library."""
    return lib.okra_version().decode()


def build_info() -> str:
    """What is built into the library, one ``name: value`` a line."""
    return lib.okra_build_info().decode()
