"""`--beside ns2` of run, compare and sweep: the same runs in ns-2, and paired differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cwndlab.cli import options
from cwndlab.cli.output import INTERVAL, detail, print_frame, print_table, say, warn
from cwndlab.message import plural

if TYPE_CHECKING:
    from cwndlab.sweeps import Beside, Sweep

Command = TypeVar("Command", bound="Callable[..., Any]")

MOST_ROWS = 100
EXIT_FAILED = 1


def beside_options(command: Command) -> Command:
    """`--beside ns2` and `--ns PATH`."""
    program = click.option(
        "--ns", type=click.Path(path_type=Path), metavar="PATH",
        help="With --beside: the ns-2 program.  [default: ns on the path]",
    )  # fmt: skip
    beside = click.option(
        "--beside", type=options.Choice("ns2"), metavar="ns2",
        help="Also run everything in ns-2, and print the paired differences.",
    )  # fmt: skip
    return beside(program(command))


def check_beside(beside: str | None, ns: Path | None, **others: object) -> None:
    """Refuse `--ns` without `--beside`, and options that `--beside` has no results for.

    Raises
    ------
    click.UsageError
        With the option.
    """
    if beside is None:
        if ns is not None:
            raise click.UsageError("`--ns` needs `--beside ns2`")
        return
    for option, value in others.items():
        if value not in (None, False, (), []):
            name = option.replace("_", "-")
            raise click.UsageError(f"`--{name}` cannot be used with `--beside`")


def run_beside(
    sweep: Sweep,
    folder: Path,
    ns: Path | None,
    *,
    jobs: int | None,
    again: bool = False,
    as_json: bool,
) -> Beside:
    """Run a sweep in cwndlab and in ns-2, through a store, and print both."""
    from cwndlab.cli.sweep_progress import progress_bar
    from cwndlab.runs.store import Store
    from cwndlab.sweeps import beside

    with Store(folder) as kept, progress_bar() as show:

        def tell(event: dict[str, Any]) -> None:
            if event["event"] == "failed":
                warn(f"failed: replicate {event['replicate']}: {event['error']}")
            show(event)

        try:
            found = beside.run_beside(sweep, kept, ns=ns, jobs=jobs, again=again, progress=tell)
        except KeyboardInterrupt:
            warn(f"stopped; finished runs are kept in {folder}; the same command resumes")
            raise
    detail(f"runs are kept in {folder}")
    if as_json:
        click.echo(found.to_json())
    else:
        print_beside(found)
    if failed := [*found.ours.failed, *found.theirs.failed]:
        warn(f"{plural(len(failed), 'run')} failed, the first: {failed[0]['error']}")
        raise click.exceptions.Exit(EXIT_FAILED)
    return found


def print_beside(found: Beside) -> None:
    """Print both means and the paired difference of every cell and metric."""
    from cwndlab.cli.display import display
    from cwndlab.tables import difference, with_interval

    table = found.differences
    if display.format == "csv":
        print_frame(table)
        return
    measures = {measure.key: measure for measure in found.ours.sweep.measures}
    axes = found.ours.axes
    rows: list[list[str]] = []
    for row in table.head(MOST_ROWS).to_dicts():
        measure = measures[row["metric"]]
        ours, theirs = (
            {"mean": row[side], "ci95_low": row[f"{side}_ci95_low"],
             "ci95_high": row[f"{side}_ci95_high"]}
            for side in ("cwndlab", "ns2")
        )  # fmt: skip
        rows.append([
            *(row[axis] for axis in axes),
            measure.title,
            with_interval(ours, measure),
            with_interval(theirs, measure),
            difference(row, measure),
            _relative(row),
        ])  # fmt: skip
    replicates = plural(found.ours.sweep.replicates, "replicate")
    print_table(
        f"{found.ours.sweep.name} in cwndlab and in {found.version}: {INTERVAL}, {replicates}; "
        "differences are paired by replicate",
        [*axes, "metric", "cwndlab", found.version, "difference", "relative"],
        rows,
        text_columns=len(axes) + 1,
    )
    if table.height > MOST_ROWS:
        say(f"{table.height - MOST_ROWS} more rows; `--format csv` has all of them")


def _relative(row: dict[str, Any]) -> str:
    """Write the difference as a share of ns-2's mean, with its interval."""
    if row["mean"] is None or not row["ns2"]:
        return "-"
    share = f"{100 * row['mean'] / row['ns2']:+.2f}"
    if row["ci95_low"] is None:
        return f"{share} %"
    half_width = (row["ci95_high"] - row["ci95_low"]) / 2
    return f"{share} ± {100 * half_width / abs(row['ns2']):.2f} %"
