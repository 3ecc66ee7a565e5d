#!/usr/bin/env python3
"""page.py JSON: docs/fuzzing.md out of the numbers that run.py recorded, on standard output."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent


def purpose(name):
    """The comment that the target opens with, its first sentence."""
    text = (ROOT / f"{name}.c").read_text()
    comment = re.match(r"/\*(.*?)\*/", text, re.S)
    words = " ".join(re.sub(r"\n \*", " ", comment.group(1)).split()) if comment else ""
    words = re.sub(rf"^{name}\.c: ", "", words)
    return re.split(r"(?<=[a-z)])[.:;] ", words)[0].rstrip(".")


def main():
    kept = json.loads(pathlib.Path(sys.argv[1]).read_text())
    rows = [(n, kept[n]) for n in sorted(kept) if (ROOT / f"{n}.c").exists()]
    total = sum(one["executions"] for _, one in rows)
    print("# How much okra was fuzzed\n")
    print("`make fuzz` runs every target under the address and undefined-behaviour sanitizers, adds what it did to\n"
          "`docs/fuzzing.json`, and writes this page from it. What a target finds becomes a file of its corpus, which the\n"
          "ordinary tests replay.\n")
    print(f"In all: {total:,} executions.\n".replace(",", " "))
    print("| target | what it reads | executions | seconds | last run |\n| --- | --- | ---: | ---: | --- |")
    for name, one in rows:
        print(f"| `{name}` | {purpose(name)} | {one['executions']} | {one['seconds']} | {one['last']} |")


if __name__ == "__main__":
    main()
