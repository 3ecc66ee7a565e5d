"""No public function touches a handle that was freed: every function of the headers, with each
handle that it takes freed before, directly, in an array or in a struct; every free function
called twice; handles that others lent, after these are gone; and every function with what was
made of something that is freed since. Usage: test_freed.py LIBRARY HEADERS

A call with a freed handle that gives a status gives OKRA_EARG, and the message names the
argument. Calls are made in children; under the address sanitizer a child that reads what was
freed ends, too.
"""
import ctypes as c
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import test_nulls as nulls
from test_nulls import interface, keep, lib

EARG = list(interface.statuses).index("OKRA_EARG")
lib.okra_message.restype = c.c_char_p


def headers():
    text = "\n".join(p.read_text() for p in sorted(Path(nulls.headers).glob("*.h")))
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


TYPES = re.findall(r"typedef struct (okra_\w+) \1;", headers())
# Structs with the handles in them: {struct: [(member, type, in an array)]}
HOLDERS = {}
for body, owner in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", headers(), flags=re.S):
    for kind, members in re.findall(r"(okra_\w+) (\*[^;]*);", body):
        if kind in TYPES:
            HOLDERS.setdefault(owner, []).extend(
                (re.search(r"\w+$", m).group(), kind, m.count("*") == 2) for m in members.split(","))


class Child:
    """Calls in a child: what it tells comes back, and where it ended if it did not finish."""

    def __init__(self, work):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            out = os.fdopen(write, "w")
            log = os.open("freed.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)

            def tell(*what):
                out.write(json.dumps(what) + "\n")
                out.flush()
            work(tell)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as told:
            self.told = [json.loads(line) for line in told]
        self.status = os.waitpid(pid, 0)[1]
        self.log = Path("freed.log").read_text(errors="replace")[-3000:]

    def end(self):
        """What is wrong with how it ended; None: nothing."""
        if self.status == 0 and self.told:
            return None
        return f"ended by {self.status} in {self.told[-1:]}\n{self.log}"


def free(kind, handle):
    getattr(lib, kind + "_free")(handle)


def arguments_of(name, kinds, things, own):
    return [nulls.value(*kind, things, own, name) or c.c_void_p() for kind in kinds]


def freed_in(kind, depth, spare):
    """(what is freed, an argument that has it), for every way in which the argument takes it."""
    if depth == 1 and kind in TYPES:
        yield kind, spare[kind]
    elif depth == 2 and kind in TYPES:
        keep.append((c.c_void_p * 64)(spare[kind]))
        yield kind, keep[-1]
    elif depth == 1 and kind in HOLDERS:
        for member, inner, array in HOLDERS[kind]:
            struct = interface.structs[kind]()
            if array:
                keep.append((c.c_void_p * 64)(spare[inner]))
                struct.count = 1
                setattr(struct, member, c.addressof(keep[-1]))
            else:
                setattr(struct, member, spare[inner].value)
            keep.append(struct)
            yield inner, c.byref(struct)


def results_in(text, position):
    """Whether the argument at this place is `type **name`, which the function writes."""
    argument = text.split(",")[position]
    return argument.count("*") == 2 and "*const" not in argument.replace("* const", "*const")


def declarations():
    text = re.sub(r"^\s*#.*$", "", re.sub(r"\\\n", " ", headers()), flags=re.M)
    return {name: arguments for name, arguments in re.findall(
        r"OKRA_API\s+[\w\s*]*?[\s*](okra_\w+)\s*\((.*?)\)\s*(?:OKRA_\w+(?:\([^)]*\))?\s*)*;", text, flags=re.S)}


def each_argument():
    """Every argument of every function, freed; [(function, argument, status or None)]."""
    declared = declarations()

    def work(tell):
        things, own = nulls.objects(6)
        spare, _ = nulls.objects(6)
        for kind in TYPES:
            free(kind, spare[kind])
        for name, result, kinds in nulls.prototypes():
            function = getattr(lib, name)
            for i, (kind, depth) in enumerate(kinds):
                if depth == 2 and results_in(declared[name], i):
                    continue
                for what, given in freed_in(kind, depth, spare):
                    arguments = arguments_of(name, kinds, things, own)
                    arguments[i] = given
                    function.restype = c.c_int if result == "okra_status" else None
                    tell(name, i, what, "called", "")
                    status = function(*arguments)
                    tell(name, i, what, status, lib.okra_message().decode())
    return Child(work)


def frees_twice():
    def work(tell):
        things, _ = nulls.objects(6)
        for kind in TYPES:
            tell(kind, "free")
            free(kind, things[kind])
            free(kind, things[kind])
        things, _ = nulls.objects(6)
        for name, kind in (("okra_link_list_free", "okra_link"), ("okra_link_p_values_free", "double")):
            block, count = c.c_void_p(), c.c_int64()
            nulls.status("okra_link_rank", things["okra_context"], things["okra_links"], 3, c.c_int64(2), c.c_double(-1e9),
                         c.byref(block), c.byref(count))
            tell(name, "free")
            getattr(lib, name)(block)  # of p-values: not one of them, so that nothing happens
            getattr(lib, "okra_link_list_free")(block)
            getattr(lib, name)(block)
    return Child(work)


LENT = [("okra_model", "okra_model_outputs"), ("okra_model", "okra_model_inputs"),
        ("okra_prediction", "okra_prediction_objects")]


def lent():
    """What a handle lent: alive with it, gone with it, alive where it was retained; never freed by who borrows."""
    def work(tell):
        for kind, name in LENT:
            things, _ = nulls.objects(6)
            function = getattr(lib, name)
            function.restype = lib.okra_data_retain.restype = c.c_void_p
            given = c.c_void_p(function(things[kind]))
            lib.okra_data_count.restype = c.c_int64
            tell(name, "alive", lib.okra_data_count(given) == 6)
            lib.okra_data_free(given)
            tell(name, "not the borrower's to free", lib.okra_data_count(given) == 6)
            again = c.c_void_p(lib.okra_data_retain(given))
            free(kind, things[kind])
            tell(name, "retained", again.value == given.value and lib.okra_data_count(again) == 6)
            lib.okra_data_free(again)
            tell(name, "gone", lib.okra_data_count(given) == 0 and b"lives" in lib.okra_message())
            tell(name, "gone for good", lib.okra_data_retain(given) is None)
    return Child(work)


def without(gone):
    """Every function that does not take a handle of this kind, after all of that kind were freed."""
    def work(tell):
        things, own = nulls.objects(6)
        free(gone, things[gone])
        for name, result, kinds in nulls.prototypes():
            taken = {kind for kind, depth in kinds if depth == 1}
            taken |= {inner for kind in taken for _, inner, _ in HOLDERS.get(kind, [])}
            if gone in taken or name.endswith("_free") or not taken & set(TYPES):
                continue
            tell(name, gone)
            function = getattr(lib, name)
            function.restype = None
            function(*arguments_of(name, kinds, things, own))
    return Child(work)


def results_are_written():
    """A struct that a function fills is not looked at before: it may hold anything."""
    def work(tell):
        settings = interface.structs["okra_conformal_settings"]()
        c.memset(c.byref(settings), 0xee, c.sizeof(settings))
        lib.okra_conformal_defaults.restype = None
        lib.okra_conformal_defaults(c.byref(settings))
        tell("okra_conformal_defaults", "fills the struct", settings.size == c.sizeof(settings) and settings.folds == 10)
    return Child(work)


def main():
    results = {name: result for name, result, _ in nulls.prototypes()}
    calls, borrowed, written = each_argument(), lent(), results_are_written()
    children = [calls, borrowed, written, frees_twice(), *map(without, TYPES)]
    faults = [child.end() for child in children if child.end()]
    done = [told for told in calls.told if told[3] != "called"]
    for name, i, kind, status, message in done:
        if results[name] == "okra_status" and (status != EARG or "lives" not in message):
            faults.append(f"{name}: argument {i + 1}, {kind} freed: status {status}, {message!r}")
    faults += [f"{name}: {what}: not so" for name, what, good in borrowed.told + written.told if not good]
    print("\n".join(faults))
    print(f"{len(done)} calls with freed handles, {sum(len(child.told) for child in children[3:])} others, "
          f"{len(faults)} faults")
    if len(TYPES) < 13 or {told[2] for told in done} != set(TYPES) or len(done) < 200:
        sys.exit(f"too few: {len(done)} calls, kinds {sorted({told[2] for told in done})}")
    return 1 if faults else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
