"""`cwndlab rules`: every rule that can be written in a scenario."""

from __future__ import annotations

import click

from cwndlab.cli.options import json_option


@click.command()
@json_option
def rules(as_json: bool) -> None:
    """List the window rules: notation, parameters, source."""
    from cwndlab import native

    entries = native.rules()
    if as_json:
        from cwndlab.jsontext import dumps

        click.echo(dumps(entries))
        return
    for entry in entries:
        click.echo(f"{entry['notation']}  e.g. {entry['example']}")
        click.echo(f"    {entry['summary']}")
        for parameter in entry["parameters"]:
            click.echo(f"    {parameter['name']}: {parameter['meaning']}; allowed: {parameter['allowed']}")
        click.echo(f"    source: {entry['source']}\n")
