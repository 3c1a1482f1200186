"""`cwndlab.explain`: why a flow, a group or a rule did better than another."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab import environments, native, theory
from cwndlab.arguments import Simulated, keywords, listed
from cwndlab.comparison import plan_rules
from cwndlab.environments import Assumptions
from cwndlab.environments.profile import assumed, words
from cwndlab.errors import RuleError, ScenarioError
from cwndlab.explanation import CAPACITY, PREDICTED, Divergence, Explanation
from cwndlab.message import invalid, missing, unknown
from cwndlab.quantities import Quantity
from cwndlab.runs.execute import run
from cwndlab.scenario import Scenario, Source
from cwndlab.theory import binomial, cubic, gaimd
from cwndlab.topology import topology

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule
    from cwndlab.results import Result

FIRST_S = 2.0
"""How much of a run is searched first for where two flows differ, seconds; then four times that."""
AROUND_S = 0.02
"""Packets shown: those up to this long before and after the first difference, seconds."""
MOST_AROUND = 12
LEAST_EVENTS = 5
"""Loss events from which on a rate of them is compared with theory."""
MOST_TIMEOUTS = 0.05
"""Timeouts among loss events up to which theory without timeouts is."""
LEAST_HELD = 0.9
"""Share of the window from which on a flow that cwnd limits is compared with theory."""


@keywords()
def explain(
    scenario: Source,
    flows: str | Sequence[str] | None = None,
    *,
    seed: int | None = None,
    profile: str | None = None,
    patch: Mapping[str, Any] | None = None,
    progress: Simulated | None = None,
) -> Explanation:
    """Explain why a flow or a group got more than another in one run, or less than its link has.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        What to run; a path or text is loaded with `Scenario.load`.
    flows : str or sequence of str, optional
        Names of two flows or groups, of which the first is compared with the second; or of one,
        which is compared with the link's capacity. By default those of a scenario that has one or
        two groups.
    seed, profile, patch
        As for `cwndlab.run`.
    progress : callable, optional
        Called with (simulated seconds, packets) about ten times a second.

    Returns
    -------
    Explanation
        `headline` says why; `goodput`, `rtt`, `loss` and `cwnd_changes` are data frames whose parts
        add up.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or has no such flow.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> flow = {"rule": "AIMD(1, 0.5)", "name": "short", "bytes": "2MB"}
    >>> why = explain(dumbbell("10Mbit", "40ms", flows=[flow], duration="20s"))
    >>> print(why.headline)
    short gets 8.85 Mbit/s less than the link's capacity: 8.68 are missing while it is absent \
(not started, or done) 89.9 % of the time
    """
    found = Scenario.of(scenario)
    if profile is not None:
        found = found.patch({"profile": profile})
    found = found.patch({**(patch or {}), "trace": {"account": True}})
    if seed is not None:
        found = found.with_seed(seed)
    result = run(found, progress=progress)
    names = _sides(result, listed(flows or ()))
    sides = [_accounts(result, name) for name in names]
    if len(sides) == 1:
        alone = _explanation((names[0], CAPACITY), (sides[0], []), (found, found))
        return dataclasses.replace(alone, others_bps=_others_bps(found, result, sides[0]))
    shared = {account["flow"] for account in sides[0]} & {account["flow"] for account in sides[1]}
    if shared:
        expected = f"two sides without a common flow; both have {', '.join(sorted(shared))}"
        raise ScenarioError(invalid("flows", ",".join(names), expected))
    return _explanation((names[0], names[1]), (sides[0], sides[1]), (found, found))


@keywords(instead=words)
def explain_rules(
    first: Rule,
    second: Rule,
    *,
    env: str = "constant",
    queue: str = "drop-tail",
    recovery: str = "sack",
    duration: Quantity | None = None,
    profile: str | None = None,
    assume: Assumptions | Mapping[str, Any] | None = None,
    seed: int = 1,
    patch: Mapping[str, Any] | None = None,
    progress: Simulated | None = None,
) -> Explanation:
    """Explain why a rule got more than another, each in a run of its own.

    Parameters
    ----------
    first, second : rule
        Rules in any notation that `cwndlab.rule` reads, classes, or instances.
    env, queue, recovery : str
        The network, as of `cwndlab.compare`, which runs the same scenarios.
    duration, profile, assume, seed, patch
        As for `cwndlab.compare`.
    progress : callable, optional
        Gets (simulated seconds, packets) about ten times a second, of both runs one after another.

    Returns
    -------
    Explanation

    Raises
    ------
    ScenarioError
        If a name or value is not valid.

    Examples
    --------
    >>> why = explain_rules("AIMD(1, 0.9)", "AIMD(1, 0.5)", env="constant", duration="60s")
    >>> why.names, why.parts["goodput_bps"]["difference"] > 0
    (('AIMD(1, 0.9)', 'AIMD(1, 0.5)'), True)
    """
    rules = [native.rule(rule) for rule in (first, second)]
    if rules[0] == rules[1]:
        raise ScenarioError(invalid("rules", ", ".join(rules), "two rules that differ"))
    plan = plan_rules(
        rules, env=environments.names([env]), queue=[queue], recovery=[recovery], replicates=1,
        assume=assumed(assume, profile=profile, duration=duration), seed=seed,
        patch={**(patch or {}), "trace": {"account": True}},
    )  # fmt: skip
    found = [Scenario.from_dict(cell.document()) for cell in plan.cells()]
    results = [run(scenario, progress=progress) for scenario in found]
    sides = [
        [account for account in result.accounts if account["rule"] == rule]
        for result, rule in zip(results, rules, strict=True)
    ]
    return _explanation((rules[0], rules[1]), (sides[0], sides[1]), (found[0], found[1]))


def _others_bps(scenario: Scenario, result: Result, accounts: Sequence[Mapping[str, Any]]) -> float:
    """Return what other flows and cross traffic get of the link that they leave least of, bit/s."""
    own = {account["flow"] for account in accounts}
    got: dict[str, float] = defaultdict(float)
    for name, group, goodput_bps in result.flows.select("flow", "group", "goodput_bps").iter_rows():
        got[group] += goodput_bps if name not in own else 0.0
    for table, key in ((result.cross, "source"), (result.arrivals, "group")):
        got.update(table.select(key, "delivered_bps").iter_rows())
    groups = {account["group"] for account in accounts}
    paths = topology(scenario.core).paths
    crossed = {link for path in paths if path.name in groups for link in path.forward}
    taken = {
        link: sum(got[path.name] for path in paths if link in path.forward) for link in crossed
    }
    rates = result.links.filter(pl.col("link").is_in(crossed)).select("link", "rate_bps")
    left = {link: rate_bps - taken[link] for link, rate_bps in rates.iter_rows()}
    return float(taken[min(left, key=left.__getitem__)]) if left else 0.0


def _sides(result: Result, asked: list[str]) -> list[str]:
    """Return the one or two names that are explained."""
    groups = list(dict.fromkeys(account["group"] for account in result.accounts))
    if not groups:
        raise ScenarioError(missing("flows", "a scenario with [[flows]], which accounts are of"))
    known = list(dict.fromkeys([*groups, *(account["flow"] for account in result.accounts)]))
    for name in asked:
        if name not in known:
            raise ScenarioError(unknown("flow or group", name, known))
    if not asked and len(groups) > 2:
        raise ScenarioError(missing("flows", f"one or two of {', '.join(groups)}"))
    names = asked or groups
    if len(names) > 2 or len(set(names)) < len(names):
        raise ScenarioError(invalid("flows", ",".join(names), "one or two different names"))
    return names


def _accounts(result: Result, name: str) -> list[dict[str, Any]]:
    """Return the accounts of a flow, or of all flows of a group."""
    return [
        account for account in result.accounts if name in (account["flow"], account["group"])
    ]  # fmt: skip


def _explanation(
    names: tuple[str, str],
    accounts: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    scenarios: tuple[Scenario, Scenario],
) -> Explanation:
    predicted = [
        row for name, side in zip(names, accounts, strict=True)
        if (row := _prediction(name, side)) is not None
    ]  # fmt: skip
    return Explanation(
        names=names,
        accounts=accounts,
        parts=native.explain(*accounts),
        divergence=_divergence(accounts, scenarios),
        predictions=pl.DataFrame(predicted, schema=PREDICTED),
    )


def _prediction(name: str, accounts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the goodput that theory gives a mean flow at the measured loss events and RTT.

    None for a rule without a formula, with few losses or many timeouts, or where something else
    than cwnd limits the flow: formulas are those of endless transfers.
    """
    rules = {account["rule"] for account in accounts}
    rtts = [account["mean_rtt_s"] for account in accounts if account["mean_rtt_s"]]
    packets = sum(row["delivered_packets"] for one in accounts for row in one["phases"])
    times: dict[str, int] = {}
    for account in accounts:
        for row in account["cwnd_changes"]:
            times[row["cause"]] = times.get(row["cause"], 0) + row["times"]
    # Where a timeout is not rare, formulas without timeouts say nothing.
    events = (
        times.get("loss", 0) + times.get("ecn", 0) + times.get("timeout", 0) - times.get("undo", 0)
    )
    is_rare = times.get("timeout", 0) <= MOST_TIMEOUTS * events
    held_s = sum(
        row["seconds"] for one in accounts for row in one["phases"]
        if row["phase"] in ("recovery", "growth")
    )  # fmt: skip
    is_held = held_s >= LEAST_HELD * sum(one["window_s"] for one in accounts)
    is_measured = bool(rtts) and LEAST_EVENTS <= events < packets and is_rare and is_held
    if len(rules) != 1 or not is_measured:
        return None
    loss, rtt_s = events / packets, sum(rtts) / len(rtts)
    found = _rate(rules.pop(), loss, rtt_s, accounts[0]["packets_per_growth"])
    if found is None:
        return None
    formula, packets_per_s = found
    count = len(accounts)
    return {
        "side": name,
        "formula": formula,
        "loss_event_rate": loss,
        "rtt_s": rtt_s,
        "predicted_bps": packets_per_s * sum(one["packet_bits"] for one in accounts) / count,
        "measured_bps": sum(one["goodput_bps"] for one in accounts) / count,
    }


def _rate(
    rule: str, loss: float, rtt_s: float, packets_per_growth: int
) -> tuple[str, float] | None:
    """Return a formula's name, and its rate without timeouts, packets per second.

    The formulas of general AIMD know delayed ACKs that growth does not make up for.
    """
    if rule in ("CUBIC", "kernel:cubic"):
        return "RFC 9438, section 5.1", float(cubic.rate(loss, rtt=rtt_s))
    known = {"NewReno": "AIMD(1, 0.5)", "kernel:reno": "AIMD(1, 0.5)"}
    try:
        read = theory.parse(known.get(rule, rule))
    except (RuleError, ValueError):
        return None
    if isinstance(read, theory.Binomial) and packets_per_growth == 1:
        return "binomial rules, any cuts", float(binomial.rate(read, loss, rtt=rtt_s))
    if isinstance(read, theory.Linear) and read.gaimd is not None:
        alpha, beta = read.gaimd
        rate = float(
            gaimd.rate_without_timeouts(alpha, beta, loss, rtt=rtt_s, b=packets_per_growth)
        )
        return "general AIMD without timeouts (Yang and Lam, equation 33)", rate
    return None


def _divergence(
    accounts: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]],
    scenarios: tuple[Scenario, Scenario],
) -> Divergence | None:
    """Find where two flows first differ, from the beginnings of their runs; runs repeat exactly."""
    if len(accounts[0]) != 1 or len(accounts[1]) != 1:
        return None
    flows = accounts[0][0]["flow"], accounts[1][0]["flow"]
    end_s, upto_s = scenarios[0].duration_s, FIRST_S
    while True:
        traces = [_beginning(scenarios[0], min(upto_s, end_s))]
        is_one = scenarios[1] is scenarios[0]
        traces.append(traces[0] if is_one else _beginning(scenarios[1], min(upto_s, end_s)))
        windows = [
            trace["cwnd"].filter(flow=flow) for trace, flow in zip(traces, flows, strict=True)
        ]
        number = _first_difference(windows)
        if number is not None:
            break
        if upto_s >= end_s:
            return None
        upto_s *= 4
    rows = [window.row(number, named=True) for window in windows]
    return Divergence(
        number=number,
        times_s=(rows[0]["time_s"], rows[1]["time_s"]),
        acknowledged=(rows[0]["acknowledged_packets"], rows[1]["acknowledged_packets"]),
        cwnd=(rows[0]["cwnd_packets"], rows[1]["cwnd_packets"]),
        packets=(
            _around(traces[0]["packets"], flows[0], rows[0]["time_s"]),
            _around(traces[1]["packets"], flows[1], rows[1]["time_s"]),
        ),
    )


def _beginning(scenario: Scenario, upto_s: float) -> dict[str, pl.DataFrame]:
    """Record windows and packets of the first seconds of a run.

    The whole run is recorded where its beginning alone is no valid scenario, such as that of a flow
    that starts later.
    """
    trace = {"trace": {"cwnd": "all", "packets": True}}
    if upto_s < scenario.duration_s:
        cut = {"duration": upto_s, "measure": [0.0, upto_s]}
        try:
            return run(scenario.patch({**cut, **trace})).traces
        except ScenarioError:
            pass
    return run(scenario.patch(trace)).traces


def _first_difference(windows: Sequence[pl.DataFrame]) -> int | None:
    """Return the first row in which acknowledged packets or cwnd differ."""
    compared = ["acknowledged_packets", "cwnd_packets"]
    height = min(window.height for window in windows)
    first, second = (window.head(height).select(compared) for window in windows)
    differs = pl.DataFrame({key: first[key] != second[key] for key in compared})
    apart = differs.select(pl.any_horizontal(compared).arg_true()).to_series()
    if len(apart):
        return int(apart[0])
    return None


def _around(packets: pl.DataFrame, flow: str, time_s: float) -> pl.DataFrame:
    """Return a flow's packets around an instant, and the last one dropped before."""
    own = packets.filter(pl.col("flow") == flow).with_columns(
        apart=(pl.col("time_s") - time_s).abs()
    )
    near = own.filter(pl.col("apart") <= AROUND_S).sort("apart", maintain_order=True)
    # What was dropped before explains duplicate ACKs.
    dropped = own.filter((pl.col("event") == "drop") & (pl.col("time_s") <= time_s)).tail(1)
    found = pl.concat([near.head(MOST_AROUND), dropped]).unique(maintain_order=True)
    shown = ["time_s", "event", "seq", "retransmission", "marked"]
    return found.sort("time_s", maintain_order=True).select(shown)
