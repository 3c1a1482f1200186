"""Markdown: tables and code."""

from __future__ import annotations

from pathlib import Path

from cwndlab import tomltext

ROOT = Path(__file__).resolve().parent.parent.parent


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table, a line for each row."""
    cells = str.maketrans({"|": "&#124;", "\n": " "})
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.translate(cells) for cell in line)} |\n" for line in lines)


def code(value: object) -> str:
    """Write a value as it stands in a scenario."""
    return f"`{tomltext.inline(value)}`"


def code_name(name: str) -> str:
    """Write a name in code type."""
    return f"`{name}`"
