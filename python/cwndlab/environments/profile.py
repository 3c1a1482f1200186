"""The assumptions of a comparison: as given, with the profile that fits its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cwndlab import native
from cwndlab.environments.assumptions import Assumptions
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.quantities import Quantity, seconds

TODAY = "linux"
"""Profile for rules that are in use on today's Internet."""


def listed(value: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list."""
    return [value] if isinstance(value, str) else list(value)


def assumed(
    rules: Iterable[str],
    *,
    assume: Assumptions | Mapping[str, Any] | None = None,
    profile: str | None = None,
    duration: Quantity | None = None,
    patch: Mapping[str, Any] | None = None,
) -> Assumptions:
    """Return the assumptions of a comparison of rules, with its profile and duration.

    Raises
    ------
    ScenarioError
        If a value is not valid.

    Examples
    --------
    >>> chosen = assumed(["CUBIC"], assume={"rtt": "40ms"}, duration=5)
    >>> chosen.profile, chosen.rtt, chosen.duration
    ('linux', '40ms', '5.0s')
    """
    is_whole = isinstance(assume, Assumptions)
    chosen = assume if is_whole else Assumptions().with_(**(assume or {}))
    is_given = is_whole or "profile" in (assume or {}) or "profile" in (patch or {})
    chosen, _ = with_profile(chosen, profile, rules, is_given=is_given)
    if duration is None:
        return chosen
    duration_s = seconds(duration)
    if duration_s is None or not 0 < duration_s < float("inf"):
        raise ScenarioError(invalid("duration", duration, "a duration above 0, such as 100s"))
    return chosen.with_(duration=f"{duration_s!r}s")


def with_profile(
    chosen: Assumptions, profile: str | None, rules: Iterable[str], *, is_given: bool
) -> tuple[Assumptions, str | None]:
    """Return the assumptions with a profile, and a rule in use today if it made the choice.

    The profile is the one named; else, unless the assumptions were given one, `TODAY` where a rule
    in use today is compared.

    Examples
    --------
    >>> rules = ["AIMD(1, 0.5)", "CUBIC"]
    >>> chosen, because = with_profile(Assumptions(), None, rules, is_given=False)
    >>> chosen.profile, because
    ('linux', 'CUBIC')
    """
    if profile is not None:
        return chosen.with_(profile=profile), None
    deployed = None if is_given else first_deployed(rules)
    return (chosen if deployed is None else chosen.with_(profile=TODAY)), deployed


def first_deployed(rules: Iterable[str]) -> str | None:
    """Return the first rule that is in use on today's Internet.

    Examples
    --------
    >>> first_deployed(["AIMD(1, 0.5)", "CUBIC(C=0.3)", "BBR3"]), first_deployed(["HTCP"])
    ('CUBIC(C=0.3)', None)
    """
    names = {entry["name"] for entry in native.rules() if entry["deployed"]}
    for rule in rules:
        if rule.startswith("kernel:") or native.rule(rule).partition("(")[0] in names:
            return rule
    return None
