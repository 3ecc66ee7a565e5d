"""A model file taken apart, altered and sealed again: what somebody with bad intentions does."""
import json
import struct
import zipfile
import zlib


def read(path):
    """Every entry but model.json (of a model of pairs: pairs.json), and that one."""
    with zipfile.ZipFile(path) as z:
        entries = {name: z.read(name) for name in z.namelist()}
    about = json.loads(entries.pop("pairs.json", None) or entries.pop("model.json"))
    return entries, about


def write(path, entries, about, name="model.json"):
    """about: a tree, bytes, or None: the archive has no model.json."""
    comment = b"okra crc32 "
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
        text = about if isinstance(about, bytes) else json.dumps(about).encode()
        for entry, data in [*entries.items(), (name, text)][:None if about is not None else -1]:
            info = zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0))
            pad = -(z.fp.tell() + 30 + len(entry)) % 64
            pad += 64 if 0 < pad < 4 else 0
            info.extra = struct.pack("<HH", 0x4B4F, pad - 4) + bytes(pad - 4) if pad else b""
            z.writestr(info, data)
        z.comment = comment + b"00000000"
    with open(path, "r+b") as f:
        whole = f.read()[:-len(comment) - 8]
        f.seek(0)
        f.write(whole + comment + b"%08x" % zlib.crc32(whole))
