"""Draws figures of results (docs/results-format.md): curves, bars, heat maps, images,
networks, molecules.

A figure is as wide as a phone, 360 units with letters of 13 and more, so that one drawing serves every
page. Larger ones say so by their width, and a page lets them scroll.
"""
from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import textwrap
from typing import Any, Optional

import numpy as np

from .agreement import draw_agreement
from .molecules import Undrawable, places
from .results import PAGE_KEYS

WIDTH, HEIGHT, LETTERS, SMALL = 360, 280, 14, 13
MOST_NODES, MOST_CELLS, MOST_POINTS = 5000, 40000, 200000
# Colours that people with colour-blindness tell apart (Okabe and Ito 2008).
SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#b8a800"]
INK, SOFT, LINE, PAGE, BAD = "#1b1f23", "#5b6570", "#d5dae0", "#ffffff", "#b3261e"
NAMES = {INK: "ink", SOFT: "soft", LINE: "line", PAGE: "page", BAD: "bad",
         **{colour: f"s{k}" for k, colour in enumerate(SERIES)}}
STYLE = {"font.family": "DejaVu Sans", "font.size": LETTERS, "svg.fonttype": "none",
         "text.parse_math": False, "axes.unicode_minus": False, "text.color": INK,
         "axes.labelcolor": INK, "axes.edgecolor": LINE, "xtick.color": LINE,
         "ytick.color": LINE, "xtick.labelcolor": SOFT, "ytick.labelcolor": SOFT,
         "axes.grid": True, "grid.color": LINE, "axes.axisbelow": True, "lines.linewidth": 2,
         "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
         "legend.handlelength": 1.2, "legend.columnspacing": 1, "figure.dpi": 72,
         "savefig.dpi": 144, "path.simplify": False, "figure.constrained_layout.h_pad": 0.12}


def _numbers(values: Any) -> np.ndarray:
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise Undrawable("a list of numbers is missing")
    if len(values) > MOST_POINTS:
        raise Undrawable(f"it has {len(values)} numbers in one list, more than {MOST_POINTS}")
    return np.array([v if isinstance(v, (int, float, np.number)) and not isinstance(v, bool)
                     else np.nan for v in values], dtype=float)


def _series(f: dict) -> list:
    series = [s for s in f.get("series") or [] if isinstance(s, dict)]
    if not series:
        raise Undrawable("it has no series")
    return series


def _short(text: Any, most: int = 40) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[:most - 1] + "…"


def _plain(value: float, _place: Any = None) -> str:
    return f"{value:.4g}"


def _legend(ax: Any, entries: Optional[list] = None) -> None:
    """Above the axes, where it hides nothing; one entry that says no more than the title: none."""
    handles, labels = entries and zip(*entries) or ax.get_legend_handles_labels()
    labels = [_short(label) for label in labels]
    if len(labels) > 1 or any("area" in label for label in labels):
        across = max(1, min(3, 42 // (max(map(len, labels)) + 5)))
        ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.04, 1.0), ncol=across,
                  borderaxespad=0.2, labelspacing=0.3)


def _area(x: np.ndarray, y: np.ndarray, steps: bool) -> float:
    """Under a curve; steps: y holds from the x before it."""
    return float(np.sum(np.diff(x) * (y[1:] if steps else (y[1:] + y[:-1]) / 2)))


def kind_of(f: dict) -> str:
    """What a curve shows, by its axes: roc, pr, or "" for anything else."""
    axes = str(f.get("x_label", "")), str(f.get("y_label", ""))
    return {("false-positive rate", "recall"): "roc", ("recall", "precision"): "pr"}.get(axes, "")


def _curve(ax: Any, f: dict) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator
    zero, kind, least, columns = False, kind_of(f), math.inf, []
    for k, one in enumerate(_series(f)):
        x, y = _numbers(one.get("x")), _numbers(one.get("y"))
        count = min(len(x), len(y))
        x, y, name, colour = x[:count], y[:count], one.get("name", ""), SERIES[k % len(SERIES)]
        columns.append((x, y))
        if f.get("log_x"):
            zero = zero or bool((x == 0).any())
            least = min([least, *x[x > 0]])
        if one.get("stems"):
            ax.vlines(x, 0, y, label=name, color=colour, linewidth=1.5).set_gid(f"series-{k}")
            continue
        if f.get("type") == "scatter" or one.get("points"):
            ax.plot(x, y, ".", label=name, color=colour, alpha=0.7, gid=f"series-{k}")
            continue
        if kind and count > 1:
            name = f"{name}, area {f.get('area', _area(x, y, bool(one.get('steps')))):.3f}"
        ax.plot(x, y, label=name, color=colour, gid=f"series-{k}",
                marker="o" if count < 12 else "", markersize=5,
                drawstyle="steps-pre" if one.get("steps") else "default")
        if one.get("sd"):
            sd = _numbers(one["sd"])[:count]
            if len(sd) == count:
                ax.fill_between(x, y - sd, y + sd, alpha=0.2, color=colour, linewidth=0)
    for mark in f.get("marks") or []:
        if isinstance(mark, list) and len(mark) == 3 and all(isinstance(v, (int, float)) for v in mark[:2]):
            ax.annotate(_short(mark[2], 18), mark[:2], ha="center", va="bottom" if mark[1] > 0 else "top", fontsize=SMALL)
    if kind == "roc":
        ax.plot([0, 1], [0, 1], "--", color=SOFT, linewidth=1.2, label="chance, area 0.5")
    base = f.get("base")
    if kind == "pr" and isinstance(base, (int, float)):
        ax.axhline(base, linestyle="--", color=SOFT, linewidth=1.2, label=f"chance: {base:.2g}")
    if f.get("log_x") and least < math.inf:
        if zero:  # 0 has a place of its own before the least number
            ax.set_xscale("symlog", linthresh=least, linscale=0.5)
            high = max(v for x, _ in columns for v in x if v == v)
            marks = 10.0 ** np.arange(math.floor(math.log10(least)), math.log10(high) + 0.5)
            ax.set_xticks([0, *marks[::len(marks) // 5 + 1]])
        else:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(numticks=6))
        ax.minorticks_off()
    elif not f.get("log_x"):
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if f.get("log_y") and any((y > 0).any() for _, y in columns):
        ax.set_yscale("log")
        ax.minorticks_off()
    for axis, column in ((ax.xaxis, 0), (ax.yaxis, 1)):
        axis.set_major_formatter(FuncFormatter(_plain))
        values = np.concatenate([c[column] for c in columns])
        values = values[np.isfinite(values)]
        log = f.get("log_x") if column == 0 else f.get("log_y")
        if len(values) and not log and 0 <= values.min() and values.max() <= 1:
            # shares: nothing lies beyond them, and both ends mean something
            (ax.set_xlim if column == 0 else ax.set_ylim)(-0.03, 1.03)
    _legend(ax)


def _bars(ax: Any, f: dict) -> None:
    series, labels = _series(f), [str(t) for t in f.get("labels") or []]
    below = np.zeros(len(labels))
    for k, one in enumerate(series):
        y = _numbers(one.get("y"))[:len(labels)]
        if f.get("stacked") and len(y) == len(labels):
            ax.bar(range(len(y)), y, 0.6, below, label=one.get("name", ""), gid=f"series-{k}",
                   color=one["colour"] if one.get("colour") in NAMES else SERIES[k % len(SERIES)])
            below = below + np.nan_to_num(y)
            continue
        at = np.arange(len(y)) + (k - (len(series) - 1) / 2) * 0.8 / len(series)
        ax.bar(at, y, 0.8 / len(series), label=one.get("name", ""), color=SERIES[k % len(SERIES)],
               gid=f"series-{k}")
    common, names = _apart(labels)
    _ticks(ax.xaxis, names, 34)
    ax.set_xlabel(common)
    ax.grid(False, axis="x")
    _legend(ax)


def _apart(labels: list) -> tuple:
    """What long labels share, with … in place of the rest, and what tells them apart."""
    if len(labels) < 2 or max(map(len, labels)) < 12:
        return "", labels
    head = re.sub(r"[\w.+-]*$", "", os.path.commonprefix(labels))
    tail = re.sub(r"^[\w.+-]*", "", os.path.commonprefix([t[len(head):][::-1] for t in labels])[::-1])
    if len(head) + len(tail) < 4:
        return "", [t if len(t) <= 18 else "…" + t[-17:] for t in labels]
    return _short(f"{head}…{tail}"), [_short(t[len(head):len(t) - len(tail)], 18) for t in labels]


def _ticks(axis: Any, labels: list, room: int) -> None:
    """As many labels as have room, in characters; long ones are turned."""
    step = max(1, math.ceil(sum(len(t) + 1.5 for t in labels) / room))
    turned = step > 1 and len(labels) <= 12 and not all(re.fullmatch(r"[-+.\de]+", t) for t in labels)
    axis.set_ticks(range(0, len(labels), 1 if turned else step),
                   labels[::1 if turned else step])
    if turned:
        for text in axis.get_ticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")


def _heatmap(ax: Any, f: dict) -> None:
    from matplotlib.patches import Rectangle
    rows = [row for row in f.get("values") or [] if isinstance(row, list)]
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise Undrawable("its values are no rows of equal length")
    values = np.array([_numbers(row) for row in rows])
    if values.size > MOST_CELLS:
        raise Undrawable(f"it has {values.size} values, more than {MOST_CELLS}")
    ax.imshow(values, aspect="auto", cmap="Blues", gid="values", alpha=0.9)
    ax.grid(False)
    for axis, key, set_label in ((ax.xaxis, "x", ax.set_xlabel), (ax.yaxis, "y", ax.set_ylabel)):
        labels = [_plain(v) if isinstance(v, float) else str(v) for v in f.get(key) or []]
        common, names = _apart(labels)
        if key == "x":
            _ticks(axis, names, 36)
        else:
            step = len(names) // 12 + 1
            axis.set_ticks(range(0, len(names), step), names[::step])
        set_label(f"{f.get(key + '_label', '')} {common}".strip())
    known = np.isfinite(values)
    if known.any() and f.get("better") in ("lower", "higher"):
        best = (np.nanargmin if f["better"] == "lower" else np.nanargmax)(values)
        i, j = np.unravel_index(best, values.shape)
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=SERIES[1], linewidth=2.5,
                               gid="best", zorder=3))
    if values.size <= 100 and values.shape[1] <= 6 and known.any():
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for i, j in zip(*np.nonzero(known)):
            dark = values[i, j] > middle + 1e-12 * abs(middle)
            ax.text(j, i, f"{values[i, j]:.3g}", ha="center", va="center", gid="value",
                    color="#fefefe" if dark else "#101010", fontsize=SMALL)


def sheet(f: dict) -> tuple:
    """All images as one picture, groups of `columns` side by side; groups across, pixels of one."""
    rows, cols = f.get("rows"), f.get("cols")
    if not all(isinstance(v, int) and 0 < v <= 4096 for v in (rows, cols)):
        raise Undrawable("its rows and cols are no sizes of images")
    lines = [line for line in f.get("images") or [] if isinstance(line, list) and line]
    if not lines or sum(map(len, lines)) * rows * cols > 4e6:
        raise Undrawable("it has no images, or more than can be drawn")
    low = f["low"] if isinstance(f.get("low"), (int, float)) else 0.0
    high = f["high"] if isinstance(f.get("high"), (int, float)) else 1.0
    wide = max(map(len, lines))
    groups = max(1, min(len(lines), round(6 / wide), 6))
    down = -(-len(lines) // groups)
    picture = np.full((down * (rows + 1) - 1, (groups * (wide * (cols + 1) + 1)) - 2), np.nan)
    for k, line in enumerate(lines):
        top, left = k // groups * (rows + 1), k % groups * (wide * (cols + 1) + 1)
        for j, image in enumerate(line):
            pixels = _numbers(image)
            if pixels.size != rows * cols:
                raise Undrawable(f"an image has {pixels.size} pixels, not {rows * cols}")
            at = left + j * (cols + 1)
            picture[top:top + rows, at:at + cols] = pixels.reshape(rows, cols)
    return picture, low, high, groups, wide


def _images(ax: Any, f: dict) -> None:
    picture, low, high, groups, wide = sheet(f)
    ax.imshow(picture, cmap="gray", vmin=low, vmax=max(high, low + 1e-12), interpolation="none",
              gid="images")
    names = [_short(t, 14) for t in f.get("columns") or []]
    at = [(g * (wide * (f["cols"] + 1) + 1) + j * (f["cols"] + 1) + f["cols"] / 2, name)
          for g in range(groups) for j, name in enumerate(names)]
    ax.set_xticks([x for x, _ in at], [name for _, name in at])
    turn = max(map(len, names), default=0) * groups * len(names) > 36
    ax.tick_params(bottom=False, labelbottom=False, labeltop=True, top=False, left=False,
                   labelleft=False, labelrotation=40 if turn else 0)
    if turn:
        ax.set_xlim(-0.5, picture.shape[1] * 1.05)  # room for the last name
        for text in ax.get_xticklabels():
            text.set(ha="left", rotation_mode="anchor")
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)


# ---- networks ----

def _edges(panel: dict, part: str, nodes: int) -> np.ndarray:
    """Pairs of node numbers; what names no node is left out."""
    good = [e for e in panel.get(part) or [] if isinstance(e, list) and len(e) == 2
            and all(isinstance(v, int) and 0 <= v < nodes for v in e)]
    return np.array(good, dtype=int).reshape(-1, 2)


def layout(nodes: int, edges: np.ndarray) -> tuple:
    """Places of the nodes and their groups, the largest first: communities (Louvain) among one
    another, then the nodes of each around its middle, so that every picture of the same edges is
    the same and time grows with the edges."""
    import networkx as nx
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(map(tuple, edges.tolist()))
    alone = [v for v in graph if graph.degree(v) == 0]
    linked = graph.subgraph([v for v in graph if graph.degree(v) > 0])
    groups = sorted((sorted(g) for g in nx.community.louvain_communities(linked, seed=0)),
                    key=lambda g: (-len(g), g)) if len(linked) else []
    groups += [alone] if alone else []
    group = np.zeros(nodes, dtype=int)
    for k, members in enumerate(groups):
        group[members] = k
    between = nx.Graph()
    between.add_nodes_from(range(len(groups)))
    for a, b in group[edges].tolist():
        if a != b:
            weight = between.get_edge_data(a, b, {"weight": 0})["weight"]
            between.add_edge(a, b, weight=weight + 1)
    middles = nx.circular_layout(between) if len(groups) < 8 else nx.spring_layout(
        between, seed=0, k=2 / math.sqrt(len(groups)), iterations=200)
    place = np.zeros((nodes, 2))
    for k, members in enumerate(groups):
        part = graph.subgraph(members)
        dense = part.number_of_edges() > 0 and len(members) <= 1500
        inside = nx.spring_layout(part, seed=0, iterations=60) if dense else \
            _spiral(members)
        reach = 1.1 * math.sqrt(len(members) / nodes) * (1 if len(groups) < 8 else 0.8)
        for v in members:
            place[v] = np.asarray(middles[k]) * 1.2 + reach * np.asarray(inside[v])
    return place, group


def _spiral(members: list) -> dict:
    """Even places in a disc."""
    return {v: math.sqrt((k + 0.5) / len(members)) * np.array(
        [math.cos(2.399963 * k), math.sin(2.399963 * k)]) for k, v in enumerate(members)}


def _lines(ax: Any, place: np.ndarray, edges: np.ndarray, **more: Any) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    if len(edges):
        codes = np.tile([Path.MOVETO, Path.LINETO], len(edges))
        ax.add_patch(PathPatch(Path(place[edges].reshape(-1, 2), codes), fill=False, **more))


def network_size(f: dict) -> tuple:
    """Nodes and panels of a network that can be drawn."""
    nodes, panels = f.get("nodes"), [p for p in f.get("panels") or [] if isinstance(p, dict)]
    if not isinstance(nodes, int) or not 0 < nodes <= MOST_NODES or not panels:
        raise Undrawable(f"it has {nodes} nodes (1 to {MOST_NODES} can be drawn) and "
                         f"{len(panels)} panels")
    return nodes, panels[:4]


def network(axes: Any, f: dict) -> None:
    """The panels of a network: adjacency matrices above, layouts below."""
    nodes, panels = network_size(f)
    place, group = layout(nodes, _edges(panels[0], "edges", nodes))
    order = np.lexsort((np.arange(nodes), group))
    rank = np.argsort(order)
    labelled = [v for v in f.get("labelled") or [] if isinstance(v, int) and 0 <= v < nodes]
    size = min(40, max(6, 4000 / nodes))
    for k, panel in enumerate(panels):
        known, fresh = (_edges(panel, part, nodes) for part in ("edges", "new"))
        matrix, picture = axes[0][k], axes[1][k]
        image = np.zeros((nodes, nodes, 4))
        for pairs, colour in ((fresh, SERIES[1]), (known, SERIES[0])):
            rgb = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)] + [1.0]
            for a, b in ((0, 1), (1, 0)):
                image[rank[pairs[:, a]], rank[pairs[:, b]]] = rgb
        matrix.imshow(image, interpolation="none", gid=f"matrix-{k}")
        matrix.set_title(_short(panel.get("name", ""), 36), fontsize=LETTERS)
        matrix.set(xticks=[], yticks=[])
        matrix.grid(False)
        most = max(nodes // 2, 40)
        _lines(picture, place, known, edgecolor=SOFT, linewidth=0.5, alpha=0.6, gid=f"edges-{k}")
        _lines(picture, place, fresh[:most], edgecolor=SERIES[1], linewidth=1, alpha=0.9,
               gid=f"new-{k}")
        picture.scatter(*place.T, s=size, c=[SERIES[g % 6] for g in group], linewidths=0,
                        zorder=2, gid=f"nodes-{k}")
        picture.scatter(*place[labelled].T, s=size, facecolors="none", edgecolors=INK,
                        linewidths=1.2, zorder=3, gid=f"labelled-{k}")
        if len(fresh) > most:
            picture.set_title(f"the {most} strongest of {len(fresh)} new edges", fontsize=SMALL,
                              color=SOFT)
        picture.set_axis_off()
        picture.set_aspect("equal")


def _network(ax: Any, f: dict) -> None:
    """Within one pair of axes: the adjacency matrices, a colour for each panel."""
    nodes, panels = network_size(f)
    for panel in panels:
        for part, note in (("edges", ""), ("new", ", new edges")):
            edges = _edges(panel, part, nodes)
            both = np.vstack([edges, edges[:, ::-1]])
            if part == "edges" or len(edges):
                ax.plot(both[:, 0], both[:, 1], "s", markersize=2,
                        label=f"{panel.get('name', '')}{note}")
    ax.set_xlim(-0.5, nodes - 0.5)
    ax.set_ylim(nodes - 0.5, -0.5)
    ax.set_aspect("equal")
    _legend(ax)


# ---- molecules ----

ACROSS, DOWN = 2, 12.0  # molecules in a row, from one row to the next


def _bond(ax: Any, a: np.ndarray, b: np.ndarray, order: int) -> None:
    along = b - a
    away = np.array([-along[1], along[0]]) / (np.hypot(*along) or 1) * 0.16
    for shift in {1: (0,), 2: (-0.5, 0.5), 3: (-1, 0, 1)}[order]:
        ends = np.array([a, b]) + shift * away
        ax.plot(*ends.T, color=INK, linewidth=1.4, solid_capstyle="round", gid="bond")


def _molecules(ax: Any, f: dict) -> None:
    """Two in a row: bonds as lines where atoms have places, else SMILES."""
    items = [item for item in f.get("items") or [] if isinstance(item, dict)]
    if not items:
        raise Undrawable("it has no molecules")
    for k, item in enumerate(items):
        middle = np.array([10.0 * (k % ACROSS), -DOWN * (k // ACROSS)])
        atoms, bonds = places(item)
        spot = np.array([a[:2] for a in atoms], dtype=float).reshape(-1, 2)
        if len(spot):
            extent = max(np.ptp(spot[:, 0]) / 8.4, np.ptp(spot[:, 1]) / 5.2, 0.7)
            spot = (spot - (spot.max(axis=0) + spot.min(axis=0)) / 2) / extent + middle
        shares = _numbers(item.get("shares") or [])
        if len(shares) == len(spot) > 0:
            strength = np.abs(np.nan_to_num(shares)) / (np.nanmax(np.abs(shares)) or 1)
            ax.scatter(*spot.T, s=420, c=[SERIES[0] if v > 0 else BAD for v in shares], alpha=0.6 * strength,
                       linewidths=0, zorder=0, gid="shares")
        for a, b, order in bonds:
            _bond(ax, spot[a], spot[b], order)
        for (x, y), (_, _, text) in zip(spot, atoms):
            if text:
                colour = BAD if "O" in text else SERIES[0] if "N" in text else INK
                ax.text(x, y, text, ha="center", va="center", fontsize=SMALL, color=colour, zorder=3, gid="atom",
                        bbox={"boxstyle": "circle,pad=0.05", "fc": PAGE, "ec": "none"})
        if not atoms:
            lines = textwrap.wrap(str(item.get("smiles", "")), 22)
            lines = lines[:6] + ["…"] * (len(lines) > 6)
            ax.text(*middle, "\n".join(lines), ha="center", va="center", fontsize=SMALL,
                    family="DejaVu Sans Mono")
        label = textwrap.wrap(_short(item.get("label", ""), 44), 24)[:2]
        ax.text(middle[0], middle[1] - 3.3, "\n".join(label), ha="center", va="top")
        note = textwrap.wrap(_short(item.get("note", ""), 44), 22)[:2]
        ax.text(middle[0], middle[1] - 3.5 - 1.0 * len(label), "\n".join(note), ha="center", va="top",
                fontsize=SMALL, color=SOFT)
    ax.set_xlim(-5, 10 * min(len(items), ACROSS) - 5)
    ax.set_ylim(-DOWN * (-(-len(items) // ACROSS) - 1) - 8.5, 3.5)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _letters(ax: Any, f: dict) -> None:
    """A text whose letters have a line below them, as thick and dark as their share, red where it is below 0."""
    text, shares = [str(t)[:2] for t in f.get("text") or []][:400], _numbers(f.get("shares"))
    if not text or len(shares) < len(text):
        raise Undrawable("it has no text, or letters without shares")
    most, across = np.nanmax(np.abs(shares)) or 1, 32
    for k, letter in enumerate(text):
        x, y, strength = k % across, -1.4 * (k // across), abs(np.nan_to_num(shares[k])) / most
        ax.text(x, y, letter, ha="center", va="bottom", family="DejaVu Sans Mono")
        ax.plot([x - 0.45, x + 0.45], [y, y], color=SERIES[0] if shares[k] > 0 else BAD, linewidth=6 * strength,
                alpha=strength, solid_capstyle="butt", gid="share")
    ax.set_xlim(-1, min(len(text), across))
    ax.set_ylim(-1.4 * ((len(text) - 1) // across) - 0.6, 1.2)
    ax.set_axis_off()


_DRAW = {"letters": _letters, "curve": _curve, "scatter": _curve, "bars": _bars, "heatmap": _heatmap,
         "images": _images, "network": _network, "molecules": _molecules, "agreement": draw_agreement}


def draw(f: dict, ax: Any) -> Any:
    """One figure into axes of matplotlib."""
    if not isinstance(f, dict) or f.get("type") not in _DRAW:
        raise Undrawable(f"a figure of type {f.get('type') if isinstance(f, dict) else f!r} "
                         "cannot be drawn; expected " + ", ".join(_DRAW))
    ax.set_xlabel(_short(f.get("x_label", "")))
    ax.set_ylabel(_short(f.get("y_label", "")))
    _DRAW[f["type"]](ax, f)
    return ax


def size(f: dict) -> tuple:
    """Width and height of a figure that is drawn alone."""
    kind = f.get("type")
    if kind == "network":
        panels = len(network_size(f)[1])
        return max(WIDTH, 300 * panels), 640
    if kind == "agreement":
        return WIDTH, 110 + 26 * len(set(f.get("verdicts") or [])) + 19 * len(f.get("labels") or [])
    if kind == "molecules":
        rows = -(-len(f.get("items") or []) // ACROSS)
        return WIDTH, DOWN * WIDTH / 20 * max(rows, 1)
    if kind == "letters":
        return WIDTH, 40 + 30 * -(-min(len(f.get("text") or []), 400) // 32)
    if kind == "images":
        picture = sheet(f)[0]
        return WIDTH, min(4000, 40 + WIDTH * picture.shape[0] / picture.shape[1])
    if kind == "heatmap":
        wide = max([len(r) for r in f.get("values") or [] if isinstance(r, list)], default=1)
        tall = len(f.get("values") or [])
        return max(WIDTH, min(900, 110 + 18 * wide)), max(HEIGHT, min(900, 110 + 18 * tall))
    entries = len(f["series"]) if isinstance(f.get("series"), list) else 1
    return WIDTH, HEIGHT + 20 * min(entries + bool(kind_of(f)), 9) * (entries > 1 or bool(kind_of(f)))


def render(figures: list, alone: bool, form: str = "svg", salt: str = "okra") -> bytes:
    """One figure, or several side by side, as SVG or PNG; alone: with its title and a page of
    white below it. The same figure gives the same bytes under the same versions."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib.figure import Figure
    except ImportError as error:
        raise Undrawable("matplotlib is not installed") from error
    sizes = [size(f) if isinstance(f, dict) else (WIDTH, HEIGHT) for f in figures]
    width, height = sum(w for w, _ in sizes), max(h for _, h in sizes)
    titles = ["\n".join(textwrap.wrap(str(f.get("title", ""))[:200], int(w / 9)))
              for f, (w, _) in zip(figures, sizes)]
    height += (22 * max(t.count("\n") + 1 for t in titles) + 6) if alone else 0
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": salt}):
        whole = Figure((width / 72, height / 72), facecolor=PAGE if alone else "none",
                       layout="constrained")
        parts = np.atleast_1d(whole.subfigures(1, len(figures), width_ratios=[w for w, _ in sizes])) \
            if len(figures) > 1 else [whole]
        for f, part, title in zip(figures, parts, titles):
            part.set_facecolor("none" if part is not whole else whole.get_facecolor())
            if f.get("type") == "network":
                network(part.subplots(2, len(network_size(f)[1]), squeeze=False), f)
            else:
                ax = draw(f, part.subplots())
                ax.set_facecolor("none")
            if alone:
                part.suptitle(title, fontsize=LETTERS + 1, x=0.02, ha="left")
        out = io.BytesIO()
        more = {"metadata": {"Date": None, "Creator": None}} if form == "svg" else {
            "metadata": {"Software": None}}
        whole.savefig(out, format=form, **more)
    return _finish(out.getvalue(), figures, alone) if form == "svg" else out.getvalue()


def stamp(figures: list) -> str:
    """What a picture was drawn from and by: a digest of the data, and the versions."""
    import matplotlib
    data = [{k: v for k, v in f.items() if k not in PAGE_KEYS} for f in figures]
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
    by = f"data {digest}, matplotlib {matplotlib.__version__}"
    if any(f.get("type") == "network" for f in figures):
        import networkx
        by += f", networkx {networkx.__version__}"
    return by


def _finish(svg: bytes, figures: list, alone: bool) -> bytes:
    """Alone: a stamp. In a page: no header, no numbers of groups (they would repeat), and colours
    by name, so that the page's theme decides."""
    from markupsafe import escape
    text = svg.decode()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    title = escape("; ".join(str(f.get("title", "")) for f in figures))
    text = text.replace(">", f"><title>{title}</title>", 1)
    if alone:
        head = '<?xml version="1.0" encoding="utf-8"?>\n'
        return (head + text.replace("</title>", f"</title><desc>{stamp(figures)}</desc>", 1)).encode()
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    wide = sum(size(f)[0] for f in figures)
    least = f' style="min-width:{wide:.0f}px"' if wide > WIDTH + 40 else ""  # it scrolls
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'class="figure" role="img"{least}', text, count=1)
    for colour, name in NAMES.items():
        text = text.replace(colour, f"var(--{name})")
    return text.encode()
