"""How files are altered for mutate_commands.py: JSON trees, arrays, models and indexes as a whole (and sealed
again), tables, bytes, journals and checkpoints. R draws; whoever uses this seeds it.
"""
import io
import json
import pathlib
import random
import re
import struct
import sys
import zipfile
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli" / "lib"))
import seal  # noqa: E402

R = random.Random(1)
NUMBERS = [0, 1, -1, 2, 3, 7, 11, 12, 13, 64, 255, 1 << 16, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, (1 << 53) + 1,
           (1 << 63) - 1, -(1 << 63), 0.5, -0.0, 1e-320, 1e-9, 1e9, 1e15, 1.7e308, -1.7e308]
TEXTS = ["", "x", "<script>x</script>", "'\"><svg onload=x>", "\x1b[31m\x07", "\u202e", "é" * 300, "a" * 70000, "../../etc/passwd", "/dev/zero", "file=/dev/zero", "%s%n%d",
         "linear", "rbf(sigma=1)", "metric(file=/dev/zero)", "(" * 3000, "linear" + "+linear" * 400, "ssk(length=2000000)",
         "wl(h=1000000)", "ecfp(bits=16777216)", "rff(rank=100000)", "knn", "tgp-kl", "nan", "-1", "1e400", "0x10"]


def number(text):
    """Any number of a text becomes another one."""
    found = list(re.finditer(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text))
    if not found:
        return text + R.choice(TEXTS)
    f = R.choice(found)
    return text[:f.start()] + str(R.choice(NUMBERS)) + text[f.end():]


def odd(value):
    """Another value in the place of one of a JSON tree."""
    what = R.randrange(8)
    if what == 0:
        return R.choice(NUMBERS)
    if what == 1:
        return R.choice(TEXTS)
    if what == 2:
        return R.choice([None, True, False, [], {}, [[]], [0] * 5000, {"x": 1}])
    if isinstance(value, str):
        return number(value) if what < 6 else value[::-1] if what == 6 else value + R.choice(TEXTS)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return R.choice([value + 1, value - 1, -value, 2 * value, value * 1e300 if isinstance(value, float) else 1 << 62])
    if isinstance(value, list) and value:
        return R.choice([value[:-1], value + value, value[::-1], value[:1] * len(value), value * 50])
    return value


def places(tree, path=()):
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, path + (key,))


def alter_json(tree):
    path = R.choice(list(places(tree)))
    if not path:
        return R.choice([tree, [tree], {}, R.choice(NUMBERS)])
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    if R.random() < 0.2:
        del inner[path[-1]]
    elif isinstance(inner, dict) and R.random() < 0.1:
        inner[R.choice(TEXTS)[:40]] = inner[path[-1]]
    else:
        inner[path[-1]] = odd(inner[path[-1]])
    return tree


def alter_array(a):
    a = a.copy()
    what = R.randrange(10)
    if what == 0 and a.size:
        a.flat[R.randrange(a.size)] = R.choice(NUMBERS[:20]) if a.dtype.kind in "iu" and a.itemsize == 8 else 0
    elif what == 1 and a.dtype.kind == "f" and a.size:
        a.flat[R.randrange(a.size)] = R.choice([np.nan, np.inf, 1e308, -1e308, 5e-324, 0, -1])
    elif what == 2 and a.dtype.kind == "f":
        with np.errstate(all="ignore"):
            a = a * R.choice([0, -1, 1e200, 1e-200, 1e308])
    elif what == 3:
        a = np.sort(a.ravel())[::R.choice([1, -1])].reshape(a.shape)
    elif what == 4 and a.ndim == 2:
        a = np.ascontiguousarray(a.T)
    elif what == 5:
        a = np.concatenate([a] * R.choice([2, 3, 20]))
    elif what == 6:
        a = a[:R.randrange(a.shape[0] + 1)]
    elif what == 7 and a.ndim == 2:
        a = a[:, :R.randrange(a.shape[1] + 1)]
    elif what == 8:
        a = np.zeros_like(a) if R.random() < 0.5 else np.full_like(a, 3)
    else:
        a = a.astype(R.choice(["<f8", "<i8", "<i4", "|u1", "<u8", "<f4"]))
    return a


def save(a):
    """The bytes of an .npy file as okra writes them."""
    dims = ", ".join(str(k) for k in a.shape) + ("," if a.ndim == 1 else "")
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (a.dtype.str, dims)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + a.tobytes()


def describe(entries, about):
    """model.json agrees with the arrays that are there."""
    arrays = {}
    for name, data in entries.items():
        a = np.load(io.BytesIO(data))
        arrays[name[:-4]] = {"dtype": a.dtype.str, "shape": list(a.shape), "crc32": "%08x" % zlib.crc32(data)}
    about["arrays"] = arrays


def resize(entries, about):
    """Every size of one value becomes another, in all arrays and in the description alike."""
    sizes = sorted({k for data in entries.values() for k in np.load(io.BytesIO(data)).shape})
    old, new = R.choice(sizes), R.choice([0, 1, 2, 3, 5, 8, 13, 40, 300])
    for name, data in entries.items():
        a = np.load(io.BytesIO(data))
        for axis in range(a.ndim):
            if a.shape[axis] in (old, old + 1):
                size = max(new + a.shape[axis] - old, 0)
                a = a.take(np.arange(size) % max(a.shape[axis], 1), axis) if a.shape[axis] else np.zeros(
                    a.shape[:axis] + (size,) + a.shape[axis + 1:], a.dtype)
        entries[name] = save(a)
    for side in ("x", "y"):
        for key in ("count", "width"):
            if isinstance(about.get(side), dict) and about[side].get(key) == old:
                about[side][key] = new
    if isinstance(about.get("numbers"), dict):
        about["numbers"] = {key: new if value == old else value for key, value in about["numbers"].items()}


def alter_model(path, other):
    entries, about = seal.read(path)
    entry = "pairs.json" if about["format"] == "okra-pairs" else "model.json"
    listed = R.random() < 0.9
    for _ in range(R.choice((1, 1, 1, 2, 3))):
        what, name = R.randrange(10), R.choice(list(entries))
        if what < 3:
            entries[name] = save(alter_array(np.load(io.BytesIO(entries[name]))))
        elif what < 5:
            resize(entries, about)
        elif what < 8:
            arrays = about.pop("arrays", {})
            about = alter_json(about)
            if not isinstance(about, dict):
                break
            about.setdefault("arrays", arrays)
        elif what == 8:
            theirs, about_them = seal.read(other)
            entries[R.choice(list(entries))] = R.choice(list(theirs.values()))
            if R.random() < 0.5:
                about[R.choice([*about, "x", "y", "kernels", "numbers", "texts", "method", "options"])] = R.choice(
                    list(about_them.values()))
        else:
            entries[R.choice(["bag/mean.npy", "bag/factor.half.npy", "x/names.npy", "../x.npy", "bag/sample-weight.npy",
                              "calibration-x/values.npy", "bag/moments.A.npy"])] = entries.pop(name)
        if listed and isinstance(about, dict):
            describe(entries, about)
    seal.write(path, entries, about if isinstance(about, dict) else json.dumps(about).encode(), entry)


def alter_index(folder):
    about = json.loads((folder / "index.json").read_text())
    shard = R.choice(sorted(folder.glob("shard-*")))
    data = bytearray(shard.read_bytes())
    what = R.randrange(5)
    if what == 0:
        about = alter_json(about)
    elif what == 1:  # the head: words of 8 bytes between the magic and the checksums
        at = 8 + 8 * R.randrange(33)
        data[at:at + 8] = struct.pack("<Q", R.choice(NUMBERS[:19]) & (1 << 64) - 1)
    elif what == 2 and (folder / "basis.npy").exists():
        basis = save(alter_array(np.load(folder / "basis.npy")))
        (folder / "basis.npy").write_bytes(basis)
        about["basis"] = zlib.crc32(basis)
    elif what == 3:
        at = 1024 + 8 * R.randrange((len(data) - 1024) // 8)
        data[at:at + 8] = R.choice([struct.pack("<Q", R.choice(NUMBERS[:19]) & (1 << 64) - 1),
                                    struct.pack("<d", R.choice([np.nan, np.inf, -1, 0, 1e308]))])
    else:
        data = data[:R.choice([0, 1023, 1024, len(data) - 64])] if R.random() < 0.5 else data + data[-64:]
    head = 8 + 8 + 8 * 13 + 8 * 16 + 4 * 24
    if len(data) >= 1024:
        data[head:head + 4] = struct.pack("<I", zlib.crc32(bytes(data[:head])))
    shard.write_bytes(data)
    if isinstance(about, dict):
        about.pop("seal", None)
        try:
            text = json.dumps(about, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            text = b"{}"
        about["seal"] = zlib.crc32(text)
    (folder / "index.json").write_text(json.dumps(about))


def alter_text(path):
    """Fields and lines of a table."""
    lines = path.read_text(errors="surrogateescape").split("\n")
    for _ in range(R.choice((1, 1, 2, 4))):
        k, what = R.randrange(len(lines)), R.randrange(7)
        if what < 3:
            lines[k] = number(lines[k])
        elif what == 3:
            lines[k:k] = [R.choice(lines)] * R.choice((1, 2, 500))
        elif what == 4 and len(lines) > 1:
            del lines[k]
        elif what == 5:
            at = R.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:at] + R.choice([";", ",", "\t", "\"", "\0", "\x1b[2J", "[", "]", "(", ")", "=", " ", "\r", "nan",
                                                 "99999999999999999999", "%", "é", "1" * 400, "c1" * 60, "[" * 300]) + lines[k][at:]
        else:
            at = R.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:at] + lines[k][at + R.choice((1, 2, 9)):]
    path.write_text("\n".join(lines), errors="surrogateescape")


def alter_bytes(path):
    data = bytearray(path.read_bytes())
    for _ in range(R.choice((1, 2, 4))):
        at = R.randrange(len(data)) if data else 0
        data[at:at + R.choice((0, 1, 4, 8))] = R.choice([b"", b"\0", b"\xff" * 8, struct.pack("<Q", 1 << 62), b"\0" * 4, b"7"])
    path.write_bytes(data)


def alter_lines(path):
    """Records with a checksum each: a journal."""
    lines = path.read_text().splitlines()
    k = R.randrange(len(lines))
    record = alter_json(json.loads(lines[k])["record"])
    text = json.dumps(record)
    lines[k] = '{"crc32": "%08x", "record": %s}' % (zlib.crc32(text.encode()), text)
    path.write_text("\n".join(lines) + "\n")


def alter_sealed(path):
    """A checkpoint: a sealed archive of plain numbers."""
    with zipfile.ZipFile(path) as z:
        entries = {name: bytearray(z.read(name)) for name in z.namelist()}
    data = entries[R.choice(list(entries))]
    at = 8 * R.randrange(max(len(data) // 8, 1))
    data[at:at + 8] = R.choice([struct.pack("<d", R.choice([np.nan, np.inf, 1e308, 0, -1])), b"",
                                struct.pack("<Q", R.choice(NUMBERS[:19]) & (1 << 64) - 1)])
    seal.write(path, {name: bytes(data) for name, data in entries.items()}, None)
