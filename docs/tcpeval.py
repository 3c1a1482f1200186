"""Runs tests of the suite tcpeval in cwndlab and in ns-2, and writes docs/tcpeval.md's table.

``python docs/tcpeval.py`` takes most of an hour of a processor, nearly all of it in ns-2; runs are
kept in ``out/tcpeval``, so that it resumes.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from cwndlab import plots
from cwndlab.assessment import suite
from cwndlab.assessment.suite import Test
from cwndlab.plots.style import panels, styled
from cwndlab.sweeps import Beside, Sweep, run_beside
from parts.pictures import reduce_colours

RULES = ("NewReno", "CUBIC")
REPLICATES = 3
TESTS = {
    "access-link": {"duration": "70s", "measure": ["20s", "65s"]},
    "dial-up": {},
    "ramp-up-10-mbit": {},
    "impact-on-standard": {"duration": "70s", "measure": ["20s", "65s"]},
    "equal-rtts": {},
    "unequal-rtts": {},
    "transient-decrease": {},
    "transient-increase": {},
    "transient-steps": {},
}
"""The tests, with what is changed in them."""
DOCS = Path(__file__).resolve().parent
TIMER_PHASE_S = 0.00033956977 * 0.01
"""Offset of ns-2's timers within a tick of 10 ms: the first number of its stream of seed 1."""
PAGE = DOCS / "tcpeval.md"
PART = re.compile(r"<!-- table -->\n.*?<!-- end -->", re.DOTALL)
STORE = DOCS.parent / "out" / "tcpeval"


def sweep(test: Test, patch: Mapping[str, Any]) -> Sweep:
    """Return the sweep of a test that ns-2 can express.

    Its endpoints are ns-2's, and all packets have 1460 bytes.
    """
    base = {**test.base, **patch, "profile": "ns2-2.35"}
    base["tcp"] = {**base["tcp"], "window": 1_000_000, "timer_phase": TIMER_PHASE_S}
    base["arrivals"] = [
        {key: value for key, value in entry.items() if key != "packet_sizes"}
        for entry in base.get("arrivals", ())
    ]
    return replace(test, base=base, shown=()).with_replicates(REPLICATES).sweep(RULES)


def rows(test: Test, found: Beside) -> list[dict[str, Any]]:
    """Return the differences of a test: a row for each rule, cell and metric, with the metric."""
    measures = {measure.key: measure for measure in found.ours.sweep.measures}
    return [
        {**row, "test": test, "metric": measures[row["metric"]]}
        for row in found.differences().to_dicts()
    ]


def table(found: list[dict[str, Any]]) -> str:
    """Write what both programs measured as Markdown."""
    head = "".join(f" {rule}: cwndlab | ns-2 | difference |" for rule in RULES)
    lines = [f"| test | cell | measured |{head}", "| --- " * (3 + 3 * len(RULES)) + "|"]
    cells: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in found:
        axes = [row[axis] for axis in row["test"].axes]
        key = row["test"].title, ", ".join(axes), row["metric"].title
        cells.setdefault(key, {})[row["rule"]] = row
    for place, by_rule in cells.items():
        written = [*place]
        for row in (by_rule[rule] for rule in RULES):
            ours, theirs, less, low, high = (
                number(row[name], row["metric"].scale)
                for name in ("cwndlab", "ns2", "mean", "ci95_low", "ci95_high")
            )
            written += [ours, theirs, f"{less} ({low} to {high})"]
        lines.append(f"| {' | '.join(written)} |")
    return "\n".join(lines) + "\n"


def number(value: float | None, scale: float) -> str:
    """Write a number to three digits."""
    return "" if value is None else f"{value * scale:.3g}"


@styled
def ratios(found: list[dict[str, Any]]) -> Figure:
    """Draw the ratio of what cwndlab and ns-2 measured: a line for each test and metric."""
    lines = [f"{row['test'].title}: {row['metric'].label}" for row in found]
    names = list(dict.fromkeys(lines))
    figure, (axes,) = panels(1, 1, width=10.0, height=0.26 * len(names) + 0.9)
    looks = zip(RULES, "os", ("#0072b2", "#d55e00"), (-0.15, 0.15), strict=True)
    for rule, marker, colour, shift in looks:
        points = [
            (row["cwndlab"] / row["ns2"], names.index(line) + shift)
            for row, line in zip(found, lines, strict=True)
            if row["rule"] == rule and row["cwndlab"] and row["ns2"]
        ]
        axes.plot(
            *zip(*points, strict=True), marker, color=colour, markersize=4, alpha=0.7, label=rule
        )
    axes.axvspan(0.9, 1.1, color="#eeeeee", zorder=0)
    axes.axvline(1.0, color="#999999", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks([0.3, 0.5, 0.7, 1.0, 1.4], ["0.3", "0.5", "0.7", "1", "1.4"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("cwndlab / ns-2; grey: within 10 %")
    axes.legend(loc="upper left")
    return figure


def main() -> int:
    """Run the tests in both programs, and write the table and the picture."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--jobs", type=int, help="runs at a time; by default one per processor")
    given = options.parse_args()
    tests = {test.name: test for test in suite("tcpeval").tests}
    found: list[dict[str, Any]] = []
    for name, patch in TESTS.items():
        began_s = time.monotonic()
        beside = run_beside(sweep(tests[name], patch), STORE, jobs=given.jobs)
        print(f"{name}: {time.monotonic() - began_s:.0f} s", flush=True)
        found += rows(tests[name], beside)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        PART.sub(lambda _: f"<!-- table -->\n{table(found)}<!-- end -->", text), encoding="utf-8"
    )
    reduce_colours(plots.save(ratios(found), DOCS / "images" / "tcpeval-ns2.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
