"""Where two runs of one flow first differ, said so that a person can act on it."""

from __future__ import annotations

import math

from .ns2 import Flow, Send

TIME_S = 1e-6
# ns-2 prints its traced variables, of which the window is one, with six significant digits
# (TracedDouble::value).
DIGITS = 6
CONTEXT = 5


def differing(ours: Send, theirs: Send) -> list[str]:
    """Names of the fields in which two sends disagree."""
    fields = []
    if abs(ours.time_s - theirs.time_s) > TIME_S:
        fields.append("time")
    if ours.seq != theirs.seq:
        fields.append("seq")
    if ours.size_bytes != theirs.size_bytes:
        fields.append("size")
    if not same(ours.cwnd, theirs.cwnd):
        fields.append("cwnd")
    if not same(ours.ssthresh, theirs.ssthresh):
        fields.append("ssthresh")
    return fields


def same(ours: float, printed: float) -> bool:
    """Whether a number could be printed as that.

    Half a unit of the last digit, and a little for halfway cases. Outputs are kept in millionths
    (`ns2.py`), which rounds windows near zero once more.
    """
    digit = math.floor(math.log10(abs(printed))) - DIGITS + 1 if printed else -DIGITS
    unit = 10.0**digit
    kept = 1e-6 if unit < 1e-6 else 0.0
    return abs(ours - printed) <= 0.5001 * (unit + kept)


def before_end(sends: list[Send], duration_s: float) -> list[Send]:
    """Sends at the very end of the run are one side's last event and the other's first one too
    many: leave them out."""
    return [send for send in sends if send.time_s < duration_s - 2 * TIME_S]


def first_difference(ours: list[Send], theirs: list[Send]) -> tuple[int, list[str]] | None:
    for index, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        fields = differing(a, b)
        if fields:
            return index, fields
    if len(ours) != len(theirs):
        return min(len(ours), len(theirs)), ["number of sends"]
    return None


def describe(ours: Flow, theirs: Flow, duration_s: float) -> str | None:
    """None where the flows agree; else both runs around the first difference, as a table."""
    a, b = before_end(ours.sends, duration_s), before_end(theirs.sends, duration_s)
    found = first_difference(a, b)
    if found is None:
        return None
    index, fields = found
    lines = [
        f"send {index} differs in {', '.join(fields)} ({len(a)} sends of cwndlab, {len(b)} of ns-2;"
        f" timer phase {theirs.timer_phase_s:.9f} s)",
        f"{'':2}{'#':>6} {'cwndlab: time':>16} {'seq':>6} {'size':>5} {'cwnd':>11} {'ssthresh':>8}"
        f" | {'ns-2: time':>16} {'seq':>6} {'size':>5} {'cwnd':>11} {'ssthresh':>8}",
    ]
    for row in range(max(0, index - CONTEXT), index + CONTEXT + 1):
        mark = ">" if row == index else " "
        lines.append(f"{mark:2}{row:>6} {cells(a, row)} | {cells(b, row)}")
    return "\n".join(lines)


def cells(sends: list[Send], row: int) -> str:
    if row >= len(sends):
        return f"{'-':>16} {'-':>6} {'-':>5} {'-':>11} {'-':>8}"
    send = sends[row]
    return (
        f"{send.time_s:>16.9f} {send.seq:>6} {send.size_bytes:>5} {send.cwnd:>11.8g} "
        f"{send.ssthresh:>8.8g}"
    )
