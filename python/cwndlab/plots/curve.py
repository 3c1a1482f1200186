"""A formula drawn over measured points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.style import REFERENCE
from cwndlab.theory.formulas import Tree, read

PLACES = 200
DASHES = ((0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)))
"""Dashes of the first formula, the second, ..."""
VARIABLE = "x"


class Curve(NamedTuple):
    """A formula of x, in the units of the figure's axes.

    Examples
    --------
    >>> from cwndlab.plots.curve import Curve
    >>> (mathis,) = Curve.of({"Mathis": "1.22/sqrt(x)"})
    >>> mathis.name, round(float(mathis.formula.at({"x": 0.01})), 1)
    ('Mathis', 12.2)
    """

    name: str
    formula: Tree

    @classmethod
    def of(cls, given: Mapping[str, str]) -> tuple[Curve, ...]:
        """Read formulas by name.

        Raises
        ------
        FigureStyleError
            If one is no formula of x.
        """
        found: list[Curve] = []
        for name, text in given.items():
            try:
                found.append(cls(name, read(text, [VARIABLE])))
            except ValueError as error:
                raise FigureStyleError("curves", f"{name}: {error}") from None
        return tuple(found)

    def draw(self, axes: Axes, low: float, high: float, *, is_log: bool, number: int) -> float:
        """Draw it from one x to another, as the formula with this number.

        Returns
        -------
        float
            Its y at the end.
        """
        space = np.geomspace if is_log else np.linspace
        x = space(low, high, PLACES)
        y = np.broadcast_to(np.asarray(self.formula.at({VARIABLE: x}), float), x.shape)
        dashes = DASHES[number % len(DASHES)]
        axes.plot(x, y, color=REFERENCE, linestyle=dashes, linewidth=1.3, label=self.name,
                  zorder=1.5)  # fmt: skip
        return float(y[-1])
