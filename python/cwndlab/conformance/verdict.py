"""How far the simulator agrees with a script, or with a flow of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass

AGREES, DIFFERS, NOT_MODELLED = "agrees", "differs", "not modelled"
VERDICTS = (AGREES, DIFFERS, NOT_MODELLED)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a script, or on a flow of a recorded run.

    Attributes
    ----------
    script : str
        Its file; of a recorded run its folder.
    verdict : str
        ``agrees``, ``differs`` or ``not modelled``.
    line : int
        Number of the line that differs or is not modelled; 0 if there is none.
    expected : str
        What the script has there, or what the kernel did.
    found : str
        What the simulator sent or found instead, in packetdrill's notation, or why that is not
        modelled.
    checks : int
        Packets and assertions that were compared; of a recorded run packets and ACKs.
    flow : str
        The flow of a recorded run.
    time_s : float or None
        When the flow of a recorded run begins to differ, seconds.

    Examples
    --------
    >>> str(Verdict("a.pkt", "differs", 7, "+0 > . 1:1001(1000)", "sent +0 > . 1001:2001(1000)"))
    'differs at line 7: expected +0 > . 1:1001(1000), sent +0 > . 1001:2001(1000)'
    """

    script: str
    verdict: str
    line: int = 0
    expected: str = ""
    found: str = ""
    checks: int = 0
    flow: str = ""
    time_s: float | None = None

    def __str__(self) -> str:
        """Write it in a line."""
        place = f" at line {self.line}" if self.line else ""
        if self.time_s is not None:
            place = f" at {self.time_s:.6f} s"
        match self.verdict:
            case "differs":
                return f"differs{place}: expected {self.expected}, {self.found}"
            case "not modelled":
                return f"not modelled{place}: {self.found}"
            case _:
                return self.verdict

    @property
    def agrees(self) -> bool:
        """Whether all that is compared is equal."""
        return self.verdict == AGREES
