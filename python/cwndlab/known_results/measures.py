"""Measures of facts: a number of one run, and one number of those of several cells.

A measure is a function of a result and of the arguments in a fact's table; every other name is a
number of the result, as in a sweep (``links.bottleneck.utilization``). None where there are no data
to compute from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.known_results import packet_traces, pair_traces, window_traces
from cwndlab.message import unknown
from cwndlab.results import Result
from cwndlab.sweeps import measures as columns

Measure = Callable[..., float | None]


def ratio(found: Result, above: str, below: str) -> float | None:
    """One number of a result over another.

    Parameters
    ----------
    found : Result
        The run.
    above, below : str
        Numbers of the result, such as ``flows.near.goodput_bps``.
    """
    upper, lower = column(found, above), column(found, below)
    return None if upper is None or not lower else upper / lower


def share(found: Result, group: str) -> float | None:
    """Goodput of a group of flows over that of all flows."""
    total = math.fsum(found.flows["goodput_bps"])
    own = math.fsum(found.flows.filter(group=group)["goodput_bps"])
    return own / total if total else None


def path_share(found: Result, group: str) -> float | None:
    """Part of the data of connections that arrived first on the subflows of a group."""
    own = found.flows.filter(group=group)["flow"]
    here = found.subflows.filter(found.subflows["flow"].is_in(own.implode()))
    total = math.fsum(found.subflows["first_packets"])
    return math.fsum(here["first_packets"]) / total if total else None


def path_window(found: Result, group: str = "") -> float | None:
    """Packets delivered in a base round trip, mean of the flows: by Little's law their window.

    The formulas of response functions give this number where nothing waits in a queue.
    """
    flows = found.flows.filter(group=group) if group else found.flows
    seconds = found.measure_to_s - found.measure_from_s
    windows = flows["delivered_packets"] * flows["base_rtt_s"] / seconds
    return windows.mean() if flows.height else None  # type: ignore[return-value]


def excess_rtt(found: Result, group: str) -> float | None:
    """Mean round trip of a group's flows less that of propagation: what they wait, seconds."""
    flows = found.flows.filter(group=group)
    return (flows["mean_rtt_s"] - flows["base_rtt_s"]).mean()  # type: ignore[return-value]


def sending_rate(found: Result) -> float | None:
    """Packets sent per second, retransmissions included, mean of the flows (as PFTK counts)."""
    seconds = found.measure_to_s - found.measure_from_s
    return (found.flows["sent_packets"] / seconds).mean()  # type: ignore[return-value]


def path_loss_rate(found: Result) -> float | None:
    """Divide dropped by sent packets of all flows."""
    sent = math.fsum(found.flows["sent_packets"])
    return math.fsum(found.flows["dropped_packets"]) / sent if sent else None


def needless_retransmissions(found: Result) -> float:
    """Retransmitted less dropped packets of all flows: what was sent again although it arrived."""
    return math.fsum(found.flows["retransmitted_packets"]) - math.fsum(
        found.flows["dropped_packets"]
    )


def completion(found: Result, number: int = 1, column: str = "fct_s") -> float | None:
    """Completion time of the transfer with this number, in order of start, seconds."""
    transfers = found.traces["transfers"]
    return transfers[column][number - 1] if transfers.height >= number else None


def longest_completion(found: Result, after: int = 0) -> float | None:
    """Longest completion time of the transfers behind the first `after`, seconds."""
    found_s = found.traces["transfers"]["fct_s"][after:]
    return found_s.max() if len(found_s) else None  # type: ignore[return-value]


MEASURES: dict[str, Measure] = {
    function.__name__: function
    for function in (
        ratio,
        share,
        path_share,
        path_window,
        excess_rtt,
        sending_rate,
        path_loss_rate,
        needless_retransmissions,
        completion,
        longest_completion,
        *window_traces.MEASURES,
        *packet_traces.MEASURES,
        *pair_traces.MEASURES,
    )
}
"""Name to function."""


def is_signed(table: Mapping[str, Any]) -> bool:
    """Whether a measure can be negative; all others count, or are sizes."""
    return table.get("over") in ("difference", "exponent") or table["of"] in ("window_change",)


def measure(found: Result, table: Mapping[str, Any]) -> float | None:
    """Measure a run as a fact's table says, in the fact's unit."""
    own = {key: value for key, value in table.items() if key not in ("of", "over", "scale")}
    name: str = table["of"]
    if own and name not in MEASURES:
        raise ScenarioError(unknown("measure", name, MEASURES))
    value = MEASURES[name](found, **own) if name in MEASURES else column(found, name)
    return None if value is None else value * table.get("scale", 1)


def column(found: Result, name: str) -> float | None:
    """Return a number of a result by its name, as in a sweep.

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> found = run(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s"))
    >>> column(found, "flows.*.timeouts")
    0.0
    """
    entry = columns.find(name)
    value = columns.measure(found.to_dict(), [entry], "bottleneck", None)[entry.key]
    return None if value is None else float(value)


def over(how: str, xs: Sequence[float | None], ys: Sequence[float | None]) -> float | None:
    """Make one number of those of several cells.

    Parameters
    ----------
    how : str
        ``ratio`` of the first to the second, ``difference`` of the first and the second,
        ``exponent`` of a power law through all (least squares in logarithms), ``largest`` or
        ``smallest``; nothing for a single cell.
    xs : sequence of float or None
        What the exponent is over.
    ys : sequence of float or None
        A number for each cell.

    Examples
    --------
    >>> over("exponent", [1.0, 10.0, 100.0], [4.0, 0.4, 0.04]), over("ratio", [], [3.0, 2.0])
    (-1.0, 1.5)
    """
    numbers = [value for value in ys if value is not None]
    if len(numbers) < len(ys):
        return None
    match how:
        case "":
            (only,) = numbers
            return only
        case "ratio":
            first, second = numbers
            return first / second if second else None
        case "difference":
            first, second = numbers
            return first - second
        case "largest":
            return max(numbers)
        case "smallest":
            return min(numbers)
        case "exponent":
            return _exponent([float(x or 0.0) for x in xs], numbers)
        case other:
            known = ("ratio", "difference", "largest", "smallest", "exponent")
            raise ScenarioError(unknown("over", other, known))


def _exponent(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    if min(xs) <= 0 or min(ys) <= 0:
        return None
    from statistics import linear_regression

    slope = linear_regression([math.log(x) for x in xs], [math.log(y) for y in ys]).slope
    return round(slope, 12)
