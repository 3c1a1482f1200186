"""Curves of a plan's results over its cases: means with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.statistics import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cwndlab_papers.results_grid import Data


def error_bars(found: Iterable[Estimate], scale: float = 1.0) -> tuple[list[float], list[float]]:
    """Return means and half-widths for ``errorbar``: NaN without a mean, 0 without an interval."""
    listed = list(found)
    means = [np.nan if entry.mean is None else entry.mean * scale for entry in listed]
    return means, [(entry.half_width or 0.0) * scale for entry in listed]


def curve(
    panel: Axes, data: Data, plan: str, setting: str, metric: str, rule: str, *,
    at: Sequence[float] | None = None,
    scale: float = 1.0, **style: Any,
) -> None:  # fmt: skip
    """Draw the means of a metric over the plan's cases, with their 95 % confidence intervals.

    Parameters
    ----------
    panel : Axes
        Panel to draw into.
    data, plan, setting, metric, rule
        The data; the rule by its short name or its notation.
    at : sequence of float, optional
        Positions of the cases on the axis; by default their labels as numbers.
    scale : float
        Factor on the values.
    **style
        Style of ``errorbar``.
    """
    board = data.boards[plan]
    values = board.values[metric][
        board.settings.index(setting), :, board.rules.index(data.rule(rule))
    ]
    means, widths = error_bars((estimate(row) for row in values), scale)
    places = [float(case) for case in board.cases] if at is None else list(at)
    drawn: dict[str, Any] = {"capsize": 2, "markersize": 4, "elinewidth": 0.8, **style}
    panel.errorbar(places, means, yerr=widths, **drawn)
