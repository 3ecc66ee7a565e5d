"""Ctrl-C while the library works.

A call into the library runs in the thread that made it, without the interpreter's lock.
In the main thread Python notes a signal at once but handles it only when the call has
returned, so somebody else must ask the library to stop: the note is written to a socket
as well (`signal.set_wakeup_fd`), on which one watching thread waits, and that thread
cancels the context. The call then ends with OKRA_ECANCELLED and Python raises
KeyboardInterrupt, or whatever its handler does.
"""
from __future__ import annotations

import os
import select
import signal
import socket
import threading
from typing import Callable, Optional


class Watch:
    """Cancels the running call of the main thread when SIGINT arrives."""

    def __init__(self, cancel: Callable) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._running: Optional[int] = None
        self._seen = False
        self._former = -1  # where signals were told to before
        self._pair: Optional[tuple] = None
        self._main = threading.main_thread().ident
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """A child process has no watching thread, and must not read from our socket."""
        self._lock, self._pair, self._running = threading.Lock(), None, None
        self._main = threading.main_thread().ident

    def _start(self) -> None:
        self._pair = socket.socketpair()
        for end in self._pair:
            end.setblocking(False)
        self._told = select.poll()
        self._told.register(self._pair[0], select.POLLIN)
        threading.Thread(target=self._watch, args=(self._pair[0],), daemon=True,
                         name="okra-interrupt").start()

    def _drain(self) -> bytes:
        try:
            return self._pair[0].recv(4096)
        except BlockingIOError:
            return b""

    def _watch(self, end: socket.socket) -> None:
        while True:
            select.select([end], [], [])
            with self._lock:
                signals = self._drain()
                if self._former >= 0 and signals:
                    os.write(self._former, signals)  # somebody else watches as well
                if signal.SIGINT in signals and self._running is not None:
                    self._seen = True
                    self._cancel(self._running)

    def call(self, context: int, function: Callable, arguments: tuple):
        """The status of ``function(*arguments)`` and whether SIGINT arrived meanwhile."""
        if threading.get_ident() != self._main:
            return function(*arguments), False
        if self._pair is None:
            self._start()
        mine = self._pair[1].fileno()
        outer = self._running  # a callback of a running call may call again
        with self._lock:
            if self._told.poll(0):
                self._drain()  # a signal that has been handled before is none of ours
            self._running, self._seen = context, False
        former = None
        try:
            former = signal.set_wakeup_fd(mine, warn_on_full_buffer=False)
            self._former = former if former != mine else self._former
            status = function(*arguments)
        finally:
            if former is not None:
                signal.set_wakeup_fd(former)
            with self._lock:
                self._running = outer
                self._former = -1 if former != mine else self._former
                seen = self._seen
        return status, seen
