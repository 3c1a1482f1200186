"""`--expect` and `--junit`: results that a build depends on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.output import say, warn

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.expectations import Expectation

EXIT_UNMET = 3
WIDEST = 160
"""Columns of a table that is not on a terminal."""

_expect = click.option(
    "--expect",
    "expectations",
    multiple=True,
    metavar="CONDITION",
    help='A condition on a metric, e.g. "harm < 0.2" or "interval(goodput)[env=square] >= 0.9"; '
    "exit with code 3 if a cell does not meet it.",
)
_junit = click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the verdicts of --expect as JUnit XML.",
)


class Expected:
    """The expectations of a command."""

    def __init__(self, texts: Iterable[str], junit: Path | None) -> None:
        from cwndlab.expectations import Expectation

        self.all: list[Expectation] = [Expectation.of(text) for text in texts]
        self._junit = junit

    def check(self, metrics: Iterable[str], labels: Mapping[str, Iterable[str]]) -> None:
        """Refuse an unknown metric or cell, before any run."""
        known, columns = list(metrics), {name: list(of) for name, of in labels.items()}
        for expectation in self.all:
            expectation.check(known, columns)

    def judge(self, summary: pl.DataFrame, runs: pl.DataFrame, command: str) -> bool:
        """Say which cells do not meet them, and return whether all do.

        The command ends with `EXIT_UNMET` where they do not (`end`), once it has said the rest.
        """
        if not self.all:
            return True
        from rich.console import Console
        from rich.table import Table

        from cwndlab.expectations import judge, shown, write

        verdicts = judge(self.all, summary, runs)
        if self._junit is not None:
            write(self._junit, verdicts, f"cwndlab {command}")
            say(f"wrote {self._junit}")
        failed = [verdict for verdict in verdicts if not verdict.holds]
        if not failed:
            return True
        warn(f"{len(failed)} of {len(verdicts)} expectations are not met:")
        columns = list(dict.fromkeys(name for each in failed for name in each.cell))
        # On standard error: standard output may be JSON.
        table = Table("expected", *columns, "found", box=None, pad_edge=False)
        for each in failed:
            cells = (each.cell.get(name, "") for name in columns)
            table.add_row(each.expectation.text, *cells, shown(each))
        Console(stderr=True, width=display.width or WIDEST, highlight=False).print(table)
        return False


def end(*, is_met: bool) -> None:
    """End with `EXIT_UNMET` where expectations are not met."""
    if not is_met:
        raise click.exceptions.Exit(EXIT_UNMET)


def expect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add both options; the command gets them as `expected`."""

    @functools.wraps(command)
    def wrapper(
        *arguments: Any, expectations: tuple[str, ...], junit: Path | None, **named: Any
    ) -> Any:
        if junit is not None and not expectations:
            raise click.UsageError("`--junit` needs `--expect`")
        options.check_parent("--junit", junit)
        return command(*arguments, expected=Expected(expectations, junit), **named)

    return _expect(_junit(wrapper))
