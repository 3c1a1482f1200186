"""The report on a paper: one self-contained HTML file, with data and plots next to it."""

from __future__ import annotations

import base64
import json
import math
import platform
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cwndlab
from cwndlab.metrics import BY_KEY
from cwndlab.plugins import build, page, write_parquet, write_whole
from cwndlab.statistics import Estimate
from cwndlab_papers.claims import Judged
from cwndlab_papers.readings import VERDICTS
from cwndlab_papers.results_grid import MEASURED

if TYPE_CHECKING:
    from cwndlab_papers.paper import Experiment
    from cwndlab_papers.published import Beside
    from cwndlab_papers.running import Reproduction

SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?", "not judged": "○"}
"""Signs next to the words: colour alone has no meaning."""


def write(found: Reproduction, folder: Path, elapsed: Callable[[], float]) -> Path:
    """Write plots, data, ``claims.json`` and ``report.html``.

    `elapsed` returns the seconds since the beginning.

    Returns
    -------
    Path
        The report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sections = [_section(found, experiment, folder) for experiment in found.experiments.values()]
    found.wall_s = elapsed()
    write_whole(folder / "claims.json", f"{found.to_json()}\n".encode())
    target = folder / "report.html"
    html = page(
        "paper.html.jinja", package="cwndlab_papers", **_content(found, sections),
        sensitivity=_sensitivity(folder),
    )  # fmt: skip
    write_whole(target, html.encode("utf-8"))
    return target


def counts(judged: list[Judged]) -> dict[str, int]:
    """Count verdicts."""
    found = Counter(entry.verdict for entry in judged)
    return {verdict: found[verdict] for verdict in VERDICTS}


def number(found: Estimate, *, exact: bool = False) -> str:
    """Write a measured number with its interval.

    Examples
    --------
    >>> number(Estimate.around(0.123456, 0.01, 10)), number(Estimate(None, None, None, 0))
    ('0.123 ± 0.010', '-')
    >>> number(Estimate(1e-12, None, None, 1))
    '1e-12'
    """
    if found.low is not None and math.isinf(found.low + (found.high or 0.0)):
        return _censored(found)
    if found.mean is None:
        return "-"
    if found.half_width is None or exact:
        return f"{found.mean:.3g}"
    digits = 3 if max(abs(found.mean), found.half_width) < 10 else 1
    # Losses of a promille and delays of milliseconds need more digits.
    while digits < 6 and 0 < max(abs(found.mean), found.half_width) < 10 ** -(digits - 1):
        digits += 1
    low, high = found.mean - (found.low or 0.0), (found.high or 0.0) - found.mean
    if abs(high - low) > 0.1 * (high + low):
        return f"{found.mean:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}"


def _censored(found: Estimate) -> str:
    """Write a number of which only one end is known, or none."""
    ends = ((">=", found.low), ("<=", found.high))
    known = [f"{sign} {end:.3g}" for sign, end in ends if end is not None and math.isfinite(end)]
    return " and ".join(known) or "-"


def _content(found: Reproduction, sections: list[dict[str, Any]]) -> dict[str, Any]:
    paper = found.paper
    return {
        "paper": paper,
        "quick": found.is_quick,
        "counts": counts(found.judged),
        "total": len(found.judged),
        "sections": sections,
        "signs": SIGNS,
        "assumed": paper.assumed,
        "environments": _assumptions(found) if paper.has_environments else [],
        "costs": found.costs,
        "facts": {
            "runs": f"{sum(cost.runs for cost in found.costs)}, of which "
            f"{sum(c.done_now for c in found.costs)} now",
            "failed runs": sum(cost.failed for cost in found.costs),
            "computing time now": f"{sum(cost.computed_s for cost in found.costs):.0f} s, over "
            "all threads",
            "time": f"{found.wall_s:.0f} s, {'quick' if found.is_quick else 'full'}",
            "cwndlab": f"{cwndlab.__version__}, engine {build()}",
            "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        },
    }


def _assumptions(found: Reproduction) -> list[dict[str, Any]]:
    from cwndlab.environments import Assumptions, assumptions

    return assumptions(Assumptions().with_(**{**found.paper.assume, **found.assume}))


def _sensitivity(folder: Path) -> dict[str, Any] | None:
    """Read the results of `cwndlab_papers.sensitivity` in a directory."""
    from cwndlab_papers.sensitivity import NAME

    file = folder / NAME
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _section(found: Reproduction, experiment: Experiment, folder: Path) -> dict[str, Any]:
    place = folder / experiment.id
    judged = found.judged_of(experiment.id)
    section = {
        "experiment": experiment,
        "claims": [_row(entry) for entry in judged],
        "counts": counts(judged),
        "beside": [_beside(entry) for entry in found.beside_of(experiment.id)],
        "image": "",
        "table": "",
        "summary": _summary(found, experiment),
    }
    if not (experiment.figure or experiment.table):
        return section
    place.mkdir(parents=True, exist_ok=True)
    if experiment.table:
        table = getattr(found.paper.module("tables"), experiment.table)(found.data, experiment)
        write_parquet(place / "data.parquet", table)
        section["table"] = f"{experiment.id}/data.parquet"
    if experiment.figure:
        from cwndlab import plots

        file = plots.save(found.plot(experiment.id), place / "plot.png")
        section["image"] = base64.b64encode(file.read_bytes()).decode()
    return section


def _summary(found: Reproduction, experiment: Experiment) -> dict[str, Any] | None:
    table = found.paper.summary(found.data, experiment)
    return (
        None
        if table is None
        else {"columns": table.columns, "rows": [[*map(_cell, row)] for row in table.rows()]}
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _beside(entry: Beside) -> dict[str, Any]:
    claim = entry.printed.claim
    return {
        "what": claim.name,
        "place": claim.section,
        "unit": entry.printed.unit,
        "published": f"{entry.printed.value:g}",
        "ours": number(entry.ours, exact=claim.is_exact),
        "relative": relative(entry.relative),
    }


def relative(value: float | None) -> str:
    """Write a relative difference.

    Examples
    --------
    >>> relative(-0.0512), relative(None)
    ('-5.1 %', '-')
    """
    return "-" if value is None else f"{100 * value:+.1f} %"


def _row(entry: Judged) -> dict[str, Any]:
    claim = entry.claim
    return {
        "name": claim.name,
        "section": claim.section,
        "statement": claim.statement,
        "reading": claim.reading,
        "bounds": claim.bounds,
        "what": " of ".join(
            filter(None, [claim.quantity.replace("_", " "), claim.arguments.get("metric", "")])
        )
        if claim.quantity and not claim.is_exact
        else "",
        "measured": number(entry.measured, exact=claim.is_exact),
        "verdict": entry.verdict,
        "note": entry.note,
        "also": [
            f"{_label(metric)}: {number(measured)}, {SIGNS[verdict]} {verdict}"
            for metric, (measured, verdict) in entry.also.items()
        ],
    }


def _label(metric: str) -> str:
    """Name a further metric of a claim."""
    known = BY_KEY.get(metric.removesuffix(MEASURED))
    if known is None:
        return metric
    return f"{known.title}, as measured" if metric.endswith(MEASURED) else known.title
