"""`cwndlab run`: simulate one scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import expect_options, figure_options, options
from cwndlab.cli.hints import document, refuse_sweep, warn_of_bare_rates
from cwndlab.cli.output import detail, meter, say
from cwndlab.cli.run_tables import print_result
from cwndlab.message import missing

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.plots import FigureStyle
    from cwndlab.results import Result
    from cwndlab.scenario import Scenario
    from cwndlab.sweeps.measures import Measure

DEFAULT_PLOT = "="


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="FILE.toml")
@options.json_option
@options.out_option
@click.option(
    "--plot", is_flag=False, flag_value=DEFAULT_PLOT, metavar="[FILE]",
    help="Plot windows, goodput and queue (.png, .svg, .pdf); default: the scenario's name, .png.",
)  # fmt: skip
@figure_options.figure_options
@expect_options.expect_options
@click.option(
    "--pcap",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the packets as pcapng.",
)
@options.set_option
@options.rules_option
@options.seed_option
@click.option(
    "--profile", metavar="NAME", help="Profile of TCP knobs: rfc, linux, ns2-2.35, ns2-2000."
)
def run(
    file: Path | None,
    as_json: bool,
    out: Path | None,
    plot: str | None,
    pcap: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    profile: str | None,
    look: FigureStyle | None,
    expected: expect_options.Expected,
) -> None:
    """Simulate a scenario and print its flows and links.

    FILE is TOML or JSON.
    """
    if (
        file is None
        and plot not in (None, DEFAULT_PLOT)
        and Path(plot).suffix in (".toml", ".json")
    ):
        # `run --plot FILE.toml`: the file was meant as the scenario.
        file, plot = Path(plot), DEFAULT_PLOT
    if file is None:
        raise click.UsageError(missing("FILE.toml", "a scenario in TOML or JSON"))
    picture = _picture(plot, file, out)
    options.check_plot(picture)
    scenario = _scenario(
        file, options.patch_of(settings), seed, profile, with_traces=picture is not None
    )
    options.make_folder(out)
    options.check_parent("--pcap", pcap)
    from cwndlab.metrics import patch_of
    from cwndlab.runs import execute

    measures = _measures(expected)
    if needed := patch_of(measures):
        scenario = scenario.patch(needed)

    with meter(file.stem, scenario.duration_s, "s") as progress:
        result = execute.run(scenario, progress=progress.simulated, pcap=pcap)

    detail(f"simulated {file}, seed {result.fields['seed']}, profile {result.fields['profile']}")
    if out is not None:
        say(f"wrote {result.save(out)}")
    if picture is not None:
        figure_options.save(look, picture, result.plot)
    if pcap is not None:
        say(f"wrote {pcap}")
    if as_json:
        click.echo(result.to_json())
    else:
        print_result(result)
    if expected.all:
        expected.judge(_summary(result, measures), f"run {file.stem}")


def _measures(expected: expect_options.Expected) -> list[Measure]:
    """Find what the expectations measure, before the run."""
    if not expected.all:
        return []
    from cwndlab.sweeps.measures import find

    names = [each.metric for each in expected.all]
    measures = [find(name) for name in dict.fromkeys(names)]
    expected.check(names, {})
    return measures


def _summary(result: Result, measures: list[Measure]) -> pl.DataFrame:
    """Return numbers of a run as a summary without cells and intervals."""
    import polars as pl

    from cwndlab.columns import ESTIMATE
    from cwndlab.sweeps.measures import measure

    names = result.links["link"].to_list()
    link = "bottleneck" if "bottleneck" in names else names[0]
    found = measure(result.to_dict(), measures, link, None)
    schema = {"metric": pl.String, **ESTIMATE}
    rows = [(name, value, None, None, 1) for name, value in found.items()]
    return pl.DataFrame(rows, schema, orient="row")


def _picture(plot: str | None, file: Path, out: Path | None) -> Path | None:
    if plot is None:
        return None
    return (out or Path()) / f"{file.stem}.png" if plot == DEFAULT_PLOT else Path(plot)


def _scenario(
    file: Path, patch: dict[str, Any], seed: int | None, profile: str | None, *, with_traces: bool
) -> Scenario:
    from cwndlab.scenario import Scenario

    refuse_sweep(file)
    warn_of_bare_rates({**document(file), **patch})
    scenario = Scenario.load(file)
    if seed is not None:
        patch["seed"] = seed
    if profile is not None:
        patch["profile"] = profile
    scenario = scenario.patch(patch) if patch else scenario
    if with_traces:
        # Traces change nothing but what is recorded: the trace hash stays the same.
        missing = {"cwnd": "20ms", "rule": "20ms", "queue": "20ms", "rate": "500ms"}
        traced = scenario.to_dict().get("trace", {})
        scenario = scenario.set("trace", {**missing, **traced})
    return scenario
