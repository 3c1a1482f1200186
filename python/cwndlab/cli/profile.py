"""The endpoint profile of a comparison: `--profile`, or by the rules that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from cwndlab.cli.options import Option

if TYPE_CHECKING:
    from cwndlab.environments import Assumptions

profile_option: Option = click.option(
    "--profile",
    metavar="NAME",
    help="Profile of TCP knobs: rfc, linux, ns2-2.35, ns2-2000.  [default: linux where a rule in "
    "use today is compared (CUBIC, BBR, DCTCP, kernel:...), else ns2-2.35]",
)


def assumptions(
    assume: Sequence[str],
    profile: str | None,
    rules: Iterable[str],
    patch: Mapping[str, object] | None = None,
) -> tuple[Assumptions, str | None]:
    """Read `--assume` and `--profile`; without either, choose the profile by the rules.

    Returns the assumptions, and the line that says what was chosen, if anything was. `patch` has
    what `--set` sets in every run, the profile perhaps.

    Raises
    ------
    click.UsageError
        If both options name a profile.
    """
    from cwndlab.environments import Assumptions

    assumed = Assumptions.from_texts(assume)
    is_assumed = any(text.partition("=")[0].strip() == "profile" for text in assume)
    if profile is not None:
        if is_assumed:
            raise click.UsageError(
                "`--profile` cannot be used with `--assume profile`: both name the profile"
            )
        return assumed.with_(profile=profile), None
    from cwndlab.environments.profile import TODAY, with_profile

    is_given = is_assumed or "profile" in (patch or {})
    chosen, deployed = with_profile(assumed, None, rules, is_given=is_given)
    if deployed is None:
        return chosen, None
    note = (
        f"profile {TODAY}, because {deployed} is in use today; for the endpoints of the papers: "
        f"--profile {assumed.profile}"
    )
    return chosen, note
