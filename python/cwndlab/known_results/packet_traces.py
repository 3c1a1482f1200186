"""Measures of the trace ``packets``: what was sent, acknowledged and dropped, and when."""

from __future__ import annotations

import polars as pl

from cwndlab.results import Result

END = 1e9
"""Later than every run."""


def events(
    found: Result,
    flow: str,
    event: str,
    begin: float = 0.0,
    end: float = END,
    retransmission: bool | None = None,
) -> float:
    """How many events of a kind a flow had between two times.

    Parameters
    ----------
    found : Result
        A run with ``trace.packets``.
    flow, event : str
        Flow, and ``send``, ``receive``, ``ack``, ``drop`` or ``timeout``.
    begin, end : float
        Seconds; `end` is not included.
    retransmission : bool, optional
        Only packets that were, or were not, sent before.
    """
    return float(_events(found, flow, event, begin, end, retransmission).height)


def event_s(
    found: Result,
    flow: str,
    event: str,
    number: int = 1,
    begin: float = 0.0,
    retransmission: bool | None = None,
) -> float | None:
    """Time of the event with this number, from 1 on, seconds."""
    listed = _events(found, flow, event, begin, END, retransmission)
    return float(listed["time_s"][number - 1]) if listed.height >= number else None


def first_burst(found: Result, flow: str) -> float | None:
    """Data packets sent before the first ACK of data: the initial window.

    The SYN is packet 0.
    """
    packets = found.traces["packets"].filter(flow=flow)
    acked = packets.filter((pl.col("event") == "ack") & (pl.col("seq") > 0))["time_s"]
    if not len(acked):
        return None
    sent = packets.filter(
        (pl.col("event") == "send") & (pl.col("seq") > 0) & (pl.col("time_s") < acked[0])
    )
    return float(sent.height)


def _events(
    found: Result, flow: str, event: str, begin: float, end: float, retransmission: bool | None
) -> pl.DataFrame:
    listed = found.traces["packets"].filter(
        pl.col("flow") == flow,
        pl.col("event") == event,
        pl.col("time_s").is_between(begin, end, closed="left"),
    )
    return listed if retransmission is None else listed.filter(retransmission=retransmission)


MEASURES = (events, event_s, first_burst)
