"""`cwndlab live quic`: scenarios with QUIC transfers on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.live_quic_tables import print_quic
from cwndlab.cli.live_run import Asked, carry_out, file_argument, plot_option, replicates_option
from cwndlab.errors import ScenarioError

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle


@click.command()
@file_argument
@click.option(
    "--beside",
    is_flag=True,
    help="Also simulate the scenario several times with quinn's packets and pacing, and compare "
    "the live run with their spread.",
)
@replicates_option
@options.json_option
@options.out_option
@plot_option
@figure_options.figure_options
@click.option("--qlog", is_flag=True, help="Record each flow in DIR/qlog for qvis; needs --out.")
@click.option(
    "--port",
    type=options.whole_number(0, 65535),
    default=0,
    help="Port of the relay; 0 chooses a free one.",
)
@options.set_option
@options.rules_option
@options.seed_option
def quic(
    file: Path,
    beside: bool,
    replicates: int | None,
    as_json: bool,
    out: Path | None,
    plot: Path | None,
    qlog: bool,
    port: int,
    settings: tuple[str, ...],
    seed: int | None,
    look: FigureStyle | None,
) -> None:
    """Run a scenario with QUIC transfers.

    They cross a relay on 127.0.0.1 that emulates the network.
    """
    if qlog and out is None:
        raise ScenarioError("`--qlog` needs `--out`, the directory of its files")

    asked = Asked(file, beside, replicates, as_json, out, plot, settings, seed, look)
    carry_out(asked, "quic", print_quic, qlog=out / "qlog" if qlog and out else None, port=port)
