"""Settings of Sphinx for the site; build.py copies this file beside the staged pages."""

from __future__ import annotations

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
myst_url_schemes = {"http": None, "https": None, "mailto": None, "copy": "{{path}}"}
# Console blocks show tables, Python blocks show prompts; neither is worth a warning.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"cwndlab {release}"
html_static_path = ["site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
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
