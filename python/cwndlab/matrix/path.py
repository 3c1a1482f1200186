"""A link of the matrix: its rate, its round trip, and its buffer."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from cwndlab import native
from cwndlab.quantities import seconds
from cwndlab.scenario import Scenario, dumbbell

UNLIMITED = 1e9
"""The receiver's window, packets: ns-2's profiles have 20, which would limit every flow."""
LEAST_BUFFER = 8
"""Packets. At the loss the window W is BDP + B, and afterwards W/2. To keep a link busy it must be
at least BDP + 3: a receiver that delays ACKs answers every second packet (RFC 5681 section 4.2), so
two wait for an ACK while a third is in service. Hence B >= BDP + 6, and 8 where the BDP is below
two packets. Three duplicate ACKs need no more: W is then at least 4."""
LOST_RTO_S = 1.0
"""The least RTO of RFC 6298 section 2.4: what one timeout may cost before repair goes on."""


@functools.cache
def knobs(profile: str) -> dict[str, Any]:
    """Return the knobs of a profile, by name."""
    return {knob["name"]: knob["values"][profile] for knob in native.knobs()}


@functools.cache
def profiles() -> tuple[str, ...]:
    """Return the names of all profiles."""
    return tuple(native.knobs()[0]["values"])


def knob_s(profile: str, name: str) -> float:
    """Return a knob that is a time, in seconds."""
    return seconds(knobs(profile)[name]) or 0.0


def payload(profile: str) -> int:
    """Bytes of data in a packet."""
    return int(knobs(profile)["packet_size"])


def on_the_wire(profile: str) -> int:
    """Bytes of a data packet with its headers."""
    known = knobs(profile)
    timestamp = int(known["timestamp_size"]) if known["timestamps"] else 0
    return payload(profile) + int(known["header_size"]) + timestamp


@dataclass(frozen=True)
class Path:
    """A bottleneck of one BDP of buffer, but of `LEAST_BUFFER` packets at least.

    Parameters
    ----------
    mbit : float
        Rate, Mbit/s.
    rtt_ms : float
        Round trip without queue, ms.

    Examples
    --------
    >>> small = Path(1, 5)
    >>> small.name, small.buffer("rfc"), round(small.round_s("rfc"), 3)
    ('1 Mbit/s 5 ms', 8, 0.067)
    >>> round(Path(1000, 200).bdp("linux"))
    16667
    """

    mbit: float
    rtt_ms: float

    @property
    def name(self) -> str:
        """Rate and round trip."""
        return f"{self.mbit:g} Mbit/s {self.rtt_ms:g} ms"

    @property
    def rtt_s(self) -> float:
        """Round trip without queue, seconds."""
        return self.rtt_ms / 1000

    def packet_s(self, profile: str) -> float:
        """Time to transmit a packet, seconds."""
        return 8 * on_the_wire(profile) / (self.mbit * 1e6)

    def bdp(self, profile: str) -> float:
        """Packets that fill the path without queue."""
        return self.rtt_s / self.packet_s(profile)

    def buffer(self, profile: str) -> int:
        """Packets of the buffer."""
        return max(round(self.bdp(profile)), LEAST_BUFFER)

    def round_s(self, profile: str) -> float:
        """Round trip that counts, seconds: the buffer's drain time where that is longer."""
        return max(self.rtt_s, self.buffer(profile) * self.packet_s(profile))

    def full_round_s(self, profile: str) -> float:
        """Round trip behind a full buffer, seconds."""
        return self.rtt_s + (self.buffer(profile) + 1) * self.packet_s(profile)

    def slow_start_s(self, profile: str) -> float:
        """Bound on handshake, slow start and its repair, seconds.

        With delayed ACKs the window grows by half a round trip (RFC 5681 section 3.1 with 4.2). The
        overshoot is repaired by SACK within a few round trips; one timeout is allowed for.
        """
        first = max(1.0, float(knobs(profile)["initial_window"]))
        rounds = math.log(2 * (self.bdp(profile) + self.buffer(profile)) / first, 1.5)
        return (1 + math.ceil(rounds) + 5) * self.full_round_s(profile) + LOST_RTO_S

    def goodput_bps(self, profile: str) -> float:
        """Payload that the link can carry, bit/s."""
        return self.mbit * 1e6 * payload(profile) / on_the_wire(profile)

    def scenario(
        self,
        rule: str,
        profile: str,
        duration_s: float,
        *,
        flow: dict[str, Any] | None = None,
        tcp: dict[str, Any] | None = None,
        link: dict[str, Any] | None = None,
        buffer: int | None = None,
        **settings: Any,
    ) -> Scenario:
        """Return flows of a rule on this path.

        ACKs return by a pure delay, so that nothing but the bottleneck limits.
        """
        limit = self.buffer(profile) if buffer is None else buffer
        return dumbbell(
            f"{self.mbit:g}Mbit",
            f"{self.rtt_ms / 2:g}ms",
            flows=[{"name": "flow", "rule": rule, **(flow or {})}],
            duration=rounded_s(duration_s),
            queue={"kind": "drop-tail", "limit": f"{limit}pkt"},
            link={"back_rate": "unlimited", **(link or {})},
            profile=profile,
            tcp={"window": UNLIMITED, **(tcp or {})},
            **settings,
        )


def rounded_s(value: float) -> str:
    """Write seconds to the millisecond, as a scenario has them.

    Examples
    --------
    >>> rounded_s(1.23456), rounded_s(60)
    ('1.235s', '60s')
    """
    return f"{round(value, 3):g}s" if value < 1000 else f"{round(value)}s"
