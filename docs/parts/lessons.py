"""The table of docs/lessons/README.md: lessons of the studio."""

from __future__ import annotations

import sys

from parts.text import ROOT, table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONTENT = ROOT / "web" / "src" / "lessons" / "content"


def lessons() -> str:
    """Write a row for each lesson: title, what it answers, minutes."""
    rows = []
    for number, path in enumerate(sorted(CONTENT.glob("*.toml")), 1):
        lesson = tomllib.loads(path.read_text(encoding="utf-8"))
        link = f"[{lesson['title']}](../../{path.relative_to(ROOT).as_posix()})"
        rows.append([str(number), link, lesson["summary"], str(lesson["minutes"])])
    return table(["", "lesson", "what it answers", "minutes"], rows)
