"""Options that choose what a figure of many runs has on its axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.figure_options import refused

if TYPE_CHECKING:
    from cwndlab.plots.over import Over
    from cwndlab.plots.subjects import Measured

_OPTIONS = (
    click.option("--x", metavar="AXIS", help="Axis on x of the plot."),
    click.option(
        "--hue", metavar="AXIS",
        help="With --x: axis whose levels have a line each; in a sweep also group, for the groups "
        "of flows.",
    ),
    click.option("--panel", metavar="AXIS", help="With --x: axis whose levels have a panel each."),
    click.option(
        "--y", multiple=True, metavar="METRIC",
        help="With --x: metric of the plot; repeatable.  [default: the first; share for groups]",
    ),
)  # fmt: skip


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
        if plot is None or "x" not in self.given:
            needed = "--plot" if plot is None else "--x"
            raise click.UsageError(f"`--{next(iter(self.given))}` needs `{needed}`")
        from cwndlab.plots.over import Over

        return Over(**self.given)


def over_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as `asked`."""

    @functools.wraps(command)
    def wrapper(
        *arguments: Any,
        x: str | None,
        hue: str | None,
        panel: str | None,
        y: tuple[str, ...],
        **named: Any,
    ) -> Any:
        asked = Asked({"x": x, "hue": hue, "panel": panel, "y": y})
        return command(*arguments, asked=asked, **named)

    for option in reversed(_OPTIONS):
        wrapper = option(wrapper)
    return wrapper


def check_over(over: Over | None, subject: Measured) -> None:
    """Refuse what the runs will not have, before any of them."""
    if over is not None:
        refused(over.check, subject)
