"""Sphinx's settings for the site of okra; tools/docs/make.py calls it."""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.environ["PYTHONPATH"].split(os.pathsep)[0])
import okra  # noqa: E402

project = "okra"
author = copyright = "the okra developers, BSD 3-clause"
release = version = okra.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = []
html_theme = "sphinx_rtd_theme"
html_title = f"okra {release}"
html_copy_source = False
html_show_search_summary = False  # it would read pages by fetch, which files do not allow
html_show_sphinx = False
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["okra.css"]
smartquotes = False  # two hyphens are a flag
pygments_style = "default"
highlight_language = "none"
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True


def _plain_docstring(app, what, name, obj, options, lines):
    """|x| is an absolute value, model_ no reference; scikit-learn's references lead nowhere."""
    for k, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [p.replace("|", "\\|") for p in parts[::2]]
        line = re.sub(r"^:(ivar|vartype) (.*?)_:", r":\1 \2\\_:", "``".join(parts))
        lines[k] = line if ":ref:`" not in line else line.split(":ref:`")[0].rstrip()


def setup(app):
    app.connect("autodoc-process-docstring", _plain_docstring)
