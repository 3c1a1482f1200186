"""`cwndlab demo`: the four linear rules in four environments, with a report."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.compare_tables import print_comparison
from cwndlab.cli.many_runs import execute_plan
from cwndlab.cli.output import say, steps
from cwndlab.cli.profile import profile_option

RULES = ("AIMD(1, 0.8)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)")
REPLICATES = 3
DURATION_S = 100.0
TRACE = {"cwnd": "100ms", "queue": "100ms", "rate": "500ms"}


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/demo"),
    show_default=True,
    metavar="DIR",
)
@click.option("--duration", default=f"{DURATION_S:g}s", show_default=True, metavar="TIME")
@profile_option("linux")
@options.jobs_option
def demo(out: Path, duration: str, profile: str | None, jobs: int | None) -> None:
    """Run the four linear rules in four environments.

    It writes a report. Each run has ten flows with SACK over drop-tail. The residual bandwidth is
    constant, a square wave, a sawtooth or a random walk, always around 10 Mbit/s.
    """
    from cwndlab import environments, plots
    from cwndlab.comparing import compare
    from cwndlab.metrics import BY_KEY
    from cwndlab.report import write_report

    planned = compare(
        RULES,
        env=environments.DEMO,
        replicates=REPLICATES,
        duration=options.seconds_of("--duration", duration),
        profile=profile,
        run=False,
    )
    comparison = execute_plan(planned, jobs=jobs, out=out, trace=TRACE)
    plots.save(comparison.plot(), out / "comparison.png")
    for name in environments.DEMO:
        results = {
            rule.label: result
            for rule in planned.plan.axes["rule"]
            if (result := comparison.result(rule=rule.label, env=name)) is not None
        }
        plots.save(plots.windows_by_rule(results), out / f"windows-{name}.png")
        plots.save(plots.goodput_by_rule(results), out / f"goodput-{name}.png")
        plots.save(plots.queue_by_rule(results), out / f"queue-{name}.png")
    with steps() as tell:
        heading = "Four linear rules over four bandwidths"
        report = write_report(comparison, out / "report.html", title=heading, progress=tell)
    print_comparison(comparison, (BY_KEY["goodput"],))
    say(f"wrote {report}")
