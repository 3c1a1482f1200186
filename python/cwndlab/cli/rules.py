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
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("rules", {"rules": entries})))
        return
    from cwndlab.cli.output import print_line

    for entry in entries:
        print_line(f"{entry['notation']}  e.g. {entry['example']}")
        print_line(f"    {entry['summary']}")
        for parameter in entry["parameters"]:
            name = f"{parameter['name']}=" if parameter["option"] else parameter["name"]
            default = "" if parameter["default"] is None else f"; default: {parameter['default']}"
            print_line(f"    {name}: {parameter['meaning']}; {parameter['allowed']}{default}")
        print_line(f"    source: {entry['source']}\n")
