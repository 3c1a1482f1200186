"""The lessons: each runs anew without error, its text's assertions hold, and it prints what is
stored."""

from __future__ import annotations

import base64
import doctest
import importlib.util
import re

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from conftest import ROOT

FOLDER = ROOT / "docs" / "lessons"
MOST_BYTES = 400_000


def _generator():
    spec = importlib.util.spec_from_file_location("lessons", ROOT / "docs" / "lessons.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LESSONS = _generator()
NAMES = LESSONS.names()


def _stored(name: str) -> nbformat.NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def _source(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def test_the_three_lessons_are_there_and_nothing_else():
    assert NAMES == ["loss-and-rate", "what-a-router-changes", "why-aimd-converges"]
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_anew_and_prints_what_is_stored(name):
    """Assertions about the text's numbers are cells of the source: they run with it."""
    assert LESSONS.printed(LESSONS.executed(_source(name))) == LESSONS.printed(_stored(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_can_be_read_without_running_it(name):
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES
    stored = _stored(name)
    nbformat.validate(stored)
    outputs = [output for cell in stored.cells for output in cell.get("outputs", [])]
    assert {output.output_type for output in outputs} <= {
        "stream",
        "execute_result",
        "display_data",
    }
    assert not [output for output in outputs if output.get("name") == "stderr"]
    pictures = [
        output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 3
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures)
    assert len([output for output in outputs if "text/html" in output.get("data", {})]) >= 2
    # Addresses of objects would differ from run to run.
    plain = [str(output.get("data", {}).get("text/plain")) for output in outputs]
    assert not re.search(r"0x[0-9a-f]{6,}", "".join(plain))


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_parts_of_a_lesson(name):
    text = "\n".join(cell.source for cell in _stored(name).cells if cell.cell_type == "markdown")
    for heading in ("**The question.**", "## Exercises", "## What to remember"):
        assert heading in text
    assert re.search("^## .*surprise", text, re.IGNORECASE | re.MULTILINE)
    exercises = re.findall(r"^\d\. \*\*", text[text.index("## Exercises") :], re.MULTILINE)
    assert 3 <= len(exercises) <= 5
    named = re.findall(
        r"^(\d\. )\*\*(.+?)[.?]?\*\*", text[text.index("## Exercises") :], re.MULTILINE
    )
    answers = re.findall(r"<details><summary>(.+?)</summary>", text[text.index("## Answers") :])
    assert [answer.rstrip("?") for answer in answers] == [number + name for number, name in named]
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert target.startswith("https://") or (FOLDER / target).exists(), target


@pytest.mark.parametrize("name", NAMES)
def test_assertions_are_run_and_not_shown(name):
    checks = [cell for cell in LESSONS.cells(_source(name)) if cell.kind == "check"]
    assert len(checks) >= 4
    assert all("assert" in cell.text for cell in checks)
    assert not [cell for cell in _stored(name).cells if "assert " in cell.source]


@pytest.mark.slow
def test_a_lesson_whose_assertion_fails_is_not_stored():
    with pytest.raises(CellExecutionError, match="assert x == 2"):
        LESSONS.executed('# %%\nx = 1\n\n# %% tags=["check"]\nassert x == 2\n')


def test_a_lesson_that_warns_is_not_stored():
    with pytest.raises(LESSONS.Complaint, match="careful"):
        LESSONS.executed('# %%\nimport warnings\n\nwarnings.warn("careful")\n')


def test_the_example_of_a_source():
    assert doctest.testmod(LESSONS).failed == 0
    assert doctest.testmod(LESSONS).attempted == 1


def test_other_kinds_of_cells_are_refused():
    with pytest.raises(ValueError, match=r"cell: `\[raw\]` is not valid: expected \[markdown\]"):
        LESSONS.cells("# %% [raw]\n# x\n")


def test_a_number_that_differs_is_noticed():
    made = LESSONS.notebook("# %%\nprint(1)\n")
    one, other = (nbformat.from_dict(made) for _ in range(2))
    one.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="rate 1.25\n")]
    other.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="rate 1.26\n")]
    assert LESSONS.printed(one) != LESSONS.printed(other)
    other.cells[0].outputs[0].text = "rate │ 1.25\n"
    assert LESSONS.printed(one) == LESSONS.printed(other)
