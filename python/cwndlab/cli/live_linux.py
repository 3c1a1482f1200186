"""`cwndlab live linux`: scenarios with Linux TCP flows."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.live_run import Asked, carry_out, file_argument, plot_option
from cwndlab.cli.live_tables import print_live


@click.command()
@file_argument
@click.option(
    "--beside",
    is_flag=True,
    help="Also simulate the scenario with profile linux; print and plot both.",
)
@options.json_option
@options.out_option
@plot_option
@options.set_option
@options.rules_option
@options.seed_option
def linux(
    file: Path,
    beside: bool,
    as_json: bool,
    out: Path | None,
    plot: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
) -> None:
    """Run a scenario with Linux TCP flows.

    They cross an emulated network on this machine.
    """
    from cwndlab.live.run import counterpart
    from cwndlab.live.run import linux as play

    asked = Asked(file, beside, as_json, out, plot, settings, seed)
    carry_out(asked, "live", play, lambda scenario, _: counterpart(scenario), print_live)
