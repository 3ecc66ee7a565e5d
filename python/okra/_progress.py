"""Progress of long work: tqdm where it is installed, else a bar of our own."""
from __future__ import annotations

import sys
import time


class _Bar:
    """One line on standard error, redrawn at most ten times a second."""

    WIDTH = 30

    def __init__(self, total: int, desc: str) -> None:
        self.total, self.desc, self.n, self._drawn = total, desc, 0, 0.0
        self._begin, self._begun = time.monotonic(), None

    def refresh(self) -> None:
        now = time.monotonic()
        if now - self._drawn < 0.1 and self.n < self.total:
            return
        self._drawn = now
        share = self.n / self.total if self.total else 1.0
        filled = int(share * self.WIDTH)
        if self._begun is None:
            self._begun = self.n
        left = ""
        if self.n > self._begun and now - self._begin > 1:  # at the speed so far
            each = (now - self._begin) / (self.n - self._begun)
            left = f", {each * (self.total - self.n):.0f} s left"
        sys.stderr.write(f"\r{self.desc}: |{'#' * filled}{' ' * (self.WIDTH - filled)}| "
                         f"{share:4.0%}{left}\033[K")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()


def _new_bar(total: int, what: str):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Bar(total, what)
    return tqdm(total=total, desc=what)


class Progress:
    """Follows the library's reports: one bar for each thing that is done."""

    def __init__(self) -> None:
        self._bar = None
        self._what = ""

    def report(self, what: str, done: int, total: int) -> None:
        if self._bar is None or what != self._what or total != self._bar.total:
            self.close()
            self._bar, self._what = _new_bar(total, what), what
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
