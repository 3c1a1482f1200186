"""Words: code and documents use the field's terms, and one name for one type of a crate."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from conftest import ROOT

SUFFIXES = {".rs", ".py", ".md", ".toml", ".c", ".h", ".sh"}
SKIPPED = {".git", ".venv", "target", "out", "node_modules"}
"""Directories that are not the repository's own text."""
EXEMPT = re.compile(
    r"CHANGELOG\.md|docs/decisions/.*|docs/reproduction\..*|tests/python/test_words\.py"
)
SOURCES = re.compile(r"crates/\w+/src/.*\.rs|python/cwndlab/.*\.py")
GAP = r"[\s/!#*>]+"
"""Between words: a space, or the end of a line with the comment sign of the next."""
TERMS = {
    "told": "is notified, is reported, is set; for `not told apart`: not significantly different",
    "passages?": "NetworkPath, or route",
    "parcels?": "packet",
    "befall(?:s|en)?|befell": "impairments",
    "casualt(?:y|ies)": "dropped packets",
    "bury|buries|buried": "drain drops",
    "strikes?": "loss, or mark",
    "set in motion": "scheduled",
    "time-outs?": "timeout, or RTO",
    "own kind": "the same rule",
    "bandwidth left": "residual bandwidth",
    "saw-?teeth": "sawtooth",
    "short way": "fast path",
    "nobody can tell": "unobservable",
    "doors?": "input port, or interface",
    "inbox(?:es)?": "station",
}
"""A regular expression for each word that is not the field's, and the standard term."""
NAMED = [word.replace(" ", GAP) for word in TERMS]
UNFIT = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(f'({word})' for word in NAMED)})(?![A-Za-z])", re.IGNORECASE
)
"""Each word is a group, in the order of the terms."""
LITERAL = re.compile(r"""//[^\n]*|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])*'""")
"""A string, or what could be mistaken for the beginning of one."""
TYPE = re.compile(
    r"^\s*pub(?:\([a-z]+\))? (?:struct|enum|trait|type|union) (\w+)", re.MULTILINE
)  # fmt: skip
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())


def _texts() -> list[str]:
    """Name every text file of the repository."""
    paths = [ROOT / "Makefile", *(ROOT / ".ci").iterdir()]
    directories = [ROOT]
    while directories:
        for path in directories.pop().iterdir():
            if path.is_dir():
                if path.name not in SKIPPED and not path.name.startswith("."):
                    directories.append(path)
            elif path.suffix in SUFFIXES:
                paths.append(path)
    names = sorted(path.relative_to(ROOT).as_posix() for path in paths)
    return [name for name in names if not EXEMPT.fullmatch(name)]


NAMES = _texts()


def _read(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _faults(text: str) -> list[str]:
    """Name each unfit word with its line and the term to use."""
    terms = list(TERMS.values())
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: `{match.group()}`, use:"
        f" {terms[match.lastindex - 1]}"
        for match in UNFIT.finditer(text)
    ]


def _other_forms(text: str) -> list[str]:
    """Return the strings that list valid values as messages do not."""
    literals = (literal for literal in LITERAL.findall(text) if literal[0] in "\"'")
    return [literal for literal in literals if re.search(r"\ballowed:", literal)]


def test_unfit_words_are_found():
    text = "// Events are set\n// in motion by a time-out.\nlet is_told = old;\n"
    assert _faults(text) == [
        "line 1: `set\n// in motion`, use: scheduled",
        "line 2: `time-out`, use: timeout, or RTO",
        f"line 3: `told`, use: {TERMS['told']}",
    ]
    assert _faults("struck out; a threshold; outdoors; --strikethrough; timeouts") == []
    assert _other_forms('f(allowed: u8) // "allowed: a"\n\'"\' "b; allowed: c" "allowed"') == [
        '"b; allowed: c"'
    ]


def test_words_are_the_fields():
    found = {name: _faults(_read(name)) for name in NAMES}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_messages_say_what_is_expected():
    """The form is ``KEY: VALUE is not valid: expected WHAT``."""
    found = {name: _other_forms(_read(name)) for name in NAMES if SOURCES.match(name)}
    assert {name: literals for name, literals in found.items() if literals} == {}


@pytest.mark.parametrize("crate", CRATES)
def test_a_type_name_is_defined_once_in_a_crate(crate):
    where = defaultdict(list)
    for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
        for name in TYPE.findall(_read(path)):
            where[name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}
