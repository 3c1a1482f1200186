"""Events of a running sweep, as dictionaries: for a progress bar, or another program.

- ``begin``: sweep, store, cells, runs
- ``checked``: at most every `EVERY_S`, before the first run: cells (valid ones), of (checked ones)
- ``note``: text that belongs to the numbers
- ``run``: one more run is done: key, cell, replicate, seed, trace_hash, duration_s, metrics, done,
  runs
- ``progress``: at most every `EVERY_S`: done, runs, found (those in the store), failed, rate_per_s,
  remaining_s, and ``best`` and ``worst`` (``largest``, ``smallest``): cell, metric, mean
- ``workers``: of the cluster, at first and after a change: address, workers, threads
- ``round``: replicates are added: round, cells (that need more), more (runs), runs
- ``failed``: a run ended with an error: cell, replicate, error
- ``end``: done, runs, found, failed, unmet (cells that missed the target), elapsed_s
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cwndlab.sweeps.definition import Sweep
    from cwndlab.sweeps.result import SweepResult

EVERY_S = 0.5


class Report:
    """Counts runs, and reports events to a callback."""

    def __init__(
        self, sweep: Sweep, findings: SweepResult, tell: Callable[[dict[str, Any]], object] | None
    ) -> None:
        self._sweep, self._findings, self._tell = sweep, findings, tell
        self._began_s = self._reported_s = time.monotonic()
        self._runs = self._found = self._computed = self._failed = 0

    def begin(self, cells: int, runs: int, store: str | None) -> None:
        """Report the sweep, cells and runs."""
        self._runs = runs
        self._send("begin", sweep=self._sweep.name, store=store, cells=cells, runs=runs)

    def checked(self, cells: int, of: int) -> None:
        """Report the number of checked cells, at most every `EVERY_S`."""
        if self._is_time():
            self._send("checked", cells=cells, of=of)

    def note(self, text: str) -> None:
        """Report a note."""
        self._send("note", text=text)

    def workers(self, *, address: str, workers: int, threads: int) -> None:
        """Report the number of a cluster's workers."""
        self._send("workers", address=address, workers=workers, threads=threads)

    def run(
        self, key: str, cell: Mapping[str, str], replicate: int, run: Mapping[str, Any],
        duration_s: float,
        metrics: Mapping[str, float | None],
    ) -> None:  # fmt: skip
        """One more run has been done."""
        self._computed += 1
        if self._tell is not None:
            self._send(
                "run", key=key, cell=dict(cell), replicate=replicate, seed=run["seed"],
                trace_hash=run["trace_hash"],
                duration_s=duration_s, metrics=dict(metrics), done=self._done, runs=self._runs,
            )  # fmt: skip
            self.tick()

    def found(self) -> None:
        """One more run was in the store."""
        self._found += 1
        self.tick()

    def failed(self, cell: Mapping[str, str], replicate: int, error: str) -> None:
        """One more run ended with an error."""
        self._failed += 1
        self._send("failed", cell=dict(cell), replicate=replicate, error=error)

    def round(self, number: int, cells: int, more: int) -> None:
        """Replicates are added."""
        self._runs += more
        self._send("round", round=number, cells=cells, more=more, runs=self._runs)

    def end(self) -> None:
        """Report the end."""
        self._send(
            "end", done=self._done, runs=self._runs, found=self._found, failed=self._failed,
            unmet=len(self._findings.unmet), elapsed_s=time.monotonic() - self._began_s,
        )  # fmt: skip

    def tick(self) -> None:
        """Report progress, at most every `EVERY_S`."""
        if not self._is_time():
            return
        rate = self._computed / (self._reported_s - self._began_s)
        left = self._runs - self._done - self._failed
        self._send(
            "progress", done=self._done, runs=self._runs, found=self._found, failed=self._failed,
            rate_per_s=rate,
            remaining_s=left / rate if rate else None, **(self._findings.extremes() or {}),
        )  # fmt: skip

    def _is_time(self) -> bool:
        """Whether progress is due; this call resets it."""
        now_s = time.monotonic()
        if self._tell is None or now_s - self._reported_s < EVERY_S:
            return False
        self._reported_s = now_s
        return True

    @property
    def _done(self) -> int:
        return len(self._findings)

    def _send(self, kind: str, **fields: Any) -> None:
        if self._tell is not None:
            self._tell({"event": kind, **fields})
