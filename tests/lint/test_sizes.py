"""Files and functions stay short enough to be read: docs/rulebook.md, "Size".

A function of C begins and ends with a brace in the first column, as clang-format leaves it.
"""
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "src cli papers include plugins engines python tests tools bench examples".split()
ENDINGS = {".c", ".h", ".cpp", ".cu", ".py", ".bash", ".sh"}
FILE_MOST, FUNCTION_MOST, MEDIAN_MOST = 600, 80, 15
# Lines of C that a folder may have. The aim for src is 84,000: lower it when lines go.
BUDGET = {"src": 94_450, "cli": 13_500}


def functions(lines):
    """(line of the opening brace, lines between the braces)"""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            yield begin, number - begin - 1
            begin = None


faults, lengths, files = [], [], 0
for folder in FOLDERS:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in ENDINGS or not path.is_file():
            continue
        files += 1
        name = path.relative_to(ROOT)
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE_MOST:
            faults.append(f"{name}: {len(lines)} lines, at most {FILE_MOST}")
        if path.suffix in {".c", ".h", ".cpp", ".cu"}:
            for number, length in functions(lines):
                if folder == "src":
                    lengths.append(length)
                if length > FUNCTION_MOST:
                    faults.append(f"{name}:{number}: a function of {length} lines, "
                                  f"at most {FUNCTION_MOST}")
for folder, most in BUDGET.items():
    count = sum(len(p.read_text(encoding="utf-8").splitlines())
                for p in (ROOT / folder).rglob("*.[ch]"))
    if count > most:
        faults.append(f"{folder}: {count} lines, at most {most}: what can go?")
median = statistics.median(lengths)
if median > MEDIAN_MOST:
    faults.append(f"src: the median function has {median} lines, at most {MEDIAN_MOST}")
print("\n".join(faults) or f"sizes: ok: {files} files, {len(lengths)} functions of src, "
      f"median {median} lines, longest {max(lengths)}")
sys.exit(1 if faults else 0)
