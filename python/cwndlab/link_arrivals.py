"""Counts packets that arrive at a dumbbell's bottleneck in bins, from the packet trace.

The trace has the times at which packets leave their senders. Between a sender and the bottleneck is
the flow's access link: FIFO, without loss, with the scenario's rate and delay, which determine the
arrival time. The counts take a thousandth of the trace's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.quantities import Quantity, bits_per_second, seconds

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.results import Result

TRACE = "link_arrivals"
COLUMNS = ("time_s", "event", "flow", "size_bytes")
"""Columns of the packet trace that the count needs."""
LINK = "bottleneck"
_OWN = ("access_rate", "access_delay", "sink_rate", "sink_delay", "reverse", "path", "from")


def check(scenario: Mapping[str, Any]) -> None:
    """Check that arrivals can be counted in a scenario.

    Raises
    ------
    ScenarioError
        If the scenario is not a dumbbell with listed flows alone and equal access links, or does
        not trace packets.
    """
    wrong = next((key for key in ("links", "cross", "arrivals") if scenario.get(key)), None)
    own = next((key for flow in scenario.get("flows", ()) for key in _OWN if flow.get(key)), None)
    if wrong or own or "dumbbell" not in scenario:
        what = f"flows.{own}" if own else wrong or "network"
        raise ScenarioError(
            "`count_arrivals` needs a dumbbell with listed flows alone, and the scenario has "
            f"`{what}`"
        )
    traced: Mapping[str, Any] = scenario.get("trace") or {}
    if not traced.get("packets"):
        raise ScenarioError("`count_arrivals` needs traced packets, `trace.packets = true`")


def count(result: Result, length: Quantity) -> pl.DataFrame:
    """Count arrivals at the bottleneck.

    Parameters
    ----------
    result : Result
        With the trace ``packets``.
    length : str or float
        Length of a bin, such as ``"100ms"``.

    Returns
    -------
    DataFrame
        One row per whole bin of the run: ``time_s``, its start; ``link``; ``arrived_packets``,
        accepted or dropped.

    Raises
    ------
    ScenarioError
        If the scenario does not qualify (`check`), or the length is not valid.

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> scenario = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="10s",
    ...                     trace={"packets": True})
    >>> result = run(scenario)
    >>> counted = count(result, "500ms")
    >>> counted.height, counted["arrived_packets"].sum() == result.links["total_arrived_packets"][0]
    (20, True)
    """
    import polars as pl

    check(result.scenario)
    bin_s = seconds(length)
    if not bin_s or not 0 < bin_s <= result.duration_s:
        raise ScenarioError(
            invalid("count_arrivals", length, "the length of a bin above 0, such as 100ms")
        )
    times = _times(result)
    whole = int(result.duration_s / bin_s * (1 + 1e-12))
    edges = np.arange(whole + 1) * bin_s
    found, _ = np.histogram(times, edges)
    return pl.DataFrame(
        {"time_s": edges[:-1], "link": [LINK] * whole, "arrived_packets": found},
        schema={"time_s": pl.Float64, "link": pl.Categorical, "arrived_packets": pl.Int32},
    )


def _times(result: Result) -> np.ndarray:
    """Arrival times at the bottleneck, seconds, flow by flow."""
    import polars as pl

    place = result.scenario["dumbbell"]
    rate_bps = bits_per_second(place.get("access_rate", "unlimited")) or np.inf
    behind_s = (seconds(place["delay"]) or 0.0) + (seconds(place.get("sink_delay", 0)) or 0.0)
    if isinstance(place.get("sink_delay"), list):
        raise ScenarioError("`count_arrivals` needs a single value of `sink_delay`, not a range")
    delays_s = dict(
        zip(result.flows["flow"], result.flows["base_rtt_s"] / 2 - behind_s, strict=True)
    )
    sent = result.traces["packets"].filter(pl.col("event") == "send")
    found: list[np.ndarray] = []
    for (flow,), rows in sent.partition_by("flow", as_dict=True).items():
        service_s = rows["size_bytes"].to_numpy() * 8 / rate_bps
        passed_s = np.cumsum(service_s)
        # A packet's transmission ends when all packets since the last idle moment have been sent.
        ends_s = (
            np.maximum.accumulate(rows["time_s"].to_numpy() - (passed_s - service_s)) + passed_s
        )
        found.append(ends_s + delays_s[flow])
    return np.concatenate(found) if found else np.empty(0)
