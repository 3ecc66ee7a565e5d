"""Did okra get slower since a commit? Builds two commits and runs the claims of both.

    before_after.py FOLDER [--before COMMIT] [--after COMMIT] [--rounds N]
                    [--build-only] [NAME...]

Builds into FOLDER/COMMIT, and keeps that for the next call. The two builds take turns:
one run of a benchmark by the one, then by the other, N rounds (default 2; the order of
the two changes from round to round). The best of a side counts. One line per claim that
both have: the speed after in units of before, from okra's own seconds where the claim
tells them, else from its ratio. Status 1: something is below 0.97. Needs a machine
that does nothing else. The default of --before is the last commit without engines.
"""
import argparse
import json
import os
import subprocess
import sys

LEAST = 0.97
NAMES = ("foundation", "select", "twin", "graphs", "strings", "candidates", "words", "python",
         "link", "lowrank", "margin_low")
# Their scripts speak to a struct or a package of their own tree. Of the others both sides
# run the older script: the work is the same to the letter. Only of links they run the newer
# one, which says how many splits trees try: the default has changed.
OWN = ("candidates", "python")
NEWER = ("link",)
# Shares and growth are ratios of two of okra's own times: they rise where one part alone
# became faster, and tell nothing about speed.
RATIOS = ("share of time", "growth from", "processor time from")
SPEED = ("okra_gflops", "evaluations_per_second")  # more is better
SECONDS = ("okra", "seconds", "low", "dense")      # okra's own: less is better
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                          text=True).stdout.strip()


def build(folder, commit):
    """The folder of the source of a commit, with a build in build/."""
    source = os.path.join(folder, git("rev-parse", "--short=12", commit))
    done = os.path.join(source, "built")
    if not os.path.exists(done):
        os.makedirs(source, exist_ok=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit],
                                   stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            raise SystemExit(f"git archive {commit} failed")
        tree = os.path.join(source, "build")
        with open(os.path.join(source, "log"), "w") as log:
            subprocess.run(["cmake", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release",
                            "-DOKRA_TESTS=OFF", "-DOKRA_BENCH=OFF", "-G", "Ninja"], check=True,
                           stdout=log, stderr=log)
            subprocess.run(["cmake", "--build", tree], check=True, stdout=log, stderr=log)
        open(done, "w").close()
    return source


def speeds(claim):
    """{(claim, what it is): (value, more is better)} of one line of a benchmark."""
    name, found = claim["bench"], {}
    if any(words in name for words in RATIOS):
        return {}
    for what in SPEED:
        if what in claim:
            found[name, what] = claim[what], True
    for what in SECONDS if "loss" not in name and "cosine" not in name else ():
        if isinstance(claim.get(what), float):
            found[name, what + " seconds"] = claim[what], False
    return found or {(name, "ratio"): (claim["ratio"], claim["better"] == "higher")}


def run(name, script, source):
    """The speeds of all claims of one run of a benchmark."""
    tree = os.path.join(source, "build")
    data = os.environ.get("OKRA_DATA", os.path.join(ROOT, "..", "shared", "data"))
    environment = {**os.environ, "OKRA_BUILD": tree, "OKRA_DATA": os.path.abspath(data),
                   "OKRA_PROGRAM": os.path.join(tree, "okra"), "OKRA_COMMIT": "unknown",
                   "PYTHONPATH": os.path.join(source, "python")}
    found = subprocess.run([sys.executable, os.path.join(script, "bench", f"bench_{name}.py")],
                           env=environment, capture_output=True, text=True)
    claims = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    claims = {k: v for c in claims if "bench" in c for k, v in speeds(c).items()}
    if not claims:
        print(f"{name}: no claim: {(found.stderr or found.stdout).strip()[-200:]}",
              file=sys.stderr, flush=True)
    return claims


def better(a, b):
    return a if not b or (a[0] > b[0]) == a[1] else b


def compare(name, sources, rounds):
    """Prints one line per claim; the claims that are slower than LEAST."""
    best, slow = ({}, {}), []
    for r in range(rounds):
        for side in ((0, 1), (1, 0))[r % 2]:
            script = sources[side if name in OWN else name in NEWER]
            for claim, found in run(name, script, sources[side]).items():
                best[side][claim] = better(found, best[side].get(claim))
    for key, (before, more) in best[0].items():
        if key in best[1]:
            claim, what = key
            after = best[1][key][0]
            ratio = after / before if more else before / after
            slow += [claim] if ratio < LEAST else []
            print(f"{ratio:8.3f}  {before:12.6g} -> {after:<12.6g} {what:14}  {claim}",
                  flush=True)
    return slow


def main():
    words = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder")
    words.add_argument("--before", default="74d90642b760")
    words.add_argument("--after", default="HEAD")
    words.add_argument("--rounds", type=int, default=2)
    words.add_argument("--build-only", action="store_true")
    words.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    given = words.parse_intermixed_args()
    sources = [build(given.folder, commit) for commit in (given.before, given.after)]
    if given.build_only:
        return
    print(f"{git('rev-parse', '--short', given.before)} before, "
          f"{git('rev-parse', '--short', given.after)} after, load {os.getloadavg()[0]:.1f}")
    slow = [claim for name in given.names for claim in compare(name, sources, given.rounds)]
    print(f"{len(slow)} slower than {LEAST} of before")
    raise SystemExit(1 if slow else 0)


if __name__ == "__main__":
    main()
