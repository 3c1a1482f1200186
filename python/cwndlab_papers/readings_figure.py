"""The picture of a paper's readings: claims by share, and by the values that decide them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = ((0.05, 0.35), (0.01, 0.65), (0.001, 1.0))
"""Chance below which a cell is drawn, and how dark."""


def draw(found: Mapping[str, Any]) -> Figure:
    """Draw the share of readings that meet each claim, and what its number depends on.

    Parameters
    ----------
    found : mapping
        Readings as plain data (`cwndlab_papers.open_values.Readings.to_dict`).
    """
    from cwndlab.plots import look, panels, styled

    @styled
    def drawn() -> Figure:
        claims = sorted(found["claims"], key=lambda entry: -entry["share"])
        values = [value["name"] for value in found["values"]]
        figure, (left, right) = panels(
            1, 2, width=11, height=1.8 + 0.19 * len(claims), sharey=True,
            gridspec_kw={"width_ratios": [1, 1.7]},
        )  # fmt: skip
        rows = np.arange(len(claims))
        shares = [entry["share"] for entry in claims]
        left.barh(rows, shares, color=look(0).color, height=0.7)
        assumed = [at for at, entry in enumerate(claims) if entry["as_assumed"]]
        left.plot([1.04] * len(assumed), assumed, look(1).marker, color=look(1).color, markersize=4,
                  clip_on=False, label="met as assumed")  # fmt: skip
        left.set_yticks(rows, [entry["claim"] for entry in claims], fontsize=8)
        left.set_ylim(len(claims) - 0.4, -0.6)
        left.set_xlim(0, 1)
        left.set_xlabel("share of readings that meet the claim")
        left.legend(loc="lower right", fontsize=8)
        chances = np.array([[entry["chances"][name] for name in values] for entry in claims])
        dark = np.zeros_like(chances)
        for chance, shade in LEVELS:
            dark[chances < chance] = shade
        right.imshow(dark, cmap="Blues", vmin=0, vmax=1.2, aspect="auto", interpolation="none")
        right.set_xticks(range(len(values)), values, rotation=35, ha="left", fontsize=8)
        right.xaxis.tick_top()
        right.set_xlabel(
            "darker: the claim's number depends on the value (chance 0.05, 0.01, 0.001)"
        )
        right.grid(visible=False)
        return figure

    return drawn()
