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

# ---- heat maps, images and networks ----
"$PYTHON" - <<'END'
import json, random
random.seed(2)
import numpy
numpy.random.seed(2)
values = [[3, 1, None], [2, 5, 4]]
pictures = [[[random.random() for _ in range(12)] for _ in range(2)] for _ in range(5)]
# four groups of ten nodes, dense within, and two nodes alone; names are shuffled
order = random.sample(range(42), 42)
edges = [[order[i], order[j]] for i in range(40) for j in range(i)
         if random.random() < (0.6 if i // 10 == j // 10 else 0.02)]
known = {tuple(sorted(e)) for e in edges}
fresh = [list(p) for p in random.sample(sorted(
    {(min(a, b), max(a, b)) for a in range(42) for b in range(42) if a != b} - known), 60)]
figures = [
    {"id": "heat", "type": "heatmap", "title": "t", "x": [1, 10, 100], "y": ["a", "b"],
     "values": values, "better": "lower", "x_label": "x", "y_label": "y"},
    {"id": "pictures", "type": "images", "title": "t", "rows": 3, "cols": 4, "low": 0, "high": 1,
     "columns": ["true", "predicted"], "images": pictures},
    {"id": "net", "type": "network", "title": "t", "nodes": 42, "labelled": order[:5], "panels": [
        {"name": "true", "edges": edges}, {"name": "predicted", "edges": edges[:50], "new": fresh}]}]
json.dump({"okra": "0", "format": 1, "kind": "score", "name": "g", "tables": [],
           "figures": figures}, open("g.json", "w"))
json.dump({"order": order, "pictures": pictures, "edges": edges, "fresh": fresh}, open("g-data.json", "w"))
# images as halves: the left half is the input
whole = numpy.random.rand(3, 4, 6)
numpy.save("hx.npy", whole[:, :, :2].reshape(3, -1))
numpy.save("hy.npy", whole[:, :, 2:].reshape(3, -1))
numpy.save("whole.npy", whole)
END
okra report -q g.json -o g.html --figures figures
okra score --y hy.npy --yhat hy.npy --x hx.npy --image 4x4:left --metric mse --json >h.json
okra report -q h.json -o h.html --figures figures
"$PYTHON" - <<'END'
import base64, json, re, struct, zlib
import numpy as np

def near(got, want, room):
    assert np.shape(got) == np.shape(want) and np.all(np.abs(np.asarray(got) - want) <= room), (got, want)

# a heat map: one rectangle per value, darker where the value is larger; the best one is framed
text = open("figures/g-heat.svg").read()
cells = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" '
                   r'fill="var\(--high\)" fill-opacity="([\d.]+)"( stroke="var\(--s1\)")?', text)
assert len(cells) == 6
shade = [float(c[4]) for c in cells]
given, drawn = np.array([3, 1, 2, 5, 4]), np.array(shade[:2] + shade[3:])
slope, begin = np.polyfit(given, drawn, 1)
near(drawn, begin + slope * given, 0.006)  # even steps, from nearly nothing to nearly full
assert drawn.min() < 0.1 and drawn.max() > 0.9 and shade[2] == 0, shade
assert [bool(c[5]) for c in cells] == [False, True] + 4 * [False]  # 1 is the lowest
rows = sorted({float(c[1]) for c in cells})
assert [rows.index(float(c[1])) for c in cells] == [0, 0, 0, 1, 1, 1]
numbers = re.findall(r'text-anchor="middle" font-size="11"[^>]*>([^<]*)<', text)
assert [float(v) for v in numbers] == [3, 1, 2, 5, 4], numbers  # what is missing has none

def pictures(name):
    """Pixels and places of all images of a figure."""
    text, out = open(f"figures/{name}.svg").read(), []
    for x, y, w, h, data in re.findall(
            r'<image class="pixel" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" [^>]*'
            r'href="data:image/png;base64,([^"]*)"', text):
        png = base64.b64decode(data)
        width, height = struct.unpack(">II", png[16:24])
        size = struct.unpack(">I", png[33:37])[0]
        raw = np.frombuffer(zlib.decompress(png[41:41 + size]), np.uint8).reshape(height, width + 1)
        out.append((float(x), float(y), float(w), float(h), raw[:, 1:] / 255))
    wide = float(re.search(r'viewBox="0 0 ([\d.]+)', text).group(1))
    return out, wide

data = json.load(open("g-data.json"))
shown, wide = pictures("g-pictures")
assert len(shown) == 10
near([p[4].ravel() for p in shown], np.array(data["pictures"]).reshape(10, 12), 0.5 / 255 + 1e-6)
assert all(abs(p[3] / p[2] - 3 / 4) < 0.02 for p in shown)  # pixels are square
assert max(p[0] + p[2] for p in shown) > 0.85 * wide  # the card is filled
# halves side by side are the whole picture
shown, wide = pictures("score-images")
whole = np.load("whole.npy")
low, high = whole.min(), whole.max()
assert len(shown) == 6
for part in (shown[::2], shown[1::2]):  # true and predicted, which are the same here
    near([p[4] for p in part], (whole - low) / (high - low), 0.5 / 255 + 1e-6)

# a network: both ends of every line are the circles of the nodes of that edge
text = open("figures/g-net.svg").read()
left, right = text.split('class="head"')[1:]
circles = [[(float(x), float(y), colour, kind) for kind, colour, x, y in re.findall(
    r'<circle class="(\w+)" fill="var\((--s\d)\)" cx="([\d.]+)" cy="([\d.]+)"', part)]
    for part in (left, right)]
assert [len(c) for c in circles] == [42, 42]
assert sorted(i for i, c in enumerate(circles[0]) if c[3] == "known") == sorted(data["order"][:5])

def lines(part, kind):
    d = re.search(f'<path class="{kind}" d="([^"]*)"', part).group(1)
    return [tuple(map(float, m)) for m in re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", d)]

def check(part, places, kind, edges):
    drawn = lines(part, kind)
    want = [places[i][:2] + places[j][:2] for i, j in edges]
    near(drawn, want, 0.051)

check(left, circles[0], "edge", data["edges"])
check(right, circles[1], "edge", data["edges"][:50])
check(right, circles[1], "fresh edge", data["fresh"][:40])  # the strongest alone
assert "below: the 40 strongest of 60 new edges" in right
# groups: one colour each, and nearer to their own than to others
order = data["order"]
for g in range(4):
    members = order[10 * g:10 * g + 10]
    assert len({circles[0][i][2] for i in members}) == 1, g
assert len({circles[0][order[10 * g]][2] for g in range(4)}) == 4
at = np.array([c[:2] for c in circles[0]])
middle = np.array([at[order[10 * g:10 * g + 10]].mean(axis=0) for g in range(4)])
nearest = [int(np.argmin(((at[order[i]] - middle) ** 2).sum(axis=1))) for i in range(40)]
assert sum(a == i // 10 for i, a in enumerate(nearest)) >= 38, nearest
# the matrix: rows of one group are neighbours, so that edges within groups lie near the diagonal
cells = [tuple(map(float, m)) for m in re.findall(
    r"M([\d.]+) ([\d.]+)h", re.search(r'<path class="cells"[^>]* d="([^"]*)"', left).group(1))]
assert len(cells) == 2 * len(data["edges"])
cell = 300 / 42
x0, y0 = re.search(r'<rect class="axis" x="([\d.]+)" y="([\d.]+)"', left).groups()
spots = {(round((x - float(x0)) / cell), round((y - float(y0) - cell / 2) / cell)) for x, y in cells}
assert all((b, a) in spots for a, b in spots) and len(spots) == 2 * len(data["edges"])
within = sum(a // 10 == b // 10 for a, b in spots)
assert within > 0.8 * len(spots), (within, len(spots))
END
