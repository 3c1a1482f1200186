"""What the simulator's sender sent, in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from cwndlab.conformance.segment import Segment

_ECN = ("noecn", "ect1", "ect0", "ce")


@dataclass(frozen=True)
class Transmission:
    """A packet that left the sender.

    Attributes
    ----------
    time_s : float
        When, seconds.
    flags : str
        ``S`` or ``S.`` for the SYN, ``.`` for data and probes.
    start, end : int
        First byte, and the one behind the last.
    ecn : int
        ECN field of the IP header.

    Examples
    --------
    >>> two = [Transmission(0.1, ".", 1, 1001, 0), Transmission(0.1, ".", 1001, 2001, 0)]
    >>> [str(sent) for sent in Transmission.joined(two)]
    ['> . 1:2001(2000)']
    """

    time_s: float
    flags: str
    start: int
    end: int
    ecn: int

    @property
    def ecn_name(self) -> str:
        """The ECN field as packetdrill writes it."""
        return _ECN[self.ecn]

    @classmethod
    def joined(cls, sent: list[Transmission]) -> list[Transmission]:
        """Join packets of one time that follow each other."""
        found: list[Transmission] = []
        for one in sent:
            last = found[-1] if found else None
            if last is not None and (last.end, last.time_s, last.flags) == (
                one.start, one.time_s, one.flags,
            ):  # fmt: skip
                found[-1] = cls(last.time_s, last.flags, last.start, one.end, last.ecn)
            else:
                found.append(one)
        return found

    def __str__(self) -> str:
        """Write it in packetdrill's notation, without the acknowledgement."""
        size = 0 if "S" in self.flags else self.end - self.start
        return str(Segment(False, self.flags, self.start, self.start + size))
