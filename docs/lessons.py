"""Writes the lessons: ``python docs/lessons.py [NAME ...]`` runs docs/lessons/NAME.py.

``--check`` writes nothing and says which stored notebooks are out of date: other cells, or other
numbers printed.

A source is a script in the percent format, which Jupyter editors open as a notebook: ``# %%``
begins a cell of code, ``# %% [markdown]`` one of text. A cell ``# %% tags=["check"]`` asserts what
the text around it says of numbers. It runs in its place but is not stored: readers are asked to
change cells, and what they find then need not hold.

The same versions of the libraries give the same bytes: cells are numbered, and no times or versions
are stored.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image

FOLDER = Path(__file__).resolve().parent / "lessons"
MARKER = re.compile(r"^# %%(?P<rest>.*)$", re.MULTILINE)
CHECK = "check"
TIMEOUT_S = 900
"""For the kernel to start, for one cell, and for its output: it ends what hangs."""
COLORS = 64
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Complaint(Exception):
    """A cell that warns: the notebook would show it, with a path of this machine."""


class Cell(NamedTuple):
    """One cell of a source."""

    kind: str
    """``"code"``, ``"markdown"`` or ``"check"``."""
    text: str


def names() -> list[str]:
    """Lessons, in the order of the alphabet."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def cells(source: str) -> list[Cell]:
    r"""Cut a script in the percent format into cells.

    What stands before the first marker is for the script alone.

    Examples
    --------
    >>> cells('# %% [markdown]\n# # Title\n#\n# Text\n\n# %%\nx = 1\n\n# %% tags=["check"]\nassert x\n')
    [Cell(kind='markdown', text='# Title\n\nText'), Cell(kind='code', text='x = 1'), Cell(kind='check', text='assert x')]
    """  # noqa: E501 - one line of output
    markers = list(MARKER.finditer(source))
    ends = [marker.start() for marker in markers[1:]] + [len(source)]
    found = []
    for marker, end in zip(markers, ends, strict=True):
        rest, text = marker["rest"].strip(), source[marker.end() : end].strip()
        if rest == "[markdown]":
            lines = (line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
            found.append(Cell("markdown", "\n".join(lines)))
        elif rest in ("", f'tags=["{CHECK}"]'):
            found.append(Cell(CHECK if rest else "code", text))
        else:
            raise ValueError(
                f'cell: `{rest}` is not valid: expected [markdown], tags=["{CHECK}"] or nothing'
            )
    return found


def notebook(source: str) -> nbformat.NotebookNode:
    """Make a notebook without outputs; cells of assertions carry a tag."""
    made = []
    for number, cell in enumerate(cells(source), 1):
        if cell.kind == "markdown":
            made.append(new_markdown_cell(cell.text, id=f"cell-{number:02}"))
        else:
            tags = {"metadata": {"tags": [CHECK]}} if cell.kind == CHECK else {}
            made.append(new_code_cell(cell.text, id=f"cell-{number:02}", **tags))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(
        cells=made, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )


def executed(source: str) -> nbformat.NotebookNode:
    """Run a source in a fresh kernel of this Python and return the notebook as it is stored.

    Raises
    ------
    CellExecutionError
        If a cell raises: an assertion too.
    Complaint
        If a cell writes to standard error, a warning for example.
    """
    made = notebook(source)
    # Otherwise the kernel's debugger warns of modules that come frozen with Python.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    # The kernel listens on this machine alone; it warns that what it is sent there is not
    # encrypted.
    quiet = ["--IPKernelApp.log_level=ERROR"]
    client = NotebookClient(
        made,
        timeout=TIMEOUT_S,
        startup_timeout=TIMEOUT_S,
        iopub_timeout=TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=quiet,
    )
    client.execute()
    complaints = [
        output.text
        for cell in made.cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr"
    ]
    if complaints:
        raise Complaint(complaints[0])
    made.cells = [cell for cell in made.cells if CHECK not in cell.metadata.get("tags", [])]
    made.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate((cell for cell in made.cells if cell.cell_type == "code"), 1):
        cell["execution_count"] = number
        cell["outputs"] = _joined(cell["outputs"])
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = number
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = _small(output["data"]["image/png"])
    nbformat.validate(made)
    return made


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join what was printed: in how many pieces it comes depends on how busy the machine is."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
            joined[-1]["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def _small(picture: str) -> str:
    """Store a picture with a palette.

    A third of the bytes, and no difference that one sees in lines and text.
    """
    buffer = io.BytesIO()
    full = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    full.quantize(COLORS, dither=Image.Dither.NONE).save(buffer, format="PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def printed(made: nbformat.NotebookNode) -> list[tuple[str, list[str]]]:
    """Give the cells' sources, each with the numbers that it printed.

    What a stored notebook is compared by.

    Pictures and the frames that tables are drawn with depend on the versions of libraries.
    """
    found = []
    for cell in made.cells:
        outputs = cell.get("outputs", [])
        text = "\n".join(
            output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs
        )
        found.append((cell["source"], NUMBER.findall(text)))
    return found


def _store(made: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook whole or not at all."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as part:
        nbformat.write(made, part)
    Path(part.name).chmod(0o644)
    Path(part.name).replace(path)


def main() -> int:
    """Run the lessons named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "name", nargs="*", metavar="NAME", help=f"by default all: {', '.join(names())}"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if a notebook is out of date",
    )
    arguments = parser.parse_args()
    for name in arguments.name:
        if name not in names():
            parser.error(f"NAME: `{name}` is not known: expected one of {', '.join(names())}")
    failed = 0
    for name in arguments.name or names():
        begin, path = time.monotonic(), FOLDER / f"{name}.ipynb"
        print(f"{name}: running", end="", file=sys.stderr, flush=True)
        try:
            made = executed((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        except (CellExecutionError, Complaint) as error:
            print(f"\n{error}", file=sys.stderr)
            failed += 1
            continue
        print(f", {len(made.cells)} cells in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        if not arguments.check:
            _store(made, path)
        elif not path.exists() or printed(nbformat.read(path, as_version=4)) != printed(made):
            print(f"{name}: docs/lessons/{path.name} is out of date", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
