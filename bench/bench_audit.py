"""How often checks of okra audit are right, whether intervals hold what they promise, and what an audit costs.

    python3 bench/bench_audit.py [--count 200] [--data DIR]   writes docs/reports/audits.json and docs/reports/audits.md
    python3 bench/bench_audit.py --page                       the page alone, from the results that are there
    python3 bench/bench_audit.py --check                      is the page what the results give?
"""
import argparse
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]
REPORTS = ROOT / "docs" / "reports"


def cost(np, okra):
    """Seconds of a fit and of an audit at n = 4,000."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 8))
    y = np.sin(x[:, :1]) + 0.1 * rng.normal(size=(4000, 1))
    options = {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.1}
    fits = []
    for _ in range(3):
        begin = time.perf_counter()
        model = okra.Model.fit(x, y, options)
        fits.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    okra.audit(x, y, options=options)
    whole = time.perf_counter() - begin
    begin = time.perf_counter()
    okra.audit(x, y, model=model, checks=("blind",))
    return {"fit": sorted(fits)[1], "audit": whole, "permutations": time.perf_counter() - begin}


def measure_next(np, okra, folder):
    """Test errors after a batch that okra next chose, and after random ones, on three tasks."""
    out = {}
    for name in ("enb", "jura", "oes10"):
        x, y = (np.load(folder / "mtr" / f"{name}_{part}.npy").astype(float) for part in "xy")
        x, y = ((v - v.mean(axis=0)) / np.maximum(v.std(axis=0), 1e-9) for v in (x, y))
        options = {"kx": f"rbf(sigma={np.sqrt(x.shape[1]):.6g})", "ky": "linear", "lambda": 0.01}
        chosen, chance = [], []
        for seed in range(20):
            order = np.random.default_rng(seed).permutation(len(x))
            first, pool, test = order[:30], order[30:len(x) // 2 + 30], order[len(x) // 2 + 30:]
            model = okra.Model.fit(x[first], y[first], options)

            def error(more):
                rows = np.r_[first, more]
                got = okra.Model.fit(x[rows], y[rows], options).predict(x[test]).objects().objects
                return float(np.mean((np.asarray(got).reshape(y[test].shape) - y[test]) ** 2))
            chosen.append(error(pool[okra.next_inputs(model, x[pool], 30)["chosen"]]))
            chance.append(error(pool[:30]))
        pair = okra.checks.intervals.compare_values(np.array(chance), np.array(chosen))
        out[name] = {"chosen": float(np.mean(chosen)), "random": float(np.mean(chance)), "p": pair["p"]}
    return out


def nci60(np, okra, folder):
    """What of the score remains for molecules unlike the training set."""
    x = okra.bits(np.unpackbits(np.load(folder / "nci60" / "fp2.npy"), axis=1))
    known = np.flatnonzero(np.load(folder / "nci60" / "fp2.npy").any(axis=1))
    keep = np.sort(np.random.default_rng(0).choice(known, 2000, replace=False))
    x, y = x[keep], (np.load(folder / "nci60" / "activity.npy")[keep] >= 60).astype(float)
    found = {"molecules": len(keep)}
    for by in ("random", "similarity"):
        folds = okra.split(x, by, 5, kernel="tanimoto")
        test, train = np.flatnonzero(folds["folds"] == 0), np.flatnonzero(folds["folds"] != 0)
        tries = [{"kx": "tanimoto", "ky": "linear", "lambda": lam} for lam in (0.1, 1, 10)]  # by left-out losses
        options = min(tries, key=lambda o: okra.Model.fit(x[train], y[train], o).leave(o)[1].mean())
        made = okra.audit(x[train], y[train], x[test], y[test], options, checks=("blind", "leak"))
        blind, leak = (c["numbers"] for c in made["checks"])
        found[by] = {"skill": blind["skill"], "quarters": [q["skill"] for q in leak["by_similarity"]], "equal": leak["equal"],
                     "rows": leak["rows"], "lights": {c["check"]: c["light"] for c in made["checks"]},
                     "says": made["checks"][1]["says"]}
    return found


def page(r):
    """The results as Markdown."""
    percent = lambda v: f"{100 * v:.1f} %"  # noqa: E731
    lines = ["# How right audits are", "", "`bench/bench_audit.py` writes this page. [Is my result real?](../audit.md) explains the checks.",
             "", f"## Checks, {r['count']} data sets each", "",
             "Clean data: a function of the inputs with noise. An alarm is any light but green.", "",
             "| check | false alarms | planted faults found |", "|---|---:|---|"]
    lines += [f"| {name} | {percent(v['false'])} | " + ", ".join(f"{k}: {percent(s)}" for k, s in v["found"].items()) + " |"
              for name, v in r["checks"].items()]
    lines += ["", f"## Intervals of 95 %, {r['draws']} data sets each", "", "| values | hold the truth |", "|---|---:|"]
    lines += [f"| {name} | {percent(v)} |" for name, v in r["coverage"].items()]
    lines += ["", f"p-values of two equally good predictions ({r['draws']} pairs): {percent(r['null']['below'])} are at or below 0.05; "
              f"the distance to uniform has p = {r['null']['p']:.2g} (Kolmogorov and Smirnov)."]
    c = r["cost"]
    lines += ["", "## Cost at n = 4,000", "", f"One fit {c['fit']:.1f} s; a whole audit with its fit {c['audit']:.1f} s, "
              f"{c['audit'] / c['fit']:.1f} fits; the blind check with 200 permutations {c['permutations']:.1f} s, with no further factor."]
    if "nci60" in r:
        lines += ["", f"## NCI-60: {r['nci60']['molecules']} molecules, 59 cell lines", "",
                  "Skill: the share of the loss without inputs that the fingerprint takes away (1 is all of it). "
                  "Quarters of the test molecules, the nearest to the training set first.", "",
                  "| split | skill | quarter 1 | 2 | 3 | 4 | test molecules in the training set |", "|---|---:|---:|---:|---:|---:|---:|"]
        lines += [f"| {by} | {v['skill']:.3f} | " + " | ".join(f"{q:.3f}" for q in v["quarters"]) + f" | {v['equal']} of {v['rows']} |"
                  for by, v in ((b, r["nci60"][b]) for b in ("random", "similarity"))]
    if "next" in r:
        lines += ["", "## What to measure next: 30 known, 30 more", "", "Mean squared error on test rows, 20 draws.", "",
                  "| task | chosen by okra next | random | p |", "|---|---:|---:|---:|"]
        lines += [f"| {k} | {v['chosen']:.4f} | {v['random']:.4f} | {v['p']:.2g} |" for k, v in r["next"].items()]
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--draws", type=int, default=4000)
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--only", default="", help="some parts, between commas: cost checks coverage null next nci60")
    p.add_argument("--page", action="store_true")
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    kept = REPORTS / "audits.json"
    if a.check:
        same = page(json.loads(kept.read_text(encoding="utf-8"))) == (REPORTS / "audits.md").read_text(encoding="utf-8")
        print("" if same else "docs/reports/audits.md is not what docs/reports/audits.json gives: bench/bench_audit.py --page writes it")
        sys.exit(not same)
    if not a.page:
        import numpy as np
        from scipy import stats
        import okra
        import okra.checks.intervals
        import simulated
        r = json.loads(kept.read_text(encoding="utf-8")) if a.only else {}
        r.update(count=a.count, draws=a.draws)
        wanted = a.only.split(",") if a.only else ["cost", "checks", "coverage", "null", "next", "nci60"]
        folder = pathlib.Path(a.data)
        if "cost" in wanted:
            r["cost"] = cost(np, okra)
        if "checks" in wanted:
            r["checks"] = {name: dict(zip(("false", "found"), simulated.rates(name, a.count))) for name in simulated.FAULTS}
        if "coverage" in wanted:
            r["coverage"] = {k: simulated.coverage(draw, truth, a.draws, draws=1000) for k, (draw, truth) in simulated.DRAWS.items()}
        if "null" in wanted:
            null = simulated.null_p_values(a.draws)
            r["null"] = {"below": float(np.mean(null <= 0.05)), "p": float(stats.kstest(null, "uniform").pvalue)}
        if "next" in wanted and (folder / "mtr").is_dir():
            r["next"] = measure_next(np, okra, folder)
        if "nci60" in wanted and (folder / "nci60").is_dir():
            r["nci60"] = nci60(np, okra, folder)
        kept.write_text(json.dumps(r, indent=1) + "\n", encoding="utf-8")
    (REPORTS / "audits.md").write_text(page(json.loads(kept.read_text(encoding="utf-8"))), encoding="utf-8")


main()
