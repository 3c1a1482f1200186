"""`cwndlab doctor`: whether this machine can run real flows."""

from __future__ import annotations

import click

from cwndlab.cli.options import json_option
from cwndlab.cli.output import print_table, say


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check whether this machine has what real flows need.

    It also tells how to install what is missing. Simulations need none of it.
    """
    from dataclasses import asdict

    from cwndlab.live_runs.doctor import look

    parts = look()
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        rows = [asdict(part) | {"there": part.found is not None} for part in parts]
        click.echo(dumps(stamped("doctor", {"parts": rows})))
        return
    missing = [part for part in parts if part.found is None]
    rows = [
        (
            part.name,
            "no" if part.found is None else "yes",
            part.found or "",
            part.needed_for,
            part.how if part in missing else "",
        )
        for part in parts
    ]
    print_table(
        "This machine",
        ["what", "there", "found", "needed for", "how to get it"],
        rows,
        text_columns=5,
    )
    say(f"{len(missing)} of {len(parts)} missing" if missing else "nothing is missing")
