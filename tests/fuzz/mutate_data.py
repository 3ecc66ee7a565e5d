#!/usr/bin/env python3
"""mutate_data.py READ_FILES CORPUS COUNT [SEED]: COUNT altered data files of every format are
read or refused with a message, within time and memory, without a crash. Some of them are
shards: files of one list or pattern (list:, shards:), and the list is altered as well.

The files come from those of CORPUS/fuzz_FORMAT: bytes altered, pieces cut, doubled, put
elsewhere or taken from another file, numbers replaced by absurd ones. A file that fails is
kept in the current folder. Findings belong into the corpus. Each file that is asked for as
it is is read once more where the budget is large: it may take a multiple of its own size.
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

FORMATS = {"csv": "csv tsv", "edges": "edges", "fasta": "fasta", "graphml": "graphml",
           "letters": "letters", "mgf": "mgf", "msp": "msp", "mtx": "mtx", "npy": "npy", "npz": "npz", "sdf": "sdf",
           "smiles": "smiles", "svm": "svm svm0", "txt": "txt"}
HOWS = ["", "", "", "dense:", "sparse:", "bits:", "packed:", "labels:", "gram:", "strings:", "missing:",
        "distances:", "permutations:", "nodes:", "sequences:"]
NUMBERS = [b"0", b"-1", b"1", b"300000000", b"2147483648", b"4294967295", b"9223372036854775807",
           b"9223372036854775808",
           b"-9223372036854775808", b"18446744073709551616", b"1e308", b"1e999", b"nan", b"inf", b"0x7f", b""]
BUDGET = 64 << 20
LARGE = 16 << 30, 16 * 1032  # a budget, and bytes for each of the file's own


def alter(r, data, others):
    """One file out of another."""
    b = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 2, 3, 8))):
        at = r.randrange(len(b) + 1)
        size = min(r.choice((1, 1, 2, 4, 8, 16, 64, 512)), len(b) - at)
        what = r.randrange(10)
        if what == 0 and len(b) > 1:
            del b[at:]
        elif what == 1:
            del b[at:at + size]
        elif what == 2:
            b[at:at] = b[at:at + size] * r.choice((1, 2, 100))
        elif what == 3:
            other = r.choice(others)
            begin = r.randrange(len(other) + 1)
            b[at:at + size] = other[begin:begin + r.choice((1, 8, 64, 1024))]
        elif what == 4:
            found = list(re.finditer(rb"-?[0-9]+", bytes(b)))
            if found:
                f = r.choice(found)
                b[f.start():f.end()] = r.choice(NUMBERS)
        elif what == 5:
            b[at:at + 8] = r.choice((0, 1, 255, 1 << 28, 1 << 31, (1 << 63) - 1, (1 << 64) - 1)).to_bytes(8, "little")
        elif what == 6:
            b[at:at + 4] = r.choice((0, 1, 65535, 1 << 28, 1 << 31, (1 << 32) - 1)).to_bytes(4, r.choice(("little", "big")))
        elif what == 7:
            b[at:at] = bytes([r.randrange(256)]) * r.choice((1, 30, 5000))
        elif b:
            b[at % len(b)] = r.choice((0, 9, 10, 13, 32, 44, 45, 46, 58, 127, 128, 255, r.randrange(256)))
    return bytes(b)


def shards(r, path, name, data, seeds):
    """A list of files or a pattern: whole ones of the corpus, altered ones, arrays that could be mapped."""
    format = r.choice(FORMATS[name].split())
    whole = r.choice(seeds[name])
    names = []
    for i in range(r.choice((1, 2, 2, 3, 5))):
        file = path.with_name(f"{path.name}-{i}.{format}")
        file.write_bytes(r.choice((whole,) * 9 + (r.choice(seeds[name]), data)))
        names.append(bytes(file))
    how = r.choice(("", f"{format}:", r.choice(HOWS), r.choice(HOWS) + f"{format}:"))
    if r.randrange(3) == 0:
        return f"shards:{how}{path}-*.{format}"
    text = b"\n".join(names + r.choice(([], [b""], [names[0]], [names[0] + b"x"], [b"list:" + names[0]])))
    altered = alter(r, text, [text, whole]) if r.randrange(2) else b"\n".join(names)
    if re.search(rb"(^|[:\r\n])-\r?$", altered, re.M):  # standard input, which has the list of all files
        altered = text
    path.with_suffix(".bin").write_bytes(altered)
    return f"list:{how}{path.with_suffix('.bin')}"


def make(folder, corpus, count, seed):
    r = random.Random(seed)
    seeds = {f: [p.read_bytes() for p in sorted((corpus / ("fuzz_" + f)).iterdir())] for f in FORMATS}
    lines = []
    for k in range(count):
        name = r.choice(list(FORMATS))
        data = alter(r, r.choice(seeds[name]), seeds[r.choice((name, r.choice(list(FORMATS))))])
        path = folder / f"{k}.bin"
        if k % 8 == 0:
            lines.append(shards(r, folder / f"{k}", name, data, seeds))
            continue
        path.write_bytes(data)
        lines.append(f"{r.choice(HOWS)}{r.choice(FORMATS[name].split())}:{path}")
    return lines


def plain(line):
    """Whether a line asks for a file as it is: no dense form of what is sparse."""
    return line.count(":") == 1


def keep(line):
    """The file of a line, with its shards."""
    path = pathlib.Path(line.split(":")[-1])
    for file in path.parent.glob(re.match("[0-9]+", path.name).group() + "[.-]*"):
        shutil.copy(file, f"fault-{file.name}")


def read(program, lines, *limits):
    """Reads the files; how many faults there were."""
    failed = 0
    while lines:
        p = subprocess.run([program, *map(str, limits)], input="\n".join(lines) + "\n", text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
        out = p.stdout.splitlines()
        if p.returncode == 0:
            print(out[-1])
            break
        for before, line in zip(out, out[1:]):
            if line.startswith("FAULT"):
                failed += 1
                print(before, line)
                keep(before)
        seen = [line for line in out if line in set(lines)]
        if len(seen) == len(lines) and p.returncode == 1:
            break
        failed += 1  # it ended in the middle
        print(f"{seen[-1]}: ended with {p.returncode}\n{p.stderr[-3000:]}")
        keep(seen[-1])
        lines = lines[len(seen):]
    return failed


def main():
    program, corpus, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    failed = 0
    with tempfile.TemporaryDirectory(prefix="okra-mutate-") as top:
        for begin in range(0, count, 2000):
            folder = pathlib.Path(top, str(begin))
            folder.mkdir()
            lines = make(folder, corpus, min(2000, count - begin), seed * 1000003 + begin)
            failed += read(program, lines, BUDGET)
            failed += read(program, [line for line in lines if plain(line)], *LARGE)
            shutil.rmtree(folder)
    print(f"{count} altered files, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
