"""Figures of results with matplotlib, drawn by the functions of ``okra report``.

    import okra.plot
    okra.plot.figures(json.load(open("score.json")))     # of okra score, link, select, paper
    okra.plot.ranking(truth, scores)                      # precision and recall, ROC
    okra.plot.selection(IOKRCV(...).fit(X, y))            # the grid of a selection
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Optional

import numpy as np

from ._library import check, lib

__all__ = ["figure", "figures", "ranking", "selection"]


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("okra.plot needs matplotlib, which is not installed") from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def figure(f: dict, ax: Any = None) -> Any:
    """Draws one figure of a result.

    Parameters
    ----------
    f : dict
        An element of the list ``figures`` of a result (docs/results-format.md).
    ax : matplotlib axes, optional
        New ones if not given.

    Returns
    -------
    matplotlib axes
    """
    from okra_report.figures import draw
    ax = draw(f, _axes(ax))
    ax.set_title(f.get("title", ""), pad=36 if ax.get_legend() else 6)
    return ax


def figures(result: dict) -> list:
    """Draws every figure of a result, as `figure` does."""
    return [figure(f) for f in result["figures"]]


def ranking(truth: Any, scores: Any, roc: bool = False, ax: Any = None) -> Any:
    """Precision over recall (or the ROC curve) of scores.

    Parameters
    ----------
    truth : array of 0 and 1
    scores : array of the same shape
        Larger for what should be 1.
    roc : bool, default=False
        Recall over the false-positive rate in place of precision over recall.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
        Title and legend give the area; that of precision and recall is drawn as steps. The
        dashed line is chance.
    """
    truth = np.ascontiguousarray(np.ravel(truth) != 0, dtype=np.uint8)
    scores = np.ascontiguousarray(np.ravel(scores), dtype=np.float64)
    if truth.shape != scores.shape:
        raise ValueError(f"{truth.size} truths and {scores.size} scores")
    handle = c.c_void_p()
    check(lib.okra_ranking_create(scores.size, scores.ctypes.data, truth.ctypes.data,
                                  c.byref(handle)))
    try:
        if roc:
            order = np.argsort(-scores, kind="stable")
            hit, sorted_scores = truth[order], scores[order]
            last = np.r_[sorted_scores[1:] != sorted_scores[:-1], True]
            x = np.r_[0, np.cumsum(1 - hit)[last] / (1 - hit.astype(float)).sum()]
            y = np.r_[0, np.cumsum(hit)[last] / hit.sum()]
            area = lib.okra_ranking_auc_roc(handle)
        else:
            most = int(lib.okra_ranking_positives(handle))
            recall, precision = np.empty(most), np.empty(most)
            count = lib.okra_ranking_steps(handle, most, recall.ctypes.data,
                                           precision.ctypes.data)
            x, y = np.r_[0, recall[:count]], np.r_[precision[0], precision[:count]]
            area = lib.okra_ranking_auc_pr(handle)
    finally:
        lib.okra_ranking_free(handle)
    name = "ROC" if roc else "Precision and recall"
    return figure({"type": "curve", "title": f"{name}, area {area:.3f}", "area": area,
                   "base": 0.5 if roc else float(truth.mean()),
                   "x_label": "false-positive rate" if roc else "recall",
                   "y_label": "recall" if roc else "precision",
                   "series": [{"name": name, "x": x, "y": y, "steps": not roc}]}, ax)


def selection(estimator: Any, option: Optional[str] = None, ax: Any = None) -> Any:
    """The values of a selection over one option, the best of the others each.

    Parameters
    ----------
    estimator : IOKRCV
        Fitted.
    option : str, optional
        ``"lambda"`` if not given; options that are no numbers are drawn as bars.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    found, option = estimator.selection_, option or "lambda"
    best: dict = {}
    for cell in found["cells"]:
        value = cell["settings"].get(option)
        if value is None:
            raise ValueError(f"the selection did not set {option!r}; it set "
                             + ", ".join(cell["settings"]))
        if cell["mean"] is not None and (value not in best or (
                cell["mean"] < best[value]) == found["loss"]):
            best[value] = cell["mean"]
    try:
        pairs = sorted((float(k), v) for k, v in best.items())
    except ValueError:
        return figure({"type": "bars", "title": found["metric"], "y_label": found["metric"],
                       "labels": list(best), "series": [
                           {"name": option, "y": list(best.values())}]}, ax)
    x, y = zip(*pairs)
    words = {"feature-loss": "mean squared distance in feature space"}
    measured = words.get(found["metric"], found["metric"])
    how = "leave-one-out" if found["cv"] == "loo" else found["cv"]
    return figure({"type": "curve", "title": f"{measured} by {how}",
                   "x_label": option, "y_label": measured, "log_x": min(x) > 0,
                   "series": [{"name": found["metric"], "x": x, "y": y}]}, ax)
