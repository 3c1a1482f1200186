"""The interface to the native extension `cwndlab._core`; no other module imports it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab import _core
from cwndlab._core import Ack, DrivenSender, Episodes, Observer, Run, Scenario, Sibling
from cwndlab.errors import RuleError

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

__all__ = [
    "Ack",
    "DrivenSender",
    "Episodes",
    "Observer",
    "Run",
    "Scenario",
    "Sibling",
    "build",
    "columns",
    "explain",
    "knobs",
    "reasons",
    "rule",
    "rules",
    "schema",
    "statistics",
    "version",
]


def version() -> str:
    """Version of the package and of its native core.

    Examples
    --------
    >>> version().count(".")
    2
    """
    return _core.version()


def build() -> str:
    """Fingerprint of the sources of the native core.

    Builds with equal fingerprints give equal results.

    Examples
    --------
    >>> len(build()), build().isalnum()
    (16, True)
    """
    return _core.build()


def rules() -> list[dict[str, Any]]:
    """List every window rule that can be written in a scenario.

    Returns
    -------
    list of dict
        Per rule: ``name``, ``notation``, ``summary``, ``parameters`` (each with ``name``,
        ``meaning``, ``allowed``), ``source``, ``example``, and ``deployed``: whether it is in use
        on today's Internet.

    Examples
    --------
    >>> "AIMD" in [entry["name"] for entry in rules()]
    True
    """
    return json.loads(_core.rules())


def rule(rule: Rule, *values: object, **named: object) -> str:
    """Return the canonical notation of a rule.

    Parameters
    ----------
    rule : str, class or instance
        For example ``"AIMD(1,.5)"``, or a custom class followed by its values, or an instance of
        one (`cwndlab.custom_rules`).

    Raises
    ------
    RuleError
        If there is no such rule or its parameters are not valid.

    Examples
    --------
    >>> rule("AIMD(1,.5)")
    'AIMD(1, 0.5)'
    """
    if isinstance(rule, str):
        return _core.rule(rule)
    from cwndlab import custom_rules

    try:
        return _core.rule(custom_rules.name_of(rule, *values, **named))
    except RuleError:
        raise
    except ValueError as error:
        raise RuleError(f"rule {error}") from None


def knobs() -> list[dict[str, Any]]:
    """List every knob of the TCP endpoints, with its value in each profile.

    Returns
    -------
    list of dict
        Per knob: ``name``, ``group`` (what its group is about), ``meaning``, ``range`` (least and
        largest number, seconds for times; None where every value is allowed), and ``values`` by
        profile.

    Examples
    --------
    >>> {"rfc", "linux", "ns2-2.35", "ns2-2000"} <= set(knobs()[0]["values"])
    True
    """
    return json.loads(_core.knobs())


def columns() -> dict[str, Any]:
    """List the definitions of the columns of results and traces.

    Returns
    -------
    dict
        ``run``: the fields of a run; ``groups``: columns of groups of flows; ``tables`` and
        ``traces``: table to its columns. Each has ``name``, ``kind`` (``text``, ``whole``,
        ``float`` or ``truth``), ``label``, ``heading``, ``unit``, ``shown_unit`` and ``scale`` (of
        tables and plots), ``values`` (names of the numbers in an Arrow column), ``better``
        (``higher``, ``lower`` or None), ``bounds`` (None for an open end), ``meaning``.

    Examples
    --------
    >>> loss = next(column for column in columns()["tables"]["flows"] if column["unit"] == "ratio")
    >>> loss["name"], loss["better"], loss["bounds"]
    ('loss_rate', 'lower', [0.0, 1.0])
    """
    found = json.loads(_core.columns())
    tables = {key: dict(found.pop(key)) for key in ("tables", "traces")}
    return {**found, **tables}


def explain(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Split the differences between flows into parts that add up to them.

    Parameters
    ----------
    first, second : sequence of mapping
        Accounts of flows (`Result.accounts`), at least one in the first; an empty second stands
        for flows that keep the links of the first full.

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> traced = dumbbell("10Mbit", "20ms", flows="CUBIC", duration="5s", trace={"account": True})
    >>> list(explain(run(traced).accounts, []))
    ['goodput_bps', 'rtt_s', 'loss_rate', 'queued_packets']
    """
    return json.loads(_core.explain(json.dumps([*first]), json.dumps([*second])))


def reasons(
    names: tuple[str, str],
    accounts: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]],
    others_bps: float = 0.0,
) -> dict[str, Any]:
    """Say in words why the flows of one side got more goodput than those of another.

    Parameters
    ----------
    names : tuple of str
        What sentences call the two sides.
    accounts : tuple of sequence of mapping
        Accounts of their flows, as of `explain`.
    others_bps : float
        What other traffic gets of the link that one side is explained against, bit/s.

    Returns
    -------
    dict
        ``headline``, and ``causes`` in order: each has its ``phase``, ``factor`` (``time``,
        ``window``, ``delay`` or ``rate``), ``bps``, and ``reason``, a sentence (None against a
        link).

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> traced = dumbbell("10Mbit", "20ms", flows="CUBIC", duration="5s", trace={"account": True})
    >>> reasons(("cubic", "the link"), (run(traced).accounts, []))["headline"].partition(":")[0]
    'cubic gets 0.208 Mbit/s less than the link'
    """
    first, second = (json.dumps([*side]) for side in accounts)
    return json.loads(_core.reasons(names, first, second, others_bps))


def schema() -> dict[str, Any]:
    """JSON schema of a scenario.

    Examples
    --------
    >>> schema()["type"]
    'object'
    """
    return json.loads(_core.schema())


def statistics() -> dict[str, str]:
    """List what an agent learns of its flow at a decision: name and meaning.

    Examples
    --------
    >>> statistics()["acks"]
    'ACKs'
    """
    return dict(_core.statistics())
