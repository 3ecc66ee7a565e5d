"""Figures that pages make themselves from results of papers: how far each value is from the print, bars of
a table, and the verdicts on claims, a bar per paper."""
from __future__ import annotations

from typing import Any

from .results import CLAIMS, VERDICTS, number

ROWS = 24  # of one figure
FAR = 8    # values farther away stand at the edge
COLOURS = ("#009e73", "#56b4e9", "#0072b2", "#d55e00", "#666666")  # of VERDICTS


def agreement(result: dict) -> list:
    """A figure of the cells that the paper has a value of and z is known; without such cells and without
    figures of its own, bars of its first table."""
    found = [(f"{row['label']}, {column}", row["cells"][column]) for table in result["tables"]
             for row in table["rows"] for column in table["columns"] if column in row["cells"]]
    found = [(label, cell) for label, cell in found if number(cell.get("paper")) and number(cell.get("z"))]
    if not found:
        return [] if result.get("figures") else bars(result["tables"])
    title = "Distance from the print in standard errors"
    if len(found) > ROWS:
        title += f", {ROWS} of {len(found)} values"
    return [{"id": "agreement", "type": "agreement", "title": title,
             "labels": [label for label, _ in found[:ROWS]], "z": [cell["z"] for _, cell in found[:ROWS]],
             "verdicts": [cell.get("verdict", "") for _, cell in found[:ROWS]]}]


def bars(tables: list) -> list:
    """The first two columns of the first table with numbers, a group of bars per row."""
    for table in tables:
        rows = [r for r in table["rows"] if table["columns"] and
                number(r["cells"].get(table["columns"][0], {}).get("okra"))]
        if rows:
            return [{"id": table["id"], "type": "bars", "title": table["title"],
                     "y_label": table["metric"].split(";")[0],
                     "labels": [r["label"].replace(", chosen", "").replace(" map", "") for r in rows], "series": [
                         {"name": column, "y": [r["cells"].get(column, {}).get("okra") or 0 for r in rows]}
                         for column in table["columns"][:2]]}]
    return []


def draw_agreement(ax: Any, f: dict) -> None:
    """A dot per value; the band is what counts as reproduced."""
    ax.axvspan(-2, 2, color="#d5dae0", alpha=0.5, linewidth=0)
    ax.axvline(0, color="#5b6570", linewidth=1)
    shown = set()
    for place, (z, verdict) in enumerate(zip(f["z"], f["verdicts"])):
        kind = VERDICTS.index(verdict) if verdict in VERDICTS else len(VERDICTS) - 1
        at = max(-FAR, min(FAR, z))
        ax.plot([at], [-place], "<" if z < -FAR else ">" if z > FAR else "o", color=COLOURS[kind],
                label=VERDICTS[kind] if kind not in shown else None)
        shown.add(kind)
    labels = [t if len(t) <= 26 else t[:12] + "…" + t[-13:] for t in f["labels"]]
    ax.set_yticks([-k for k in range(len(labels))], labels, fontsize=12)
    ax.set_xlim(-FAR - 0.6, FAR + 0.6)
    ax.set_xlabel("z, in standard errors")
    ax.grid(False, axis="y")
    handles, names = ax.get_legend_handles_labels()
    ax.legend(handles, names, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=1, borderaxespad=0.2)


def claims_figure(claims: list) -> dict:
    """A bar per paper, its claims by verdict."""
    papers = list(dict.fromkeys(c["paper"] for c in claims))
    verdicts = [v for v in (*CLAIMS, "not run") if any(c["verdict"] == v for c in claims)]
    shade = dict(zip((*CLAIMS, "not run"), (*COLOURS[:4], "#e69f00", "#666666", "#d5dae0")))
    return {"id": "claims", "type": "bars", "title": "Claims of each paper by verdict", "stacked": True,
            "y_label": "claims", "labels": [p.replace(" et al.", "") for p in papers], "series": [
                {"name": v, "colour": shade[v], "y": [sum(c["paper"] == p and c["verdict"] == v for c in claims) for p in papers]}
                for v in verdicts]}
