"""No public function crashes on NULL: every function of the headers, with every pointer of its
arguments NULL in turn, any two and all of them NULL, with each number as it should be and
0; with arrays that hold NULL, and structs with each pointer in them NULL; on objects of every
kind that are in order, on empty collections and without a context. Usage: test_nulls.py LIBRARY HEADERS

Calls are made in children; a signal is a failure, whatever the call returns.
"""
import ctypes as c
import itertools
import mmap
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
NOTHING = (c.c_char * ROOM)()  # an array that holds NULL alone
keep = []       # what must outlive the calls
FILE = tempfile.NamedTemporaryFile(suffix=".csv", delete=True)
# Texts that are in order for a function; "linear" for the others.
TEXTS = {"okra_metric_is_loss": "mse", "okra_score": "mse", "okra_score_lists": "mrr",
         "okra_score_intervals": "coverage", "okra_parse_bytes": "8G",
         "okra_data_read": FILE.name, "okra_data_parse": "csv", "okra_method_has": "ridge", "okra_option_tables": "fit",
         "okra_kernel_choose": "rbf(sigma=auto)", "okra_context_set_engine": "host"}


def prototypes():
    """(name, result, [(type, depth)]) of every function; depth: how many stars."""
    text = "\n".join(p.read_text() for p in sorted(Path(headers).rglob("*.h")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for result, name, arguments in re.findall(
            r"(?:OKRA_API|OKRA_EXPERIMENTAL)\s+([\w\s*]*?[\s*])(okra_\w+)\s*\((.*?)\)\s*"
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


def kinds_of_data(ctx):
    """Two objects of every kind but dense."""
    whole = lambda *values: keep.append((c.c_int64 * len(values))(*values)) or keep[-1]
    texts = lambda *values: keep.append((c.c_char_p * len(values))(*values)) or keep[-1]
    two, reals = c.c_int64(2), numbers([1, 2, 3, 4])
    kinds = {
        "sparse": handle("okra_data_sparse", whole(0, 1, 2), whole(0, 1), reals, two, c.c_int64(3)),
        "bits": handle("okra_data_bits", c.create_string_buffer(b"ab"), two, c.c_int64(8), c.c_int64(1)),
        "labels": handle("okra_data_labels", whole(0, 1), two, texts(b"a", b"b"), two),
        "gram": handle("okra_data_gram", numbers([2, 1, 1, 2]), two, two, two, None),
        "strings": handle("okra_data_strings", texts(b"ab", b"c"), two),
        "sequences": handle("okra_data_sequences", whole(0, 1, 2), reals, None, two, two),
        "molecules": handle("okra_data_smiles", ctx, texts(b"CCO", b"CC"), two),
        "nodes": handle("okra_data_nodes", c.c_int64(3), texts(b"a", b"b", b"c"), whole(0, 1, 1, 2), None, two, None, two),
        "spectra": handle("okra_data_spectra", whole(0, 1, 2), numbers([100, 200]), reals, texts(b"TITLE=a", b"TITLE=b"), two),
    }
    keep.append((c.c_void_p * 2)(kinds["strings"], kinds["labels"]))
    kinds["tuples"] = handle("okra_data_tuple", keep[-1], 2)
    return kinds


def indexed(ctx):
    """An index of molecules, and a ranking of lists."""
    texts = [b"CCO", b"CCC", b"C1CC1", b"CO", b"CCN", b"CC(=O)O"]
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
    link = interface.structs["okra_link"]
    edges = (link * 2)(link(a=0, b=1, value=1.0), link(a=1, b=2, value=1.0))
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
    found["okra_pairs"] = handle("okra_pairs_fit", ctx, struct(
        "okra_pairs_request", size=c.sizeof(interface.structs["okra_pairs_request"]),
        rows=full[0].value, columns=full[1].value, kernel=b"rbf(sigma=1) * rbf(sigma=1)",
        values=c.addressof(numbers([i % 5 for i in range(36)])), own=-1.0))
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
        keep.append(c.create_string_buffer(TEXTS.get(name, "linear").encode(), ROOM))
        return keep[-1]
    keep.append((c.c_char * ROOM)())
    if depth == 2 and kind == "char":  # a list of texts
        c.cast(keep[-1], c.POINTER(c.c_char_p))[0] = b"linear"
    return keep[-1]


def ends(function, calls):
    """[(what, signal)] of the calls [(what, arguments)] that end their process: all in one child
    until it ends, the rest in the next."""
    at, found, first = mmap.mmap(-1, 8), [], 0
    while first < len(calls):
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            for k in range(first, len(calls)):
                at[:8] = k.to_bytes(8, "little")
                function(*calls[k][1])
            os._exit(0)
        result = os.waitpid(child, 0)[1]
        if result == 0:
            break
        k = int.from_bytes(at[:8], "little")
        found.append((calls[k][0], result & 0x7f if result & 0x7f else result >> 8))
        first = k + 1
    return found


def nulls_in(kinds):
    """Which arguments are NULL together: all, each alone, each two."""
    pointers = [i for i, (_, depth) in enumerate(kinds) if depth > 0]
    return [pointers, *map(list, itertools.combinations(pointers, 1)),
            *map(list, itertools.combinations(pointers, 2))] if pointers else []


def members(kind, given):
    """The struct with each pointer in it NULL in turn, and with what its arrays hold NULL: (member, struct)."""
    fields = interface.structs[kind]._fields_
    for name, kept in fields:
        if kept in (c.c_void_p, c.c_char_p):
            for place in (None, c.addressof(NOTHING)) if kept is c.c_void_p and name == "kernels" else (None,):
                copy = interface.structs[kind].from_buffer_copy(given)
                setattr(copy, name, place)
                keep.append(copy)
                yield name, c.byref(copy)


def calls_of(name, kinds, things, own):
    """[(what is NULL, arguments)]: pointers, with each number as it is and 0; what arrays hold; what structs hold."""
    def arguments(**other):
        found = [other.get(str(i), value(*kind, things, own, name)) for i, kind in enumerate(kinds)]
        return [c.c_void_p() if a is None else a for a in found]
    zeros = {"okra_int": c.c_int64(0), "size_t": c.c_size_t(0), "int": c.c_int(0), "double": c.c_double(0)}
    numbers_in = [i for i, (kind, depth) in enumerate(kinds) if depth == 0 and kind in zeros]
    for without in nulls_in(kinds):
        none = {str(i): None for i in without}
        what = f"arguments {[i + 1 for i in without]} NULL"
        yield what, arguments(**none)
        for i in numbers_in:
            yield f"{what}, argument {i + 1} is 0", arguments(**none, **{str(i): zeros[kinds[i][0]]})
    for i, (kind, depth) in enumerate(kinds):
        if depth == 2:
            yield f"argument {i + 1} holds NULL", arguments(**{str(i): NOTHING})
        elif depth == 1 and kind in interface.structs and kind in things:
            for member, changed in members(kind, things[kind]._obj):
                yield f"{member} of argument {i + 1} NULL", arguments(**{str(i): changed})


def main():
    faults, calls, seen = [], 0, set()
    os.chdir("/tmp")
    FILE.write(b"1,2\n3,4\n")
    FILE.flush()
    for n in (6, 0):
        things, own = objects(n)
        data = {f"{n} dense": things["okra_data"], **(kinds_of_data(things["okra_context"]) if n else {})}
        for sort, (name, _, kinds) in itertools.product(data, prototypes()):
            if sort[1:] != " dense" and ("okra_data", 1) not in kinds:
                continue
            seen.add(name)
            function = getattr(lib, name)
            function.restype = None
            tried = list(calls_of(name, kinds, {**things, "okra_data": data[sort]}, own))
            calls += len(tried)
            faults += [f"{name}: {what}, data are {sort}: ended by {signal}" for what, signal in ends(function, tried)]
    print("\n".join(faults))
    print(f"{len(seen)} functions, {calls} calls, {len(faults)} crashes")
    missing = set(interface.functions) - seen
    if missing or len(seen) < 100:
        sys.exit(f"functions that were not called: {sorted(missing)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
