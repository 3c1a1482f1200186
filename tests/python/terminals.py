"""A command as people run it: its messages go to a terminal, which shows how far it has come."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import IO

from waiting import HANG_S


class Terminal:
    """The command line in its own process, whose standard error is a terminal, and its standard
    output too if `stdout` is None. Leaving kills what still runs."""

    def __init__(
        self, *arguments: str | Path, folder: Path, stdout: int | IO[str] | None, columns: int = 200
    ) -> None:
        self._shown = b""
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cwndlab", *map(str, arguments)],
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            text=True,
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        os.close(self._master)
        self.process.__exit__(None, None, None)

    @property
    def shown(self) -> str:
        """All that was shown so far, without what moves the cursor and sets colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._shown.decode(errors="replace"))

    def read_until(self, *patterns: str) -> None:
        """Read until every pattern has been shown."""
        while not all(re.search(pattern, self.shown) for pattern in patterns):
            assert self._read(), f"ended before it showed {patterns}: {self.shown}"

    def read_to_the_end(self) -> str:
        """Read until the command has ended, and return all that was shown."""
        while self._read():
            pass
        return self.shown

    def _read(self) -> bool:
        """Wait for more to be shown; False where the command has ended."""
        ready, _, _ = select.select([self._master], [], [], HANG_S)
        assert ready, f"nothing was shown for {HANG_S:.0f} s after: {self.shown}"
        try:
            more = os.read(self._master, 65536)
        except OSError:  # Linux has it so: nobody has the other side open.
            return False
        self._shown += more
        return more != b""
