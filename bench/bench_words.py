"""Words from images of their letters (Kadri et al. 2013, Table 2, right): reading, fitting and
predicting one fold, about 690 words to train and 6,190 to test, on two cores.

The claim is a time: seconds by the program, all of it, of the ten that a fold may take.

Then strings to strings. Inflected English verbs by rewriting, beside the rule of the longest
known ending; made-up languages (languages.py) with the settings that English chose; letters to
phonemes beside nearest neighbours and a linear chain; 1,000 words written letter by letter.
Kernels and ranking are chosen on the dev part, the test part is looked at once."""
import collections
import os
import resource
import subprocess
import tempfile

import common
import languages
import numpy as np

DATA = os.path.join(os.environ.get("OKRA_DATA", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")), "ocr_letters")
OKRA = os.path.join(common.BUILD, "okra")


def table(name):
    with open(os.path.join(DATA, name)) as f:
        return [line.rstrip("\n").split("\t") for line in f]


def split(folder, fold):
    """The fold as train.*, the others as test.*; how many words each."""
    pixels = np.load(os.path.join(DATA, "pixels.npy"))
    letters, words, counts = table("letters.tsv"), table("words.tsv"), {}
    for name, wanted in (("train", lambda f: f == fold), ("test", lambda f: f != fold)):
        rows = [i for i, row in enumerate(letters[1:]) if wanted(row[4])]
        np.save(f"{folder}/{name}.npy", pixels[rows])
        with open(f"{folder}/{name}.tsv", "w") as f:
            f.write("\t".join(letters[0]) + "\n")
            for k, i in enumerate(rows):
                f.write("\t".join([str(k)] + letters[i + 1][1:]) + "\n")
        chosen = [row[4] for row in words[1:] if wanted(row[1])]
        with open(f"{folder}/{name}.txt", "w") as f:
            f.writelines(word + "\n" for word in chosen)
        counts[name] = len(chosen)
    return counts


def okra(*arguments):
    return subprocess.run([OKRA, *arguments, "--threads", str(common.THREADS)], check=True,
                          capture_output=True, text=True).stdout


def fold(folder, operator):
    okra("fit", "-q", "--x", f"sequences:{folder}/train.npy:train.tsv", "--y",
         f"{folder}/train.txt", "--kx", "position(cosine | poly(degree=3,coef0=1))", "--ky",
         "position(zero-one)", "--operator", operator, "--lambda", "0.01", "-o",
         f"{folder}/model.okra")
    okra("predict", "-q", f"{folder}/model.okra", "--decode", "position", "--chain", "1", "--x",
         f"sequences:{folder}/test.npy:test.tsv", "-o", f"{folder}/predicted.txt")


# ---- inflection ----

STRINGS = os.path.join(os.path.dirname(DATA), "strings")
TAGS = "(spectrum(k=2)@2 | normalize)"
GRID = [f"{TAGS}*(ends(share={share})@1 + {start}*ends(start=1)@1)"
        for share in (0.5, 0.7) for start in (0.1, 0.2)]


def longest_suffix(train, test):
    """The baseline: what the training words with the longest common ending (and the same tags)
    did with it most often. Accuracy."""
    seen = collections.defaultdict(collections.Counter)
    for x, y, tags in train:
        kept = len(os.path.commonprefix([x, y]))
        for j in range(kept + 1):
            seen[tags, x[j:], j == 0][y[j:]] += 1
    right = 0
    for x, y, tags in test:
        found = x
        for j in range(len(x) + 1):
            known = seen.get((tags, x[j:], j == 0)) or seen.get((tags, x[j:], False))
            if known:
                found = x[:j] + known.most_common(1)[0][0]
                break
        right += found == y
    return right / len(test)


def write(folder, name, rows):
    for k, column in enumerate(("x", "y", "t")):
        with open(f"{folder}/{name}.{column}.txt", "w", encoding="utf-8") as f:
            f.writelines(row[k] + "\n" for row in rows)


def fit_words(folder, kx):
    okra("fit", "-q", "--x", f"{folder}/train.x.txt", "--x", f"{folder}/train.t.txt", "--y",
         f"{folder}/train.y.txt", "--kx", kx, "--ky", "ends", "--lambda", "0.01", "-o",
         f"{folder}/words.okra")


def rewritten(folder, name, rows, rank):
    """Accuracy of whole words."""
    write(folder, name, rows)
    okra("predict", "-q", f"{folder}/words.okra", "--x", f"{folder}/{name}.x.txt", "--x",
         f"{folder}/{name}.t.txt", "--decode", "rewrite", "--input", "1", "--rank", rank, "-o",
         f"{folder}/found.txt")
    with open(f"{folder}/found.txt", encoding="utf-8") as f:
        found = f.read().split("\n")
    return sum(word == row[1] for word, row in zip(found, rows)) / len(rows)


def chosen(folder, train, dev, grid):
    """The best (accuracy on dev, kernel, rank), the first of equal ones."""
    tried = []
    write(folder, "train", train)
    for kx in grid:
        fit_words(folder, kx)
        for rank in ("both", "edits", "outputs"):
            tried.append((rewritten(folder, "dev", dev, rank), kx, rank))
    return max(tried, key=lambda t: t[0])


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def inflection(folder):
    with open(os.path.join(STRINGS, "inflection_english.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    part = {name: [tuple(row[1:]) for row in rows if row[0] == name]
            for name in ("train", "dev", "test")}
    grid, best = GRID, None
    for n, target in ((1000, 0.925), (10000, 0.96)):
        train = part["train"][:n]
        best = chosen(folder, train, part["dev"], grid)
        begin, right = processor(), []

        def whole():
            fit_words(folder, best[1])
            right.append(rewritten(folder, "test", part["test"], best[2]))

        seconds = common.seconds({"okra": whole}, 1)["okra"]
        common.report(
            f"inflected English words right, {n} training pairs", right[0], target,
            longest_suffix=longest_suffix(train, part["test"]), dev=best[0], kernel=best[1],
            rank=best[2], processor_seconds=processor() - begin)
        common.report(f"fit and 1,000 predictions of words, {n} pairs: seconds, of 60",
                      seconds / 60, 1, better="lower", seconds=seconds)
        grid = [best[1]]  # what 1,000 pairs chose serves 10,000
    return best


def made_up(folder, kx, rank):
    for name in languages.NAMES:
        rows = languages.pairs(name, 1300)
        write(folder, "train", rows[:1000])
        fit_words(folder, kx)
        base = longest_suffix(rows[:1000], rows[1000:])
        right = rewritten(folder, "test", rows[1000:], rank)
        common.report(f"words of a made-up language right, {name}, over the longest suffix",
                      right - base, 0, right=right, longest_suffix=base)


# ---- letters to phonemes ----

def nettalk():
    """(words, phonemes) of 1,000 training, 300 dev and 1,000 test words, drawn once."""
    with open(os.path.join(STRINGS, "nettalk.tsv")) as f:
        rows = sorted({tuple(line.split("\t")[:2]) for line in f.read().splitlines()[1:]})
    order = np.random.default_rng(1).permutation(len(rows))[:2300]
    picked = [rows[i] for i in order]
    return picked[:1000], picked[1000:1300], picked[1300:]


def letters(folder, name, rows):
    """One object a letter: the word up to it, and the word from it on."""
    with open(f"{folder}/{name}.left.txt", "w") as left, \
            open(f"{folder}/{name}.right.txt", "w") as right, \
            open(f"{folder}/{name}.y.csv", "w") as y:
        for word, sounds in rows:
            for k in range(len(word)):
                left.write(word[:k + 1] + "\n")
                right.write(word[k:] + "\n")
                y.write(f"p{ord(sounds[k])}\n")


def sounds(folder, method, kx, name, rows):
    """Accuracy of letters and of words."""
    okra("fit", "-q", "--x", f"{folder}/train.left.txt", "--x", f"{folder}/train.right.txt",
         "--y", f"labels:{folder}/train.y.csv", "--kx", kx, "--ky", "zero-one", "-o",
         f"{folder}/sounds.okra", *method)
    letters(folder, name, rows)
    okra("predict", "-q", f"{folder}/sounds.okra", "--x", f"{folder}/{name}.left.txt", "--x",
         f"{folder}/{name}.right.txt", "-o", f"{folder}/sounds.csv")
    with open(f"{folder}/sounds.csv") as f:
        found = [line.strip() for line in f.read().split()]
    found = found[-sum(len(word) for word, _ in rows):]
    return per_word([found[k] for k in range(len(found))],
                    [[f"p{ord(c)}" for c in right] for _, right in rows])


def per_word(found, truth):
    at, letter, word, total = 0, 0, 0, 0
    for right in truth:
        hits = [a == b for a, b in zip(found[at:at + len(right)], right)]
        letter, word, at, total = letter + sum(hits), word + all(hits), at + len(right), \
            total + len(right)
    return letter / total, word / len(truth)


def chain(train, test, rounds=8):
    """A linear chain: averaged structured perceptron on letters within three places, and on
    pairs of phonemes."""
    names = sorted({c for _, y in train for c in y})
    code = {c: k for k, c in enumerate(names)}
    weight, total = {}, {}
    step = np.zeros((len(names) + 1, len(names)))
    steps = np.zeros_like(step)
    zero = np.zeros(len(names))

    def features(word):
        padded = "###" + word + "###"
        return [[(d, padded[k:k + n]) for n in (1, 2, 3) for d, k in
                 ((o, t + 3 + o) for o in range(-3, 5 - n))] for t in range(len(word))]

    def best(rows, table, moves):
        score, back = None, []
        for here in rows:
            local = sum((table.get(f, zero) for f in here), np.zeros(len(names)))
            if score is None:
                score = local + moves[-1]
            else:
                through = score[:, None] + moves[:-1]
                back.append(through.argmax(0))
                score = through.max(0) + local
        path = [int(score.argmax())]
        for pointers in reversed(back):
            path.append(int(pointers[path[-1]]))
        return path[::-1]

    rows = [(features(x), [code[c] for c in y]) for x, y in train]
    count = 0
    for _ in range(rounds):
        for here, right in rows:
            found = best(here, weight, step)
            count += 1
            for path, sign in ((right, 1), (found, -1)):
                if found == right:
                    break
                before = -1
                for t, label in enumerate(path):
                    for f in here[t]:
                        weight.setdefault(f, zero.copy())[label] += sign
                        total.setdefault(f, zero.copy())[label] += sign * count
                    step[before, label] += sign
                    steps[before, label] += sign * count
                    before = label
    table = {f: w - total[f] / (count + 1) for f, w in weight.items()}
    moves = step - steps / (count + 1)
    found = [names[k] for x, _ in test for k in best(features(x), table, moves)]
    return per_word(found, [list(y) for _, y in test])


def phonemes(folder):
    train, dev, test = nettalk()
    ridge = ("--method", "ridge", "--lambda", "0.1")
    grid = [f"ends(share={s},decay={d})@1*ends(share={s},decay={d},start=1)@2"
            for s, d in ((0.7, 0.6), (0.9, 0.6), (0.9, 0.7))]
    letters(folder, "train", train[:400])
    kx = max(grid, key=lambda k: sounds(folder, ridge, k, "dev", dev))
    letters(folder, "train", train)
    ours = sounds(folder, ridge, kx, "test", test)
    near = max((sounds(folder, ("--method", "knn", "--k", str(k)), kx, "dev", dev), k)
               for k in (1, 3, 5))[1]
    knn = sounds(folder, ("--method", "knn", "--k", str(near)), kx, "test", test)
    linear = chain(train, test)
    for name, k in (("letters", 0), ("words", 1)):
        common.report(f"phonemes right, {name}, over nearest neighbours", ours[k] - knn[k], 0,
                      ridge=ours[k], knn=knn[k], linear_chain=linear[k], kernel=kx)


def written(folder):
    """1,000 words from 1,000 pairs, letter by letter."""
    rows = languages.pairs("circumfix", 2000)
    write(folder, "train", rows[:1000])
    write(folder, "test", rows[1000:])
    okra("fit", "-q", "--x", f"{folder}/train.x.txt", "--y", f"{folder}/train.y.txt", "--kx",
         "ssk(length=3,upto=1) | normalize", "--ky", "ssk(length=3)", "--lambda", "0.01", "-o",
         f"{folder}/write.okra")
    begin = processor()
    took = common.seconds({"okra": lambda: okra(
        "predict", "-q", f"{folder}/write.okra", "--x", f"{folder}/test.x.txt", "--decode",
        "string", "-o", f"{folder}/written.txt")}, 1)["okra"]
    common.report("1,000 words written letter by letter, ssk(length=3): seconds, of 30",
                  took / 30, 1, better="lower", seconds=took,
                  processor_seconds=processor() - begin)


def main():
    with tempfile.TemporaryDirectory() as folder:
        written(folder)
        if not os.path.exists(os.path.join(STRINGS, "nettalk.tsv")):
            common.skip(f"no {STRINGS}/nettalk.tsv")
        best = inflection(folder)
        made_up(folder, best[1], best[2])
        phonemes(folder)
        if os.path.exists(os.path.join(DATA, "pixels.npy")):
            images(folder)
    common.finish()


def images(folder):
    counts = split(folder, "0")
    for operator in ("identity", "ccov"):
        best = common.seconds({"okra": lambda: fold(folder, operator)}, 3)["okra"]
        right = okra("score", "--y", f"{folder}/test.txt", "--yhat",
                     f"{folder}/predicted.txt", "--metric", "characters").split()[-1]
        common.report(f"words of one fold, {operator} and a chain: seconds, of 10",
                      best / 10, 1, better="lower", seconds=best, characters=float(right),
                      train=counts["train"], test=counts["test"])


main()
