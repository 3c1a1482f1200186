"""A TCP segment in packetdrill's notation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_SEGMENT = re.compile(
    r"(?P<way>[<>])\s*(?:\[(?P<ip>[^\]]*)\]\s*)?(?P<flags>[FSRPEWUAC.0-9-]+)\s+"
    r"(?P<start>\d+):(?P<end>\d+)\((?P<size>\d+)\)"
    r"(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<win>\d+|\*))?(?:\s+urg\s+\d+)?"
    r"(?:\s*<(?P<options>[^>]*)>)?\s*$"
)
_BLOCK = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True)
class Segment:
    """A segment: numbers of bytes count from the SYN, which is number 0.

    Attributes
    ----------
    is_inbound : bool
        Whether it reaches the sender.
    flags : str
        Letters as in packetdrill; ``.`` is ACK.
    start, end : int
        First byte, and the one behind the last.
    ack, window : int or None
        Acknowledgement and window field, if it has one.
    sack : tuple
        SACK blocks, each as first byte and the one behind the last.
    options : mapping
        Names of the other TCP options to their values; ``None`` if any options are allowed.
    ecn : str
        ECN field (``noecn``, ``ect0``, ``ect1``, ``ce``); empty if it does not matter.

    Examples
    --------
    >>> segment = Segment.parse("< . 1:1(0) ack 1 win 320 <sack 1001:2001,nop,nop>")
    >>> segment.ack, segment.window, segment.sack
    (1, 320, ((1001, 2001),))
    >>> str(Segment.parse("> [ect0] P. 1:1001(1000) ack 1"))
    '> [ect0] P. 1:1001(1000) ack 1'
    """

    is_inbound: bool
    flags: str
    start: int
    end: int
    ack: int | None = None
    window: int | None = None
    sack: tuple[tuple[int, int], ...] = ()
    options: dict[str, str] | None = field(default_factory=dict[str, str])
    ecn: str = ""

    @classmethod
    def parse(cls, text: str) -> Segment | None:
        """Read a segment; None if it is none, or in another notation."""
        found = _SEGMENT.match(text)
        if found is None:
            return None
        start, end = int(found["start"]), int(found["end"])
        listed = (found["options"] or "").strip()
        options: dict[str, str] = {}
        sack: tuple[tuple[int, int], ...] = ()
        for option in filter(None, (part.strip() for part in listed.split(","))):
            name, _, value = option.partition(" ")
            if name == "sack":
                sack = tuple((int(left), int(right)) for left, right in _BLOCK.findall(value))
            elif name not in ("nop", "eol", "..."):
                options[name] = value.strip()
        win = found["win"]
        return cls(
            is_inbound=found["way"] == "<",
            flags=found["flags"],
            start=start,
            end=end,
            ack=int(found["ack"]) if found["ack"] else None,
            window=int(win) if win and win != "*" else None,
            sack=sack,
            options=None if listed == "..." else options,
            ecn=(found["ip"] or "").strip(),
        )

    @property
    def size(self) -> int:
        """Bytes of data."""
        return self.end - self.start

    def has(self, flag: str) -> bool:
        """Whether a flag is set."""
        return flag in self.flags

    def __str__(self) -> str:
        """Write it without options."""
        ecn = f"[{self.ecn}] " if self.ecn else ""
        ack = "" if self.ack is None else f" ack {self.ack}"
        win = "" if self.window is None else f" win {self.window}"
        way = "<" if self.is_inbound else ">"
        return f"{way} {ecn}{self.flags} {self.start}:{self.end}({self.size}){ack}{win}"
