"""Plots assessments: how far a rule is from its references, and several rules side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cwndlab.arguments import listed
from cwndlab.plots.drawing import figure_legend, name, points
from cwndlab.plots.style import REFERENCE, panels, styled

if TYPE_CHECKING:
    from cwndlab.plots.subjects import Assessed

COLORS = {"worse": "#B84E00", "better": "#0B6DB8", "no worse": "#777777", "undecided": "#BBBBBB"}
MARKERS = {"worse": "v", "better": "^", "no worse": "o", "undecided": "D"}
FAINT = ("no worse", "undecided")
SIGNS = {"worse": "▼", "better": "▲", "no worse": "=", "undecided": "?"}
FARTHEST = 100.0
"""Disadvantages are drawn up to this many margins."""


@styled
def verdicts(found: Assessed) -> Figure:
    """Draw every comparison of every criterion: its disadvantage in margins of relevance.

    Right of the grey band a comparison is worse than every deciding reference, left of it better.

    Parameters
    ----------
    found : Assessment
        The assessment.
    """
    judged = [one for one in found.judged() if one.comparisons]
    figure, (axes,) = panels(1, 1, width=7.5, height=max(1.6, 0.8 + 0.3 * len(judged)))
    axes.axvspan(-1, 1, color="#eeeeee", zorder=0)
    axes.axvline(0, color=REFERENCE, linewidth=0.8, zorder=1)
    for row, one in enumerate(judged):
        for verdict, color in COLORS.items():
            sizes = [each.size for each in one.comparisons if each.verdict == verdict]
            axes.plot(
                [max(-FARTHEST, min(FARTHEST, size)) for size in sizes], [row] * len(sizes),
                MARKERS[verdict], color=color, markersize=4.5, linestyle="none", alpha=0.85,
                label=verdict if row == 0 or not _labelled(axes, verdict) else None,
            )  # fmt: skip
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_xlim(-FARTHEST * 1.3, FARTHEST * 1.3)
    axes.set_xticks([-100, -10, -1, 0, 1, 10, 100], ["100", "10", "1", "0", "1", "10", "100"])
    axes.set_xlabel(f"margins better than {_each(found)}   |   margins worse")
    axes.set_yticks(
        range(len(judged)),
        [f"{one.criterion.section} {_short(one.criterion.title)}" for one in judged],
    )
    axes.set_ylim(len(judged) - 0.5, -0.5)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=4, handletextpad=0.2)
    figure.suptitle(
        f"{name(found.rule)} by the criteria of RFC 9743", x=0.01, ha="left",
        fontsize=points(10.5),
    )  # fmt: skip
    return figure


@styled
def league(found: Assessed | Sequence[Assessed]) -> Figure:
    """Draw a table of criteria and rules: a sign and a colour for each verdict.

    Parameters
    ----------
    found : Assessment or sequence of Assessment
        One per rule, with the same tests.
    """
    found = cast("list[Assessed]", listed(found))
    sections = [
        one.criterion for one in found[0].judged() if any(
            each.comparisons for entry in found for each in entry.judged()
            if each.criterion.section == one.criterion.section)
    ]  # fmt: skip
    figure, (axes,) = panels(1, 1, width=3.6 + 0.75 * len(found), height=1.5 + 0.27 * len(sections))
    axes.grid(visible=False)
    for column, entry in enumerate(found):
        by_section = {one.criterion.section: one for one in entry.judged()}
        for row, criterion in enumerate(sections):
            verdict = by_section[criterion.section].verdict
            color = COLORS.get(verdict, "#ffffff")
            faint = verdict in FAINT
            axes.add_patch(_square(column, row, color, _alpha(verdict)))
            axes.text(
                column, row, SIGNS.get(verdict, ""), ha="center", va="center",
                color="#333333" if faint else "white", fontsize=points(9),
            )  # fmt: skip
    axes.set_xlim(-0.5, len(found) - 0.5)
    axes.set_ylim(len(sections) - 0.5, -0.5)
    axes.set_xticks(
        range(len(found)), [name(entry.rule) for entry in found], rotation=40, ha="left"
    )
    axes.xaxis.tick_top()
    axes.set_yticks(
        range(len(sections)), [f"{one.section} {_short(one.title)}" for one in sections]
    )
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    samples = [_square(0, 0, color, _alpha(verdict)) for verdict, color in COLORS.items()]
    figure_legend(
        figure, samples, [f"{SIGNS[verdict]} {verdict}" for verdict in COLORS], handlelength=1.2
    )  # fmt: skip
    figure.suptitle(
        _most_and_fewest(found), x=0.01, ha="left", fontsize=points(11), fontweight="bold"
    )
    return figure


def _most_and_fewest(found: Sequence[Assessed]) -> str:
    """Say which rule is worse than its references in most criteria, and which in fewest.

    A rule that is a reference itself is left out: it is no worse than itself by any.
    """
    verdicts = {name(one.rule): [each.verdict for each in one.judged()] for one in found}
    worse = {
        rule: own.count("worse") for rule, own in verdicts.items()
        if {"worse", "better", "undecided"} & set(own)
    }  # fmt: skip
    if len(set(worse.values())) < 2:
        return "Verdicts by the criteria of RFC 9743"
    most, fewest = (
        f"{many}: {', '.join(rule for rule, count in worse.items() if count == many)}"
        for many in (max(worse.values()), min(worse.values()))
    )
    return f"Criteria by which rules are worse: {most}; {fewest}"


def _alpha(verdict: str) -> float:
    return 0.25 if verdict in FAINT else 0.9


def _square(column: int, row: int, color: str, alpha: float) -> Rectangle:
    return Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, color=color, alpha=alpha, linewidth=0)


def _labelled(axes: Axes, label: str) -> bool:
    return label in axes.get_legend_handles_labels()[1]


def _each(found: Assessed) -> str:
    return " and ".join(name(rule) for rule in found.deciding)


def _short(title: str) -> str:
    """Cut a long title after a word.

    Examples
    --------
    >>> _short("Operation with the envelope set by network circuit breakers")
    'Operation with the envelope set by ...'
    """
    if len(title) <= 42:
        return title
    return title[:38].rsplit(" ", 1)[0] + " ..."
