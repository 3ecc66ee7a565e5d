"""Every option that names a file says in its table whether that file is read or written.

okra refuses to write over what it reads by these marks (cli/same.c).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = r'(?:"(?:[^"\\]|\\.)*"\s*)+'
ROW = re.compile(r'\{\s*"(?P<name>[\w-]+)",\s*OKRA_OPTION_(?P<type>\w+),[^{}]*?'
                 r'NULL,\s*(?P<metavar>' + TEXT + r'),\s*(?P<help>' + TEXT + r')\}', re.S)
SHORT = re.compile(r'\b(?:FILE_)?ROW\(\s*(?P<type>\w+),\s*"(?P<name>[\w-]+)",\s*\w+,\s*'
                   r'(?:NULL|' + TEXT + r'),\s*(?P<metavar>"[^"]*",\s*)?'
                   r'(?P<help>' + TEXT + r')\)', re.S)
FILE = re.compile(r"\b(FILE|MODEL|DIR)\b")
WRITES = re.compile(r"\b(to write|[Ww]rite (the|a|each|what)|to make|[Dd]raw|go as|as \.?(tsv|csv|SVG"
                    r"|CSV|JSON)|is kept|keep the|kept up)\b|page of|The ranked pairs")


def faults(text: str) -> list:
    """What the rows of a source file do not say."""
    found = []
    for row in [*ROW.finditer(text), *SHORT.finditer(text)]:
        kind, name = row["type"], row["name"]
        metavar = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', row["metavar"] or '"FILE"'))
        told = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', row["help"]))
        named = FILE.search(metavar) or (name == "output" and kind == "TEXT")
        if named and kind not in ("READ", "WRITTEN"):
            found.append(f"{name} {metavar} is neither OKRA_OPTION_READ nor _WRITTEN")
        elif named and WRITES.search(told) and kind != "WRITTEN":
            found.append(f"{name} writes ('{told}') and is not OKRA_OPTION_WRITTEN")
    return found


CASES = [
    ('{"output", OKRA_OPTION_TEXT, offsetof(f, o), "", 1, 0, NULL, "FILE", "It"}', 1),
    ('{"output", OKRA_OPTION_READ, offsetof(f, o), "", 1, 0, NULL, "FILE", "The matrix "\n'
     ' "to write"}', 1),
    ('{"output", OKRA_OPTION_WRITTEN, offsetof(f, o), NULL, 1, 0, NULL, "FILE", "To write"}', 0),
    ('{"x", OKRA_OPTION_READ, offsetof(f, x), NULL, 1, 0, NULL, "FILE", "Inputs"}', 0),
    ('{"y", OKRA_OPTION_TEXT, offsetof(f, y), NULL, 1, 0, NULL, "lu|FILE", "Pairs"}', 1),
    ('{"kx", OKRA_OPTION_TEXT, offsetof(f, kx), NULL, 1, 0, NULL, "EXPR", "Kernel"}', 0),
    ('FILE_ROW(READ, "cells", cells, "", "Every cell, as CSV"),', 1),
    ('FILE_ROW(WRITTEN, "cells", cells, "", "Every cell, as CSV"),', 0),
    ('ROW(READ, "plot", plot, "", "FILE.svg", "Draw it"),', 1),
]
failures = [f"a table of the test has {len(faults(t))} faults, not {n}: {t}"
            for t, n in CASES if len(faults(t)) != n]
rows = 0
for path in sorted([*ROOT.glob("src/**/*.c"), *ROOT.glob("cli/**/*.[ch]")]):
    source = path.read_text()
    rows += len(ROW.findall(source)) + len(SHORT.findall(source))
    failures += [f"{path.relative_to(ROOT)}: {fault}" for fault in faults(source)]
if rows < 100:
    failures.append(f"only {rows} rows of option tables were found")
print("\n".join(failures) or f"{rows} rows of options say which files they write")
sys.exit(bool(failures))
