"""Tables of `cwndlab compare` and `cwndlab demo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab.cli.display import display
from cwndlab.cli.output import INTERVAL, print_frame, print_line, print_table

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.comparison import Comparison
    from cwndlab.metrics import Metric

HEADINGS = {
    "goodput": "goodput /\navailable",
    "goodput_left": "goodput /\nresidual",
    "loss_rate": "loss\n[%]",
    "mean_queueing_delay_s": "delay\n[ms]",
    "p50_queueing_delay_s": "p50 delay\n[ms]",
    "p95_queueing_delay_s": "p95 delay\n[ms]",
    "p99_queueing_delay_s": "p99 delay\n[ms]",
    "p50_rtt_s": "p50 RTT\n[ms]",
    "p95_rtt_s": "p95 RTT\n[ms]",
    "p99_rtt_s": "p99 RTT\n[ms]",
    "fairness_spread": "spread",
    "jain_index": "Jain's\nindex",
    "lowest_share": "lowest\nshare",
}
"""Short headings of the table over many environments."""
OPTIONAL = ("timeouts", "p95_queueing_delay_s", "lowest_share", "fairness_spread")
"""What a narrow terminal does not show of that table, the first one first."""
SCORED = "goodput"
"""The metric whose scores that table has."""
SIGNS_MEAN = "▲ better, ▼ worse, = no significant difference"
Rows = Mapping[tuple[str, str], Mapping[str, Any]]
"""Environment and rule to a row of a summary, or of differences."""


def print_comparison(
    comparison: Comparison, metrics: Sequence[Metric] = (), *, detail: bool = False
) -> None:
    """Print one table per setting and metric: environments as columns, then C_a and D_a.

    Below the means are the differences from the baseline, the first rule. With many environments,
    print means over them per setting, and in how many a rule is better than the baseline; `detail`
    adds tables with environments as rows. `metrics` are some of the comparison's, by default all.
    """
    from cwndlab.differences import differences, with_differences

    summary, scores = comparison.summary, comparison.scores
    rules = [level.label for level in comparison.plan.axes["rule"]]
    metrics = metrics or comparison.metrics
    paired = differences(comparison.runs, rules[0], comparison.metrics)
    settings = summary.select("recovery", "queue").unique(maintain_order=True).rows()
    if display.format == "csv":
        print_frame(with_differences(summary, paired, rules[0]))
        return
    many = comparison.has_many_environments
    under = f", profile {comparison.profile}"
    for recovery, queue in settings:
        where, setting = {"recovery": recovery, "queue": queue}, f"{recovery} over {queue}{under}"
        own, ranks, pairs = (table.filter(**where) for table in (summary, scores, paired))
        if many:
            _print_means(setting, metrics, own, ranks)
            _print_counts(setting, metrics, rules, pairs)
        for metric in metrics if detail or not many else ():
            parts = (table.filter(metric=metric.key) for table in (own, ranks, pairs))
            (_print_rows if many else _print_columns)(setting, metric, rules, *parts)
    if len(rules) > 1 and (detail or not many) and display.is_terminal:
        print_line(
            f"* the best mean; Δ difference from the baseline {rules[0]}, paired by replicate "
            f"({INTERVAL}): {SIGNS_MEAN}"
        )
    if many and len(settings) > 1 and any(metric.key == SCORED for metric in metrics):
        _print_overview(settings, scores.filter(metric="goodput"), under)


def _print_means(
    setting: str, metrics: Sequence[Metric], summary: pl.DataFrame, scores: pl.DataFrame
) -> None:
    """One row per rule, means over the environments."""
    from cwndlab.columns import mean_of
    from cwndlab.tables import best, marked, number

    rules, environments = scores["rule"].unique(maintain_order=True), summary["env"].n_unique()
    columns, rows = ["rule"], [[rule] for rule in rules]
    for metric in metrics:
        key, with_scores = metric.key, metric.key == SCORED
        columns += [_heading(metric), "C_a", "D_a"] if with_scores else [_heading(metric)]
        means = [mean_of(summary.filter(rule=rule, metric=key)["mean"]) for rule in rules]
        first = best(means, metric)
        for row, mean in zip(rows, means, strict=True):
            row.append(marked(number(mean, metric), mean, first, metric))
            if with_scores:
                score = scores.filter(rule=row[0], metric=key).row(0, named=True)
                row += [number(score["C_a"], metric), number(score["D_a"], metric)]
    of_scores = "C_a and D_a of goodput; " if "C_a" in columns else ""
    print_table(
        f"{setting}: means over {environments} environments; {of_scores}* is the best",
        columns,
        rows,
        optional=[_heading(metric) for metric in metrics if metric.key in OPTIONAL],
    )


def _heading(metric: Metric) -> str:
    return HEADINGS.get(metric.key, metric.title.replace(" [", "\n["))


def _print_counts(
    setting: str, metrics: Sequence[Metric], rules: Sequence[str], pairs: pl.DataFrame
) -> None:
    """One row per rule but the baseline: in how many environments it is better, and worse."""
    from cwndlab.tables import verdict

    rows: list[list[str]] = []
    for rule in rules[1:]:
        row = [rule]
        for metric in metrics:
            found = [
                verdict(pair, metric)
                for pair in pairs.filter(rule=rule, metric=metric.key).iter_rows(named=True)
            ]
            counts = [found.count(word) for word in ("better", "same", "worse")]
            row.append(" ".join(f"{n}{sign}" for n, sign in zip(counts, "▲=▼", strict=True)))
        rows.append(row)
    if rows:
        print_table(
            f"{setting}: environments by difference from {rules[0]} (▲ better, ▼ worse, = not "
            "significant)",
            ["rule", *map(_heading, metrics)],
            rows,
            optional=[_heading(metric) for metric in metrics if metric.key in OPTIONAL],
        )


def _print_columns(
    setting: str,
    metric: Metric,
    rules: Sequence[str],
    summary: pl.DataFrame,
    scores: pl.DataFrame,
    pairs: pl.DataFrame,
) -> None:
    """One row per rule, one column per environment; the differences below the means."""
    from cwndlab.tables import judged, number

    environments = summary["env"].unique(maintain_order=True).to_list()
    ranks = {row["rule"]: row for row in scores.iter_rows(named=True)}
    means, less = _by_place(summary), _by_place(pairs)
    rows: list[list[str]] = []
    for rule in rules:
        cells = [_mean(means, name, rule, rules, metric) for name in environments]
        rank = [number(ranks[rule][key], metric) if rule in ranks else "-" for key in SCORES]
        rows.append([_named(rule, rules), *cells, *rank])
    if rows[1:]:
        rows.append([])
    for rule in rules[1:]:
        cells = [judged(less.get((name, rule)), metric) for name in environments]
        rows.append([f"Δ {rule}", *cells, "", ""])
    print_table(_title(setting, metric), ["rule", *environments, *SCORES], rows)


SCORES = ("C_a", "D_a")


def _print_rows(
    setting: str,
    metric: Metric,
    rules: Sequence[str],
    summary: pl.DataFrame,
    scores: pl.DataFrame,
    pairs: pl.DataFrame,
) -> None:
    """One row per environment, one column per rule, the scores below, then the differences."""
    from cwndlab.tables import judged, number

    means, less = _by_place(summary), _by_place(pairs)
    environments = summary["env"].unique(maintain_order=True).to_list()
    ranks = {row["rule"]: row for row in scores.iter_rows(named=True)}
    rows = [
        [name, *(_mean(means, name, rule, rules, metric) for rule in rules)]
        for name in environments
    ]
    rows.append([])
    rows += [
        [key, *(number(ranks[rule][key], metric) if rule in ranks else "-" for rule in rules)]
        for key in SCORES
    ]
    if rules[1:]:
        rows.append([])
        rows += [
            [
                f"Δ {name}",
                "",
                *(judged(less.get((name, rule)), metric) for rule in rules[1:]),
            ]
            for name in environments
        ]
    print_table(
        _title(setting, metric), ["environment", *(_named(rule, rules) for rule in rules)], rows
    )


def _named(rule: str, rules: Sequence[str]) -> str:
    """Name a rule, and say which one is the baseline of others."""
    return f"{rule} (baseline)" if rule == rules[0] and rules[1:] else rule


def _by_place(table: pl.DataFrame) -> Rows:
    return {(row["env"], row["rule"]): row for row in table.iter_rows(named=True)}


def _mean(means: Rows, env: str, rule: str, rules: Sequence[str], metric: Metric) -> str:
    """Mean and interval of a cell, marked if it is the best in its environment."""
    from cwndlab.tables import best, marked, with_interval

    found = {name: row["mean"] for name in rules if (row := means.get((env, name)))}
    text = with_interval(means.get((env, rule)), metric)
    return marked(text, found.get(rule), best(found.values(), metric), metric)


def _print_overview(settings: list[tuple[str, ...]], scores: pl.DataFrame, under: str) -> None:
    """One row per setting: the rules' D_a of goodput, the best marked."""
    from cwndlab.metrics import BY_KEY
    from cwndlab.tables import number

    metric = BY_KEY[SCORED]
    rules = scores["rule"].unique(maintain_order=True).to_list()
    rows: list[list[str]] = []
    for recovery, queue in settings:
        found = dict(
            scores.filter(recovery=recovery, queue=queue).select("rule", "D_a").iter_rows()
        )
        ranked = [value for value in found.values() if value is not None]
        marks = ["*" if ranked and found[rule] == min(ranked) else " " for rule in rules]
        texts = (
            f"{mark} {number(found[rule], metric)}" for rule, mark in zip(rules, marks, strict=True)
        )
        rows.append([f"{recovery} over {queue}", *texts])
    print_table(
        f"D_a of goodput by setting{under} (lower is better; * is the best)",
        ["setting", *rules],
        rows,
    )


def _title(setting: str, metric: Metric) -> str:
    better = f"{metric.better}; " if metric.better else ""
    return f"{metric.title}, {setting} ({better}{INTERVAL})"
