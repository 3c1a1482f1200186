"""A metric over two axes, as colours; few cells have their means written in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from cwndlab.plots.drawing import name, panel_title, points, room_in, title_of
from cwndlab.plots.over_axes import head, levels, where
from cwndlab.plots.style import panels, styled

if TYPE_CHECKING:
    from cwndlab.metrics import Metric
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured

COLOURS = "cividis"
"""From dark to light, in grey as well, and for colour-blind readers."""
TEXT_IN, CELL_IN = 0.42, 0.75
"""Least width of a cell with its mean, and of one with its interval too, in inches."""
DARK = 0.55
"""Share of the colours that are too dark for black text."""


@styled
def heat_map(subject: Measured, over: Over) -> Figure:
    """Draw a cell for each pair of levels; all panels have the same colours.

    Where there is room, the mean is in its cell, and below it the half-width of its 95 % confidence
    interval: the larger of the two sides.

    Parameters
    ----------
    subject : Measured
        The runs.
    over : Over
        Its `heat` is the metric, its `y` an axis.
    """
    (vertical,) = over.y
    metric = next(each for each in subject.measures if each.key == over.heat)
    summary = subject.summary.filter(metric=metric.key)
    columns, across, up = (levels(subject, axis) for axis in (over.panel, over.x, vertical))
    figure, axes = panels(
        1, len(columns), sharex=True, sharey=True,
        width=max(6.0, 2.0 + len(columns) * max(2.4, CELL_IN * len(across))),
        height=1.3 + 0.45 * max(3, len(up)),
    )  # fmt: skip
    known = metric.scale * summary["mean"].drop_nulls().to_numpy()
    colours = Normalize(*((known.min(), known.max()) if len(known) else (0, 1)))
    cell_in = (room_in(figure.get_figwidth()) - 2.0) / len(across)
    cell_in /= 1 if len({panel.get_position().y0 for panel in axes}) > 1 else len(columns)
    for panel, column in zip(axes, columns, strict=True):
        cells = {(row[over.x], row[vertical]): row
                 for row in where(summary, over.panel, column).iter_rows(named=True)}  # fmt: skip
        rows = [[cells.get((place, height), {}) for place in across] for height in up]
        means = np.array([[_scaled(row, "mean", metric) for row in of] for of in rows])
        panel.imshow(means, cmap=COLOURS, norm=colours, aspect="auto", origin="lower")
        if cell_in >= TEXT_IN:
            _write(panel, rows, metric, colours, has_interval=cell_in >= CELL_IN)
        panel.set_xticks(range(len(across)), [name(level) for level in across])
        panel.set_yticks(range(len(up)), [name(level) for level in up])
        panel.grid(visible=False)
        panel.spines[:].set_visible(False)
        panel.set_xlabel(name(over.x))
        panel.set_title(panel_title(over.panel, column) if over.panel is not None else "")
    axes[0].set_ylabel(name(vertical))
    figure.colorbar(ScalarMappable(colours, COLOURS), ax=axes, label=title_of(metric))
    interval = " (± half-width of the 95 % confidence interval)" if cell_in >= CELL_IN else ""
    head(figure, subject, f"means{interval}")
    return figure


def _scaled(row: dict[str, Any], key: str, metric: Metric) -> float:
    value = row.get(key)
    return np.nan if value is None else value * metric.scale


def _write(
    axes: Axes, rows: list[list[dict[str, Any]]], metric: Metric, colours: Normalize, *,
    has_interval: bool,
) -> None:  # fmt: skip
    for height, cells in enumerate(rows):
        for place, row in enumerate(cells):
            mean = _scaled(row, "mean", metric)
            if np.isnan(mean):
                continue
            low, high = (_scaled(row, key, metric) for key in ("ci95_low", "ci95_high"))
            text = f"{mean:.{metric.digits}f}"
            if has_interval and not np.isnan(low):
                text += f"\n± {max(mean - low, high - mean):.{metric.digits}f}"
            is_dark = colours(mean) < DARK
            axes.text(
                place, height, text, ha="center", va="center", fontsize=points(8.5),
                color="white" if is_dark else "black",
            )  # fmt: skip
