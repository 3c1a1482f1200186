"""Finds the dead links of a built site: pages of Sphinx, raw HTML and copied files alike."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ELSEWHERE = re.compile(r"(?:[a-z][a-z+.-]*:|//)", re.IGNORECASE)
PARTS = re.compile(r"^_static/")
"""The theme's own files: templates, whose links nobody follows."""
ALONE = "studio.html"
"""Its addresses after `#` are read by its script."""


class _Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name in ("href", "src"):
                self.targets.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)


def dead(site: Path) -> list[str]:
    """List the links of all pages that lead to no file, or to no place in a page.

    Parameters
    ----------
    site : Path
        Folder of the built site.

    Returns
    -------
    list of str
        ``PAGE: TARGET`` for each.
    """
    site = site.resolve()
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        if name == ALONE or PARTS.match(name):
            continue
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        for target in page.targets:
            if ELSEWHERE.match(target):
                continue
            name, _, anchor = target.partition("#")
            name = unquote(name.partition("?")[0])
            file = (path.parent / name).resolve() if name else path
            known = file not in pages or not anchor or unquote(anchor) in pages[file].anchors
            if not (file.is_file() and known):
                found.append(f"{path.relative_to(site).as_posix()}: {target}")
    return found
