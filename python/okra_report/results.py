"""Results of okra (docs/results-format.md): reading them, and what pages say of their cells."""
from __future__ import annotations

import json
import math
import re
import sys
from typing import Any

FORMAT = 1
MOST = 5000  # results of one page
PAGE_KEYS = ("file", "svg", "why", "words")  # what pages add to a figure, and no result may bring
_MET = ("reproduced as printed", "reproduced after one constant", "reproduced under a found reading")
VERDICTS = (*_MET, "differs", "not comparable")  # on cells
CLAIMS = (*_MET, "fails", "undecided", "not comparable")
# What a terminal or a page would obey: controls, changes of direction, halves of characters.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Refused(Exception):
    """What was given is no result; the message says why."""


def printable(text: str) -> str:
    """One line that nothing obeys."""
    return OBEYED.sub(lambda m: "".join(
        f"\\x{b:02x}" for b in m.group().encode("utf-8", "surrogatepass")), re.sub(r"[\r\n]", " ", text))


def _tidy(value: Any) -> Any:
    """The same with printable texts, and None for numbers that do not exist."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return float(value) if abs(value) < 1e308 else None
    if isinstance(value, list):
        return [_tidy(v) for v in value]
    if isinstance(value, dict):
        return {printable(k): _tidy(v) for k, v in value.items()}
    return value


LARGEST = 1 << 29  # bytes of a file of results


def read(path: str) -> list:
    """The results of a file ("-": standard input)."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise Refused(f"{path}: more than {LARGEST >> 20} MiB, expected a result that a command wrote with --json")
        if data[:2] == b"PK":
            raise Refused(f"{path}: an okra model, index or archive, not a result; "
                          f"'okra info {path}' describes a model, and commands with --json write results")
        value = _tidy(json.loads(data.decode("utf-8")))
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: no text, expected a result that a command wrote with --json") from error
    except json.JSONDecodeError as error:
        raise Refused(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}; expected a "
                      "result that a command wrote with --json") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: {error}") from error
    found = value if isinstance(value, list) else [value]
    if not found:
        raise Refused(f"{path}: an empty list, expected results of okra")
    for i, one in enumerate(found[:MOST + 1]):
        if not (isinstance(one, dict) and isinstance(one.get("kind"), str)
                and type(one.get("format")) is int):
            raise Refused(f"{path}: element {i} is no result of okra: expected an object with the "
                          "fields kind and format")
        if one["format"] != FORMAT:
            raise Refused(f"{path}: format {one['format']}, expected {FORMAT}: a newer okra wrote it")
    return [_result(one) for one in found]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> list:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _result(one: dict) -> dict:
    """With every field of the type that docs/results-format.md gives it."""
    out = dict(one, tables=[], figures=[{k: v for k, v in f.items() if k not in PAGE_KEYS}
                                        for f in _objects(one.get("figures"))])
    for key in ("name", "title", "paper", "command", "date", "okra", "commit", "machine", "engine", "mode"):
        out[key] = text(one.get(key))
    out["name"] = out["name"] or one["kind"]
    out["title"] = out["title"] or out["name"]
    for key in ("deviations", "readings", "remarks"):
        out[key] = [v for v in one.get(key) or [] if isinstance(v, str)] if isinstance(
            one.get(key), list) else []
    out["checks"] = [{k: text(check.get(k)) for k in ("check", "light", "says")} for check in _objects(one.get("checks"))]
    for t in _objects(one.get("tables")):
        rows = [{"label": text(r.get("label")), "cells": {
            k: c for k, c in r["cells"].items() if isinstance(c, dict)} if isinstance(
                r.get("cells"), dict) else {}} for r in _objects(t.get("rows"))]
        columns = [c for c in t.get("columns") or [] if isinstance(c, str)] if isinstance(
            t.get("columns"), list) else []
        table = {k: text(t.get(k)) for k in ("id", "title", "metric", "better", "spread", "yardstick")}
        table.update(columns=columns, rows=rows)
        table["compared"] = any(number(r["cells"].get(c, {}).get("paper"))
                                for r in rows for c in columns)
        _fill(table)
        out["tables"].append(table)
    return out


# ---- cells ----

def _digits(value: Any) -> int:
    """Decimals that a number was printed with, at most 4."""
    value = value if number(value) else 0
    return next(d for d in range(5) if d == 4 or abs(
        value * 10**d - round(value * 10**d)) <= 1e-6 * max(1, abs(value)))


def _survey(cells: list) -> tuple:
    """The most decimals of the paper (-1: it has none), the largest value."""
    printed = [max(_digits(c.get("paper")), _digits(c.get("paper_sd"))) for c in cells
               if number(c.get("paper"))]
    values = [abs(c[k]) for c in cells for k in ("okra", "paper") if number(c.get(k))]
    return max(printed, default=-1), max(values, default=0)


def _decimals(table: dict, column: str, whole: tuple) -> int:
    """As many as the paper prints, else one from 10 on and four below."""
    if "second" in table["metric"]:
        return 2
    if "%" in column and "gain" in column:
        return 1
    own, most = _survey([r["cells"][column] for r in table["rows"] if column in r["cells"]])
    if own >= 0 and most < 1e6:
        return max(own, 1)
    if 10 <= most < 1e6:
        return 1
    return whole[0] if whole[0] > 0 and whole[1] < 10 else 4


def show(value: float, decimals: int) -> str:
    """1.234e-05 where these decimals would show nothing or too much."""
    small = value != 0 and abs(value) < 0.5 * 10**-decimals
    if small and decimals < 3:
        return f"{value:.1g}"
    return f"{value:.3e}" if small or abs(value) >= 1e9 else f"{value:.{decimals}f}"


def _mean(cell: dict, mean: str, sd: str, decimals: int) -> str:
    if not number(cell.get(mean)):
        return "–"
    spread = cell.get(sd)
    tail = f" ± {show(spread, decimals)}" if number(spread) and spread > 0 else ""
    return show(cell[mean], decimals) + tail


def _difference(cell: dict) -> str:
    """From the paper's value to ours, in standard errors where they are known."""
    z = cell.get("z")
    if number(z):
        return f"z {z:+.1f}" if abs(z) < 1e5 else f"z {z:+.1e}"
    if number(cell.get("okra")) and number(cell.get("paper")):
        d = cell["okra"] - cell["paper"]
        return f"{'+' if d > 0 else ''}{show(d, 1 if abs(d) >= 1 else 4)}, no spread"
    return "–"


def _fill(table: dict) -> None:
    """What a page writes into each cell; reasons are numbered and said once."""
    whole = _survey([c for r in table["rows"] for c in r["cells"].values()])
    decimals = {c: _decimals(table, c, whole) for c in table["columns"]}
    table["reasons"] = []
    table["seen"] = False
    for row in table["rows"]:
        row["run"] = any(number(c.get("okra")) for c in row["cells"].values())
        for column in table["columns"]:
            cell = row["cells"].get(column)
            if cell is None:
                continue
            verdict = cell.get("verdict") if cell.get("verdict") in VERDICTS else ""
            printed = number(cell.get("paper"))
            why = text(cell.get("why"))
            asks = printed and verdict not in _MET and why
            if asks and why not in table["reasons"]:
                table["reasons"].append(why)
            cell.update(ours=_mean(cell, "okra", "okra_sd", decimals[column]), printed=printed,
                        theirs=_mean(cell, "paper", "paper_sd", decimals[column]),
                        apart=_difference(cell), verdict=verdict, seen=cell.get("seen") is True,
                        mark=text(cell.get("mark")),
                        reason=table["reasons"].index(why) + 1 if asks else 0)
            table["seen"] = table["seen"] or cell["seen"]


def counts(result: dict) -> list:
    """How many cells of a result have which verdict."""
    cells = [c for t in result["tables"] for r in t["rows"] for k, c in r["cells"].items()
             if number(c.get("paper"))]
    return [sum(c.get("verdict") == v for c in cells) for v in VERDICTS]


def seconds(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{int(value) // 60} min {int(value) % 60} s"


def origin(r: dict) -> str:
    """How it was made: "okra paper x --full · 2026-01-31 · 12 s · ..." """
    parts = [r["command"], r["date"], "okra " + r["okra"] if r["okra"] else "",
             "commit " + r["commit"] if r["commit"] else "",
             seconds(r["seconds"]) if number(r.get("seconds")) else "", r["machine"]]
    if type(r.get("threads")) is int:
        parts.append(f"{r['threads']} thread" + ("" if r["threads"] == 1 else "s"))
    parts.append("engine " + r["engine"] if r["engine"] not in ("", "host") else "")
    return " · ".join(p for p in parts if p)


def file_name(*parts: str) -> str:
    """A file's name or the anchor of a heading: letters, digits and dashes alone."""
    return re.sub(r"[^a-zA-Z0-9]", lambda m: "-" * len(m.group().encode()), "-".join(parts))
