"""`--home`: where scenarios run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cwndlab.cli.options import Option
from cwndlab.cli.output import warn
from cwndlab.message import invalid
from cwndlab.names import HOMES, is_home


def home_option(*, is_axis: bool = False) -> Option:
    """Make the option; with `is_axis` it takes several homes."""
    several = "  Several, with commas, are compared." if is_axis else ""
    return click.option(
        "--home",
        metavar="HOMES" if is_axis else "HOME",
        help="simulator; linux, a kernel of `cwndlab virtual-kernel build`; or linux:NAME."
        f"{several}  [default: the scenario's, else simulator]",
    )


def homes_of(text: str | None, *, is_axis: bool = False) -> list[str]:
    """Read the option.

    Raises
    ------
    click.UsageError
        If a home is not known, or there are several where there can be one.
    """
    homes = [] if text is None else [home.strip() for home in text.split(",")]
    if len(homes) > 1 and not is_axis:
        expected = "one home; `cwndlab compare` and `cwndlab sweep` take several"
        raise click.UsageError(invalid("--home", text, expected))
    for home in homes:
        if not is_home(home):
            raise click.UsageError(invalid("--home", home, HOMES))
    return list(dict.fromkeys(homes))


def warn_of_twins(homes: Sequence[object]) -> None:
    """Say which homes have one kernel: their runs cannot differ."""
    if len(homes) < 2:
        return
    from cwndlab.kernel_runs.virtual import twins

    for one, other in twins(homes):
        warn(f"home: {one} and {other} are one kernel: sources and configuration are the same")
