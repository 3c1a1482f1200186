"""What results of many runs share: their tables as data frames, files, JSON and HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwndlab.files import write_parquet, write_whole
from cwndlab.jsontext import dumps

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
    import polars as pl


class ResultTables:
    """A result with named tables, the main one first."""

    FILE: ClassVar[str] = "result.json"
    """What `save` calls its JSON."""

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        raise NotImplementedError

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text; numbers that are not finite are null."""
        return dumps(self.to_dict(), indent)

    def to_pandas(self) -> pd.DataFrame:
        """Return the main table as a pandas data frame."""
        return next(iter(self.tables.values())).to_pandas()

    def save(self, directory: str | Path) -> Path:
        """Write every table as ``NAME.parquet``, and `to_json` as `FILE`.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            write_parquet(folder / f"{name}.parquet", table)
        write_whole(folder / self.FILE, f"{self.to_json()}\n".encode())
        return folder

    def _repr_html_(self) -> str:
        return html_of(next(iter(self.tables.values())))


def html_of(table: pl.DataFrame) -> str:
    """Return a data frame as a notebook shows it."""
    return table._repr_html_()  # pyright: ignore[reportPrivateUsage]
