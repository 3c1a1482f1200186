"""`cwndlab compare RULE --against RULE2`: options, runs and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import expect_options, figure_options, options
from cwndlab.cli.display import display
from cwndlab.cli.many_runs import end_unmet, execute_plan
from cwndlab.cli.output import INTERVAL, print_frame, print_line, print_table
from cwndlab.message import invalid

if TYPE_CHECKING:
    from cwndlab.cli.expect_options import Expected
    from cwndlab.pairwise import Pairwise
    from cwndlab.plots import FigureStyle

COLUMNS = (
    # heading, measure, with its interval
    ("share of\ngoodput", "share", True),
    ("harm to\nthe other", "harm", True),
    ("goodput per\nflow [Mbit/s],\nthe rule", "rule_goodput_bps", False),
    ("goodput,\nthe other", "against_goodput_bps", False),
    ("goodput,\nthe other\nwithout\nthe rule", "baseline_goodput_bps", False),
    ("RTT [ms],\nthe other", "against_rtt_s", False),
    ("RTT,\nthe other\nwithout\nthe rule", "baseline_rtt_s", False),
    ("loss [%],\nthe other", "against_loss_rate", False),
    ("loss,\nthe other\nwithout\nthe rule", "baseline_loss_rate", False),
)
OPTIONAL = tuple(heading for heading, _, _ in reversed(COLUMNS[3:]))
"""What a narrow terminal does not show."""
KEYS = (
    "share: 0.5 is fair; without the rule (the baseline): the other's flows share the link with "
    "as many of their own;",
    f"harm: loss of the other's goodput against the baseline, 0 none, 1 all; {INTERVAL}",
)


def refuse_together(
    *,
    detail: bool,
    metrics: tuple[str, ...],
    has_rate: bool,
    env: tuple[str, ...],
    assume: tuple[str, ...],
) -> None:
    """Refuse options that have no meaning with --against."""
    if detail:
        raise click.UsageError(
            "`--detail` cannot be used with `--against`, whose tables are detailed already"
        )
    if metrics:
        raise click.UsageError(
            "`--metrics` cannot be used with `--against`, which measures share and harm"
        )
    if has_rate and env:
        raise click.UsageError(
            "`--rate` cannot be used with `--env`: use `--assume` to change an environment's rates"
        )
    if any(text.partition("=")[0].strip() == "flows" for text in assume):
        raise click.UsageError(
            "`--assume flows` cannot be used with `--against`: use `--flows`, the flows of each "
            "rule"
        )


def refuse_alone(*, flows: tuple[str, ...], rate: str | None) -> None:
    """Refuse options that have no meaning without --against."""
    if flows:
        raise click.UsageError("`--flows` needs `--against`: use `--assume flows=N` without it")
    if rate is not None:
        raise click.UsageError(
            "`--rate` needs `--against`: use `--assume` to change an environment's rates"
        )


def compare_against(
    rules: tuple[str, ...],
    against: str,
    flows: tuple[str, ...],
    rate: str | None,
    common: dict[str, Any],
    *,
    work: dict[str, Any],
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
    expected: Expected,
) -> None:
    """Run rules against another one; print, plot or write the results."""
    import polars as pl

    from cwndlab import pairwise
    from cwndlab.sharing import BY_KEY

    given: dict[str, Any] = {} if rate is None else {"rate": rate}
    if flows:
        given["flows"] = [_count(text) for text in options.names_of("--flows", flows)]
    planned = pairwise.against(rules, against, run=False, **given, **common)
    # The baseline runs are not a rule's result.
    expected.check(BY_KEY, {**planned.plan.labels, "rule": planned.rules})
    found = execute_plan(planned, keep=as_json, **work)
    if plot is not None:
        figure_options.save(look, plot, found.plot)
    if as_json:
        click.echo(found.to_json())
    else:
        print_pairwise(found)
    is_of_rule = pl.col("rule").is_in(found.rules)
    is_met = expected.judge(
        found.summary.filter(is_of_rule), found.runs.filter(is_of_rule), "compare"
    )
    end_unmet(found, common.get("until"))
    expect_options.end(is_met=is_met)


def _count(text: str) -> int:
    from cwndlab.pairwise import MOST_FLOWS

    try:
        return int(text)
    except ValueError:
        raise click.UsageError(
            invalid("--flows", text, f"whole numbers from 1 to {MOST_FLOWS}")
        ) from None


def print_pairwise(pairwise: Pairwise) -> None:
    """Print one table per setting: rules and flow counts as rows."""
    from cwndlab.pairwise import LINK, SETTING
    from cwndlab.sharing import BY_KEY
    from cwndlab.tables import number, with_interval

    summary = pairwise.summary
    if display.format == "csv":
        print_frame(summary)
        return
    for recovery, queue, env in summary.select(SETTING).unique(maintain_order=True).rows():
        found = summary.filter(recovery=recovery, queue=queue, env=env)
        rows: list[list[str]] = []
        for rule in pairwise.rules:
            for flows in found["flows"].unique(maintain_order=True):
                cells = {
                    row["measure"]: row for row in found.filter(rule=rule, flows=flows).to_dicts()
                }
                texts = [
                    with_interval(cells[key], BY_KEY[key])
                    if interval
                    else number(cells[key]["mean"], BY_KEY[key])
                    for _, key, interval in COLUMNS
                ]
                rows.append([rule, f"{flows} + {flows}", *texts])
        where = "" if env == LINK else f", {env}"
        columns = ["rule", "flows", *(heading for heading, _, _ in COLUMNS)]
        print_table(
            f"against {pairwise.against}, {pairwise.recovery(recovery)} over {queue}{where}, "
            f"profile {pairwise.profile}",
            columns,
            rows,
            text_columns=2,
            optional=OPTIONAL,
        )
    for line in KEYS if display.is_terminal else ():
        print_line(line)
