"""Count or list the functions of a trace. Usage: show.py HOW NAME TRACE LIMITS"""
import collections
import re
import subprocess
import sys


def functions(trace):
    """(function, file, folder) in the order of first entry, of src, cli and papers."""
    entries = [line.split() for line in open(trace)]
    found = {}
    for program in {program for program, _ in entries}:
        places = [place for there, place in entries if there == program]
        answer = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(places),
                                capture_output=True, text=True, check=True).stdout.splitlines()
        for place, name, where in zip(places, answer[::2], answer[1::2]):
            found[program, place] = name, where.split(":")[0]
    ways = {}  # in order; an inline function of a header has a copy in every file that uses it
    for program, place in entries:
        name, file = found[program, place]
        part = re.search(r"/((src/[^/]+|cli|papers)/.*)", file)
        if part:
            ways.setdefault((name, part.group(1), part.group(2)))
    return list(ways)


def helper(name):
    """Is this one that FREED_BY or OWNED calls at the end of a block?"""
    return bool(re.search(r"_drop_$|^drop_|okra_free_(at|each)_$|_free_at$", name))


def main():
    how, name, trace, limits = sys.argv[1:]
    every = functions(trace)
    ways = [way for way in every if not helper(way[0])]
    switches = sum(a[2] != b[2] for a, b in zip(ways, ways[1:]))
    counts = len(ways), len({way[1] for way in ways}), switches
    print(f"{name:14} {counts[0]:4} functions {counts[1]:4} files {switches:4} changes of folder"
          f"   (and {len(every) - len(ways)} that free)")
    if how == "--list":
        last = None
        for function, file, _ in ways:
            print(("\n" + file + ": " if file != last else " ") + function, end="")
            last = file
        print()
    elif how == "--folders":
        folders = collections.Counter(way[2] for way in ways)
        files = collections.Counter(way[1] for way in ways)
        for folder, count in folders.most_common():
            print(f"  {folder:16} {count:4}:", ", ".join(
                f"{file[len(folder) + 1:]} {n}" for file, n in files.most_common()
                if file.startswith(folder + "/")))
    elif how == "--check":
        most = [int(word) for word in open(limits).read().split("\n")[-2].split()]
        if any(count > limit for count, limit in zip(counts, most)):
            print("more than", " / ".join(map(str, most)), "of tools/trace/limits.txt")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
