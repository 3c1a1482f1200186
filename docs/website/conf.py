"""Settings of Sphinx for the site; build.py copies this file beside the staged pages."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import cwndlab

project = "cwndlab"
author = "the cwndlab authors"
copyright = "the cwndlab authors"  # noqa: A001 - the name that Sphinx reads
version = release = cwndlab.__version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["extra"]
# Headings link as on the web pages of repositories, which the documents are written for.
myst_heading_anchors = 6
# A file that is copied beside the pages: its address is relative already.
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "copy": "{{path}}",
    "copy-at": "{{path}}#{{fragment}}",
}
# Console blocks show tables, Python blocks show prompts; neither is worth a warning.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Browsers draw MathML themselves: no script, no network.
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"cwndlab {release}"
scripts = [name for name in ("site.js", "versions.js") if Path(name).exists()]
html_static_path = ["site.css", *scripts]
html_css_files = ["site.css"]
html_js_files = scripts
html_extra_path = ["extra"]
html_show_sourcelink = False
html_use_index = False
html_copy_source = False
html_sidebars = {"index": [], "install": [], "start/*": []}
html_theme_options = {
    "logo": {"text": f"cwndlab {release}"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery/index": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _formula(page, node: nodes.math) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(page, node: nodes.math_block) -> None:
    page.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register how formulas are written."""
    app.add_html_math_renderer("mathml", (_formula, None), (_block, None))
