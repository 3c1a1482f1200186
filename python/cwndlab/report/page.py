"""The page around chapters, and the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cwndlab.arguments import Progress
from cwndlab.files import write_whole
from cwndlab.pages import page
from cwndlab.report import charts, glyphs, tables
from cwndlab.report.chapter import MOST_PANELS, Chapter, Measure, named, short
from cwndlab.tables import SIGNS, WORDS

TEMPLATE = "report.html.jinja"


def write(target: Path, title: str, chapters: Sequence[Chapter], tell: Progress) -> Path:
    """Write chapters as one page, atomically."""
    steps = sum(len(chapter.measures) for chapter in chapters)
    drawn: list[dict[str, Any]] = []
    done = 0
    for number, chapter in enumerate(chapters):
        parts: list[dict[str, Any]] = []
        for measure in chapter.measures:
            parts.append(_metric(chapter, measure))
            done += 1
            tell("draw", done, steps)
        drawn.append(_content(chapter, number, parts))
    html = page(TEMPLATE, title=title, chapters=drawn)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, html.encode("utf-8"))
    return target


def _content(chapter: Chapter, number: int, metrics: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the template's variables of a chapter."""
    labels = {name: ", ".join(names) for name, names in chapter.levels.items()}
    return {
        "id": f"part-{number}",
        "chapter": chapter,
        "series": [
            {
                "index": index,
                "label": label,
                "sample": glyphs.sample(index),
                "is_baseline": label == chapter.baseline,
            }
            for index, label in enumerate(chapter.series)
            if label
        ],
        "tallies": tables.tallies(chapter) if chapter.baseline else [],
        "signs": SIGNS,
        "words": WORDS,
        "metrics": metrics,
        "axes": labels,
        "named": named,
        "short": _short,
        "run_columns": _run_columns(chapter),
    }


def _short(names: Iterable[str]) -> str:
    return ", ".join(map(short, names))


def _metric(chapter: Chapter, measure: Measure) -> dict[str, Any]:
    means = charts.plots(chapter, chapter.summary, measure)
    differences = (
        charts.plots(chapter, chapter.differences, measure, are_differences=True)
        if chapter.baseline
        else []
    )
    of_metric = chapter.summary.filter(metric=measure.key)
    return {
        "key": measure.key,
        "title": measure.title[:1].upper() + measure.title[1:],
        "short": measure.label,
        "better": measure.better,
        "means": means,
        "differences": differences,
        "more_plots": max(0, len(chapter.panels()) - MOST_PANELS),
        "undrawn": of_metric.filter(
            of_metric["mean"].is_not_null() & of_metric["ci95_low"].is_null()
        ).height,
        "table": tables.means(chapter, measure),
        "compared": tables.differences(chapter, measure) if chapter.baseline else None,
        "scores": chapter.scores.get(measure.key, ()),
    }


def _run_columns(chapter: Chapter) -> list[str]:
    """Other columns of the table of runs."""
    return (
        [key for key in chapter.runs[0] if key not in ("cell", "build", "version", "machine")]
        if chapter.runs
        else []
    )
