# Figures against their data: what is drawn, read back from the SVG, is what was given.
need_python
"$PYTHON" -c 'import jinja2, matplotlib, networkx' 2>/dev/null || skip "no matplotlib, Jinja2 or networkx"
mkdir figures
export PYTHONPATH="$ROOT/tests/cli/lib" PYTHONDONTWRITEBYTECODE=1
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
from svg import Figure, SVG, near

f = Figure("f-line")
(_, x), (_, y) = f.axis("x"), f.axis("y")
points = f.points(f.named("series-0")[0])
near([x(p) for p, _ in points], [1, 2, 4, 8], 0.01)
near([y(q) for _, q in points], [3, 1, 4, 1.5], 0.01)

f = Figure("f-log")  # 0 stands on a tick of its own, left of the others
(ticks, x), (_, y) = f.axis("x", log=True), f.axis("y")
points = f.points(f.named("series-0")[0])
assert abs(points[0][0] - ticks[0]) < 0.01 and points[0][0] < points[1][0], (points, ticks)
near([math.log10(x(p)) for p, _ in points[1:]], [-3, -1, 1], 0.01)
near([y(q) for _, q in points], [0.5, 0.25, 0.75, 1], 0.01)

f = Figure("f-bars")
y = f.axis("y")[1]
ends = []
for bar in f.named("series-0"):
    up = [float(q) for _, q in re.findall(r"[ML] (\S+) (\S+)", next(bar.iter(SVG + "path")).get("d"))]
    ends += sorted((y(max(up)), y(min(up))))
near(ends, [0, 1, -2, 0, 0, 3], 0.02)

f = Figure("f-dots")
(_, x), (_, y) = f.axis("x"), f.axis("y")
points = f.points(f.named("series-0")[0])
near([x(p) for p, _ in points], [1, 5, 2], 0.01)
near([y(q) for _, q in points], [2, 3, 9], 0.02)

# the areas that are drawn are the areas that are told, in the legend too; chance is there
values = {s["metric"]: s["value"] for s in json.load(open("s.json"))["scores"]}
share = sum(map(int, open("truth.csv"))) / 4000
for name, metric, chance in (("score-pr", "auc-pr", f"chance: {share:.2g}"),
                             ("score-roc", "auc-roc", "chance, area 0.5")):
    f = Figure(name)
    (_, x), (_, y) = f.axis("x"), f.axis("y")
    points = [(x(p), y(q)) for p, q in f.points(f.named("series-0")[0])]  # steps are drawn as such
    area = sum((b[0] - a[0]) * (b[1] + a[1]) / 2 for a, b in zip(points, points[1:]))
    assert abs(area - values[metric]) < 0.002, (name, area, values[metric])
    assert any(f"area {values[metric]:.3f}" in t for t in f.texts()), f.texts()
    assert chance in f.texts(), f.texts()
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
import json, re
import numpy as np
from svg import Figure, SVG

def close(got, want, room):
    assert np.shape(got) == np.shape(want) and np.all(np.abs(np.asarray(got) - want) <= room), (
        np.shape(got), np.abs(np.asarray(got) - want).max())

# a heat map: one number per value, darker where it is larger, the best one framed
f = Figure("g-heat")
shown = [float("".join(t.itertext())) for g in f.named("value") for t in g.iter(SVG + "text")]
assert shown == [3, 1, 2, 5, 4], shown  # what is missing has none
pixels = f.picture("values")
middle = [[pixels[int((i + 0.5) * pixels.shape[0] / 2), int((j + 0.5) * pixels.shape[1] / 3)]
           for j in range(3)] for i in range(2)]
light = np.array([[m[:3].mean() for m in row] for row in middle])
known = np.array([light[0][1], light[1][0], light[0][0], light[1][2], light[1][1]])  # 1 to 5
assert np.all(np.diff(known) < -0.05) and middle[0][2][3] == 0, (known, middle[0][2])
box = np.array(re.findall(r"[ML] (\S+) (\S+)", next(f.named("best")[0].iter(SVG + "path")).get("d")), dtype=float)
places = [float(next(f.named(f"xtick_{k}")[0].iter(SVG + "use")).get("x")) for k in (1, 2, 3)]
assert abs((box[:, 0].min() + box[:, 0].max()) / 2 - places[1]) < 1  # 1, in the second column, is the lowest

def pictures(name, count, rows, cols, wide, groups):
    """Images cut from the sheet that is drawn."""
    sheet = Figure(name).picture("images")[..., 0]
    return [sheet[k // groups * (rows + 1):, k % groups * (wide * (cols + 1) + 1) + j * (cols + 1):]
            [:rows, :cols] for k in range(count) for j in range(wide)]

data = json.load(open("g-data.json"))
# 256 greys, rounded when they are chosen and when they are written: up to 1.7 of 255 were measured
close([p.ravel() for p in pictures("g-pictures", 5, 3, 4, 2, 3)],
      np.array(data["pictures"]).reshape(10, 12), 2.5 / 255)
# halves side by side are the whole picture
whole = np.load("whole.npy")
low, high = whole.min(), whole.max()
shown = pictures("score-images", 3, 4, 6, 2, 3)
for part in (shown[::2], shown[1::2]):  # true and predicted, which are the same here
    close(part, (whole - low) / (high - low), 2.5 / 255)

# a network: both ends of every line are the places of the nodes of that edge
f = Figure("g-net")
nodes = [np.array(f.points(f.named(f"nodes-{k}")[0])) for k in (0, 1)]
assert [len(n) for n in nodes] == [42, 42]

def lines(name):
    found = re.findall(r"M (\S+) (\S+)\s+L (\S+) (\S+)", next(f.named(name)[0].iter(SVG + "path")).get("d"))
    return np.array(found, dtype=float).reshape(-1, 4)

def check(name, places, edges):
    close(lines(name), [[*places[i], *places[j]] for i, j in edges], 0.01)

check("edges-0", nodes[0], data["edges"])
check("edges-1", nodes[1], data["edges"][:50])
check("new-1", nodes[1], data["fresh"][:40])  # the strongest alone
assert "the 40 strongest of 60 new edges" in f.texts()
rings = f.points(f.named("labelled-0")[0])
close(sorted(rings), sorted(map(tuple, nodes[0][data["order"][:5]])), 0.01)
# groups: one colour each, and nearer to their own than to others
colours = [re.search(r"fill: (#\w+)", u.get("style")).group(1) for u in f.named("nodes-0")[0].iter(SVG + "use")]
order = data["order"]
for g in range(4):
    assert len({colours[i] for i in order[10 * g:10 * g + 10]}) == 1, g
assert len({colours[order[10 * g]] for g in range(4)}) == 4
at = nodes[0]
middle = np.array([at[order[10 * g:10 * g + 10]].mean(axis=0) for g in range(4)])
nearest = [int(np.argmin(((at[order[i]] - middle) ** 2).sum(axis=1))) for i in range(40)]
assert sum(a == i // 10 for i, a in enumerate(nearest)) >= 38, nearest
# the matrix: symmetric, an entry for every edge, edges within groups near the diagonal
matrix = f.picture("matrix-0")[..., 3] > 0
assert matrix.shape == (42, 42) and (matrix == matrix.T).all() and matrix.sum() == 2 * len(data["edges"])
spots = np.argwhere(matrix)
within = (spots[:, 0] // 10 == spots[:, 1] // 10).sum()
assert within > 0.8 * len(spots), (within, len(spots))
END
