"""One flow as its sender saw it, whatever it was recorded with: transmissions, ACKs, window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Protocol = Literal["TCP", "QUIC"]
LEAST_PACKETS = 20
"""Data packets below which nothing can be estimated."""


class Transmission(NamedTuple):
    """A packet on its way: when it left, what it is, and its number among its repetitions."""

    time_s: float
    packet: int
    number: int


class Delivery(NamedTuple):
    """What one ACK says to have arrived."""

    time_s: float
    bytes: int
    """Of IP packets that are acknowledged for the first time."""
    packets: int
    first_sent_s: float
    last_sent_s: float
    """When the first and the last of them were sent."""
    is_exact: bool
    """Whether these packets, and no others, have arrived since the last ACK."""
    is_prompt: bool
    """Whether the receiver acknowledged at once: a gap, or a second packet."""
    has_gap: bool
    """Whether it is sent for a gap: it has SACK blocks, or repeats the cumulative ACK."""
    is_repeated: bool
    """Whether any of them had been sent twice, so that its round trip is not known."""


@dataclass
class Facts:
    """What the packets say of themselves."""

    name: str
    protocol: Protocol
    at: Literal["sender", "receiver"]
    packet_bytes: int
    """Data of a full packet."""
    header_bytes: int
    """Of a full packet, IP header included."""
    ack_bytes: int
    handshake_s: float | None
    """From the first packet to its answer, if it was sent once."""
    handshake_bytes: int
    has_timestamps: bool = False
    has_sack: bool = True
    total_bytes: int | None = None
    """Length of the transfer, if its end is in the file."""
    window_packets: float = float("inf")
    """Largest window that the receiver advertised."""
    opened_s: float = 0.0
    """Length of the handshake, also if a packet of it was sent twice."""
    begun_s: float = 0.0
    """When the flow begins, by the clock of the recording."""
    duration_s: float = 0.0


@dataclass
class Exchange:
    """One flow as its sender saw it; times count from its first packet.

    Parameters
    ----------
    facts : Facts
        What the packets say of themselves.
    """

    facts: Facts
    transmissions: list[Transmission] = field(default_factory=list[Transmission])
    lost: set[int] = field(default_factory=set[int])
    """Which of them did not arrive."""
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    steps: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """The window: times and packets from then on."""
    window: Literal["flight", "cwnd"] = "flight"
    notes: list[str] = field(default_factory=list[str])
    """What the recording does not show."""

    @property
    def wire_bytes(self) -> int:
        """Size of a full IP packet."""
        return self.facts.packet_bytes + self.facts.header_bytes


def at_times(steps: list[tuple[float, float]], times_s: FloatArray) -> FloatArray:
    """Return the values of a step function, 0 before its first step.

    Examples
    --------
    >>> at_times([(1.0, 10.0), (2.0, 5.0)], np.array([0.5, 1.0, 3.0])).tolist()
    [0.0, 10.0, 5.0]
    """
    known = np.array([(-np.inf, 0.0), *steps])
    return known[np.searchsorted(known[:, 0], times_s, side="right") - 1, 1]
