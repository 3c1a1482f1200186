"""What a figure of many runs has on its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cwndlab.message import invalid_value, unknown_value
from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.over_axes import over_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.plots.subjects import Measured


class Over(NamedTuple):
    """What a figure has on x, as lines, as panels and on y.

    Parameters
    ----------
    x : str
        An axis.
    hue, panel : str, optional
        The axes of lines and of panels.
    y : tuple of str
        Metrics, a row of panels each; without any, the first metric.
    """

    x: str
    hue: str | None = None
    panel: str | None = None
    y: tuple[str, ...] = ()

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
        >>> sweep = Sweep(base=base, axes={"dumbbell.rate": ["1Mbit", "2Mbit"]})
        >>> Over("dumbell.rate").check(SweepResult(sweep))
        Traceback (most recent call last):
        ...
        cwndlab.plots.figure_style.FigureStyleError: x: "dumbell.rate" is not known: expected \
dumbbell.rate or group (did you mean dumbbell.rate?)
        """
        metrics = [measure.key for measure in subject.measures]
        for key, value in (("x", self.x), ("hue", self.hue), ("panel", self.panel)):
            if value is not None and value not in subject.levels:
                known = [*subject.levels, *subject.views]
                raise FigureStyleError(key, unknown_value(value, known))
        if not metrics:
            key = next(key for key, value in self._asdict().items() if value == "group")
            expected = "a metric of each group, such as group.share"
            raise FigureStyleError(key, invalid_value("group", expected))
        for value in self.y:
            if value not in metrics:
                raise FigureStyleError("y", unknown_value(value, metrics))
        for axis, levels in subject.levels.items():
            if len(levels) > 1 and axis not in self.places:
                key = "hue" if self.hue is None else "panel"
                raise FigureStyleError(
                    key, f"axis `{axis}` has several levels: expected as `x`, `hue` or `panel`"
                )

    def draw(self, subject: Measured) -> Figure:
        """Draw the figure.

        Raises
        ------
        FigureStyleError
            If the runs have no such axis or metric.
        """
        self.check(subject)
        return over_axes(subject, self)
