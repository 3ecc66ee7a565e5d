"""How the pictures of the gallery look: the style of okra's reports, at a size for pages."""
import matplotlib

from okra_report.figures import INK, LINE, SERIES, SOFT


def look(gallery, name):
    """Called before each example, after matplotlib's settings are set back."""
    matplotlib.rcParams.update({
        "figure.constrained_layout.use": True, "figure.dpi": 100, "savefig.dpi": 100, "font.size": 10,
        "axes.prop_cycle": matplotlib.cycler(color=SERIES), "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": LINE, "axes.labelcolor": INK, "axes.titlesize": 11, "text.color": INK,
        "xtick.color": SOFT, "ytick.color": SOFT, "figure.facecolor": "white", "legend.frameon": False,
    })
