"""Options of every command with `--plot`: size, text, labels and order of the figure's series."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.display import display
from cwndlab.cli.output import say
from cwndlab.message import invalid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.plots import FigureStyle
    from cwndlab.scenario import Scenario

OPTIONS = {
    "width": "--width",
    "height": "--height",
    "style": "--style",
    "labels": "--label",
    "order": "--order",
    "title": "--title",
    "x": "--x",
    "hue": "--hue",
    "panel": "--panel",
    "y": "--y",
    "heat": "--heat",
    "cdf": "--cdf",
    "bands": "--bands",
    "curves": "--curve",
    "log": "--log",
}
"""Value of a style to its option."""

_width = click.option(
    "--width",
    metavar="LENGTH",
    help="Width of the plot: column (3.5in), page (7.16in), or a length such as 88mm.",
)
_height = click.option("--height", metavar="LENGTH", help="Height of the plot, such as 2.5in.")
_style = click.option(
    "--style",
    metavar="NAME",
    help="Text of the plot: paper (8 pt, in a column), slides (18 pt) or screen.  "
    "[default: screen]",
)
_label = click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=LABEL",
    help="Another name for a rule, metric, axis or level in plot and tables, e.g. 'AIMD(1, "
    "0.5)=Reno'; repeatable.",
)
_order = click.option(
    "--order",
    multiple=True,
    metavar="NAMES",
    help="Series that come first in the plot, e.g. 'CUBIC,AIMD(1, 0.5)'.",
)
_title = click.option("--title", metavar="TEXT", help="Headline of the plot, above its own title.")


def figure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of figures; the command gets their style as `look`.

    Without `--plot` they are refused, but for `--label`, which tables have, too.
    """

    @functools.wraps(command)
    def wrapper(
        *arguments: Any,
        width: str | None,
        height: str | None,
        style: str | None,
        labels: tuple[str, ...],
        order: tuple[str, ...],
        title: str | None,
        **named: Any,
    ) -> Any:
        given = {
            "width": width,
            "height": height,
            "style": style,
            "labels": labels,
            "order": order,
            "title": title,
        }
        asked = {key: value for key, value in given.items() if value not in (None, ())}
        needing = [key for key in asked if key != "labels"]
        if needing and named["plot"] is None and not named.get("beside"):
            raise click.UsageError(f"`{OPTIONS[needing[0]]}` needs `--plot`")
        look = _look(asked)
        display.labels = {} if look is None else dict(look.labels)
        return command(*arguments, look=look, **named)

    for option in (_title, _order, _label, _style, _height, _width):
        wrapper = option(wrapper)
    return wrapper


def with_baseline(look: FigureStyle | None, rule: str) -> FigureStyle:
    """Return a style that has the baseline of a comparison first and in black."""
    from cwndlab.plots import FigureStyle

    return dataclasses.replace(look or FigureStyle(), baseline=rule)


def save(look: FigureStyle | None, path: Path, draw: Callable[..., Figure], *what: Any) -> None:
    """Draw a figure in a style, write it, and say so."""
    from cwndlab import plots

    figure = draw(*what) if look is None else refused(look.draw, draw, *what)
    say(f"wrote {plots.save(figure, path)}")


def check(look: FigureStyle | None, names: Iterable[str], series: Iterable[str]) -> None:
    """Refuse a label or an order of what the figure will not have, before any run."""
    if look is not None:
        refused(look.check, names, series)


def check_run(
    look: FigureStyle | None, scenario: Scenario, *, has_tables: bool = True
) -> FigureStyle | None:
    """Refuse a label or an order of what a run will not have, before it; return the figure's style.

    A run has flows, rules, links, queues, and the columns of its tables, which a topology has not;
    its figure has the flows.
    """
    if look is None:
        return None
    from cwndlab.columns import COLUMNS
    from cwndlab.plots.figure_style import same
    from cwndlab.topology import topology

    found = topology(scenario.core)
    flows = dict.fromkeys(
        name for path in found.paths for name in (path.name, path.what, f"{path.name}: {path.what}")
    )
    links = [name for link in found.links for name in (link.name, link.queue)]
    tables = COLUMNS if has_tables else {}
    columns = {name: one.heading for table in tables.values() for name, one in table.items()}
    check(look, dict.fromkeys([*flows, *links, *columns]), flows)
    display.labels = {columns.get(key, key): label for key, label in display.labels.items()}
    own = {key: label for key, label in look.labels.items() if same(key) in map(same, flows)}
    return dataclasses.replace(look, labels=own)


def _look(asked: dict[str, Any]) -> FigureStyle | None:
    """Read the options; None if there are none, so that matplotlib need not be imported yet."""
    if not asked:
        return None
    from cwndlab.plots import FigureStyle
    from cwndlab.plots.figure_style import outside_parentheses

    if "labels" in asked:
        asked["labels"] = dict(map(_label_of, asked["labels"]))
    if "order" in asked:
        names = [name for text in asked["order"] for name in outside_parentheses(text, ",")]
        if not all(names):
            raise click.UsageError(
                invalid("--order", ",".join(asked["order"]), "names joined by commas, none empty")
            )
        asked["order"] = names
    return refused(FigureStyle.of, **asked)


def _label_of(text: str) -> tuple[str, str]:
    from cwndlab.plots.figure_style import outside_parentheses

    *name, label = outside_parentheses(text, "=")
    if not label or not "=".join(name):
        raise click.UsageError(invalid("--label", text, 'NAME=LABEL, such as "AIMD(1, 0.5)=Reno"'))
    return "=".join(name), label


def refused(ask: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call it; an error of the style names the option."""
    from cwndlab.plots import FigureStyleError

    try:
        return ask(*arguments, **named)
    except FigureStyleError as error:
        raise click.UsageError(f"{OPTIONS[error.key]}: {error.text}") from None
