"""Files made by NumPy, SciPy and scikit-learn, read by okra; and files of okra read by NumPy."""
import ctypes as c
import pathlib
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
    from sklearn.datasets import dump_svmlight_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from okra_ctypes import LIB, Handle, check

LIB.okra_data_codes.restype = c.c_void_p
count = 0


def read(spec):
    """The values of dense data, or the codes of labels."""
    data = Handle("data", "okra_data_read", None, str(spec).encode())
    n, d = LIB.okra_data_count(data.pointer), LIB.okra_data_width(data.pointer)
    ld = c.c_int64()
    values = LIB.okra_data_values(data.pointer, c.byref(ld))
    if values:
        whole = np.ctypeslib.as_array(c.cast(values, c.POINTER(c.c_double)), (n, ld.value))
        return whole[:, :d].copy()
    codes = LIB.okra_data_codes(data.pointer)
    return np.ctypeslib.as_array(c.cast(codes, c.POINTER(c.c_int64)), (n,)).copy()


def same(spec, want):
    global count
    got = read(spec)
    want = np.asarray(want, dtype=float)
    want = want.reshape(-1, 1) if want.ndim == 1 and got.ndim == 2 else want
    assert got.shape == want.shape and np.array_equal(got, want), (spec, got, want)
    count += 1


rng = np.random.default_rng(5)
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)

    # arrays of every type, byte order, memory order and header version
    for kind in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
        for order in "<>":
            dtype = np.dtype(order + kind)
            for shape in [(4, 3), (1, 5), (5, 1), (7,), (0, 3), (300, 500)]:
                x = (rng.standard_normal(shape) * 100).astype("f8")
                x = (np.abs(x) if kind[0] in "bu" else x).astype(dtype)
                for version in [(1, 0), (2, 0), (3, 0)]:
                    for turn in (np.ascontiguousarray, np.asfortranarray):
                        with open(folder / "x.npy", "wb") as f:
                            np.lib.format.write_array(f, turn(x), version=version)
                        same(folder / "x.npy", x.astype("f8"))

    # archives, stored and deflated
    x, y = rng.standard_normal((50, 3)), np.arange(9)
    for save in (np.savez, np.savez_compressed):
        save(folder / "xy.npz", x=x, y=y)
        same(f"{folder}/xy.npz:x", x)
        same(f"labels:{folder}/xy.npz:y", y)
        save(folder / "one.npz", x=x)
        same(folder / "one.npz", x)

    # tables
    for extension, separator in [("csv", ","), ("tsv", "\t")]:
        np.savetxt(folder / f"t.{extension}", x, "%.17g", separator)
        same(f"{folder}/t.{extension}", x)
        np.savetxt(folder / f"t.{extension}", x, "%.18e", separator, header=separator.join("abc"),
                   comments="", newline="\r\n")
        same(f"{folder}/t.{extension}", x)

    # Matrix Market and LIBSVM
    sparse = scipy.sparse.random(30, 20, 0.1, "csr", random_state=1)
    symmetric = sparse[:20] + sparse[:20].T
    scipy.io.mmwrite(folder / "a.mtx", x, precision=17)
    same(folder / "a.mtx", x)
    for matrix in (sparse, symmetric):
        scipy.io.mmwrite(folder / "c.mtx", matrix, precision=17)
        same(f"dense:{folder}/c.mtx", matrix.toarray())
    scipy.io.mmwrite(folder / "p.mtx", sparse, field="pattern")
    same(f"dense:{folder}/p.mtx", sparse.toarray() != 0)
    sparse = sparse.tolil()
    sparse[:, 19] = 1.5  # so that the width shows
    sparse = sparse.tocsr()
    target = rng.standard_normal(30)
    for prefix, zero in [("svm", False), ("svm0", True)]:
        dump_svmlight_file(sparse, target, str(folder / "a.svm"), zero_based=zero)
        written = read(f"{prefix}:dense:{folder}/a.svm")
        assert np.allclose(written, sparse.toarray(), rtol=1e-15, atol=0)
        assert np.allclose(read(f"targets:{folder}/a.svm")[:, 0], target, rtol=1e-15, atol=0)
        count += 2

    # what okra writes
    for extension in ("npy", "csv", "tsv"):
        np.save(folder / "x.npy", x)
        data = Handle("data", "okra_data_read", None, str(folder / "x.npy").encode())
        target = folder / f"out.{extension}"
        check(LIB.okra_data_write(None, data.pointer, str(target).encode()))
        got = (np.load(target) if extension == "npy" else
               np.loadtxt(target, delimiter="," if extension == "csv" else "\t"))
        assert got.dtype == np.float64 and np.array_equal(got, x)
        count += 1
    np.save(folder / "y.npy", y.astype("u1"))
    data = Handle("data", "okra_data_read", None, f"labels:{folder}/y.npy".encode())
    check(LIB.okra_data_write(None, data.pointer, str(folder / "out.npy").encode()))
    assert np.array_equal(np.load(folder / "out.npy"), y)

    # packed bits, as packbits makes them with the lowest bit first
    bits = rng.integers(0, 2, (6, 40))
    np.save(folder / "p.npy", np.packbits(bits, axis=1, bitorder="little"))
    data = Handle("data", "okra_data_read", None, f"packed:{folder}/p.npy".encode())
    check(LIB.okra_data_write(None, data.pointer, str(folder / "out.npy").encode()))
    assert np.array_equal(np.load(folder / "out.npy"), bits)
    count += 2

print(f"{count} files agree")
