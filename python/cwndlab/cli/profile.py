"""`--profile`: the profile of the TCP endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cwndlab.cli.options import Option

if TYPE_CHECKING:
    from cwndlab.environments import Assumptions


def profile_option(default: str) -> Option:
    """Make the option; `default` says which profile it is without it."""
    return click.option(
        "--profile",
        metavar="NAME",
        help="Profile of the TCP endpoints: linux, rfc, ns2-2.35, ns2-2000, ...  "
        f"[default: {default}]",
    )


def assumptions(assume: Sequence[str], profile: str | None) -> Assumptions:
    """Read `--assume` and `--profile`.

    Raises
    ------
    click.UsageError
        If both options name a profile.
    """
    from cwndlab.environments import Assumptions

    assumed = Assumptions.from_texts(assume)
    if profile is None:
        return assumed
    if any(text.partition("=")[0].strip() == "profile" for text in assume):
        raise click.UsageError(
            "`--profile` cannot be used with `--assume profile`: both name the profile"
        )
    return assumed.with_(profile=profile)
