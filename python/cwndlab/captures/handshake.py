"""The handshake of a captured connection: where it was captured, and what both ends offer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from cwndlab.captures.segments import Segment
from cwndlab.errors import ScenarioError

Place = Literal["sender", "receiver"]
CLEAR = 3.0
"""Ratio of its two parts from which on the longer one is the round trip."""


class Handshake(NamedTuple):
    """The last SYN before its answer, the answer, and the segment after it."""

    opening: Segment
    answer: Segment
    third: Segment

    @classmethod
    def of(cls, path: Path, name: str, segments: Iterable[Segment]) -> Handshake:
        """Find it among the segments of a connection.

        Raises
        ------
        ScenarioError
            If it is missing.
        """
        opening, answer = None, None
        for segment in segments:
            if segment.syn and not segment.ack and answer is None:
                opening = segment
            elif segment.syn and opening is not None and answer is None:
                answer = segment
            elif opening is not None and answer is not None and segment.source == opening.source:
                return cls(opening, answer, segment)
        raise ScenarioError(
            f"{path}: the handshake of {name} is not in the capture: expected one that "
            "begins before its SYN, which tells the first RTT and where the packets were seen"
        )

    def place(self, sender: tuple[str, int]) -> Place | None:
        """Tell the place: there, the round trip is behind the packet that its host sent."""
        first_s = self.answer.time_s - self.opening.time_s
        second_s = self.third.time_s - self.answer.time_s
        if max(first_s, second_s) < CLEAR * min(first_s, second_s):
            # In the middle of the path, or at a host that takes as long as the path.
            return None
        near = self.opening if first_s > second_s else self.answer
        return "sender" if near.source == sender else "receiver"

    def round_trip(self, sender: tuple[str, int], place: Place) -> tuple[Segment, Segment]:
        """Return the packet whose host is at this place, and what answers it."""
        is_opener_near = (self.opening.source == sender) == (place == "sender")
        return (self.opening, self.answer) if is_opener_near else (self.answer, self.third)

    def syn(self, source: tuple[str, int]) -> Segment:
        """Return the SYN that this socket sent."""
        return self.opening if self.opening.source == source else self.answer

    @property
    def segment_size(self) -> int:
        """The smaller MSS of the two, 0 if neither offers one."""
        sizes = (self.opening.segment_size, self.answer.segment_size)
        return min((size for size in sizes if size), default=0)

    def window_bytes(self, ack: Segment) -> int:
        """Return the window that a later segment advertises (RFC 7323 section 2.3)."""
        if None in (self.opening.window_scale, self.answer.window_scale):
            return ack.window
        return ack.window << (self.syn(ack.source).window_scale or 0)
