"""`--home`: where scenarios run."""

from __future__ import annotations

import click

from cwndlab.cli.options import Option
from cwndlab.message import invalid


def home_option(*, is_axis: bool = False) -> Option:
    """Make the option; `is_axis` says that several homes are levels of an axis."""
    several = "  Several, with commas, are an axis." if is_axis else ""
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
        If it has several homes where there can be one.
    """
    homes = [] if text is None else [home.strip() for home in text.split(",")]
    if len(homes) > 1 and not is_axis:
        expected = "one home; `cwndlab sweep --home simulator,linux` compares several"
        raise click.UsageError(invalid("--home", text, expected))
    return list(dict.fromkeys(homes))
