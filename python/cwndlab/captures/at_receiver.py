"""A capture at the receiver, as its sender would have seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from cwndlab.captures.exchange import Facts
from cwndlab.captures.handshake import Handshake
from cwndlab.captures.segments import Segment
from cwndlab.errors import ScenarioError

CLOCKS_HZ = (10, 100, 128, 250, 300, 500, 1000, 10_000, 100_000, 1_000_000)
"""Clocks of timestamps (RFC 7323 section 5.4)."""


def as_sent(
    path: Path,
    segments: Sequence[Segment],
    sender: tuple[str, int],
    handshake: Handshake,
    facts: Facts,
) -> list[tuple[float, Segment]]:
    """Return a receiver's segments with the times at which the sender had them.

    Data left when their timestamps say (RFC 7323), by a clock whose step and offset the arrivals
    tell: the least delay is half of the first round trip. ACKs arrive that much later. A packet
    that is lost on the way leaves when the next one does.
    """
    data = [s for s in segments if s.source == sender and s.payload]
    if not facts.has_timestamps or facts.handshake_s is None:
        raise ScenarioError(
            f"{path}: a capture at the receiver does not say when packets left, unless by TCP "
            "timestamps: expected a capture at the sender"
        )
    values = np.array([_value(s) for s in data], dtype=np.int64)
    values = values[0] + np.cumsum(np.diff(values, prepend=values[0]).astype(np.int32))
    arrived_s = np.array([s.time_s for s in data])
    ticks = (values[-1] - values[0]) / max(arrived_s[-1] - arrived_s[0], 1e-9)
    clock_hz = min(CLOCKS_HZ, key=lambda hz: abs(np.log(max(ticks, 1e-9) / hz)))
    half_s = facts.handshake_s / 2
    stamped_s = values / clock_hz
    left_s = stamped_s + float(np.min(arrived_s - stamped_s)) - half_s
    # A stamp is that of the last tick: the packet left behind the ACK that it echoes, too.
    echoed_s: dict[int, float] = {}
    for one in segments:
        if one.source != sender and one.timestamps:
            echoed_s.setdefault(one.timestamps[0], one.time_s + half_s)
    heard_s = [echoed_s.get(s.timestamps[1], -np.inf) if s.timestamps else -np.inf for s in data]
    left_s = np.maximum.accumulate(np.maximum(left_s, heard_s))
    left_s = np.minimum(left_s, arrived_s - half_s)
    times = iter(left_s)
    events = [
        (float(next(times)) if s.source == sender and s.payload else
         s.time_s - half_s if s.source == sender else s.time_s + half_s, s)
        for s in segments if s.time_s >= handshake.opening.time_s
    ]  # fmt: skip
    return _with_lost(sorted(events, key=lambda event: event[0]), sender)


def _value(segment: Segment) -> int:
    return segment.timestamps[0] if segment.timestamps else 0


def _with_lost(
    events: Sequence[tuple[float, Segment]], sender: tuple[str, int]
) -> list[tuple[float, Segment]]:
    """Add the packets that never arrived: those missing in front of the next one."""
    found: list[tuple[float, Segment]] = []
    data = [event for event in events if event[1].source == sender and event[1].payload]
    following = {id(before[1]): after for before, after in pairwise(data)}
    highest = data[0][1].sequence
    for event in events:
        found.append(event)
        segment = event[1]
        if id(segment) not in following:
            continue
        end = (segment.sequence + segment.payload) % 2**32
        highest = end if (end - highest) % 2**32 < 2**31 else highest
        time_s, after = following[id(segment)]
        missing = (after.sequence - highest) % 2**32
        if 0 < missing < 2**31:
            size = after.size - after.payload + missing
            lost = replace(after, sequence=highest, payload=missing, size=size)
            found.append((time_s, lost))
    return found
