#!/usr/bin/env python3
"""coverage.py BUILD: what tests that ran in BUILD (preset coverage) reached of src/.

Prints lines and branches by folder, and every refusal (REFUSE_IF, NOT_NULL, okra_fail_) that no test
met. Branches of a failing call that CHK and the like pass on are counted, not listed: `make memory`
meets those. Needs gcov.
"""
import collections
import json
import os
import re
import subprocess
import sys

REFUSAL = re.compile(r"REFUSE_IF|NOT_NULL|okra_fail_\(")


def reports(build):
    """What gcov says of each object of the library."""
    for folder, _, files in os.walk(os.path.join(build, "CMakeFiles", "okra_objects.dir")):
        names = [os.path.abspath(os.path.join(folder, f)) for f in files if f.endswith(".gcda")]
        if names:
            out = subprocess.run(["gcov", "--json-format", "--stdout", "-b"] + names, capture_output=True, text=True,
                                 cwd=build, check=True).stdout
            for line in filter(None, out.splitlines()):
                yield from json.loads(line)["files"]


def gather(build):
    """source -> line -> (times it ran, [times of each branch])"""
    found = collections.defaultdict(dict)
    for file in reports(build):
        path = file["file"].replace("../", "")
        path = path[path.find("src/"):]  # the compiler puts another name in the place of the root
        if not path.startswith("src/") or not os.path.exists(path):
            continue
        for line in file["lines"]:
            ran, branches = found[path].get(line["line_number"], (0, []))
            more = [b["count"] for b in line["branches"]]
            both = [a + b for a, b in zip(branches, more)] if len(branches) == len(more) else branches or more
            found[path][line["line_number"]] = (ran + line["count"], both)
    return found


def missed(path, lines):
    """Refusals that no test met."""
    with open(path, encoding="utf-8") as file:
        text = file.read().splitlines()
    for number, (ran, branches) in sorted(lines.items()):
        row = text[number - 1] if number <= len(text) else ""
        if REFUSAL.search(row) and (ran == 0 or 0 in branches):
            yield f"{path}:{number}: {row.strip()}"


def main():
    build = sys.argv[1]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(root)
    found = gather(build)
    if not found:
        sys.exit(f"{build}: no test ran there")
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for path, lines in found.items():
        for name in (path.split("/")[1], "src"):
            s = sums[name]
            s[0] += sum(ran > 0 for ran, _ in lines.values())
            s[1] += len(lines)
            s[2] += sum(sum(b > 0 for b in branches) for _, branches in lines.values())
            s[3] += sum(len(branches) for _, branches in lines.values())
    print(f"{'folder':12} {'lines':>14} {'branches':>15}")
    for name in sorted(sums, key=lambda n: (n == "src", n)):
        a, b, c, d = sums[name]
        print(f"{name:12} {a:6}/{b:<6} {100 * a / b:5.1f}% {c:6}/{d:<6} {100 * c / max(d, 1):5.1f}%")
    refusals = [m for path in sorted(found) for m in missed(path, found[path])]
    print(f"\nrefusals that no test met: {len(refusals)}")
    print("\n".join(refusals))


if __name__ == "__main__":
    main()
