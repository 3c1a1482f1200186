"""What results share: their tables as data frames, files, JSON and HTML."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwndlab import markup
from cwndlab.arguments import Function, keywords
from cwndlab.errors import MissingPackageError
from cwndlab.files import made_folder, write_parquet, write_whole
from cwndlab.jsontext import dumps

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
    import polars as pl

_NUMBER = re.compile(r"[≤≥=<>▲▼ ]*[-\N{MINUS SIGN}+]?\d")
PANDAS = "pip install 'pandas>=2.0,<4' 'pyarrow>=14'"


def _of_figures() -> Iterable[str]:
    from cwndlab.plots import FigureStyle

    return inspect.signature(FigureStyle.of).parameters


def plotting(method: Function) -> Function:
    """Let a method that plots refuse what `cwndlab.plots.FigureStyle.of` does not take."""
    return keywords(_of_figures, lambda: {"figsize": "width", "size": "width"})(method)


def plotting_over(method: Function) -> Function:
    """Do the same for a method that takes axes, which has other words than seaborn's."""
    words = {"figsize": "width", "size": "width", "col": "panel", "row": "panel", "color": "hue"}
    return keywords(_of_figures, lambda: words)(method)


class ResultTables:
    """A result with named tables, the main one first."""

    FILE: ClassVar[str] = "result.json"
    """What `save` calls its JSON."""

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        raise NotImplementedError

    def table(self) -> pl.DataFrame:
        """Return the main table as the terminal shows it."""
        return next(iter(self.tables.values()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        raise NotImplementedError

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text; numbers that are not finite are null."""
        return dumps(self.to_dict(), indent)

    def to_pandas(self) -> pd.DataFrame:
        """Return the main table as a pandas data frame.

        Raises
        ------
        MissingPackageError
            If pandas or pyarrow is not installed.
        """
        return pandas_of(next(iter(self.tables.values())))

    def to_latex(self, title: str = "", **chosen: Any) -> str:
        """Return `table` as LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        title : str
            A comment above it.
        **chosen
            What `table` takes.
        """
        return latex_of(self.table(**chosen), title)

    def to_markdown(self, title: str = "", **chosen: Any) -> str:
        """Return `table` in the Markdown of GitHub.

        Parameters
        ----------
        title : str
            A heading above it.
        **chosen
            What `table` takes.
        """
        return markdown_of(self.table(**chosen), title)

    def save(self, directory: str | Path) -> Path:
        """Write every table as ``NAME.parquet``, and `to_json` as `FILE`.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        folder = made_folder(directory)
        for name, table in self.tables.items():
            write_parquet(folder / f"{name}.parquet", table)
        write_whole(folder / self.FILE, f"{self.to_json()}\n".encode())
        return folder

    def __repr__(self) -> str:
        sizes = (f"{frame.height} {name}" for name, frame in self.tables.items())
        return f"<{type(self).__name__}: {', '.join(sizes)}>"

    def _repr_html_(self) -> str:
        return html_of(next(iter(self.tables.values())))


def html_of(table: pl.DataFrame) -> str:
    """Return a data frame as a notebook shows it."""
    return table._repr_html_()  # pyright: ignore[reportPrivateUsage]


def pandas_of(table: pl.DataFrame) -> pd.DataFrame:
    """Return a data frame of pandas.

    Raises
    ------
    MissingPackageError
        If pandas or pyarrow is not installed.
    """
    try:
        for package in ("pandas", "pyarrow"):
            importlib.import_module(package)
    except ImportError as error:
        raise MissingPackageError(
            f"to_pandas: expected the packages pandas and pyarrow: {PANDAS}"
        ) from error
    return table.to_pandas()


def latex_of(table: pl.DataFrame, title: str = "") -> str:
    r"""Return a data frame as a table in LaTeX.

    Examples
    --------
    >>> import polars as pl
    >>> print(latex_of(pl.DataFrame({"rule": ["A_1"], "loss [%]": ["0.5 ± 0.1"]})))
    \begin{tabular}{lr}
    \toprule
    rule & loss [\%] \\
    \midrule
    A\_1 & 0.5 $\pm$ 0.1 \\
    \bottomrule
    \end{tabular}
    """
    return markup.latex(title, table.columns, _rows(table), _text_columns(table)).removeprefix(
        "% \n"
    )


def markdown_of(table: pl.DataFrame, title: str = "") -> str:
    """Return a data frame as a table in Markdown.

    Examples
    --------
    >>> import polars as pl
    >>> print(markdown_of(pl.DataFrame({"rule": ["Reno"], "timeouts": [3]})))
    | rule | timeouts |
    | :--- | ---: |
    | Reno | 3 |
    """
    return markup.markdown(title, table.columns, _rows(table), _text_columns(table)).removeprefix(
        "****\n\n"
    )


def _rows(table: pl.DataFrame) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in table.iter_rows()]


def _text(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _text_columns(table: pl.DataFrame) -> int:
    """Count the columns before the first one that has numbers, perhaps with intervals."""
    for at, column in enumerate(table.columns):
        cells = [_text(cell) for cell in table[column].to_list()]
        if cells and all(_NUMBER.match(cell) or cell == "-" for cell in cells):
            return max(at, 1)
    return table.width
