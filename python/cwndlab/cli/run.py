"""`cwndlab run`: simulate one scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import beside as besides
from cwndlab.cli import expect_options, figure_options, options
from cwndlab.cli.hints import document, refuse_other, warn_of_bare_rates
from cwndlab.cli.home import home_option
from cwndlab.cli.output import detail, meter, say
from cwndlab.cli.profile import profile_option
from cwndlab.cli.run_tables import print_result
from cwndlab.message import missing

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.plots import FigureStyle
    from cwndlab.results import Result
    from cwndlab.scenario import Scenario
    from cwndlab.sweeps import Sweep
    from cwndlab.sweeps.measures import Measure

DEFAULT_PLOT = "="


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option(
    "--env", metavar="NAME",
    help="Simulate an environment instead of FILE, or trace:FILE for a recorded link.",
)  # fmt: skip
@options.assume_option
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
@profile_option("the scenario's, else linux")
@home_option()
@besides.beside_options
@click.option(
    "--replicates", type=options.whole_number(1, 1_000_000), metavar="N",
    help="With --beside: number of runs in each program, with consecutive seeds from the "
         "scenario's.  [default: 1]",
)  # fmt: skip
@options.jobs_option
def run(
    file: Path | None,
    env: str | None,
    assume: tuple[str, ...],
    as_json: bool,
    out: Path | None,
    plot: str | None,
    pcap: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    profile: str | None,
    home: str | None,
    look: FigureStyle | None,
    expected: expect_options.Expected,
    beside: str | None,
    ns: Path | None,
    replicates: int | None,
    jobs: int | None,
) -> None:
    """Run a scenario and print its flows and links.

    FILE is TOML or JSON. With --beside it also runs in ns-2. The test flows of --env are called
    "flow", so --set flows.flow.rule=CUBIC sets their rule.
    """
    if (
        file is None
        and plot not in (None, DEFAULT_PLOT)
        and Path(plot).suffix in (".toml", ".json")
    ):
        # `run --plot FILE.toml`: the file was meant as the scenario.
        file, plot = Path(plot), DEFAULT_PLOT
    if file is not None and env is not None:
        raise click.UsageError("`--env` cannot be used with `FILE.toml`: it replaces the file")
    if assume and env is None:
        raise click.UsageError("`--assume` needs `--env`")
    if file is None and env is None:
        raise click.UsageError(missing("FILE.toml", "a scenario in TOML or JSON, or `--env`"))
    stem = re.sub(r"\W+", "-", env or "") if file is None else file.stem
    picture = _picture(plot, stem, out)
    options.check_plot(picture)
    besides.check_beside(beside, ns, plot=plot, pcap=pcap, expect=expected.all)
    if beside is None and (replicates or jobs):
        option = "--replicates" if replicates else "--jobs"
        raise click.UsageError(f"`{option}` needs `--beside ns2`; use a sweep for replicates")
    patch = options.patch_of(settings)
    patch.update({} if home is None else {"home": home})
    given = _of_environment(env, assume, seed) if file is None else _of_file(file, patch)
    scenario = _scenario(given, patch, seed, profile, with_traces=picture is not None)
    if beside is not None:
        folder = out or Path("out") / f"{stem}-beside"
        sweep = _beside_sweep(stem, scenario, replicates or 1)
        besides.run_beside(sweep, folder, ns, jobs=jobs, as_json=as_json)
        return
    options.make_folder(out)
    options.check_parent("--pcap", pcap)
    from cwndlab.metrics import patch_of
    from cwndlab.phase_effects import first_note
    from cwndlab.runs import execute, solo

    measures = _measures(expected)
    if needed := patch_of(measures):
        scenario = scenario.patch(needed)

    look = figure_options.check_run(look, scenario)
    for note in first_note([scenario.to_dict()]):
        say(f"note: {note}")
    simulated_s = scenario.duration_s * solo.count(scenario.to_dict())
    with meter(stem, simulated_s, "s") as progress:
        result = execute.run(scenario, progress=progress.simulated, pcap=pcap)

    detail(
        f"simulated {file or env}, seed {result.fields['seed']}, profile {result.fields['profile']}"
    )
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
        import polars as pl

        this_one = pl.DataFrame({"replicate": [0]})
        is_met = expected.judge(_summary(result, measures), this_one, f"run {stem}")
        expect_options.end(is_met=is_met)


def _beside_sweep(name: str, scenario: Scenario, replicates: int) -> Sweep:
    """Return the runs of a scenario beside ns-2: what both measure of its links and groups."""
    from cwndlab.sweeps import Sweep
    from cwndlab.topology import topology

    document = scenario.canonical()
    crossed = {link for path in topology(scenario.core).paths for link in path.forward}
    of_links = ("utilization", "mean_queue_packets", "dropped_packets", "arrived_packets")
    groups = list(dict.fromkeys(flow["name"] for flow in document["flows"]))
    sources = [cross["name"] for cross in document.get("cross", [])]
    metrics = [
        "aggregate_goodput_bps", "jain_index", "loss_rate",
        *(f"flows.{group}.{column}" for group in groups
          for column in ("goodput_bps", "sent_packets", "timeouts")),
        *(f"links.{link}.{column}" for link in sorted(crossed) for column in of_links),
        *(f"cross.{source}.delivered_bps" for source in sources),
    ]  # fmt: skip
    base = {key: value for key, value in document.items() if key != "trace"}
    return Sweep(name=name, base=base, replicates=replicates, metrics=metrics,
                 link=sorted(crossed)[0])  # fmt: skip


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


def _picture(plot: str | None, stem: str, out: Path | None) -> Path | None:
    if plot is None:
        return None
    return (out or Path()) / f"{stem}.png" if plot == DEFAULT_PLOT else Path(plot)


def _scenario(
    scenario: Scenario, patch: dict[str, Any], seed: int | None, profile: str | None, *,
    with_traces: bool,
) -> Scenario:  # fmt: skip
    """Set what the options say."""
    if seed is not None:
        patch["seed"] = seed
    if profile is not None:
        patch["profile"] = profile
    scenario = scenario.patch(patch) if patch else scenario
    if with_traces:
        # Traces change nothing but what is recorded: the trace hash stays the same.
        from cwndlab.sweeps.traces import DRAWN

        missing = {**DRAWN, "rule": "20ms"}
        if scenario.to_dict().get("home", "simulator") != "simulator":
            del missing["rule"]
        traced = scenario.to_dict().get("trace", {})
        scenario = scenario.set("trace", {**missing, **traced})
    return scenario


def _of_environment(env: str | None, assume: tuple[str, ...], seed: int | None) -> Scenario:
    from cwndlab import environments

    chosen = environments.Assumptions.from_texts(assume)
    return environments.scenario(env or "", assume=chosen, seed=1 if seed is None else seed)


def _of_file(file: Path, patch: dict[str, Any]) -> Scenario:
    from cwndlab.scenario import Scenario

    refuse_other(file, "scenario")
    warn_of_bare_rates({**document(file), **patch})
    return Scenario.load(file)
