"""What you get without options: okra with no options beside okra as the documents advise and beside tuned peers, one
task for each kind of objects.

No options is `okra fit --x --y` and `okra predict` (of molecules with the candidates, of networks `okra link`). Documented is
what docs/tutorials and docs/decoding.md advise for the kind; where they advise several ways, a quarter of the training
pairs chooses. Peers choose their numbers by folds of the training pairs. Nothing is chosen by test pairs.

Every line has the means of all ways over test objects (words, sets, rankings, spectra) or over splits (tables, networks),
and the standard error of the difference that the line is about. No options should be within 2 % of documented, or within one
standard error, and ahead of the best peer.
"""
import argparse
import collections
import gzip
import json
import os
import subprocess
import tempfile

import common
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("OKRA_DATA", os.path.join(HERE, "../../shared/data"))
OKRA = os.path.join(common.BUILD, "okra")
LAMBDAS = np.logspace(-3, 1, 9)
ahead = []  # of every task: whether no options is ahead of the best peer


# ---- what tasks share ----

def okra(*arguments):
    done = subprocess.run([OKRA, *map(str, arguments), "-q", "--threads", str(common.THREADS)], capture_output=True,
                          text=True)
    if done.returncode:
        raise RuntimeError(f"okra {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


class Files:
    """Columns of objects as files of a scratch folder: rows of a part become one file each."""

    def __init__(self, folder, **columns):
        self.folder, self.columns = folder, columns

    def write(self, part, name, rows):
        values = self.columns[name]
        if isinstance(values, np.ndarray):
            path = f"{self.folder}/{part}.{name}.npy"
            np.save(path, values[rows].astype(float))
            return path
        kind = name.split("_")[-1]  # the ending of the file: txt, smi, mgf
        path = f"{self.folder}/{part}.{name}.{kind}"
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(values[i] + "\n" for i in rows)
        return path


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def fit_predict(files, inputs, output, train, test, way, prefix="", read=np.load, form="npy"):
    """The predictions of one way: a dict of the flags of fit and of predict, prefixes of inputs."""
    kinds = way.get("inputs", {})
    xs, qs = [], []
    for name in inputs:
        xs += ["--x", kinds.get(name, "") + files.write("train", name, train)]
        qs += ["--x", kinds.get(name, "") + files.write("test", name, test)]
    model, found = f"{files.folder}/model.okra", f"{files.folder}/found.{form}"
    okra("fit", *xs, "--y", prefix + files.write("train", output, train), *way.get("fit", ()), "-o", model)
    okra("predict", model, *qs, *way.get("predict", ()), "-o", found)
    return read(found)


def chosen(ways, train, score):
    """The way that is best on the last quarter of the training rows, fitted on the rest."""
    if len(ways) == 1:
        return ways[0]
    cut = len(train) * 3 // 4
    return max(ways, key=lambda way: np.mean(score(way, train[:cut], train[cut:])))


def splits(n, train, test, count):
    """Random training and test rows: `count` draws."""
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(n)
        yield order[:min(train, 2 * n // 3)], order[min(train, 2 * n // 3):][:test]


def tell(task, measure, scores, better="higher"):
    """The two claims of a task. scores: by way, one number a unit (object or split)."""
    scores = {k: np.asarray(v, float) for k, v in scores.items()}
    mean = {k: float(v.mean()) for k, v in scores.items()}
    sign = 1 if better == "higher" else -1

    def error(a, b):
        d = scores[a] - scores[b]
        return float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0

    def claim(name, other, slack):
        gap, se = sign * (mean["no_options"] - mean[other]), error("no_options", other)
        common.report(f"{task}: {measure}, {name}", gap, -max(slack * abs(mean[other]), se) if slack else 0.0,
                      standard_error=se, units=len(scores["no_options"]), **mean)
        return gap

    peers = [k for k in scores if k not in ("no_options", "documented")]
    if "documented" in scores:
        claim("no options less documented", "documented", 0.02)
    if peers:
        best = max(peers, key=lambda k: sign * mean[k])
        ahead.append(claim(f"no options less the best peer ({best})", best, 0.0) > 0)


def add(scores, **values):
    for name, value in values.items():
        scores[name].extend(np.atleast_1d(value))


# ---- peers of vectors ----

def ridge_grams(X, Z=None):
    """Standardised Gaussian Gram matrices of several widths, of Z against X."""
    mean, std = X.mean(0), X.std(0) + 1e-12
    A = (X - mean) / std
    B = A if Z is None else (Z - mean) / std
    square = (B**2).sum(1)[:, None] + (A**2).sum(1) - 2 * B @ A.T
    return {w: np.exp(-np.maximum(square, 0) / (2 * w**2 * X.shape[1])) for w in (0.3, 1.0, 3.0)}


def kernel_ridge(grams, queries, Y, loss=None):
    """KernelRidge (closed form, means taken off) with the Gram matrix and lambda of the least loss over five folds."""
    from sklearn.kernel_ridge import KernelRidge
    fold = np.arange(len(Y)) % 5
    loss = loss or (lambda truth, found: np.mean((truth - found)**2 / (Y.std(0)**2 + 1e-12)))

    def predict(K, Q, T, lam):
        mean = T.mean(0)
        return KernelRidge(alpha=lam, kernel="precomputed").fit(K, T - mean).predict(Q) + mean

    def judged(name, lam):
        found = np.empty(Y.shape)
        for f in range(5):
            rest, part = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            found[part] = predict(grams[name][np.ix_(rest, rest)], grams[name][np.ix_(part, rest)], Y[rest], lam)
        return loss(Y, found)

    best = min(((name, lam) for name in grams for lam in LAMBDAS), key=lambda c: judged(*c))
    return predict(grams[best[0]], queries[best[0]], Y, best[1])


def extra_trees(X, Y, Z):
    """ExtraTrees of 200 trees; the share of features of a split by five folds."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.model_selection import GridSearchCV
    search = GridSearchCV(ExtraTreesRegressor(50, random_state=0, n_jobs=common.THREADS),
                          {"max_features": ["sqrt", 1.0], "min_samples_leaf": [1, 3]}, cv=5, scoring="r2", refit=False)
    search.fit(X, Y)
    return ExtraTreesRegressor(200, random_state=0, n_jobs=common.THREADS, **search.best_params_).fit(X, Y).predict(Z)


# ---- label sets ----

def f1(truth, found):
    return 2 * (truth * found).sum(1) / np.maximum(truth.sum(1) + found.sum(1), 1)


def threshold(scores, truth):
    """The cut with the best example-F1; at least one label where every training set has one."""
    cuts = np.quantile(scores, np.linspace(0.3, 0.99, 70))
    return max(cuts, key=lambda cut: f1(truth, cut_at(scores, cut)).mean())


def cut_at(scores, cut):
    sets = scores > cut
    sets[np.arange(len(sets)), scores.argmax(1)] = True
    return sets.astype(float)


def logistic(X, Y, Z):
    """A logistic regression for each label, C and one cut for all of them by five folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    scale = StandardScaler().fit(X)
    X, Z = scale.transform(X), scale.transform(Z)
    fold = np.arange(len(Y)) % 5

    def scores(A, T, B, C):
        out = np.empty((len(B), T.shape[1]))
        for j, t in enumerate(T.T):
            out[:, j] = t[0] if t.min() == t.max() else \
                LogisticRegression(C=C, max_iter=300).fit(A, t).predict_proba(B)[:, 1]
        return out

    best = None
    for C in (0.001, 0.01, 0.1, 1.0):
        held = np.empty(Y.shape)
        for f in range(5):
            held[fold == f] = scores(X[fold != f], Y[fold != f], X[fold == f], C)
        cut = threshold(held, Y)
        value = f1(Y, cut_at(held, cut)).mean()
        best = max(best or (value, C, cut), (value, C, cut))
    return cut_at(scores(X, Y, Z, best[1]), best[2])


def tree_sets(X, Y, Z):
    """ExtraTrees to the labels' probabilities, the cut by out-of-bag probabilities."""
    from sklearn.ensemble import ExtraTreesRegressor
    model = ExtraTreesRegressor(200, min_samples_leaf=2, max_features="sqrt", bootstrap=True, oob_score=True,
                                random_state=0, n_jobs=common.THREADS).fit(X, Y)
    return cut_at(model.predict(Z), threshold(model.oob_prediction_, Y))


def rows_of(name, part):
    if os.path.exists(f"{DATA}/mlc/{name}_{part}.npy"):
        return np.load(f"{DATA}/mlc/{name}_{part}.npy").astype(float)
    ends, ones = (np.load(f"{DATA}/mlc/{name}_{part}_{what}.npy") for what in ("indptr", "indices"))
    rows = np.zeros((len(ends) - 1, ones.max() + 1))
    rows[np.repeat(np.arange(len(rows)), np.diff(ends)), ones] = 1
    return rows


def label_sets(folder, quick):
    documented = [{"fit": ["--ky", "tanimoto"], "predict": ["--decode", "labels"]},
                  {"fit": ["--ky", "tanimoto"], "predict": ["--decode", "loss:f1", "--sharpen", "1.5", "--votes", "1.5"]}]
    for name in ("emotions", "yeast", "scene", "enron")[:1 if quick else 4]:
        X, Y = rows_of(name, "x"), rows_of(name, "y")
        scores, files = collections.defaultdict(list), Files(folder, x=X, y=Y)
        for train, test in splits(len(X), 200 if quick else 500, 400, 1 if quick else 2):
            def judged(way, a, b):
                return f1(Y[b], fit_predict(files, ["x"], "y", a, b, way))
            add(scores, no_options=judged({}, train, test),
                documented=judged(chosen(documented, train, judged), train, test),
                logistic=f1(Y[test], logistic(X[train], Y[train], X[test])),
                extra_trees=f1(Y[test], tree_sets(X[train], Y[train], X[test])))
        tell(f"label sets, {name}", "example-F1", scores)


# ---- spectra ----

SPECTRA = {"fit": ["--kx", "(ppk(ppm=5,power=0.25) | normalize) + (ppk(ppm=5,power=0.25,of=losses) | normalize)",
                   "--ky", "(ecfp(radius=1,bits=2048) | tanimoto) + (composition(bits=512) | tanimoto)",
                   "--lambda", "0.1"]}


def read_mgf(path, molecules=None, seed=0):
    """Blocks of one spectrum a molecule (the one with most peaks), as text, and their SMILES."""
    found = {}
    with (gzip.open(path, "rt") if path.endswith("gz") else open(path)) as f:
        for block in f.read().split("BEGIN IONS\n")[1:]:
            fields = dict(line.split("=", 1) for line in block.split("\n") if "=" in line and not line[0].isdigit())
            key = fields.get("INCHIKEY", fields["SMILES"])[:14]
            if "SMILES" in fields and (key not in found or block.count("\n") > found[key][0].count("\n")):
                found[key] = ("BEGIN IONS\n" + block.strip(), fields["SMILES"])
    keys = sorted(found)
    order = np.random.default_rng(seed).permutation(len(keys))[:molecules]
    return [found[keys[i]][0] for i in order], [found[keys[i]][1] for i in order]


def morgan(smiles):
    from rdkit import Chem, DataStructs, RDLogger
    from rdkit.Chem import AllChem
    RDLogger.DisableLog("rdApp.*")
    out = np.zeros((len(smiles), 2048))
    for i, one in enumerate(smiles):
        molecule = Chem.MolFromSmiles(one)
        if molecule is not None:
            DataStructs.ConvertToNumpyArray(AllChem.GetMorganFingerprintAsBitVect(molecule, 2, 2048), out[i])
    return out


def tanimoto(A, B):
    both = A @ B.T
    return both / np.maximum(A.sum(1)[:, None] + B.sum(1) - both, 1)


def reciprocal(better):
    """1 / rank of candidate i for query i; of equal scores the middle."""
    own = np.diag(better)[:, None]
    return 1 / ((better > own).sum(1) + ((better == own).sum(1) + 1) / 2)


def spectra(folder, quick):
    for name, path in (("msms", "msms/spectra.mgf"), ("massbank", "massbank/train.mgf.gz"))[:1 if quick else 2]:
        blocks, smiles = read_mgf(f"{DATA}/{path}", 300 if quick else 800)
        bits, scores = morgan(smiles), collections.defaultdict(list)
        files = Files(folder, x_mgf=blocks, y_smi=smiles)
        for train, test in splits(len(blocks), 200 if quick else 500, 250, 1 if quick else 2):
            candidates = files.write("candidates", "y_smi", test)

            def ranked(path):
                better = np.full((len(test), len(test)), -np.inf)
                names, *lines = (line.split("\t") for line in text(path))
                query, candidate, distance = (names.index(name) for name in ("test", "candidate", "distance"))
                for line in lines:
                    better[int(line[query]), int(line[candidate])] = -float(line[distance])
                return better

            def judged(way):
                top = ["--candidates", candidates, "--top", len(test)]
                return reciprocal(fit_predict(files, ["x_mgf"], "y_smi", train, test, {**way, "predict": top}, read=ranked,
                                              form="tsv"))
            gram, match = (gram_of(folder, files, train, test, kernel) for kernel in
                           ("(ppk(ppm=5,power=0.25) | normalize) + (ppk(ppm=5,power=0.25,of=losses) | normalize)", "mz-match"))
            ridge = kernel_ridge({0: gram[0]}, {0: gram[1]}, bits[train], loss=lambda t, f: np.mean((t - f)**2))
            size = np.sqrt((bits[test]**2).sum(1))
            nearest = bits[train[match[1].argmax(1)]]
            add(scores, no_options=judged({}), documented=judged(SPECTRA),
                kernel_ridge=reciprocal(ridge @ bits[test].T / size),
                modified_cosine=reciprocal(tanimoto(nearest, bits[test])))
        tell(f"molecules of spectra, {name}", "mean of 1 over the rank", scores)


def gram_of(folder, files, train, test, kernel):
    """Training and cross Gram matrices of okra's kernel."""
    both = files.write("both", "x_mgf", np.concatenate([train, test]))
    okra("gram", "--x", both, "--kernel", kernel, "-o", f"{folder}/gram.npy")
    K, n = np.load(f"{folder}/gram.npy"), len(train)
    return K[:n, :n], K[n:, :n]


# ---- words ----

def longest_suffix(train, test):
    """What training words with the longest common ending (and the same tags) did with it most often."""
    seen = collections.defaultdict(collections.Counter)
    for x, y, tags in train:
        for j in range(len(os.path.commonprefix([x, y])) + 1):
            seen[tags, x[j:], j == 0][y[j:]] += 1
    found = []
    for x, _, tags in test:
        found.append(x)
        for j in range(len(x) + 1):
            known = seen.get((tags, x[j:], j == 0)) or seen.get((tags, x[j:], False))
            if known:
                found[-1] = x[:j] + known.most_common(1)[0][0]
                break
    return found


exact = np.vectorize(lambda a, b: float(a == b), otypes=[float])


def table(path):
    with (gzip.open(path, "rt", encoding="utf-8") if path.endswith("gz") else open(path, encoding="utf-8")) as f:
        return [tuple(line.rstrip("\n").split("\t")) for line in f][1:]


def inflection(folder, quick):
    tags = {"inputs": {"tags_txt": "labels:"}, "predict": ["--decode", "rewrite", "--input", "1"]}
    documented = [{**tags, "fit": ["--kx", f"(zero-one@2 + 0.2)*{word}", "--ky", "ends", "--lambda", "0.01"]}
                  for word in ("ends@1", "(ends@1 + 0.2*ends(start=1)@1)")]
    names = ("english", "finnish", "arabic", "spanish", "turkish", "latin", "danish")
    for name in names[1:2] if quick else names:
        path = "inflection_english.tsv" if name == "english" else f"conll2017/{name}.tsv.gz"
        rows = table(f"{DATA}/strings/{path}")
        train, test = ([row[1:] for row in rows if row[0] == part][:most]
                       for part, most in (("train", 300 if quick else 1000), ("test", 500)))
        files = Files(folder, word_txt=[r[0] for r in train + test], y_txt=[r[1] for r in train + test],
                      tags_txt=[r[2] for r in train + test])
        truth = files.columns["y_txt"]

        def judged(way, a, b):
            found = fit_predict(files, ["word_txt", "tags_txt"], "y_txt", a, b, way, read=text, form="txt")
            return exact([truth[i] for i in b], found)
        a, b = np.arange(len(train)), np.arange(len(train), len(truth))
        order = np.random.default_rng(0).permutation(a)
        tell(f"inflection, {name}", "words right",
             {"no_options": judged({}, a, b), "documented": judged(chosen(documented, order, judged), a, b),
              "longest_suffix": exact([t[1] for t in test], longest_suffix(train, test))})


def sounds(folder, quick):
    """Words to phonemes: each phoneme one character; NETtalk has one for each letter."""
    rewriting = {"fit": ["--kx", "ends + ends(start=1)", "--ky", "ends"], "predict": ["--decode", "rewrite"]}
    writing = {"fit": ["--kx", "ssk(length=3,decay=0.5,upto=1) | normalize",
                       "--ky", "ssk(length=3,decay=0.5,upto=1) | normalize"], "predict": ["--decode", "string"]}
    aligned = {"fit": ["--kx", "ends + ends(start=1)", "--ky", "position(zero-one)"], "predict": ["--decode", "position"]}
    for name in ("gre", "ita", "wel_sw", "nettalk")[:1 if quick else 4]:
        if name == "nettalk":
            pairs = sorted({row[:2] for row in table(f"{DATA}/strings/nettalk.tsv")})
            order = np.random.default_rng(1).permutation(len(pairs))[:1100]
            train, test, ways = [pairs[i] for i in order[:800]], [pairs[i] for i in order[800:]], [aligned]
        else:
            rows = table(f"{DATA}/strings/g2p2021/{name}.tsv.gz")
            code = {p: chr(0x4E00 + k) if len(p) > 1 else p for k, p in enumerate(sorted({p for r in rows for p in r[2].split()}))}
            train, test = ([(r[1], "".join(code[p] for p in r[2].split())) for r in rows if r[0] in part]
                           for part in (("train",), ("dev", "test")))
            ways = [rewriting, writing]
        both = train + test
        files = Files(folder, word_txt=[r[0] for r in both], y_txt=[r[1] for r in both])

        def judged(way, a, b):
            found = fit_predict(files, ["word_txt"], "y_txt", a, b, way, read=text, form="txt")
            return exact([both[i][1] for i in b], found)
        a, b = np.arange(len(train)), np.arange(len(train), len(both))
        order = np.random.default_rng(0).permutation(a)
        tell(f"words to phonemes, {name}", "words right",
             {"no_options": judged({}, a, b), "documented": judged(chosen(ways, order, judged), a, b),
              "letters_in_context": exact([t[1] for t in test], by_letters(train, test))})


def by_letters(train, test):
    """Every letter its commonest phoneme among training words of as many phonemes, by what stands around it."""
    seen = collections.defaultdict(collections.Counter)

    def around(word, k):
        padded = f"##{word}##"
        return [padded[k + 2 - i:k + 3 + j] + f"|{i}" for i, j in ((2, 2), (1, 2), (1, 1), (0, 1), (0, 0))]
    for word, sound in train:
        if len(word) == len(sound):
            for k, one in enumerate(sound):
                for context in around(word, k):
                    seen[context][one] += 1
    return ["".join(next((seen[c].most_common(1)[0][0] for c in around(word, k) if c in seen), word[k])
                    for k in range(len(word))) for word, _ in test]


# ---- rankings ----

def tau(truth, found):
    """Kendall's tau of every row."""
    i, j = np.triu_indices(truth.shape[1], 1)
    return (np.sign(truth[:, i] - truth[:, j]) * np.sign(found[:, i] - found[:, j])).mean(1)


def rankings(folder, quick):
    documented = [{"fit": ["--ky", "kendall"], "predict": ["--decode", "rankings"]},
                  {"fit": ["--ky", "spearman"], "predict": ["--decode", "rankings"]}]
    for name in ("iris", "glass", "vowel", "housing", "wine", "authorship")[:1 if quick else 6]:
        with gzip.open(f"{DATA}/labelranking/{name}.csv.gz", "rt") as f:
            rows = [line.strip().split(",") for line in f][1:]
        X = np.array([row[:-1] for row in rows], float)
        Y = np.array([[row[-1].split(">").index(c) + 1 for c in sorted(row[-1].split(">"))] for row in rows], float)
        scores, files = collections.defaultdict(list), Files(folder, x=X, y=Y)
        for train, test in splits(len(X), 300, 200, 1 if quick else 2):
            def judged(way, a, b):
                return tau(Y[b], fit_predict(files, ["x"], "y", a, b, way, "permutations:"))
            grams, queries = ridge_grams(X[train]), ridge_grams(X[train], X[test])
            add(scores, no_options=judged({}, train, test),
                documented=judged(chosen(documented, train, judged), train, test),
                kernel_ridge=tau(Y[test], kernel_ridge(grams, queries, Y[train])),
                extra_trees=tau(Y[test], extra_trees(X[train], Y[train], X[test])))
        tell(f"label ranking, {name}", "Kendall's tau", scores)


# ---- tables, molecules, pairs ----

def relative(truth, found, train):
    """Mean over outputs of the root mean squared error, relative to that of the training mean."""
    naive = ((truth - train.mean(0))**2).mean(0)
    known = naive > 0
    return float(np.sqrt(((truth - found)**2).mean(0)[known] / naive[known]).mean())


def tables(folder, quick):
    documented = [{"fit": ["--ky", "linear", "--kx", kx]} for kx in
                  ("standardize | rbf(sigma=auto)", "laplacian(gamma=auto)")]
    for name in ("andro", "edm", "enb", "jura", "oes10", "slump")[-1 if quick else 0:]:
        X, Y = np.load(f"{DATA}/mtr/{name}_x.npy"), np.load(f"{DATA}/mtr/{name}_y.npy")
        scores, files = collections.defaultdict(list), Files(folder, x=X, y=Y)
        for train, test in splits(len(X), 300, 200, 2 if quick else 5):
            def judged(way, a, b):
                return relative(Y[b], fit_predict(files, ["x"], "y", a, b, way), Y[a])
            best = chosen(documented, train, lambda *given: -judged(*given))
            grams, queries = ridge_grams(X[train]), ridge_grams(X[train], X[test])
            add(scores, no_options=judged({}, train, test), documented=judged(best, train, test),
                kernel_ridge=relative(Y[test], kernel_ridge(grams, queries, Y[train]), Y[train]),
                extra_trees=relative(Y[test], extra_trees(X[train], Y[train], X[test]), Y[train]))
        tell(f"tables, {name}", "relative error", scores, "lower")


def molecules(folder, quick):
    rows = [row for row in table(f"{DATA}/nci60/molecules.tsv") if row[2] == "1" and row[6] != "-"]
    Y = np.load(f"{DATA}/nci60/activity.npy").astype(float)[[int(row[0]) for row in rows]]
    bits, scores = morgan([row[6] for row in rows]), collections.defaultdict(list)
    known = np.flatnonzero(bits.any(1))  # those that RDKit reads
    smiles, bits, Y = [rows[i][6] for i in known], bits[known], Y[known]
    files = Files(folder, x_smi=smiles, y=Y)
    documented = [{"fit": ["--ky", "linear", "--kx", kx]} for kx in ("paths(m=6) | tanimoto", "ecfp | tanimoto")]
    for train, test in splits(len(Y), 150 if quick else 600, 400, 2 if quick else 4):
        def judged(way, a, b):
            return relative(Y[b], fit_predict(files, ["x_smi"], "y", a, b, way), Y[a])
        grams = {0: tanimoto(bits[train], bits[train])}
        add(scores, no_options=judged({}, train, test),
            documented=judged(chosen(documented, train, lambda *given: -judged(*given)), train, test),
            kernel_ridge=relative(Y[test], kernel_ridge(grams, {0: tanimoto(bits[test], bits[train])}, Y[train]), Y[train]),
            extra_trees=relative(Y[test], extra_trees(bits[train], Y[train], bits[test]), Y[train]))
    tell("molecules, nci60", "relative error", scores, "lower")


def threes(sequences):
    """Counts of three letters in a row, hashed to 512."""
    out = np.zeros((len(sequences), 512))
    for i, s in enumerate(sequences):
        for k in range(len(s) - 2):
            out[i, (ord(s[k]) * 961 + ord(s[k + 1]) * 31 + ord(s[k + 2])) % 512] += 1
    return out / np.sqrt((out**2).sum(1, keepdims=True))


def affinities(folder, quick):
    affinity = np.load(f"{DATA}/davis/affinity.npy").astype(float)
    with open(f"{DATA}/davis/drugs.smi") as f:
        drugs = [line.split()[0] for line in f]
    proteins = [row[1] for row in table(f"{DATA}/davis/proteins.tsv")]
    order = np.random.default_rng(0).permutation(affinity.size)[:300 if quick else 2400]
    d, p = order // affinity.shape[1], order % affinity.shape[1]
    y = affinity[d, p][:, None]
    files = Files(folder, drug_smi=[drugs[i] for i in d], protein_txt=[proteins[i] for i in p], y=y)
    bits, counts, scores = morgan(drugs)[d], threes(proteins)[p], collections.defaultdict(list)
    documented = [{"fit": ["--ky", "linear", "--kx", "(ecfp | tanimoto)@1*(spectrum(k=3) | normalize)@2"]}]
    for train, test in splits(len(order), 200 if quick else 600, 400, 2 if quick else 4):
        def judged(way, a, b):
            return relative(y[b], fit_predict(files, ["drug_smi", "protein_txt"], "y", a, b, way).reshape(-1, 1), y[a])
        a, b = (tanimoto(bits[i], bits[train]) * (counts[i] @ counts[train].T) for i in (train, test))
        both = np.hstack([bits, counts])
        add(scores, no_options=judged({}, train, test), documented=judged(documented[0], train, test),
            kernel_ridge=relative(y[test], kernel_ridge({0: a}, {0: b}, y[train]), y[train]),
            extra_trees=relative(y[test], extra_trees(both[train], y[train, 0], both[test])[:, None], y[train]))
    tell("drugs and targets, davis", "relative error", scores, "lower")


# ---- links ----

def links(folder, quick):
    from sklearn.metrics import average_precision_score
    edges = [row for row in table(f"{DATA}/yeast_ppi/edges.tsv") if int(row[2]) >= 2]
    describe = {"yeast, GO": np.load(f"{DATA}/yeast_ppi/go.npy").astype(float),
                "yeast, expression": np.load(f"{DATA}/yeast_ppi/expression.npy").astype(float)}
    for name, X in list(describe.items())[:1 if quick else 2]:
        known = ~np.isnan(X).any(1) & (X != 0).any(1)
        pairs = {(int(a), int(b)) for a, b, _ in edges if known[int(a)] and known[int(b)]}
        nodes, scores = sorted({v for pair in pairs for v in pair}), collections.defaultdict(list)
        for seed in range(2 if quick else 5):
            rng = np.random.default_rng(seed)
            some = rng.choice(nodes, 250 if quick else 600, replace=False)
            place = {v: k for k, v in enumerate(some)}
            A = np.zeros((len(some), len(some)))
            for a, b in pairs:
                if a in place and b in place:
                    A[place[a], place[b]] = A[place[b], place[a]] = 1
            cut = len(some) * 7 // 10
            found = ranked_links(folder, X[some], A, cut)
            i, j = np.triu_indices(len(some), 1)
            new = j >= cut
            degree = A[:cut, :cut].sum(0)
            size = np.concatenate([degree, np.full(len(some) - cut, degree.mean())])
            near = ridge_grams(X[some])[1.0]
            truth = A[i, j][new]
            add(scores, no_options=average_precision_score(truth, found[i, j][new]),
                degree=average_precision_score(truth, (size[i] + size[j])[new]),
                naive_kernel=average_precision_score(truth, near[i, j][new]))
        tell(f"links, {name}", "area under precision-recall", scores)


def ranked_links(folder, X, A, cut):
    np.save(f"{folder}/x.npy", X)
    with open(f"{folder}/edges.tsv", "w") as f:
        f.writelines(f"{a}\t{b}\n" for a in range(cut) for b in range(a + 1, cut) if A[a, b])
    with open(f"{folder}/labelled.txt", "w") as f:
        f.writelines(f"{a}\n" for a in range(cut))
    okra("link", "--x", f"{folder}/x.npy", "--edges", f"{folder}/edges.tsv", "--labelled", f"{folder}/labelled.txt",
         "--top", 0, "-o", f"{folder}/ranked.tsv")
    found = np.full(A.shape, -np.inf)
    for line in text(f"{folder}/ranked.tsv")[1:]:
        a, b, score = line.split("\t")[:3]
        found[int(a), int(b)] = found[int(b), int(a)] = float(score)
    return found


TASKS = {"sets": label_sets, "spectra": spectra, "inflection": inflection, "phonemes": sounds, "rankings": rankings,
         "links": links, "tables": tables, "molecules": molecules, "pairs": affinities}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tasks", default=",".join(TASKS))
    options.add_argument("--quick", action="store_true", help="one small set of each kind")
    options.add_argument("--also", help="lines of a run of other tasks, which the share of tasks counts too")
    given = options.parse_args()
    lines = map(json.loads, text(given.also) if given.also else [])
    ahead.extend(line["ratio"] > 0 for line in lines if "less the best peer" in line.get("bench", ""))
    try:
        import rdkit  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as missing:
        common.skip(f"needs {missing.name}")
    if not os.path.exists(f"{DATA}/mlc"):
        common.skip(f"no {DATA}/mlc")
    for name in given.tasks.split(","):
        with tempfile.TemporaryDirectory() as folder:
            TASKS[name](folder, given.quick)
    if ahead:
        common.report("share of tasks on which no options is ahead of the best peer", float(np.mean(ahead)), 0.8, tasks=len(ahead))
    common.finish()


if __name__ == "__main__":
    main()
