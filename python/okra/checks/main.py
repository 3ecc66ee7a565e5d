"""The program okra-audit: okra score with intervals, okra audit, split, explain and next."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Optional

import numpy as np

from okra_report.files import write

from . import intervals
from .._errors import OkraError
from .._kernel import metric_is_loss
from .._library import Context
from .files import Refused, column, find, finish, load, load_inputs, numbers, result, show


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(2)


class _Several(argparse.Action):
    """A flag that may come again: its values, a line each."""

    def __call__(self, parser: Any, names: Any, value: Any, flag: Any = None) -> None:
        before = getattr(names, self.dest)
        setattr(names, self.dest, f"{before}\n{value}" if before else value)


def _parser(name: str, **more: Any) -> argparse.ArgumentParser:
    """What every command takes. cli/report/audit.c has the tables of flags with their help."""
    p = _Parser(prog=f"okra {name}", allow_abbrev=False, **more)
    p.add_argument("--json", action="store_true")
    p.add_argument("-q", "--quiet", action="store_true")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--data", default="")
    p.add_argument("--header", default="auto", choices=["auto", "yes", "no"])
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--memory", default="")
    p.add_argument("--strict", action="store_true")
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
            for name in ("lists", "model", "x", "candidates", "data", "threads", "memory"):
                if getattr(a, name):
                    words += [f"--{name}", str(getattr(a, name))]
            words += ["--strict"] if a.strict else []
            words += ["--metric", spec] if spec != "feature-loss" else []
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Refused(done.stderr.strip().split(": ", 1)[-1])
            found[spec] = np.load(path).ravel()
    return found


def _score(argv: list) -> int:
    p = _parser("score")
    for name in ("y", "model", "x", "each", "image", "lists", "candidates", "sample-weight", "groups"):
        p.add_argument(f"--{name}", default="")
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
              f"p {q['p']:.3g}" + (f"\tHolm {q['p_holm']:.3g}" if len(pairs) > 1 else "") for q in pairs]
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


# ---- audit ----

def _fit_options(words: list) -> dict:
    """Flags of okra fit: --name VALUE or --name=VALUE."""
    out, at = {}, 0
    while at < len(words):
        word = words[at]
        if not word.startswith("--") or len(word) == 2:
            raise Refused(f"'{word}' is no flag; 'okra audit --help' lists them")
        name, equals, value = word[2:].partition("=")
        if not equals:
            at += 1
            if at == len(words):
                raise Refused(f"--{name} needs a value")
            value = words[at]
        out[name] = value
        at += 1
    return out


def _audit(argv: list) -> int:
    from .audit import NAMES, audit
    p = _parser("audit")
    for name in ("x", "y", "test-x", "test-y", "model", "yhat", "metric", "groups", "within", "mass-window", "names",
                 "candidates", "errors", "p-values", "checks", "fail-on"):
        p.add_argument(f"--{name}", default="", action=_Several if name in ("x", "test-x") else "store")
    p.add_argument("--permutations", type=int, default=200)
    p.add_argument("-o", "--output", default="")
    a, rest = p.parse_known_args(argv)
    a.typed = ["audit", *argv]
    if a.permutations < 19:
        raise Refused(f"--permutations is {a.permutations}, expected 19 or more: fewer show nothing at 5 %")
    options = _fit_options(rest)
    checks = a.checks.split(",") if a.checks else NAMES
    fail = [word.partition(":") for word in a.fail_on.split(",")] if a.fail_on else []
    for name, _, light in fail:
        if name not in (*NAMES, "any") or light not in ("", "yellow", "red"):
            raise Refused(f"--fail-on is '{a.fail_on}', expected names of checks or any, such as leak or any:yellow")
        if a.checks and name not in ("any", *checks):
            raise Refused(f"--fail-on {name}: it is not among --checks")
    if a.yhat and (a.model or set(options) - {"kx", "ky"}):
        raise Refused(f"--yhat judges predictions: leave out --{'model' if a.model else min(set(options) - {'kx', 'ky'})}")
    if bool(a.test_x) != bool(a.test_y):
        raise Refused("give --test-x and --test-y, or neither")
    if not (a.y if a.yhat else a.model or a.x and a.y):
        raise Refused("give --x and --y, or --model, or --y and --yhat")
    if a.yhat and a.test_x and not a.x:
        raise Refused("--test-x with --yhat needs --x: the training inputs")
    from .._model import Model
    model = Model.load(find(a.model, a.data)) if a.model else None
    from .problem import inputs_of
    y = load(a.y, a) if a.y else model.outputs
    x = load_inputs(a.x, a, y=y) if a.x else inputs_of(model) if model else None
    predicted = load(a.yhat, a, y) if a.yhat else None
    test_x = load_inputs(a.test_x, a, x) if a.test_x else None
    test_y = load(a.test_y, a, y) if a.test_y else None
    judged = len(y if test_y is None else test_y)
    mixed = test_y if a.yhat and test_y is not None else y
    within = column(a.within, a, len(mixed), "within") if a.within else None
    if a.mass_window:
        try:
            within = np.floor(mixed.masses / float(a.mass_window))
        except (ValueError, ZeroDivisionError) as error:
            raise Refused(f"--mass-window is '{a.mass_window}', expected a width in Da") from error
    made = audit(x, y, test_x, test_y, options, model, predicted, a.metric,
                 column(a.groups, a, judged, "groups") if a.groups else None, within,
                 load(a.names, a) if a.names else None, load(a.candidates, a, y) if a.candidates else None,
                 np.asarray(load(a.errors, a).objects, dtype=float) if a.errors else None,
                 numbers(a.p_values, a, judged, "p-values") if a.p_values else None, checks, a.permutations, a.seed)
    told = result("audit", "Is the result real?", a, light=made["light"], rows=made["rows"],
                  checks=[{k: v for k, v in one.items() if k != "figure"} for one in made["checks"]])
    told["figures"] = [one["figure"] for one in made["checks"] if one["figure"]]
    if told["figures"] and any(one["check"] == "leak" for one in made["checks"]):
        parts = next(one for one in made["checks"] if one["check"] == "leak")["numbers"]["by_similarity"]
        told["tables"].append({"id": "similarity", "title": "By distance to the nearest training input", "metric": "loss",
                               "better": "lower", "columns": ["distance", "skill", "loss", "from", "to"], "rows": [
                                   {"label": f"quarter {k + 1}", "cells": {
                                       "distance": {"okra": q["distance"]}, "skill": {"okra": q["skill"]}, "loss": {"okra": q["loss"]},
                                       "from": {"okra": q["low"]}, "to": {"okra": q["high"]}}} for k, q in enumerate(parts)]})
    finish(told, "\n".join(f"{one['light']:<7} {one['check']:<11} {one['says']}" for one in made["checks"]), a)
    bad = False
    for one in made["checks"]:
        for name, _, light in fail:
            if one["light"] == "none" and name == one["check"]:
                raise Refused(f"--fail-on {name}: {one['says']}")
            bad |= name in ("any", one["check"]) and one["light"] in ("red", light or "red")
    return 3 if bad else 0


# ---- split, explain, next ----

def _split(argv: list) -> int:
    from .split import WAYS, split
    p = _parser("split")
    p.add_argument("--by", default="random", choices=WAYS)
    p.add_argument("--x", default="", action=_Several)
    p.add_argument("--key", default="")
    p.add_argument("--kx", default="linear")
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--inner", type=int, default=0)
    p.add_argument("-o", "--output", default="")
    a = p.parse_args(argv)
    a.typed = ["split", *argv]
    x = load_inputs(a.x, a) if a.x else None
    key = None
    if a.key:
        rows = len(load(a.key if ":" in a.key else "labels:" + a.key, a)) if x is None else len(x)
        key = column(a.key, a, rows, "key")
    made = split(x, a.by, a.folds, key, a.kx, a.inner, a.seed)
    folds, inner = made.pop("folds"), made.pop("inner", None)
    lines = [f"{a.folds} folds of {min(made['sizes'])} to {max(made['sizes'])} rows, {made['units']} units by {a.by}"]
    if "crossing" in made:
        cross = made["crossing"]
        lines.append(f"nearest object of another fold: distance {cross['nearest']:.4g} (random folds: "
                     f"{cross['nearest_random']:.4g}); {cross['equal']} rows have an equal one (random: {cross['equal_random']})")
    if a.output:
        table = folds[:, None] if inner is None else np.c_[folds, inner]
        head = [] if inner is None else [",".join(["fold"] + [f"inner{f}" for f in range(a.folds)])]
        write(a.output, "\n".join(head + [",".join(map(str, row)) for row in table]) + "\n")
    made.update(folds=folds, inner=inner)
    said = result("split", "Fair folds", a, **made)
    show(said, "" if a.output == "-" else "\n".join(lines), a)
    return 0


def _chosen_rows(text: str, n: int) -> list:
    try:
        rows = [int(word) for word in text.split(",")] if text else list(range(min(n, 10)))
    except ValueError:
        rows = [-1]
    if any(not 0 <= k < n for k in rows):
        raise Refused(f"--rows is '{text}', expected numbers from 0 to {n - 1} between commas")
    return rows


def _loaded(a: argparse.Namespace) -> tuple:
    from .._model import Model
    from .problem import inputs_of
    model = Model.load(find(a.model, a.data))
    return model, load_inputs(a.x, a, inputs_of(model))


def _drawn(row: int, x: Any, one: dict, share: np.ndarray) -> list:
    """Bars of the shares, and the input itself: atoms coloured, letters underlined, peaks labelled."""
    series = [{"name": "answer" if j == 0 else f"output {j}", "y": share[:60, j]} for j in range(min(share.shape[1], 4))]
    first, says = share[:, 0], "share of the answer"
    if one["margin"] is not None:
        first, says = np.asarray(one["margin"]), "share of the margin to the second answer"
        series.append({"name": "margin to the second", "y": first[:60]})
    out = [{"id": f"input-{row}", "type": "bars", "title": f"Shares of the parts of input {row}",
            "labels": [f"{name}" for name in one["parts"][:60]], "y_label": "share", "series": series}]
    head = {"id": f"parts-{row}", "title": f"Input {row}: {says}"}
    if x.kind == "graphs" and x.objects[0]:
        out.append({**head, "type": "molecules", "items": [{"smiles": x.objects[0], "label": f"input {row}", "shares": first}]})
    elif x.kind == "strings":
        out.append({**head, "type": "letters", "text": one["parts"], "shares": first})
    elif x.kind == "spectra":
        at = np.asarray(x.objects[0][0] if isinstance(x.objects[0], tuple) else x.objects[0], dtype=float)[:, 0]
        marks = [[at[k], first[k], f"{at[k]:.4f}"] for k in np.argsort(-np.abs(first), kind="stable")[:6]]
        out.append({**head, "type": "curve", "x_label": "m/z", "y_label": "share", "marks": marks,
                    "series": [{"name": "peaks", "x": at, "y": first, "stems": True}]})
    return out


def _explain(argv: list) -> int:
    from .explain import explain
    p = _parser("explain")
    p.add_argument("model")
    p.add_argument("--x", required=True, action=_Several)
    p.add_argument("--rows", default="")
    p.add_argument("--candidates", default="")
    p.add_argument("--top", type=int, default=5)
    p.add_argument("-o", "--output", default="")
    a = p.parse_args(argv)
    a.typed = ["explain", *argv]
    model, x = _loaded(a)
    rows = _chosen_rows(a.rows, len(x))
    answers = load(a.candidates, a, model.outputs) if a.candidates else None
    found = explain(model, x[rows], answers, a.top)
    made, lines = result("explain", "Which part decided", a, rows=[]), []
    for row, one in zip(rows, found):
        made["rows"].append({"row": row, **one})
        share = np.asarray(one["shares"], dtype=float).reshape(len(one["parts"]), -1)
        order = np.argsort(-np.abs(share).sum(axis=1), kind="stable")[:a.top]
        lines.append(f"input {row}" + ("" if one["exact"] else " (parts left out: shares do not add up)"))
        for k in order:
            lines.append(f"  {one['parts'][k]} (part {k})\t" + " ".join(f"{v:.4g}" for v in share[k][:8]) + (
                "" if one["margin"] is None else f"\tmargin {one['margin'][k]:.4g}"))
        lines.append("  pairs " + ", ".join(f"{q['pair']}: {q['weight']:.3g}" for q in one["pairs"]))
        made["figures"] += _drawn(row, x[[row]], one, share)
    finish(made, "\n".join(lines), a)
    return 0


def _next(argv: list) -> int:
    from .measure import next_inputs
    p = _parser("next")
    p.add_argument("model")
    p.add_argument("--x", required=True, action=_Several)
    p.add_argument("--count", type=int, default=10)
    p.add_argument("-o", "--output", default="")
    a = p.parse_args(argv)
    a.typed = ["next", *argv]
    model, x = _loaded(a)
    found = next_inputs(model, x, a.count, seed=a.seed)
    made = result("next", "What to measure next", a, **found)
    made["figures"].append({"id": "variance", "type": "curve", "title": "Mean variance over the pool", "x_label": "measured",
                            "y_label": "variance", "series": [{"name": "mean variance", "x": list(range(a.count + 1)),
                                                               "y": found["variance"]}]})
    finish(made, "\n".join(f"{row}\t{v:.6g}" for row, v in zip(found["chosen"], found["variance"][1:])), a)
    return 0


COMMANDS = {"score": _score, "audit": _audit, "split": _split, "explain": _explain, "next": _next}


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
        common = _parser(argv[0], add_help=False).parse_known_args(argv[1:])[0]
        Context.everywhere(common.threads, common.memory or None, common.strict)
        return COMMANDS[argv[0]](argv[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Refused, OkraError, ValueError, OSError, MemoryError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1
