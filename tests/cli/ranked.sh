# Ranked candidates on a page: spectra, molecules and p-values, read back from the SVG.
need_python
"$PYTHON" -c "import jinja2, matplotlib, networkx" 2>/dev/null || skip "no matplotlib, Jinja2 or networkx"
. "$ROOT/tests/cli/lib/spectra.bash"
{ ethanol; propanol; spectrum 'acetone <b>' 59.0491 'CC(C)=O' '31.02 10' '43.018 100' '59.049 60'; } >a.mgf
{ spectrum new 47.0491 OCC '29.0401 5' '31.02 40' '40 20'; spectrum other 61.0648 CCCO '43.05 8'; } >new.mgf
printf 'OCC alcohol\nCOC ether\nCCCO\nCC(C)O\nc1ccccc1O phenol\n' >c.smi
okra fit -q --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'ecfp(bits=256) | tanimoto' --lambda 0.01 -o m.okra
okra index -q c.smi --model m.okra -o c.okx
expect 0 okra predict m.okra --x new.mgf --candidates c.okx --top 3 --p-values --json -o r.tsv
cp out ranked.json
mkdir figures drawn
expect 0 okra report -q ranked.json -o page.html --figures figures
printf 'CCO\nCCCO\n' >truth.smi
okra score --y truth.smi --lists r.tsv --candidates c.okx --metric mrr --json >score.json
expect_fail 2 "okra score: --candidates FILE is missing: the list that r.tsv numbers, or --model MODEL" \
    okra score --y truth.smi --lists r.tsv --metric mrr
expect 0 okra report -q score.json ranked.json -o both.html --figures figures
export PYTHONPATH="$ROOT/tests/cli/lib:$ROOT/python" PYTHONDONTWRITEBYTECODE=1
cat >check.py <<'END_PY'
import csv, re
from svg import Figure, SVG, near

def stems(name):
    """Lines of each series: m/z and height."""
    f = Figure(name)
    (_, x), (_, y) = f.axis("x"), f.axis("y")
    out = {}
    for k in range(4):
        for group in f.named(f"series-{k}"):
            for path in group.iter(SVG + "path"):
                if path.get("id"):  # of a mark
                    continue
                (at, zero), (again, top) = [tuple(map(float, p)) for p in re.findall(
                    r"[ML] (\S+) (\S+)", path.get("d"))]
                assert abs(at - again) < 1e-6 and abs(y(zero)) < 0.01
                out.setdefault(k, []).append((x(at), y(top)))
    return out, f.title

# the query above, the training spectrum below; peaks within 10 ppm or 2 mDa match
drawn, title = stems("ranked-spectrum-0")
assert title == "new (up) and ethanol (down)", title
near([m for m, _ in drawn[0]], [40], 0.1)
near([h for _, h in drawn[0]], [0.5], 0.01)
near([m for m, _ in drawn[1]], [29.0401, 31.02], 0.1)
near([h for _, h in drawn[1]], [0.125, 1], 0.01)
near([h for _, h in drawn[3]], [-0.25, -1], 0.01)
assert 2 not in drawn, drawn
drawn, title = stems("ranked-spectrum-1")
assert title == "other (up) and propanol (down)", title
near([h for _, h in drawn[1]], [1], 0.01)
near([h for _, h in drawn[2]], [-0.25], 0.01)

# the molecules: best first, as the table has them
rows = list(csv.DictReader(open("r.tsv"), delimiter="\t"))
for query in range(2):
    words = Figure(f"ranked-molecules-{query}").texts()
    mine = [r for r in rows if r["test"] == str(query)]
    assert len(mine) == 3
    labels = [w for w in words if re.match(r"[123]\. ", w)]
    assert labels == [f"{k + 1}. {row['name'] or row['formula']}" for k, row in enumerate(mine)], labels
    notes = re.findall(r"distance \S+ p-value \S+", " ".join(words))
    for row, note in zip(mine, notes):
        d, p = re.fullmatch(r"distance (\S+?),? p-value (\S+)", note).groups()
        assert abs(float(d) - float(row["distance"])) < 1e-3 and abs(float(p) - float(row["p_value"])) < 1e-3
    assert len(notes) == 3

# the page of scores: truths among the first k, and their p-values
truth = {"0": "OCC", "1": "CCCO"}
rank = {r["test"]: int(r["rank"]) for r in rows if r["smiles"] == truth[r["test"]]}
value = [float(r["p_value"]) for r in rows if r["smiles"] == truth[r["test"]]]
for name, share in (("hits", lambda k: sum(v <= k for v in rank.values()) / 2),
                    ("calibration", lambda a: sum(v <= a + 1e-9 for v in value) / len(value))):
    f = Figure(f"score-{name}")
    (_, x), (_, y) = f.axis("x"), f.axis("y")
    points = f.points(f.named("series-0")[0])
    assert len(points) == (3 if name == "hits" else 51)
    near([y(q) for _, q in points], [share(round(x(p), 2)) for p, _ in points], 0.01)
END_PY
"$PYTHON" check.py
grep -q '<script>alert' page.html && exit 1
expect_in 'acetone &lt;b&gt;' <("$PYTHON" -c "
import json; r = json.load(open('ranked.json')); r['figures'][0]['title'] = 'acetone <b>'
json.dump(r, open('marked.json', 'w'))"; okra report -q marked.json -o -)

# drawn molecules: every bond and every letter where the places say
"$PYTHON" - <<'END_PY'
import json
items = [{"smiles": "C=O", "label": "<i>", "note": "", "atoms": [[0, 0, "C"], [1, 1, "O"], [2, 0, ""]],
          "bonds": [[0, 1, 2], [1, 2, 1]]}, {"smiles": "C" * 300, "label": "long", "note": "n"}]
result = {"okra": "0", "format": 1, "kind": "ranked", "name": "d", "tables": [],
          "figures": [{"id": "m", "type": "molecules", "title": "t", "items": items}]}
json.dump(result, open("d.json", "w"))
for k, change in enumerate(({"bonds": [[0, 9, 1]]}, {"bonds": [[-1, 0, 1]]}, {"atoms": [[0, 1e300, "C"]], "bonds": []},
                            {"atoms": [["a", 0, "C"]], "bonds": []}, {"bonds": ["x"], "atoms": [3]})):
    result["figures"][0]["items"] = [{**items[0], **change}]
    json.dump(result, open(f"bad{k}.json", "w"))
result["figures"][0]["items"] = []
json.dump(result, open("bad5.json", "w"))
END_PY
expect 0 okra report -q d.json -o d.html --figures drawn
"$PYTHON" - <<'END_PY'
from svg import Figure, SVG
f = Figure("d-m", "drawn")
def place(group):
    text = next(group.iter(SVG + "text"))
    return "".join(text.itertext()), float(text.get("x")), float(text.get("y"))
atoms = {w: (x, y) for w, x, y in map(place, f.named("atom"))}
bonds = [sum(f.points(g), ()) for g in f.named("bond")]
bonds = bonds[:3]  # of the first molecule
assert sorted(atoms) == ["C", "O"], atoms
middle = [sum(c) / 2 for c in zip(*bonds[:2])]  # a double bond is two lines around its axis
assert all(abs(a - b) < 5 for a, b in zip(middle[::2], (atoms["C"][0], atoms["O"][0]))), (middle, atoms)
assert abs(bonds[2][0] - middle[2]) < 0.2 and bonds[2][2] > bonds[2][0]
assert middle[3] < middle[1] and atoms["O"][1] < atoms["C"][1]  # up is up
assert "<i>" in f.texts(), f.texts()
END_PY
for k in 0 1 2 3 4; do
    expect 0 okra report -q bad$k.json -o bad.html
    expect_in "This figure cannot be drawn: a molecule has bonds or places that do not fit." bad.html
done
expect 0 okra report -q bad5.json -o bad.html
expect_in "This figure cannot be drawn: it has no molecules." bad.html

# RDKit lays them out, where it is
if "$PYTHON" -c 'import rdkit' 2>/dev/null; then
    expect 0 "$PYTHON" "$ROOT/python/okra/depict.py" ranked.json -o laid.json
    expect_in "okra.depict: 6 molecules" err
    expect 0 okra report -q laid.json -o laid.html --figures drawn
    "$PYTHON" - <<'END_PY'
import json
from svg import Figure, SVG
result = json.load(open("laid.json"))
for f in result["figures"]:
    if f["type"] == "molecules":
        drawn = Figure(f"ranked-{f['id']}", "drawn")
        assert len(drawn.named("bond")) == sum(b[2] for item in f["items"] for b in item["bonds"])
        letters = [a[2] for item in f["items"] for a in item["atoms"] if a[2]]
        assert ["".join(next(g.iter(SVG + "text")).itertext()) for g in drawn.named("atom")] == letters
        assert any(letters) and all(len(i["atoms"]) >= 3 for i in f["items"])
END_PY
    expect_fail 1 "okra.depict: none.json: [Errno 2] No such file or directory: 'none.json'" \
        "$PYTHON" "$ROOT/python/okra/depict.py" none.json -o laid.json
fi
