"""The assumptions of a comparison, with its profile and duration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from cwndlab.environments.assumptions import Assumptions
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.quantities import Quantity, seconds


def words() -> dict[str, str]:
    """Return what comparisons have under another word: assumptions, and a scenario of one's own.

    Examples
    --------
    >>> words()["rtt"]
    'assume={"rtt": ...}'
    """
    own = {"scenario": 'cwndlab.sweep(scenario, axes={"rule": [...]})'}
    fields = dataclasses.fields(Assumptions)
    return {**own, **{one.name: f'assume={{"{one.name}": ...}}' for one in fields}}


def assumed(
    assume: Assumptions | Mapping[str, Any] | None = None,
    *,
    profile: str | None = None,
    duration: Quantity | None = None,
) -> Assumptions:
    """Return the assumptions of a comparison, with its profile and duration.

    Raises
    ------
    ScenarioError
        If a value is not valid.

    Examples
    --------
    >>> chosen = assumed({"rtt": "40ms"}, duration=5)
    >>> chosen.profile, chosen.rtt, chosen.duration
    ('linux', '40ms', '5.0s')
    """
    chosen = assume if isinstance(assume, Assumptions) else Assumptions().with_(**(assume or {}))
    if profile is not None:
        chosen = chosen.with_(profile=profile)
    if duration is None:
        return chosen
    duration_s = seconds(duration)
    if duration_s is None or not 0 < duration_s < float("inf"):
        raise ScenarioError(invalid("duration", duration, "a duration above 0, such as 100s"))
    return chosen.with_(duration=f"{duration_s!r}s")
