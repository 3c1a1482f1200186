"""How far the simulator agrees with a script."""

from __future__ import annotations

from dataclasses import dataclass

AGREES, DIFFERS, NOT_MODELLED = "agrees", "differs", "not modelled"
VERDICTS = (AGREES, DIFFERS, NOT_MODELLED)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a script.

    Attributes
    ----------
    script : str
        Its file.
    verdict : str
        ``agrees``, ``differs`` or ``not modelled``.
    line : int
        Number of the line that differs or is not modelled; 0 if there is none.
    expected : str
        What the script has there.
    found : str
        What the simulator sent or found instead, in packetdrill's notation, or why that is not
        modelled.
    checks : int
        Packets and assertions that were compared.

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

    def __str__(self) -> str:
        """Write it in a line."""
        match self.verdict:
            case "differs":
                return f"differs at line {self.line}: expected {self.expected}, {self.found}"
            case "not modelled":
                return f"not modelled at line {self.line}: {self.found}"
            case _:
                return self.verdict

    @property
    def agrees(self) -> bool:
        """Whether all that is compared is equal."""
        return self.verdict == AGREES
