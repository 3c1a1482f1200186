"""TCP connections of a capture: which there are, who sends, where they were captured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from cwndlab.arguments import Progress
from cwndlab.captures.at_receiver import as_sent
from cwndlab.captures.exchange import LEAST_PACKETS, Exchange, Facts
from cwndlab.captures.handshake import Handshake, Place
from cwndlab.captures.ledger import Ledger
from cwndlab.captures.progress import followed
from cwndlab.captures.segments import Capture, Segment
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, plural

TWICE_S = 1e-3
"""Copies of a packet, seen at two interfaces, follow each other within this time."""
MOST_TWICE = 0.05
"""Share of copies above which a capture is refused."""
MOST_SHORT = 0.1
"""Share of packets that are not full above which an application may have limited the flow."""


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
        progress: Progress | None = None,
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
        handshake = Handshake.of(path, self.name, self.segments)
        self._check_copies(path, data)
        place = at or handshake.place(self.sender)
        if place is None:
            raise ScenarioError(
                f"{path}: the handshake does not tell where it was captured: expected "
                "`--at sender` or `--at receiver`"
            )
        facts = self._facts(handshake, data, place)
        exchange = Exchange(facts)
        if place == "sender":
            events = [(s.time_s, s) for s in self.segments]
        else:
            exchange.notes.append(
                "a capture at the receiver does not contain retransmissions that were lost"
            )
            events = as_sent(path, self.segments, self.sender, handshake, facts)
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

    def _check_copies(self, path: Path, data: Sequence[Segment]) -> None:
        """Refuse a capture of two interfaces, which looks like retransmissions."""
        seen: dict[object, float] = {}
        copies = 0
        for one in data:
            key = (one.sequence, one.payload, one.identification, one.timestamps, one.acknowledged)
            copies += one.time_s - seen.get(key, -np.inf) < TWICE_S
            seen[key] = one.time_s
        if copies > MOST_TWICE * len(data):
            raise ScenarioError(
                f"{path}: {copies} of {len(data)} data packets appear twice: expected a capture "
                f"at one interface (`editcap -d {path} ONCE.pcapng` removes copies)"
            )

    def _facts(self, handshake: Handshake, data: Sequence[Segment], place: Place) -> Facts:
        sizes = Counter(one.payload for one in data)
        packet = sizes.most_common(1)[0][0]
        header = Counter(one.size - one.payload for one in data).most_common(1)[0][0]
        if handshake.segment_size:
            # Offloads pass several packets at once to the capture: the SYNs say the size of one.
            options = header - 40 if data[0].size - data[0].payload < 60 else header - 60
            packet = min(packet, handshake.segment_size - max(0, options))
        acks = [s for s in self.segments if s.source != self.sender and s.ack and not s.syn]
        repeated = sum(s.syn and not s.ack for s in self.segments) > 1
        first, second = handshake.round_trip(self.sender, place)
        ends = [s for s in data if s.fin] or [
            s for s in self.segments if s.fin and s.source == self.sender
        ]
        first_byte = handshake.syn(self.sender).sequence + 1
        total = (ends[-1].sequence + ends[-1].payload - first_byte) % 2**32 if ends else None
        return Facts(
            self.name, "TCP", place, packet, header,
            min((s.size for s in acks if not s.payload), default=40),
            None if repeated else second.time_s - first.time_s,
            first.size + second.size, has_timestamps=data[0].timestamps is not None,
            has_sack=_has_sack(acks), total_bytes=total, opened_s=second.time_s - first.time_s,
            window_packets=max(map(handshake.window_bytes, acks), default=0) / packet,
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
    handshake: Handshake,
    sender: tuple[str, int],
    path: Path,
    progress: Progress | None,
) -> None:
    """Follow the events of a sender."""
    unwrapped = _Unwrapped(handshake.syn(sender).sequence + 1)
    ledger, begun_s, last = Ledger(exchange), exchange.facts.begun_s, -1
    for time_s, segment in followed(events, path, progress):
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
