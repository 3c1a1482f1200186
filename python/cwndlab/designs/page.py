"""The page of a search for rules: one HTML file, without the network."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from cwndlab import pages
from cwndlab.designs.aims import Aim
from cwndlab.designs.result import BETTER, EQUAL, UNKNOWN, WORSE, Designed, DesignResult
from cwndlab.statistics import Estimate

SIGNS = {BETTER: "▲", WORSE: "▼", EQUAL: "=", UNKNOWN: "-"}
WINDOW_S = 20.0
"""Length of the pictures of windows, seconds."""
MOST_TRIED = 2000
"""Rules that were tried are drawn up to this many, the last ones."""


def page(found: DesignResult) -> str:
    """Write the page."""
    aims = found.specification.aims
    rules = [
        {"one": one, "number": number, "window": window(one.rule, found.specification.profile),
         "cells": [_cell(one, aim) for aim in found.aims],
         "compared": [_compared(found, one, other) for other in one.differences],
         "robustness": [_sensitivity(one, aim) for aim in aims if aim.text in one.robustness]}
        for number, one in enumerate(found.frontier, 1)
    ]  # fmt: skip
    data = {
        "aims": [{"title": aim.title, "more": aim.more_is_better, "scale": aim.scale,
                  "digits": aim.digits} for aim in aims],
        "found": [_point(one, aims) for one in found.frontier],
        "known": [_point(one, aims) for one in found.references],
        "tried": [
            [row[aim.text] for aim in aims]
            for row in found.tried[-MOST_TRIED:] if not row["dropped"]
        ],
    }  # fmt: skip
    return pages.page(
        "frontier.html.jinja", found=found, given=found.specification, aims=aims,
        measured=found.aims, rules=rules,
        references=[
            {"one": one, "cells": [_cell(one, aim) for aim in found.aims]}
            for one in found.references
        ],
        data=Markup(json.dumps(data).replace("<", "\\u003c")), signs=SIGNS,
        sets={name: block.labels for name, block in found.specification.sets.items()},
    )  # fmt: skip


def window(rule: str, profile: str = "linux") -> Markup:
    """Draw the window of a rule alone on a link, as a small SVG.

    The link has 5 Mbit/s, a round trip of 50 ms, and a buffer of one bandwidth-delay product.

    Examples
    --------
    >>> "polyline" in window("AIMD(1, 0.5)")
    True
    """
    from cwndlab import dumbbell, run

    result = run(
        dumbbell("5Mbit", "25ms", flows=rule, duration=f"{WINDOW_S:g}s", profile=profile,
                 trace={"cwnd": "100ms"})
    )  # fmt: skip
    trace = result.traces["cwnd"]
    times, windows = trace["time_s"].to_list(), trace["cwnd_packets"].to_list()
    top = max([*windows, 1.0])
    points = " ".join(
        f"{160 * time / WINDOW_S:.1f},{50 - 46 * value / top:.1f}"
        for time, value in zip(times, windows, strict=True)
    )
    return Markup(
        '<svg class="window" viewBox="0 0 160 52" role="img" aria-label="window over '
        f'{WINDOW_S:g} seconds, at most {top:.0f} packets"><polyline points="{points}"/></svg>'
    )


def _point(one: Designed, aims: tuple[Aim, ...]) -> dict[str, Any]:
    return {"rule": one.rule, "at": [one.hidden[aim.text].mean for aim in aims]}


def _cell(one: Designed, aim: Aim) -> str:
    return with_interval(one.hidden[aim.text], aim)


def with_interval(found: Estimate, aim: Aim) -> str:
    """Return a mean with its interval, in the objective's unit."""
    if found.mean is None:
        return "-"
    digits = aim.digits
    mean = f"{aim.scale * found.mean:.{digits}f}"
    if found.low is None or found.high is None:
        return mean
    low, high = aim.scale * found.low, aim.scale * found.high
    if low == high:
        return mean
    return f"{mean} [{low:.{digits}f}, {high:.{digits}f}]"


def _compared(found: DesignResult, one: Designed, other: str) -> dict[str, Any]:
    cells = []
    for aim in found.aims:
        verdict = found.verdict(one, other, aim)
        cells.append(
            {"verdict": verdict, "sign": SIGNS[verdict],
             "text": with_interval(one.differences[other][aim.text], aim)}
        )  # fmt: skip
    return {"other": other, "cells": cells, "beats": found.beats(one, other)}


def _sensitivity(one: Designed, aim: Aim) -> str:
    found = one.robustness[aim.text]
    return (
        f"{aim.title} {aim.scale * found.before:.{aim.digits}f} becomes "
        f"{aim.scale * found.value:.{aim.digits}f} with {found.change}"
    )
