"""When an event of a script happens."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
# A range is written with ~; dots give the end of a call that blocks.
_MOMENT = re.compile(
    rf"(?:(?P<any>\*)|(?P<plus>\+)?(?P<from>{_NUMBER})"
    rf"(?:\s*(?P<link>~|\.\.\.)\s*\+?(?P<to>{_NUMBER}))?)(?=\s|[<>`%]|\w)"
)


@dataclass(frozen=True)
class Moment:
    """A time, absolute or from the event before, or a range of times.

    Attributes
    ----------
    from_s : float or None
        Seconds; None for any time (``*``).
    to_s : float
        End of the range, seconds.
    is_relative : bool
        Whether both are from the event before.
    text : str
        As it is written.

    Examples
    --------
    >>> moment = Moment.at("+.3~+.31 > . 1:1001(1000) ack 1", 0)[0]
    >>> moment.from_s, moment.to_s, moment.is_relative, moment.text
    (0.3, 0.31, True, '+.3~+.31')
    """

    from_s: float | None
    to_s: float
    is_relative: bool
    text: str

    @classmethod
    def at(cls, text: str, start: int) -> tuple[Moment, int] | None:
        """Read the time at this place of a text; return it and the place behind it."""
        found = _MOMENT.match(text, start)
        if found is None:
            return None
        if found["any"]:
            return cls(None, 0.0, False, "*"), found.end()
        from_s = float(found["from"])
        # The end of a call is when it returns, not when it is made.
        to_s = float(found["to"]) if found["link"] == "~" else from_s
        return cls(from_s, to_s, found["plus"] is not None, found[0]), found.end()
