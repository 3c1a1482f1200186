"""`cwndlab compare`: rules side by side over environments."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.compare_tables import print_comparison
from cwndlab.cli.compare_work import execute_plan


@click.command()
@click.argument("rules", nargs=-1, metavar="RULE...")
@click.option("--recovery", multiple=True, default=("sack",), metavar="NAMES", help="tahoe, reno, newreno, sack.")
@click.option("--queue", multiple=True, default=("drop-tail",), metavar="NAMES", help="Queue disciplines: drop-tail.")
@click.option("--env", multiple=True, default=("constant",), metavar="NAMES", help="constant, square, saw-tooth, walk.")
@click.option("--replicates", type=options.WholeNumber(1, 100_000), default=3, show_default=True, metavar="N")
@click.option("--duration", default="100s", show_default=True, metavar="TIME", help="Simulated time of a run.")
@options.seed_option
@options.set_option
@options.jobs_option
@options.json_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Plot means (.png, .svg, .pdf).",
)
@options.out_option
def compare(
    rules: tuple[str, ...],
    recovery: tuple[str, ...],
    queue: tuple[str, ...],
    env: tuple[str, ...],
    replicates: int,
    duration: str,
    seed: int | None,
    settings: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
    plot: Path | None,
    out: Path | None,
) -> None:
    """Compare rules such as "AIMD(1, 0.5)": mean, 95 % confidence interval, C_a and D_a.

    Lists are given with commas or by repeating the option. Replicate i has the same random numbers for every rule
    and environment.
    """
    if not rules:
        raise click.UsageError('RULE: is missing; allowed: one or more rules such as "AIMD(1, 0.5)"')
    options.check_plot(plot)
    from cwndlab.comparison import plan_rules

    plan = plan_rules(
        rules,
        recovery=options.names_of("--recovery", recovery),
        queue=options.names_of("--queue", queue),
        env=options.names_of("--env", env),
        replicates=replicates,
        duration_s=options.seconds_of("--duration", duration),
        seed=1 if seed is None else seed,
        patch=options.patch_of(settings),
    )
    comparison = execute_plan(plan, jobs=jobs, out=out)
    if plot is not None:
        from cwndlab import plots
        from cwndlab.cli.output import say

        say(f"wrote {plots.save(comparison.plot(), plot)}")
    if as_json:
        click.echo(comparison.to_json())
    else:
        print_comparison(comparison)
