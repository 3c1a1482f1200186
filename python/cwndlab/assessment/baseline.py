"""Comparison of an assessment with an earlier one of another version of the rule."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwndlab.assessment import judging
from cwndlab.assessment.result import Assessment, measured, named
from cwndlab.documents import is_table
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.metrics import Metric
from cwndlab.statistics import Estimate, estimate, simultaneous
from cwndlab.tables import number

NOT_COMPARED = "not compared"
"""The verdict on a criterion whose runs the baseline does not have."""
SAME = ("seed", "quick")
"""What must be equal for runs to be paired."""


@dataclass(frozen=True)
class Change:
    """A criterion in both assessments."""

    section: str
    title: str
    verdict: str
    """As of `judging`, against the earlier version of the rule, or `NOT_COMPARED`."""
    reason: str


def read(path: str | Path) -> dict[str, Any]:
    """Read an ``assessment.json``.

    Raises
    ------
    ScenarioError
        If the file is not one.
    """
    expected = "an assessment.json that `cwndlab assess --out` wrote"
    try:
        data: object = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{invalid('--baseline', path, expected)} ({error})") from None
    if not is_table(data) or data.get("schema") != "assessment/1":
        raise ScenarioError(invalid("--baseline", path, expected))
    return data


def changes(found: Assessment, earlier: Mapping[str, Any]) -> list[Change]:
    """Judge every criterion against an earlier assessment.

    Runs of the same seed are paired; a comparison that only one of the two has is left out, which
    the reason says, and a criterion without a pair is `NOT_COMPARED`. The margins are those of an
    assessment, around the earlier means.

    Parameters
    ----------
    found : Assessment
        The assessment.
    earlier : mapping
        `Assessment.to_dict` of the other.

    Raises
    ------
    ScenarioError
        If it has other seeds, or other tests (`quick`), so that its runs cannot be paired.
    """
    data = found.to_dict()
    for key in SAME:
        if data[key] != earlier[key]:
            raise ScenarioError(
                f"the baseline has `{key}` {json.dumps(earlier[key])}, this assessment "
                f"{json.dumps(data[key])}: runs of the two cannot be paired"
            )
    before = {
        (criterion["section"], *_place(one)): one
        for criterion in earlier["criteria"]
        for one in criterion["comparisons"]
    }
    return [_change(criterion, before, found.metrics) for criterion in data["criteria"]]


def _place(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return one["test"], one["metric"], json.dumps(one["cell"], sort_keys=True)


def _change(
    criterion: Mapping[str, Any], before: Mapping[tuple[str, ...], Any],
    metrics: Mapping[str, Metric],
) -> Change:  # fmt: skip
    section = criterion["section"]
    if not criterion["comparisons"]:
        return Change(section, criterion["title"], judging.NOT_RUN, "nothing to compare")
    pairs = [
        (one, other)
        for one in criterion["comparisons"]
        if (other := before.get((section, *_place(one)))) is not None
    ]
    found = [
        (_disadvantage(one, other, metrics[one["metric"]], len(pairs)), one, other)
        for one, other in pairs
    ]
    if not found:
        reason = "the baseline has no run of this criterion"
        return Change(section, criterion["title"], NOT_COMPARED, reason)
    verdicts = [judging.verdict([less]) for less, _, _ in found]
    verdict = judging.overall(verdicts)
    own = [each for each, name in zip(found, verdicts, strict=True) if name == verdict]
    sign = -1.0 if verdict == judging.BETTER else 1.0
    _, one, other = max(own, key=lambda each: sign * (each[0][0].mean or 0.0) / (each[0][1] or 1.0))
    metric = metrics[one["metric"]]
    means = (number(_mean(entry["values"]), metric) for entry in (one, other))
    now, was = means
    unit = f" {metric.unit}" if metric.unit else ""
    where = f" ({named(one['cell'])})" if one["cell"] else ""
    count, left_out = len(criterion["comparisons"]), len(criterion["comparisons"]) - len(pairs)
    lacks = f"; the baseline lacks {left_out} of {count} comparisons" if left_out else ""
    return Change(
        section, criterion["title"], verdict,
        f"{measured(metric)}, {now}{unit}; it was {was}{unit}{where}{lacks}",
    )  # fmt: skip


def _disadvantage(
    one: Mapping[str, Any], other: Mapping[str, Any], metric: Metric, among: int
) -> tuple[Estimate, float]:
    sign = judging.sign_of(metric)
    now, before = (_capped(each, sign) for each in (one, other))
    pairs = zip(now, before, strict=False)
    less = estimate(None if a is None or b is None else sign * (a - b) for a, b in pairs)
    return simultaneous(less, among), judging.margin_of(metric.key).around(_mean(before) or 0.0)


def _capped(one: Mapping[str, Any], sign: float) -> Sequence[float | None]:
    """Return the values; where a rule needs no more than the references have, at most so much."""
    if not one["enough"]:
        return one["values"]
    rule, *others = one["means"].values()
    known = [sign * other["mean"] for other in others if other["mean"] is not None]
    if rule["mean"] is None or not known:
        return one["values"]
    # The worst of the references is enough.
    most = sign * max(known)
    return [None if value is None else sign * max(sign * value, sign * most)
            for value in one["values"]]  # fmt: skip


def _mean(values: Sequence[float | None]) -> float | None:
    return estimate(values).mean
