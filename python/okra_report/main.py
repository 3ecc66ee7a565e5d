"""The program okra-report: results as one HTML page, as Markdown, or as single figures."""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from typing import Optional

from .files import write
from .results import CLAIMS, MOST, Refused, VERDICTS, counts, file_name, origin, printable, read

INSTALL = ("install it (Debian: apt install python3-{0}; elsewhere: pip install {0}), "
           "then run the same command again")


def _arguments(argv: Optional[list]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="okra-report", description=__doc__)
    parser.add_argument("results", nargs="+", help="what commands of okra wrote with --json; -: standard input")
    parser.add_argument("-o", "--output", required=True, help="FILE.html, FILE.md, FILE.svg, FILE.png; -: HTML "
                        "on standard output")
    parser.add_argument("--title", default="", help="the heading of the page")
    parser.add_argument("--figures", default="", help="also write each figure as DIR/RESULT-FIGURE.svg")
    parser.add_argument("--figure", default="", help="which figure .svg and .png draw: its id; all: side by side")
    parser.add_argument("--claims", default="no", choices=["no", "first", "alone"], help=argparse.SUPPRESS)
    parser.add_argument("--extra", default="", help=argparse.SUPPRESS)  # order and claims, from okra
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--name", default="okra report", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _names(results: list) -> None:
    """One name for each result: a number behind it where an earlier one has the same."""
    seen: dict = {}
    for r in results:
        seen[r["name"]] = seen.get(r["name"], 0) + 1
        r["label"] = r["name"] if seen[r["name"]] == 1 else f"{r['name']}-{seen[r['name']]}"


def _explain(results: list) -> None:
    """What numbers and figures mean: numbers once in each result."""
    from . import words
    for r in results:
        said: set = set()
        for t in r["tables"]:
            t["words"] = [w for w in words.table(t) if w not in said]
            said.update(t["words"])
        for f in r["figures"]:
            f["words"] = words.figure(f)


def _id(f: dict) -> str:
    return f["id"] if isinstance(f.get("id"), str) and f["id"] else "figure"


def _draw(f: dict, alone: bool, form: str = "svg", salt: str = "okra") -> tuple:
    """The picture and None, or None and why there is none."""
    from . import figures
    try:
        return figures.render([f], alone, form, salt), None
    except figures.Undrawable as error:
        return None, str(error)
    except (ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, TypeError, ValueError) as error:
        return None, f"its fields are not those of docs/results-format.md ({error})"


def _draw_all(results: list, a: argparse.Namespace) -> None:
    """Pictures for the page and the folder. A figure that cannot be drawn is said on an HTML page,
    and an error where a file of it is asked for."""
    page = not a.output.endswith(".md")
    for n, r in enumerate(results):
        for k, f in enumerate(r["figures"]):
            f["file"] = file_name(r["label"], _id(f)) + ".svg"
            if page:
                svg, f["why"] = _draw(f, False, salt=f"r{n}-{k}")
                f["svg"] = svg and svg.decode()
            if a.figures and not (page and f["why"]):
                svg, why = _draw(f, True)
                if why:
                    raise Refused(f"figure {_id(f)} of {r['label']} cannot be drawn: {why}")
                write(os.path.join(a.figures, f["file"]), svg)


def _markdown(value: str) -> str:
    """Text in which nothing is markup."""
    value = re.sub(r"([|*_`\[\]#\\])", r"\\\1", value)
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _page(results: list, claims: list, a: argparse.Namespace) -> bytes:
    from . import words
    try:
        import jinja2
    except ImportError as error:
        raise Refused("pages need the Python package Jinja2: " + INSTALL.format("jinja2")) from error
    markdown = a.output.endswith(".md")
    world = jinja2.Environment(autoescape=not markdown, trim_blocks=True, lstrip_blocks=True,
                               keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
                               loader=jinja2.FileSystemLoader(os.path.dirname(os.path.abspath(__file__))))
    world.filters.update(md=_markdown, anchor=file_name)
    folder = os.path.relpath(a.figures, os.path.dirname(a.output) or ".") if a.figures else ""
    return world.get_template("page.md" if markdown else "page.html").render(
        results=results, claims=claims, title=printable(a.title) or words.title(results), words=words, counts=counts,
        origin=origin, verdicts=VERDICTS, kinds=CLAIMS, folder=folder, mode=a.claims, heading=bool(a.title),
        papers=any(r["kind"] == "paper" for r in results)).encode()


def _single(results: list, a: argparse.Namespace) -> bytes:
    """The figure that is asked for."""
    from . import figures
    form = a.output[-3:]
    found = [f for r in results for f in r["figures"]]
    chosen = found if a.figure == "all" else [f for f in found if a.figure in ("", _id(f))]
    if not chosen or len(chosen) > 1 and a.figure != "all":
        raise Refused(f"{a.output}: --figure says which one; there are "
                      + (", ".join(map(_id, found)) or "none"))
    try:
        return figures.render(chosen, True, form)
    except figures.Undrawable as error:
        raise Refused(f"{a.output} cannot be drawn: {error}") from error


def run(a: argparse.Namespace) -> None:
    extra = {}
    if a.extra:
        with open(a.extra, encoding="utf-8") as file:
            extra = json.load(file)
    results: list = []
    for path in a.results:
        results += read(path)
        if len(results) > MOST:
            raise Refused(f"{path}: more than {MOST} results for one page")
    order = {name: k + 1 for k, name in enumerate(extra.get("order", []))}
    results.sort(key=lambda r: order.get(r["name"], 0) if r["kind"] == "paper" else 0)
    _names(results)
    if a.output.endswith((".svg", ".png")):
        write(a.output, _single(results, a))
        return
    if a.figures and not os.path.isdir(a.figures):
        raise Refused(f"{a.figures}: no such folder, expected one for the figures")
    for r in results:
        if r["kind"] == "paper":
            from .agreement import agreement
            r["figures"] = agreement(r) + r["figures"]
    if a.claims != "alone":
        _draw_all(results, a)
    claims = extra.get("claims", [])
    if claims and a.figures:
        from .agreement import claims_figure
        svg, why = _draw(claims_figure(claims), True)
        if why:
            raise Refused(f"the figure of the claims cannot be drawn: {why}")
        write(os.path.join(a.figures, "claims.svg"), svg)
    _explain(results)
    write(a.output, _page(results, claims, a))
    if not a.quiet and a.output != "-":
        print(f"{a.name}: {len(results)} results written to {a.output}", file=sys.stderr)


def main(argv: Optional[list] = None) -> int:
    a = _arguments(argv)
    warnings.simplefilter("ignore")  # of matplotlib, about letters and room
    try:
        run(a)
    except Refused as error:
        print(f"{a.name}: {error}", file=sys.stderr)
    except ImportError as error:
        print(f"{a.name}: pages and figures need the Python package {error.name}: "
              + INSTALL.format(error.name), file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    else:
        return 0
    return 1
