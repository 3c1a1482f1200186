"""`--home`: where scenarios run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cwndlab.cli.options import Option
from cwndlab.cli.output import warn
from cwndlab.message import invalid
from cwndlab.names import HOMES, is_home


def home_option(default: str = "the scenario's", *, is_axis: bool = False) -> Option:
    """Make the option; `default` comes before the simulator; with `is_axis` it takes several."""
    several = "  Several, with commas, are compared." if is_axis else ""
    return click.option(
        "--home",
        callback=_homes if is_axis else _home,
        metavar="HOMES" if is_axis else "HOME",
        help="simulator; linux, a kernel of `cwndlab virtual-kernel build`; or linux:NAME."
        f"{several}  [default: {default}, else simulator]",
    )


def _homes(_context: click.Context, _option: click.Parameter, text: str | None) -> list[str]:
    homes = [] if text is None else [home.strip() for home in text.split(",")]
    for home in homes:
        if not is_home(home):
            raise click.UsageError(invalid("--home", home, HOMES))
    return list(dict.fromkeys(homes))


def _home(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    if text is not None and "," in text:
        expected = "one home; `cwndlab compare` and `cwndlab sweep` take several"
        raise click.UsageError(invalid("--home", text, expected))
    return next(iter(_homes(context, option, text)), None)


def warn_of_twins(homes: Sequence[object]) -> None:
    """Say which homes have one kernel: their runs cannot differ."""
    if len(homes) < 2:
        return
    from cwndlab.kernel_runs.virtual import twins

    for one, other in twins(homes):
        warn(f"home: {one} and {other} are one kernel: sources and configuration are the same")
