"""Options that choose what a figure of many runs has on its axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.display import display
from cwndlab.cli.figure_options import OPTIONS, check, refused
from cwndlab.message import invalid

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured

_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "x": click.option(
        "--x", metavar="AXIS",
        help="x axis of the plot, or a metric, which gives a point for each run and each mean.",
    ),
    "hue": click.option(
        "--hue", metavar="AXIS",
        help="With --x or --cdf: axis that has a line for each level; in a sweep also group, for "
             "the groups of flows.",
    ),
    "panel": click.option(
        "--panel", metavar="AXIS", help="With --x or --cdf: axis that has a panel for each level."
    ),
    "y": click.option(
        "--y", multiple=True, metavar="METRIC",
        help="With --x: metric of the plot; repeatable.  [default: the first; share for groups]",
    ),
    "heat": click.option(
        "--heat", metavar="METRIC", help="Metric shown as colour over two axes, --x and --y."
    ),
    "cdf": click.option(
        "--cdf", metavar="METRIC",
        help="Instead of --x: distribution of a metric over replicates; in a sweep also of a "
        "column of flows, or of transfers (fct_s), over all of them.",
    ),
    "curves": click.option(
        "--curve", "curves", multiple=True, metavar="NAME=FORMULA",
        help="With --x: a formula of x, in the units of the plot, e.g. 'Mathis=1.22/sqrt(x)'; "
        "repeatable.",
    ),
    "log": click.option(
        "--log", multiple=True, metavar="x|y",
        help="With --x or --cdf: logarithmic axis; repeatable.",
    ),
}  # fmt: skip
_OF_SWEEPS = {
    "bands": click.option(
        "--bands", metavar="TRACES",
        help="Instead of --x, in a sweep: cwnd, rate or queue over time, as the median and "
             "quartiles of the replicates.",
    ),
}  # fmt: skip


class Asked:
    """The options as they were given.

    Parameters
    ----------
    given : mapping
        Option to value.

    Examples
    --------
    >>> Asked({"x": "rule", "hue": None, "y": ()}).given
    {'x': 'rule'}
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given: dict[str, Any] = {key: value for key, value in given.items() if value}
        if "curves" in self.given:
            self.given["curves"] = dict(map(_curve_of, self.given["curves"]))
        if "bands" in self.given:
            self.given["bands"] = [one.strip() for one in self.given["bands"].split(",")]

    def __bool__(self) -> bool:
        return bool(self.given)

    def over(self, plot: object) -> Over | None:
        """Return what the figure has on its axes; None if nothing was given.

        Raises
        ------
        click.UsageError
            Without a plot, or without what is on x.
        """
        if not self.given:
            return None
        if plot is None or not {"x", "cdf", "bands"} & self.given.keys():
            needed = "--plot" if plot is None else "--x"
            raise click.UsageError(f"`{OPTIONS[next(iter(self.given))]}` needs `{needed}`")
        from cwndlab.plots.over import Over

        return refused(Over.of, **self.given)


def _curve_of(text: str) -> tuple[str, str]:
    name, _, formula = text.partition("=")
    if not name.strip() or not formula.strip():
        expected = 'NAME=FORMULA, such as "Mathis=1.22/sqrt(x)"'
        raise click.UsageError(invalid("--curve", text, expected))
    return name.strip(), formula.strip()


def over_options(
    command: Callable[..., Any], options: Mapping[str, Callable[[Any], Any]] = _OPTIONS
) -> Callable[..., Any]:
    """Add the options; the command gets them as `asked`."""

    @functools.wraps(command)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        asked = Asked({key: named.pop(key) for key in options})
        return command(*arguments, asked=asked, **named)

    for option in reversed([*options.values()]):
        wrapper = option(wrapper)
    return wrapper


def sweep_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and those that only sweeps have."""
    return over_options(command, {**_OPTIONS, **_OF_SWEEPS})


def check_figure(
    look: FigureStyle | None, over: Over | None, subject: Measured, series: Iterable[str]
) -> None:
    """Refuse what a figure of the runs will not have, before any of them.

    Tables get the labels of metrics, too.

    Parameters
    ----------
    look : FigureStyle, optional
        The style that is asked.
    over : Over, optional
        What is asked to be on the axes.
    subject : Measured
        The runs, of which none need be done.
    series : iterable of str
        What has an order where nothing is asked to be on the axes.
    """
    if over is not None:
        refused(over.check, subject)
        series = subject.levels[over.hue] if over.hue else ()
    values = [text for found in subject.levels.values() for text in found]
    keys = list(subject.distributions)
    check(look, [*subject.levels, *values, *keys], series)
    for metric in subject.distributions.values():
        label = display.labels.pop(metric.key, None)
        if label is not None:
            # The longer name first: it may begin with the shorter one.
            display.labels = {metric.label: label, **display.labels}
            if metric.short:
                display.labels[metric.short] = label
