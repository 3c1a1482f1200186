"""Plots one rule against another: its share and its harm over the number of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from cwndlab.plots.drawing import figure_legend, name, ordered, points, whiskers
from cwndlab.plots.style import REFERENCE, look, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Pairs

SPREAD = 0.05
"""Distance between neighbouring series, as a share of a doubling of flows."""
LONG = 24
"""Length of a rule's text, such as a formula, above which only the title has it."""


@styled
def shares(pairwise: Pairs) -> Figure:
    """Draw share above and harm below, over the number of flows of each rule.

    For one rule, every setting (queue, recovery, environment) is a line. For several rules, every
    rule is a line, and every setting a column.

    Parameters
    ----------
    pairwise : Pairwise
        Only its `summary`, `rules` and `against` are read.
    """
    summary = pairwise.summary.filter(pl.col("rule").is_in(pairwise.rules))
    settings = (
        summary.select("recovery", "queue", "env").unique(maintain_order=True).rows(named=True)
    )
    labels, rules = _labels(settings), list(pairwise.rules)
    if len(rules) == 1:
        found = dict(zip(labels, settings, strict=True))
        lines = {label: found[label] for label in ordered(labels)}
        columns = [(name(labels[0]) if len(labels) == 1 else "", lines)]
    else:
        rules = ordered(rules)
        columns = [
            (name(label), {rule: {**where, "rule": rule} for rule in rules})
            for label, where in zip(labels, settings, strict=True)
        ]
    shown, against = [name(rule) for rule in rules], name(pairwise.against)
    width = max(7.5, 1.0 + 3.3 * len(columns))
    figure, axes = panels(2, len(columns), sharex=True, sharey="row", width=width, height=2.7)
    for column, (title, series) in enumerate(columns):
        above, beneath = axes[column], axes[len(columns) + column]
        _lines(above, summary.filter(measure="share"), series)
        _lines(beneath, summary.filter(measure="harm"), series)
        _reference(above, 0.5, "fair: half" if column == 0 else "")
        _reference(beneath, 0.0, "no worse than the baseline" if column == 0 else "")
        above.set_title(title)
        above.set_ylim(0, 1)
        beneath.set_xlabel("flows of each kind")
        _ticks(beneath, sorted(summary["flows"].unique()))
    who = shown[0] if len(shown) == 1 and len(shown[0]) < LONG else "the rule"
    axes[0].set_ylabel(f"share of goodput\nthat {who} gets")
    axes[len(columns)].set_ylabel(f"harm to\n{against if len(against) < LONG else 'the other'}")
    # Room for the words beneath the line at 0.
    axes[len(columns)].set_ylim(min(-0.15, axes[len(columns)].get_ylim()[0]), 1)
    names = " and ".join(shown) if len(shown) < 3 else f"{len(shown)} rules"
    title = f"{names} against {against} (whiskers: 95 % confidence interval)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=points(10.5))
    handles, texts = axes[0].get_legend_handles_labels()
    if len(texts) > 1:
        figure_legend(figure, handles, texts, handlelength=3)
    return figure


def _labels(settings: list[dict[str, str]]) -> list[str]:
    """Name settings by their queue and by their differences."""
    differing = [key for key in ("recovery", "env") if len({where[key] for where in settings}) > 1]
    return [", ".join([where["queue"], *(where[key] for key in differing)]) for where in settings]


def _lines(axes: Axes, summary: pl.DataFrame, series: dict[str, dict[str, str]]) -> None:
    for index, (label, where) in enumerate(series.items()):
        rows = summary.filter(**where).drop_nulls("mean").sort("flows")
        style, shift = look(index), 2 ** (SPREAD * (index - (len(series) - 1) / 2))
        axes.errorbar(
            rows["flows"] * shift,
            rows["mean"],
            yerr=whiskers(rows.to_dicts()),
            color=style.color,
            linestyle=style.linestyle,
            marker=style.marker,
            markersize=4.5,
            linewidth=1.4,
            elinewidth=0.9,
            capsize=2,
            label=name(label),
        )


def _reference(axes: Axes, height: float, text: str) -> None:
    axes.axhline(height, color=REFERENCE, linestyle=":", linewidth=1.1, zorder=1)
    if text:
        axes.annotate(
            text, (0.995, height), xycoords=("axes fraction", "data"), xytext=(0, -3),
            textcoords="offset points",
            ha="right", va="top", fontsize=points(8.5), color=REFERENCE,
        )  # fmt: skip


def _ticks(axes: Axes, counts: list[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(counts[0] / 1.25, counts[-1] * 1.25)
