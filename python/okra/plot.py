"""Figures of results with matplotlib: those that ``okra report`` draws, from the same data.

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
    return plt.subplots()[1] if ax is None else ax


def _label(ax: Any, f: dict) -> Any:
    ax.set_title(f.get("title", ""))
    ax.set_xlabel(f.get("x_label", ""))
    ax.set_ylabel(f.get("y_label", ""))
    return ax


def _numbers(values: Any) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values], dtype=float)


def _curve(ax: Any, f: dict) -> None:
    zero = False
    for one in f["series"]:
        x, y = _numbers(one["x"]), _numbers(one["y"])
        if one.get("stems"):
            ax.vlines(x, 0, y, label=one.get("name"), color=f"C{f['series'].index(one)}")
            continue
        zero = zero or bool(f.get("log_x") and (x == 0).any())
        if f["type"] == "scatter" or one.get("points"):
            ax.plot(x, y, ".", label=one.get("name"))
            continue
        # steps: y holds from the x before it
        line, = ax.plot(x, y, label=one.get("name"),
                        drawstyle="steps-pre" if one.get("steps") else "default")
        if one.get("sd"):
            sd = _numbers(one["sd"])
            ax.fill_between(x, y - sd, y + sd, alpha=0.2, color=line.get_color())
    if f.get("log_x"):
        least = min((v for one in f["series"] for v in _numbers(one["x"]) if v > 0),
                    default=1.0)
        # 0 has a place of its own before the least number
        ax.set_xscale(*(("symlog",) if zero else ("log",)),
                      **({"linthresh": least} if zero else {}))
    if f.get("log_y"):
        ax.set_yscale("log")
    if len(f["series"]) > 1:
        ax.legend()


def _bars(ax: Any, f: dict) -> None:
    labels, count = f["labels"], len(f["series"])
    for k, one in enumerate(f["series"]):
        at = np.arange(len(labels)) + (k - (count - 1) / 2) * 0.8 / count
        ax.bar(at, _numbers(one["y"]), 0.8 / count, label=one.get("name"))
    ax.set_xticks(range(len(labels)), labels)
    if count > 1:
        ax.legend()


def _heatmap(ax: Any, f: dict) -> None:
    values = np.array([_numbers(row) for row in f["values"]])
    image = ax.imshow(values, aspect="auto",
                      cmap="viridis_r" if f.get("better") == "lower" else "viridis")
    ax.set_xticks(range(len(f["x"])), f["x"])
    ax.set_yticks(range(len(f["y"])), f["y"])
    ax.figure.colorbar(image, ax=ax)


def _images(ax: Any, f: dict) -> None:
    """All images as one, a row below the other, a pixel between."""
    rows, cols = f["rows"], f["cols"]
    low, high = f.get("low", 0.0), f.get("high", 1.0)
    across = max(len(row) for row in f["images"])
    sheet = np.full((len(f["images"]) * (rows + 1) - 1, across * (cols + 1) - 1), high)
    for i, row in enumerate(f["images"]):
        for j, image in enumerate(row):
            sheet[i * (rows + 1):i * (rows + 1) + rows,
                  j * (cols + 1):j * (cols + 1) + cols] = np.reshape(image, (rows, cols))
    ax.imshow(sheet, cmap="gray", vmin=low, vmax=high)
    ax.set_xticks([j * (cols + 1) + cols / 2 for j in range(len(f.get("columns", [])))],
                  f.get("columns", []))
    ax.set_yticks([])


def _network(ax: Any, f: dict) -> None:
    """The adjacency matrices of the panels, one colour each, and one for new edges."""
    for panel in f["panels"]:
        for part, note in (("edges", ""), ("new", ", new edges")):
            edges = np.array(panel.get(part, [])).reshape(-1, 2)
            both = np.vstack([edges, edges[:, ::-1]])
            if part == "edges" or len(edges):
                ax.plot(both[:, 0], both[:, 1], "s", markersize=2,
                        label=f"{panel.get('name', '')}{note}")
    ax.set_xlim(-0.5, f["nodes"] - 0.5)
    ax.set_ylim(f["nodes"] - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.legend()


def _molecules(ax: Any, f: dict) -> None:
    """Three in a row: bonds as lines where atoms have places, else SMILES."""
    for k, item in enumerate(f["items"]):
        across, down = 10.0 * (k % 3), -9.0 * (k // 3)
        atoms = item.get("atoms", [])
        place = np.array([a[:2] for a in atoms], dtype=float).reshape(-1, 2)
        if len(place):
            size = max(np.ptp(place, axis=0).max(), 1.5)
            place = (place - (place.max(axis=0) + place.min(axis=0)) / 2) * (6 / size)
        for a, b, order in item.get("bonds", []):
            ends = place[[a, b]] + [across, down]
            ax.plot(*ends.T, color="black", linewidth=0.5 + 0.8 * order)
        for (x, y), (_, _, text) in zip(place, atoms):
            ax.text(across + x, down + y, text, ha="center", va="center", fontsize=8)
        text = "" if atoms else item.get("smiles", "") + "\n"
        ax.text(across, down - 4.2, f"{text}{item.get('label', '')}\n{item.get('note', '')}",
                ha="center", va="top", fontsize=8)
    ax.set_xlim(-5, 25)
    ax.set_ylim(-9.0 * ((len(f["items"]) + 2) // 3) + 2, 5)
    ax.set_axis_off()


_DRAW = {"curve": _curve, "scatter": _curve, "bars": _bars, "heatmap": _heatmap,
         "images": _images, "network": _network, "molecules": _molecules}


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
    if f.get("type") not in _DRAW:
        raise ValueError(f"a figure of type {f.get('type')!r} cannot be drawn; expected "
                         + ", ".join(_DRAW))
    ax = _axes(ax)
    _DRAW[f["type"]](ax, f)
    return _label(ax, f)


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
        The title tells the area; that of precision and recall is drawn as steps.
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
    return figure({"type": "curve", "title": f"{name}, area {area:.3f}",
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
    return figure({"type": "curve", "title": f"{found['cv']} over {option}",
                   "x_label": option, "y_label": found["metric"], "log_x": min(x) > 0,
                   "series": [{"name": found["metric"], "x": x, "y": y}]}, ax)
