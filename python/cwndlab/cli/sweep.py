"""`cwndlab sweep`: many runs, stored as they finish."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import beside as besides
from cwndlab.cli import expect_options, figure_options, options, over_options
from cwndlab.cli.display import display
from cwndlab.cli.hints import document, refuse_other, warn_of_bare_rates
from cwndlab.cli.home import home_option, warn_of_twins
from cwndlab.cli.many_runs import says_what_is_kept
from cwndlab.cli.output import detail, say, warn
from cwndlab.cli.profile import profile_option
from cwndlab.cli.sweep_tables import print_findings
from cwndlab.message import plural, unknown

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle
    from cwndlab.plots.over import Over
    from cwndlab.sweeps import Sweep, SweepResult

EXIT_FAILED, EXIT_UNMET = 1, 3


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Store of finished runs; several sweeps may share it.  [default: out/NAME]",
)
@click.option("--again", is_flag=True, help="Run every cell again, even those in the store.")
@options.until_option
@options.most_option
@click.option(
    "--replicates", type=options.whole_number(1, 1_000_000), metavar="N", help="Runs per cell."
)
@options.seed_option
@options.set_option
@options.rules_option
@profile_option("the sweep's, else linux")
@home_option(is_axis=True)
@options.jobs_option
@options.on_option
@click.option("--yes", is_flag=True, help="Allow more than ten million runs.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print events, one JSON object per line; the last one contains the tables.",
)
@options.format_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Plot means and intervals (.png, .svg, .pdf).",
)
@over_options.sweep_options
@figure_options.figure_options
@expect_options.expect_options
@besides.beside_options
def sweep(
    file: Path,
    store: Path | None,
    again: bool,
    until: str | None,
    most: int | None,
    replicates: int | None,
    seed: int | None,
    settings: tuple[str, ...],
    profile: str | None,
    home: list[str],
    jobs: int | None,
    on: str | None,
    yes: bool,
    as_json: bool,
    plot: Path | None,
    asked: over_options.Asked,
    look: FigureStyle | None,
    expected: expect_options.Expected,
    beside: str | None,
    ns: Path | None,
) -> None:
    """Run a sweep: a base scenario, axes, replicates.

    Finished runs are stored at once and never repeated: after Ctrl-C, a crash or a full disk, the
    same command resumes.
    """
    options.check_plot(plot)
    options.check_format(as_json)
    options.check_cluster(on, jobs)
    besides.check_beside(
        beside, ns, until=until, on=on, plot=plot, expect=expected.all, **asked.given
    )

    from cwndlab.sweeps import SweepResult, as_sweep, at_homes

    patch = options.patch_of(settings)
    if profile is not None:
        patch["profile"] = profile
    refuse_other(file, "sweep")
    warn_of_bare_rates({**document(file), **patch})
    chosen = as_sweep(
        file, patch=patch, until=until, most=most, replicates=replicates, seed=seed,
        yes=yes or None,
    )  # fmt: skip
    chosen = at_homes(chosen, home)
    levels = chosen.plan.axes.get("home", ())
    warn_of_twins([level.patch.get("home", "simulator") for level in levels])
    if beside is not None:
        folder = store or Path("out") / chosen.name
        besides.run_beside(chosen, folder, ns, jobs=jobs, again=again, as_json=as_json)
        return
    if most is not None and not chosen.until:
        raise click.UsageError("`--most` needs `--until`: use `--replicates N` without it")
    over = asked.over(plot)
    if plot is not None and over is None and chosen.replicates < 2 and not chosen.until:
        raise click.UsageError(
            "`--plot` draws confidence intervals and needs `--replicates 2` or more"
        )
    if over is not None:
        chosen = _with_metrics(chosen, over)
    findings = SweepResult(chosen)
    expected.check(chosen.metrics, chosen.levels)
    subject = findings if over is None else findings.seen_over(over.places)
    values = [text for found in chosen.levels.values() for text in found]
    over_options.check_figure(look, over, subject, values)
    folder = store or Path("out") / chosen.name
    _execute(chosen, findings, folder, jobs=jobs, on=on, again=again, as_json=as_json)
    if as_json:
        _print_event({**findings.to_dict(), "event": "result"})
    else:
        print_findings(findings)
    if plot is not None:
        figure_options.save(look, plot, lambda: findings.plot(**asked.given))
    is_met = expected.judge(findings.summary, findings.runs, f"sweep {chosen.name}")
    _end_incomplete(findings)
    expect_options.end(is_met=is_met)


def _with_metrics(chosen: Sweep, over: Over) -> Sweep:
    """Return a sweep that also measures what its figure shows."""
    from cwndlab.metrics import BY_KEY
    from cwndlab.sweeps.by_group import GROUP, SHARE
    from cwndlab.sweeps.measures import (
        EACH_GROUP,
        TRANSFER_TIMES,
        flow_columns,
        group_columns,
        is_known,
    )

    if over.bands:
        kept = dict.fromkeys([*chosen.over_time, *over.bands])
        return dataclasses.replace(chosen, over_time=list(kept))
    if over.cdf in (*flow_columns(), *TRANSFER_TIMES):
        kept = dict.fromkeys([*chosen.distributions, over.cdf])
        return dataclasses.replace(chosen, distributions=list(kept))
    is_of_groups = GROUP in over.places and GROUP not in chosen.levels
    begin = EACH_GROUP if is_of_groups else ""
    shown = over.shown or dict.fromkeys([SHARE] * is_of_groups, "y")
    for metric, key in shown.items():
        if metric not in chosen.metrics and not is_known(f"{begin}{metric}"):
            known = group_columns() if is_of_groups else [*chosen.metrics, *BY_KEY]
            known += [*flow_columns(), *TRANSFER_TIMES] if over.cdf else []
            raise click.UsageError(unknown(f"--{key}", metric, dict.fromkeys(known)))
    across = [over.x] if over.x and over.x not in chosen.levels else []
    asked = [f"{begin}{one}" for one in [*shown, *across] if is_known(f"{begin}{one}")]
    return dataclasses.replace(chosen, metrics=list(dict.fromkeys([*chosen.metrics, *asked])))


MOST_FAILURES = 5
"""How many runs that fail are named: a rule with a mistake fails in all of its own."""


def _execute(
    chosen: Sweep,
    findings: SweepResult,
    folder: Path,
    *,
    jobs: int | None,
    on: str | None,
    again: bool,
    as_json: bool,
) -> None:
    from cwndlab.cli.sweep_progress import progress_bar
    from cwndlab.runs.store import Store
    from cwndlab.sweeps import execute

    failures = 0
    with Store(folder) as kept, progress_bar() as show:

        def tell(event: dict[str, Any]) -> None:
            nonlocal failures
            if as_json:
                _print_event(event)
            if event["event"] == "failed":
                failures += 1
                if failures <= MOST_FAILURES or display.verbose:
                    warn(f"failed: {_where(event)}: {event['error']}")
                elif failures == MOST_FAILURES + 1:
                    say("more runs fail (--verbose names all)")
            if event["event"] == "note":
                say(f"note: {event['text']}")
            if event["event"] == "workers":
                say(_workers(event))
            show(event)

        with says_what_is_kept(lambda: len(findings), folder):
            execute(chosen, findings, kept, jobs=jobs, on=on, again=again, progress=tell)
    detail(
        f"{len(findings)} runs of {chosen.name}, seeds from {chosen.plan.seed}, kept in {folder}"
    )
    findings.notes += kept.notes
    for note in kept.notes:
        say(f"note: {note}")


def _workers(event: dict[str, Any]) -> str:
    if event["workers"] == 0:
        return f"{event['address']}: no workers; runs wait until one comes"
    return f"{event['address']}: workers {event['workers']}, threads {event['threads']}"


def _end_incomplete(findings: SweepResult) -> None:
    """Say which runs failed and which targets were missed, and end with the exit code of that."""
    if wide := [entry for entry in findings.unmet if entry["wide"]]:
        warn(
            f"{plural(len(wide), 'cell')} did not reach `{findings.sweep.until}` with "
            f"{findings.sweep.most} "
            "replicates,"
            f" the first: {_cell(wide[0])}; --most N allows more"
        )
    if without := [entry for entry in findings.unmet if entry["without"]]:
        warn(
            f"{plural(len(without), 'cell')} did not reach `{findings.sweep.until}`, because no "
            "replicate "
            "has a value, the first:"
            f" {_cell(without[0])} of {', '.join(without[0]['without'])}"
        )
    if findings.failed:
        warn(
            f"{plural(len(findings.failed), 'run')} failed, the first: {_where(findings.failed[0])}"
        )
        raise click.exceptions.Exit(EXIT_FAILED)
    if findings.unmet:
        raise click.exceptions.Exit(EXIT_UNMET)


def _cell(entry: dict[str, Any]) -> str:
    return (
        ", ".join(f"{axis} = {label}" for axis, label in entry["cell"].items())
        or "the base scenario"
    )


def _where(entry: dict[str, Any]) -> str:
    return f"{_cell(entry)}, replicate {entry['replicate']}"


def _print_event(event: dict[str, Any]) -> None:
    from cwndlab.jsontext import dumps
    from cwndlab.outputs import stamped

    # Flush: another program may read the events through a pipe.
    own = ("schema", "cwndlab_version")
    fields = {key: value for key, value in event.items() if key not in own}
    print(dumps(stamped("sweep-event", fields), indent=None), flush=True)
