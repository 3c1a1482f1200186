"""Parts of docs/assess.md: margins, criteria and tests, from the files of the suites."""

from __future__ import annotations

import math

from cwndlab.assessment import SUITES, calibrating, calibration, criteria, judging, suite
from parts.text import table


def part(what: str) -> str:
    """Return one of the parts: ``margins``, ``criteria``, ``tests`` or ``calibration``."""
    return {
        "margins": _margins, "criteria": _criteria, "tests": _tests, "calibration": _calibration,
    }[what]()  # fmt: skip


def _margins() -> str:
    rows = [
        [f"`{name}`", f"{margin.absolute:g}" if margin.absolute else "",
         f"{100 * margin.relative:.0f} %" if margin.relative else "", _most(margin), margin.reason]
        for name, margin in judging.margins().items()
    ]  # fmt: skip
    return table(["column", "absolute", "relative", "at most", "reason"], rows)


def _most(margin: judging.Margin) -> str:
    parts = [
        f"{margin.most:g}" if math.isfinite(margin.most) else "",
        f"{100 * margin.of_small:.0f} %" if math.isfinite(margin.of_small) else "",
    ]
    return ", ".join(filter(None, parts))


def _criteria() -> str:
    rows = [
        [one.section, one.title + (" (MUST)" if one.must else ""),
         " ".join(part for part in (one.asks, one.why) if part)]
        for one in criteria().values()
    ]  # fmt: skip
    return table(["section", "criterion", "what it asks, in our words"], rows)


def _tests() -> str:
    found: list[list[str]] = []
    for name in SUITES:
        for test in suite(name).tests:
            judged = ", ".join(f"`{key}`" for key in test.judged)
            found.append([test.section, f"{name}/{test.name}", test.what, judged])
    found.sort(key=lambda row: [int(part) for part in row[0].split(".")])
    return table(["section", "test", "what", "judged by"], found)


def _calibration() -> str:
    kept = calibration.kept()
    found = [*calibration.sections().values()]
    counted = "; ".join(f"of a twin of {name} {count}" for name, count in kept["dossiers"].items())
    holds = sum(one.holds for one in found)
    text = (
        f"Dossiers with any criterion worse by mistake, of {kept['draws']}: {counted}. Calibrated "
        f"are {holds} of {len(found)} criteria. The pool has {kept['pool']} runs of each cell and "
        "standard.\n\n"
    )
    rows = calibrating.rows(found)
    return text + table(calibrating.COLUMNS, [*rows])
