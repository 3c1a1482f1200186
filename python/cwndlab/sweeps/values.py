"""Measured values of many runs, by cell and replicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

NOT_DONE = 0
"""Trace hash of a run that has not finished.

A finished run has this hash with probability 5e-20.
"""


class Values:
    """One number for each run and metric, and each run's trace hash.

    They are in arrays over all cells, replicate by replicate: 40 bytes per run with four metrics.
    The system allocates memory at the first write, so unused entries take none.

    Parameters
    ----------
    cells : int
        Number of cells.
    metrics : sequence of str
        The metrics.
    replicates : int
        Expected number of replicates; there may be more.
    """

    def __init__(self, cells: int, metrics: Sequence[str], replicates: int) -> None:
        self.cells: int = cells
        self.metrics: dict[str, int] = {metric: at for at, metric in enumerate(metrics)}
        self._expected = replicates
        self.numbers: np.ndarray = np.zeros((0, len(metrics), cells))
        """Replicate, metric, cell; NaN if a run has no value."""
        self.hashes: np.ndarray = np.zeros((0, cells), dtype=np.uint64)
        """Replicate, cell."""
        self.done: int = 0
        """Finished runs."""

    def put(
        self, cell: int, replicate: int, trace_hash: int, values: Mapping[str, float | None]
    ) -> None:
        """Add a finished run."""
        if replicate >= len(self.hashes):
            self._grow(replicate + 1)
        self.done += int(self.hashes[replicate, cell] == NOT_DONE)
        self.hashes[replicate, cell] = trace_hash
        for metric, at in self.metrics.items():
            value = values[metric]
            self.numbers[replicate, at, cell] = np.nan if value is None else value

    def of(self, cell: int, metric: str) -> list[float | None]:
        """Values by replicate up to the last that has finished.

        None for missing values and runs.
        """
        finished = self.hashes[:, cell] != NOT_DONE
        last = int(finished.nonzero()[0].max(initial=-1))
        column = self.numbers[: last + 1, self.metrics[metric], cell]
        known = finished[: last + 1] & ~np.isnan(column)
        return [
            value if is_known else None
            for value, is_known in zip(column.tolist(), known.tolist(), strict=True)
        ]

    def counts(self) -> np.ndarray:
        """Finished replicates of every cell."""
        found = np.zeros(self.cells, dtype=np.int64)
        for row in self.hashes:
            found += row != NOT_DONE
        return found

    def count(self, cell: int) -> int:
        """Finished replicates of a cell."""
        return int(np.count_nonzero(self.hashes[:, cell]))

    def means(self, metric: str) -> np.ndarray:
        """Means over the replicates of every cell; NaN if none has a value."""
        total, count = np.zeros(self.cells), np.zeros(self.cells)
        for row, numbers in zip(self.hashes, self.numbers[:, self.metrics[metric]], strict=True):
            known = (row != NOT_DONE) & ~np.isnan(numbers)
            total[known] += numbers[known]
            count += known
        return np.divide(total, count, out=np.full(self.cells, np.nan), where=count > 0)

    def is_one_run(self, cell: int, other: int | None = None) -> bool:
        """Whether two or more replicates of a cell are all the same run.

        With another cell, whether pairs of both are.
        """
        rows = self.hashes[:, [cell] if other is None else [cell, other]]
        pairs = rows[(rows != NOT_DONE).all(axis=1)]
        return len(pairs) > 1 and bool((pairs == pairs[0]).all())

    def cells_of_one_run(self) -> np.ndarray:
        """Cells whose replicates, two or more, are all the same run."""
        first, is_same = np.zeros(self.cells, dtype=np.uint64), np.ones(self.cells, dtype=bool)
        for row in self.hashes:
            first = np.where(first == NOT_DONE, row, first)
            is_same &= (row == NOT_DONE) | (row == first)
        return (is_same & (self.counts() > 1)).nonzero()[0]

    def _grow(self, least: int) -> None:
        # Double the size: a sweep that adds replicates one by one copies each once on average.
        many = max(least, self._expected, 2 * len(self.hashes))
        numbers, hashes = (
            np.zeros((many, *self.numbers.shape[1:])),
            np.zeros((many, self.cells), dtype=np.uint64),
        )
        numbers[: len(self.numbers)], hashes[: len(self.hashes)] = self.numbers, self.hashes
        self.numbers, self.hashes = numbers, hashes
