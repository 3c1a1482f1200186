"""The endpoint profile of a comparison: `--profile`, or by the rules that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cwndlab.environments import Assumptions

TODAY = "linux"
"""Profile for rules that are in use on today's Internet."""

profile_option = click.option(
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
    if is_assumed or "profile" in (patch or {}):
        return assumed, None
    if (deployed := first_deployed(rules)) is None:
        return assumed, None
    note = (
        f"profile {TODAY}, because {deployed} is in use today; for the endpoints of the papers: "
        f"--profile {assumed.profile}"
    )
    return assumed.with_(profile=TODAY), note


def first_deployed(rules: Iterable[str]) -> str | None:
    """Return the first rule that is in use on today's Internet.

    Examples
    --------
    >>> first_deployed(["AIMD(1, 0.5)", "CUBIC(C=0.3)", "BBR3"]), first_deployed(["HTCP"])
    ('CUBIC(C=0.3)', None)
    """
    from cwndlab import native

    names = {entry["name"] for entry in native.rules() if entry["deployed"]}
    for rule in rules:
        if rule.startswith("kernel:") or native.rule(rule).partition("(")[0] in names:
            return rule
    return None
