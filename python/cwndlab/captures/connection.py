"""TCP connections of a capture: which there are, who sends, where they were captured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from cwndlab.captures.exchange import Exchange, Facts, Ledger
from cwndlab.captures.segments import STEP, Capture, Segment
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, plural

Place = Literal["sender", "receiver"]
LEAST_PACKETS = 20
"""Data packets below which nothing can be estimated."""
TWICE_S = 1e-3
"""Copies of a packet, seen at two interfaces, follow each other within this time."""
MOST_TWICE = 0.05
"""Share of copies above which a capture is refused."""
MOST_SHORT = 0.1
"""Share of packets that are not full above which an application may have limited the flow."""
CLOCKS_HZ = (10, 100, 128, 250, 300, 500, 1000, 10_000, 100_000, 1_000_000)
"""Clocks of timestamps (RFC 7323 section 5.4)."""


@dataclass
class Connection:
    """The segments between two sockets, in order of time.

    Parameters
    ----------
    segments : sequence of Segment
        Both directions.
    """

    segments: list[Segment]

    @cached_property
    def sender(self) -> tuple[str, int]:
        """The socket that sends more data."""
        sent: Counter[tuple[str, int]] = Counter()
        for segment in self.segments:
            sent[segment.source] += segment.payload
        return max(sent, key=lambda socket: sent[socket])

    @cached_property
    def payload(self) -> int:
        """Bytes of data in the larger direction."""
        sender = self.sender
        return sum(segment.payload for segment in self.segments if segment.source == sender)

    @cached_property
    def name(self) -> str:
        """Sockets of the sender and of the receiver."""
        first = next(s for s in self.segments if self.sender in (s.source, s.sink))
        receiver = first.sink if first.source == self.sender else first.source
        return f"{_socket(self.sender)} > {_socket(receiver)}"

    def exchange(
        self,
        path: Path,
        at: Place | None,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Exchange:
        """Return what the sender saw.

        Raises
        ------
        ScenarioError
            If the handshake is missing, the packets are too few or there twice, or the place
            cannot be told.
        """
        data = [s for s in self.segments if s.payload and s.source == self.sender]
        if len(data) < LEAST_PACKETS:
            raise ScenarioError(
                f"{path}: the flow {self.name} has {plural(len(data), 'data packet')}: "
                f"expected {LEAST_PACKETS} or more"
            )
        handshake = self._handshake(path)
        self._check_copies(path, data)
        place = at or _place(handshake, self.sender)
        if place is None:
            raise ScenarioError(
                f"{path}: the handshake does not tell where it was captured: expected "
                "`--at sender` or `--at receiver`"
            )
        exchange = Exchange(self._facts(handshake, data, place))
        if place == "receiver":
            exchange.notes.append("at the receiver, retransmissions that are lost are not seen")
        if place == "sender":
            events = [(s.time_s, s) for s in self.segments]
        else:
            events = _as_sent(path, self.segments, self.sender, handshake, exchange)
        facts = exchange.facts
        # A simulated flow sends when its handshake is done, whatever an application waits for.
        first_s = next(time_s for time_s, s in events if s.payload and s.source == self.sender)
        facts.begun_s = first_s - facts.opened_s
        facts.duration_s = events[-1][0] - facts.begun_s
        _follow(exchange, events, handshake, self.sender, path, progress)
        short = sum(s.payload < facts.packet_bytes for s in data)
        if short > MOST_SHORT * len(data):
            exchange.notes.append(
                f"{short} of {len(data)} data packets are short: the application may have limited "
                "the flow, and a simulated one always has data"
            )
        return exchange

    def _handshake(self, path: Path) -> tuple[Segment, Segment, Segment]:
        """Return the last SYN before its answer, the answer, and the segment after it."""
        opening, answer = None, None
        for segment in self.segments:
            if segment.syn and not segment.ack and answer is None:
                opening = segment
            elif segment.syn and opening is not None and answer is None:
                answer = segment
            elif opening is not None and answer is not None and segment.source == opening.source:
                return opening, answer, segment
        raise ScenarioError(
            f"{path}: the handshake of {self.name} is not in the capture: expected one that "
            "begins before its SYN, which tells the first RTT and where the packets were seen"
        )

    def _check_copies(self, path: Path, data: Sequence[Segment]) -> None:
        """Refuse a capture of two interfaces, which looks like retransmissions."""
        seen: dict[object, float] = {}
        copies = 0
        for one in data:
            key = (one.sequence, one.payload, one.identification, one.options, one.acknowledged)
            copies += one.time_s - seen.get(key, -np.inf) < TWICE_S
            seen[key] = one.time_s
        if copies > MOST_TWICE * len(data):
            raise ScenarioError(
                f"{path}: {copies} of {len(data)} data packets are there twice: expected a capture "
                f"at one interface (`editcap -d {path} ONCE.pcapng` removes copies)"
            )

    def _facts(
        self, handshake: tuple[Segment, Segment, Segment], data: Sequence[Segment], place: Place
    ) -> Facts:
        opening, answer, third = handshake
        # Offloads pass several packets at once to the capture: the SYNs say the size of one.
        offered = [size for size in map(_segment_size, (opening, answer)) if size]
        sizes = Counter(one.payload for one in data)
        packet = sizes.most_common(1)[0][0]
        header = Counter(one.size - one.payload for one in data).most_common(1)[0][0]
        options = header - 40 if data[0].size - data[0].payload < 60 else header - 60
        most = min(offered) - max(0, options) if offered else packet
        acks = [s for s in self.segments if s.source != self.sender and s.ack and not s.syn]
        repeated = sum(s.syn and not s.ack for s in self.segments) > 1
        if place == "sender":
            first, second = (opening, answer) if opening.source == self.sender else (answer, third)
        else:
            first, second = (answer, third) if opening.source == self.sender else (opening, answer)
        ends = [s for s in data if s.fin] or [
            s for s in self.segments if s.fin and s.source == self.sender
        ]
        isn = opening.sequence if opening.source == self.sender else answer.sequence
        total = (ends[-1].sequence + ends[-1].payload - isn - 1) % 2**32 if ends else None
        return Facts(
            self.name, "TCP", place, min(packet, most), header,
            min((s.size for s in acks if not s.payload), default=40),
            None if repeated else second.time_s - first.time_s,
            first.size + second.size, has_timestamps=data[0].timestamps is not None,
            has_sack=_has_sack(acks), total_bytes=total, opened_s=second.time_s - first.time_s,
            window_packets=_largest_window(handshake, acks) / min(packet, most),
        )  # fmt: skip


def connections(path: Path, capture: Capture) -> list[Connection]:
    """Return the connections of a capture, the one with most data first.

    Raises
    ------
    ScenarioError
        If there is none.
    """
    found: dict[frozenset[tuple[str, int]], list[Segment]] = {}
    for segment in capture.segments:
        found.setdefault(frozenset((segment.source, segment.sink)), []).append(segment)
    if not found:
        raise ScenarioError(f"{path}: {_without_tcp(capture)}")
    for segments in found.values():
        segments.sort(key=lambda segment: segment.time_s)
    return sorted(map(Connection, found.values()), key=lambda one: -one.payload)


def chosen(path: Path, found: Sequence[Connection], flow: int | None) -> Connection:
    """Return the connection with this number, from 1; by default the largest.

    Raises
    ------
    ScenarioError
        If there is none with this number.
    """
    if flow is not None and not 1 <= flow <= len(found):
        expected = f"a whole number from 1 to {len(found)}, the flows of {path}"
        raise ScenarioError(invalid("--flow", flow, expected))
    return found[(flow or 1) - 1]


def _without_tcp(capture: Capture) -> str:
    if capture.packets == 0:
        return "the capture has no packets: expected a TCP flow"
    if capture.datagrams:
        return (
            f"the capture has {plural(capture.datagrams, 'UDP packet')} and no TCP: QUIC encrypts "
            "what an import needs: expected its qlog (`cwndlab import qlog`)"
        )
    return f"the capture has {plural(capture.packets, 'packet')} and no TCP: expected a TCP flow"


def _socket(socket: tuple[str, int]) -> str:
    address, port = socket
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _place(handshake: tuple[Segment, Segment, Segment], sender: tuple[str, int]) -> Place | None:
    """Tell the place: there, the round trip is behind the packet that its host sent."""
    opening, answer, third = handshake
    first_s, second_s = answer.time_s - opening.time_s, third.time_s - answer.time_s
    if max(first_s, second_s) < 3 * min(first_s, second_s):
        # In the middle of the path, or at a host that takes as long as the path.
        return None
    near = opening.source if first_s > second_s else answer.source
    return "sender" if near == sender else "receiver"


def _option(kind: int, segment: Segment) -> bytes:
    """Return the value of a TCP option, empty where it is absent."""
    options, at = segment.options, 0
    while at + 1 < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        if options[at] == kind:
            return options[at + 2 : at + options[at + 1]]
        at += max(2, options[at + 1])
    return b""


def _segment_size(segment: Segment) -> int:
    """Return the option MSS of a SYN (RFC 9293 section 3.7.1), 0 without it."""
    return int.from_bytes(_option(2, segment), "big")


def _largest_window(handshake: tuple[Segment, Segment, Segment], acks: Sequence[Segment]) -> float:
    """Return the largest window that the receiver advertised, bytes (RFC 7323 section 2)."""
    opening, answer, _ = handshake
    shifts = [_option(3, segment) for segment in (opening, answer)]
    receiver = opening if acks and acks[0].source == opening.source else answer
    shift = _option(3, receiver) if all(shifts) else b""
    return max((s.window for s in acks), default=0) * 2.0 ** int.from_bytes(shift, "big")


def _has_sack(acks: Sequence[Segment]) -> bool:
    """Whether ACKs say what arrived behind a gap: without blocks, only if none repeats another.

    The SYNs do not decide: both ends offer SACK (RFC 2018 section 2) also where one never uses it.
    """
    is_repeated = any(
        all(one.acknowledged == acks[at].acknowledged for one in acks[at : at + 4])
        for at in range(len(acks) - 3)
    )
    return any(one.sack for one in acks) or not is_repeated


class _Unwrapped:
    """Sequence numbers of 32 bits as bytes from 0."""

    def __init__(self, first: int) -> None:
        self._first, self._last = first, 0

    def __call__(self, number: int) -> int:
        near = (number - self._first - self._last + 2**31) % 2**32 - 2**31
        return self._last + near

    def moved(self, number: int) -> int:
        """Unwrap, and take what follows as near this one."""
        found = self(number)
        self._last = max(self._last, found)
        return found


def _follow(
    exchange: Exchange,
    events: Sequence[tuple[float, Segment]],
    handshake: tuple[Segment, Segment, Segment],
    sender: tuple[str, int],
    path: Path,
    progress: Callable[[str, int, int], object] | None,
) -> None:
    """Follow the events of a sender."""
    opening, answer, _ = handshake
    own = opening if opening.source == sender else answer
    unwrapped = _Unwrapped(own.sequence + 1)
    ledger, begun_s, last = Ledger(exchange), exchange.facts.begun_s, -1
    for count, (time_s, segment) in enumerate(events):
        if progress is not None and count % STEP == 0:
            progress(f"following {path.name}", count, len(events))
        if segment.syn:
            continue
        if segment.source == sender:
            if segment.payload:
                start = unwrapped.moved(segment.sequence)
                ledger.send(time_s - begun_s, start, start + segment.payload)
        elif segment.ack:
            cumulative = unwrapped(segment.acknowledged)
            blocks = [(unwrapped(start), unwrapped(end)) for start, end in segment.sack]
            is_duplicate = cumulative == last and not segment.payload
            ledger.acknowledge(time_s - begun_s, cumulative, blocks, is_duplicate=is_duplicate)
            last = cumulative
    ledger.close()


def _as_sent(
    path: Path,
    segments: Sequence[Segment],
    sender: tuple[str, int],
    handshake: tuple[Segment, Segment, Segment],
    exchange: Exchange,
) -> list[tuple[float, Segment]]:
    """Return a receiver's segments with the times at which the sender had them.

    Data left when their timestamps say (RFC 7323), by a clock whose step and offset the arrivals
    tell: the least delay is half of the first round trip. ACKs arrive that much later. A packet
    that is lost on the way leaves when the next one does.
    """
    facts = exchange.facts
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
        for s in segments if s.time_s >= handshake[0].time_s
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
            lost = Segment(
                time_s, after.source, after.sink, highest, after.acknowledged, missing,
                after.size - after.payload + missing, False, True, False, after.window, 0,
                after.timestamps, (), b"",
            )  # fmt: skip
            found.append((time_s, lost))
    return found
