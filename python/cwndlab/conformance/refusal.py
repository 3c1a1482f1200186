"""What a script asks for and the simulator does not have."""

from __future__ import annotations


class NotModelledError(Exception):
    """A line of a script is about something that the simulator does not have.

    Attributes
    ----------
    line : int
        Number of the line.
    reason : str
        What it is.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line: int = line
        self.reason: str = reason
