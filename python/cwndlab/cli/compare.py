"""`cwndlab compare`: rules side by side over environments."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import beside as besides
from cwndlab.cli import expect_options, figure_options, options, over_options
from cwndlab.cli.compare_against import compare_against, refuse_alone, refuse_together
from cwndlab.cli.compare_tables import print_comparison
from cwndlab.cli.hints import warn_of_bare_rates
from cwndlab.cli.home import home_option, warn_of_twins
from cwndlab.cli.many_runs import end_unmet, execute_plan
from cwndlab.cli.output import say
from cwndlab.cli.profile import assumptions, profile_option
from cwndlab.custom_rules import is_own, shown
from cwndlab.message import invalid, missing, unknown

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison
    from cwndlab.plots import FigureStyle
    from cwndlab.plots.over import Over


class QueueOption(click.Option):
    """Option whose help lists the queues of the core, which only the help loads."""

    help: str | None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        from cwndlab.environments import BOTTLENECK, QUEUES

        others = ", ".join(name for name in BOTTLENECK if name not in QUEUES)
        self.help = f"drop-tail, red, ecn (RED that marks), drr; {others}.  [default: drop-tail]"
        return super().get_help_record(ctx)


@click.command()
@click.argument("rules", nargs=-1, metavar="RULE...")
@click.option(
    "--recovery",
    multiple=True,
    metavar="NAMES",
    help="tahoe, reno, newreno, sack, fack.  [default: sack]",
)
@click.option(
    "--queue",
    cls=QueueOption,
    multiple=True,
    metavar="NAMES",
)
@click.option(
    "--setting",
    "setting",
    multiple=True,
    metavar="NAMES",
    help='Pairs of recovery and queue, such as sack/drr, or "all" for the eight pairs of the '
    "paper.",
)
@click.option(
    "--env",
    multiple=True,
    metavar="NAMES",
    help="Environments (`cwndlab environments` lists them), trace:FILE for a recorded link, "
    '"all" for the thirteen of the paper, "demo" for four.'
    "[default: constant; none with --against]",
)
@click.option(
    "--against",
    metavar="RULE",
    help="Let each RULE share a bottleneck with this one; measure its share and its harm.",
)
@click.option(
    "--baseline",
    metavar="RULE",
    help="Rule with which the others are compared; it need not be one of them.  [default: the "
    "first RULE]",
)
@click.option(
    "--flows", multiple=True, metavar="NUMBERS", help="Flows of each rule.  [default: 1,2,4,8,16]"
)
@click.option("--rate", metavar="RATE", help="Rate of the link without --env.  [default: 20Mbit]")
@click.option(
    "--replicates",
    type=options.whole_number(1, 100_000),
    metavar="N",
    help="Runs per cell, each with its own seed.  [default: 3; 20 with --against]",
)
@options.metrics_option
@options.until_option
@options.most_option
@click.option("--duration", metavar="TIME", help="Simulated time of a run.  [default: 100s]")
@profile_option("linux")
@home_option(is_axis=True)
@options.assume_option
@options.seed_option
@options.set_option
@options.rules_option
@options.jobs_option
@options.store_option
@options.on_option
@options.json_option
@options.format_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Plot means (.png, .svg, .pdf); with many environments also the scores, to FILE-scores.",
)
@over_options.over_options
@figure_options.figure_options
@expect_options.expect_options
@click.option("--detail", is_flag=True, help="Print the means of every environment.")
@options.out_option
@besides.beside_options
def compare(
    rules: tuple[str, ...],
    recovery: tuple[str, ...],
    queue: tuple[str, ...],
    setting: tuple[str, ...],
    env: tuple[str, ...],
    against: str | None,
    baseline: str | None,
    flows: tuple[str, ...],
    rate: str | None,
    replicates: int | None,
    metrics: tuple[str, ...],
    until: str | None,
    most: int | None,
    duration: str | None,
    profile: str | None,
    home: list[str],
    assume: tuple[str, ...],
    seed: int | None,
    settings: tuple[str, ...],
    jobs: int | None,
    store: Path | None,
    on: str | None,
    as_json: bool,
    plot: Path | None,
    detail: bool,
    out: Path | None,
    asked: over_options.Asked,
    look: FigureStyle | None,
    expected: expect_options.Expected,
    beside: str | None,
    ns: Path | None,
) -> None:
    """Compare rules over environments, or against another rule.

    The baseline is the first RULE, or the one of --baseline. The tables show means with 95 %
    confidence intervals, the differences between the other rules and the baseline, paired by
    replicate, and the scores C_a and D_a. Up to four environments have a column each. For more, the
    tables show means over them; --detail, --plot, --json and --out give the rest.

    Separate the values of a list by commas, or repeat the option. Replicate i has the same random
    numbers for every rule and environment. With --against, n flows of each RULE share one link with
    n flows of another rule.
    """
    if not rules:
        raise click.UsageError(missing("RULE", 'one or more rules such as "AIMD(1, 0.5)"'))
    options.check_plot(plot)
    options.check_format(as_json)
    if baseline is not None:
        # First, as in the report of the directory that `--out` writes.
        rules = _with_first(baseline, rules)
    elif against is None:
        _say_baseline(rules)
    recoveries, queues = _settings(recovery, queue, setting)
    from cwndlab import comparing
    from cwndlab.metrics import BY_KEY, chosen

    patch = options.patch_of(settings)
    warn_of_bare_rates({"--rate": rate, **patch})
    warn_of_twins(home)
    assumed = assumptions(assume, profile)
    given = {
        "recovery": recoveries,
        "queue": queues,
        "env": options.names_of("--env", env) if env else None,
        "replicates": replicates,
        "until": until,
        "most": most,
        "duration": None if duration is None else options.seconds_of("--duration", duration),
        "assume": assumed,
        "seed": seed,
        "patch": patch,
        "home": home or None,
    }
    common: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    options.check_cluster(on, jobs)
    besides.check_beside(beside, ns, until=until, on=on, plot=plot, out=out, against=against,
                         expect=expected.all, **asked.given)  # fmt: skip
    over = asked.over(plot)
    if most is not None and until is None:
        raise click.UsageError("`--most` needs `--until`: use `--replicates N` without it")
    work: dict[str, Any] = {"jobs": jobs, "store": store, "on": on, "out": out}
    if against is not None:
        if baseline is not None:
            raise click.UsageError(
                "`--baseline` cannot be used with `--against`, which is the baseline itself"
            )
        if over is not None:
            raise click.UsageError(
                f"`--{next(iter(asked.given))}` cannot be used with `--against`, which has the "
                "number of flows on x"
            )
        refuse_together(
            detail=detail, metrics=metrics, has_rate=rate is not None, env=env, assume=assume
        )
        compare_against(
            rules,
            against,
            flows,
            rate,
            common,
            work=work,
            as_json=as_json,
            plot=plot,
            look=look,
            expected=expected,
        )
        return
    refuse_alone(flows=flows, rate=rate)
    measured = chosen(
        options.names_of("--metrics", metrics) if metrics else None,
        also=[*(each.metric for each in expected.all), *_metrics(over)],
        option="--metrics",
    )
    keys = [metric.key for metric in measured]
    planned = comparing.compare(rules, metrics=keys, run=False, **common)
    if baseline is not None and plot is not None:
        look = figure_options.with_baseline(look, rules[0])
    levels = planned.plan.labels
    expected.check(BY_KEY, levels)
    over_options.check_figure(look, over, planned, levels["rule"])
    if beside is not None:
        from cwndlab.sweeps import Sweep

        sweep = Sweep.from_dict(planned.define())
        besides.run_beside(sweep, store or Path("out") / "compare-beside", ns, jobs=jobs,
                           as_json=as_json)  # fmt: skip
        return
    comparison = execute_plan(planned, keep=as_json, **work)
    if plot is not None:
        _plot(comparison, plot, look, asked)
    if as_json:
        click.echo(comparison.to_json())
    else:
        print_comparison(comparison, detail=detail)
    is_met = expected.judge(comparison.summary, comparison.runs, "compare")
    end_unmet(comparison, until)
    expect_options.end(is_met=is_met)


def _with_first(baseline: str, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Put the baseline before the other rules."""
    from cwndlab import native
    from cwndlab.errors import RuleError

    try:
        first = native.rule(baseline)
    except RuleError as error:
        raise click.UsageError(str(error).replace("rule:", "--baseline:", 1)) from None
    return (first, *(rule for rule in rules if native.rule(rule) != first))


def _say_baseline(rules: tuple[str, ...]) -> None:
    """Say that a rule of one's own is the baseline where it was probably meant to be compared."""
    others = [rule for rule in rules if not is_own(rule)]
    if is_own(rules[0]) and others:
        say(
            f"the first rule, {shown(rules[0])}, is the baseline; for its differences from "
            f"{others[0]}: --baseline {shlex.quote(others[0])}"
        )


def _settings(
    recovery: tuple[str, ...], queue: tuple[str, ...], setting: tuple[str, ...]
) -> tuple[list[str], list[str]]:
    """Read both axes, from their own options or from pairs."""
    if not setting:
        from cwndlab.environments import BOTTLENECK
        from cwndlab.names import recoveries

        return (
            options.names_of("--recovery", recovery or ("sack",), recoveries()),
            options.names_of("--queue", queue or ("drop-tail",), BOTTLENECK),
        )
    if recovery or queue:
        raise click.UsageError(
            "`--setting` cannot be used with `--recovery` or `--queue`: it names both"
        )
    from cwndlab.environments import QUEUES, RECOVERIES

    names = options.names_of("--setting", setting, ["all"])
    if "all" in names:
        return list(RECOVERIES), list(QUEUES)
    pairs = list(dict.fromkeys(map(options.setting_of, names)))
    recoveries, queues = (list(dict.fromkeys(part)) for part in zip(*pairs, strict=True))
    if len(pairs) != len(recoveries) * len(queues):
        raise click.UsageError(
            invalid(
                "--setting",
                ",".join(names),
                "all, one pair, or every pair of the recovery schemes and queues named",
            )
        )
    return recoveries, queues


def _metrics(over: Over | None) -> Sequence[str]:
    """Return the metrics of a figure; one on x may be an axis instead."""
    if over is None:
        return ()
    from cwndlab.metrics import BY_KEY

    for metric, key in over.shown.items():
        if metric not in BY_KEY:
            raise click.UsageError(unknown(f"--{key}", metric, BY_KEY))
    return (*over.shown, over.x)


def _plot(
    comparison: Comparison, path: Path, look: FigureStyle | None, asked: over_options.Asked
) -> None:
    from cwndlab import plots

    figure_options.save(look, path, lambda: comparison.plot(**asked.given))
    if comparison.has_many_environments and not asked:
        scores = path.with_name(f"{path.stem}-scores{path.suffix}")
        figure_options.save(look, scores, plots.score_points, comparison)
