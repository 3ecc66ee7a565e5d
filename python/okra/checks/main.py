"""The program okra-audit: okra score with intervals, okra audit, split, explain and next."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Optional

import numpy as np

from . import intervals
from .._errors import OkraError
from .._kernel import metric_is_loss
from .files import Refused, column, finish, load, numbers, result


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(2)


def _parser(name: str, about: str) -> argparse.ArgumentParser:
    p = _Parser(prog=f"okra {name}", description=about, allow_abbrev=False)
    p.add_argument("--json", action="store_true", help="print what was found as JSON on standard output")
    p.add_argument("-q", "--quiet", action="store_true", help="no warnings; what was asked for is still printed")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random: same seed, same result")
    p.add_argument("--data", default="", metavar="DIR", help="folder in which data files are looked for")
    p.add_argument("--header", default="auto", choices=["auto", "yes", "no"],
                   help="is the first line of a table the names of its columns?")
    return p


# ---- score ----

def _metrics(given: list) -> list:
    """Names between commas; a piece "param=value" belongs to the metric before it."""
    out: list = []
    for text in given:
        depth, piece = 0, ""
        for letter in text + ",":
            depth += (letter == "(") - (letter == ")")
            if letter != "," or depth:
                piece += letter
                continue
            head = piece.split("(")[0].split(":")[0]
            if out and "=" in head:
                out[-1] += "," + piece
            else:
                out.append(piece)
            piece = ""
    return out


def _program_values(a: argparse.Namespace) -> dict:
    """Values an object of --lists or --model, by the program."""
    from okra.__main__ import program
    specs = ["feature-loss"] if a.model and not a.lists else _metrics(a.metric)
    found = {}
    with tempfile.TemporaryDirectory(prefix="okra-") as folder:
        path = os.path.join(folder, "each.npy")
        for spec in specs:
            words = [program() or "okra", "score", "--quiet", "--y", a.y, "--each", path, "--header", a.header]
            for name in ("lists", "model", "x", "candidates", "data"):
                if getattr(a, name):
                    words += [f"--{name}", getattr(a, name)]
            words += ["--metric", spec] if spec != "feature-loss" else []
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Refused(done.stderr.strip().split(": ", 1)[-1])
            found[spec] = np.load(path).ravel()
    return found


def _score(argv: list) -> int:
    p = _parser("score", __doc__)
    for name in ("y", "model", "x", "each", "image", "lists", "candidates", "sample-weight", "groups", "threads", "memory"):
        p.add_argument(f"--{name}", default="")
    p.add_argument("--strict", action="store_true")
    p.add_argument("--yhat", action="append", default=[])
    p.add_argument("--metric", action="append", default=[])
    p.add_argument("--interval", type=float, default=95)
    a = p.parse_args(argv)
    a.typed, level = ["score", *argv], a.interval or 95
    for name in ("each", "image"):
        if getattr(a, name):
            raise Refused(f"--{name} has no use with --interval, --groups and several --yhat: score once without them")
    y = load(a.y, a)
    n = len(y)
    weight = numbers(a.sample_weight, a, n, "sample-weight") if a.sample_weight else None
    groups = column(a.groups, a, n, "groups") if a.groups else None
    scores, pairs = [], []
    if a.yhat:
        predictions = [load(path, a, y) for path in a.yhat]
        for spec in _metrics(a.metric):
            for path, one in zip(a.yhat, predictions):
                scores.append({"yhat": path, **intervals.score(y, one, spec, groups, level, weight, a.seed)})
            for path, one in zip(a.yhat[1:], predictions[1:]):
                pairs.append({"first": a.yhat[0], "second": path, **intervals.compare(
                    y, predictions[0], one, spec, groups, level, weight, a.seed)})
    else:
        for spec, values in _program_values(a).items():
            loss = spec == "feature-loss" or metric_is_loss(spec)
            scores.append({"yhat": a.lists or a.model, "metric": spec, "loss": loss,
                           **intervals.mean_interval(values, weight, groups, level, a.seed)})
    for one, p_value in zip(pairs, intervals.holm([q["p"] for q in pairs])):
        one["p_holm"] = p_value
    units = "groups" if groups is not None else "rows"
    made = result("score", "Predictions against the truth", a, count=n, scores=scores, comparisons=pairs,
                  interval=level, drawn=units)
    rows = [{"label": f"{s['metric']}" + (f", {s['yhat']}" if len(a.yhat) > 1 else ""), "cells": {
        "value": {"okra": s["value"]}, "standard error": {"okra": s["se"]}, "from": {"okra": s["low"]},
        "to": {"okra": s["high"]}}} for s in scores]
    made["tables"].append({"id": "scores", "title": f"Scores with intervals of {level:g} %, drawn by {units}",
                           "metric": "see each row", "better": "neither",
                           "columns": ["value", "standard error", "from", "to"], "rows": rows})
    if pairs:
        made["tables"].append({"id": "comparisons", "title": "Differences in pairs", "metric": "second less first",
                               "better": "neither", "columns": ["difference", "from", "to", "p", "p (Holm)"], "rows": [
                                   {"label": f"{q['metric']}: {q['second']} less {q['first']}", "cells": {
                                       "difference": {"okra": q["difference"]}, "from": {"okra": q["low"]},
                                       "to": {"okra": q["high"]}, "p": {"okra": q["p"]},
                                       "p (Holm)": {"okra": q["p_holm"]}}} for q in pairs]})
    lines = [f"{s['metric']}" + (f"\t{s['yhat']}" if len(a.yhat) > 1 else "") +
             f"\t{s['value']:.10g}\tse {s['se']:.3g}\t{level:g}% {s['low']:.6g} to {s['high']:.6g}" for s in scores]
    lines += [f"{q['metric']}\t{q['second']} less {q['first']}\t{q['difference']:.6g}\tse {q['se']:.3g}\t"
              f"{level:g}% {q['low']:.6g} to {q['high']:.6g}\t" +
              ("no p-value: the metric has no value an object" if q["p"] is None else f"p {q['p']:.3g}") +
              (f"\tHolm {q['p_holm']:.3g}" if len(pairs) > 1 and q["p"] is not None else "") for q in pairs]
    few = scores[0]["units"] if scores else 0
    if few < 20:
        made["remarks"].append(f"{few} {units}: intervals of so few are rough")
    if len(pairs) > 1:
        made["remarks"].append(f"{len(pairs)} comparisons: one of 20 true nulls has p < 0.05; go by Holm's p-values")
    if not a.quiet:
        for text in made["remarks"]:
            print(f"okra score: {text}", file=sys.stderr)
    finish(made, "\n".join(lines), a)
    return 0


COMMANDS = {"score": _score}


def main(argv: Optional[list] = None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] not in COMMANDS:
        print(f"okra-audit: expected one of {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    name = f"okra {argv[0]}"
    if "-q" in argv or "--quiet" in argv:
        warnings.simplefilter("ignore")
    else:
        warnings.showwarning = lambda message, *_: print(f"{name}: warning: {message}", file=sys.stderr)
    try:
        return COMMANDS[argv[0]](argv[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Refused, OkraError, ValueError, OSError, MemoryError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1
