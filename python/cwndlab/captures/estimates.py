"""What a flow tells of its path and of its endpoints, each with an interval and how it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cwndlab.captures.exchange import Delivery, Exchange, FloatArray
from cwndlab.errors import ScenarioError
from cwndlab.message import plural

BLOCK_PACKETS = 20
"""Packets of a part of a busy period, whose rates give the interval of the rate."""
LONG_PACKETS = 8
"""Packets of a busy period from which on its ends matter little."""
QUEUED = 0.9
"""Share of the largest queueing delay above which a queue counts as full."""
DELAYED = 0.25
"""Share of packets, in ACKs for several of them, above which ACKs are delayed."""
LIMITED = 0.95
"""Share of the receiver's window that a flow which it limits has in flight."""
LEAST_DELAY_S = 2e-3
"""Shortest delay of an ACK that is taken for the timer of delayed ACKs, seconds."""

SHOWN = {
    "rate_bps": ("rate of the bottleneck [Mbit/s]", 1e-6),
    "base_rtt_s": ("base RTT [ms]", 1e3),
    "buffer_packets": ("buffer [packets]", 1.0),
    "lost_packets": ("lost packets", 1.0),
    "loss_rate": ("loss rate [%]", 100.0),
    "ack_packets": ("packets per ACK", 1.0),
    "ack_delay_s": ("delay of ACKs [ms]", 1e3),
    "initial_window_packets": ("initial window [packets]", 1.0),
    "packet_bytes": ("data of a packet [bytes]", 1.0),
}
"""Names of estimates as tables show them, and the factor to the unit there."""


@dataclass(frozen=True)
class Estimate:
    """A quantity with its interval.

    Attributes
    ----------
    name : str
        What it is, with its unit as the last word.
    value : float
        In this unit.
    low, high : float or None
        Its interval; None where that side is not known.
    how : str
        How it was estimated, and what the interval is.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    how: str

    @property
    def shown(self) -> tuple[str, str, str]:
        """Its name, its value and its interval as text.

        Examples
        --------
        >>> Estimate("rate_bps", 1e7, 9.9e6, None, "").shown
        ('rate of the bottleneck [Mbit/s]', '10', '9.9 to ?')
        """
        heading, factor = SHOWN[self.name]
        low, high = ("?" if end is None else f"{end * factor:.5g}" for end in (self.low, self.high))
        return heading, f"{self.value * factor:.5g}", f"{low} to {high}" if low != high else low


class Estimator:
    """Estimates from one flow.

    Parameters
    ----------
    exchange : Exchange
        The flow.

    Raises
    ------
    ScenarioError
        If too few ACKs show a round trip.
    """

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.notes: list[str] = list(exchange.notes)
        self._bits = 8.0 * exchange.wire_bytes
        self._samples = [d for d in exchange.deliveries if not d.is_repeated]
        if len(self._samples) < 2:
            raise ScenarioError(
                f"{exchange.facts.name}: {plural(len(self._samples), 'ACK')} of new data: expected "
                "both directions of the flow"
            )
        self.is_delayed: bool
        self.quick_acks: int
        self.is_delayed, self.quick_acks, self._pattern = self._acks()
        self.rate: Estimate = self._rate()
        self.base_rtt: Estimate = self._base_rtt()
        self._delays = self._queueing_delays()
        self.buffer: Estimate
        self.buffer, overflowed = self._buffer()
        self.losses: Estimate
        self.loss_rate: Estimate
        self.losses, self.loss_rate = self._losses()
        self.random_losses: int = len(exchange.lost) - overflowed
        self.ack_delay: Estimate | None = self._ack_delay()
        self.initial_window: Estimate = self._initial_window()
        self.window_limit: int | None = self._window_limit()

    @property
    def all(self) -> list[Estimate]:
        """Every estimate, in the order of a table."""
        packet = Estimate(
            "packet_bytes", self.exchange.facts.packet_bytes, self.exchange.facts.packet_bytes,
            self.exchange.facts.packet_bytes,
            f"data of most packets; {self.exchange.facts.header_bytes} bytes of headers",
        )  # fmt: skip
        delay = [self.ack_delay] if self.ack_delay else []
        return [
            self.rate, self.base_rtt, self.buffer, self.losses, self.loss_rate, self._pattern,
            *delay, self.initial_window, packet,
        ]  # fmt: skip

    def _rate(self) -> Estimate:
        """Return the rate of packets that waited behind each other at the bottleneck (trains)."""
        trains = list(self._trains())
        long = [train for train in trains if sum(d.packets for d in train[1:]) >= LONG_PACKETS]
        if not trains:
            return self._least_rate()
        used = long or trains
        busy_s = sum(train[-1].time_s - train[0].time_s for train in used)
        blocks = [rate for train in used for rate in _block_rates(train)]
        low, value, high = np.quantile(blocks, [0.05, 0.5, 0.95])
        packets = sum(d.packets for train in used for d in train[1:])
        return Estimate(
            "rate_bps", float(value), float(low), float(high),
            f"ACKs of {packets} packets that waited behind another, over {busy_s:.3g} s; median "
            f"and 5 to 95 % of {plural(len(blocks), 'part')}",
        )  # fmt: skip

    def _trains(self) -> list[list[Delivery]]:
        """Divide ACKs into busy periods of the bottleneck.

        A packet waited behind another if it left less than the shortest round trip before the ACK
        of that other came. The periods end where the delay of ACKs hides the arrivals.
        """
        least_s = min(d.time_s - d.last_sent_s for d in self._samples)
        trains: list[list[Delivery]] = []
        train: list[Delivery] = []
        for before, delivery in pairwise(self.exchange.deliveries):
            waited = delivery.last_sent_s < before.time_s - least_s * (1 - 1e-9)
            prompt = not self.is_delayed or (before.is_prompt and delivery.is_prompt)
            is_timed = (prompt or self._is_quick(before)) and delivery.is_exact and before.is_exact
            if waited and is_timed and delivery.time_s > before.time_s:
                train = train or [before]
                train.append(delivery)
            else:
                trains.append(train)
                train = []
        return [train for train in [*trains, train] if train]

    def _is_quick(self, delivery: Delivery) -> bool:
        """Whether it is one of the first ACKs, which leave at once."""
        return delivery.time_s <= self._quick_until_s

    def _least_rate(self) -> Estimate:
        """Return the rate where no packet waited: from the round trips of two sizes of packets.

        A full packet takes longer than those of the handshake by its longer transmission
        (Jacobson 1997, pathchar). The rate that was reached is a lower bound.
        """
        facts = self.exchange.facts
        rtt_s = min(d.time_s - d.last_sent_s for d in self._samples)
        times_s = np.array([d.time_s for d in self.exchange.deliveries])
        bits = np.cumsum([8.0 * d.bytes for d in self.exchange.deliveries])
        # Within a second or the whole flow: a burst may have been sent faster than the link.
        earlier = np.searchsorted(times_s, times_s - min(1.0, times_s[-1]), side="right")
        before = np.where(earlier > 0, bits[earlier - 1], 0.0)
        reached = float(np.max(bits - before)) / max(min(1.0, times_s[-1]), rtt_s)
        longer_s = rtt_s - (facts.handshake_s or rtt_s)
        longer_bits = self._bits - 8 * (facts.handshake_bytes - facts.ack_bytes)
        self.notes.append("no packet waited behind another: the rate of the link is uncertain")
        if longer_s <= 0 or longer_bits / longer_s < reached:
            return Estimate("rate_bps", reached, reached, None, "the largest that was reached")
        how = "how much longer a full packet takes than the handshake; at least what was reached"
        return Estimate("rate_bps", longer_bits / longer_s, reached, None, how)

    def _base_rtt(self) -> Estimate:
        """Propagation both ways: the shortest round trips without their transmission times."""
        facts, rate = self.exchange.facts, self.rate.value
        found = {"data": min(d.time_s - d.last_sent_s for d in self._samples) - self._bits / rate}
        if facts.handshake_s is not None:
            found["the handshake"] = (
                facts.handshake_s - 8 * (facts.handshake_bytes - facts.ack_bytes) / rate
            )
        shortest = min(found, key=lambda name: found[name])
        high = found[shortest]
        value = max(0.0, high - 8 * facts.ack_bytes / rate)
        return Estimate(
            "base_rtt_s", value, value, high,
            f"shortest round trip, of {shortest}, without the transmission of data and, for the "
            "value, of ACKs at the same rate",
        )  # fmt: skip

    def _queueing_delays(self) -> FloatArray:
        """Queueing delays of packets: columns sent_s and delay_s, where ACKs were prompt."""
        fixed_s = self._shortest_s()
        return np.array(
            [
                (d.last_sent_s, max(0.0, d.time_s - d.last_sent_s - fixed_s))
                for d in self._samples
                if d.is_prompt or not self.is_delayed or self._is_quick(d)
            ]
            or [(0.0, 0.0)]
        )

    def _shortest_s(self) -> float:
        """Round trip of a full packet that meets no queue."""
        bits = self._bits + 8 * self.exchange.facts.ack_bytes
        return self.base_rtt.value + bits / self.rate.value

    def _buffer(self) -> tuple[Estimate, int]:
        """Return the largest queue, the packet in service included, and how often it overflowed."""
        sent_s, delays_s = self._delays.T
        packets = 1 + delays_s * self.rate.value / self._bits
        value = float(np.max(packets))
        at_losses = self._queues_at_losses(sent_s, packets)
        full = [found for found in at_losses if found >= QUEUED * value]
        if value > 2 and len(full) > len(at_losses) / 2:
            low, high = np.quantile(full, [0.05, 0.95])
            how = f"longest queueing delay x rate; 5 to 95 % of {len(full)} losses, and the longest"
            found = Estimate("buffer_packets", value, float(low), max(value, float(high)), how)
            return found, len(full)
        how = "longest queueing delay x rate; at least, as no queue that long lost packets"
        return Estimate("buffer_packets", value, value, None, how), 0

    def _queues_at_losses(self, sent_s: FloatArray, packets: FloatArray) -> list[float]:
        """Queue that the last packet met that left before each loss, or within the ACK of it."""
        order = np.argsort(sent_s, kind="stable")
        times_s, found = sent_s[order], packets[order]
        places = [
            int(np.searchsorted(times_s, self.exchange.transmissions[number].time_s, side="right"))
            for number in sorted(self.exchange.lost)
        ]
        return [float(np.max(found[max(0, at - 2) : at + 1])) for at in places if at]

    def _losses(self) -> tuple[Estimate, Estimate]:
        sent, lost = len(self.exchange.transmissions), len(self.exchange.lost)
        share = lost / sent
        # Wilson's interval, z = 1.96.
        middle = (share + 1.92 / sent) / (1 + 3.84 / sent)
        half = 1.96 / (1 + 3.84 / sent) * np.sqrt(share * (1 - share) / sent + 0.96 / sent**2)
        how = "sent before something that arrived, and sent again"
        unsure = sum(
            self.exchange.transmissions[number].number > 1 for number in self.exchange.lost
        )
        return (
            Estimate(
                "lost_packets", lost, lost - unsure, lost,
                f"{how}; the lower end without lost retransmissions",
            ),
            Estimate(
                "loss_rate", share, max(0.0, float(middle - half)), float(middle + half),
                f"{plural(lost, 'packet')} of {sent}; 95 % (Wilson), as if losses were independent",
            ),
        )  # fmt: skip

    def _acks(self) -> tuple[bool, int, Estimate]:
        """Whether ACKs are delayed, how many of the first are not, and packets per ACK."""
        deliveries = self.exchange.deliveries
        several = [at for at, d in enumerate(deliveries) if d.is_exact and d.packets > 1]
        quick = several[0] if several else len(deliveries)
        later = [d.packets for d in deliveries[quick:] if d.is_exact and not d.has_gap]
        counts = np.array(later, dtype=np.int64)
        if len(counts) == 0:
            counts = np.array([d.packets for d in deliveries], dtype=np.int64)
        is_delayed = bool(np.sum(counts[counts > 1]) > DELAYED * np.sum(counts))
        self._quick_until_s = deliveries[quick - 1].time_s if is_delayed and quick else -1.0
        low, high = np.quantile(counts, [0.05, 0.95])
        common = int(np.argmax(np.bincount(counts)))
        if common > 2:
            self.notes.append(
                f"an ACK covers {common} packets, as with offloads: simulated ACKs cover 2"
            )
        how = f"packets in order that an ACK covers, mostly {common}; 5 to 95 %"
        if is_delayed and quick:
            how += f"; the first {plural(quick, 'ACK')} at once"
        value = float(np.mean(counts))
        return is_delayed, quick, Estimate("ack_packets", value, float(low), float(high), how)

    def _ack_delay(self) -> Estimate | None:
        """Delay of ACKs for a single packet, where they are delayed."""
        if not self.is_delayed:
            return None
        alone = [d for d in self._samples if not d.is_prompt and not self._is_quick(d)]
        if not alone:
            return None
        times_s = np.array([d.last_sent_s for d in alone])
        # In the queue each waited for packets of this flow, and for others, as those around it did.
        sent_s, delays_s = self._delays[np.argsort(self._delays[:, 0], kind="stable")].T
        found_s = np.maximum(0, delays_s - self._own_queue(sent_s))
        others_s = np.array(np.interp(times_s, sent_s, found_s), dtype=np.float64)
        queued_s = self._own_queue(times_s) + others_s
        excess = np.array([d.time_s for d in alone]) - times_s - self._shortest_s() - queued_s
        late = excess[excess > LEAST_DELAY_S]
        if len(late) == 0:
            return None
        low, high = np.quantile(late, [0.05, 0.95])
        return Estimate(
            "ack_delay_s", _densest(late), float(low), float(high),
            f"wait of {plural(len(late), 'ACK')} for one packet: where half of them are nearest to "
            "each other, and 5 to 95 %",
        )  # fmt: skip

    def _own_queue(self, times_s: FloatArray) -> FloatArray:
        """Queueing delays of packets sent at these times, of this flow's packets alone.

        Each begins its transmission when it arrives, or when the one in front is done (Lindley
        1952).
        """
        step_s = self._bits / self.rate.value
        sent_s = np.array(
            [
                t.time_s
                for number, t in enumerate(self.exchange.transmissions)
                if number not in self.exchange.lost
            ]
        )
        places = np.arange(len(sent_s)) * step_s
        begun_s = np.maximum.accumulate(sent_s - places) + places
        last = np.searchsorted(sent_s, times_s, side="right") - 1
        return np.maximum(0.0, begun_s[last] - sent_s[last])

    def _initial_window(self) -> Estimate:
        first_s = self.exchange.deliveries[0].time_s
        sent = [t for t in self.exchange.transmissions if t.time_s < first_s and t.number == 1]
        value, how = max(1, len(sent)), "packets sent before the first ACK of data"
        return Estimate("initial_window_packets", value, value, value, how)

    def _window_limit(self) -> int | None:
        """Return the receiver's window, packets, if it limited the flow."""
        most = self.exchange.facts.window_packets
        if max(flight for _, flight in self.exchange.steps) < LIMITED * most:
            return None
        self.notes.append(f"the receiver's window, up to {most:.0f} packets, limited the flow")
        return max(1, int(most))


def _densest(values: FloatArray) -> float:
    """Return the median of the half of some numbers that is nearest to each other (shorth).

    Examples
    --------
    >>> _densest(np.array([40.0, 28.0, 40.1, 39.9, 75.0]))
    40.0
    """
    found = np.sort(values)
    half = len(found) // 2 + 1
    widths = found[half - 1 :] - found[: len(found) - half + 1]
    first = int(np.argmin(widths))
    return float(np.median(found[first : first + half]))


def _block_rates(train: Sequence[Delivery]) -> list[float]:
    """Rates of the parts of a busy period, bit/s."""
    rates: list[float] = []
    begun, bits, packets = train[0].time_s, 0.0, 0
    for delivery in train[1:]:
        bits, packets = bits + 8.0 * delivery.bytes, packets + delivery.packets
        if packets >= BLOCK_PACKETS:
            rates.append(bits / (delivery.time_s - begun))
            begun, bits, packets = delivery.time_s, 0.0, 0
    if not rates:
        rates.append(bits / (train[-1].time_s - begun))
    return rates
