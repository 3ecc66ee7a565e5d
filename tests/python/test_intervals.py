"""Intervals and paired comparisons of scores: against plain loops, and by simulation."""
import itertools
import json
import math
import os
import subprocess
import warnings

import numpy as np
import pytest

import okra
from okra._library import Context, lib
from okra.checks import intervals

PROGRAM = os.environ["OKRA_PROGRAM"]


def naive_error(values, weight, groups):
    """Standard error of a ratio, group by group."""
    m, total, g = np.average(values, weights=weight), weight.sum(), np.unique(groups)
    r = [sum(w * (v - m) for v, w, k in zip(values, weight, groups) if k == one) for one in g]
    return m, np.sqrt(len(g) / (len(g) - 1) * sum(x * x for x in r)) / total


def test_standard_errors_are_those_of_a_ratio():
    rng = np.random.default_rng(1)
    for n in (2, 3, 40):
        v, w = rng.normal(size=n), rng.random(n) + 0.1
        for groups in (np.arange(n), np.arange(n) // 2 if n > 2 else np.arange(n)):
            m, se = naive_error(v, w, groups)
            found = intervals.mean_interval(v, w, groups, draws=50)
            assert abs(found["value"] - m) < 1e-14 and abs(found["se"] - se) < 1e-13
    plain = intervals.mean_interval(v, draws=50)
    assert abs(plain["se"] - v.std(ddof=1) / np.sqrt(n)) < 1e-14


def test_degenerate_values():
    assert intervals.mean_interval([])["units"] == 0
    one = intervals.mean_interval([3.0])
    assert one["value"] == 3 and np.isnan(one["se"])
    same = intervals.mean_interval([2.5] * 9)
    assert same["low"] == same["high"] == 2.5
    sure = intervals.mean_interval(np.ones(20))  # never sure: half of share^20 is 2.5 %
    assert sure["high"] == 1 and abs(sure["low"] - 0.05 ** (1 / 20)) < 1e-9
    k, n = 3, 12
    low, high = intervals.hits_interval(k, n, 0.025)
    chance = lambda p: [math.comb(n, j) * p ** j * (1 - p) ** (n - j) for j in range(n + 1)]  # noqa: E731
    assert abs(sum(chance(low)[k + 1:]) + chance(low)[k] / 2 - 0.025) < 1e-9
    assert abs(sum(chance(high)[:k]) + chance(high)[k] / 2 - 0.025) < 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = [intervals.hits_interval(k, 100, 0.025) for k in range(101)]
    assert all(a[0] <= b[0] and a[1] <= b[1] and a[0] <= k / 100 <= a[1] for k, (a, b) in enumerate(zip(ends, ends[1:])))
    gaps = intervals.mean_interval([1.0, np.nan, 3.0])
    assert gaps["value"] == 2 and gaps["units"] == 2
    with pytest.raises(ValueError, match="groups have shape"):
        intervals.mean_interval([1.0, 2.0], groups=[1])


def test_same_seed_same_bits():
    v = np.random.default_rng(2).normal(size=70)
    a, b, other = (intervals.mean_interval(v, seed=s) for s in (3, 3, 4))
    assert a == b and a["low"] != other["low"]


def test_signs_are_all_patterns_of_few():
    d = np.array([0.3, -0.1, 0.9, 0.4, 0.0, 0.2])
    known = d[d != 0]
    sums = [abs(np.dot(s, known)) for s in itertools.product((-1, 1), repeat=len(known))]
    assert intervals.sign_test(d) == np.mean(np.array(sums) >= abs(known.sum()) - 1e-12)
    assert intervals.sign_test(np.zeros(5)) == 1
    grouped = intervals.sign_test(np.r_[d, d], groups=np.r_[np.arange(6), np.arange(6)])
    assert grouped == intervals.sign_test(d)
    assert intervals.sign_test(np.random.default_rng(0).normal(1, 1, 60)) == 1 / 5000


def test_holm():
    assert intervals.holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]


def test_intervals_cover():
    """The full simulation is bench/bench_audit.py; here its first few hundred draws (3 se: 3.3 points)."""
    rng = np.random.default_rng(5)
    inside = 0
    for k in range(400):
        found = intervals.mean_interval(rng.normal(size=30) ** 2, seed=k, draws=500)
        inside += found["low"] <= 1 <= found["high"]
    assert 0.915 < inside / 400 < 0.985


def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(6)
    p = [intervals.sign_test(rng.normal(size=25), seed=k, draws=199) for k in range(400)]
    assert np.abs(np.sort(p) - np.linspace(0, 1, 400)).max() < 0.1  # Kolmogorov: 0.08 at 1 %


def test_score_and_compare_of_objects():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(80, 2))
    a, b = y + 0.1 * rng.normal(size=y.shape), y + 0.3 * rng.normal(size=y.shape)
    found = okra.score(y, a, "mse")
    assert found["value"] == okra.metric("mse", y, a) and found["low"] < found["value"] < found["high"]
    rows = ((y - a) ** 2).mean(axis=1)
    assert abs(found["se"] - rows.std(ddof=1) / np.sqrt(80)) < 1e-14
    pair = okra.compare(y, a, b, "mse")
    assert pair["p"] < 0.001 and pair["low"] > 0
    assert okra.compare(y, a, a, "mse")["p"] == 1
    whole = okra.score(y, a, "r2")  # no value an object: drawn again
    assert whole["low"] < whole["value"] < whole["high"] and okra.compare(y, a, b, "r2")["p"] == 1 / 401
    assert okra.compare(y, a, a, "r2")["p"] == 1
    weighted = okra.score(y, a, "mse", sample_weight=np.r_[np.ones(40), np.zeros(40)])
    assert weighted["units"] == 40
    wide = okra.score(np.repeat(y, 5, 0), np.repeat(a, 5, 0), "mse", groups=np.repeat(np.arange(80), 5))
    assert abs(wide["se"] / found["se"] - 1) < 1e-9  # copies of a row tell nothing


def test_predictions_change_places():
    """A metric without a value an object: all patterns of few groups against a plain loop, and uniform under the null."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 12)
    a, b = (np.where(rng.random(12) < share, y, 1 - y) for share in (0.9, 0.6))
    groups = np.repeat(np.arange(4), 3)

    def f1(v):
        return okra.metric("f1:average=macro", okra.labels(y), okra.labels(v))
    every = [f1(np.where(s[groups], a, b)) - f1(np.where(s[groups], b, a))
             for s in (np.array(s, dtype=bool) for s in itertools.product((0, 1), repeat=4))]
    want = np.mean(np.abs(every) >= abs(f1(b) - f1(a)) - 1e-12)
    found = okra.compare(okra.labels(y), okra.labels(a), okra.labels(b), "f1:average=macro", groups=groups)
    assert abs(found["p"] - want) < 3 * np.sqrt(want * (1 - want) / 400) + 1 / 401
    p = []
    for k in range(50):
        y = rng.normal(size=(20, 1))
        p.append(okra.compare(y, y + rng.normal(size=y.shape), y + rng.normal(size=y.shape), "rmse", seed=k)["p"])
    assert np.abs(np.sort(p) - np.linspace(0, 1, 50)).max() < 0.23  # Kolmogorov at 1 %


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, **more)


def test_program(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(60, 1))
    for name, noise in (("y", 0), ("a", 0.1), ("b", 0.3), ("c", 0.11)):
        np.save(tmp_path / f"{name}.npy", y + noise * rng.normal(size=y.shape))
    (tmp_path / "g.csv").write_text("\n".join(str(k // 3) for k in range(60)) + "\n")
    (tmp_path / "short.csv").write_text("1\n2\n")
    common = ("score", "--y", "y.npy", "--metric", "mse,mae")
    done = run(*common, "--yhat", "a.npy", "--interval", "90", "--json", cwd=tmp_path)
    made = json.loads(done.stdout)
    want = okra.score(y, np.load(tmp_path / "a.npy"), "mse", interval=90)
    assert [s["metric"] for s in made["scores"]] == ["mse", "mae"] and made["scores"][0]["low"] == want["low"]
    done = run(*common, "--yhat", "a.npy", "--yhat", "b.npy", "--yhat", "c.npy", "--groups", "g.csv", cwd=tmp_path)
    assert done.returncode == 0 and "b.npy less a.npy" in done.stdout and "4 comparisons" in done.stderr
    assert done.stdout.count("Holm") == 4
    done = run(*common, "--yhat", "a.npy", "--groups", "short.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "okra score: --groups short.csv: 2 rows, expected one value for each of 60 rows\n"
    done = run(*common, "--yhat", "a.npy", "--interval", "95", "--each", "e.npy", cwd=tmp_path)
    assert done.returncode == 1 and "--each has no use with --interval" in done.stderr
    done = run(*common, "--yhat", "missing.npy", "--interval", "95", cwd=tmp_path)
    assert done.returncode == 1 and "missing.npy" in done.stderr
    report = run(*common, "--yhat", "a.npy", "--yhat", "b.npy", "--json", cwd=tmp_path)
    (tmp_path / "s.json").write_text(report.stdout)
    assert run("report", "s.json", "-o", "s.html", "--quiet", cwd=tmp_path).returncode == 0
    assert "less a.npy" in (tmp_path / "s.html").read_text()


def test_program_of_models(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 2))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[:, :1] + 0.1 * rng.normal(size=(50, 1)))
    assert run("fit", "--x", "x.npy", "--y", "y.npy", "-o", "m.okra", "--quiet", cwd=tmp_path).returncode == 0
    done = run("score", "--y", "y.npy", "--model", "m.okra", "--x", "x.npy", "--interval", "95", "--json", cwd=tmp_path)
    plain = run("score", "--y", "y.npy", "--model", "m.okra", "--x", "x.npy", "--quiet", cwd=tmp_path)
    found = json.loads(done.stdout)["scores"][0]
    assert abs(found["value"] - float(plain.stdout)) < 1e-9 * abs(found["value"]) and found["low"] < found["value"]


def test_common_flags_are_honoured(tmp_path):
    (tmp_path / "y.csv").write_text((",".join(["1"] * 200) + "\n") * 2000)
    common = ("score", "--y", "y.csv", "--yhat", "y.csv", "--metric", "mse", "--interval", "95")
    assert run(*common, "--memory", "100M", "--threads", "1", cwd=tmp_path).returncode == 0
    done = run(*common, "--memory", "1M", cwd=tmp_path)
    assert done.returncode == 1 and "y.csv" in done.stderr and "memory" in done.stderr
    (tmp_path / "m.mgf").write_text("".join(
        f"BEGIN IONS\nTITLE={name}\nPEPMASS=100\n50 {peak}\nEND IONS\n" for name, peak in (("a", 1), ("b", "x"), ("c", 2))))
    common = ("score", "--y", "labels:m.mgf:title", "--yhat", "labels:m.mgf:title", "--metric", "zero-one", "--interval", "95")
    assert run(*common, cwd=tmp_path).returncode == 0
    done = run(*common, "--strict", cwd=tmp_path)
    assert done.returncode == 1 and "m.mgf: line 9" in done.stderr
    Context.everywhere(3, None, False)
    try:
        assert lib.okra_context_threads(Context().pointer) == 3
        assert lib.okra_context_threads(Context(threads=2).pointer) == 2
    finally:
        Context.everywhere(0, None, False)
