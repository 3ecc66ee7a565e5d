"""Progress of long work: tqdm where it is installed, else a bar of our own."""
from __future__ import annotations

import sys
import time


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 120 else f"{value // 60:.0f} min {value % 60:.0f} s"


class _Bar:
    """One line on standard error, redrawn at most ten times per second."""

    WIDTH = 30

    def __init__(self, total: int, desc: str) -> None:
        self.total, self.desc, self.n = total, desc, 0
        self._drawn, self._inner, self._wide = 0.0, "", 0
        self._begin, self._begun = time.monotonic(), None

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self._inner = text
        if refresh:
            self.refresh()

    def refresh(self) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = self.n
        if now - self._drawn < 0.1 and self.n < self.total:
            return
        self._drawn = now
        share = self.n / self.total if self.total else 1.0
        filled = int(share * self.WIDTH)
        left = ""
        if self.n > self._begun and now - self._begin > 0.5:  # at the speed so far
            each = (now - self._begin) / (self.n - self._begun)
            left = f", {_seconds(each * (self.total - self.n))} left"
        inner = f" ({self._inner})" if self._inner else ""
        sys.stderr.write(f"\r{self.desc}: |{'#' * filled}{' ' * (self.WIDTH - filled)}| "
                         f"{share:4.0%}{left}{inner}\033[K")
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


class _Phase:
    def __init__(self, what: str, done: int, total: int) -> None:
        self.what, self.done, self.total = what, done, total
        self.begin, self.begun = time.monotonic(), done

    def text(self) -> str:
        """As in "eigenvectors 40%, 3.1 s left"."""
        spent = time.monotonic() - self.begin
        left = ""
        if self.done > self.begun and spent > 0.5:
            each = spent / (self.done - self.begun)
            left = f", {_seconds(each * (self.total - self.done))} left"
        return f"{self.what} {self.done / self.total:.0%}{left}"


class Progress:
    """Follows the library's reports. The outermost phase has a bar, and the innermost is
    told beside it: a selection has candidates, each of which has a decomposition."""

    def __init__(self) -> None:
        self._bar = None
        self._phases: list[_Phase] = []

    def report(self, what: str, done: int, total: int) -> None:
        if total <= 0:
            return
        names = [phase.what for phase in self._phases]
        if what in names:
            at = names.index(what)
            del self._phases[at + 1:]
            phase = self._phases[at]
            if done < phase.done or (total != phase.total and done < total):  # it began again
                self._phases[at] = phase = _Phase(what, done, total)
        elif done >= total and self._phases:
            return
        else:
            self._phases.append(_Phase(what, done, total))
        phase = self._phases[-1]
        phase.done = phase.total if done >= total else done
        outer = self._phases[0]
        if self._bar is None or self._bar.desc.rstrip(": ") != outer.what or (
                self._bar.total != outer.total):
            self.close_bar()
            self._bar = _new_bar(outer.total, outer.what)
        self._bar.n = outer.done
        self._bar.set_postfix_str(phase.text() if phase is not outer else "", refresh=False)
        self._bar.refresh()
        if phase.done >= phase.total:
            self._phases.pop()
            if not self._phases:
                self.close_bar()

    def close_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def close(self) -> None:
        self._phases = []
        self.close_bar()
