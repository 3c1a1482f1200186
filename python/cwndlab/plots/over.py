"""What a figure of many runs has on its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cwndlab.arguments import listed
from cwndlab.message import invalid_value, unknown_value
from cwndlab.plots.bands import TRACES, bands
from cwndlab.plots.curve import Curve
from cwndlab.plots.distribution import distribution
from cwndlab.plots.drawing import know
from cwndlab.plots.figure_style import FigureStyleError
from cwndlab.plots.heat_map import heat_map
from cwndlab.plots.metric_points import metric_points
from cwndlab.plots.over_axes import numbers_of, over_axes
from cwndlab.plots.subjects import Traced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.plots.subjects import Measured


class Over(NamedTuple):
    """What a figure has on x, as lines, as panels and on y.

    Parameters
    ----------
    x : str
        An axis, or a metric; empty with `cdf`.
    hue, panel : str, optional
        The axes of lines and of panels.
    y : tuple of str
        Metrics, a row of panels each; without any, the first metric that is not `x`. With `heat`
        one axis.
    heat : str, optional
        The metric of a map of colours.
    cdf : str, optional
        The metric, or the column of flows, whose distribution is drawn.
    bands : tuple of str
        Traces that are drawn over time, with a band over replicates.
    curves : tuple of Curve
        Formulas of x, drawn over the points.
    log : tuple of str
        Axes of the figure that are logarithmic: x, y.
    """

    x: str = ""
    hue: str | None = None
    panel: str | None = None
    y: tuple[str, ...] = ()
    heat: str | None = None
    cdf: str | None = None
    bands: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    log: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        x: str | None = None,
        hue: str | None = None,
        panel: str | None = None,
        y: str | Sequence[str] = (),
        heat: str | None = None,
        cdf: str | None = None,
        bands: str | Sequence[str] = (),
        curves: Mapping[str, str] | None = None,
        log: str | Sequence[str] = (),
    ) -> Over | None:
        """Read what `plot` takes; None if nothing is asked.

        Raises
        ------
        FigureStyleError
            If something is missing beside the others, or cannot be used with them.
        """
        if not (x or hue or panel or y or heat or cdf or bands or curves or log):
            return None
        over = cls(
            x or "", hue, panel, tuple(listed(y)), heat, cdf, tuple(listed(bands)),
            Curve.of(curves or {}), tuple(listed(log)),
        )  # fmt: skip
        if not x and not cdf and not bands:
            raise FigureStyleError(
                "x", "is missing: expected an axis, in addition to hue, panel or y"
            )
        barred = {
            "bands": ("cdf", "heat", "x", "y", "panel", "curves", "log"),
            "cdf": ("heat", "x", "y", "curves"),
            "heat": ("hue", "curves", "log"),
        }
        for key, others in barred.items():
            for other in others:
                if getattr(over, key) and getattr(over, other):
                    raise FigureStyleError(other, f"cannot be used with `{key}`")
        if heat and len(over.y) != 1:
            raise FigureStyleError("y", "is missing: expected one axis with `heat`")
        if over.curves and len(over.y) > 1:
            raise FigureStyleError("curves", f"need one metric on y: got {len(over.y)}")
        for key, known in (("bands", TRACES), ("log", ("x",) if cdf else ("x", "y"))):
            for name in getattr(over, key):
                if name not in known:
                    raise FigureStyleError(key, unknown_value(name, known))
        return over

    @property
    def places(self) -> list[str]:
        """The axes that have a place, perhaps with a metric on x."""
        across = self.y if self.heat else ()
        return [axis for axis in (self.x, self.hue, self.panel, *across) if axis]

    @property
    def shown(self) -> dict[str, str]:
        """What is surely a metric, with its key; one on x may be an axis."""
        if self.heat or self.cdf:
            return {str(self.heat or self.cdf): "heat" if self.heat else "cdf"}
        return dict.fromkeys(self.y, "y")

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
        self._check_axes(subject, [] if self.heat else metrics)
        for key in ("curves", "log"):
            needs = key == "curves" or "x" in self.log
            if getattr(self, key) and needs and self.x and self.x not in metrics:
                low = min(numbers_of(subject.levels[self.x])[0] or [-1.0])
                if low < 0 or (low == 0 and "x" in self.log):
                    expected = "a metric, or an axis of numbers above 0, as `x`"
                    raise FigureStyleError(key, invalid_value(self.x, expected))
        known = list(subject.distributions) if self.cdf else metrics
        if not known:
            key = next(key for key, value in self._asdict().items() if "group" in (value or ()))
            expected = "a metric of each group, such as group.share"
            raise FigureStyleError(key, invalid_value("group", expected))
        for value, key in self.shown.items():
            if value not in known:
                raise FigureStyleError(key, unknown_value(value, known))
        free = [axis for axis, levels in subject.levels.items()
                if len(levels) > 1 and axis not in self.places]  # fmt: skip
        if self.x in metrics and len(free) == 1 and numbers_of(subject.levels[free[0]])[0]:
            # Lines join its levels.
            return
        if free:
            can_be_x = self.x and self.x not in metrics
            key = "hue" if self.hue is None and not self.heat else "panel"
            if self.bands:
                text = f"axis `{free[-1]}` has several levels: expected as `hue`"
                raise FigureStyleError("hue", text)
            places = ["`x`"] * bool(can_be_x) + (["`y`"] if self.heat else ["`hue`"])
            raise FigureStyleError(
                key,
                f"axis `{free[-1]}` has several levels: expected as {', '.join(places)} or `panel`",
            )

    def _check_axes(self, subject: Measured, metrics: Sequence[str]) -> None:
        """Refuse axes that the runs do not have; on x may be one of these metrics."""
        axes = [("x", self.x), ("hue", self.hue), ("panel", self.panel)]
        for key, value in [*axes, *(("y", axis) for axis in self.y if self.heat)]:
            others = metrics if key == "x" else ()
            if value and value not in (*subject.levels, *others):
                known = [*subject.levels, *subject.views, *others]
                raise FigureStyleError(key, unknown_value(value, known))

    def draw(self, subject: Measured) -> Figure:
        """Draw the figure.

        Raises
        ------
        FigureStyleError
            If the runs have no such axis or metric.
        """
        self.check(subject)
        know(subject.levels, [*subject.measures, *subject.distributions.values()])
        if isinstance(subject, Traced) and self.bands:
            by_level = subject.traced(self.hue)
            return bands(by_level if self.hue else next(iter(by_level.values())), self.bands)
        if self.cdf:
            return distribution(subject, self)
        if self.heat:
            return heat_map(subject, self)
        return (over_axes if self.x in subject.levels else metric_points)(subject, self)
