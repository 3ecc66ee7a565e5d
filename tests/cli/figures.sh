# Figures against their data: what is drawn, read back from the SVG, is what was given.
need_python
mkdir figures
"$PYTHON" - <<'END'
import json, random
random.seed(1)
n = 4000
truth = [int(random.random() < 0.02) for _ in range(n)]
score = [random.gauss(1.2 * t, 1) for t in truth]
open("truth.csv", "w").write("".join(f"{t}\n" for t in truth))
open("score.csv", "w").write("".join(f"{s!r}\n" for s in score))
figures = [
    {"id": "line", "type": "curve", "title": "t", "series": [
        {"name": "a", "x": [1, 2, 4, 8], "y": [3, 1, 4, 1.5]}]},
    {"id": "log", "type": "curve", "title": "t", "log_x": True, "series": [
        {"name": "a", "x": [0, 1e-3, 1e-1, 10], "y": [0.5, 0.25, 0.75, 1]}]},
    {"id": "bars", "type": "bars", "title": "t", "labels": ["p", "q", "r"], "series": [
        {"name": "a", "y": [1, -2, 3]}]},
    {"id": "dots", "type": "scatter", "title": "t", "series": [
        {"name": "a", "x": [1, 5, 2], "y": [2, 3, 9]}]}]
json.dump({"okra": "0", "format": 1, "kind": "score", "name": "f", "tables": [],
           "figures": figures}, open("f.json", "w"))
END
okra report -q f.json -o f.html --figures figures
okra score --y truth.csv --yhat score.csv --metric auc-pr,auc-roc --json >s.json
okra report -q s.json -o s.html --figures figures
"$PYTHON" - <<'END'
import json, math, re

def read(name):
    text = open(f"figures/{name}.svg").read()
    ticks = {"x": {}, "y": {}}
    for x, y, anchor, value in re.findall(
            r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)" class="soft">([^<]*)<', text):
        axis = "x" if anchor == "middle" else "y" if anchor == "end" else None
        try:
            if axis:
                ticks[axis][float(value)] = float(x) if axis == "x" else float(y) - 4
        except ValueError:
            pass
    return text, ticks

def back(ticks, log=False):
    """From a place on the page to a value, by two ticks."""
    pairs = sorted((v, p) for v, p in ticks.items() if not log or v > 0)
    (a, p), (b, q) = pairs[0], pairs[-1]
    f = math.log if log else float
    def value(at):
        v = f(a) + (at - p) / (q - p) * (f(b) - f(a))
        return math.exp(v) if log else v
    return value

def line(text):
    return [tuple(map(float, pair.split(","))) for pair in
            re.search(r'<polyline[^>]*points="([^"]*)"', text).group(1).split()]

def near(got, want, room):
    assert len(got) == len(want) and all(
        abs(g - w) <= room for g, w in zip(got, want)), (got, want)

text, ticks = read("f-line")
x, y = back(ticks["x"]), back(ticks["y"])
near([x(p) for p, _ in line(text)], [1, 2, 4, 8], 0.03)
near([y(q) for _, q in line(text)], [3, 1, 4, 1.5], 0.02)

text, ticks = read("f-log")  # 0 stands on a tick of its own, left of the others
x, y = back(ticks["x"], log=True), back(ticks["y"])
points = line(text)
assert points[0][0] == ticks["x"][0] < points[1][0], (points, ticks)
near([math.log10(x(p)) for p, _ in points[1:]], [-3, -1, 1], 0.02)
near([y(q) for _, q in points], [0.5, 0.25, 0.75, 1], 0.01)

text, ticks = read("f-bars")
y = back(ticks["y"])
bars = [tuple(map(float, b)) for b in re.findall(
    r'<rect x="[-\d.]+" y="([-\d.]+)" width="[-\d.]+" height="([-\d.]+)" fill="var\(--s0\)"/>', text)][:3]
near([y(top) - y(top + height) for top, height in bars], [1, 2, 3], 0.05)
near([y(top) for top, _ in bars], [1, 0, 3], 0.05)

text, ticks = read("f-dots")
x, y = back(ticks["x"]), back(ticks["y"])
dots = [tuple(map(float, d)) for d in re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)"', text)]
near([x(p) for p, _ in dots], [1, 5, 2], 0.03)
near([y(q) for _, q in dots], [2, 3, 9], 0.06)

# the areas that are drawn are the areas that are told
values = {s["metric"]: s["value"] for s in json.load(open("s.json"))["scores"]}
for name, metric, steps in (("score-pr", "auc-pr", True), ("score-roc", "auc-roc", False)):
    text, ticks = read(name)
    x, y = back(ticks["x"]), back(ticks["y"])
    points = [(x(p), y(q)) for p, q in line(text)]
    area = sum((b[0] - a[0]) * (b[1] + (0 if steps else a[1])) / (1 if steps else 2)
               for a, b in zip(points, points[1:]))
    assert abs(area - values[metric]) < 0.005, (name, area, values[metric])
assert values["auc-pr"] < 0.2, values  # where 200 points even in rank drew twice as much
END
