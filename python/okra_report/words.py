"""What numbers and figures of a page mean, in a sentence each."""
from __future__ import annotations

import re

from .figures import kind_of

KINDS = {
    "paper": "A table or figure of a paper, run again with okra: the paper's value beside ours.",
    "fit": "What one fit chose and compared. The command below repeats it without the search.",
    "select": "okra tried several settings on parts of the training data that it had held back. "
              "This page shows how good each setting was.",
    "link": "okra learned from the known links of a network and ranked the other pairs of nodes, "
            "the likeliest links first.",
    "score": "Predictions beside the truth, and numbers that say how far apart they are.",
    "sets": "For every test input a set of answers (or an interval) that holds the truth as often "
            "as promised. Good sets keep the promise and are small.",
    "ranked": "For every query the candidates, best first: the smaller the distance to what okra "
              "predicts, the better the candidate.",
    "demo": "Two built-in tasks, learned by okra and by k nearest neighbours.",
}
# By the beginning of a metric's or column's name.
NUMBERS = [
    ("auc-roc", "AUC-ROC: how often a true one gets a higher score than a false one. 0.5 is chance, "
                "1 is perfect."),
    ("auc-pr", "AUC-PR (average precision): the share of true ones near the top of the list. Chance gives "
               "their share among all; 1 is perfect."),
    ("precision@", "precision@k: the share of true ones among the k best. 1 is perfect."),
    ("mse", "MSE: mean squared error. 0 is perfect; its unit is that of the outputs, squared."),
    ("rmse", "RMSE: typical size of an error, in the unit of the outputs. 0 is perfect."),
    ("mae", "MAE: mean size of an error, in the unit of the outputs. 0 is perfect."),
    ("zero-one", "zero-one: the share of predictions that are not exactly right. 0 is perfect."),
    ("hamming", "Hamming: the share of places that differ. 0 is perfect."),
    ("f1", "F1: balance of precision and recall. 1 is perfect."),
    ("accuracy", "accuracy: the share of predictions that are exactly right. 1 is perfect."),
    ("exact-match", "exact match: the share of predictions that are right as a whole. 1 is perfect."),
    ("subset-accuracy", "subset accuracy: the share of label sets that are right as a whole. 1 is perfect."),
    ("rbf-loss", "rbf-loss: squared distance under an RBF kernel, from 0 (the same) to 2 (far apart)."),
    ("kernel-loss", "kernel-loss: squared distance under the output kernel. 0 is perfect."),
    ("feature-loss", "feature-loss: squared distance between prediction and truth under the output kernel. "
                     "0 is perfect; lower is better."),
    ("r2", "R²: the share of the outputs' variance that is explained. 1 is perfect, 0 is the mean, below 0 is "
           "worse than the mean."),
    ("arrmse", "aRRMSE: error relative to the spread of each output. 0 is perfect, 1 is the mean."),
    ("edit", "edit: insertions, deletions and replacements between two strings. 0 is perfect."),
    ("characters", "characters: the share of characters in the right place. 1 is perfect."),
    ("kendall", "Kendall: the share of pairs in the wrong order. 0 is perfect, 0.5 is chance."),
    ("ndcg", "NDCG: gain of the predicted order relative to the best one. 1 is perfect."),
    ("hit-rate", "hit rate: the share of lists with the truth among the first k. 1 is perfect."),
    ("mrr", "MRR: mean of 1/rank of the truth. 1 is perfect."),
    ("coverage", "coverage: the share of sets or intervals that hold the truth. It should be at least what was "
                 "promised."),
    ("set size", "set size: how many answers a set holds on average. 1 is best, as long as the coverage holds."),
    ("set-size", "set size: how many answers a set holds on average. 1 is best, as long as the coverage holds."),
    ("answered", "answered: the share of tests whose set holds exactly one answer."),
    ("wrong answers", "wrong answers: the share of those single answers that are wrong."),
    ("mean width", "mean width: how wide the intervals are, in the unit of the outputs. Narrow is good, as long "
                   "as the coverage holds."),
    ("standard error", "standard error: how far the mean would move with other folds, roughly."),
]
# By the id of a figure, without the number behind it.
FIGURES = {
    "roc": "How many true ones are found (up) for how many false alarms (right). A curve on the dashed diagonal "
           "is chance; the upper left corner is perfect.",
    "pr": "How pure the list is (up) when it is read down to this share of the true ones (right). Chance is the "
          "dashed line at their share among all; the upper right corner is perfect.",
    "calibration": "Promised coverage against what the tests show. On the diagonal the promise is kept exactly; "
                   "above it the sets are larger than they need be.",
    "p-values": "p-values of the true answers: the share of calibration pairs that fit worse. Bars of equal height "
                "mean that the promise is kept; a high first bar means that it is not.",
    "risk": "Each point is one level: the share of tests that get a single answer, and how many of those are wrong. "
            "The lower right corner is best.",
    "difficulty": "Tests in four equal parts, by how well any answer fits. Good sets grow where tests are hard, and "
                  "hold the truth in every part.",
    "hits": "The share of tests (up) whose truth is among the first k candidates (right). Higher is better.",
    "against": "Each point is one test: its true value (right) and the predicted one (up). Points on the diagonal "
               "are right.",
    "fit": "True and predicted outputs over the input. The two clouds should lie on one another.",
    "objects": "The value of every single object, sorted: how many are good, and how bad the worst are.",
    "images": "Pairs of pictures: the truth and what okra predicts.",
    "spectrum": "Up: the query. Down: the training spectrum that weighs most in the prediction. Peaks of both "
                "within 10 ppm or 2 mDa count as matched.",
    "molecules": "The best candidates in order. Distance: how far a candidate is from the prediction, smaller is "
                 "better. p-value: the share of known pairs that fit worse; small ones say that the candidate is "
                 "unlikely.",
    "align": "How much each kernel counts. Weights are learned from the training pairs.",
}
TYPES = {
    "heatmap": "Darker is larger; the frame marks the best setting.",
    "network": "Above: a dot for every pair of linked nodes, nodes sorted by group. Below: the same network as a "
               "drawing. Node colours are groups of nodes with many links among them, rings mark nodes whose links "
               "were known, blue and grey links were known, orange ones are predicted.",
    "images": "Every line of pictures belongs together; the names stand above.",
}
FACTS = [("n", "training pairs"), ("pairs", "pairs"), ("nodes", "nodes"), ("labelled", "nodes with known links"),
         ("edges", "known links"), ("ranked", "ranked pairs"), ("tests", "tests"), ("candidates", "candidates"),
         ("method", "method"), ("metric", "judged by"), ("cv", "folds"), ("conformal", "calibrated by"),
         ("alpha", "allowed share of misses"), ("coverage", "coverage here"), ("p_values", "p-values from"),
         ("model", "model"), ("output", "written to"), ("chosen", "chosen by")]
RULE = ("A cell has our mean ± its standard deviation (sd) over folds or repeats, or its standard error where the "
        "table says so, as the paper does. Its verdict compares the difference from the paper's mean with the sd of "
        "both, the root of the sum of their squares: reproduced where it is at most one sd; past that beyond the "
        "paper or not reproduced; not comparable where no sd is known, the two do not measure the same, ours is "
        "better on other data or by another protocol, or parameters were set with test results in sight.")


def number(name: str) -> str:
    """What a metric or column means, or ""."""
    name = name.lower().replace("_", "-")
    return next((words for start, words in NUMBERS if name.startswith(start)), "")


def table(t: dict) -> list:
    """What the numbers of a table mean, each said once."""
    names = [t["metric"], *t["columns"], *(row["label"] for row in t["rows"])]
    return list(dict.fromkeys(filter(None, map(number, names))))


def figure(f: dict) -> str:
    """What a figure shows, and what is good in it."""
    name = re.sub(r"-\d+$", "", str(f.get("id", "")))
    words = FIGURES.get(kind_of(f)) or FIGURES.get(name) or TYPES.get(str(f.get("type")), "")
    if words:
        return words
    label = number(str(f.get("y_label", "")))
    series = f.get("series") if isinstance(f.get("series"), list) else []
    band = any(isinstance(s, dict) and s.get("sd") for s in series)
    return (label + (" The band is one standard deviation to each side." if band else "")).strip()


def facts(r: dict) -> list:
    """Plain fields of a result as pairs of words and value."""
    found = [(words, r[key]) for key, words in FACTS
             if isinstance(r.get(key), (str, int, float)) and not isinstance(r.get(key), bool) and r[key] != ""]
    kernels = r.get("kernels") if isinstance(r.get("kernels"), dict) else {}
    found += [(f"kernel of the {side}puts", kernels[key]) for key, side in (("x", "in"), ("y", "out"))
              if isinstance(kernels.get(key), str)]
    return [(words, f"{v:.4g}" if isinstance(v, float) else str(v)) for words, v in found]


def shown(r: dict) -> str:
    """How many of the queries have figures, where not all have."""
    drawn = {m.group(1) for f in r["figures"] for m in [re.search(r"-(\d+)$", str(f.get("id", "")))] if m}
    tests = r.get("tests")
    few = r["kind"] == "ranked" and type(tests) is int and 0 < len(drawn) < tests
    return f"Figures of the first {len(drawn)} of {tests} queries." if few else ""


def title(results: list) -> str:
    """What a page shows, where nobody gave it a title."""
    if len(results) == 1:
        r = results[0]
        return f"{r['paper']}: {r['title']}" if r["paper"] else r["title"]
    if all(r["kind"] == "paper" for r in results):
        return f"The papers again: {len(results)} tables and figures"
    names = list(dict.fromkeys(r["title"] for r in results))
    return "Results of okra: " + "; ".join(names[:4]) + ("; …" if len(names) > 4 else "")
