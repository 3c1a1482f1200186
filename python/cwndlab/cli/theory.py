"""`cwndlab theory`: formulas and recurrences for rules, without simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.theory_options import (
    FRACTION,
    PAIR,
    POSITIVE,
    capacity_option,
    exact_option,
    floor_option,
    model_of,
    number,
    plot_option,
)
from cwndlab.message import invalid, one_of, unknown

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle


class Models(click.Group):
    """A group that lists its models in the message for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look the first argument up."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(unknown("theory", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


@click.group(cls=Models, invoke_without_command=True)
@click.pass_context
def theory(context: click.Context) -> None:
    """Compute what theory says about a rule."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@theory.command()
@click.argument("rule")
@click.argument("other", required=False)
@click.option(
    "--start",
    "starts",
    type=PAIR,
    multiple=True,
    metavar="X1,X2",
    help="Initial loads; repeat the option for more runs.",
)
@capacity_option
@click.option(
    "--steps", type=options.whole_number(1, 1_000_000), default=400, show_default=True, metavar="N"
)
@exact_option
@floor_option
@options.json_option
@plot_option
def phase(
    rule: str,
    other: str | None,
    starts: tuple[tuple[float, float], ...],
    capacity: float,
    steps: int,
    exact: bool,
    floor: float,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Step two flows under the same binary feedback.

    RULE holds for both flows unless OTHER is given for the second.
    """
    _check(plot)
    from cwndlab import theory as models
    from cwndlab.cli import theory_tables

    rules = model_of(rule) if other is None else [model_of(rule), model_of(other)]
    first = starts or ((0.08 * capacity, 0.64 * capacity), (0.7 * capacity, 0.1 * capacity))
    found = models.phase(rules, first, capacity=capacity, steps=steps, exact=exact, floor=floor)
    if plot is not None:
        from cwndlab.plots import theory as draw

        figure_options.save(look, plot, draw.phase, found)
    theory_tables.phase(found, as_json)


@theory.command()
@click.argument("rule")
@click.option(
    "--flows", type=options.whole_number(2, 1000), default=2, show_default=True, metavar="N"
)
@capacity_option
@floor_option
@options.json_option
@plot_option
def fair(
    rule: str,
    flows: int,
    capacity: float,
    floor: float,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Test a linear RULE for fairness; give its steady-state window.

    It does so from the parameters, in closed form, and by iteration.
    """
    _check(plot)
    from cwndlab import theory as models
    from cwndlab.cli import theory_tables

    parsed = model_of(rule)
    if not isinstance(parsed, models.Linear):
        raise click.UsageError(
            invalid("RULE", rule, "a linear rule: AIMD, AIAD, MIMD, MIAD, AIMAD, MAIMD or Linear")
        )
    # Unequal starts that use 0.9 of the capacity: flow i has i shares.
    starts = [0.9 * capacity * 2 * (flow + 1) / (flows * (flows + 1)) for flow in range(flows)]
    found = models.settle(parsed, starts, capacity=capacity, floor=floor)
    if plot is not None:
        from cwndlab.plots import theory as draw

        title = f"{parsed.text}: {models.condition(parsed).verdict}"
        figure_options.save(look, plot, draw.settled, found, title)
    theory_tables.fair(parsed, found, as_json)


@theory.command()
@click.argument("rule")
@click.option("--rtt", default="100ms", show_default=True, metavar="TIME", help="Mean RTT.")
@click.option(
    "--loss", type=FRACTION, default=0.01, show_default=True, metavar="P", help="Loss rate."
)
@click.option("--rto", metavar="TIME", help="Mean RTO, T0.  [default: 4 RTTs]")
@click.option(
    "--packets-per-ack",
    "b",
    type=number(0.999999, 1000),
    default=1,
    metavar="B",
    help="Packets per ACK: 2 with delayed ACKs.",
)
@options.json_option
@plot_option
def rate(
    rule: str,
    rtt: str,
    loss: float,
    rto: str | None,
    b: float,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Give the rate of a RULE under random loss.

    RULE is GAIMD or binomial; the table also shows standard TCP.
    """
    _check(plot)
    rtt_s = options.seconds_of("--rtt", rtt)
    rto_s = 4 * rtt_s if rto is None else options.seconds_of("--rto", rto)
    from cwndlab import theory as models
    from cwndlab.cli import theory_rates

    parsed = model_of(rule)
    if not (
        isinstance(parsed, models.Binomial) or (isinstance(parsed, models.Linear) and parsed.gaimd)
    ):
        known = ("GAIMD", "AIMD", "Binomial", "IIAD", "SQRT")
        raise click.UsageError(
            invalid("RULE", rule, f"a rule with a rate formula: {one_of(known)}")
        )
    if plot is not None:
        from cwndlab.plots import theory as draw

        curves = theory_rates.rate_curves(parsed, loss, rtt_s, rto_s, b)
        title = f"{parsed.text}, RTT {rtt_s * 1e3:g} ms"
        if isinstance(parsed, models.Linear):
            title += f", timeout {rto_s * 1e3:g} ms"
        figure_options.save(look, plot, draw.rates, curves, loss, title)
    theory_rates.rate(parsed, loss, rtt_s, rto_s, b, as_json)


@theory.command()
@click.option(
    "--beta", "betas", type=FRACTION, multiple=True, default=(0.875,), show_default=True,
    metavar="BETA",
    help="Decrease factor; may be repeated.",
)  # fmt: skip
@click.option(
    "--ratio",
    "d",
    type=POSITIVE,
    default=1.0,
    show_default=True,
    metavar="D",
    help="Target rate / TCP's rate.",
)
@click.option(
    "--threshold", "thresholds", type=number(0, 1, most=True), multiple=True,
    default=(0.1, 0.3, 0.7),
    show_default=True, metavar="P",
    help="Loss rate up to which the error is minimised; may be repeated.",
)  # fmt: skip
@click.option(
    "--rto-rtts",
    type=POSITIVE,
    default=4.0,
    show_default=True,
    metavar="N",
    help="T0 / RTT.",
)
@click.option(
    "--formula", type=options.Choice("2", "55", "55, 47"), metavar="2|55|'55, 47'",
    default="2", show_default=True,
    help="Equation of Yang and Lam (2000) for the rates; 47 uses 3/w for Q.",
)  # fmt: skip
@options.json_option
@plot_option
def friendly(
    betas: tuple[float, ...],
    d: float,
    thresholds: tuple[float, ...],
    rto_rtts: float,
    formula: str,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Give TCP-friendly alpha for a beta of general AIMD.

    It does so by three criteria.
    """
    _check(plot)
    from cwndlab.cli import theory_rates

    path = {"rto_over_rtt": rto_rtts, "formula": formula}
    if plot is not None:
        from cwndlab.plots import theory as draw

        curves = theory_rates.friendly_curves(betas[0], d, thresholds, path)
        figure_options.save(look, plot, draw.friendly, betas[0], *curves)
    theory_rates.friendly(betas, d, thresholds, path, as_json)


@theory.command()
@click.option(
    "--flows", type=options.whole_number(1, 1000), default=8, show_default=True, metavar="N"
)
@click.option(
    "--join",
    type=options.whole_number(0, 1000),
    default=0,
    metavar="N",
    help="Flows that join with load 0.",
)
@click.option(
    "--leave", type=options.whole_number(0, 999), default=0, metavar="N", help="Flows that leave."
)
@click.option(
    "--share",
    type=number(0, 2000, most=True),
    default=100.0,
    show_default=True,
    metavar="PACKETS",
    help="Fair share B / n after the change.",
)
@click.option("--beta", type=FRACTION, default=0.5, show_default=True, metavar="BETA")
@click.option("--epsilon", type=FRACTION, default=0.125, show_default=True, metavar="EPSILON")
@click.option("--band", type=number(-1e-300), default=0.0, metavar="PACKETS", help="Dead band.")
@click.option("--cycles", type=options.whole_number(1, 10_000), default=50, show_default=True,
              metavar="N",
              help="Congestion signals after the change.")  # fmt: skip
@click.option(
    "--steps", "discrete", is_flag=True, help="Whole steps: congestion occurs up to a step after B."
)
@options.json_option
@plot_option
def bimodal(
    flows: int,
    join: int,
    leave: int,
    share: float,
    beta: float,
    epsilon: float,
    band: float,
    cycles: int,
    discrete: bool,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Measure how soon Bimodal flows find their fair share."""
    _check(plot)
    if leave >= flows:
        raise click.UsageError(invalid("--leave", leave, f"fewer than --flows, {flows}"))
    from cwndlab.cli import theory_tables

    case = theory_tables.BimodalCase(
        flows, join, leave, share, beta, epsilon, band, cycles, not discrete
    )
    courses = case.courses()
    if plot is not None:
        from cwndlab.plots import theory as draw

        figure_options.save(look, plot, draw.shares, case.drawn(courses), case.shown_change)
    theory_tables.bimodal(case, courses, as_json)


@theory.command()
@click.option(
    "--from",
    "start",
    type=POSITIVE,
    default=20.0,
    show_default=True,
    metavar="PACKETS",
    help="Initial window.",
)
@click.option(
    "--to",
    "target",
    type=POSITIVE,
    help="Target window.  [default: twice the first]",
    metavar="PACKETS",
)
@click.option(
    "--a",
    type=number(0.01, 1000),
    default=1.0,
    show_default=True,
    metavar="A",
    help="First increase per RTT, packets.",
)
@click.option(
    "--acceleration",
    type=number(0.001, 1000),
    default=0.5,
    show_default=True,
    metavar="A'",
    help="Growth of the increase per RTT, packets.",
)
@options.json_option
@plot_option
def growth(
    start: float,
    target: float | None,
    a: float,
    acceleration: float,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Count the RTTs that MR-AIMD needs to grow a window."""
    _check(plot)
    from cwndlab.cli import theory_rates

    goal = 2 * start if target is None else target
    if not start < goal <= 1e4:
        raise click.UsageError(
            invalid("--to", f"{goal:g}", f"a window above {start:g} (--from), at most 10000")
        )
    rounds = theory_rates.growth_rounds(start, goal, a, acceleration)
    if plot is not None:
        from cwndlab.plots import theory as draw

        courses = theory_rates.growth_courses(start, rounds, a, acceleration)
        figure_options.save(look, plot, draw.growth, courses, goal)
    theory_rates.growth(start, goal, rounds, as_json)


def _check(plot: Path | None) -> None:
    options.check_plot(plot)
    options.check_parent("--plot", plot)
