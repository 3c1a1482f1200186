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

OPTIONAL = ("timeouts", "p95_queueing_delay_s", "lowest_share", "fairness_spread")
"""What a narrow terminal does not show of that table, the first one first."""
SCORES = ("C_a", "D_a")
SCORES_MEAN = (
    "C_a, D_a: largest distance from the best rule over the environments, and the sum of the "
    "distances; 0 is best"
)
SCORED = "goodput"
"""The metric whose scores that table has."""
SIGNS_MEAN = "▲ better than it, ▼ worse, = no significant difference"
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
        where = {"recovery": recovery, "queue": queue}
        setting = f"{comparison.recovery(recovery)} over {queue}{under}"
        own, ranks, pairs = (table.filter(**where) for table in (summary, scores, paired))
        if many:
            _print_means(setting, metrics, own, ranks)
            _print_counts(setting, metrics, rules, pairs)
        for metric in metrics if detail or not many else ():
            parts = (table.filter(metric=metric.key) for table in (own, ranks, pairs))
            _print_metric(setting, metric, rules, *parts, are_many=many)
    if len(rules) > 1 and (detail or not many) and display.is_terminal:
        print_line(
            f"* the best mean; Δ difference of a rule from the baseline {rules[0]}, paired by "
            f"replicate ({INTERVAL}): {SIGNS_MEAN}"
        )
    if display.is_terminal and (detail or not many or any(one.key == SCORED for one in metrics)):
        print_line(SCORES_MEAN)
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
        columns += [metric.heading, "C_a", "D_a"] if with_scores else [metric.heading]
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
        optional=[metric.heading for metric in metrics if metric.key in OPTIONAL],
    )


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
            f"{setting}: environments by difference from the baseline {rules[0]} (▲ better, "
            "▼ worse, = not significant)",
            ["rule", *(metric.heading for metric in metrics)],
            rows,
            optional=[metric.heading for metric in metrics if metric.key in OPTIONAL],
        )


def _print_metric(
    setting: str,
    metric: Metric,
    rules: Sequence[str],
    summary: pl.DataFrame,
    scores: pl.DataFrame,
    pairs: pl.DataFrame,
    *,
    are_many: bool,
) -> None:
    """Means, scores and differences: a row per rule, with many environments one per environment."""
    from cwndlab.tables import judged, number

    environments = summary["env"].unique(maintain_order=True).to_list()
    found, differences = _by_place(summary), _by_place(pairs)
    ranks = {row["rule"]: row for row in scores.iter_rows(named=True)}
    means = [[_mean(found, env, rule, rules, metric) for env in environments] for rule in rules]
    ranked = [
        [number(ranks[rule][key], metric) if rule in ranks else "-" for key in SCORES]
        for rule in rules
    ]
    less = [
        [judged(differences.get((env, rule)), metric) for env in environments] for rule in rules[1:]
    ]
    named = [f"{rule} (baseline)" if rule == rules[0] and less else rule for rule in rules]
    if are_many:
        head = ["environment", *named]
        rows = [[env, *cells] for env, *cells in zip(environments, *means, strict=True)]
        rows += [[], *([key, *cells] for key, *cells in zip(SCORES, *ranked, strict=True))]
        below = [[f"Δ {env}", "", *cells] for env, *cells in zip(environments, *less, strict=True)]
    else:
        head = ["rule", *environments, *SCORES]
        rows = [[rule, *mean, *rank] for rule, mean, rank in zip(named, means, ranked, strict=True)]
        below = [
            [f"Δ {rule} - baseline", *cells, "", ""]
            for rule, cells in zip(rules[1:], less, strict=True)
        ]
    better = f"{metric.better}; " if metric.better else ""
    title = f"{metric.title}, {setting} ({better}{INTERVAL})"
    print_table(title, head, rows + ([[], *below] if less else []))


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
