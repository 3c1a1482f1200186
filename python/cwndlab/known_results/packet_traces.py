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
    """Count data packets sent before the first ACK of data: the initial window.

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


def burst_after(found: Result, flow: str, begin: float, gap: float = 1.0) -> float | None:
    """Packets sent before the first ACK behind the first pause of `gap` seconds that ends later.

    Parameters
    ----------
    found : Result
        A run with ``trace.packets``.
    flow : str
        The flow.
    begin : float
        The first send that counts is after this time and after a pause, seconds.
    gap : float
        Shortest pause, seconds.
    """
    sent = _events(found, flow, "send", 0.0, END, retransmission=None)["time_s"]
    after = sent.filter((sent.diff() > gap) & (sent >= begin))
    if not len(after):
        return None
    acks = _events(found, flow, "ack", float(after[0]), END, retransmission=None)["time_s"]
    end = float(acks[0]) if len(acks) else END
    return events(found, flow, "send", float(after[0]), end)


def sent_per_ack(found: Result, flow: str) -> float | None:
    """Packets sent for each ACK in the round trip from the first retransmission to its ACK.

    While packets are missing, each arriving packet causes an ACK.
    """
    span = _recovery(found, flow)
    if span is None:
        return None
    sent, acks = (events(found, flow, event, *span) for event in ("send", "ack"))
    return sent / acks if acks else None


def window_kept(found: Result, flow: str) -> float | None:
    """Window a tenth of a second after recovery over that before the first retransmission."""
    span = _recovery(found, flow)
    if span is None:
        return None
    packets = found.traces["packets"].filter(flow=flow)
    before = packets.filter((pl.col("event") == "ack") & (pl.col("time_s") <= span[0]))
    after = packets.filter((pl.col("event") == "send") & (pl.col("time_s") > span[1] + 0.1))
    if not before.height or not after.height:
        return None
    return float(after["cwnd_packets"][0] / before["cwnd_packets"][-1])


def _recovery(found: Result, flow: str) -> tuple[float, float] | None:
    """Time of the first retransmission, and of the first ACK of what was sent before it."""
    begin = event_s(found, flow, "send", retransmission=True)
    if begin is None:
        return None
    packets = found.traces["packets"].filter(flow=flow)
    missing = packets.filter((pl.col("event") == "send") & pl.col("retransmission"))["seq"][0]
    ended = packets.filter(
        (pl.col("event") == "ack") & (pl.col("seq") >= missing) & (pl.col("time_s") > begin)
    )["time_s"]
    return (begin, float(ended[0])) if len(ended) else None


def retransmissions_last(found: Result, flow: str) -> float | None:
    """Time from the first to the last retransmission, seconds."""
    times = _events(found, flow, "send", 0.0, END, retransmission=True)["time_s"]
    return float(times[-1] - times[0]) if len(times) else None


def probe_delay(found: Result, flow: str) -> float | None:
    """Time from the last ACK before the first retransmission to that retransmission, seconds."""
    sent = event_s(found, flow, "send", retransmission=True)
    return None if sent is None else _since_last_ack(found, flow, sent)


def first_timeout_delay(found: Result, flow: str) -> float | None:
    """Time from the last ACK before the first timeout to that timeout, seconds."""
    expired = event_s(found, flow, "timeout")
    return None if expired is None else _since_last_ack(found, flow, expired)


def _since_last_ack(found: Result, flow: str, until: float) -> float | None:
    acks = _events(found, flow, "ack", 0.0, until, retransmission=None)["time_s"]
    return until - float(acks[-1]) if len(acks) else None


def backoff_factor(found: Result, flow: str) -> float | None:
    """Time between the second and third timeout over that between the first and second."""
    times = [event_s(found, flow, "timeout", number) for number in (1, 2, 3)]
    first, second, third = times
    if first is None or second is None or third is None:
        return None
    return (third - second) / (second - first)


def finish_after_retransmission(found: Result, flow: str) -> float | None:
    """Time from the last retransmission to the ACK of the last packet, seconds."""
    finish = found.flows.filter(flow=flow)["finish_s"][0]
    times = _events(found, flow, "send", 0.0, END, retransmission=True)["time_s"]
    return finish - float(times[-1]) if len(times) and finish is not None else None


def _events(
    found: Result, flow: str, event: str, begin: float, end: float, retransmission: bool | None
) -> pl.DataFrame:
    listed = found.traces["packets"].filter(
        pl.col("flow") == flow,
        pl.col("event") == event,
        pl.col("time_s").is_between(begin, end, closed="left"),
    )
    return listed if retransmission is None else listed.filter(retransmission=retransmission)


MEASURES = (
    events,
    event_s,
    first_burst,
    burst_after,
    sent_per_ack,
    window_kept,
    retransmissions_last,
    probe_delay,
    first_timeout_delay,
    backoff_factor,
    finish_after_retransmission,
)
