"""No public function crashes on NULL: every function of the headers, with every pointer of its
arguments NULL in turn and with all of them NULL, on objects that are in order, on empty
collections and without a context. Usage: test_nulls.py LIBRARY HEADERS

Each call is made in a child of its own; a signal is a failure, whatever the call returns.
"""
import ctypes as c
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "okra"))
import _headers  # noqa: E402  (it reads the headers; the package itself is not loaded)

library, headers = (os.path.abspath(a) for a in sys.argv[1:3])
lib = c.CDLL(library)
interface = _headers.Interface(Path(headers))
ROOM = 1 << 16  # bytes behind a pointer to numbers or texts: more than any call here fills
keep = []       # what must outlive the calls


def prototypes():
    """(name, result, [(type, depth)]) of every function; depth: how many stars."""
    text = "\n".join(p.read_text() for p in sorted(Path(headers).glob("*.h")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for result, name, arguments in re.findall(
            r"OKRA_API\s+([\w\s*]*?[\s*])(okra_\w+)\s*\((.*?)\)\s*"
            r"(?:OKRA_\w+(?:\([^)]*\))?\s*)*;", text, flags=re.S):
        kinds = []
        for a in re.sub(r"\([^()]*\)", "", arguments).split(","):
            a = a.replace("const", " ").strip()
            if a not in ("", "void", "..."):
                kinds.append((re.match(r"\s*(\w+)", a).group(1), a.count("*") + a.count("[")))
        yield name, " ".join(result.split()), kinds


def status(name, *arguments):
    """A call that must succeed, for what the others are given."""
    function = getattr(lib, name)
    function.restype = c.c_int
    if function(*arguments) != 0:
        lib.okra_message.restype = c.c_char_p
        sys.exit(f"{name}: {lib.okra_message().decode()}")


def handle(name, *arguments):
    out = c.c_void_p()
    status(name, *arguments, c.byref(out))
    return out


def numbers(values):
    keep.append((c.c_double * max(len(values), 1))(*values))
    return keep[-1]


def dense(n, d):
    values = numbers([((7 * i * i + 3 * i) % 11) / 11 for i in range(n * d)])
    return handle("okra_data_dense", values, c.c_int64(n), c.c_int64(d), c.c_int64(d))


def struct(name, **values):
    keep.append(interface.structs[name](**values))
    return c.byref(keep[-1])


def options(create, **values):
    o = handle(create)
    for name, value in values.items():
        status("okra_options_set", o, name.encode(), value.encode())
    return o


def indexed(ctx):
    """An index of molecules, a ranking of its candidates and one of lists."""
    texts = [b"CCO", b"CCC", b"C1CC1", b"CO", b"CCN", b"CC(=O)O"]
    keep.append((c.c_char_p * 6)(*texts))
    y = handle("okra_data_smiles", ctx, keep[-1], c.c_int64(6))
    model = handle("okra_fit", ctx, dense(6, 2), y,
                   options("okra_fit_options", kx="rbf(sigma=1)", ky="ecfp(bits=64) | tanimoto"))
    with tempfile.TemporaryDirectory() as folder:
        source, path = (os.path.join(folder, name).encode() for name in ("c.smi", "c.okx"))
        Path(source.decode()).write_bytes(b"\n".join(texts) + b"\n")
        status("okra_index_build", ctx, struct("okra_index_request", source=source, path=path,
                                               ky=b"ecfp(bits=64) | tanimoto"), None)
        index = handle("okra_index_open", ctx, path)
    one = numbers([0, 0])  # the whole numbers 0, 0
    listed = struct("okra_list", count=1, test=c.addressof(one), candidate=c.addressof(one),
                    distance=c.addressof(one))
    return {"okra_index": index, "okra_list": listed,
            "okra_ranked": handle("okra_index_rank_all", ctx, index, model, dense(2, 2),
                                  struct("okra_rank_request", top=2)),
            "okra_fused": handle("okra_fuse", listed, 1, numbers([1]))}


def objects(n):
    """One of everything, from collections of n objects (0: what is fitted is of 6)."""
    ctx, x, y = handle("okra_context_create"), dense(n, 2), dense(n, 2)
    full = (x, y) if n else (dense(6, 2), dense(6, 2))
    fit = options("okra_fit_options", kx="rbf(sigma=1)")
    model = handle("okra_fit", ctx, *full, fit)
    kernel = handle("okra_kernel_parse", b"rbf(sigma=1)")
    select = options("okra_select_options", kx="rbf(sigma={1,2})", cv="kfold:2")
    keep.append((c.c_int64 * 4)(0, 1, 2, 3))
    edges = (interface.structs["okra_link"] * 2)((0, 1, 1.0), (1, 2, 1.0))
    keep.append(edges)
    task = interface.structs["okra_link_task"]()
    task.x, task.labelled, task.labelled_count = full[0].value, c.addressof(keep[-2]), 4
    task.edges, task.edge_count = c.addressof(edges), 2
    keep.append(task)
    links = handle("okra_link_fit", ctx, c.byref(task), fit, None)
    kernels = (c.c_void_p * 1)(kernel)
    keep.append(kernels)
    base = interface.structs["okra_twin_base"]()
    base.kernels, base.count, base.degree = c.addressof(kernels), 1, 1
    keep.append(base)
    found = {
        "okra_context": ctx, "okra_data": x, "okra_model": model, "okra_kernel": kernel,
        "okra_options": fit, "okra_links": links, "okra_link_task": c.byref(task),
        "okra_prediction": handle("okra_predict", ctx, model, full[0], None, None),
        "okra_selection": handle("okra_select", ctx, *full, select, None),
        "okra_twin_base": c.byref(base),
        "okra_ranking": handle("okra_ranking_create", c.c_int64(4), numbers([1, 2, 3, 4]),
                               (c.c_ubyte * 4)(0, 1, 0, 1)),
        "okra_twin": handle("okra_twin_learn", ctx, *full, c.byref(base), c.byref(base), False),
    }
    found.update(indexed(ctx))
    for name in interface.structs:
        if name not in found:
            found[name] = struct(name)
    return found, {"okra_predict": options("okra_predict_options"), "okra_select": select,
                   "okra_select_links": select}


def value(kind, depth, things, own, name):
    """Something in order for an argument."""
    if depth == 0:
        scalar = {"double": c.c_double(1), "bool": c.c_bool(True), "int": c.c_int(1)}
        return scalar.get(kind, c.c_int64(1)) if kind not in interface.callbacks else None
    if depth == 1 and kind == "okra_options" and name in own:
        return own[name]
    if depth == 1 and kind in things:
        return things[kind]
    if depth == 1 and kind == "char":
        keep.append(c.create_string_buffer(b"linear", ROOM))
        return keep[-1]
    keep.append((c.c_char * ROOM)())
    if depth == 2 and kind == "char":  # a list of texts
        c.cast(keep[-1], c.POINTER(c.c_char_p))[0] = b"linear"
    return keep[-1]


def crashes(function, arguments):
    """The signal that ended the call, or 0."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        function(*arguments)
        os._exit(0)
    result = os.waitpid(child, 0)[1]
    return result & 0x7f if result & 0x7f else (result >> 8)


def main():
    faults, calls, seen = [], 0, set()
    os.chdir("/tmp")
    for n in (6, 0):
        things, own = objects(n)
        for name, _, kinds in prototypes():
            seen.add(name)
            function = getattr(lib, name)
            function.restype = None
            pointers = [i for i, (_, depth) in enumerate(kinds) if depth > 0]
            for without in [pointers, *([i] for i in pointers)] if pointers else []:
                arguments = [None if i in without else value(*k, things, own, name)
                             for i, k in enumerate(kinds)]
                arguments = [c.c_void_p() if a is None else a for a in arguments]
                calls += 1
                signal = crashes(function, arguments)
                if signal:
                    which = "all" if without == pointers else f"argument {without[0] + 1}"
                    faults.append(f"{name}: {which} of {len(kinds)} NULL, n = {n}: ended by "
                                  f"{signal}")
    print("\n".join(faults))
    print(f"{len(seen)} functions, {calls} calls, {len(faults)} crashes")
    missing = set(interface.functions) - seen
    if missing or len(seen) < 100:
        sys.exit(f"functions that were not called: {sorted(missing)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
