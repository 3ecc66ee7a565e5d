# okra report: results as a page; what is no result is refused by name and place.
need_python
"$PYTHON" -c "import jinja2, matplotlib, networkx" 2>/dev/null || skip "no matplotlib, Jinja2 or networkx"
printf '{"okra":"0","format":1,"kind":"score","name":"mine","title":"a & b","tables":[],"figures":[]}\n' >r.json
expect 0 okra report r.json -o page.html
expect_in "a &amp; b" page.html
expect_in "</html>" page.html
okra report r.json -o - --quiet >out
expect_in "<!DOCTYPE html>" out
printf '[1]\n' >bad.json
echo '[]' > empty.json
expect_fail 1 "okra report: empty.json: an empty list, expected results of okra" \
    okra report empty.json -o empty.html
[ ! -e empty.html ]
expect_fail 1 "okra report: bad.json: element 0 is no result of okra: expected an object with the fields kind and format" \
    okra report bad.json -o no.html
printf '{"okra":"9","format":2,"kind":"score"}\n' >new.json
expect_fail 1 "okra report: new.json: format 2, expected 1: a newer okra wrote it" \
    okra report new.json -o no.html
printf '{"okra":\n' >cut.json
expect 1 okra report cut.json -o no.html
expect_in "okra report: cut.json: line 2" err
expect 1 okra report missing.json -o no.html
[ ! -e no.html ]
printf '{"okra":"0","format":1,"kind":"score","figures":[{"id":"x","type":"curve","title":"t"}]}\n' >odd.json
expect 0 okra report odd.json -o odd.html
expect_in "This figure cannot be drawn: it has no series" odd.html
expect 2 okra report -o no.html
printf '1\n2\n' >a.csv
okra score --y a.csv --yhat a.csv --metric mse,mae --json >score.json
expect 0 okra report score.json -o score.html
expect_in "<td>mae</td>" score.html
# The same as Markdown, with figures beside it and reasons said once.
cat >paper.json <<'END'
{"okra":"0","format":1,"kind":"paper","name":"mine","title":"a | b","paper":"Us 2001","date":"2001-02-03",
 "commit":"abc","machine":"two cores","threads":2,"seconds":3.5,"command":"okra paper mine","tables":[
 {"id":"t","title":"AUC","metric":"AUC-ROC","better":"higher","columns":["5 %","10 %"],"rows":[
  {"label":"ridge","cells":{
   "5 %":{"okra":0.75,"okra_sd":0.01,"paper":0.85,"paper_sd":0.02,"z":-4.47,"verdict":"differs","why":"other data"},
   "10 %":{"okra":0.95,"okra_sd":0.01,"paper":0.85,"paper_sd":0.02,"z":1.47,"verdict":"reproduced as printed","why":"other data"}}},
  {"label":"margin","cells":{
   "5 %":{"okra":0.5,"okra_sd":0,"paper":0.7,"paper_sd":null,"z":null,"verdict":"not comparable","why":"other data"}}}]},
 {"id":"u","title":"own","metric":"error","better":"lower","columns":["a"],"rows":[{"label":"x","cells":{"a":{"okra":0.25}}}]}],
 "figures":[{"id":"c","type":"curve","title":"a curve","series":[{"name":"s","x":[1,2],"y":[3,4]}]}],
 "readings":["first <one>"],"deviations":[],"remarks":[]}
END
# Markup in any text, the verdict's too, stays text; sizes that four decimals do not show.
evil='\"><script>alert(1)</script>'
cat >evil.json <<END
{"okra":"$evil","format":1,"kind":"paper","name":"$evil","title":"$evil","paper":"$evil","date":"$evil",
 "commit":"$evil","machine":"$evil","command":"$evil","tables":[
 {"id":"$evil","title":"$evil","metric":"$evil","spread":"$evil\\r# Own\\n# Own","better":"$evil","columns":["$evil"],"rows":[
  {"label":"$evil","cells":{"$evil":{"okra":0.0000123,"okra_sd":2e30,"paper":1e99,"paper_sd":0,
   "z":-1e77,"verdict":"$evil","why":"$evil"}}}]}],
 "figures":[{"id":"$evil","type":"curve","title":"$evil","x_label":"$evil","series":[{"name":"$evil","x":[1,2],"y":[3,4]}]},
  {"id":"b","type":"bars","title":"$evil","labels":["$evil"],"series":[{"name":"$evil","y":[1]}]},
  {"id":"h","type":"heatmap","title":"$evil","x":["$evil"],"y":["$evil"],"values":[[1]]},
  {"id":"n","type":"network","title":"$evil","nodes":2,"panels":[{"name":"$evil","edges":[[0,1]]}]},
  {"id":"t","type":"$evil","title":"$evil","svg":"<script>alert(1)</script>"}],
 "readings":["$evil"],"deviations":["$evil"],"remarks":["$evil"]}
END
for page in evil.html evil.md; do
    expect 0 okra report evil.json -o $page --title "$evil"
    [ "$(grep -c '<script>alert' $page)" = 0 ] || complain "$page holds markup of a result"
    [ "$(tr '\r' '\n' <$page | grep -c '^# Own')" = 0 ] || complain "$page has a heading of a result"
    for text in "1.230e-05 ± 2.000e+30" "1.000e+99" "-1.0e+77" "at most 2 in size"; do
        expect_in "$text" $page
    done
done

mkdir -p pages/pictures
expect 0 okra report paper.json -o pages/page.md --figures pages/pictures --title 'Ours'
for text in "# Ours" "| [mine](#mine) | 1 |  |  | 1 | 1 |" "Us 2001. a \\| b" \
    "okra paper mine · 2001-02-03 · okra 0 · commit abc · 3.5 s · two cores · 2 threads" \
    "AUC-ROC, higher is better" \
    "| ridge | 5 % | 0.85 ± 0.02 | 0.75 ± 0.01 | z -4.5 | differs (1) |" \
    "| ridge | 10 % | 0.85 ± 0.02 | 0.95 ± 0.01 | z +1.5 | reproduced as printed |" \
    "| margin | 5 % | 0.70 | 0.50 | -0.2000, no spread | not comparable (1) |" "(1) other data" \
    "| x | 0.2500 |" "![a curve](pictures/mine-c.svg)" "- first &lt;one&gt;"; do
    expect_in "$text" pages/page.md
done
[ "$(grep -c '^([0-9]*) other data' pages/page.md)" = 1 ]
# Entries whose data are not the paper's are marked where cells are counted.
[ "$(grep -c 'with a star' pages/page.md)" = 0 ] || complain "a star is told where there is none"
sed 's/"deviations":\[\]/"deviations":["other digits"]/' paper.json >starred.json
expect 0 okra report starred.json -o starred.md
expect_in '| [mine](#mine) \* | 1 |  |  | 1 | 1 |' starred.md
expect_in 'Entries with a star say' starred.md
[ "$(grep -n '^(1) other data' pages/page.md | cut -d: -f1)" -lt "$(grep -n '| row | column' pages/page.md | cut -d: -f1)" ] ||
    complain "the reason does not stand above the table"
expect_in "<svg" pages/pictures/mine-c.svg
expect 0 okra report paper.json score.json -o both.html
expect_in '<td><a href="#r0">mine</a></td><td>1</td><td>0</td><td>0</td><td>1</td><td>1</td>' both.html
expect 1 okra report paper.json -o page.md --figures none
[ ! -e page.md ]
expect_fail 1 "okra report: figure x of score cannot be drawn: it has no series" \
    okra report odd.json -o odd.md --figures pages
[ ! -e odd.md ]

# what was not run is folded away, by its name; tables tell that they scroll
cat >part.json <<'END'
{"okra":"0","format":1,"kind":"paper","name":"part","title":"part","tables":[
 {"id":"t","title":"AUC","metric":"AUC-ROC","better":"higher","columns":["a"],"rows":[
  {"label":"ours","cells":{"a":{"okra":0.75,"paper":0.7}}},
  {"label":"theirs <alone>","cells":{"a":{"paper":0.85}}},
  {"label":"nothing","cells":{}}]}],"figures":[]}
END
okra report -q part.json r.json -o part.html
expect_in "<summary>2 entries were not run</summary>" part.html
expect_in "<li>theirs &lt;alone&gt;</li>" part.html
[ "$(grep -c '<tr><td>ours' part.html)" = 1 ]
if grep -q '<tr><td>nothing' part.html; then exit 1; fi
expect_in "<summary>nothing was run</summary>" part.html
expect_in "no-repeat local" part.html

# Claims: what has run is judged by its numbers, what was tuned by eye is not, the rest says that it has not run;
# entries come in the order of the papers.
cat >claims.json <<'END'
[{"okra":"0","format":1,"kind":"paper","mode":"full","name":"weston-t2","title":"two","commit":"abc","tables":[
 {"id":"whole","title":"w","metric":"error","better":"lower","columns":["the inner folds choose"],"rows":[
  {"label":"KDE","cells":{"the inner folds choose":{"okra":0.085,"okra_sd":0.002,"values":[0.083,0.087],"paper":0.0798,"paper_sd":0.0067,"z":0.7,"verdict":"reproduced as printed"}}},
  {"label":"k-NN","cells":{"the inner folds choose":{"okra":0.13,"okra_sd":0.002,"values":[0.128,0.132],"paper":0.125,"paper_sd":0.0075,"z":0.7,"verdict":"reproduced as printed"}}}]}],"figures":[]},
 {"okra":"0","format":1,"kind":"paper","mode":"full","name":"weston-t1","title":"one","commit":"abc","tables":[
 {"id":"table1","title":"w","metric":"loss","better":"lower","columns":["string loss"],"rows":[
  {"label":"KDE","cells":{"string loss":{"okra":0.5,"okra_sd":0.1,"values":[0.4,0.6],"seen":true,"why":"tuned by eye","paper":0.676,"paper_sd":0.03,"z":1,"verdict":"not comparable"}}},
  {"label":"k-NN","cells":{"string loss":{"okra":0.9,"okra_sd":0.1,"values":[0.8,1.0],"paper":0.985,"paper_sd":0.03,"z":-1,"verdict":"reproduced as printed"}}}]}],"figures":[]}]
END
expect 0 okra report claims.json -o claims.md --claims alone
for text in "| **reproduced as printed** |  | 0.0850 &lt; 0.1300 |" "[weston-t2](results.md#weston-t2)" \
    "**not comparable**: tuned by eye" "the entry has not run | | | brouard-t8 | ten networks" "## What this means for you" "Every entry was run at commit abc."; do
    expect_in "$text" claims.md
done
okra report -q claims.json -o both.md --claims first
expect_in "[weston-t2](#weston-t2)" both.md
[ "$(grep -n '^## weston-t1' both.md | cut -d: -f1)" -lt "$(grep -n '^## weston-t2' both.md | cut -d: -f1)" ] ||
    complain "entries are not in the order of the papers"
expect_in "not comparable (1), seen" both.md
expect_fail 2 "okra report: --claims writes Markdown: a page whose name ends in .md" \
    okra report claims.json -o claims.html --claims alone
# A result that lacks what a claim asks for is told so.
for tables in '[]' '{}' '[1]' '[{"id":"whole"}]' '[{"id":"whole","columns":[1],"rows":[{"label":"KDE","cells":{"the inner folds choose":{}}},{"label":"k-NN","cells":{"the inner folds choose":{"values":[null]}}}]}]'; do
    printf '{"okra":"0","format":1,"kind":"paper","mode":"full","name":"weston-t2","title":"t","tables":%s,"figures":[]}' "$tables" >odd.json
    expect 0 okra report odd.json -o odd.md --claims first
    expect_in "**not comparable**: " odd.md
done

# a fit: what was compared, and the command that does the same
need_python
source "$ROOT/tests/cli/lib/small.bash"
okra fit --x x.csv --y y.csv -o f.okra --json >fit.json
expect 0 okra report fit.json -o fit.html --figures .
expect_in "Best settings" fit.html
expect_in "okra fit --x x.csv --y y.csv --kx " fit.html
expect_in "</svg>" fit-grid.svg
okra fit --x x.csv --y y.csv --kx linear --ky linear --lambda 0.1,1 -o 'g-{lambda}.okra' --json >fit.json
expect 0 okra report fit.json -o fit.html
# names of the columns of a heat map do not overlap, names of its rows are not cut off by the edge
okra select --x x.csv --y y.csv --kx 'standardize | rbf(sigma={0.123456,1.23456,12.3456})' \
    --lambda 1e-7..1e1:33 --refine 0 --json 2>err >sel.json
okra report sel.json -o sel.html -q --figures .
"$PYTHON" - <<'END'
import re
import xml.etree.ElementTree as tree
S = "{http://www.w3.org/2000/svg}"

def ticks(letter):
    """Places and texts of the ticks of an axis."""
    groups = [g for g in tree.parse("select-grid.svg").iter(S + "g")
              if re.fullmatch(letter + r"tick_\d+", g.get("id") or "")]
    return [(float(t.get("x")), "".join(t.itertext())) for g in groups for t in g.iter(S + "text")]

columns, rows = sorted(ticks("x")), ticks("y")
assert 4 <= len(columns) < 33, columns
for (a, s), (b, t) in zip(columns, columns[1:]):  # letters of 14 are about 8 wide
    assert a + 4.2 * len(s) < b - 4.2 * len(t), (s, t)
assert sorted(float(t) for _, t in rows) == [0.123456, 1.23456, 12.3456], rows  # what they share is said once
assert all(x - 8.4 * len(text) > 0 for x, text in rows), rows
assert "rbf(sigma=…)" in open("select-grid.svg").read()
END
# an axis of shares does not go beyond them
printf '{"okra":"0","format":1,"kind":"score","name":"share","figures":[{"id":"c","type":"curve","title":"t",
"series":[{"name":"a","x":[10,20,30],"y":[1,1,1]}]}]}\n' >share.json
okra report share.json -o share.html -q
if grep -qE '>1\.[1-9]<' share.html; then exit 1; fi
# Devices and pipes are written, not replaced; a folder is refused.
mkfifo pipe.html
cat pipe.html >through.html &
expect 0 timeout 20 okra report r.json -o pipe.html
wait $!
[ -p pipe.html ] || complain "the pipe was replaced"
expect_in "</html>" through.html
mkdir folder.html
expect_fail 1 "okra report: folder.html: Is a directory" okra report r.json -o folder.html
ln -s /dev/full full.html
expect_fail 1 "okra report: /dev/full: No space left on device" okra report r.json -o full.html
[ -c /dev/full ] && [ -L full.html ] || complain "a device or a link was replaced"
sed 's/"commit":"abc"/"commit":"<script>x<\/script>\\r# Own"/' claims.json >commits.json
expect 0 okra report commits.json -o commits.md --claims alone
expect_in "at commit &lt;script&gt;x&lt;/script&gt; \\# Own." commits.md
[ "$(find . -name '*.tmp*' | wc -l)" = 0 ] || complain "a temporary file is left"
# Large tables and lists take a time that grows with their size.
awk 'BEGIN { printf "{\"okra\":\"0\",\"format\":1,\"kind\":\"a\",\"tables\":[{\"id\":\"t\",\"title\":\"t\",\"columns\":[\"c0\"";
    for (j = 1; j < 60; j++) printf ",\"c%d\"", j; printf "],\"rows\":[";
    for (i = 0; i < 150; i++) { printf "%s{\"label\":\"r\",\"cells\":{", i ? "," : "";
        for (j = 0; j < 60; j++) printf "%s\"c%d\":{\"okra\":0.5}", j ? "," : "", j; printf "}}" } print "]}]}" }' >large.json
for page in large.md large.html; do
    expect 0 timeout 20 okra report large.json -o $page
done
awk 'BEGIN { printf "["; for (i = 0; i < 6000; i++) printf "%s{\"format\":1,\"kind\":\"a\"}", i ? "," : ""; print "]" }' >many.json
expect_fail 1 "okra report: many.json: more than 5000 results for one page" timeout 20 okra report many.json -o many.html

# What a terminal or a page would obey is shown, whatever a result says.
printf '1,2\n3,4\n' >t.csv
okra score --y t.csv --yhat t.csv --metric mse --json >plain.json
need_python
"$PYTHON" - <<'END'
import json
result = json.load(open("plain.json"))
def spoil(t):
    return {k: spoil(v) for k, v in t.items()} if isinstance(t, dict) else [spoil(v) for v in t] if isinstance(t, list) else \
        t + "\u001b[2J\u0085\u202e\u007f<b>\u00e9" if isinstance(t, str) else t
for key in ("name", "title", "command", "okra", "tables"):
    result[key] = spoil(result[key])
for figure in result["figures"]:
    figure["title"] = spoil(figure["title"])
json.dump(result, open("odd.json", "w"))
END
for page in odd.html odd.md; do
    expect 0 okra report odd.json -o $page
    expect_in 'x1b' $page
    expect_in 'é' $page
    refute grep -q '<b>' $page
    refute env LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2\x85|\xe2\x80\xae' $page
done
# What is no result says what it is; whatever fields hold, a page or a clear error comes of it.
okra fit --x x.csv --y y.csv --kx linear --ky linear --lambda 1 -o m.okra -q
expect_fail 1 "okra report: m.okra: an okra model, index or archive, not a result; 'okra info m.okra' describes a model, and commands with --json write results" \
    okra report m.okra -o no.html
mkdir -p folder
expect_fail 1 "okra report: folder: Is a directory" okra report folder -o no.html
printf '\377\376' >binary.json
expect_fail 1 "okra report: binary.json: no text, expected a result that a command wrote with --json" \
    okra report binary.json -o no.html
"$PYTHON" - <<'END'
import json
json.dump({"kind": "x", "format": 1, "tables": "[" * 99}, open("deep.json", "w"))
open("nested.json", "w").write("[" * 100000 + "]" * 100000)
odd = [None, -7, 1e308, "$x_{1\ud800", [[]], {"x": 1}, [{"x": "a", "y": None}], int("9" * 400)]
base = [
    {"type": "curve", "series": [{"name": "a", "x": [1, 2], "y": [1, 2], "sd": [1, 1]}], "log_x": True, "log_y": True},
    {"type": "bars", "labels": ["a"], "series": [{"y": [1]}]},
    {"type": "heatmap", "x": [1], "y": [1], "values": [[1]], "better": "lower"},
    {"type": "images", "rows": 1, "cols": 1, "low": 0, "high": 1, "columns": ["a"], "images": [[[1]]]},
    {"type": "molecules", "items": [{"smiles": "CC", "label": "a", "note": "b", "atoms": [], "bonds": []}]},
    {"type": "network", "nodes": 3, "labelled": [0], "panels": [{"name": "a", "edges": [[0, 1]], "new": [[1, 2]]}]}]
figures = []
for figure in base:
    for key in [*figure, "id", "title", "x_label", "area", "base"]:
        figures += [dict(figure, **{key: value}) for value in odd]
    for key in ("series", "items", "panels"):
        for inner in figure.get(key, [{}])[0]:
            figures += [dict(figure, **{key: [dict(figure[key][0], **{inner: value})]}) for value in odd]
result = {"kind": "score", "format": 1, "name": "odd", "figures": figures}
tables = [{"title": "t", "columns": ["a"], "rows": [{"label": "r", "cells": {"a": {"okra": 1, "paper": 1}}}]}]
more = [dict({"kind": "paper", "format": 1, "tables": tables}, **{key: value}) for value in odd for key in (
    "name", "title", "paper", "command", "date", "seconds", "threads", "tables", "figures", "remarks", "kernels", "n")]
more += [{"kind": "fit", "format": 1, "tables": [dict(tables[0], **{key: value})]} for value in odd
         for key in ("title", "metric", "better", "spread", "columns", "rows")]
more += [{"kind": "fit", "format": 1, "tables": [dict(tables[0], rows=[{"label": value, "cells": value},
         {"label": "r", "cells": {"a": value}}, {"label": "r", "cells": {"a": {key: value for key in (
             "okra", "okra_sd", "paper", "paper_sd", "z", "verdict", "why", "seen")}}}])]} for value in odd]
json.dump([result, *more], open("wild.json", "w"))
END
expect 0 timeout 250 okra report wild.json deep.json -o wild.html
expect_in "This figure cannot be drawn" wild.html
expect_in '$x_{1' wild.html
refute grep -q Traceback err
expect 0 timeout 60 okra report wild.json -o wild.md
expect 1 okra report nested.json -o no.html
expect_in "okra report: nested.json: " err
refute grep -q Traceback err
[ ! -e no.html ] || complain "a page of no result was written"
# One figure alone, as SVG or PNG; which one, where there are several.
expect 0 okra report -q sel.json -o one.png
"$PYTHON" -c "assert open('one.png', 'rb').read(8) == b'\x89PNG\r\n\x1a\n'"
expect_fail 1 "okra report: two.svg: --figure says which one; there are c, d" \
    okra report <(printf '{"format":1,"kind":"a","figures":[{"id":"c"},{"id":"d"}]}') -o two.svg
# The program that draws is never taken from the current folder, and its absence is told.
mkdir -p alone/okra_report away && cp "$(realpath "$(command -v okra)")" away/okra
cp -d "$(dirname "$(realpath "$(command -v okra)")")"/libokra.so* away/
printf '#!/bin/sh\necho taken >&2\n' >alone/okra-report
chmod +x alone/okra-report
echo 'print("taken")' >alone/okra_report/__init__.py
cd alone
for path in "" "." ":/nowhere" "./"; do
    run_ env PATH="$path" ../away/okra report ../r.json -o ../gone.html
    [ "$status" = 1 ] || complain "status $status with PATH '$path'"
    expect_in "okra report: the program okra-report, which draws pages and figures, is missing" err
done
mkdir python && printf '#!/bin/sh\nexec %s -S "$@"\n' "$PYTHON" >python/python3 && chmod +x python/python3
run_ env PATH="$PWD/python" ../away/okra report ../r.json -o ../gone.html
[ "$status" = 1 ] || complain "okra_report of the current folder was taken"
refute grep -q taken out err
# Through python3, where the package is installed.
expect 0 env PATH="$PWD/python" PYTHONPATH="$ROOT/python:$("$PYTHON" -c 'import os, jinja2; print(os.path.dirname(os.path.dirname(jinja2.__file__)))')" \
    ../away/okra report ../r.json -o ../gone.html
expect_in "a &amp; b" ../gone.html
cd ..
