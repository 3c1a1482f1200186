"""The page of known results: its counts, a table for each theme, and what fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cwndlab.files import write_whole
from cwndlab.known_results import record
from cwndlab.known_results.checking import Checked
from cwndlab.known_results.fact import FAILS, HOLDS, THEMES, UNDECIDED, VERDICTS, Fact, theme
from cwndlab.statistics import Estimate

NAME = "known-results.md"
PART = "known results"
"""Name of the generated part in the page (docs/generate.py)."""
SIGNS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}
"""Signs next to the words: colour alone has no meaning."""


def counted(verdicts: Sequence[str]) -> str:
    """Say how many facts there are of each verdict.

    Examples
    --------
    >>> counted(["holds", "fails", "holds"])
    'Of 3 facts 2 hold, 1 fails, 0 are undecided.'
    """
    holds, fails, open_ = (verdicts.count(verdict) for verdict in VERDICTS)
    return (
        f"Of {len(verdicts)} facts {holds} hold{'s' * (holds == 1)}, {fails} "
        f"fail{'s' * (fails == 1)}, {open_} {'is' if open_ == 1 else 'are'} undecided."
    )


def measured_text(found: Estimate) -> str:
    """Write a measured value with its interval, to as many digits as the interval has.

    Examples
    --------
    >>> measured_text(Estimate.around(12.3456, 0.0421, 5)), measured_text(Estimate(7, None, None, 1))
    ('12.35 ± 0.04', '7')
    >>> measured_text(Estimate(None, None, None, 0))
    '-'
    """
    if found.mean is None:
        return "-"
    width = found.half_width
    if not width:
        return f"{found.mean:.4g}"
    digits = 0
    while digits < 9 and width * 10**digits < 3:
        digits += 1
    return f"{found.mean:.{digits}f} ± {width:.{digits}f}"


def cell_lines(fact: Fact) -> list[str]:
    """Say what differs between the runs of a fact."""
    if len(fact.cells) == 1 and not fact.cells[0].set:
        return []
    return [
        f"run {number}: " + ", ".join(f"{key} = {value}" for key, value in cell.set.items())
        if cell.set
        else f"run {number}: as it stands"
        for number, cell in enumerate(fact.cells, 1)
    ]
