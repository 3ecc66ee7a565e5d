"""The documentation site in a real browser, from files: every link leads somewhere, no page
says anything on the console or asks for anything elsewhere, none scrolls sideways at three
widths, and the search finds. test_site.py OKRA SCREENSHOTS; builds the site first."""
import html.parser
import os
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

from webdriver import Browser

build = Path(sys.argv[1]).resolve().parent
pictures = Path(sys.argv[2])
ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (360, 900, 1400)
MAIN = ("index.html", "install.html", "gallery/index.html", "gallery/01_digits.html", "tutorials/first-steps.html",
        "from/scikit-learn.html", "reports/claims.html", "reference/cli/fit.html")
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAIL", what)


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" or tag == "a" and name == "name":
                self.anchors.add(value)


def links(site):
    """Every link in every page: its file is there, and in it the place."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    count = 0
    for path, page in pages.items():
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme in ("http", "https", "mailto", "data"):
                continue
            count += 1
            target = path if not address.path else (
                path.parent / urllib.parse.unquote(address.path)).resolve()
            where = f"{path.relative_to(site)}: {link}"
            check(target.is_file(), f"{where} leads nowhere")
            if target in pages and address.fragment:
                check(urllib.parse.unquote(address.fragment) in pages[target].anchors,
                      f"{where}: there is no such place")
    check(len(pages) > 30 and count > 1000, f"only {count} links in {len(pages)} pages")
    return sorted(pages)


def wait_for(browser, script, seconds=20):
    """The first true value of `script` within some seconds, or its last."""
    end = time.monotonic() + seconds
    while True:
        value = browser.run(script)
        if value or time.monotonic() > end:
            return value
        time.sleep(0.2)


def search(browser, site, word, page):
    """The search box of the first page finds `page` for `word`."""
    browser.open(f"file://{site}/index.html")
    browser.run("""const box = document.querySelector('input[name=q]');
        box.value = arguments[0]; box.form.submit()""", word)
    found = wait_for(browser, f"""return [...document.querySelectorAll('ul.search li a')]
        .map(a => a.href).filter(a => a.includes('/{page}')).length""")
    check(found, f"searching {word} does not find {page}")


def main():
    made = subprocess.run([sys.executable, ROOT / "tools" / "docs" / "make.py", build],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(made.stdout)
    if made.returncode:
        return 1
    site = build / "site"
    pages = links(site)
    shown = sorted((ROOT / "examples" / "gallery").glob("*.py"))
    for example in shown:
        check((site / "gallery" / f"{example.stem}.html").is_file(), f"{example.name} is not in the gallery")
        check("gpu" in example.name or list((site / "_images").glob(f"sphx_glr_{example.stem}_0*.png")),
              f"{example.name} draws nothing")
        check(list((site / "_downloads").rglob(f"{example.stem}.ipynb")), f"{example.name} is not there as a notebook")
    check(len(shown) >= 16, f"only {len(shown)} examples")
    pictures.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        browser.open("about:blank")
        browser.requests(), browser.console()
        for path in pages:
            browser.open(f"file://{path}")
            name = path.relative_to(site)
            for width in WIDTHS:
                browser.size(width, 900)
                inner, whole = browser.run("return [innerWidth, document.documentElement.scrollWidth]")
                check(inner == width, f"{name} is {inner} wide, not {width}")
                check(whole <= width, f"{name} scrolls sideways by {whole - width} at {width}")
                if str(name) in MAIN:
                    shot = "site-" + str(name)[:-len(".html")].replace("/", "-")
                    browser.picture(pictures / f"{shot}-{width}.png")
                    browser.run("document.body.dataset.theme = 'dark'")
                    browser.picture(pictures / f"{shot}-{width}-dark.png")
                    browser.run("document.body.dataset.theme = 'auto'")
        for word, page in (("covariance", "methods.html"), ("okra_fit_as", "reference/c/model"),
                           ("candidates", "decoding.html")):
            search(browser, site, word, page)
        said = browser.console()
        check(said == [], f"the console says {said[:3]}")
        asked = [a for a in browser.requests() if not a.startswith(("file:", "data:", "about:"))]
        check(not asked, f"the site asks for {asked[:3]}")
    finally:
        browser.close()
    print("ok" if not failures else f"{len(failures)} failures")
    return int(bool(failures))


for module in ("sphinx", "myst_parser", "furo", "sphinx_gallery", "sphinx_copybutton", "matplotlib", "rdkit", "networkx", "pandas",
               "sklearn"):
    try:
        __import__(module)
    except ImportError:
        print(f"skipped: no Python module {module}")
        sys.exit(77)
sys.exit(main())
