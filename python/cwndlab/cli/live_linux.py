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
    "--virtual", is_flag=True,
    help="Run in virtual time, with a kernel from `cwndlab virtual-kernel build`: needs no root, "
         "and runs repeat exactly.",
)  # fmt: skip
@click.option(
    "--kernel", metavar="NAME",
    help="With --virtual, the kernel.  [default: default, or the only one]",
)  # fmt: skip
@click.option(
    "--beside",
    is_flag=True,
    help="Also simulate the scenario several times with profile linux, and compare the live run "
    "with their spread.",
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
    virtual: bool,
    kernel: str | None,
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
    if kernel is not None and not virtual:
        raise click.UsageError("`--kernel` names a kernel in virtual time and needs `--virtual`")
    asked = Asked(file, beside, replicates, as_json, out, plot, settings, seed, look)
    carry_out(asked, "linux", print_live, virtual=virtual, kernel=kernel)
