"""The dossier of an assessment: one HTML file, without the network."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cwndlab import tomltext
from cwndlab.arguments import Progress
from cwndlab.assessment import judging
from cwndlab.assessment.judging import Comparison
from cwndlab.assessment.result import Assessment, Judged, Tested, named
from cwndlab.files import write_whole
from cwndlab.pages import page
from cwndlab.report import charts, from_sweep, glyphs
from cwndlab.sweeps.reading import StoredSweep
from cwndlab.tables import number, with_interval

SIGNS = {
    judging.WORSE: "▼", judging.BETTER: "▲", judging.NO_WORSE: "=", judging.UNDECIDED: "?",
    judging.NOT_JUDGED: "∅", judging.TEXT: "✎", judging.NOT_RUN: "·",
}  # fmt: skip
"""A sign for each verdict: no meaning depends on colour."""


def write(found: Assessment, target: str | Path, progress: Progress | None = None) -> Path:
    """Write the dossier.

    Parameters
    ----------
    found : Assessment
        The assessment.
    target : str or Path
        The file.
    progress : callable, optional
        Gets "draw", the number of drawn criteria, and of all.
    """
    parts: list[dict[str, Any]] = []
    for done, one in enumerate(found.judged(), 1):
        parts.append(_criterion(one))
        if progress is not None:
            progress("draw", done, len(found.judged()))
    html = page(
        "dossier.html.jinja", found=found, parts=parts, signs=SIGNS,
        counts=counts(found), margins=judging.margins(), worst=_worst(found),
        homes=home_rows(found), runs=sum(len(entry.found) for entry in found.tested),
    )  # fmt: skip
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, html.encode("utf-8"))
    return path


def _worst(found: Assessment) -> dict[str, Any] | None:
    if found.worst is None:
        return None
    document = found.worst.scenario(found.rule)
    return {"text": found.worst.text, "file": tomltext.dumps(document), "link": _link(document)}


def home_rows(found: Assessment) -> list[tuple[str, str, list[str], bool]]:
    """Return section, title, verdict at every home, and whether they differ, of each criterion.

    Empty with one home. A criterion that no home runs is left out.
    """
    if not found.elsewhere:
        return []
    rows: list[tuple[str, str, list[str], bool]] = []
    for entries in zip(*(one.judged() for one in (found, *found.elsewhere)), strict=True):
        verdicts = [one.verdict for one in entries]
        if any(one.comparisons for one in entries):
            judged = {name for name in verdicts if name in judging.JUDGED}
            criterion = entries[0].criterion
            rows.append((criterion.section, criterion.title, verdicts, len(judged) > 1))
    return rows


def counts(found: Assessment) -> dict[str, int]:
    """Return the number of criteria by verdict, in the order of `SIGNS`."""
    verdicts = [one.verdict for one in found.judged()]
    return {name: verdicts.count(name) for name in SIGNS if name in verdicts}


def _criterion(one: Judged) -> dict[str, Any]:
    return {
        "id": f"s{one.criterion.section.replace('.', '-')}",
        "criterion": one.criterion,
        "verdict": one.verdict,
        "slug": one.verdict.replace(" ", "-"),
        "reason": one.reason,
        "calibrated": one.calibrated if one.comparisons else "",
        "tests": [_test(one, entry) for entry in one.tested],
    }


def _test(one: Judged, entry: Tested) -> dict[str, Any]:
    chapter = from_sweep.chapter_of(StoredSweep(entry.found, [], 0))
    judged = [measure for measure in chapter.measures if measure.key in entry.test.judged]
    compared = [each for each in one.comparisons if each.test == entry.test.id]
    return {
        "test": entry.test,
        "rules": [
            {"index": index, "label": label, "sample": glyphs.sample(index)}
            for index, label in enumerate(entry.rules)
        ],
        "plots": [
            {"title": measure.title, "better": measure.better,
             "found": charts.plots(chapter, chapter.summary, measure)}
            for measure in judged
        ],
        "rows": [_row(entry, each) for each in compared],
        "file": tomltext.dumps(entry.found.sweep.to_dict()),
    }  # fmt: skip


def _row(entry: Tested, one: Comparison) -> dict[str, Any]:
    return {
        "metric": one.metric.title,
        "where": named(one.cell),
        "scenario": scenario_link(entry, one.cell),
        "values": [with_interval(_estimate(one.means[rule]), one.metric) for rule in entry.rules],
        "disadvantages": [(name, _disadvantage(one, name)) for name in one.deciding],
        "verdict": one.verdict,
        "slug": one.verdict.replace(" ", "-"),
    }


def _disadvantage(one: Comparison, name: str) -> str:
    less = one.disadvantages[name]
    if less.mean is None:
        return "no value"
    text = with_interval(_estimate(less), one.metric)
    return f"{text} (margin {number(one.margins[name], one.metric)})"


def _estimate(one: Any) -> Mapping[str, float | None]:
    return {"mean": one.mean, "ci95_low": one.low, "ci95_high": one.high}


def scenario_link(entry: Tested, cell: Mapping[str, str]) -> str:
    """Return the scenario of a cell with the rule under test, as the address of a download."""
    return _link(scenario(entry, cell))


def _link(document: Mapping[str, Any]) -> str:
    text = tomltext.dumps(document)
    return f"data:application/toml;base64,{base64.b64encode(text.encode()).decode()}"


def scenario(entry: Tested, cell: Mapping[str, str]) -> dict[str, Any]:
    """Return the scenario of a cell with the rule under test, replicate 0."""
    sweep = entry.found.sweep
    axis = sweep.compared or ""
    own = sweep.columns({axis: sweep.plan.axes[axis][0].label})
    index = sweep.cell_of({**cell, **own})
    assert index is not None, "the cell is one of the test's"
    return sweep.plan.cell(index).document()
