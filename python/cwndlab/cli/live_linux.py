"""`cwndlab live linux`: scenarios with Linux TCP flows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.live_run import Asked, carry_out, file_argument, plot_option, replicates_option
from cwndlab.cli.live_tables import print_live

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle


@click.command()
@file_argument
@click.option(
    "--beside",
    is_flag=True,
    help="Also simulate the scenario with profile linux; judge by the spread.",
)
@replicates_option
@options.json_option
@options.out_option
@plot_option
@figure_options.figure_options
@options.set_option
@options.rules_option
@options.seed_option
def linux(
    file: Path,
    beside: bool,
    replicates: int | None,
    as_json: bool,
    out: Path | None,
    plot: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    look: FigureStyle | None,
) -> None:
    """Run a scenario with Linux TCP flows.

    They cross an emulated network on this machine.
    """
    asked = Asked(file, beside, replicates, as_json, out, plot, settings, seed, look)
    carry_out(asked, "linux", print_live)
