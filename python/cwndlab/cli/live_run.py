"""Runs, files and output that `cwndlab live linux` and `cwndlab live quic` share.

With --beside, the same scenario is simulated several times, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.live_tables import print_beside
from cwndlab.cli.output import meter, say

if TYPE_CHECKING:
    from cwndlab.live_runs.result import LiveResult
    from cwndlab.plots import FigureStyle

file_argument: options.Option = click.argument(
    "file", type=click.Path(path_type=Path), metavar="FILE.toml"
)
plot_option: options.Option = click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Plot windows, goodput and queue (.png, .svg, .pdf); with --beside, of the live and a "
         "simulated run.",
)  # fmt: skip
replicates_option: options.Option = click.option(
    "--replicates", type=options.whole_number(2, 1_000_000), metavar="N",
    help="With --beside: number of simulated runs, with consecutive seeds from the scenario's.  "
         "[default: 10]",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """Arguments of a live run."""

    file: Path
    beside: bool
    replicates: int | None
    as_json: bool
    out: Path | None
    plot: Path | None
    settings: tuple[str, ...]
    seed: int | None
    look: FigureStyle | None


def carry_out(
    asked: Asked,
    kind: Literal["linux", "quic"],
    show: Callable[[LiveResult], None],
    **more: Any,
) -> None:
    """Run a scenario live; print, plot or write its result.

    Parameters
    ----------
    asked : Asked
        The command line's arguments.
    kind : {"linux", "quic"}
        The flows.
    show : callable
        Prints the tables of the result.
    **more
        Further arguments of `cwndlab.live`.
    """
    if asked.replicates is not None and not asked.beside:
        raise click.UsageError("`--replicates` needs `--beside`: they are simulated runs")
    plot = asked.plot
    if plot is None and asked.beside:
        plot = (asked.out or Path()) / f"{asked.file.stem}-beside.png"
    options.check_plot(plot)

    from cwndlab.kernel_runs import program
    from cwndlab.live_runs.ensemble import REPLICATES
    from cwndlab.live_runs.running import TRACES, live
    from cwndlab.scenario import Scenario

    scenario = Scenario.load(asked.file).patch(options.patch_of(asked.settings))
    look = figure_options.check_run(asked.look, scenario)
    options.make_folder(asked.out)
    program.find()
    with meter(f"{asked.file.stem}, live {kind}", scenario.duration_s, "s") as progress:
        found = live(
            scenario,
            kind,
            beside=asked.beside,
            replicates=asked.replicates or REPLICATES,
            seed=asked.seed,
            trace=None if plot is None else TRACES,
            progress=progress.simulated,
            **more,
        )
    if asked.out is not None:
        say(f"wrote {found.save(asked.out)}")
    if plot is not None:
        figure_options.save(look, plot, found.plot)
    if asked.as_json:
        click.echo(found.to_json())
        return
    show(found)
    if found.simulated is not None:
        print_beside(found)
