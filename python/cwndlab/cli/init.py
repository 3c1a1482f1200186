"""`cwndlab init`: the beginning of a rule of one's own."""

from __future__ import annotations

import json
import keyword
import re
from importlib import resources
from pathlib import Path
from typing import Any

import click

from cwndlab.files import write_whole
from cwndlab.message import invalid

FILES = {
    "rule.py": "{module}.py",
    "test_rule.py": "test_{module}.py",
    "sweep.toml": "sweep.toml",
    "notebook.md": "{module}.ipynb",
}
"""Template to the name of the file."""


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
def init(directory: Path) -> None:
    """Begin a rule of your own, in Python.

    DIR, such as my-rule, receives a rule, its test, a sweep and a notebook, all of which run.
    """
    names = _names(directory)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise click.UsageError(invalid("DIR", directory, "a new or an empty directory"))
    texts = {name: _text(template, names) for template, name in FILES.items()}
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = directory / name.format(**names)
        write_whole(path, text.encode())
        click.echo(f"wrote {path}")
    rule = f"{names['module']}.py:{names['cls']}(0.7)"
    click.echo(f"\nnext, in {directory}:")
    for command in (
        "python -m pytest",
        f'cwndlab compare "{rule}" --baseline "AIMD(1, 0.5)"',
        "cwndlab sweep sweep.toml",
    ):
        click.echo(f"    {command}")


def _names(directory: Path) -> dict[str, str]:
    """Name the project, its module and its class after the directory.

    Examples
    --------
    >>> _names(Path("my-rule"))
    {'name': 'my-rule', 'module': 'my_rule', 'cls': 'MyRule'}
    """
    name = directory.resolve().name
    words = re.split(r"[-_]", name)
    module = "_".join(words).lower()
    is_name = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)
    # A module with the name of a package would hide it.
    if not is_name or not all(words) or keyword.iskeyword(module) or module in TAKEN:
        expected = "a name of letters, digits and hyphens that begins with a letter, as in my-rule"
        raise click.UsageError(invalid("DIR", directory, expected))
    return {
        "name": name,
        "module": module,
        "cls": "".join(word[0].upper() + word[1:] for word in words),
    }


TAKEN = ("cwndlab", "pytest", "test")


def _text(template: str, names: dict[str, str]) -> str:
    import jinja2

    folder = resources.files("cwndlab") / "templates" / "project"
    source = (folder / f"{template}.jinja").read_text(encoding="utf-8")
    text = jinja2.Template(source, keep_trailing_newline=True).render(names)
    return _notebook(text) if template == "notebook.md" else text


def _notebook(text: str) -> str:
    """Make a notebook of Markdown, whose code blocks are its cells."""
    cells: list[dict[str, Any]] = []
    for at, part in enumerate(re.split(r"```python\n(.*?)```\n?", text, flags=re.DOTALL)):
        if not part.strip():
            continue
        is_code = at % 2 == 1
        cells.append(
            {
                "cell_type": "code" if is_code else "markdown",
                "id": f"cell-{at}",
                "metadata": {},
                "source": part.strip().splitlines(keepends=True),
                **({"execution_count": None, "outputs": []} if is_code else {}),
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1) + "\n"
