"""Pages of the lessons: the cells of a stored notebook, with what they printed and drew."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat

MATH = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$]+)\$", re.DOTALL)
TABLE = re.compile(r"<table.*?</table>", re.DOTALL)


def page(path: Path, download: str) -> tuple[str, dict[str, bytes]]:
    """Write a notebook as Markdown.

    Parameters
    ----------
    path : Path
        The notebook.
    download : str
        Address of its copy, from the page.

    Returns
    -------
    tuple of str and dict
        The page, and its pictures by the name that the page has for them.
    """
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            parts.append(MATH.sub(_formula, cell.source))
            if len(parts) == 1:
                button = f'<a class="button plain" href="{download}" download>'
                parts.append(f"<p>{button}Download the notebook</a></p>")
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![What the code above draws]({name})")
            elif "text/html" in data:
                parts.append(_table(data["text/html"]))
            else:
                text = output.get("text") or data["text/plain"]
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def _formula(found: re.Match[str]) -> str:
    if found["block"]:
        return f"```{{math}}\n{found['block'].strip()}\n```"
    return f"{{math}}`{' '.join(found['inline'].split())}`"


def _table(html: str) -> str:
    """Give a table of polars the site's own style."""
    table = TABLE.search(html)
    assert table is not None
    inner = table[0].replace('<table border="1" class="dataframe">', '<table class="table">')
    return f'<div class="pst-scrollable-table-container">{inner}</div>'
