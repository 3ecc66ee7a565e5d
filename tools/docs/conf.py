"""Sphinx's settings for the site of okra; tools/docs/make.py calls it."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ["PYTHONPATH"].split(os.pathsep)[0])
sys.path.insert(0, str(Path(__file__).parent))
import look  # noqa: E402
import okra  # noqa: E402
from sphinx_gallery.sorting import FileNameSortKey  # noqa: E402

project = "okra"
author = copyright = "the okra developers, BSD 3-clause"
release = version = okra.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton",
              "sphinx_gallery.gen_gallery"]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
html_theme = "furo"
html_title = f"okra {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would read pages by fetch, which files do not allow
html_show_sphinx = False
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["okra.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f6b3a", "color-brand-content": "#1f6f8b",
                            "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"},
    "dark_css_variables": {"color-brand-primary": "#8fce9b", "color-brand-content": "#7cc4dd"},
}
smartquotes = False  # two hyphens are a flag
pygments_style = "default"
pygments_dark_style = "monokai"
highlight_language = "none"
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
# A copied block has neither prompts nor what was printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]  # the class that sorts the gallery
sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/\d\d_(?!gpu)\w+\.py$",  # that one needs a GPU
    "within_subsection_order": FileNameSortKey,
    "plot_gallery": not os.environ.get("OKRA_DOCS_QUICK"),
    "reset_modules": ("matplotlib", look.look),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
}


def _plain_docstring(app, what, name, obj, options, lines):
    """|x| is an absolute value, model_ no reference; scikit-learn's references lead nowhere."""
    for k, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [p.replace("|", "\\|") for p in parts[::2]]
        line = re.sub(r"^:(ivar|vartype) (.*?)_:", r":\1 \2\\_:", "``".join(parts))
        lines[k] = line if ":ref:`" not in line else line.split(":ref:`")[0].rstrip()


def setup(app):
    app.connect("autodoc-process-docstring", _plain_docstring)
