"""What the options of the whole program and of its tables ask for.

One object for the process, not click's context: events of a cluster come on other threads.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field

TERMINAL, FORMATS = "terminal", ("terminal", "latex", "markdown", "csv")
NARROWEST = 40
"""Columns of a terminal below which tables are not narrowed further."""


@dataclass
class Display:
    """How much is printed, and in which form.

    Examples
    --------
    >>> Display(wide=True).width is None
    True
    """

    wide: bool = False
    """Print tables as wide as they are."""
    format: str = TERMINAL
    """One of `FORMATS`."""
    quiet: bool = False
    """No progress and no notes."""
    verbose: bool = False
    """Also timings, seeds and files."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    """Names to what tables call them."""

    def labelled(self, text: str) -> str:
        """Return a text with labels in the place of names.

        Examples
        --------
        >>> named = Display(labels={"AIMD(1,0.5)": "Reno"})
        >>> named.labelled("Δ AIMD(1, 0.5)"), named.labelled("GAIMD(1, 0.5)")
        ('Δ Reno', 'GAIMD(1, 0.5)')
        """
        if not self.labels:
            return text
        names = [r"\s*".join(map(re.escape, name.replace(" ", ""))) for name in self.labels]
        found = re.compile("|".join(rf"(?<!\w)({name})(?![\w(])" for name in names))
        labels = list(self.labels.values())
        return found.sub(lambda match: labels[(match.lastindex or 1) - 1], text)

    @property
    def width(self) -> int | None:
        """Columns that a table may take; None without a limit.

        That is with `--wide`, and in files and pipes unless the variable COLUMNS is set.
        """
        # As `shutil.get_terminal_size` reads it, for which 0 is not set.
        is_set = os.environ.get("COLUMNS", "").lstrip("0").isdecimal()
        if self.wide or not (is_set or sys.stdout.isatty()):
            return None
        return max(NARROWEST, shutil.get_terminal_size().columns)

    @property
    def message_width(self) -> int | None:
        """Columns that a message may take; None without a limit, in files and pipes."""
        if not sys.stderr.isatty():
            return None
        return max(NARROWEST, shutil.get_terminal_size().columns)

    @property
    def is_terminal(self) -> bool:
        """Whether tables have their default form."""
        return self.format == TERMINAL

    @property
    def shows_progress(self) -> bool:
        """Whether progress is shown on standard error."""
        return sys.stderr.isatty() and not self.quiet

    def reset(self) -> None:
        """Forget what an earlier command of this process asked for."""
        self.__init__()  # type: ignore[misc]


display: Display = Display()
