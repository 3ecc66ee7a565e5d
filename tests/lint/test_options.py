"""Every option that names a file says in its table whether that file is read or written.

okra refuses to write over what it reads by these marks (cli/same.c). A row is
{"name", OKRA_OPTION_TYPE, ..., metavar, help}, or a macro that makes one: `OKRA_OPTION_##type` in
its body. Both are read here; a row that cannot be read is a fault, so that none is missed.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRING = r'"(?:[^"\\]|\\.)*"'
TYPE = re.compile(r"(?<!case )(?<![=:] )\bOKRA_OPTION_(\w+|##\s*\w+)\s*,")
MACRO = re.compile(r"#define\s+(\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*\n)")
FILE = re.compile(r"\b(FILE|MODEL|DIR|PATH)\b|\.(svg|csv|tsv|npy|okra|okx)\b", re.I)
NAMED = re.compile(r"^(output|plot|cells|each|truth)$|^test-(groups|.*weights)$")
WRITES = re.compile(r"\b(to write|[Ww]rite (the|a|each|what)|to make|[Dd]raw|go as|as \.?(tsv|csv|SVG"
                    r"|CSV|JSON|npy)|is kept|keep the|kept up)\b|page of|The ranked pairs|of all candidates")


def plain(source: str) -> str:
    """Without comments."""
    return re.sub(STRING + r"|/\*.*?\*/", lambda m: m[0] if m[0][0] == '"' else " ", source, flags=re.S)


def parts(text: str, at: int) -> list:
    """What commas separate inside the bracket that opens before `at`, or [] where none closes it."""
    found, depth, begin = [], 0, at
    for token in re.finditer(STRING + r"|[(){}\[\],]", text[at:]):
        place = at + token.start()
        if token[0] in "({[":
            depth += 1
        elif token[0] in ")}]":
            depth -= 1
        if depth < 0 or (token[0] == "," and depth == 0):
            found.append(text[begin:place].strip())
            begin = place + 1
        if depth < 0:
            return found
    return []


def joined(field: str) -> str:
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', field))


def rows(text: str, macros: dict) -> list:
    """(name, type, metavar, help) of every row; type None: it could not be read."""
    found = []
    for mark in TYPE.finditer(text):
        open_at = text.rfind("{", 0, mark.start())
        row = parts(text, open_at + 1)
        if mark[1].startswith("##"):
            continue  # the body of a macro: its uses are read below
        found.append((joined(row[0]), mark[1], row[7], row[8]) if len(row) == 9
                     else (text[open_at:mark.end()], None, "", ""))
    for macro, (names, body) in macros.items():
        for use in re.finditer(r"(?<!#define )\b" + macro + r"\(", text):
            values = dict(zip(names, parts(text, use.end())))
            row = [re.sub(r"\w+", lambda w: values.get(w[0], w[0]), f) for f in body]
            kind = row[1].replace("##", "").replace(" ", "").removeprefix("OKRA_OPTION_")
            found.append((joined(row[0]), kind if len(values) == len(names) else None, row[7], row[8]))
    return found


def macros_of(text: str) -> dict:
    """Macros that make a row of a type that is an argument: their arguments, and the row's fields."""
    return {m[1]: (re.findall(r"\w+", m[2]), parts(m[3].replace("\\\n", " "), m[3].replace("\\\n", " ").index("{") + 1))
            for m in MACRO.finditer(text) if "OKRA_OPTION_##" in m[3].replace("## ", "##")}


def faults(text: str, macros: dict) -> tuple:
    """The number of rows of a source file, and what they do not say."""
    found, all_rows = [], rows(text, macros)
    for name, kind, metavar, told in all_rows:
        metavar, told = joined(metavar), joined(told)
        named = FILE.search(metavar) or (kind == "TEXT" and NAMED.search(name))
        # "matrix:FILE", "file(W)": files in the midst of an expression, which cli/same.c finds
        if kind is None:
            found.append(f"a row cannot be read: {name}")
        elif named and kind not in ("READ", "WRITTEN"):
            found.append(f"{name} {metavar} is neither OKRA_OPTION_READ nor _WRITTEN")
        elif named and WRITES.search(told) and kind != "WRITTEN":
            found.append(f"{name} writes ('{told}') and is not OKRA_OPTION_WRITTEN")
    return len(all_rows), found


ROW = ('#define ROW(at, name, kind, field, metavar, help) \\\n    {name, OKRA_OPTION_##kind, (at) + '
       'offsetof(f, field), "", 1, 0, NULL, \\\n     metavar, help}\n')
CASES = [
    ('{"output", OKRA_OPTION_TEXT, offsetof(f, o), "", 1, 0, NULL, "FILE", "It"}', 1),
    ('{"output", OKRA_OPTION_READ, offsetof(f, o), "", 1, 0, NULL, "FILE", "The matrix "\n'
     ' "to write"}', 1),
    ('{"output", OKRA_OPTION_WRITTEN, offsetof(f, o), NULL, 1, 0, NULL, "FILE", "To write"}', 0),
    ('{"x", OKRA_OPTION_READ, offsetof(f, x), NULL, 1, 0, NULL, "FILE", "Inputs"}', 0),
    ('{"y", OKRA_OPTION_TEXT, offsetof(f, y), NULL, 1, 0, NULL, "lu|FILE", "Pairs"}', 1),
    ('{"plot", OKRA_OPTION_TEXT, offsetof(f, y), NULL, 1, 0, NULL, "a.svg", "It"}', 1),
    ('{"kx", OKRA_OPTION_TEXT, offsetof(f, kx), NULL, 1, 0, NULL, "EXPR", "Kernel"}', 0),
    ('{"x", OKRA_OPTION_READ, offsetof(f, x), NULL, 1, 0, NULL, "FILE", MORE, "Inputs"}', 1),
    (ROW + 'ROW(at, "bounds", TEXT, b, "FILE", "Intervals, n x d"),', 1),
    (ROW + '#define ROWS(at) \\\n    ROW(at, "bounds", READ, b, "FILE", "Intervals " \\\n "as .npy"), \\\n'
     '    ROW(at, "folds", INT, n, "N", "Folds")\n', 1),
    (ROW + 'ROW(at, "bounds", WRITTEN, b, "FILE", "Intervals as .npy"), ROW(at, "x", READ, x, "FILE", "X")', 0),
]
failures = [f"a table of the test has {faults(plain(t), macros_of(t))[1]}, not {n} faults: {t}"
            for t, n in CASES if len(faults(plain(t), macros_of(t))[1]) != n]
sources = {p: plain(p.read_text()) for folder in ("src", "cli", "papers")
           for p in sorted(ROOT.glob(f"{folder}/**/*.[ch]"))}
shared = {k: v for p, t in sources.items() if p.suffix == ".h" for k, v in macros_of(t).items()}
total = 0
for path, source in sources.items():
    count, found = faults(source, {**shared, **macros_of(source)})
    total += count
    failures += [f"{path.relative_to(ROOT)}: {fault}" for fault in found]
if total < 300:
    failures.append(f"only {total} rows of option tables were found")
print("\n".join(failures) or f"{total} rows of options say which files they write")
sys.exit(bool(failures))
