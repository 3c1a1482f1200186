"""Parts: immutable Parquet files with their checksum in their name."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from cwndlab.runs.store.layout import write_whole
from cwndlab.runs.store.schema import Record, Use

if TYPE_CHECKING:
    import polars as pl

Row = TypeVar("Row", Record, Use)

MOST_ROWS = 4096
MOST_BYTES = 32 << 20
_FLOATS, _WHOLE = ("duration_s",), ("seed", "replicate")


class Parts(Generic[Row]):
    """The parts of one kind, in the order of their creation."""

    def __init__(self, folder: Path, kind: str, row: type[Row]) -> None:
        self.folder, self.kind, self._row = folder, kind, row
        self._name = re.compile(rf"{kind}-(?P<number>\d+)-(?P<checksum>[0-9a-f]{{16}})\.parquet")

    def paths(self) -> list[Path]:
        """List them, the oldest first."""
        found = [
            path
            for path in self.folder.glob(f"{self.kind}-*.parquet")
            if self._name.fullmatch(path.name)
        ]
        return sorted((path for path in found if path.is_file()), key=self.number)

    def number(self, path: Path) -> int:
        """Return the position of a part in their order."""
        name = self._name.fullmatch(path.name)
        return int(name["number"]) if name else -1

    def frame(self, path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame | None:
        """Read a part; None if its content does not match its checksum.

        Raises
        ------
        FileNotFoundError
            If it has been merged into another meanwhile.
        """
        import polars as pl

        data, name = path.read_bytes(), self._name.fullmatch(path.name)
        if name is None or _checksum(data) != name["checksum"]:
            return None
        there = pl.read_parquet_schema(io.BytesIO(data))
        # Parts of format 1 lack columns, which get defaults.
        missing = [
            pl.lit(value).alias(name)
            for name, value in self._row._field_defaults.items()
            if name not in there
        ]
        chosen = list(columns or self._row._fields)
        frame = pl.read_parquet(
            io.BytesIO(data), columns=[name for name in chosen if name in there]
        )
        return frame.with_columns(missing).select(chosen)

    def rows(self, path: Path) -> Iterator[Row]:
        """Read the rows of a part; none if it is damaged."""
        frame = self.frame(path)
        if frame is not None:
            yield from map(self._row._make, frame.select(self._row._fields).iter_rows())

    def write(self, rows: Sequence[Row]) -> list[Path]:
        """Write rows into as many parts as necessary."""
        import polars as pl

        number = max(map(self.number, self.paths()), default=0)
        written = []
        for chunk in _chunks(rows):
            frame = pl.DataFrame(
                [list(row) for row in chunk], schema=_schema(self._row), orient="row"
            )
            buffer = io.BytesIO()
            frame.write_parquet(buffer, compression="zstd", statistics=False)
            number += 1
            path = self.folder / f"{self.kind}-{number:06d}-{_checksum(buffer.getvalue())}.parquet"
            write_whole(path, buffer.getvalue())
            written.append(path)
        return written

    def small(self) -> list[Path]:
        """List parts that may be merged with new rows.

        These are the last ones that are less than half full.
        """
        found: list[Path] = []
        for path in reversed(self.paths()):
            frame = self.frame(path, self._row._fields[:1])
            if (
                frame is None
                or frame.height >= MOST_ROWS // 2
                or path.stat().st_size >= MOST_BYTES // 8
            ):
                break
            found.insert(0, path)
        return found


def _schema(row: type[Row]) -> dict[str, type[pl.DataType]]:
    import polars as pl

    def dtype(name: str) -> type[pl.DataType]:
        # Seeds reach 2^64 - 1.
        return pl.Float64 if name in _FLOATS else pl.UInt64 if name in _WHOLE else pl.String

    return {name: dtype(name) for name in row._fields}


def _chunks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += sum(len(field) for field in row if isinstance(field, str))
        if len(chunk) >= MOST_ROWS or size >= MOST_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
