"""The tables that `cwndlab compare` and `cwndlab demo` print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.cli.output import print_table
from cwndlab.metrics import METRICS, Metric

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison


def print_comparison(comparison: Comparison, metrics: tuple[Metric, ...] = METRICS) -> None:
    """Print one table per setting and metric: environments as columns, then C_a and D_a."""
    from cwndlab.tables import number, with_interval

    summary, scores = comparison.summary, comparison.scores
    settings = summary.select("recovery", "queue").unique(maintain_order=True).rows()
    for recovery, queue in settings:
        for metric in metrics:
            chosen = {"recovery": recovery, "queue": queue, "metric": metric.key}
            table, ranks = summary.filter(**chosen), scores.filter(**chosen)
            environments = table["env"].unique(maintain_order=True).to_list()
            rows = []
            for rank in ranks.to_dicts():
                cells = {row["env"]: row for row in table.filter(rule=rank["rule"]).to_dicts()}
                means = [with_interval(cells.get(name), metric) for name in environments]
                rows.append([rank["rule"], *means, number(rank["C_a"], metric), number(rank["D_a"], metric)])
            better = "higher" if metric.more_is_better else "lower"
            title = f"{metric.title}, {recovery} over {queue} ({better} is better; mean ± 95 % CI)"
            print_table(title, ["rule", *environments, "C_a", "D_a"], rows)
