"""make.py BUILD [--quick]: the documentation as a site, in BUILD/site; open BUILD/site/index.html.

The pages of docs/, and made here: the reference of the program from its manual page (that is
from its option tables), of C from the public headers, of Python from the docstrings. The
sources are put together in BUILD/site-source. What Sphinx warns of in a page is an error: a
link that leads nowhere, for example. The site asks for nothing on the network.
The examples of examples/gallery run as they are put in; --quick shows them without running.
"""
import fnmatch
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import headers  # noqa: E402
import manual  # noqa: E402
import size  # noqa: E402

# The order of the pages; those of docs/ that are in no list here go to "More".
SECTIONS = {
    "Begin": ["install", "gallery/index"],
    "Tutorials": ["tutorials/first-steps", "tutorials/*"],
    "How to": ["python", "r", "c", "selection", "decoding", "candidates", "conformal", "updates", "links", "large", "cuda",
               "cluster", "from/*"],
    "Reference": ["reference/cli", "reference/python", "reference/c", "kernels", "formats", "model-file",
                  "results-format"],
    "Explanation": ["methods", "twin", "limits", "size"],
    "Reports": ["reports/claims", "reports/results", "reports/results-quick", "reports/independent",
                "reports/benchmarks",
                "reports/benchmarks-cuda", "benchmarks-method", "reports/fuzzing", "reports/audits", "reports/paper"],
    "Take part": ["CONTRIBUTING", "rulebook", "VERSIONING", "SECURITY", "CHANGELOG"],
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
    out = ["# The Python package", "", "`import okra`. Each class has a page, made from its docstring; "
           "[okra in Python](../python.md) shows them at work.", ""]
    for title, kind, names, options in (
            ("Estimators and classes", "autoclass", classes, ["members", "inherited-members"]),
            ("Functions", "autofunction", functions, []),
            ("Modules", "automodule", ["datasets", "plot"], ["members"]),
            ("Errors", "autoexception", errors, [])):
        out += [f"## {title}", "", "| name | what it is |", "|---|---|"]
        for name in names:
            head = f"okra.{name}"
            write(folder / "python" / f"{name}.rst", "\n".join(
                [head, "=" * len(head), "", f".. {kind}:: {head}", *(f"   :{option}:" for option in options), ""]))
            thing = importlib.import_module(head) if kind == "automodule" else getattr(okra, name)
            first = " ".join(inspect.getdoc(thing).split("\n\n")[0].split()).replace("|", "\\|")
            out.append(f"| [{name}](python/{name}.rst) | {first} |")
        out += ["", contents(title, [f"python/{n}" for n in names])]
    write(folder / "python.md", "\n".join(out))


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
        text = text.replace(f"]({up}examples/gallery/README.txt)", f"]({up[3:]}gallery/index.rst)")
        text = re.sub(rf"\]\({re.escape(up)}examples/gallery/(\w+)\.py\)", rf"]({up[3:]}gallery/\1.rst)", text)
        page.write_text(text, encoding="utf-8")


def index(source):
    """The first page: that of docs/ with the lists of all pages."""
    present = {"gallery/index"} | {str(p.relative_to(source).with_suffix("")) for p in source.rglob("*")
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


def mend(site):
    """Debian's furo wants a web server: its script is a module, and its style imports that of another package. Files of a
    site that is opened from a disk may do neither: both are put into one file."""
    static = site / "_static"
    script = static / "scripts" / "furo.js"
    text, taken = re.subn(r'^import (?:\* as )?Gumshoe from "./([\w.-]+)";\n', "", script.read_text(encoding="utf-8"))
    if taken:
        text = (static / "scripts" / "gumshoe-patched.js").read_text(encoding="utf-8") + "\n" + text
        script.write_text(text, encoding="utf-8")
    for page in site.rglob("*.html"):  # Debian 13 says so in every page
        text = page.read_text(encoding="utf-8")
        plain = re.sub(r'(<script [^>]*furo\.js[^>]*) type="module"|(<script) type="module"([^>]*furo\.js)', r'\1\2 defer\3', text)
        if plain != text:
            page.write_text(plain, encoding="utf-8")
    style = static / "styles" / "furo.css"
    text = style.read_text(encoding="utf-8")
    found = re.search(r"@import url\((/javascript/[^)]*)\);", text)
    if found:
        other = Path("/usr/share" + found.group(1))
        style.write_text(text.replace(found.group(), other.read_text(encoding="utf-8") if other.exists() else ""),
                         encoding="utf-8")


def main():
    build, quick = Path(sys.argv[1]).resolve(), sys.argv[2:] == ["--quick"]
    source, site = build / "site-source", build / "site"
    for folder in (source, site, build / "site-cache"):
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.setdefault("OKRA_LIBRARY", str(build / "libokra.so"))
    gather(source)
    page = source / "size.md"
    page.write_text(page.read_text(encoding="utf-8").replace(size.MARK, size.tables()), encoding="utf-8")
    command_line(str(build / "okra"), source / "reference")
    c_library(source / "reference")
    python_package(source / "reference")
    index(source)
    # With a date of its own the gallery has no page of times, which would ask a server for scripts.
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(time.time())))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "agg",
                   **({"OKRA_DOCS_QUICK": "1"} if quick else {})}
    warnings = build / "site-warnings.txt"
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(HERE),
                           "-d", str(build / "site-cache"), "-w", str(warnings), str(source),
                           str(site)], env=environment)
    # A badly set docstring is only shown; a fault of a page is an error.
    faults = [w for w in warnings.read_text(encoding="utf-8").splitlines()
              if ("WARNING" in w or "ERROR" in w) and "docstring of" not in w]
    if done.returncode or faults:
        sys.exit("make docs: Sphinx found faults in pages:\n" + "\n".join(faults))
    mend(site)
    print(f"{site / 'index.html'}: {len(list(site.rglob('*.html')))} pages")


main()
