"""Measures of two flows beside each other: what common signals do to their windows."""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from cwndlab.results import Result

LEAST_CUT = 1.5
"""Growth and rounding change a window by less at an event, packets."""


class Cuts(NamedTuple):
    """Windows of a flow at its reductions, in order of time."""

    times: list[float]
    before: list[float]
    after: list[float]


def gap_factor(found: Result, first: str, second: str, cuts: int) -> float | None:
    """Factor by which a common signal changes the difference of two windows.

    Parameters
    ----------
    found : Result
        A run with ``trace.cwnd = "all"``, in which every signal reaches both flows.
    first, second : str
        The flows.
    cuts : int
        Signals that count, from the first on; the mean of their factors is geometric.
    """
    windows = _after_cuts(found, first, second, cuts)
    if windows is None:
        return None
    gaps = [abs(one - other) for one, other in windows]
    return (gaps[-1] / gaps[0]) ** (1 / cuts) if gaps[0] and gaps[-1] else None


def ratio_factor(found: Result, first: str, second: str, cuts: int) -> float | None:
    """Factor by which a common signal changes the ratio of the first window to the second."""
    windows = _after_cuts(found, first, second, cuts)
    if windows is None:
        return None
    ratios = [one / other for one, other in windows]
    return (ratios[-1] / ratios[0]) ** (1 / cuts)


def peak_ratio(found: Result, first: str, second: str, begin: float) -> float | None:
    """Mean window of the first flow before its reductions over that of the second one."""
    peaks: list[float] = []
    for flow in (first, second):
        found_cuts = _cuts(found, flow)
        tops = [top for at, top in zip(found_cuts.times, found_cuts.before, strict=True)
                if at >= begin]  # fmt: skip
        if not tops:
            return None
        peaks.append(math.fsum(tops) / len(tops))
    return peaks[0] / peaks[1]


def cut_period(found: Result, flow: str, begin: float) -> float | None:
    """Mean time between two reductions of a flow from `begin` on, seconds."""
    times = [at for at in _cuts(found, flow).times if at >= begin]
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None


def rtt_exponent(found: Result, near: str, far: str) -> float | None:
    """Exponent e of goodput ~ RTT^-e between two groups, by their mean round trips with queues."""
    means: list[tuple[float, float]] = []
    for group in (near, far):
        flows = found.flows.filter(group=group)
        goodput, rtt = flows["goodput_bps"].sum(), flows["mean_rtt_s"].mean()
        if not goodput or not isinstance(rtt, float):
            return None
        means.append((math.log(goodput), math.log(rtt)))
    (near_goodput, near_rtt), (far_goodput, far_rtt) = means
    return (near_goodput - far_goodput) / (far_rtt - near_rtt)


def _after_cuts(
    found: Result, first: str, second: str, count: int
) -> list[tuple[float, float]] | None:
    """Windows of both flows after the first signal and after each of `count` more."""
    one, other = _cuts(found, first).after, _cuts(found, second).after
    if min(len(one), len(other)) <= count:
        return None
    return list(zip(one[: count + 1], other[: count + 1], strict=True))


def _cuts(found: Result, flow: str) -> Cuts:
    trace = found.traces["cwnd"].filter(flow=flow)
    cuts = trace.with_columns(before=pl.col("cwnd_packets").shift(1)).filter(
        pl.col("before") - pl.col("cwnd_packets") > LEAST_CUT
    )
    return Cuts(cuts["time_s"].to_list(), cuts["before"].to_list(), cuts["cwnd_packets"].to_list())


MEASURES = (gap_factor, ratio_factor, peak_ratio, cut_period, rtt_exponent)
