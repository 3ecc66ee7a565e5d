"""picture.py FILE.png: the picture of the README. Ten digits of scikit-learn's set that were
not used for training, one of each kind: the upper half that is given, the picture completed by
okra, and the whole truth, from top to bottom."""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from okra import IOKR  # noqa: E402

ZOOM, GAP, UNKNOWN = 8, 8, 208


def completed():
    """Three rows of ten pictures, 8 x 8, from 0 (white) to 16 (black); None: not known."""
    digits = load_digits()
    upper, lower = digits.images[:, :4].reshape(-1, 32), digits.images[:, 4:].reshape(-1, 32)
    train, test = slice(0, 1500), slice(1500, None)
    model = IOKR(kx="rbf(sigma=15)", ky="rbf(sigma=15)", operator="ccov", lam=1e-4,
                 epsilon=0.01).fit(upper[train], lower[train])
    found = model.predict(upper[test])
    kinds = digits.target[test]
    chosen = [np.flatnonzero(kinds == kind)[3] for kind in range(10)]
    given = upper[test][chosen].reshape(-1, 4, 8)
    hidden = np.full_like(given, np.nan)
    return (np.concatenate([given, hidden], axis=1),
            np.concatenate([given, found[chosen].reshape(-1, 4, 8)], axis=1),
            digits.images[test][chosen])


def grey(picture):
    levels = np.where(np.isnan(picture), UNKNOWN, 255 - np.nan_to_num(picture) * 255 / 16)
    return np.kron(levels.round().astype(np.uint8), np.ones((ZOOM, ZOOM), np.uint8))


def png(image):
    """A grey image as a PNG file."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body))

    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0,
                                                             0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    rows = completed()
    side = 8 * ZOOM
    image = np.full((3 * (side + GAP) + GAP, 10 * (side + GAP) + GAP), 255, np.uint8)
    for r, row in enumerate(rows):
        for c, picture in enumerate(row):
            top, left = GAP + r * (side + GAP), GAP + c * (side + GAP)
            image[top:top + side, left:left + side] = grey(picture)
    Path(sys.argv[1]).write_bytes(png(image))


main()
