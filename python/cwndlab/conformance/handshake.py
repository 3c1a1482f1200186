"""What the SYNs of a connection agree on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cwndlab.conformance.segment import Segment

TIMESTAMP_BYTES = 12
"""Bytes that timestamps take from each packet."""
LOCAL_MSS = 1460
DEFAULT_MSS = 536
"""What a peer takes that names none (RFC 9293 section 3.7.1)."""


@dataclass
class Handshake:
    """The SYNs of a connection.

    Attributes
    ----------
    own, peer : Segment or None
        The first of each side; None if the script has none.
    refused : set
        Options that the kernel does not offer.
    maxseg_bytes : int or None
        Largest packet that the application allows (``TCP_MAXSEG``).

    Examples
    --------
    >>> shake = Handshake.of(map(Segment.parse, (
    ...     "< S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>",
    ...     "> S. 0:0(0) ack 1 <...>",
    ... )))
    >>> shake.mss_bytes(), shake.both("sackOK"), shake.both("TS"), shake.is_passive
    (1000, True, False, True)
    """

    own: Segment | None = None
    peer: Segment | None = None
    refused: set[str] = field(default_factory=set[str])
    maxseg_bytes: int | None = None

    @classmethod
    def of(cls, segments: Iterable[Segment | None]) -> Handshake:
        """Take the first SYN of each side."""
        found = cls()
        for segment in segments:
            if segment is None or not segment.has("S"):
                continue
            if segment.is_inbound:
                found.peer = found.peer or segment
            else:
                found.own = found.own or segment
        return found

    @property
    def is_passive(self) -> bool:
        """Whether the peer connects."""
        return self.peer is not None and not self.peer.has(".")

    def both(self, name: str) -> bool:
        """Whether both SYNs have an option; a script may leave those of the own one open."""
        if name in self.refused or self.peer is None or name not in (self.peer.options or {}):
            return False
        return self.own is None or self.own.options is None or name in self.own.options

    def ecn(self, tcp_ecn: str) -> bool:
        """Whether both agree on ECN (RFC 3168 section 6.1.1)."""
        if self.peer is None or self.peer.has("A") or not self.peer.has("E"):
            return False
        if self.is_passive:
            return self.peer.has("W") and tcp_ecn in ("1", "2")
        return tcp_ecn == "1" and not self.peer.has("W")

    def mss_bytes(self) -> int:
        """Return the bytes of data in a full packet."""
        least = min(
            _value(self.own, "mss", LOCAL_MSS), _value(self.peer, "mss", DEFAULT_MSS),
            self.maxseg_bytes or LOCAL_MSS,
        )  # fmt: skip
        return least - (TIMESTAMP_BYTES if self.both("TS") else 0)

    def window_shift(self) -> int:
        """Return the bits by which windows of the peer are scaled."""
        return _value(self.peer, "wscale", 0) if self.both("wscale") else 0

    def first_timestamp(self) -> int | None:
        """Return the timestamp of the own SYN, if the script has it."""
        words = ((self.own and self.own.options) or {}).get("TS", "").split()
        return int(words[1]) if len(words) == 4 and self.both("TS") else None


def _value(segment: Segment | None, option: str, default: int) -> int:
    given = ((segment and segment.options) or {}).get(option, "")
    return int(given) if given.isdigit() else default
