"""Comparison of an assessment with an earlier one of another version of the rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from cwndlab import native
from cwndlab.assessment import judging
from cwndlab.assessment.result import Assessment, measured, named
from cwndlab.assessment.suite import ADVERSARY
from cwndlab.documents import is_list, is_number, is_table, is_whole
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.message import invalid, quoted
from cwndlab.metrics import Metric
from cwndlab.statistics import Estimate, estimate, simultaneous
from cwndlab.tables import number

NOT_COMPARED = "not compared"
"""The verdict on a criterion whose runs the baseline does not have."""
SCHEMA = "assessment/1"
WRITTEN = "what `cwndlab assess --out` wrote to assessment.json"
_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "whole": ("a whole number", is_whole),
    "number": ("a number", is_number),
    "truth": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list", is_list),
    "table": ("a table", is_table),
    "values": ("a list of numbers or null", lambda value: is_list(value) and all(
        each is None or is_number(each) for each in value)),
}  # fmt: skip
_WHOLE = {"cwndlab_version": "text", "build": "text", "rule": "text", "profile": "text",
          "home": "text", "seed": "whole",
          "quick": "truth", "suites": "list", "criteria": "list"}  # fmt: skip
_CRITERION = {"section": "text", "comparisons": "list"}
_COMPARISON = {"test": "text", "metric": "text", "cell": "table", "enough": "truth",
               "weight": "number", "values": "values", "means": "table"}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A criterion in both assessments."""

    section: str
    title: str
    verdict: str
    """As of `judging`, against the earlier version of the rule, or `NOT_COMPARED`."""
    reason: str
    lacks: str = ""
    """What of the criterion's comparisons the baseline does not have; empty if it has all."""


def read(path: str | Path) -> dict[str, Any]:
    """Read an ``assessment.json``.

    Raises
    ------
    ScenarioError
        If the file is not one, or lacks keys that a comparison needs; the message has the file, the
        keys and what is expected.
    """
    try:
        data: object = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{invalid('--baseline', path, WRITTEN)} ({error})") from None
    if not is_table(data):
        raise ScenarioError(invalid("--baseline", path, WRITTEN))
    data.setdefault("home", SIMULATOR)  # Of before assessments had a home.
    if data.get("schema") != SCHEMA:
        raise ScenarioError(
            f"--baseline: {path}: {invalid('schema', data.get('schema'), quoted(SCHEMA))}"
        )
    _check_keys(path, "", data, _WHOLE)
    for at, criterion in enumerate(data["criteria"]):
        place = f"criteria[{at}]"
        _check_keys(path, place, criterion, _CRITERION)
        for index, one in enumerate(criterion["comparisons"]):
            _check_keys(path, f"{place}.comparisons[{index}]", one, _COMPARISON)
            for name, mean in one["means"].items():
                own = f"{place}.comparisons[{index}].means.{name}"
                if not is_table(mean) or not (mean.get("mean") is None or is_number(mean["mean"])):
                    _refuse(path, own, mean, 'a table with "mean"')
    return data


def _check_keys(path: str | Path, place: str, found: object, kinds: Mapping[str, str]) -> None:
    """Refuse a table of an assessment that lacks keys, or has values of another kind."""
    if not is_table(found):
        _refuse(path, place, found, "a table")
    before = f"{place}." if place else ""
    if lacking := [key for key in kinds if key not in found]:
        are = "is" if len(lacking) == 1 else "are"
        names = ", ".join(before + key for key in lacking)
        raise ScenarioError(f"--baseline: {path}: {names} {are} missing: expected {WRITTEN}")
    for key, kind in kinds.items():
        expected, test = _KINDS[kind]
        if not test(found[key]):
            _refuse(path, before + key, found[key], expected)


def _refuse(path: str | Path, key: str, value: object, expected: str) -> NoReturn:
    raise ScenarioError(f"--baseline: {path}: {invalid(key, json.dumps(value)[:60], expected)}")


def check(
    earlier: Mapping[str, Any],
    *,
    rule: str,
    profile: str,
    home: str,
    seed: int,
    quick: bool,
    suites: Iterable[str],
) -> None:
    """Refuse an assessment whose runs cannot be paired with those of another one.

    Parameters
    ----------
    earlier : mapping
        The earlier assessment, as `read` or `Assessment.to_dict` gives it.
    rule, profile, home, seed, quick, suites
        Those of the other one; the earlier one may have more suites.

    Raises
    ------
    ScenarioError
        If it is of another rule, profile, home, seed, length of tests or version of cwndlab, or
        lacks a suite.
    """
    own: dict[str, Any] = {
        "rule": rule, "profile": profile, "home": home, "seed": seed, "quick": quick,
        "cwndlab_version": native.version(),
    }  # fmt: skip
    for key, value in own.items():
        if earlier[key] != value:
            hint = f"; to compare with another rule, --against '{earlier[key]}'"
            raise ScenarioError(
                f"the baseline has `{key}` {json.dumps(earlier[key])}, this assessment "
                f"{json.dumps(value)}: runs of the two cannot be paired{hint * (key == 'rule')}"
            )
    tests = [name for name in dict.fromkeys(suites) if name != ADVERSARY]
    if lacking := [name for name in tests if name not in earlier["suites"]]:
        raise ScenarioError(
            f"the baseline has `suites` {json.dumps(earlier['suites'])}, this assessment also "
            f"{json.dumps(lacking)}: expected a baseline of the same --suite"
        )


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
        If their runs cannot be paired (`check`).
    """
    data = found.to_dict()
    check(
        earlier, rule=found.rule, profile=found.profile, home=found.home, seed=found.seed,
        quick=found.quick, suites=found.suites,
    )  # fmt: skip
    before = {
        (criterion["section"], *_place(one)): one
        for criterion in earlier["criteria"]
        for one in criterion["comparisons"]
    }
    looks = max((len(entry.test.looks) for entry in found.tested), default=1)
    return [_change(criterion, before, found.metrics, looks) for criterion in data["criteria"]]


def line(found: Iterable[Change]) -> str:
    """Say in one line what has changed.

    Examples
    --------
    >>> line([Change("5.1.2", "", "worse", ""), Change("6.1", "", "no worse", "")])
    '1 worse (5.1.2), 1 no worse'
    """
    sections: dict[str, list[str]] = {}
    for one in found:
        sections.setdefault(one.verdict, []).append(one.section)
    parts: list[str] = []
    for name in (*judging.JUDGED, NOT_COMPARED):
        own = sections.get(name, [])
        named_ones = "" if name == judging.NO_WORSE or not own else f" ({', '.join(own)})"
        parts += [f"{len(own)} {name}{named_ones}"] if own else []
    return ", ".join(parts)


def _place(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return one["metric"], *_cell(one)


def _cell(one: Mapping[str, Any]) -> tuple[str, str]:
    return one["test"], json.dumps(one["cell"], sort_keys=True)


def _change(
    criterion: Mapping[str, Any], before: Mapping[tuple[str, ...], Any],
    metrics: Mapping[str, Metric], looks: int,
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
        (_disadvantage(one, other, metrics[one["metric"]], looks * len(pairs)), one, other)
        for one, other in pairs
    ]
    if not found:
        reason = "the baseline has no run of this criterion"
        return Change(section, criterion["title"], NOT_COMPARED, reason, lacks=reason)
    verdicts = [judging.verdict([less]) for less, _, _ in found]
    cells = judging.cells_of([
        (_cell(one), one["weight"], name)
        for (_, one, _), name in zip(found, verdicts, strict=True)
    ])  # fmt: skip
    verdict = judging.overall(cells)
    own = [
        each for each, name in zip(found, verdicts, strict=True) if name == verdict
    ] or found  # No worse in all, though some are better, and others worse.
    sign = -1.0 if verdict == judging.BETTER else 1.0
    _, one, other = max(own, key=lambda each: sign * (each[0][0].mean or 0.0) / (each[0][1] or 1.0))
    metric = metrics[one["metric"]]
    means = (number(_mean(entry["values"]), metric) for entry in (one, other))
    now, was = means
    unit = f" {metric.unit}" if metric.unit else ""
    where = f" ({named(one['cell'])})" if one["cell"] else ""
    count, left_out = len(criterion["comparisons"]), len(criterion["comparisons"]) - len(pairs)
    lacks = f"the baseline lacks {left_out} of {count} comparisons" if left_out else ""
    return Change(
        section, criterion["title"], verdict,
        f"{measured(metric)}, {now}{unit}; it was {was}{unit}{where}{'; ' * bool(lacks)}{lacks}",
        lacks,
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
