# okra info, and a model file as other programs see it.
source "$ROOT/tests/cli/lib/small.bash"
okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.01 -o m.okra
expect 0 okra info m.okra
for text in "format         version 1, written by okra " "inputs         dense, 8 of width 2" \
    "kx             rbf(sigma=2)" "lambda         0.01" "by default     operator identity, " "  x/values                 <f8  8 x 2"; do
    expect_in "$text" out
done
expect_fail 1 "okra info: x.csv: not an okra model: a model is what okra fit -o writes" \
    okra info x.csv
if command -v unzip >/dev/null; then
    unzip -tqq m.okra
    unzip -p m.okra model.json >model.json
    expect_in '"format": "okra-model"' model.json
fi
need_python
okra info m.okra --json >out
"$PYTHON" - <<'END'
import json, numpy, zipfile
m = numpy.load("m.okra")
assert (m["x/values"] == numpy.loadtxt("x.csv", delimiter=",")).all()
assert (m["y/values"] == numpy.loadtxt("y.csv", delimiter=",")).all()
about = json.load(open("out"))
assert about == json.loads(m["model.json"])
assert about["format"] == "okra-model" and about["version"] == 1
assert about["method"] == "ridge" and about["options"]["lambda"] == "0.01"
assert about["kernels"] == {"x": "rbf(sigma=2)", "y": "linear"}
assert about["x"] == {"kind": "dense", "count": 8, "width": 2}
z = zipfile.ZipFile("m.okra")
assert z.testzip() is None
raw = open("m.okra", "rb").read()
for entry in z.infolist():
    assert entry.compress_type == zipfile.ZIP_STORED
    if entry.filename.endswith(".npy"):
        array = about["arrays"][entry.filename[:-4]]
        assert int(array["crc32"], 16) == entry.CRC
        assert list(m[entry.filename[:-4]].shape) == array["shape"]
        assert raw.index(z.read(entry)) % 64 == 0
END
