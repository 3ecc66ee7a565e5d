"""Figures of pages that commands write, by the program that draws reports."""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))


def draw(figure, path):
    """Writes the figure as an SVG file."""
    try:
        from okra_report.figures import render
        import matplotlib  # noqa: F401
    except ImportError as error:
        print(f"{path} is not drawn again: {error}", file=sys.stderr)
        return
    Path(path).write_bytes(re.sub(rb" +\n", b"\n", render([figure], True)))


def same(figure, path):
    """Is the file drawn from these data? True where it cannot be said: matplotlib is not there."""
    try:
        from okra_report.figures import stamp
        data = stamp([figure]).split(",")[0]
    except ImportError:
        return True
    return os.path.exists(path) and data in Path(path).read_text(encoding="utf-8")
