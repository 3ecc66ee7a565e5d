#!/usr/bin/env python3
"""Checks what the compiler cannot: that the folders depend downward only, and that the
library keeps its promises (never prints or exits, one allocator, BLAS in one place).

Usage: check_layers.py [ROOT]. Prints each finding as file:line: text; exit status 1 if any.
"""
import pathlib
import re
import sys

# A folder may include itself and those to its left.
ORDER = "core linalg data kernel engine solve method metric candidates decode model link select".split()

# (what, pattern of the code without comments and strings, files it is allowed in)
BANNED = [
    ("prints", r"\b(v?printf|puts|putchar|perror)\s*\(|\bstderr\b", None),
    ("writes to standard output", r"\bstdout\b", r"src/data/"),
    ("ends the process", r"\b(exit|_Exit|abort|assert|quick_exit)\s*\(", None),
    ("allocates by itself", r"\b(malloc|calloc|realloc|reallocarray|aligned_alloc|"
     r"posix_memalign|v?asprintf|strdup|strndup)\s*\(", r"src/core/(alloc|memory)\.c"),
    ("uses BLAS outside src/linalg", r"\b(cblas_\w+|LAPACKE?_\w+|openblas_\w+)\b",
     r"src/linalg/"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Comments and string or character constants, in the order they open.
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BLAS_HEADERS = {"cblas.h", "lapacke.h", "lapack.h", "openblas_config.h", "f77blas.h"}


def blank(match):
    """Keeps the line breaks, so that line numbers stay true."""
    return re.sub(r"[^\n]", " ", match.group())


def check_include(name, folder, kind, path):
    """One #include line: the fault it commits, or None."""
    if path in BLAS_HEADERS and folder != "linalg":
        return f"{path} belongs to src/linalg alone"
    if kind == "<" or path.startswith("okra/"):
        return None
    if folder in ORDER:
        target = path.split("/")[0] if "/" in path else folder
        if target not in ORDER:
            return f'"{path}" is not in a folder of src'
        if ORDER.index(target) > ORDER.index(folder):
            return f"{folder} includes {path}: {target} comes after {folder}"
        return None
    if path.split("/")[0] in ORDER:
        return f"{name.split('/')[0]} sees public headers only, not {path}"
    return None


def check_file(root, path):
    name = path.relative_to(root).as_posix()
    parts = name.split("/")
    folder = parts[1] if parts[0] == "src" else parts[0]
    text = path.read_text(encoding="utf-8")
    if parts[0] == "src" and folder not in ORDER:
        yield f"{name}:1: folder {folder} has no place in the order {' < '.join(ORDER)}"
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        fault = found and check_include(name, folder, *found.groups())
        if fault:
            yield f"{name}:{number}: {fault}"
    if parts[0] != "src":
        return
    for number, line in enumerate(NOISE.sub(blank, text).splitlines(), 1):
        for what, pattern, allowed in BANNED:
            found = re.search(pattern, line)
            if found and not (allowed and re.match(allowed, name)):
                yield f"{name}:{number}: the library {what}: {found.group()}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = [
        fault
        for top in ("src", "cli", "papers", "python")
        for path in sorted((root / top).rglob("*.[ch]"))
        for fault in check_file(root, path)
    ]
    print("\n".join(faults) if faults else "layers: ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
