"""What numbers and figures of a page mean, in a sentence each."""
from __future__ import annotations

import json
import os
import re

from .figures import kind_of

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.json"), encoding="utf-8") as _file:
    _WORDS = json.load(_file)
KINDS, TYPES, RULE = _WORDS["kinds"], _WORDS["types"], _WORDS["rule"]
NUMBERS = _WORDS["numbers"]  # by the beginning of a metric's or column's name
FIGURES = _WORDS["figures"]  # by the id of a figure, without the number behind it
FACTS = _WORDS["facts"]  # fields of a result that a page shows


def number(name: str) -> str:
    """What a metric or column means, or ""."""
    name = name.lower().replace("_", "-")
    return next((words for start, words in NUMBERS if name.startswith(start)), "")


def table(t: dict) -> list:
    """What the numbers of a table mean, each said once."""
    names = [t["metric"], *t["columns"], *(row["label"] for row in t["rows"])]
    return list(dict.fromkeys(filter(None, map(number, names))))


def figure(f: dict) -> str:
    """What a figure shows, and what is good in it."""
    name = re.sub(r"-\d+$", "", str(f.get("id", "")))
    words = FIGURES.get(kind_of(f)) or FIGURES.get(name) or TYPES.get(str(f.get("type")), "")
    if words:
        return words
    label = number(str(f.get("y_label", "")))
    series = f.get("series") if isinstance(f.get("series"), list) else []
    band = any(isinstance(s, dict) and s.get("sd") for s in series)
    return (label + (" The band is one standard deviation to each side." if band else "")).strip()


def facts(r: dict) -> list:
    """Plain fields of a result as pairs of words and value."""
    found = [(words, r[key]) for key, words in FACTS
             if isinstance(r.get(key), (str, int, float)) and not isinstance(r.get(key), bool) and r[key] != ""]
    kernels = r.get("kernels") if isinstance(r.get("kernels"), dict) else {}
    found += [(f"kernel of the {side}puts", kernels[key]) for key, side in (("x", "in"), ("y", "out"))
              if isinstance(kernels.get(key), str)]
    return [(words, f"{v:.4g}" if isinstance(v, float) else str(v)) for words, v in found]


def shown(r: dict) -> str:
    """How many of the queries have figures, where not all have."""
    drawn = {m.group(1) for f in r["figures"] for m in [re.search(r"-(\d+)$", str(f.get("id", "")))] if m}
    tests = r.get("tests")
    few = r["kind"] == "ranked" and type(tests) is int and 0 < len(drawn) < tests
    return f"Figures of the first {len(drawn)} of {tests} queries." if few else ""


def title(results: list) -> str:
    """What a page shows, where nobody gave it a title."""
    if len(results) == 1:
        r = results[0]
        return f"{r['paper']}: {r['title']}" if r["paper"] else r["title"]
    if all(r["kind"] == "paper" for r in results):
        return f"The papers again: {len(results)} tables and figures"
    names = list(dict.fromkeys(r["title"] for r in results))
    return "Results of okra: " + "; ".join(names[:4]) + ("; …" if len(names) > 4 else "")
