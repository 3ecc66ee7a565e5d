"""No page that people write holds a measured number: those are in the pages that commands write
(docs/reports/results.md, docs/reports/results-quick.md, docs/reports/benchmarks.md), which the others link to."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WRITTEN_BY_COMMANDS = {"results.md", "claims.md", "results-quick.md", "benchmarks.md", "benchmarks-cuda.md",
                       "fuzzing.md", "independent.md", "audits.md", "paper.md"}
PATTERNS = {
    "a measurement": r"\bmeasured\b[^.]*\d",
    "a spread": r"\d ?± ?\d",
    "a time": r"\d (ms|s|seconds|minutes|min|hours)\b(?! at most)",
    "a speed": r"\d(\.\d+)?( times|×|x)? (faster|slower|quicker)",
    "a size": r"\d(\.\d+)? ?(GB|GiB)\b",
    "a result": r"\b\d?\.\d{3,}\b",
    "a table of results": r"\| *\d+\.\d+ *\|",
    "a count of results": r"\d of (all )?\d[\d,]* (results|runs|cases)",
}


def prose(path):
    """Lines outside blocks of code and inline code."""
    inside = False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", "", line)


def findings(paths):
    for path in paths:
        for number, line in prose(path):
            for what, pattern in PATTERNS.items():
                if re.search(pattern, line):
                    yield f"{os.path.relpath(path, ROOT)}:{number}: {what}: {line.strip()}"


pages = [p for p in [os.path.join(ROOT, n) for n in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] +
         sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
         if os.path.basename(p) not in WRITTEN_BY_COMMANDS]
assert len(pages) > 10
# The patterns find what they are for.
for sample in ("takes 66 s of time", "gains 17 ± 5 %", "0.2082 without", "10 times faster",
               "998 of 1,000 results", "and 1.0 GB.", "| 2.3 | 0.52 |", "(measured: 6e-12 relative)"):
    assert any(re.search(p, sample) for p in PATTERNS.values()), sample
found = list(findings(pages))
print("\n".join(found))
sys.exit(bool(found))
