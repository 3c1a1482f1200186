"""The page of known results: its counts, what does not hold, and a table for each theme.

``known-results.md`` is made of the record and of today's facts alone, so that it can be written
again without a run. `cwndlab known-results --page docs` writes record, page and picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cwndlab.files import write_whole
from cwndlab.known_results import record
from cwndlab.known_results.checking import Checked
from cwndlab.known_results.fact import (
    FAILS,
    HOLDS,
    THEMES,
    UNDECIDED,
    VERDICTS,
    Fact,
    select,
    theme,
)
from cwndlab.statistics import Estimate

NAME = "known-results.md"
PICTURE = "images/known-results.png"
PART = "known results"
"""Name of the generated part in the page (docs/generate.py)."""
SIGNS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}
"""Signs next to the words: colour alone has no meaning."""
HEAD = """# Known results

What every engineer of congestion control knows, and what the simulator measures. A fact has a
source, an expected value with a tolerance from that source or from theory, never from what was
measured, a scenario that names its profile, and a verdict: it **holds** if the 95 % interval of the
measured mean lies within what is expected, **fails** if it lies outside, and is **undecided**
otherwise. Where nothing is random one run decides.

    cwndlab known-results                            # all facts
    cwndlab known-results --quick                    # the part that every change runs
    cwndlab known-results bbr                        # a theme
    cwndlab known-results recovery/tail-loss-two     # a fact whole: why, scenario, verdict
    cwndlab known-results recovery/tail-loss-two --scenario > tail-loss.toml
    cwndlab known-results --page docs                # this page, its record and its picture

Facts are data, [one file for each theme](../python/cwndlab/known_results/facts); how an expected
value follows from its source is there, and in the output of the fourth command. A fact that fails
stays until the simulator is mended, or the fact is shown to be wrong.

"""


def counted(verdicts: Sequence[str]) -> str:
    """Say how many facts there are of each verdict.

    Examples
    --------
    >>> counted(["holds", "fails", "holds"])
    'Of 3 facts 2 hold, 1 fails, 0 are undecided.'
    """
    holds, fails, unknown = (verdicts.count(verdict) for verdict in VERDICTS)
    return (
        f"Of {len(verdicts)} facts {holds} hold{'s' * (holds == 1)}, {fails} "
        f"fail{'s' * (fails == 1)}, {unknown} {'is' if unknown == 1 else 'are'} undecided."
    )


def measured_text(found: Estimate) -> str:
    """Write a measured value with its interval, to as many digits as the interval has.

    Examples
    --------
    >>> measured_text(Estimate.around(12.3456, 0.0421, 5))
    '12.35 ± 0.04'
    >>> measured_text(Estimate(7, None, None, 1)), measured_text(Estimate(None, None, None, 0))
    ('7', '-')
    >>> measured_text(Estimate(373.0, 12.0, 9000.0, 3))
    '373 [12, 9000]'
    """
    if found.mean is None:
        return "-"
    width = found.half_width
    if not width or found.low is None or found.high is None:
        return f"{found.mean:.4g}"
    if max(map(abs, found[:3])) >= 1e5:  # type: ignore[arg-type]
        return f"{found.mean:.3g} ± {width:.1g}"
    digits = 0
    while digits < 9 and width * 10**digits < 3:
        digits += 1
    mean, low, high = (f"{value:.{digits}f}" for value in (found.mean, found.low, found.high))
    below, above = found.mean - found.low, found.high - found.mean
    if abs(above - below) > 0.2 * (above + below):
        return f"{mean} [{low}, {high}]"
    return f"{mean} ± {width:.{digits}f}"


def cell_lines(fact: Fact) -> list[str]:
    """Say what differs between the runs of a fact."""
    if len(fact.cells) == 1 and not fact.cells[0].set:
        return []
    return [
        f"run {number}: "
        + (", ".join(f"{key} = {_short(value)}" for key, value in cell.set.items())
           or "as it stands")
        for number, cell in enumerate(fact.cells, 1)
    ]  # fmt: skip


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:36]} ..."


def write(found: Iterable[Checked], folder: Path) -> Path:
    """Write record, picture and page of checked facts into a folder.

    Returns
    -------
    Path
        The page.
    """
    listed = list(found)
    record.write(listed, folder)
    draw(listed, folder / PICTURE)
    target = folder / NAME
    text = f"{HEAD}<!-- generated: {PART} -->\n{markdown(folder)}<!-- end -->\n"
    write_whole(target, text.encode())
    return target


def draw(found: Sequence[Checked], path: Path) -> Path:
    """Draw every fact as measured over expected, as a PNG with a palette of few colours."""
    from cwndlab.plots.known_results import known_results
    from cwndlab.plots.style import save_flat

    rows = [
        {
            "fact": one.fact.id,
            "theme": theme(one.fact.theme).title,
            "low": one.fact.expected.low,
            "high": one.fact.expected.high,
            "mean": one.measured.mean,
            "ci95_low": one.measured.low,
            "ci95_high": one.measured.high,
            "verdict": one.verdict,
        }
        for one in found
    ]
    return save_flat(known_results(rows), path)


def markdown(folder: Path) -> str:
    """Write the page's generated part from the records of a folder."""
    data = record.read(folder)
    found = record.judged(data, select())
    by_theme = {name: [one for one in found if one.fact.theme == name] for name in THEMES}
    parts = [
        f"**{counted([one.verdict for one in found])}** Core {data['build']}, "
        f"cwndlab {data['cwndlab_version']}.\n",
        _summary(by_theme),
        f"![Every fact as measured over expected, in bands of tolerance]({PICTURE})\n",
        *_open(found),
        *_first(found, record.read(folder, record.FIRST)["facts"]),
    ]
    for name, listed in by_theme.items():
        if listed:
            parts += [f"## {theme(name).title}\n", f"{theme(name).about}\n", _facts(listed)]
    return "\n".join(parts)


def _summary(by_theme: dict[str, list[Checked]]) -> str:
    rows: list[list[object]] = []
    for name, listed in by_theme.items():
        verdicts = [one.verdict for one in listed]
        title = theme(name).title
        anchor = "".join(
            letter for letter in title.lower() if letter.isalnum() or letter in " -"
        ).replace(" ", "-")
        rows.append([f"[{title}](#{anchor})", *map(verdicts.count, VERDICTS), len(verdicts)])
    sums = [sum(int(str(row[at])) for row in rows) for at in range(1, 5)]
    return _table(
        ["theme", *(f"{SIGNS[verdict]} {verdict}" for verdict in VERDICTS), "facts"],
        [*rows, ["all", *sums]],
    )


def _open(found: Sequence[Checked]) -> list[str]:
    """List what does not hold, with what is known of it."""
    rows = [
        [f"{SIGNS[one.verdict]} `{one.fact.id}`", one.fact.statement, _expected(one.fact),
         measured_text(one.measured), " ".join(one.fact.note.split())]
        for one in found if one.verdict != HOLDS
    ]  # fmt: skip
    if not rows:
        return []
    head = ["fact", "statement", "expected", "measured", "what is known"]
    return ["## What does not hold\n", _table(head, rows)]


def _first(found: Sequence[Checked], entries: Sequence[dict[str, Any]]) -> list[str]:
    """List what did not hold when the facts were first checked, and what became of it."""
    verdicts = [entry["verdict"] for entry in entries]
    now = {one.fact.id: one for one in found}
    rows = [
        [f"`{entry['fact']}`", f"{entry['expected']['text']} {entry['unit']}".strip(),
         measured_text(Estimate(entry["mean"], entry["ci95_low"], entry["ci95_high"], 1)),
         measured_text(one.measured), f"{SIGNS[one.verdict]} {one.verdict}"]
        for entry in entries
        if entry["verdict"] != HOLDS and (one := now.get(entry["fact"])) is not None
    ]  # fmt: skip
    if not rows:
        return []
    lead = (
        f"{counted(verdicts)} This came out before anything was mended "
        f"([record]({record.FIRST})).\n"
    )
    head = ["fact", "expected", "measured at first", "measured now", "verdict now"]
    return ["## At first\n", lead, _table(head, rows)]


def _facts(found: Sequence[Checked]) -> str:
    rows = [
        [f"`{one.fact.name}`", one.fact.statement, one.fact.source, _expected(one.fact),
         measured_text(one.measured), f"{SIGNS[one.verdict]} {one.verdict}"]
        for one in found
    ]  # fmt: skip
    return _table(["fact", "statement", "source", "expected", "measured", "verdict"], rows)


def _expected(fact: Fact) -> str:
    return f"{fact.expected.text} {fact.unit}".strip()


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )
