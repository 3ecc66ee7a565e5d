"""make.py BUILD: the documentation as a site, in BUILD/site; open BUILD/site/index.html.

The pages of docs/, and made here: the reference of the program from its manual page (that is
from its option tables), of C from the public headers, of Python from the docstrings. The
sources are put together in BUILD/site-source. What Sphinx warns of in a page is an error: a
link that leads nowhere, for example. The site asks for nothing on the network.
"""
import fnmatch
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import headers  # noqa: E402
import manual  # noqa: E402

# The order of the pages; those of docs/ that are in no list here go to "More".
SECTIONS = {
    "Tutorials": ["tutorials/first-steps", "tutorials/*"],
    "How to": ["selection", "decoding", "conformal", "updates", "links", "large", "cuda", "cluster", "twin", "python",
               "c"],
    "Reference": ["methods", "kernels", "formats", "model-file", "results-format",
                  "reference/cli", "reference/python", "reference/c"],
    "Reports": ["reports/claims", "reports/results", "reports/results-quick", "reports/benchmarks",
                "reports/benchmarks-cuda", "reports/fuzzing"],
}
TOPICS = ["kernels", "methods", "decoders", "metrics", "formats", "flags", "low-rank"]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def contents(title, pages, hidden=True):
    lines = ["```{toctree}", f":caption: {title}", ":maxdepth: 2"]
    return "\n".join(lines + [":hidden:"] * hidden + [""] + pages + ["```", ""])


def command_line(okra, folder):
    made, rest = manual.pages(subprocess.check_output([okra, "help", "--man"], text=True))
    for name, text in made.items():
        write(folder / "cli" / f"{name}.md", text)
    topics = []
    for topic in TOPICS:
        text = subprocess.check_output([okra, "help", topic], text=True)
        write(folder / "cli" / f"help-{topic}.md",
              f"# okra help {topic}\n\n```text\n{text.rstrip()}\n```\n")
        topics.append(f"cli/help-{topic}")
    write(folder / "cli.md", "# The program\n\nEvery command has `--help`. This reference is made "
          "from the same tables.\n\n" + contents("Commands", [f"cli/{n}" for n in made], False) +
          "\n" + contents("Lists", topics, False) + "\n" + rest)


def c_library(folder):
    top = ROOT / "include" / "okra"
    texts = {p.relative_to(top).as_posix(): p.read_text(encoding="utf-8")
             for p in sorted(top.glob("*.h")) + sorted(top.glob("more/*.h"))
             if p.name != "program.h"}
    known = headers.declared(texts.values())
    names = [n for n in texts if n not in ("okra.h", "more.h")]
    for name in names:
        write(folder / "c" / f"{name[:-2].replace('/', '-')}.rst", headers.page(name, texts[name], known))
    write(folder / "c.md", "# The C library\n\n`#include <okra/okra.h>` has what will not change after 1.0, "
          "`<okra/more.h>` the experimental rest. Link through "
          "pkg-config (`pkg-config --cflags --libs okra`) or CMake (`find_package(okra)`, "
          "`okra::okra`).\n\n" +
          contents("Headers", [f"c/{n[:-2].replace('/', '-')}" for n in names], False))


def python_package(folder):
    sys.path.insert(0, str(ROOT / "python"))
    import okra
    classes, functions, errors = [], [], []
    for name in sorted(okra.__all__, key=str.lower):
        thing = getattr(okra, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            errors.append(name)
        elif isinstance(thing, type):
            classes.append(name)
        elif callable(thing):
            functions.append(name)
    out = ["Python", "======", ""]
    for title, kind, names, options in (
            ("Estimators and classes", "autoclass", classes, ["members", "inherited-members"]),
            ("Functions", "autofunction", functions, []),
            ("Built-in data", "automodule", ["datasets"], ["members"]),
            ("Errors", "autoexception", errors, [])):
        out += [title, "-" * len(title), ""]
        for name in names:
            out += [f".. {kind}:: okra.{name}", *(f"   :{option}:" for option in options), ""]
    write(folder / "python.rst", "\n".join(out))


def gather(source):
    """docs/ as it is, beside it the other pages of the repository; links between the two follow."""
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("*.json", "*.jsonl"))
    others = [p.name for p in ROOT.glob("*.md") if p.name != "README.md"]
    for name in others:
        write(source / name, (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "]("))
    shutil.copyfile(ROOT / "LICENSE", source / "LICENSE")
    for page in source.rglob("*.md"):
        up = "../" * len(page.relative_to(source).parents)
        text = page.read_text(encoding="utf-8")
        for name in others:
            text = text.replace(f"]({up}{name}", f"]({up[3:]}{name}")
        page.write_text(text, encoding="utf-8")


def index(source):
    """The first page: that of docs/ with the lists of all pages."""
    present = {str(p.relative_to(source).with_suffix("")) for p in source.rglob("*")
               if p.suffix in (".md", ".rst")}
    listed, lists = {"index"}, []
    for title, names in SECTIONS.items():
        names = [n for name in names for n in sorted(fnmatch.filter(present - listed, name))
                 if n == name or n not in names]
        listed.update(names)
        lists.append(contents(title, names))
    more = sorted(n for n in present - listed if not n.startswith("reference/"))
    page = source / "index.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n" + "\n".join(lists) +
                    contents("More", more), encoding="utf-8")


def main():
    build = Path(sys.argv[1]).resolve()
    source, site = build / "site-source", build / "site"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    os.environ.setdefault("OKRA_LIBRARY", str(build / "libokra.so"))
    gather(source)
    command_line(str(build / "okra"), source / "reference")
    c_library(source / "reference")
    python_package(source / "reference")
    index(source)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    told = build / "site-warnings.txt"
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(HERE),
                           "-d", str(build / "site-cache"), "-w", str(told), str(source),
                           str(site)], env=environment)
    # A docstring that is set badly is told; a fault of a page is an error.
    faults = [w for w in told.read_text(encoding="utf-8").splitlines()
              if ("WARNING" in w or "ERROR" in w) and "docstring of" not in w]
    if done.returncode or faults:
        sys.exit("make docs: Sphinx found faults in pages:\n" + "\n".join(faults))
    print(f"{site / 'index.html'}: {len(list(site.rglob('*.html')))} pages")


main()
