"""What a figure of many runs has on its axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cwndlab.message import invalid_value, unknown_value
from cwndlab.plots.drawing import know
from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.metric_points import metric_points
from cwndlab.plots.over_axes import numbers_of, over_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.plots.subjects import Measured


class Over(NamedTuple):
    """What a figure has on x, as lines, as panels and on y.

    Parameters
    ----------
    x : str
        An axis, or a metric.
    hue, panel : str, optional
        The axes of lines and of panels.
    y : tuple of str
        Metrics, a row of panels each; without any, the first metric that is not `x`.
    """

    x: str
    hue: str | None = None
    panel: str | None = None
    y: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, x: str | None, hue: str | None, panel: str | None, y: str | Sequence[str]
    ) -> Over | None:
        """Read what `plot` takes; None if nothing is asked.

        Raises
        ------
        FigureStyleError
            Without an `x` beside the others.
        """
        if x is None:
            if hue or panel or y:
                raise FigureStyleError("x", "is missing: expected an axis beside hue, panel or y")
            return None
        return cls(x, hue, panel, (y,) if isinstance(y, str) else tuple(y))

    @property
    def places(self) -> list[str]:
        """The axes that have a place."""
        return [axis for axis in (self.x, self.hue, self.panel) if axis is not None]

    def check(self, subject: Measured) -> None:
        """Refuse what the runs do not have; this needs none of them to be done.

        Raises
        ------
        FigureStyleError
            For the first name that is not known, and for an axis without a place.

        Examples
        --------
        >>> from cwndlab import Sweep, dumbbell
        >>> from cwndlab.sweeps import SweepResult
        >>> base = dumbbell("2Mbit", "10ms", flows="CUBIC")
        >>> axes = {"dumbbell.rate": ["1Mbit", "2Mbit"]}
        >>> sweep = Sweep(base=base, axes=axes, metrics=["goodput"])
        >>> Over("dumbell.rate").check(SweepResult(sweep))
        Traceback (most recent call last):
        ...
        cwndlab.plots.figure_style.FigureStyleError: x: "dumbell.rate" is not known: expected \
dumbbell.rate, group or goodput (did you mean dumbbell.rate?)
        """
        metrics = [measure.key for measure in subject.measures]
        axes = [*subject.levels, *subject.views]
        for key, value in (("x", self.x), ("hue", self.hue), ("panel", self.panel)):
            others = metrics if key == "x" else []
            if value is not None and value not in (*subject.levels, *others):
                raise FigureStyleError(key, unknown_value(value, [*axes, *others]))
        if not metrics:
            key = next(key for key, value in self._asdict().items() if value == "group")
            expected = "a metric of each group, such as group.share"
            raise FigureStyleError(key, invalid_value("group", expected))
        for value in self.y:
            if value not in metrics:
                raise FigureStyleError("y", unknown_value(value, metrics))
        free = [axis for axis, levels in subject.levels.items()
                if len(levels) > 1 and axis not in self.places]  # fmt: skip
        if self.x in metrics and len(free) == 1 and numbers_of(subject.levels[free[0]])[0]:
            # Lines join its levels.
            return
        if free:
            key, places = "hue" if self.hue is None else "panel", "`hue` or `panel`"
            places = places if self.x in metrics else f"`x`, {places}"
            raise FigureStyleError(
                key, f"axis `{free[-1]}` has several levels: expected as {places}"
            )

    def draw(self, subject: Measured) -> Figure:
        """Draw the figure.

        Raises
        ------
        FigureStyleError
            If the runs have no such axis or metric.
        """
        self.check(subject)
        know(subject.levels, subject.measures)
        return (over_axes if self.x in subject.levels else metric_points)(subject, self)
