#!/usr/bin/env python3
"""page.py JSON [RESULTS.jsonl...] [--check NAME LOG COMMIT]...: docs/reports/fuzzing.md out of the numbers in JSON.
page.py JSON --verify: the page alone, and an error where its picture is not of these numbers.
page.py --commit: which commit this is, to be asked before an attack begins.

What run.bash wrote (RESULTS.jsonl) is added to JSON first; a run counts once, however often its file is
given. --check takes what another attack came to from the end of its LOG: "20000 random inputs, 0 failures".
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parents[1] / "tools" / "docs"))
import pictures  # noqa: E402

SOURCES = [f":/{folder}" for folder in ("src", "include", "cli", "engines", "papers")]


def purpose(name):
    """The comment that the target opens with, its first sentence."""
    text = (ROOT / f"{name}.c").read_text()
    comment = re.match(r"/\*(.*?)\*/", text, re.S)
    words = " ".join(re.sub(r"\n \*", " ", comment.group(1)).split()) if comment else ""
    words = re.sub(rf"^{name}\.c: ", "", words)
    return re.split(r"(?<=[a-z)])[.:;] ", words)[0].rstrip(".")


def add(kept, path):
    """Adds the runs of a file that are not there yet."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    known = {run["run"] for run in kept["runs"]}
    for run in (line for line in lines if "commit" in line and line["run"] not in known):
        rows = [line for line in lines if line["run"] == run["run"] and "target" in line]
        run["executions"] = sum(row["executions"] for row in rows)
        run["findings"] = sum(row["findings"] for row in rows)
        kept["runs"].append(run)
        for row in rows:
            one = kept["targets"].setdefault(row["target"], {"executions": 0, "seconds": 0})
            one["executions"] += row["executions"]
            one["seconds"] += row["seconds"]
            one["coverage"] = max(one.get("coverage", 0), row["coverage"])
            one["last"] = date(run)


def commit():
    """The commit, and whether sources differ from it."""
    found, changes = (subprocess.run(["git", "-C", ROOT, *ask], capture_output=True, text=True).stdout.strip()
                      for ask in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--", *SOURCES)))
    return (found or "unknown") + ("+changes" if changes else "")


def check(kept, name, log, at):
    """Keeps the last whole run of another attack."""
    found = re.findall(r"^(\d+) .*, (\d+) (?:faults|failures)", pathlib.Path(log).read_text(), re.M)
    if not found:
        raise SystemExit(f"{log} does not end in '20000 ..., 0 faults'")
    count, faults = found[-1]
    kept["checks"][name] = {"count": int(count), "faults": int(faults), "commit": at,
                            "date": datetime.date.today().isoformat()}


def date(run):
    return f"{run['run'][:4]}-{run['run'][4:6]}-{run['run'][6:8]}"


def spaced(number):
    return f"{number:,}".replace(",", " ")


def figure(kept):
    """The targets that were run least: where to fuzz next."""
    least = sorted((one["executions"], name) for name, one in kept["targets"].items() if (ROOT / f"{name}.c").exists())[:12]
    return {"id": "least", "type": "bars", "title": "The twelve targets with the fewest executions",
            "y_label": "million executions", "labels": [name.replace("fuzz_", "") for _, name in least],
            "series": [{"name": "executions", "y": [round(count / 1e6, 4) for count, _ in least]}]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("json", type=pathlib.Path, nargs="?")
    parser.add_argument("results", type=pathlib.Path, nargs="*")
    parser.add_argument("--check", nargs=3, action="append", default=[])
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--commit", action="store_true")
    a = parser.parse_args()
    if a.commit:
        print(commit())
        return
    kept = json.loads(a.json.read_text()) if a.json.exists() else {"runs": [], "targets": {}, "checks": {}}
    for path in a.results:
        add(kept, path)
    for given in a.check:
        check(kept, *given)
    if a.results or a.check:
        a.json.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    rows = [(n, kept["targets"][n]) for n in sorted(kept["targets"]) if (ROOT / f"{n}.c").exists()]
    print("# How much okra was fuzzed\n")
    print("`make fuzz` runs every target under the address and undefined-behaviour sanitizers, adds what it did to\n"
          "`docs/reports/fuzzing.json`, and writes this page from it. `make fuzz HOST=name` does so on another machine. What a\n"
          "target finds becomes a file of its corpus, which the ordinary tests replay. Coverage is the number of edges of\n"
          "the program that the inputs reach.\n")
    drawn = figure(kept)
    picture = a.json.with_suffix(".svg")
    if a.verify and not pictures.same(drawn, picture):
        raise SystemExit(f"{picture} is not drawn from {a.json}: make fuzz draws it")
    if not a.verify and kept["runs"]:
        pictures.draw(drawn, picture)
    if kept["runs"]:
        print("![The twelve targets with the fewest executions](fuzzing.svg)\n")
    print(f"In all: {spaced(sum(one['executions'] for _, one in rows))} executions.\n")
    print("| target | what it reads | executions | seconds of a processor | coverage | last run |\n"
          "| --- | --- | ---: | ---: | ---: | --- |")
    for name, one in rows:
        print(f"| `{name}` | {purpose(name)} | {spaced(one['executions'])} | {spaced(one['seconds'])} | "
              f"{one.get('coverage', '')} | {one['last']} |")
    print("\n## Runs\n\n| date | commit | processors | seconds | executions | findings |\n"
          "| --- | --- | ---: | ---: | ---: | ---: |")
    for run in kept["runs"]:
        print(f"| {date(run)} | `{run['commit']}` | {run.get('processors', '')} | {run.get('seconds', '')} | "
              f"{spaced(run['executions'])} | {run['findings']} |")
    print("\n## Other attacks\n\nThe last run of `make mutate`, `make memory` and `make kill`.\n\n| attack | times | faults | date | commit |\n"
          "| --- | ---: | ---: | --- | --- |")
    for name, one in sorted(kept["checks"].items()):
        print(f"| {name} | {spaced(one['count'])} | {one['faults']} | {one['date']} | `{one['commit']}` |")


if __name__ == "__main__":
    main()
