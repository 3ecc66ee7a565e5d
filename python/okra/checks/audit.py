"""The checks of an audit: each gives a light, one sentence and the numbers behind it.

A check is red where there is a fault, yellow where one is likely or the score needs a caveat, and green otherwise. Thresholds
are those of tests at a level of 1 % or below, so that few of many audits of clean data raise an alarm
(docs/audit.md has the measured rates).
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from scipy import stats

from .._data import Data, as_data
from .intervals import compare_values, each, joined, mean_interval
from .problem import MOST_ROWS, Problem, feature_map, fitted, kernels_of, leading, left_out, nearest, shuffled

NAMES = ("blind", "leak", "dependence", "selection", "guarantee", "stability")
PERMUTATIONS = 200


def _check(name: str, light: str, says: str, figure: Optional[dict] = None, **numbers: Any) -> dict:
    return {"check": name, "light": light, "says": says, "numbers": numbers, "figure": figure}


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


# ---- a: blind controls ----

def blind(p: Problem, metric: str = "", strata: Optional[np.ndarray] = None, count: int = PERMUTATIONS,
          candidates: Optional[Data] = None) -> dict:
    """The same pipeline with inputs permuted, and with no input at all."""
    seen, base, permuted = p.permuted_losses(count, strata)
    p_value = (1 + int(np.sum(permuted <= seen))) / (1 + count)
    pair = compare_values(p.blind_loss, p.loss, groups=p.groups, seed=p.seed)
    numbers = {"skill": p.skill, "skill_permuted": 1 - permuted.mean() / max(base, 1e-300), "p": p_value,
               "loss": p.loss.mean(), "loss_no_input": p.blind_loss.mean(), "difference": [pair["low"], pair["high"]],
               "p_no_input": pair["p"], "permutations": count}
    reached = None
    if metric:
        reached, more = _blind_metric(p, metric, strata, candidates)
        numbers.update(more)
    if p_value > 0.05 or pair["difference"] >= 0:
        head = "Without any input the score is as good: inputs" if pair["difference"] >= 0 else "Inputs are not shown to help: they"
        return _check("blind", "red", f"{head} take away {_percent(p.skill)} of the loss (permutation p = {p_value:.2g}).", **numbers)
    if pair["p"] > 0.05:
        return _check("blind", "yellow", f"Inputs take away {_percent(p.skill)} of the loss, but not surely: better than permuted "
                      f"inputs (p = {p_value:.2g}), not shown to be better than none (p = {pair['p']:.2g}).", **numbers)
    tail = "" if reached is None else f"; of {metric} the blind controls reach {_percent(reached)}"
    if reached is not None and reached > 0.8:
        return _check("blind", "yellow", f"Most of the score needs no input{tail}.", **numbers)
    return _check("blind", "green", f"Inputs take away {_percent(p.skill)} of the loss without them "
                  f"(permutation p = {p_value:.2g}){tail}.", **numbers)


def _blind_metric(p: Problem, metric: str, strata: Optional[np.ndarray], candidates: Optional[Data], times: int = 3) -> tuple:
    """How much of a metric permuted inputs and no inputs reach, with answers from the candidates where there are some."""
    from .._kernel import metric_is_loss
    rows = slice(0, min(len(p.rows), 300))
    n = len(p.phi)

    def value(weights: np.ndarray, truth: Data) -> float:
        return each(metric, truth, p.model.decode(weights, candidates=candidates).objects())[0]
    real = value(p.w[rows], p.row_y[rows])
    none = value(np.full((1, n), 1 / n).repeat(rows.stop, axis=0), p.row_y[rows])
    mixed = []
    for _ in range(times):
        order = shuffled(n, strata, p.rng)
        truth = p.row_y[rows] if p.test else p.y[order[p.rows[rows]]]
        mixed.append(value(p.w[rows][:, np.argsort(order)], truth))
    best = (min if metric_is_loss(metric) else max)(none, float(np.mean(mixed)))
    top, low = (best, real) if not metric_is_loss(metric) else (real, best)
    share = float(np.clip(top / low, 0, 1)) if low > 0 else 1.0
    return share, {"metric": metric, "value": real, "value_no_input": none, "value_permuted": float(np.mean(mixed)),
                   "reached": share}


def blind_predictions(y: Data, yhat: Data, metric: str, groups: Any = None, seed: int = 0) -> dict:
    """Of predictions alone: against one answer for all rows."""
    from .._kernel import metric_is_loss
    rng, n = np.random.default_rng(seed), len(y)
    real, values = each(metric, y, yhat)
    tries = y[rng.choice(n, min(n, 30), replace=False)]
    if y.kind == "dense":  # the mean, too
        vectors = np.asarray(y.objects, dtype=float).reshape(n, -1)
        tries = as_data(np.vstack([np.nanmean(vectors, axis=0, keepdims=True), np.asarray(tries.objects).reshape(len(tries), -1)]))
    found = [each(metric, y, tries[np.full(n, k)]) for k in range(len(tries))]
    best = (min if metric_is_loss(metric) else max)(found, key=lambda f: f[0])
    mixed = np.mean([each(metric, y, yhat[rng.permutation(n)])[0] for _ in range(20)])
    numbers = {"metric": metric, "value": real, "value_one_answer": best[0], "value_permuted": float(mixed)}
    worse = values is None and not (real < best[0] if metric_is_loss(metric) else real > best[0])
    if values is not None:
        pair = compare_values(best[1], values, groups=groups, seed=seed)
        worse = pair["p"] > 0.05 or (pair["difference"] >= 0) == metric_is_loss(metric)
        numbers["difference"] = [pair["low"], pair["high"]]
    says = f"{metric} is {real:.4g}; one answer for all rows has {best[0]:.4g}, permuted predictions {mixed:.4g}."
    return _check("blind", "red" if worse else "green", ("One answer for all rows is as good: " if worse else "") + says,
                  **numbers)


# ---- b: leaks ----

def near_copies(near: dict) -> dict:
    """Rows with an equal training input, and an excess of rows with one that is far nearer than the next. `alike` counts those
    that only the kernel does not tell apart.

    In d dimensions the ratio mu of the two nearest distances has P(1 / mu < t) = t^d whatever the scale (Facco et al.,
    Scientific Reports 7, 2017); d comes from the median. t = 0.01^(1/d) has 1 % of clean rows below it; who is not three
    times nearer than the next is no copy, whatever d.
    """
    alike = near["first"] <= 1e-10 * near["scale"]
    ratio = np.sqrt(near["first"] / np.maximum(near["second"], 1e-300))[~alike]
    middle, equal = np.median(ratio) if len(ratio) else 1.0, int(np.sum(near["twin"] >= 0))
    out = {"equal": equal, "alike": int(alike.sum()) - equal, "near": 0, "expected": 0.0, "p": 1.0, "dimension": np.inf}
    if len(ratio) < 20 or middle > 1 - 1e-9:
        return out
    d = np.log(0.5) / np.log(middle)
    limit = min(0.01 ** (1 / d), 1 / 3)
    near, chance = int(np.sum(ratio < limit)), limit ** d
    return {**out, "near": near, "expected": chance * len(ratio), "dimension": float(d),
            "p": float(stats.binom.sf(near - 1, len(ratio), chance))}


def order_tells(phi: np.ndarray, rng: np.random.Generator, count: int = PERMUTATIONS) -> tuple:
    """How far rows resemble the next ones: deviations from chance, and the share of the spread it explains."""
    c = phi - phi.mean(axis=0)
    total = max((c * c).sum(), 1e-300)

    def agreement(order: np.ndarray) -> float:
        return float((c[order[1:]] * c[order[:-1]]).sum() / total)
    seen = agreement(np.arange(len(c)))
    chance = np.array([agreement(rng.permutation(len(c))) for _ in range(count)])
    return (seen - chance.mean()) / max(chance.std(), 1e-12), seen


def column_tells(values: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """The share of the outputs' spread that each column alone explains, by neighbours in its order or a line."""
    c = phi - phi.mean(axis=0)
    total, out = max((c * c).sum(), 1e-300), []
    for column in values.T:
        sorted_ = c[np.argsort(column, kind="stable")]
        guess = (np.r_[sorted_[1:2], sorted_[:-1]] + np.r_[sorted_[1:], sorted_[-2:-1]]) / 2
        if np.ptp(column) > 0:
            line = column - column.mean()
            straight = ((c.T @ line) ** 2).sum() / (line @ line) / total
            out.append(max(1 - ((sorted_ - guess) ** 2).sum() / total, straight))
        else:
            out.append(0.0)
    return np.array(out)


WRITING = {"aromatic letters": lambda t: any(l in t for l in "cnos"), "charges": lambda t: "+" in t or "-]" in t,
           "stereo marks": lambda t: "@" in t or "/" in t, "several parts": lambda t: "." in t,
           "written hydrogens": lambda t: "[H]" in t, "double bonds in rings (=C1)": lambda t: "=C1" in t or "C1=" in t}


def written_otherwise(first: list, second: list) -> list:
    """Ways of writing whose shares differ between two lists of SMILES."""
    found = []
    for name, has in WRITING.items():
        a, b = np.array([has(t) for t in first]), np.array([has(t) for t in second])
        table = [[a.sum(), len(a) - a.sum()], [b.sum(), len(b) - b.sum()]]
        if abs(a.mean() - b.mean()) > 0.1 and stats.fisher_exact(table)[1] < 0.001:
            found.append({"what": name, "first": float(a.mean()), "second": float(b.mean())})
    return found


def tautomers(first: list, second: list) -> int:
    """How many of the second are one of the first but for hydrogens that move, charges and stereo marks; 0 without RDKit."""
    try:
        from rdkit import Chem, RDLogger
        from rdkit.Chem.rdMolHash import HashFunction, MolHash
    except ImportError:
        return 0
    RDLogger.DisableLog("rdApp.*")

    def skeleton(text: Any) -> str:
        molecule = Chem.MolFromSmiles(str(text))
        if molecule is None:
            return ""
        Chem.RemoveStereochemistry(molecule)
        return MolHash(molecule, HashFunction.HetAtomTautomer).split("_")[0]
    known = {skeleton(text) for text in first} - {""}
    return sum(skeleton(text) in known for text in second)


def candidates_tell(y: Data, candidates: Data) -> list:
    """What of a list of candidates gives the truths away: their place, their length, their writing."""
    texts, truth = [str(t) for t in candidates.objects], {str(t) for t in y.objects}
    true = np.array([t in truth for t in texts])
    found = []
    if true.sum() < 5 or (~true).sum() < 5:
        return found
    for name, values in (("place in the list", np.arange(len(texts))), ("length", np.array([len(t) for t in texts]))):
        test = stats.mannwhitneyu(values[true], values[~true])
        area = test.statistic / (true.sum() * (~true).sum())
        if test.pvalue < 0.001 and abs(area - 0.5) > 0.1:
            found.append({"what": name, "area": float(area), "p": float(test.pvalue)})
    if candidates.kind == "graphs":
        found += written_otherwise([t for t, k in zip(texts, true) if k], [t for t, k in zip(texts, true) if not k])
    return found


def leak(p: Problem, names: Optional[Data] = None, candidates: Optional[Data] = None) -> dict:
    """Copies between training and test, and what else tells the output."""
    near, m = p.near, len(p.rows)
    red, yellow, numbers, figure = [], [], {"rows": m}, None
    where = "test" if p.test else "left-out"
    if near is not None:
        copies = near_copies(near)
        numbers.update(copies)
        if copies["equal"] >= max(2, 0.01 * m):
            red.append(f"{copies['equal']} of {m} {where} inputs are in the training set")
        if copies["p"] < 0.005 and copies["near"] >= 5 and copies["near"] > 1.5 * copies["expected"]:
            (red if copies["near"] > 0.05 * m else yellow).append(
                f"{copies['near']} {where} inputs are nearly equal to a training input ({copies['expected']:.0f} expected)")
        if p.test and p.x.kind == "graphs":
            _molecules_tell("input", p.x, p.row_x, near, red, yellow, numbers)
    distinct = len(p.y.distinct())
    if distinct > 0.9 * len(p.y) and p.test:
        same = distinct + len(p.row_y.distinct()) - len(joined(p.y, p.row_y).distinct())
        numbers["equal_outputs"] = int(same)
        if same >= max(2, 0.01 * m):
            red.append(f"{same} test outputs are outputs of training pairs")
        far = nearest(p.ky, p.row_y, p.y, None)
        near_y = near_copies(far)
        numbers.update(near_outputs=near_y["near"], near_outputs_p=near_y["p"])
        if near_y["p"] < 0.005 and near_y["near"] >= 5 and near_y["near"] > 0.05 * m:
            yellow.append(f"{near_y['near']} test outputs are nearly equal to a training output ({near_y['expected']:.0f} expected)")
        if p.y.kind == "graphs":
            _molecules_tell("output", p.y, p.row_y, far, red, yellow, numbers)
    z, share = order_tells(p.phi, p.rng)
    numbers.update(order_z=z, order_share=share)
    if z > 5:
        (red if share > 0.5 and not p.test else yellow).append(f"the order of rows tells {_percent(share)} of the outputs")
    if p.x is not None and p.x.kind == "dense" and 1 < p.x.shape[1] <= 300:
        told = column_tells(np.asarray(p.x.objects, dtype=float), p.phi)
        numbers["best_column"], numbers["best_column_share"] = int(told.argmax()), float(told.max())
        if told.max() > 0.99:
            red.append(f"column {told.argmax()} (from 0) alone tells {_percent(told.max())} of the outputs")
    if names is not None:
        q = hsic(_plain_features(names, p.rng), p.phi, p.rng)
        numbers["names_p"] = q["p"]
        if q["p"] < 0.01:
            red.append(f"what should not tell does: p = {q['p']:.2g}")
    for one in candidates_tell(p.row_y, candidates) if candidates is not None else []:
        red.append(f"the {one['what']} of candidates gives truths away")
    light = "red" if red else "yellow" if yellow else "green"
    says = "; ".join(red + yellow) or (f"no copies between training and {where} rows" if near is not None else
                                       "the order of rows tells nothing of the outputs (copies: give inputs)")
    if near is not None:
        numbers["by_similarity"], figure = _by_similarity(p)
        says += f"; the quarter least like the training set keeps a skill of " \
                f"{_percent(numbers['by_similarity'][-1]['skill'])} (all: {_percent(p.skill)})"
    return _check("leak", light, f"{says[0].upper()}{says[1:]}.", figure, **numbers)


def _molecules_tell(what: str, train: Data, rows: Data, near: dict, red: list, yellow: list, numbers: dict) -> None:
    """Molecules that are written otherwise in training and test, and those that are the same but for small things."""
    first, second = ([str(t) for t in d.objects] for d in (train, rows))
    for one in written_otherwise(first, second):
        yellow.append(f"{one['what']}: {_percent(one['first'])} of the training and {_percent(one['second'])} "
                      f"of the test {what}s have them")
    same = tautomers(first, [t for t, twin in zip(second, near["twin"]) if twin < 0])
    numbers["tautomers" if what == "input" else "tautomers_of_outputs"] = same
    if same >= max(2, 0.01 * len(second)):
        red.append(f"{same} test {what}s are training {what}s but for hydrogens that move, charges or stereo marks")


def _plain_features(names: Data, rng: np.random.Generator) -> np.ndarray:
    kernel = {"strings": "spectrum(k=3)", "labels": "zero-one"}.get(names.kind, "linear")
    made = feature_map(kernel, names, rng)(names)
    return (made - made.mean(axis=0)) / max(made.std(), 1e-300)


def _by_similarity(p: Problem) -> tuple:
    """Skill in quarters of the distance to the nearest training input."""
    order = np.argsort(p.near["first"], kind="stable")
    out = []
    for part in np.array_split(order, 4):
        found = mean_interval(p.loss[part], groups=None if p.groups is None else p.groups[part], seed=p.seed)
        base = max(p.blind_loss[part].mean(), 1e-300)
        out.append({"distance": float(np.sqrt(np.median(p.near["first"][part]))), "skill": 1 - p.loss[part].mean() / base,
                    "loss": found["value"], "low": found["low"], "high": found["high"], "rows": len(part)})
    figure = {"id": "similarity", "type": "bars", "title": "Skill by distance to the nearest training input",
              "labels": ["nearest quarter", "second", "third", "farthest"], "y_label": "share of the blind loss taken away",
              "series": [{"name": "skill", "y": [q["skill"] for q in out]}]}
    return out, figure


# ---- c: dependence ----

def hsic(a: np.ndarray, b: np.ndarray, rng: np.random.Generator, strata: Optional[np.ndarray] = None,
         count: int = PERMUTATIONS) -> dict:
    """HSIC |A'B|^2 / n^2 of centred features with its permutation p-value (Gretton et al., NIPS 2007)."""
    a, b = (v @ leading(v, 32) for v in (a, b))  # permutations are valid with any features
    a, b, n = a - a.mean(axis=0), b - b.mean(axis=0), len(a)
    seen = float(((a.T @ b) ** 2).sum())
    chance = np.array([((a.T @ b[shuffled(n, strata, rng)]) ** 2).sum() for _ in range(count)])
    return {"hsic": seen / n ** 2, "hsic_permuted": float(chance.mean()) / n ** 2, "permutations": count,
            "p": (1 + int(np.sum(chance >= seen * (1 - 1e-12)))) / (1 + count)}


def dependence(p: Problem, strata: Optional[np.ndarray] = None, count: int = PERMUTATIONS) -> dict:
    """Is there anything to learn?"""
    if p.x is None:
        found = hsic(p.guess, p.row_phi, p.rng, None if strata is None else strata[p.rows], count)
    else:  # strata of test rows, which predictions may have, say nothing of training rows
        found = hsic(p.input_features(), p.phi, p.rng, None if p.test and p.w is None else strata, count)
    good = found["p"] <= 0.05
    return _check("dependence", "green" if good else "red",
                  f"{'Predictions' if p.x is None else 'Inputs'} and outputs {'depend on' if good else 'show no dependence on'} "
                  f"one another (HSIC, {count} permutations: p = {found['p']:.2g}).", **found)


# ---- d: selection ----

def optimism(errors: np.ndarray, seed: int = 0, splits: int = 200) -> dict:
    """What choosing the best of several settings by their mean errors pretends.

    Rows are halved again and again: the winner of one half is judged on the other. Its loss there less its loss where it won,
    over sqrt(2) for the half size, is the optimism of the whole; another winner in the other half is counted.
    """
    n, rng = len(errors), np.random.default_rng(seed)
    means = errors.mean(axis=0)
    best = int(means.argmin())
    gap, other = [], 0
    for _ in range(splits):
        order = rng.permutation(n)
        a, b = errors[order[:n // 2]].mean(axis=0), errors[order[n // 2:]].mean(axis=0)
        for one, two in ((a, b), (b, a)):
            gap.append(two[one.argmin()] - one[one.argmin()])
            other += int(one.argmin() != best)
    se = errors[:, best].std(ddof=1) / np.sqrt(n)
    return {"winner": best, "error": float(means[best]), "standard_error": float(se), "other_wins": other / (2 * splits),
            "optimism": float(np.mean(gap) / np.sqrt(2)), "settings": errors.shape[1]}


def selection(errors: np.ndarray, seed: int = 0) -> dict:
    """Is the chosen setting better than its reported error says?"""
    errors = np.asarray(errors, dtype=float)
    if errors.ndim != 2 or errors.shape[1] < 2 or len(errors) < 8 or not np.isfinite(errors).all():
        raise ValueError(f"errors of settings have shape {errors.shape}, expected 8 or more rows by 2 or more settings, "
                         "all known")
    found = optimism(errors, seed)
    ratio = found["optimism"] / max(found["standard_error"], 1e-300)
    light = "red" if ratio > 2 else "yellow" if ratio > 1 else "green"
    return _check("selection", light,
                  f"Choosing among {found['settings']} settings makes the error look {found['optimism']:.3g} better "
                  f"({ratio:.2g} standard errors); another setting wins in {_percent(found['other_wins'])} of the halves.",
                  **found)


def errors_of_lambdas(p: Problem, values: dict, factors: tuple = (0.01, 0.1, 1, 10, 100), most: int = 600) -> np.ndarray:
    """Left-out losses of some rows at several lambdas, a column each: small fits of the model's own kernels."""
    from .._model import Model
    rows = np.sort(p.rng.choice(len(p.y), min(len(p.y), most), replace=False))
    x, y, phi = p.x[rows], p.y[rows], p.phi[rows]
    lam = float(p.model.info["options"]["lambda"])
    out = []
    for factor in factors:
        model = Model.fit(x, y, {**values, "kx": p.kx, "ky": p.ky, "lambda": lam * factor})
        hat = model.predict(x, {"decode": "none"}, weights=True).weights()
        out.append(((phi - left_out(hat, np.arange(len(rows))) @ phi) ** 2).sum(axis=1))
    return np.stack(out, axis=1)


# ---- e: guarantees ----

def guarantee(p_values: np.ndarray, known: int, groups: Any = None, level: float = 0.9) -> dict:
    """Are p-values of the truth uniform, and do sets of this level hold it, in every group?

    `known` scores stand behind the p-values: the distance to uniform is that of two samples (Kolmogorov and Smirnov), and the
    number of covered rows is beta-binomial.
    """
    u = np.sort(np.asarray(p_values, dtype=float))
    n = len(u)
    far = max(np.max(np.arange(1, n + 1) / n - u), np.max(u - np.arange(n) / n))
    size = n * known / (n + known)
    p = float(stats.kstwobign.sf(far * np.sqrt(size)))
    covered = np.asarray(p_values) > 1 - level
    below = max(int(np.floor((1 - level) * (known + 1))), 1)

    def chance(k: int, m: int) -> float:
        return float(stats.betabinom.cdf(k, m, known + 1 - below, below))
    numbers = {"rows": n, "scores": known, "distance": float(far), "p": p, "coverage": float(covered.mean()), "level": level,
               "p_coverage": chance(int(covered.sum()), n), "groups": {}}
    bad = []
    if groups is not None:
        groups = np.asarray(groups)
        names = [g for g in np.unique(groups) if np.sum(groups == g) >= 10]
        for g in names:
            member = groups == g
            q = chance(int(covered[member].sum()), int(member.sum()))
            numbers["groups"][str(g)] = {"rows": int(member.sum()), "coverage": float(covered[member].mean()), "p": q}
            if q < 0.01 / len(names):
                bad.append(f"group {g}: {_percent(covered[member].mean())}")
    grid = np.linspace(0, 1, 51)
    figure = {"id": "p-values", "type": "curve", "title": "p-values of the truth", "x_label": "p-value",
              "y_label": "share at or below it", "series": [
                  {"name": "observed", "x": grid, "y": [float(np.mean(u <= g)) for g in grid]},
                  {"name": "as it should be", "x": [0.0, 1.0], "y": [0.0, 1.0]}]}
    worse = numbers["p_coverage"] < 0.005
    light = "red" if worse or bad else "yellow" if p < 0.01 else "green"
    says = f"Sets of {_percent(level)} hold {_percent(covered.mean())} of the truths; p-values " \
           f"{'are not' if p < 0.01 else 'look'} uniform (p = {p:.2g})" + (": too few in " + ", ".join(bad) if bad else "") + "."
    return _check("guarantee", light, says, figure, **numbers)


def exchangeability(p: Problem, level: float = 0.9) -> dict:
    """p-values of test losses among left-out training losses, which are alike where training and test rows are."""
    losses = np.sort(p.learned()[2])
    above = len(losses) - np.searchsorted(losses, p.loss, side="left")
    tied = np.searchsorted(losses, p.loss, side="right") - np.searchsorted(losses, p.loss, side="left")
    u = (above - tied + p.rng.random(len(p.loss)) * (tied + 1)) / (len(losses) + 1)
    return guarantee(u, len(losses), p.groups, level)


# ---- f: stability ----

def influence(w: np.ndarray, hat: np.ndarray, rows: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """How far answers move (root mean square) where each of some training pairs is taken away, in closed form: removing j
    changes f(x) by w_j(x) (phi_j - f(x_j)) / (1 - H_jj)."""
    own = hat[np.arange(len(rows)), rows]
    return np.sqrt((w[:, rows] ** 2).mean(axis=0) * (residual ** 2).sum(axis=1)) / np.maximum(1 - own, 1e-12)


def outlying(loss: np.ndarray) -> np.ndarray:
    """Rows whose root loss is 8 robust deviations beyond the median, which is 5.4 of normal errors, and as far in the tail that
    the 80 % quantile tells, which is 4 of normal errors and more where large ones are common."""
    r = np.sqrt(np.maximum(loss, 0))
    middle, upper = np.quantile(r, [0.5, 0.8])
    spread = 1.4826 * np.median(np.abs(r - middle))
    tail = upper * (upper / max(middle, 1e-9 * upper)) ** 1.8 if upper > 0 else 0
    return np.flatnonzero(r > max(middle + 8 * max(spread, 1e-9 * max(r.max(), 1e-300)), tail))


def stability(p: Problem) -> dict:
    """Pairs that decide much, copies that contradict one another, likely label errors."""
    rows, judged, near, hat, loss = p.rows, p.rows, p.near, None, p.loss
    if p.w is not None:
        rows, hat, loss = p.learned()
    elif p.test:  # training pairs
        rows = np.sort(p.rng.choice(len(p.y), min(len(p.y), MOST_ROWS), replace=False))
    phi, size = p.phi[rows], loss
    typical = 2 * ((phi - phi.mean(axis=0)) ** 2).sum(axis=1).mean()
    m, red, yellow, clean, numbers = len(rows), [], [], ["no outputs stand out"], {"rows": len(rows)}
    if p.x is not None:
        near = nearest(p.kx, p.x[rows], p.x, rows) if p.test else near
        apart = ((phi - p.phi[near["twin"]]) ** 2).sum(axis=1)
        contradicting = np.flatnonzero((near["twin"] >= 0) & (apart > typical))
        numbers.update(contradicting=[int(rows[k]) for k in contradicting[:50]], contradicting_count=len(contradicting))
        clean.insert(0, "no copies contradict")
        if len(contradicting) >= max(2, 0.01 * m):
            red.append(f"{len(contradicting)} pairs have a copy of their input with another output")
    if hat is not None:
        judged, size = rows, loss * np.maximum(1 - hat[np.arange(m), rows], 0)  # studentised: far inputs are uncertain
        moves = influence(p.w, hat, rows, phi - hat @ p.phi)
        top = np.argsort(-moves)[:10]
        share = float(moves.max() ** 2 / max((moves ** 2).sum(), 1e-300))
        numbers.update(largest_influence_share=share,
                       influential=[{"pair": int(rows[k]), "moves": float(moves[k])} for k in top])
        clean.insert(0, f"no single pair decides (the largest share of influence is {_percent(share)})")
        if share > 0.8 and m >= 50:
            yellow.append(f"one pair ({rows[top[0]]}) has {_percent(share)} of all influence")
    odd = outlying(size)
    odd = odd[loss[odd] > typical / 8]
    numbers.update(odd=[int(judged[k]) for k in odd[np.argsort(-loss[odd])][:50]], odd_count=len(odd))
    if len(odd) >= max(3, 0.005 * len(judged)):
        (red if len(odd) >= 0.02 * len(judged) else yellow).append(
            f"{len(odd)} outputs are far from what {'is predicted' if p.w is None else 'other pairs say'}, as label errors are")
    light = "red" if red else "yellow" if yellow else "green"
    says = "; ".join(red + yellow) or ", ".join(clean)
    return _check("stability", light, f"{says[0].upper()}{says[1:]}.", **numbers)


# ---- the whole ----

def audit(x: Any = None, y: Any = None, test_x: Any = None, test_y: Any = None, options: Optional[dict] = None,
          model: Any = None, predicted: Any = None, metric: str = "", groups: Any = None, within: Any = None, names: Any = None,
          candidates: Any = None, errors: Any = None, p_values: Any = None, checks: Any = NAMES, permutations: int = PERMUTATIONS,
          seed: int = 0) -> dict:
    """Checks whether a result is real.

    Parameters
    ----------
    x, y : objects, optional
        Training pairs; those that `model` keeps if not given.
    test_x, test_y : objects, optional
        Test pairs; without them training pairs are left out in turn (ridge).
    options : dict, optional
        The recipe: options of ``okra fit`` by name; what is not given is chosen.
    model : Model or estimator, optional
        In place of a recipe.
    predicted : objects, optional
        What any program predicted for the judged rows (`test_y`, or `y` without test data), in place of a model. `x` may then
        be left out; `options` has kernels alone.
    metric : str, optional
        Also judged by this metric of decoded outputs; predictions by it in place of the loss in the output kernel.
    groups, within, names : optional
        Of every judged row its group, of every training row (of every judged row of predictions) the stratum in which controls
        permute, and what should not tell the output.
    candidates : objects, optional
        The list from which outputs are chosen.
    errors : array (rows, settings), optional
        Left-out errors of the settings among which was chosen.
    p_values : array, optional
        Conformal p-values of the truth of every judged row.
    checks : sequence of str
        Which of ``blind leak dependence selection guarantee stability``.
    permutations, seed : int

    Returns
    -------
    dict
        ``light`` (the worst), ``checks`` (each with ``check``, ``light``, ``says``, ``numbers``, ``figure``) and ``rows``. The
        light of what could not be checked is ``none``, and ``says`` what it needs.
    """
    unknown = [one for one in checks if one not in NAMES]
    if unknown:
        raise ValueError(f"check is '{unknown[0]}', expected {', '.join(NAMES)}")
    x, y, test_x, test_y, predicted, names, candidates = (
        None if v is None else as_data(v) for v in (x, y, test_x, test_y, predicted, names, candidates))
    if (test_x is None) != (test_y is None):
        raise ValueError("give test inputs and test outputs, or neither")
    kernels, model = (), getattr(model, "model_", model)
    if predicted is not None:
        if y is None or model is not None or (test_x is not None and x is None):
            raise ValueError("predictions need the outputs y, inputs x where there are test inputs, and no model")
        kernels = kernels_of(x, y, options or {})
    elif model is None:
        if x is None or y is None:
            raise ValueError("give training inputs and outputs, or a model")
        model = fitted(x, y, options or {})
    p = Problem(model, x, y, test_x, test_y, groups, seed, predicted, kernels)
    strata = None if within is None else np.asarray(within)
    judged = len(y if test_y is None else test_y) if predicted is not None else len(p.y)
    if strata is not None and strata.shape != (judged,):
        raise ValueError(f"within has shape {strata.shape}, expected ({judged},): a stratum for every "
                         f"{'training' if predicted is None else 'judged'} row")

    def none(name: str, needs: str) -> dict:
        return _check(name, "none", f"Not checked: it needs {needs}.")
    run = {"blind": lambda: blind(p, metric, strata, permutations, candidates) if predicted is None or not metric else
           blind_predictions(y if test_y is None else test_y, predicted, metric, groups, seed),
           "leak": lambda: leak(p, names, candidates),
           "dependence": lambda: dependence(p, strata, permutations),
           "selection": lambda: selection(errors, seed) if errors is not None else
           selection(errors_of_lambdas(p, options or {}), seed) if p.ridge else none("selection", "errors of all settings"),
           "guarantee": lambda: guarantee(p_values, 10 ** 6, groups) if p_values is not None else
           exchangeability(p) if p.test and p.ridge else none("guarantee", "test data and a ridge model, or p-values"),
           "stability": lambda: stability(p) if p.ridge or p.w is None else none("stability", "a ridge model, or predictions")}
    found = [run[name]() for name in NAMES if name in checks]
    worst = max((("none", "green", "yellow", "red").index(one["light"]) for one in found), default=0)
    return {"light": ("none", "green", "yellow", "red")[worst], "rows": len(p.rows), "checks": found}
