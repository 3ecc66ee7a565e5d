#!/usr/bin/env python3
"""run.py BUILD SECONDS [TARGET...]: runs the fuzz targets of BUILD, SECONDS each.

Prints a line a target; status 1 if one found something, which is then in BUILD. With --record FILE the
numbers are added to those in FILE, from which page.py writes docs/fuzzing.md.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent


def run(build, name, seconds, runs):
    grown = build / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    # An allocation that is too large fails, as it does without the sanitizer.
    p = subprocess.run([build / "tests" / "fuzz" / name, f"-max_total_time={seconds}", *([f"-runs={runs}", "-seed=1"] if runs else []), "-rss_limit_mb=4096",
                        "-malloc_limit_mb=0", "-timeout=10", "-verbosity=0", "-print_final_stats=1",
                        f"-artifact_prefix={build}/{name}-", grown, ROOT / "corpus" / name],
                       env=dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1"),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    found = re.search(r"stat::number_of_executed_units:\s+(\d+)", p.stdout)
    return {"target": name, "executions": int(found.group(1)) if found else 0,
            "status": p.returncode, "output": p.stdout}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("seconds", type=int)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=int, default=0,
                        help="so many executions of each with one seed, for runs that repeat")
    a = parser.parse_args()
    names = a.targets or sorted(p.stem for p in ROOT.glob("fuzz_*.c") if (a.build / "tests" / "fuzz" / p.stem).exists())
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(lambda name: run(a.build.resolve(), name, a.seconds, a.runs), names))
    failed = [r for r in results if r["status"] != 0]
    for r in results:
        print(f"{r['target']:16} {r['executions']:>12} executions{'' if r['status'] == 0 else '   FOUND SOMETHING'}")
    for r in failed:
        print(f"==== {r['target']}\n{r['output'][-6000:]}")
    print(f"{sum(r['executions'] for r in results)} executions of {len(results)} targets, {len(failed)} with findings")
    if a.record:
        kept = json.loads(a.record.read_text()) if a.record.exists() else {}
        for r in results:
            one = kept.setdefault(r["target"], {"executions": 0, "seconds": 0, "runs": 0})
            one["executions"] += r["executions"]
            one["seconds"] += a.seconds
            one["runs"] += 1
            one["last"] = datetime.date.today().isoformat()
        a.record.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
