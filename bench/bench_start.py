"""The start of the program: `okra version`, which does nothing else, many runs in turns.

Only okra-mat, which reads MATLAB files, needs the libraries of HDF5; a claim is the best time of a start
over that of one with these libraries loaded beforehand, as every start had them once. The program of
another build, OKRA_BEFORE=PROGRAM, makes a second claim. Libraries that a start maps and must not are an
error.
"""
import os
import re
import resource
import subprocess
import time

from common import BUILD, cost, finish, report, skip

RUNS = int(os.environ.get("OKRA_BENCH_STARTS", "300"))
OKRA, MAT = (os.path.join(os.path.abspath(BUILD), name) for name in ("okra", "okra-mat"))
BEFORE = os.environ.get("OKRA_BEFORE")
UNWANTED = r"matio|hdf5|curl|gnutls|ldap|krb5|nghttp"


def libraries(program):
    """The files that the loader maps for a program."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"=> (/\S+)", lines)


def used():
    """Seconds of a processor that all children so far took."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def starts(ways):
    """Least seconds and mean seconds of a processor of each way to start, the ways taken in turns."""
    wall, processor = dict.fromkeys(ways, float("inf")), dict.fromkeys(ways, 0.0)
    for _ in range(RUNS):
        for name, (program, more) in ways.items():
            begin, before = time.perf_counter(), used()
            subprocess.run([program, "version"], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, **more))
            wall[name] = min(wall[name], time.perf_counter() - begin)
            processor[name] += (used() - before) / RUNS
    return wall, processor


def main():
    if not os.path.exists(MAT):
        skip("okra-mat is not built: there is no matio")
    found = [path for path in libraries(OKRA) if re.search(UNWANTED, path)]
    if found:
        raise SystemExit(f"okra maps {', '.join(found)}")
    added = ":".join(path for path in libraries(MAT) if path not in libraries(OKRA))
    ways = {"okra": (OKRA, {}), "loaded": (OKRA, {"LD_PRELOAD": added})}
    if BEFORE:
        ways["before"] = (BEFORE, {})
    wall, processor = starts(ways)
    for name, text in (("loaded", "with the libraries of HDF5 loaded"), ("before", "of the program of OKRA_BEFORE")):
        if name in ways:
            report(f"okra version, time over that {text}", wall["okra"] / wall[name], 0.5, better="lower",
                   okra_s=wall["okra"], other_s=wall[name], processor=processor["okra"] / processor[name], runs=RUNS)
    cost("okra version", libraries=len(libraries(OKRA)), added=added.count(":") + 1)
    finish()


main()
