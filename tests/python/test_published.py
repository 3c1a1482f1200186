"""docs/published.md: its commands, pictures and sections. test_docs.py compares its numbers."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import generate
from conftest import ROOT
from cwndlab.cli import sweep as command
from cwndlab.cli.app import app
from parts import published

PAGE = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
SECTIONS = {
    section["name"]: section["text"]
    for section in re.finditer(
        r"^## [^\n]+\n(?P<text>(?:(?!^## ).)*?<!-- generated: published (?P<name>\w+) -->.*?"
        r"<!-- end -->)",
        PAGE, re.DOTALL | re.MULTILINE,
    )
}  # fmt: skip


class Reached(Exception):
    """The command has checked everything, and would run now."""


def test_the_page_has_every_sweep_and_every_picture():
    sweeps = {path.stem for path in (ROOT / "examples" / "published").glob("*.toml")}
    pictures = {path.stem for path in (ROOT / published.FOLDER).glob("*.png")}
    assert len(published.FIGURES) == 10
    assert set(published.FIGURES) == sweeps == pictures == set(SECTIONS)
    assert set(published.pictures()) <= set(generate.PICTURES)
    for name, text in SECTIONS.items():
        for part in ("**The original**", "**As in the paper:**", "**Different:**"):
            assert part in text, f"{name}: {part}"
        assert re.search(r"\*\*The finding (holds|fails|differs):\*\* \w", text), name
    for name in published.FIGURES:
        first = (ROOT / published.file_of(name)).read_text(encoding="utf-8").split("\n")[0]
        assert first.startswith("# ")


@pytest.mark.parametrize("name", published.FIGURES)
def test_a_picture_is_small(name):
    assert 5_000 < (ROOT / published.FOLDER / f"{name}.png").stat().st_size < 40_000


@pytest.mark.parametrize("name", published.FIGURES)
def test_a_command_of_the_page_is_accepted(name, monkeypatch, tmp_path):
    """Everything that can be wrong is refused before the first run: this reaches it."""
    text = SECTIONS[name].split("-->\n")[1].split("\n\n")[0]
    _, *arguments = shlex.split(text.replace("\\\n", " "))
    assert arguments[:2] == ["sweep", published.file_of(name)]
    picture = arguments.index("--plot") + 1
    arguments[picture] = str(tmp_path / arguments[picture])
    arguments[1] = str(ROOT / arguments[1])

    def reach(*_: object, **__: object) -> None:
        raise Reached

    monkeypatch.setattr(command, "_execute", reach)
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, Reached), done.output
    assert "--title" in arguments
    assert not Path(arguments[picture]).exists()
