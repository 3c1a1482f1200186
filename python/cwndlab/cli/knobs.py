"""`cwndlab knobs`: the keys of a scenario's [tcp] table."""

from __future__ import annotations

import itertools

import click

from cwndlab.cli.options import json_option


@click.command()
@json_option
def knobs(as_json: bool) -> None:
    """List the knobs of the TCP endpoints by profile."""
    from cwndlab import native

    entries = native.knobs()
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("knobs", {"knobs": entries})))
        return
    from cwndlab.cli.output import print_table

    profiles = list(entries[0]["values"])
    for group, of_group in itertools.groupby(entries, lambda entry: entry["group"]):
        rows = [
            [
                entry["name"],
                *(_text(entry["values"][profile]) for profile in profiles),
                entry["meaning"],
            ]
            for entry in of_group
        ]
        print_table(
            group.rstrip("."),
            ["knob", *profiles, "meaning"],
            rows,
            text_columns=2 + len(profiles),
        )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return "unknown" if value is None else str(value)
