"""docs/reports/benchmarks.md and docs/reports/benchmarks-cuda.md from the JSON lines of benchmarks.

page.py FILE...     takes the lines of a run (bench/out/*.jsonl) in the place of those that
                    docs/reports/benchmarks*.jsonl has of the same benchmark, and writes the page
page.py --check     says whether the pages are what the lines give; status 1 if one is not
"""
import ast
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools", "docs"))
import pictures  # noqa: E402

DOCS = os.path.join(HERE, "..", "docs", "reports")
# Benchmarks that need a machine of their own have pages of their own.
PAGES = {"bench_cuda": "benchmarks-cuda"}
HEAD_CUDA = """# Benchmarks on a GPU

Written from what `bench/bench_cuda.py` printed in one run on the machine named below; nothing here is
typed by hand. A claim is a ratio of two times of that run, or what its name says, beside the target
that it must reach. What was not measured is not listed.
"""
HEAD = """# Benchmarks

Written by `make bench` from what the benchmarks print; nothing here is typed by hand. A claim is a
ratio of two times taken in turns in one run, or what its name says, beside the target that it must
reach. The load is that of the machine when the benchmark began: where it is well above 0 others were
computing too, and single times are not to be relied on.
"""


def read(path):
    """Lines by benchmark, those of the run first."""
    runs, name = {}, None
    with open(path) as f:
        for line in f:
            if line.startswith("{"):
                item = json.loads(line)
                name = item.get("run", name)
                if "run" in item:
                    runs[name] = []
                if name is not None:
                    runs[name].append(item)
    return runs


def about(name):
    """The first sentence of the benchmark's own text."""
    path = os.path.join(HERE, name + ".py")
    text = ast.get_docstring(ast.parse(open(path).read())) if os.path.exists(path) else name
    return text.split("\n\n")[0].replace("\n", " ")


def number(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def row(item):
    sign = "≥" if item.get("better", "higher") == "higher" else "≤"
    target = f"{sign} {number(item['target'])}" if "target" in item else "–"
    met = {True: "yes", False: "**no**"}.get(item.get("met"), "–")
    name = item.get("bench") or f"cost of {item.get('cost')}"
    known = {"bench", "cost", "ratio", "target", "better", "met", "threads"}
    more = ", ".join(f"{k} {number(v)}" for k, v in item.items() if k not in known)
    ratio = number(item["ratio"]) if "ratio" in item else "–"
    return f"| {name} | {ratio} | {target} | {met} | {more} |".replace("|  |", "| |")


def figure(runs):
    """How many times better than its target each claim came out, sorted; below 1 it was not reached."""
    found = []
    for claims in (lines[1:] for _, lines in sorted(runs.items())):
        for c in claims:
            if (c.get("target") or 0) > 0 and (c.get("ratio") or 0) > 0 and c.get("met") is not None:
                better = c["ratio"] / c["target"]
                found.append((better if c.get("better", "higher") == "higher" else 1 / better, c["met"]))
    found.sort()
    places = [k + 1 for k in range(len(found))]
    return {"id": "claims", "type": "scatter", "title": "Claims against their targets", "log_y": True,
            "x_label": "claims, sorted", "y_label": "times better than the target", "series": [
                {"name": name, "x": [k for k, (_, met) in zip(places, found) if met == one],
                 "y": [v for v, met in found if met == one]}
                for name, one in (("reached", True), ("not reached", False)) if any(met == one for _, met in found)]}


def growth(runs):
    """Seconds against n, of claims and costs that differ in n alone, three of them at least: a series for each way."""
    found = {}
    for c in (c for lines in runs.values() for c in lines[1:]):
        name = c.get("bench") or c.get("cost") or ""
        size = re.search(r"n = ([\d,]+\d)", name)
        for key, value in c.items() if size and "busy" not in name else ():
            if key.endswith(("_s", "_seconds")):
                short = re.split(r":? ?,? ?(?:at )?n = ", name)[0]
                way = f"{short}: {re.sub('_s$|_seconds$', '', key).replace('_', ' ')}"
                found.setdefault(way, []).append((int(size[1].replace(",", "")), value))
    return {"id": "growth", "type": "curve", "title": "Seconds against n", "log_x": True, "log_y": True, "x_label": "n",
            "y_label": "seconds", "series": [{"name": way, "x": [n for n, _ in sorted(points)], "y": [v for _, v in sorted(points)]}
                                             for way, points in sorted(found.items()) if len({n for n, _ in points}) > 2]}


FIGURES = {"": figure, "-growth": growth}


def page(runs, head, name):
    drawn = figure(runs)
    met, other = (sum(c.get("met") is want for lines in runs.values() for c in lines[1:]) for want in (True, False))
    parts = [head]
    if drawn["series"]:
        parts.append(f"![Claims against their targets, sorted]({name}.svg)\n\nEach point is a claim: above 1 it reached its target. "
                     f"{met} claims did, {other} did not; a claim without a ratio above 0 has no point.\n")
    if growth(runs)["series"]:
        parts.append(f"![Seconds against n]({name}-growth.svg)\n\nHow these are measured: [Method](../benchmarks-method.md).\n")
    for name in sorted(runs):
        run, claims = runs[name][0], runs[name][1:]
        parts.append(f"## {name}\n\n{about(name)}\n\n{run['date']} · commit {run['commit']} · "
                     f"{run['machine']} · {run['threads']} threads · load {run['load']}\n\n"
                     "| claim | measured | target | met | seconds and more |\n|---|---:|---:|---|---|\n"
                     + "\n".join(row(c) for c in claims) + "\n")
    return "\n".join(parts)


def main(arguments):
    wrong = 0
    given = {}
    for path in arguments if arguments != ["--check"] else []:
        given.update(read(path))
    for name, head in (("benchmarks", HEAD), ("benchmarks-cuda", HEAD_CUDA)):
        lines, target = (os.path.join(DOCS, name + end) for end in (".jsonl", ".md"))
        runs = read(lines) if os.path.exists(lines) else {}
        if arguments == ["--check"]:
            if os.path.exists(target) != bool(runs) or (
                    runs and open(target).read() != page(runs, head, name)):
                print(f"docs/reports/{name}.md is not what docs/reports/{name}.jsonl gives: it was changed by "
                      "hand; bench/page.py writes it")
                wrong = 1
            for end, draw in FIGURES.items():
                if runs and draw(runs)["series"] and not pictures.same(draw(runs), os.path.join(DOCS, name + end + ".svg")):
                    print(f"docs/reports/{name}{end}.svg is not drawn from docs/reports/{name}.jsonl: bench/page.py draws it")
                    wrong = 1
            continue
        mine = {k: v for k, v in given.items() if PAGES.get(k, "benchmarks") == name}
        if not mine:
            continue
        runs.update(mine)
        with open(lines, "w") as f:
            f.writelines(json.dumps(item) + "\n" for run in sorted(runs) for item in runs[run])
        with open(target, "w") as f:
            f.write(page(runs, head, name))
        for end, draw in FIGURES.items():
            if draw(runs)["series"]:
                pictures.draw(draw(runs), os.path.join(DOCS, name + end + ".svg"))
    return wrong


sys.exit(main(sys.argv[1:]))
