"""`cwndlab report`: results as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.output import say, steps


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--sweep", metavar="NAME", help="Only this sweep of the store.  [default: all]")
@options.rules_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file.  [default: DIR/report.html]",
)
def report(folder: Path, sweep: str | None, output: Path | None) -> None:
    """Write a comparison or a store's sweeps as one HTML file.

    DIR is a store of sweeps, or a folder that `cwndlab compare --out` wrote. The file needs no
    other file. It contains plots and tables with confidence intervals, the settings, and the
    provenance of the runs, and lists missing runs.
    """
    from cwndlab.report import write_report

    with steps() as tell:
        written = write_report(folder, output, sweep=sweep, progress=tell)
    say(f"wrote {written}")
