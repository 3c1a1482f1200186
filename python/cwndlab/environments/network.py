"""Scenarios of environments under a setting: link, queue, cross traffic, flows.

There are two networks. In the simple one a CBR source leaves the environment's residual bandwidth
of one link; under fair queueing a varying number of sources does, since one source would get only
one flow's share. A link with delivery opportunities has no cross traffic. In the second network
arriving flows are the cross traffic, with priority at the bottleneck.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.environments.assumptions import Assumptions
from cwndlab.environments.catalogue import DEMO, DRAWN, Environment, environment
from cwndlab.environments.queues import BOTTLENECK, FAIR, PRIORITY, check_queue
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, one_of
from cwndlab.quantities import rate_text
from cwndlab.scenario import Scenario
from cwndlab.topologies import second_topology

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

# No window limit may bind: rules with multiplicative increase reach thousands of packets.
UNBOUNDED_PACKETS = 1_000_000
ACCESS_DELAY_S = 0.010
"""Mean one-way delay of a flow's access link; larger if the spread of RTTs requires it."""
RATES = ("rate", "high", "low", "start", "spread", "add", "min", "max")
PEAKS = ("rate", "high", "max")
CLIPPED = ("rate", "high", "low", "start", "min", "max")

RECOVERIES = ("reno", "sack")
"""Recovery schemes of the paper's settings."""


def scenario(
    name: str,
    *,
    rule: Rule = "AIMD(1, 0.5)",
    recovery: str = "sack",
    queue: str = "drop-tail",
    assume: Assumptions | None = None,
    seed: int = 1,
) -> Scenario:
    """Build the scenario of an environment under a setting.

    Parameters
    ----------
    name : str
        Name of the environment.
    rule : rule
        Rule of the test flows, which are named ``flow``.
    recovery : str
        Loss recovery of the test flows.
    queue : str
        Queue at the bottleneck.
    assume : Assumptions, optional
        Assumptions where the paper leaves values open.
    seed : int
        Seed of the run.

    Raises
    ------
    ScenarioError
        If there is no such environment or queue, or a key or value is not valid.

    Examples
    --------
    >>> scenario("SQH", rule="AIAD(1, 3)")["cross"][0]["available"]
    {'kind': 'square', 'high': '100Mbit', 'low': '10Mbit', 'every': '5s'}
    """
    chosen = assume or Assumptions()
    tables = network(name, queue, chosen, seed)
    test = {**tables["flows"][0], "rule": native.rule(rule), "recovery": recovery}
    return document(
        {**tables, "name": f"{name}-{recovery}-{queue}", "flows": [test, *tables["flows"][1:]]},
        chosen,
        seed,
    )


def document(tables: dict[str, Any], chosen: Assumptions, seed: int = 1) -> Scenario:
    """Build a scenario from the tables of a network, without those that are None."""
    own = {key: value for key, value in tables.items() if value is not None}
    return Scenario({"seed": seed, **common(chosen), **own})


def common(chosen: Assumptions) -> dict[str, Any]:
    """Return the keys that all environments share."""
    duration = chosen.seconds("duration")
    return {
        "duration": duration,
        "measure": [chosen.warm_up * duration, duration],
        "profile": chosen.profile,
        "tcp": {"window": UNBOUNDED_PACKETS, "initial_ssthresh": UNBOUNDED_PACKETS},
    }


def network(name: str, queue: str, chosen: Assumptions, seed: int = 1) -> dict[str, Any]:
    """Return the tables of an environment under a queue, None for those it lacks.

    The result is a patch of top-level keys.

    The test flows are the first entry of ``flows``, and `seed` matters to environments that are
    drawn here.
    """
    found = environment(name)
    check_queue(queue)
    capacity = found.capacity_bps(chosen)
    tables = (
        _second(found, capacity, queue, chosen)
        if found.gaps
        else _simple(found, capacity, queue, chosen, seed)
    )
    bdp = {"rate": rate_text(capacity), "rtt": chosen.rtt}
    usual = {"name": f"{found.name}-{queue}", "bdp": bdp}
    home = {} if found.home is None else {"home": found.home}
    return {**dict.fromkeys(("dumbbell", "links", "cross", "arrivals")), **usual, **home, **tables}


def under(
    shape: dict[str, Any], queue: str = "drop-tail", chosen: Assumptions | None = None
) -> dict[str, Any]:
    """Return the tables of the simple network under any waveform.

    The result is a patch of top-level keys, as of `network`.

    The buffer is the bandwidth-delay product of the waveform's highest rate.

    Parameters
    ----------
    shape : dict
        A scenario's waveform (docs/waveforms.md), but with rates as numbers, bit/s per test flow.
    queue : str
        Queue at the bottleneck.
    chosen : Assumptions, optional
        Assumptions; their floor applies.

    Raises
    ------
    ScenarioError
        If the queue is not known.

    Examples
    --------
    >>> wave = {"kind": "square", "high": 2e6, "low": 1e6, "every": "5s"}
    >>> tables = under(wave)
    >>> tables["dumbbell"]["rate"], tables["cross"][0]["available"]["low"]
    ('20Mbit', '10Mbit')
    """
    chosen = chosen or Assumptions()
    check_queue(queue)
    given = dict(shape)
    points = given.get("points")
    if points is not None:
        floor = chosen.bps("floor")
        given["points"] = [[at, max(float(rate), floor)] for at, rate in points]
    highest = max(
        [given[key] for key in PEAKS if key in given] or [rate for _, rate in given["points"]]
    )
    capacity = chosen.flows * highest
    found = Environment("waveform", "waveform", "", "", given)
    tables = _simple(found, capacity, queue, chosen, seed=1)
    usual = {"name": f"waveform-{queue}", "bdp": {"rate": rate_text(capacity), "rtt": chosen.rtt}}
    return {**dict.fromkeys(("dumbbell", "links", "cross", "arrivals")), **usual, **tables}


def link(capacity: float, queue: str, chosen: Assumptions) -> dict[str, Any]:
    """Return the tables of a link of this rate (bit/s) with the test flows alone."""
    check_queue(queue)
    delay, spread = _delays(chosen)
    flows = {"name": "flow", "count": chosen.flows, "rule": "AIMD(1, 0.5)", "start": ["0s", "1s"]}
    return {
        "name": f"link-{queue}",
        "bdp": {"rate": rate_text(capacity), "rtt": chosen.rtt},
        "dumbbell": {
            "rate": rate_text(capacity),
            "delay": delay,
            "queue": BOTTLENECK[queue](chosen),
            "access_rate": rate_text(chosen.access_ratio * capacity),
            "access_delay": spread,
        },
        "flows": [{**flows, **_understands(queue)}],
    }


def _simple(
    found: Environment, capacity: float, queue: str, chosen: Assumptions, seed: int
) -> dict[str, Any]:
    tables = {
        key: value
        for key, value in link(capacity, queue, chosen).items()
        if key in ("dumbbell", "flows")
    }
    if found.is_link:
        tables["dumbbell"] |= _own_rate(found, chosen)
        del tables["dumbbell"]["access_rate"]
        return tables
    available = _available(found, capacity, chosen, seed)
    if available != {"kind": "constant", "rate": rate_text(capacity)}:
        # The name seeds the random stream, so that two walks are independent.
        cross = {
            "name": "cross" if found.name in DEMO else found.name,
            "available": available,
            "packet_size": chosen.cross_packet,
        }
        tables["cross"] = [
            {**cross, **(_sources(found, capacity, chosen) if queue in FAIR else {})}
        ]
    return tables


def _own_rate(found: Environment, chosen: Assumptions) -> dict[str, Any]:
    """Return the rates of a link with delivery opportunities, whose ACKs come back unhindered."""
    shape = dict(found.shape)
    if "mean" in shape:
        shape["mean"] = rate_text(chosen.flows * shape["mean"])
    return {"rate": shape, "back_rate": "unlimited"}


def _available(
    found: Environment, capacity: float, chosen: Assumptions, seed: int
) -> dict[str, Any]:
    """Return the residual bandwidth of all test flows together.

    It is N times the share of one, within the floor and the link.
    """
    floor = chosen.flows * chosen.bps("floor")
    total: dict[str, Any] = {
        key: chosen.flows * value if key in RATES else value for key, value in found.shape.items()
    }
    if "points" in total:
        return {
            **total,
            "points": [[at, rate_text(chosen.flows * rate)] for at, rate in total["points"]],
        }
    if total["kind"] in ("walk", DRAWN):
        total = {"min": floor, "max": capacity, **total}
    if total["kind"] in ("walk", "uniform"):
        total = {"every": chosen.step, **total}
    for key in CLIPPED:
        if key in total:
            total[key] = min(max(total[key], floor), capacity)
    if found.is_drawn:
        return {"kind": "points", "points": _drawn(found.name, total, chosen, seed)}
    return {key: rate_text(value) if key in RATES else value for key, value in total.items()}


def _drawn(name: str, shape: dict[str, Any], chosen: Assumptions, seed: int) -> list[list[Any]]:
    """Draw a waveform: each rate uniform on [0, factor * last + add], then clipped."""
    from numpy.random import default_rng

    # One stream per seed and name, as in the native core.
    stream = default_rng([seed, *name.encode()])
    step, rate = chosen.seconds("step"), shape["start"]
    points: list[list[Any]] = [[0, rate_text(rate)]]
    for number in range(1, math.ceil(chosen.seconds("duration") / step)):
        drawn = stream.random() * (shape["factor"] * rate + shape["add"])
        rate = min(max(drawn, shape["min"]), shape["max"])
        points.append([round(number * step, 9), rate_text(rate)])
    return points


def _sources(found: Environment, capacity: float, chosen: Assumptions) -> dict[str, Any]:
    """Rate of each source: a little above its largest share."""
    one_source = capacity / (chosen.flows + 1)
    largest = max(
        (found.shape[key] for key in ("rate", "high", "max") if key in found.shape),
        default=one_source,
    )
    return {
        "source_rate": rate_text(chosen.drr_source * min(largest, one_source)),
        "beside": chosen.flows,
    }


def _second(found: Environment, capacity: float, queue: str, chosen: Assumptions) -> dict[str, Any]:
    if queue not in PRIORITY:
        raise ScenarioError(
            invalid("queue", queue, f"a queue with priorities for {found.name}: {one_of(PRIORITY)}")
        )
    delay, spread = _delays(chosen)
    own = {"access_rate": rate_text(chosen.access_ratio * capacity), "access_delay": spread}
    phases = [{"length": "5s", "gap": getattr(chosen, name)} for name in found.gaps]
    size = {"kind": "pareto", "mean": chosen.transfer_mean, "shape": chosen.transfer_shape}
    built = second_topology(
        rate_text(capacity),
        delay,
        rule={
            "rule": "AIMD(1, 0.5)", "count": chosen.flows, "start": ["0s", "1s"], **own,
            **_understands(queue),
        },
        arrivals={
            "rule": chosen.cross_rule, "size": size, **own,
            **({"phases": phases} if len(phases) > 1 else {"gap": phases[0]["gap"]}),
        },
        placeholder={
            "rule": chosen.cross_rule, "count": chosen.placeholders or chosen.flows,
            "start": ["0s", "1s"], **own,
        },
        queue=PRIORITY[queue](chosen),
        entry_queue={"kind": "drr", "limit": chosen.buffer},
        entry_delay=chosen.entry_delay,
    ).to_dict()  # fmt: skip
    return {key: built[key] for key in ("links", "flows", "arrivals")}


def _delays(chosen: Assumptions) -> tuple[str, list[str]]:
    """One-way delays of the bottleneck and of a flow's access link: together half an RTT."""
    half_spread = chosen.seconds("rtt_spread") / 4
    access = max(ACCESS_DELAY_S, half_spread)
    rest = chosen.seconds("rtt") / 2 - access
    if rest < 0:
        raise ScenarioError(
            invalid(
                "assume.rtt_spread",
                chosen.rtt_spread,
                f"at most twice the RTT, {chosen.rtt}, which is at least 20ms",
            )
        )
    return f"{rest * 1e3:g}ms", [
        f"{(access - half_spread) * 1e3:g}ms",
        f"{(access + half_spread) * 1e3:g}ms",
    ]


def _understands(queue: str) -> dict[str, Any]:
    return {"tcp": {"ecn": True}} if queue == "ecn" else {}
