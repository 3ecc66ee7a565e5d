"""okra report in a real browser: nothing fetched, nothing said on the console, every table
and picture there and visible at three widths, the theme switches, the numbers are the JSON's."""
import glob
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from webdriver import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from okra_report.agreement import agreement  # noqa: E402

okra = os.path.abspath(sys.argv[1])
pictures = sys.argv[2]
os.makedirs(pictures, exist_ok=True)
failures = []
WIDTHS = (360, 900, 1400)


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAIL", what)


def printed(value):
    """Decimals that a number was printed with."""
    return next(d for d in range(5)
                if d == 4 or abs(value * 10**d - round(value * 10**d)) <= 1e-6 * max(1, abs(value)))


def survey(table, column):
    """The most decimals of the paper in a column (None: in all), -1: it has none; the largest value."""
    cells = [c for row in table["rows"] for name, c in row["cells"].items() if column in (None, name)]
    papers = [c.get(k) for c in cells if isinstance(c.get("paper"), (int, float)) for k in ("paper", "paper_sd")]
    values = [abs(c[k]) for c in cells for k in ("okra", "paper") if isinstance(c.get(k), (int, float))]
    return max((printed(v or 0) for v in papers), default=-1), max(values, default=0)


def decimals(table, column):
    """How many decimals the page gives the numbers of a column: those of the paper, where it has any."""
    if "second" in table.get("metric", ""):
        return 2
    if "%" in column and "gain" in column:
        return 1
    own, most = survey(table, column)
    beside, largest = survey(table, None)
    if own >= 0 and most < 1e6:
        return max(own, 1)
    if 10 <= most < 1e6:
        return 1
    return beside if beside > 0 and largest < 10 else 4


def shown(value, places):
    """A number as the page writes it."""
    small = places >= 3 and value != 0 and abs(value) < 0.5 * 10**-places
    return f"{value:.3e}" if small or abs(value) >= 1e9 else f"{value:.{places}f}"


def sample():
    edges = [[i, j] for i in range(40) for j in range(i) if (i * 7 + j * 3) % 11 == 0]
    cell = {"okra": 0.9234, "okra_sd": 0.0123, "paper": 0.9111, "paper_sd": 0.02,
            "z": 0.52, "verdict": "reproduced as printed"}
    worse = {"okra": 0.8017, "okra_sd": 0.0104, "paper": 0.9502, "paper_sd": 0.011,
             "z": -9.8, "verdict": "differs", "why": "another <data> set & more"}
    wave = [[math.sin(a * x / 5) * math.cos(y / 4) for y in range(16) for x in range(16)]
            for a in (1, 2, 3)]
    return {
        "okra": "0", "format": 1, "kind": "paper", "name": "sample", "title": "A <b>title</b>",
        "tables": [{"id": "t", "title": "AUC", "metric": "AUC-ROC", "better": "higher",
                    "columns": ["5 %", "10 %"],
                    "rows": [{"label": "ridge", "cells": {"5 %": cell, "10 %": worse}},
                             {"label": "unbroken" * 30, "cells": {"5 %": cell}}]}],
        "figures": [
            {"id": "c", "type": "curve", "title": "curve", "log_x": True, "series": [
                {"name": "a", "x": [1, 10, 100], "y": [3, 2, 1.5], "sd": [.1, .1, .1]}]},
            {"id": "s", "type": "scatter", "title": "scatter", "series": [
                {"name": "a", "x": [0, 1], "y": [1, None]}]},
            {"id": "b", "type": "bars", "title": "bars", "labels": ["1", "2"], "series": [
                {"name": "a", "y": [1, -1]}]},
            {"id": "h", "type": "heatmap", "title": "heatmap", "x": [1, 2], "y": ["p", "q"],
             "values": [[1, 2], [None, 3]], "better": "lower"},
            {"id": "i", "type": "images", "title": "images", "rows": 16, "cols": 16,
             "low": -1, "high": 1, "columns": ["truth", "okra", "k-NN"], "images": [wave] * 4},
            {"id": "p", "type": "curve", "title": "spectrum", "series": [
                {"name": "query", "x": [50, 71.2], "y": [1, 0.5], "stems": True},
                {"name": "below", "x": [50, 90], "y": [-1, -0.2], "stems": True}]},
            {"id": "m", "type": "molecules", "title": "molecules", "items": [
                {"smiles": "C=O", "label": "1. CH2O", "note": "distance 1",
                 "atoms": [[0, 0, "CH2"], [1, 1, "O"]], "bonds": [[0, 1, 2]]},
                {"smiles": "C" * 200, "label": "2. long", "note": ""}]},
            {"id": "n", "type": "network", "title": "network", "nodes": 40, "labelled": [1, 2],
             "panels": [{"name": "true", "edges": edges},
                        {"name": "predicted", "edges": edges[::2]}]}],
        "readings": ["a reading"], "deviations": [], "remarks": []}


def test_letters(browser, what, width):
    """Every text can be read and lies within its picture; none of a curve's ticks lie on others."""
    small = browser.run("""
        const out = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let n = walk.nextNode(); n; n = walk.nextNode()) {
            const e = n.parentElement;
            if (!n.textContent.trim() || e.closest('script, title, desc') || !e.checkVisibility()) continue;
            const scale = e.ownerSVGElement ? e.getScreenCTM().a ** 2 + e.getScreenCTM().b ** 2 : 1;
            const size = parseFloat(getComputedStyle(e).fontSize) * Math.sqrt(scale);
            if (size < 10) out.push([n.textContent.trim().slice(0, 30), size]);
        }
        return out""")
    check(not small, f"{what} at {width}: letters below 10 px: {small[:3]}")
    cut = browser.run("""
        const out = [];
        for (const svg of document.querySelectorAll('svg.figure')) {
            const room = svg.getBoundingClientRect();
            for (const t of svg.querySelectorAll('text')) {
                const b = t.getBoundingClientRect();
                if (b.left < room.left - 1 || b.right > room.right + 1 || b.top < room.top - 1 ||
                    b.bottom > room.bottom + 1) out.push(t.textContent);
            }
        }
        for (const e of document.querySelectorAll('figcaption, p, h1, h2, h3, dd, th, pre'))
            if (e.scrollWidth > e.clientWidth + 1) out.push(e.textContent);
        return out""")
    check(not cut, f"{what} at {width}: cut off: {cut[:3]}")
    frames = browser.run("""
        return [...document.querySelectorAll('svg.figure')].filter(svg =>
            svg.getBoundingClientRect().width > svg.parentElement.clientWidth + 1 &&
            getComputedStyle(svg.parentElement).overflowX !== 'auto').length""")
    check(frames == 0, f"{what} at {width}: {frames} pictures are wider than their frames, which do not scroll")


def pictures_of(result):
    """A result's own figures; those of papers get one more, of the print or of the first table."""
    return len(result["figures"]) + (len(agreement(result)) if result["kind"] == "paper" else 0)


def test_widths(browser, result):
    for width in WIDTHS:
        browser.size(width, 900)
        seen = browser.run("""
            return [...document.querySelectorAll('table, svg.figure')].map(e => {
                const r = e.getBoundingClientRect();
                return [e.tagName, r.width, r.height, getComputedStyle(e).visibility] })""")
        drawn = [s for s in seen if s[0] == "svg"]
        check(len(drawn) == pictures_of(result), f"{len(drawn)} pictures at {width}")
        check(len(seen) - len(drawn) == len(result["tables"]), f"tables at {width}")
        check(all(s[1] > 50 and s[2] > 30 and s[3] == "visible" for s in seen),
              f"something is not visible at {width}: {seen}")
        sideways = browser.run("return document.documentElement.scrollWidth - innerWidth")
        check(sideways <= 0, f"the page itself scrolls sideways by {sideways} at {width}")
        covered = browser.run("""
            const label = document.querySelector('tbody tr:last-child td');
            return label.getBoundingClientRect().width / innerWidth""")
        check(covered < 0.6, f"a long label takes {covered} of the page at {width}")
        test_letters(browser, "the sample", width)
        browser.picture(os.path.join(pictures, f"report-sample-{width}.png"), whole=True)


def test_numbers(browser, result):
    text = browser.run("return document.querySelector('table').innerText")
    for row in result["tables"][0]["rows"]:
        for column, cell in row["cells"].items():
            for key in ("okra", "okra_sd", "paper", "paper_sd"):
                number = shown(cell[key], decimals(result["tables"][0], column))
                check(number in text, f"{number} is not on the page")
    check("another <data> set & more" in browser.run("return document.body.innerText"),
          "a note with markup in it is not shown as text")
    heading = browser.run("return document.querySelector('h1').innerText")
    check("<b>title</b>" in heading, f"heading {heading}")


def test_theme(browser):
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = browser.run(colour)
    browser.run("document.getElementById('theme').click()")
    after = browser.run(colour)
    browser.run("document.getElementById('theme').click()")
    check(before != after, f"the theme stays {before}")
    check(browser.run(colour) == before, "the theme does not switch back")


def test_paper(browser):
    """On paper the page is light, whatever the theme, and has no button."""
    colour = "return getComputedStyle(document.body).backgroundColor"
    browser.run("delete document.documentElement.dataset.theme")
    browser.media("screen", "light")
    light = browser.run(colour)
    browser.media("screen", "dark")
    dark = browser.run(colour)
    check(dark != light, f"a dark system shows {dark}")
    for theme in ("", "dark"):
        browser.run(f"document.documentElement.dataset.theme = '{theme}'")
        browser.media("print", "dark")
        check(browser.run(colour) == light, f"on paper the page is {browser.run(colour)}")
        hidden = "return getComputedStyle(document.getElementById('theme')).display"
        check(browser.run(hidden) == "none", "the button is printed")
    browser.run("delete document.documentElement.dataset.theme")
    browser.media("")


def test_images(browser):
    loaded = browser.run("""
        const all = [...document.querySelectorAll('svg image')];
        return Promise.all(all.map(i => { const p = new Image();
            p.src = i.getAttribute('xlink:href') || i.getAttribute('href');
            return p.decode().then(() => [p.naturalWidth, p.naturalHeight], () => 0) }))""")
    # the heat map, the sheet of 4 x 3 images (two groups side by side), two adjacency matrices
    check(len(loaded) == 4 and all(loaded) and [102, 33] in loaded and loaded[2:] == [[40, 40]] * 2,
          f"images decode as {loaded}")


def test_dark(browser):
    """Letters stand out from the page in both themes: contrast of at least 4.5 (WCAG AA)."""
    for scheme in ("light", "dark"):
        browser.media("screen", scheme)
        found = browser.run("""
            const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(
                x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
            const style = getComputedStyle, page = light(style(document.body).backgroundColor);
            const ratio = c => { const l = light(c); return (Math.max(l, page) + .05) / (Math.min(l, page) + .05) };
            return [...document.querySelectorAll('p, td, h1, h3, .theirs')].map(e => ratio(style(e).color)).concat(
                [...document.querySelectorAll('svg.figure text')].filter(e => !/#(fefefe|101010)/.test(
                    e.getAttribute('style') + e.parentElement.getAttribute('style'))).map(e => ratio(style(e).fill)))""")
        check(min(found) >= 4.5, f"a contrast of {min(found):.2f} in the {scheme} theme")
        browser.picture(os.path.join(pictures, f"report-sample-{scheme}.png"), whole=True)
    browser.media("")


def command(folder, *arguments):
    run = subprocess.run([okra, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout


def own_data(folder):
    """Results of select, score and link for a user's own data; which figures they must have."""
    rng = random.Random(7)

    def write(name, rows):
        with open(os.path.join(folder, name), "w") as f:
            f.writelines(",".join(map(str, row)) + "\n" for row in rows)

    inputs = [[rng.random()] for _ in range(60)]
    write("x.csv", inputs)
    write("y.csv", [[math.sin(6 * x)] for x, in inputs])
    write("images.csv", [[math.sin(x * k) for k in range(16)] for x, in inputs])
    write("seen.csv", [[rng.randrange(2)] for _ in inputs])
    group = [i % 3 for i in range(45)]
    write("features.csv", [[g + 0.3 * rng.random(), g * g + 0.3 * rng.random()] for g in group])
    pairs = [(j, i) for i in range(45) for j in range(i) if group[i] == group[j] and rng.random() < .5]
    with open(os.path.join(folder, "truth.tsv"), "w") as f:
        f.writelines(f"{a} {b}\n" for a, b in pairs)
    with open(os.path.join(folder, "known.tsv"), "w") as f:
        f.writelines(f"{a} {b}\n" for a, b in pairs if b < 25)
    xy = ["--x", "x.csv", "--y", "y.csv", "--ky", "linear"]
    ridge = ["--kx", "rbf(sigma=1)", "--lambda", "0.1"]
    calls = {
        "grid": (["heatmap"], ["select", *xy, "--kx", "rbf(sigma={0.1,0.3,1})", "--lambda",
                               "1e-3,1e-1", "--cv", "nested:3,3"]),
        "path": (["curve"], ["select", *xy, "--kx", "rbf(sigma=0.3)", "--lambda", "1e-4..1"]),
        "operators": (["bars"], ["select", *xy, "--kx", "rbf(sigma=0.3)", "--lambda", "0.1",
                                 "--operator", "{identity,cov}"]),
        "fit": (["scatter", "scatter", "curve"],
                ["score", "--y", "y.csv", "--yhat", "y.csv", "--x", "x.csv", "--metric", "mae"]),
        "images": (["images", "curve"], ["score", "--y", "images.csv", "--yhat", "images.csv",
                                         "--image", "4x4", "--metric", "mse"]),
        "ranking": (["scatter", "curve", "curve"], ["score", "--y", "seen.csv", "--yhat", "y.csv",
                                                    "--metric", "auc-roc,auc-pr"]),
        "network": (["curve", "curve", "network"],
                    ["link", "--x", "features.csv", "--edges", "known.tsv", "--truth", "truth.tsv",
                     "--network", "network.tsv", *ridge])}
    results = {}
    for name, (figures, arguments) in calls.items():
        results[name] = json.loads(command(folder, *arguments, "--json", "--quiet"))
        found = [f["type"] for f in results[name]["figures"]]
        check(found == figures, f"{name} has the figures {found}, not {figures}")
        with open(os.path.join(folder, name + ".json"), "w") as f:
            json.dump(results[name], f)
    return results


def test_page(browser, folder, files, results, what):
    """All results in one page: every table and figure is drawn, and nothing is said or asked."""
    page = os.path.join(folder, what + ".html")
    command(folder, "report", *files, "-o", page, "--quiet")
    browser.requests(), browser.console()
    browser.open("file://" + page)
    for width in WIDTHS:
        browser.size(width, 900)
        seen = browser.run("""
            return ['table:not(.overview)', 'svg.figure', '.overview'].map(s =>
                [...document.querySelectorAll(s)].filter(e => {
                    const r = e.getBoundingClientRect();
                    return r.width > 30 && r.height > 20 }).length)""")
        want = [sum(len(r["tables"]) for r in results), sum(pictures_of(r) for r in results)]
        check(seen[:2] == want, f"{what} at {width}: {seen} tables and pictures, not {want}")
        sideways = browser.run("return document.documentElement.scrollWidth - innerWidth")
        check(sideways <= 0, f"{what} scrolls sideways by {sideways} at {width}")
        test_letters(browser, what, width)
        browser.picture(os.path.join(pictures, f"report-{what.replace(' ', '-')}-{width}.png"), whole=True)
    check("cannot be drawn" not in browser.run("return document.body.innerText"),
          f"a figure of {what} cannot be drawn")
    text = browser.run("return document.body.innerText")
    for result in results:
        for table in result["tables"]:
            for row in table["rows"]:
                for column, cell in row["cells"].items():
                    if isinstance(cell.get("okra"), (int, float)):
                        check(shown(cell["okra"], decimals(table, column)) in text,
                              f"{what}: {cell['okra']} is missing")
    asked = [a for a in browser.requests() if not a.startswith(("file:", "data:"))]
    check(not asked, f"{what} asks for {asked}")
    check(browser.console() == [], f"the console is not empty after {what}")


def committed():
    """Results of papers that the repository has."""
    here = os.path.dirname(os.path.abspath(__file__))
    files = sorted(glob.glob(os.path.join(here, "..", "..", "docs", "results", "*.json")))
    return files, [json.load(open(f)) for f in files]


with tempfile.TemporaryDirectory() as folder:
    result = sample()
    path, page = os.path.join(folder, "r.json"), os.path.join(folder, "r.html")
    with open(path, "w") as f:
        json.dump(result, f)
    browser = Browser()
    try:
        subprocess.run([okra, "report", path, "-o", page, "--figures", folder, "--quiet"],
                       check=True)
        browser.open("about:blank")
        browser.requests(), browser.console()  # what the browser's own first page did
        browser.open("file://" + page)
        test_widths(browser, result)
        test_numbers(browser, result)
        test_theme(browser)
        test_paper(browser)
        test_images(browser)
        test_dark(browser)
        asked = [a for a in browser.requests() if not a.startswith(("file:", "data:"))]
        check(not asked, f"the page asks for {asked}")
        check(browser.console() == [], "the console is not empty")
        for figure in result["figures"]:
            browser.open(f"file://{folder}/sample-{figure['id']}.svg")
            check(browser.run("return document.documentElement.tagName") == "svg",
                  f"{figure['id']}.svg does not open")
        own = own_data(folder)
        test_page(browser, folder, [n + ".json" for n in own], list(own.values()), "own data")
        files, papers = committed()
        if files:
            test_page(browser, folder, files, papers, "papers")
    finally:
        browser.close()

print("ok" if not failures else f"{len(failures)} failures")
sys.exit(bool(failures))
