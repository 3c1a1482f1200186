"""Measures of the traces ``cwnd``, ``rule`` and ``queue``: windows, phases, queues over time."""

from __future__ import annotations

import polars as pl

from cwndlab.results import Result

UNSET = 1e8
"""A slow-start threshold above this stands for none (1e9 in the trace)."""
END = 1e9
"""Later than every run."""


def slow_start_exit(found: Result, flow: str) -> float | None:
    """Window with which slow start ended: the largest before the threshold is first set, packets.

    Needs ``trace.cwnd = "all"``.
    """
    trace = found.traces["cwnd"].filter(flow=flow)
    ended = trace.filter(pl.col("ssthresh_packets") < UNSET)
    if not ended.height:
        return None
    first_s = ended["time_s"][0]
    before = trace.filter(pl.col("time_s") <= first_s)
    return _number(before["cwnd_packets"].max())


def slow_start_exit_s(found: Result, flow: str) -> float | None:
    """Time at which the threshold was first set, seconds from the start of the run."""
    trace = found.traces["cwnd"].filter(pl.col("flow") == flow, pl.col("ssthresh_packets") < UNSET)
    return _number(trace["time_s"][0]) if trace.height else None


def window_at(found: Result, flow: str, at: float) -> float | None:
    """Window at a time: of the last row of the trace up to then, packets."""
    trace = found.traces["cwnd"].filter(pl.col("flow") == flow, pl.col("time_s") <= at)
    return _number(trace["cwnd_packets"][-1]) if trace.height else None


def window_change(found: Result, flow: str, begin: float, end: float) -> float | None:
    """Window at `end` less that at `begin`, packets."""
    first, last = window_at(found, flow, begin), window_at(found, flow, end)
    return None if first is None or last is None else last - first


def window_rise(found: Result, flow: str, begin: float, end: float) -> float | None:
    """Largest window between two times less that at `begin`, packets."""
    first, most = window_at(found, flow, begin), largest_window(found, flow, begin, end)
    return None if first is None or most is None else max(most - first, 0.0)


def growth_factor(
    found: Result, flow: str, begin: float, end: float, rounds: float
) -> float | None:
    """Factor by which the window grows in each of some round trips between two times."""
    first, last = window_at(found, flow, begin), window_at(found, flow, end)
    return None if not first or last is None else (last / first) ** (1 / rounds)


def threshold_at(found: Result, flow: str, at: float) -> float | None:
    """Slow-start threshold at a time: of the last row of the trace up to then, packets."""
    trace = found.traces["cwnd"].filter(pl.col("flow") == flow, pl.col("time_s") <= at)
    return _number(trace["ssthresh_packets"][-1]) if trace.height else None


def largest_window(found: Result, flow: str, begin: float = 0.0, end: float = END) -> float | None:
    """Largest window of the rows between two times, packets."""
    trace = found.traces["cwnd"].filter(
        pl.col("flow") == flow, pl.col("time_s").is_between(begin, end)
    )
    return _number(trace["cwnd_packets"].max()) if trace.height else None


def phase_entries(found: Result, flow: str, phase: str, begin: float = 0.0) -> float:
    """How often a flow entered a phase from `begin` on. Needs ``trace.rule``."""
    trace = found.traces["rule"].filter(pl.col("flow") == flow)
    entered = trace.filter(
        (pl.col("phase") == phase)
        & (pl.col("phase").shift(1) != phase)
        & (pl.col("time_s") >= begin)
    )
    return float(entered.height)


def time_share(found: Result, flow: str, phase: str, begin: float = 0.0) -> float | None:
    """Share of the time from `begin` to the end of the run that a flow spent in a phase."""
    end = found.simulated_s
    trace = found.traces["rule"].filter(pl.col("flow") == flow)
    spans = trace.select(
        "phase",
        begin=pl.col("time_s").clip(begin, end),
        end=pl.col("time_s").shift(-1, fill_value=end).clip(begin, end),
    )
    spent = spans.filter(phase=phase).select((pl.col("end") - pl.col("begin")).sum()).item()
    return spent / (end - begin) if end > begin else None


def phase_end_s(found: Result, flow: str, phase: str) -> float | None:
    """Time at which a flow left a phase for the first time, seconds."""
    trace = found.traces["rule"].filter(flow=flow)
    began = trace.filter(phase=phase)["time_s"]
    if not len(began):
        return None
    after = trace.filter((pl.col("time_s") > began[0]) & (pl.col("phase") != phase))["time_s"]
    return _number(after[0]) if len(after) else None


def rule_state(found: Result, flow: str, column: str, at: float = END) -> float | None:
    """State of a rule at a time: of the last row up to then that has it."""
    trace = found.traces["rule"].filter(pl.col("flow") == flow, pl.col("time_s") <= at)
    known = trace[column].drop_nulls()
    return _number(known[-1]) if len(known) else None


def mean_rule_state(found: Result, column: str, begin: float = 0.0) -> float | None:
    """Mean of a rule's state over the rows from `begin` on, of all flows."""
    trace = found.traces["rule"].filter(pl.col("time_s") >= begin)
    return _number(trace[column].mean())


def queue_peak(found: Result, link: str, begin: float = 0.0, end: float = END) -> float | None:
    """Longest queue of the rows between two times, the packet in service included, packets."""
    queue = _queue(found, link, begin, end)
    return _number(queue["queue_packets"].max()) if queue.height else None


def queue_least(found: Result, link: str, begin: float = 0.0, end: float = END) -> float | None:
    """Shortest queue of the rows between two times, packets."""
    queue = _queue(found, link, begin, end)
    return _number(queue["queue_packets"].min()) if queue.height else None


def queue_amplitude(found: Result, link: str, begin: float = 0.0, end: float = END) -> float | None:
    """Longest less shortest queue between two times, packets."""
    peak, least = queue_peak(found, link, begin, end), queue_least(found, link, begin, end)
    return None if peak is None or least is None else peak - least


def average_queue(found: Result, link: str, begin: float = 0.0, end: float = END) -> float | None:
    """Mean over time of RED's average queue, packets."""
    queue = _queue(found, link, begin, end)
    return _number(queue["average_queue_packets"].mean()) if queue.height else None


def _queue(found: Result, link: str, begin: float, end: float) -> pl.DataFrame:
    return found.traces["queue"].filter(
        pl.col("link") == link, pl.col("time_s").is_between(begin, end)
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


MEASURES = (
    slow_start_exit,
    slow_start_exit_s,
    window_at,
    window_change,
    window_rise,
    growth_factor,
    threshold_at,
    largest_window,
    phase_entries,
    time_share,
    phase_end_s,
    rule_state,
    mean_rule_state,
    queue_peak,
    queue_least,
    queue_amplitude,
    average_queue,
)
