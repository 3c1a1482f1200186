"""The application's data as bytes and as packets: a sender of the simulator counts packets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class ByteStream:
    """Which bytes each packet has. Packet 0 is the SYN, which is number 0 of the bytes.

    Parameters
    ----------
    mss_bytes : int
        Bytes of data in a full packet.

    Examples
    --------
    >>> stream = ByteStream(1000)
    >>> stream.write(2500)  # packets 1 to 3, of which the last is short
    3
    >>> stream.bytes_of(3), stream.acknowledged_by(2001), stream.acknowledged_by(2400)
    ((2001, 2501), 2, 2)
    >>> stream.within(1001, 2501), stream.within(1002, 2001)
    ((2, 4), None)
    """

    def __init__(self, mss_bytes: int) -> None:
        self._mss_bytes = mss_bytes
        self._ends = [1]

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        return self._ends[-1]

    def has_short_packet(self) -> bool:
        """Whether the last packet is not full."""
        return len(self._ends) > 1 and self._ends[-1] - self._ends[-2] < self._mss_bytes

    def tail_of(self, size_bytes: int, last_sent: int = 0) -> int:
        """Return the bytes of the last packet after a write if that is short, else 0."""
        waiting = self._ends[-1] - self._ends[-2] if self._can_fill_up(last_sent) else 0
        return (waiting + size_bytes) % self._mss_bytes

    def _can_fill_up(self, last_sent: int) -> bool:
        return self.has_short_packet() and len(self._ends) - 1 > last_sent

    def write(self, size_bytes: int, last_sent: int = 0) -> int:
        """Add data, and return the number of packets that they add.

        They fill up the last packet if it was not sent: `last_sent` is the last one that was.
        """
        end = self.end + size_bytes
        if self._can_fill_up(last_sent):
            self._ends[-1] = min(end, self._ends[-2] + self._mss_bytes)
        before = len(self._ends)
        while self._ends[-1] < end:
            self._ends.append(min(end, self._ends[-1] + self._mss_bytes))
        return len(self._ends) - before

    def bytes_of(self, number: int) -> tuple[int, int]:
        """Return the first byte of a packet, and the one behind its last."""
        return (0, 1) if number == 0 else (self._ends[number - 1], self._ends[number])

    def acknowledged_by(self, ack: int) -> int:
        """Return the last packet that an acknowledgement covers whole; -1 for none."""
        return bisect_right(self._ends, ack) - 1

    def within(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the packets whole in a SACK block: the first, and the one behind the last."""
        first = max(bisect_left(self._ends, left) + 1, 1)
        behind = bisect_right(self._ends, right)
        return (first, behind) if first < behind else None
