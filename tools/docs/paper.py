"""paper.py [--check]: docs/reports/paper.md from tools/docs/paper.in.md and the committed numbers.

{BENCH|BEGINNING OF A CLAIM|FIELD} is a field of that line of docs/reports/benchmarks.jsonl (peer: the best of
its peers); {claims|VERDICT} counts verdicts in docs/reports/claims.md, all of them for `all`. What is not
there, or not once, is an error. --check fails where the page is not what this gives.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "docs" / "reports"


def benchmarks():
    """(benchmark, line) of every line."""
    run = None
    for line in (REPORTS / "benchmarks.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        run = item.get("run", run)
        yield run, item


def number(bench, claim, field):
    found = [item for run, item in benchmarks() if run == bench and item.get("bench", "").startswith(claim)]
    if len(found) != 1:
        sys.exit(f"paper.py: {bench} has {len(found)} lines that begin with {claim!r}, expected one")
    if field == "peer":
        field = re.search(r"best peer \((\w+)\)", found[0]["bench"]).group(1)
    value = found[0][field]
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def verdicts():
    """The second column of the tables of claims, without what follows the verdict."""
    rows = [line.split(" | ") for line in (REPORTS / "claims.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| ")]
    return [found.group(1) for row in rows if (found := re.match(r"\*\*(.+?)\*\*", row[1]))]


def fill(match):
    parts = " ".join(match.group(1).split()).split("|")
    if parts[0] != "claims":
        return number(*parts)
    found = verdicts()
    count = len(found) if parts[1] == "all" else found.count(parts[1])
    if not count:
        sys.exit(f"paper.py: no claim is {parts[1]!r}")
    return str(count)


text = re.sub(r"\{(\w+\|[^}]*)\}", fill, (ROOT / "tools/docs/paper.in.md").read_text(encoding="utf-8"))
page = REPORTS / "paper.md"
if sys.argv[1:] == ["--check"]:
    if page.read_text(encoding="utf-8") != text:
        sys.exit("docs/reports/paper.md is not what the results give: python3 tools/docs/paper.py writes it")
else:
    page.write_text(text, encoding="utf-8")
