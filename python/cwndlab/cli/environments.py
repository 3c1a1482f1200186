"""`cwndlab environments`: the residual bandwidths on which rules are compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import figure_options, options

if TYPE_CHECKING:
    from cwndlab.environments import Assumptions
    from cwndlab.plots import FigureStyle
    from cwndlab.results import Result
    from cwndlab.scenario import Scenario

STEP = "500ms"
"""Width of the plot's bins, seconds."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--setting", default="sack/drop-tail", show_default=True, metavar="RECOVERY/QUEUE")
@click.option(
    "--rule",
    default="AIMD(1, 0.5)",
    show_default=True,
    metavar="RULE",
    help="Rule of the test flows.",
)
@options.assume_option
@options.seed_option
@click.option("--toml", "as_toml", is_flag=True, help="Print the scenario of one environment.")
@options.json_option
@click.option(
    "--assumptions",
    "with_assumptions",
    is_flag=True,
    help="List the assumptions and their reasons.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Run the environments and plot their residual bandwidth over time (.png, .svg, .pdf).",
)
@figure_options.figure_options
def environments(
    names: tuple[str, ...],
    setting: str,
    rule: str,
    assume: tuple[str, ...],
    seed: int | None,
    as_toml: bool,
    as_json: bool,
    with_assumptions: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """List environments and their residual bandwidths.

    NAME is an environment, "all" for the thirteen of Akella et al. (2002), "demo", or trace:FILE
    for a link recorded in mahimahi's format; the default is every environment.
    """
    options.check_plot(plot)
    from cwndlab import environments as catalogue

    recovery, queue = options.setting_of(setting)
    chosen = catalogue.Assumptions.from_texts(assume)
    listed = catalogue.names(names) if names else list(catalogue.ENVIRONMENTS)
    build = functools.partial(
        catalogue.scenario,
        rule=rule,
        recovery=recovery,
        queue=queue,
        assume=chosen,
        seed=1 if seed is None else seed,
    )
    if as_toml:
        if len(listed) != 1:
            raise click.UsageError("`--toml` prints one scenario and needs exactly one `NAME`")
        click.echo(build(listed[0]).to_toml(), nl=False)
        return
    if plot is not None:
        figure_options.check(look, listed, listed)
        _plot(listed, build, plot, look)
    if with_assumptions:
        _print_assumptions(chosen, as_json)
    else:
        _print_list(listed, chosen, as_json)


def _rows(listed: list[str], chosen: Assumptions) -> list[dict[str, Any]]:
    from cwndlab import environments as catalogue

    found = [catalogue.environment(name) for name in listed]
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "left_per_flow": entry.summary,
            "link_bps": entry.capacity_bps(chosen),
            "topology": entry.topology,
        }
        for entry in found
    ]


def _print_list(listed: list[str], chosen: Assumptions, as_json: bool) -> None:
    rows = _rows(listed, chosen)
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("environments", {"environments": rows})))
        return
    from cwndlab import environments as catalogue
    from cwndlab.cli.output import print_line, print_table
    from cwndlab.quantities import rate_text

    table = [
        [
            row["name"],
            row["title"],
            row["left_per_flow"],
            rate_text(row["link_bps"]),
            row["topology"],
        ]
        for row in rows
    ]
    print_table(
        "Environments",
        ["name", "title", "left per test flow", "link", "topology"],
        table,
        text_columns=5,
    )
    settings = ", ".join(
        f"{recovery}/{queue}" for recovery in catalogue.RECOVERIES for queue in catalogue.QUEUES
    )
    print_line(
        f"{chosen.flows} test flows, {chosen.duration} a run, changes every {chosen.step}; "
        f"settings: {settings}"
    )
    print_line(
        "NAME --toml prints a scenario, --assumptions what is assumed and why, --assume KEY=VALUE "
        "changes it."
    )


def _print_assumptions(chosen: Assumptions, as_json: bool) -> None:
    from cwndlab import environments as catalogue
    from cwndlab.cli.output import print_line
    from cwndlab.jsontext import dumps
    from cwndlab.outputs import stamped

    entries = catalogue.assumptions(chosen)
    if as_json:
        click.echo(dumps(stamped("assumptions", {"assumptions": entries})))
        return
    for entry in entries:
        value = entry["value"] if isinstance(entry["value"], str) else dumps(entry["value"])
        changed = "" if entry["value"] == entry["default"] else f" (usually {entry['default']})"
        print_line(f"{entry['name']} = {value}{changed}: {entry['meaning']}")
        print_line(f"    {entry['reason']}")


def _plot(
    listed: list[str], build: Callable[[str], Scenario], path: Path, look: FigureStyle | None
) -> None:
    from cwndlab import plots
    from cwndlab.cli.output import meter
    from cwndlab.runs import execute

    # Build all scenarios first, so that an error stops the command before any run.
    scenarios = [(name, build(name).set("trace", {"rate": STEP})) for name in listed]
    results: dict[str, Result] = {}
    with meter("environments", len(listed), "runs") as progress:
        for name, result in execute.run_many(scenarios, progress=progress.packets):
            results[name] = result
            progress.runs("runs", len(results), len(listed))
    in_order = {name: results[name] for name in listed}
    figure_options.save(look, path, plots.available_bandwidths, in_order)
