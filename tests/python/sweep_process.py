"""`cwndlab sweep` in its own process, read event by event."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from waiting import HANG_S


class SweepProcess:
    """`cwndlab sweep sweep.json --store store --json` in a folder. Leaving kills what still runs.

    It gets no further ahead of its reader than a pipe holds, about 150 runs: how many it has done
    when so many of its events have been read does not depend on how busy the machine is."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [
            sys.executable,
            "-m",
            "cwndlab",
            "sweep",
            "sweep.json",
            "--store",
            "store",
            "--json",
            *arguments,
        ]
        with tempfile.NamedTemporaryFile(
            "w", prefix="messages", dir=folder, delete=False
        ) as messages:
            self._messages = Path(messages.name)
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.PIPE, stderr=messages, text=True
            )
        self._hang = threading.Timer(HANG_S, self.process.kill)
        self._hang.daemon = True
        self._hang.start()

    def __enter__(self) -> SweepProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._hang.cancel()
        self.process.kill()
        self.process.__exit__(None, None, None)

    @property
    def messages(self) -> str:
        """Standard error so far."""
        return self._messages.read_text()

    def events(self) -> Iterator[dict[str, Any]]:
        """Give events as they come, those not read yet; a line that was cut by the end of the
        process is none."""
        for line in self.process.stdout:
            if line.endswith("\n"):
                yield json.loads(line)

    def runs(self, most: int | None = None) -> list[str]:
        """Read until so many more runs are done, or the process has ended; give their keys."""
        return list(
            islice((event["key"] for event in self.events() if event["event"] == "run"), most)
        )

    def end(self) -> int:
        """Wait for its end, and give its exit code; what it still says is not kept."""
        for _ in self.events():
            pass
        return self.process.wait()

    def finish(self) -> list[dict[str, Any]]:
        """Read to its end, which has to be a good one; give the events."""
        events = list(self.events())
        assert self.process.wait() == 0, self.messages
        return events


def keys(events: list[dict[str, Any]]) -> list[str]:
    """Keys of the runs that were done."""
    return [event["key"] for event in events if event["event"] == "run"]
