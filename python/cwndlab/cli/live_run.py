"""Runs, files and output that `cwndlab live linux` and `cwndlab live quic` share.

With --beside, the same scenario is simulated, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.live_tables import print_beside
from cwndlab.cli.output import meter, say

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle
    from cwndlab.results import Result
    from cwndlab.scenario import Scenario

TRACES = {"cwnd": "20ms", "queue": "20ms", "rate": "500ms"}
"""Traces that a plot needs; the scenario's own take precedence."""

file_argument: options.Option = click.argument(
    "file", type=click.Path(path_type=Path), metavar="FILE.toml"
)
plot_option: options.Option = click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Plot windows, goodput and queue (.png, .svg, .pdf); with --beside of both.",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """Arguments of a live run."""

    file: Path
    beside: bool
    as_json: bool
    out: Path | None
    plot: Path | None
    settings: tuple[str, ...]
    seed: int | None
    look: FigureStyle | None


def carry_out(
    asked: Asked,
    how: str,
    play: Callable[..., Result],
    counterpart: Callable[[Scenario, Result], Scenario],
    show: Callable[[Result], None],
) -> None:
    """Run a scenario live; print, plot or write its result.

    Parameters
    ----------
    asked : Asked
        The command line's arguments.
    how : str
        Name of the run in the progress bar.
    play : callable
        Runs a scenario, and takes `progress`.
    counterpart : callable
        Gives the scenario to simulate, from the live one and its result.
    show : callable
        Prints the tables of the result.
    """
    plot = asked.plot
    if plot is None and asked.beside:
        plot = (asked.out or Path()) / f"{asked.file.stem}-beside.png"
    options.check_plot(plot)
    scenario = _scenario_of(asked, with_traces=plot is not None)
    options.make_folder(asked.out)

    from cwndlab.live_runs import program

    program.find()
    with meter(f"{asked.file.stem}, {how}", scenario.duration_s, "s") as progress:
        result = play(scenario, progress=progress.simulated)
    simulated = _simulate(asked.file, counterpart(scenario, result)) if asked.beside else None
    _save(asked, plot, result, simulated)
    if asked.as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        whole = (
            stamped("live", result.to_dict())
            if simulated is None
            else stamped(
                "live-beside", {"live": result.to_dict(), "simulated": simulated.to_dict()}
            )
        )
        click.echo(dumps(whole))
        return
    show(result)
    if simulated is not None:
        print_beside(simulated, result)


def _scenario_of(asked: Asked, *, with_traces: bool) -> Scenario:
    """Read the scenario of a live run, with the traces that a plot needs."""
    from cwndlab.scenario import Scenario

    patch: dict[str, Any] = options.patch_of(asked.settings)
    scenario = Scenario.load(asked.file)
    if asked.seed is not None:
        patch["seed"] = asked.seed
    scenario = scenario.patch(patch) if patch else scenario
    return (
        scenario.set("trace", {**TRACES, **scenario.to_dict().get("trace", {})})
        if with_traces
        else scenario
    )


def _simulate(file: Path, scenario: Scenario) -> Result:
    """Simulate the scenario with a progress bar."""
    from cwndlab.runs import execute

    with meter(f"{file.stem}, simulated", scenario.duration_s, "s") as progress:
        return execute.run(scenario, progress=progress.simulated)


def _save(asked: Asked, plot: Path | None, live: Result, simulated: Result | None) -> None:
    """Write the results and the plot, if asked."""
    out = asked.out
    if out is not None:
        say(f"wrote {live.save(out if simulated is None else out / 'live')}")
        if simulated is not None:
            say(f"wrote {simulated.save(out / 'simulated')}")
    if plot is not None:
        from cwndlab import plots

        if simulated is None:
            figure_options.save(asked.look, plot, live.plot)
        else:
            figure_options.save(asked.look, plot, plots.beside, simulated, live)
