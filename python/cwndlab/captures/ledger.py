"""Which packets of a TCP flow were sent, acknowledged and lost, as its segments and ACKs tell."""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass, field

from cwndlab.captures.exchange import Delivery, Exchange, Transmission


@dataclass
class Ledger:
    """Follows the bytes of a flow: sent, acknowledged, lost.

    A transmission is lost if one that left later arrived before its packet, and the packet was
    sent again or never arrived (RACK's argument, RFC 8985 section 3.1, without its time to wait:
    what had only been overtaken arrived without another transmission).
    """

    exchange: Exchange
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    sent: list[list[int]] = field(default_factory=list[list[int]])
    """Transmissions of each packet."""
    packet_of: list[int] = field(default_factory=list[int])
    """Packet of each transmission."""
    covered_s: list[float | None] = field(default_factory=list[float | None])
    covered: int = 0
    """Packets in front of the cumulative ACK."""
    arrived: int = 0
    """Packets that an ACK or a SACK block has covered."""
    newest: int = -1
    """The last transmission of a packet sent once that has arrived."""
    outstanding: deque[int] = field(default_factory=deque[int])
    known: dict[int, int] = field(default_factory=dict[int, int])
    """Blocks that the receiver has reported: start to end."""
    missing: set[int] = field(default_factory=set[int])
    """Packets that were the first without an ACK when one came."""
    has_gap: bool = False
    """Whether the last ACK reported what no cumulative ACK has covered."""

    def send(self, time_s: float, start: int, end: int) -> None:
        """Send a segment; its bytes count from 0."""
        size = self.exchange.facts.packet_bytes
        highest = self.ends[-1] if self.ends else 0
        if start < highest:
            first = max(0, bisect.bisect_right(self.starts, start) - 1)
            for packet in range(first, bisect.bisect_left(self.starts, min(end, highest))):
                self._transmit(time_s, packet)
        for begin in range(max(start, highest), end, size):
            self.starts.append(begin)
            self.ends.append(min(begin + size, end))
            self.sent.append([])
            self.covered_s.append(None)
            self._transmit(time_s, len(self.starts) - 1)
        self._step(time_s)

    def acknowledge(
        self, time_s: float, cumulative: int, blocks: list[tuple[int, int]], *, is_duplicate: bool
    ) -> None:
        """Take an ACK that arrives."""
        fresh: list[int] = []
        before = self.covered
        self.missing.add(before)
        while self.covered < len(self.ends) and self.ends[self.covered] <= cumulative:
            if self.covered_s[self.covered] is None:
                fresh.append(self.covered)
            self.covered += 1
        for start, end in blocks:
            if start >= cumulative:
                fresh += self._block(start, end)
        for packet in fresh:
            self.covered_s[packet] = time_s
        self.arrived += len(fresh)
        if fresh:
            has_advanced = self.covered > before
            self._deliver(time_s, fresh, has_advanced=has_advanced, has_blocks=bool(blocks))
        self.has_gap = bool(blocks) or (is_duplicate and self.covered < len(self.ends))
        self._find_lost()
        self._step(time_s)

    def close(self) -> None:
        """Decide about packets that were sent again without a sign of loss, at the end."""
        exchange = self.exchange
        least_s = min(
            (d.time_s - d.last_sent_s for d in exchange.deliveries if not d.is_repeated),
            default=0.0,
        )
        for packet, numbers in enumerate(self.sent):
            arrived_s = self.covered_s[packet]
            if arrived_s is None:
                exchange.lost.update(numbers[:-1])
                continue
            if exchange.lost.issuperset(numbers):
                # It was overtaken.
                exchange.lost.discard(numbers[-1])
            for place, number in enumerate(numbers[:-1]):
                later_s = exchange.transmissions[numbers[place + 1]].time_s
                # Without SACK a timeout sends again what had arrived behind a gap: an ACK for the
                # gap then passes over it (RFC 6582 section 3.2).
                is_missing = exchange.facts.has_sack or packet in self.missing
                if is_missing and arrived_s - later_s >= 0.9 * least_s:
                    exchange.lost.add(number)

    def _transmit(self, time_s: float, packet: int) -> None:
        numbers = self.sent[packet]
        transmissions = self.exchange.transmissions
        numbers.append(len(transmissions))
        self.outstanding.append(len(transmissions))
        number = self.starts[packet] // self.exchange.facts.packet_bytes + 1
        transmissions.append(Transmission(time_s, number, len(numbers)))
        self.packet_of.append(packet)

    def _block(self, start: int, end: int) -> list[int]:
        """Return packets of a SACK block that are new; what was known of it is passed over."""
        begin = self.known.get(start, start)
        self.known[start] = max(begin, end)
        found: list[int] = []
        packet = bisect.bisect_left(self.starts, min(begin, end))
        while packet < len(self.ends) and self.ends[packet] <= end:
            if self.covered_s[packet] is None:
                found.append(packet)
            packet += 1
        return found

    def _deliver(
        self, time_s: float, fresh: list[int], *, has_advanced: bool, has_blocks: bool
    ) -> None:
        times_s = [self.exchange.transmissions[self.sent[packet][-1]].time_s for packet in fresh]
        once = [packet for packet in fresh if len(self.sent[packet]) == 1]
        self.newest = max([self.newest, *(self.sent[packet][0] for packet in once)])
        is_repeated = len(once) < len(fresh)
        header = self.exchange.facts.header_bytes
        size = sum(self.ends[packet] - self.starts[packet] + header for packet in fresh)
        # Without SACK, an ACK that ends a gap covers what had arrived before.
        hides = not self.exchange.facts.has_sack and self.has_gap
        self.exchange.deliveries.append(
            Delivery(
                time_s, size, len(fresh), min(times_s), max(times_s),
                is_exact=not hides and not is_repeated,
                is_prompt=has_blocks or len(fresh) > 1 or not has_advanced,
                has_gap=has_blocks or not has_advanced,
                is_repeated=is_repeated or hides,
            )
        )  # fmt: skip

    def _find_lost(self) -> None:
        while self.outstanding and self.outstanding[0] < self.newest:
            number = self.outstanding.popleft()
            if self.covered_s[self.packet_of[number]] is None:
                self.exchange.lost.add(number)

    def _step(self, time_s: float) -> None:
        """Note the packets that no ACK and no SACK block has covered."""
        flight = float(len(self.ends) - self.arrived)
        steps = self.exchange.steps
        if steps and steps[-1][0] == time_s:
            steps[-1] = (time_s, flight)
        else:
            steps.append((time_s, flight))
