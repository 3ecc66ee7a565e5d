"""Made-up languages for string-to-string tasks: what inflection does in richer languages.

Each language is a few rules over random stems, which a learner sees through examples alone:

    ablaut        vowel change by the shape of the stem (sing, sang), doubled letters, -ed
    circumfix     ge-...-t, no ge- after be-, ver-, er-; umlaut in the plural, -er or -e
    harmony       endings whose vowels follow the last vowel of the stem, four ways
    gradation     consonants of the stem that weaken before an ending, with harmony
    reduplication first syllable repeated, infix -um- behind the first consonant, um- before a
                  vowel, whole words repeated

`pairs(language, n, seed)` gives n different (lemma, form, tag); as a program it writes
LANGUAGE.tsv with columns split, lemma, form, tags: `languages.py FOLDER [TRAIN [TEST]]`.
"""
import random
import sys

NAMES = ("ablaut", "circumfix", "harmony", "gradation", "reduplication")


def _syllables(r, onsets, vowels, codas, count):
    return "".join(r.choice(onsets) + r.choice(vowels) + r.choice(codas) for _ in range(count))


def _ablaut(r):
    stem = (r.choice(["", "", "over", "un", "re"]) +
            r.choice("b d f g h k l m p r s t st sp tr gr bl".split()) +
            r.choice("ing ink im in eep ell ot at ip an ope ake ive end ark alt y ay ow".split()))
    tag = r.choice(["PST", "PTCP", "3SG"])
    strong = {"ing": ("ang", "ung"), "ink": ("ank", "unk"), "im": ("am", "um"),
              "ive": ("ove", "iven"), "eep": ("ept", "ept"), "ell": ("old", "old")}
    if tag == "3SG":
        return stem, stem[:-1] + "ies" if stem[-1] == "y" and stem[-2] not in "aeo" else stem + "s", tag
    for end, forms in strong.items():
        if stem.endswith(end):
            return stem, stem[:-len(end)] + forms[tag == "PTCP"], tag
    if stem[-1] == "e":
        return stem, stem + "d", tag
    if stem[-1] == "y" and stem[-2] not in "aeo":
        return stem, stem[:-1] + "ied", tag
    if stem[-1] in "tpn" and stem[-2] in "aeiou" and stem[-3] not in "aeiou":
        return stem, stem + stem[-1] + "ed", tag
    return stem, stem + "ed", tag


def _circumfix(r):
    tag = r.choice(["PTCP", "PL", "2SG"])
    onset = "b d f g h k l m n r s t w z br fl gr kl pr schl st tr".split()
    root = r.choice(onset) + r.choice("a o u au e i ie ei".split()) + \
        r.choice("ck ll nn st rt ch tz nd lt m p b g".split())
    if tag == "PL":  # umlaut where there is a vowel for it; -e behind hissing sounds
        for plain, changed in (("au", "äu"), ("a", "ä"), ("o", "ö"), ("u", "ü")):
            if plain in root:
                at = root.rindex(plain)
                return root, root[:at] + changed + root[at + len(plain):] + (
                    "e" if root.endswith(("tz", "ch", "ck")) else "er"), tag
        return root, root + "e", tag
    prefix = r.choice(["", "", "", "be", "ver", "er"])
    stem = prefix + root
    ending = "et" if stem[-1] in "td" else "t"
    if tag == "2SG":
        return stem + "en", stem + ("est" if stem[-1] in "td" else "t" if stem[-1] in "sz" else "st"), tag
    return stem + "en", ("" if prefix else "ge") + stem + ending, tag


def _harmony(r):
    front = r.random() < 0.5
    vowels = "eiöü" if front else "aıou"
    stem = _syllables(r, "b d g k l m n s t y ç ş".split(), vowels, ["", "", "r", "l", "n", "k"],
                      r.choice([1, 2, 2, 3]))
    tag = r.choice(["PL", "DAT", "POSS", "PST"])
    last = [c for c in stem if c in "eiöüaıou"][-1]
    high = {"e": "i", "i": "i", "ö": "ü", "ü": "ü", "a": "ı", "ı": "ı", "o": "u", "u": "u"}[last]
    low = "e" if front else "a"
    open_ = stem[-1] in "eiöüaıou"
    if tag == "PL":
        return stem, stem + "l" + low + "r", tag
    if tag == "DAT":
        return stem, stem + ("y" if open_ else "") + low, tag
    if tag == "POSS":
        soft = stem[:-1] + "ğ" if stem[-1] == "k" else stem
        return stem, soft + ("" if open_ else high) + "m", tag
    return stem, stem + ("t" if stem[-1] in "kçşst" else "d") + high, tag


def _gradation(r):
    front = r.random() < 0.5
    vowels = "äöyei" if front else "aouei"
    onsets = "h j k l m n p r s t v".split()
    stem = _syllables(r, onsets, vowels, ["", "", "s"], r.choice([0, 1])) + \
        _syllables(r, onsets, vowels, [""], 1)
    middle = r.choice("kk pp tt k p t nt lt rt nk".split())
    word = stem + middle + r.choice("äöyi" if front else "aoui")
    weak = {"kk": "k", "pp": "p", "tt": "t", "k": "", "p": "v", "t": "d", "nt": "nn",
            "lt": "ll", "rt": "rr", "nk": "ng"}[middle]
    back = any(c in "aou" for c in word)
    tag = r.choice(["GEN", "PART", "INE"])
    if tag == "PART":
        return word, word + ("a" if back else "ä"), tag
    graded = stem + weak + word[-1]
    return word, graded + ("n" if tag == "GEN" else "ssa" if back else "ssä"), tag


def _reduplication(r):
    start = r.choice("b d g h k l m n p s t".split() + ["", "", "tr", "pl"])
    word = start + r.choice("aiou") + _syllables(
        r, "b d g k l m n p s t".split(), "aiou", ["", "", "n", "t", "ng"], r.choice([1, 1, 2]))
    tag = r.choice(["ACT", "FUT", "PL", "PASS"])
    if tag == "ACT":
        return word, start[:1] + "um" + word[len(start[:1]):], tag
    if tag == "FUT":
        return word, start[:1] + word[len(start)] + word, tag
    if tag == "PL":
        return word, word + "-" + word, tag
    return word, word + ("hin" if word[-1] in "aiou" else "in"), tag


def pairs(language, n, seed=0):
    r, made, seen = random.Random(f"{language} {seed}"), [], set()
    while len(made) < n:
        lemma, form, tag = globals()["_" + language](r)
        if (lemma, tag) not in seen:
            seen.add((lemma, tag))
            made.append((lemma, form, tag))
    return made


def main():
    folder = sys.argv[1]
    train, test = (int(a) for a in (sys.argv[2:] + ["1000", "200"][len(sys.argv) - 2:])[:2])
    for name in NAMES:
        made = pairs(name, train + test)
        with open(f"{folder}/{name}.tsv", "w", encoding="utf-8") as f:
            f.write("split\tlemma\tform\ttags\n")
            for k, row in enumerate(made):
                f.write("\t".join(("train" if k < train else "test",) + row) + "\n")


if __name__ == "__main__":
    main()
