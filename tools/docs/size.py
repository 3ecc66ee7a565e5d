"""size.py: how large okra is, counted. Prints the tables that the site has on its page "How large is okra, and why"."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "<!-- sizes -->"
PARTS = {
    "src": "the library", "cli": "the program `okra`", "include": "public headers", "engines": "GPU and cluster engines",
    "python/okra": "the Python package", "python/okra_report": "reports and figures", "papers": "papers run again",
    "tests": "tests", "bench": "benchmarks", "tools": "tools", "examples": "examples",
}
FOLDERS = {
    "data": "objects and the files that they come from: tables, strings, molecules, spectra, graphs, models",
    "kernel": "kernels of vectors, strings, sequences, graphs, molecules and spectra, and expressions of them",
    "decode": "from a predicted point to an object: a string, a set, a ranking, a picture",
    "method": "what is learned: margins, twin Gaussian processes, trees, chains and more",
    "model": "fit, predict, store, update, merge; intervals, sets and confidence",
    "solve": "the linear systems of regression: dense, low rank, iterative, left-out predictions in closed form",
    "select": "choosing kernels and options, by grids or without any option",
    "candidates": "lists and indexes of candidate outputs, millions of them",
    "core": "memory, threads, errors, options",
    "linalg": "the door to BLAS and LAPACK",
    "metric": "losses and scores",
    "engine": "where large matrices live: host, GPU, cluster",
    "link": "links of networks",
}
CODE = {".c", ".h", ".cu", ".py", ".sh", ".bash", ".cmake", ".txt"}


def files(folder):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", folder], capture_output=True, text=True)
    found = [ROOT / name for name in listed.stdout.split("\0") if name] if not listed.returncode else \
        [p for p in (ROOT / folder).rglob("*") if p.is_file()]  # an archive without its history
    return [p for p in found if p.suffix in CODE and p.is_file() and "corpus" not in p.parts]


def lines(paths):
    return sum(p.read_bytes().count(b"\n") for p in paths)


def row(*cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def tables():
    counted = {part: files(part) for part in PARTS}
    out = [row("part", "what it is", "files", "lines"), "|---|---|---:|---:|"]
    out += [row(f"`{part}`", PARTS[part], len(found), f"{lines(found):,}") for part, found in counted.items()]
    out.append(row("in all", "", sum(map(len, counted.values())), f"{sum(map(lines, counted.values())):,}"))
    out += ["", "The library by folder:", "", row("folder of `src`", "what it is for", "lines"), "|---|---|---:|"]
    folders = {}
    for path in counted["src"]:
        folders.setdefault(path.relative_to(ROOT / "src").parts[0], []).append(path)
    for name, found in sorted(folders.items(), key=lambda f: -lines(f[1])):
        if len(found) > 1:
            out.append(row(f"`{name}`", FOLDERS.get(name, ""), f"{lines(found):,}"))
    return "\n".join(out)


if __name__ == "__main__":
    print(tables())
