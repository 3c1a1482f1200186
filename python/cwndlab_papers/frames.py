"""Data frames of results that several papers share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.statistics import estimate

if TYPE_CHECKING:
    import polars as pl

    from cwndlab_papers.results_grid import Data


def cell_table(data: Data, plan: str, settings: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per setting, case, rule and metric.

    ``value`` is the mean over replicates, with ``ci95``, its half-width.

    Parameters
    ----------
    data : Data
        The results.
    plan : str
        The plan.
    settings : sequence of str, optional
        Only these.
    """
    import polars as pl

    board = data.boards[plan]
    rows: list[tuple[object, ...]] = []
    places = itertools.product(
        enumerate(board.settings), enumerate(board.cases), enumerate(board.rules)
    )
    for (at, setting), (case_at, case), (rule_at, rule) in places:
        if settings is None or setting in settings:
            for metric, values in board.values.items():
                found = estimate(values[at, case_at, rule_at])
                rows.append((plan, setting, case, rule, metric, found.mean, found.half_width))
    columns = ["plan", "setting", "case", "rule", "metric", "value", "ci95"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
