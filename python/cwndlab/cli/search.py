"""`cwndlab search`: waveforms of the residual bandwidth on which a rule is best or worst."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import options
from cwndlab.cli.home import home_option
from cwndlab.cli.output import print_table, say, steps
from cwndlab.cli.profile import assumptions, profile_option

if TYPE_CHECKING:
    from cwndlab.searches import SearchResult
    from cwndlab.statistics import Estimate


@click.command()
@click.option("--best", metavar="RULE", help="Rule that should be best.")
@click.option(
    "--worst", metavar="RULE", help="Rule that should be worst; may be combined with --best."
)
@click.option(
    "--rules",
    multiple=True,
    metavar="RULES",
    help='Rules to compare, separated by commas; repeatable.  [default: "AIMD(1, 0.8), '
    "AIAD(1, 3),"
    ' MIMD(1.125, 0.8), MIAD(1.125, 3)"]',
)
@click.option(
    "--family",
    default="square",
    show_default=True,
    metavar="NAME",
    help="Family of waveforms to search.",
)
@click.option(
    "--bound",
    multiple=True,
    metavar="NAME=LOW..HIGH",
    help="Bounds of one parameter, e.g. period=1s..4s; rates are per test flow. NAME=VALUE fixes "
    "it.",
)
@click.option(
    "--list", "is_list", is_flag=True, help="List families, their parameters and default bounds."
)
@click.option("--setting", default="sack/drop-tail", show_default=True, metavar="RECOVERY/QUEUE")
@click.option(
    "--metric",
    default="goodput",
    show_default=True,
    metavar="NAME",
    help="Metric that ranks the rules.",
)
@click.option(
    "--budget", type=options.whole_number(5, 100_000), default=96, show_default=True, metavar="N",
    help="Largest number of waveforms to try.",
)  # fmt: skip
@click.option(
    "--replicates", type=options.whole_number(1, 1000), default=2, show_default=True, metavar="N",
    help="Runs of each rule per waveform during the search.",
)  # fmt: skip
@click.option(
    "--confirm", type=options.whole_number(2, 10_000), default=10, show_default=True, metavar="N",
    help="Runs of each rule on the result, with new seeds.",
)  # fmt: skip
@click.option(
    "--duration", metavar="TIME", help="Simulated time of a run.  [default: as assumed, 100s]"
)
@profile_option("linux")
@home_option("simulator")
@options.assume_option
@options.seed_option
@options.jobs_option
@options.on_option
@options.store_option
@options.json_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Directory for the plot, the numbers, every tried waveform and, without --store, the "
    "finished runs, from which the same command resumes.",
)
def search(
    best: str | None,
    worst: str | None,
    rules: tuple[str, ...],
    family: str,
    bound: tuple[str, ...],
    is_list: bool,
    setting: str,
    metric: str,
    budget: int,
    replicates: int,
    confirm: int,
    duration: str | None,
    profile: str | None,
    home: str | None,
    assume: tuple[str, ...],
    seed: int | None,
    jobs: int | None,
    on: str | None,
    store: Path | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Search for the waveform on which a rule is best or worst.

    The residual bandwidth of a bottleneck follows a waveform of the family. An optimiser varies its
    parameters to maximise the rule's lead over the runner-up (or its distance behind the last but
    one). New seeds confirm the result.
    """
    if is_list:
        _list(as_json)
        return
    from cwndlab import searches
    from cwndlab.searches.objective import REPRESENTATIVES

    options.check_cluster(on, jobs)
    compared = options.rules_of("--rules", rules) or REPRESENTATIVES
    recovery, queue = options.setting_of(setting)
    assumed = assumptions(assume, profile)
    options.make_folder(out)
    if store is None and out is not None:
        store = out / "store"
    with steps() as show:
        try:
            found = searches.search(
                best=best, worst=worst, rules=compared, family=family,
                bound=searches.read_bounds(family, bound), recovery=recovery, queue=queue,
                metric=metric, budget=budget, replicates=replicates, confirm=confirm,
                duration=duration, home=home, assume=assumed, seed=1 if seed is None else seed,
                jobs=jobs, store=store, on=on, progress=show,
            )  # fmt: skip
        except KeyboardInterrupt:
            if store is not None:
                say(f"stopped; finished runs are kept in {store}, and the same command resumes")
            raise
    if as_json:
        click.echo(found.to_json())
    else:
        _print(found)
    if out is not None:
        say(f"wrote {found.save(out)}")


def _list(as_json: bool) -> None:
    from cwndlab import searches

    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        families = [
            {
                "family": family.name,
                "meaning": family.meaning,
                "parameters": [parameter._asdict() for parameter in family.parameters],
            }
            for family in searches.FAMILIES.values()
        ]
        click.echo(dumps(stamped("search-families", {"families": families})))
        return
    rows = [
        (family.name, parameter.name, _value(parameter.kind, parameter.low),
         _value(parameter.kind, parameter.high),
         parameter.meaning)
        for family in searches.FAMILIES.values()
        for parameter in family.parameters
    ]  # fmt: skip
    print_table(
        "Families of waveforms", ("family", "parameter", "from", "to", "what"), rows, text_columns=5
    )


def _value(kind: str, value: float) -> str:
    from cwndlab.quantities import rate_text

    return rate_text(value) if kind == "rate" else f"{value:.3g}" + ("s" if kind == "time" else "")


def _print(found: SearchResult) -> None:
    from dataclasses import replace

    from cwndlab import environments
    from cwndlab.metrics import BY_KEY
    from cwndlab.searches import family
    from cwndlab.tables import with_interval

    metric = BY_KEY[found.objective.metric]
    kinds = {parameter.name: parameter.kind for parameter in family(found.family).parameters}
    values = ", ".join(
        f"{name} {_value(kinds[name], value)}" for name, value in found.values.items()
    )
    recovery, _, queue = found.setting.partition("/")
    assumed = environments.Assumptions(profile=found.profile)
    (runs, *_) = environments.scenario("constant", recovery=recovery, assume=assumed).recoveries
    print_table(
        f"{found.family}: {values} ({runs} over {queue}, {found.endpoints}, "
        f"{found.confirmed.count} new seeds)",
        ("rule", f"{metric.title}, 95 % CI"),
        found.table().rows(),
    )
    verdict = "found" if found.is_met else "not found: the interval of the margin is not above 0"
    say(
        f"{found.objective.text}: {verdict}; margin "
        f"{with_interval(_row(found.confirmed), replace(metric, digits=metric.digits + 1))}"
    )
    say(f"{found.tried} waveforms, {found.runs} runs, {found.wall_s:.0f} s")


def _row(found: Estimate) -> dict[str, float | None]:
    return {"mean": found.mean, "ci95_low": found.low, "ci95_high": found.high}
