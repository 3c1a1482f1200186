"""Words: messages have one form, and a name stands for one type of a crate."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from conftest import ROOT

SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/*/**/*.py"))
)
LITERAL = re.compile(r"""//[^\n]*|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])*'""")
"""A string, or what could be mistaken for the beginning of one."""
TYPE = re.compile(
    r"^\s*pub(?:\([a-z]+\))? (?:struct|enum|trait|type|union) (\w+)", re.MULTILINE
)  # fmt: skip
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())


def _read(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _other_forms(text: str) -> list[str]:
    """Return the strings that list valid values as messages do not."""
    literals = (literal for literal in LITERAL.findall(text) if literal[0] in "\"'")
    return [literal for literal in literals if re.search(r"\ballowed:", literal)]


def test_other_forms_are_found():
    assert _other_forms('f(allowed: u8) // "allowed: a"\n\'"\' "b; allowed: c" "allowed"') == [
        '"b; allowed: c"'
    ]


def test_messages_say_what_is_expected():
    """The form is ``KEY: VALUE is not valid: expected WHAT``."""
    found = {name: _other_forms(_read(name)) for name in SOURCES}
    assert {name: literals for name, literals in found.items() if literals} == {}


@pytest.mark.parametrize("crate", CRATES)
def test_a_type_name_is_defined_once_in_a_crate(crate):
    where = defaultdict(list)
    for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
        for name in TYPE.findall(_read(path)):
            where[name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}
