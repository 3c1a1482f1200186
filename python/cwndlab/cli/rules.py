"""`cwndlab rules`: every rule that can be written in a scenario."""

from __future__ import annotations

import click

from cwndlab.cli.options import json_option
from cwndlab.message import same_name, unknown


@click.command()
@click.argument("rules", nargs=-1, metavar="[NAME...]")
@json_option
def rules(rules: tuple[str, ...], as_json: bool) -> None:
    """List the window rules: notation, parameters, source.

    NAME is a rule such as CUBIC; the default is every rule.
    """
    from cwndlab import native

    entries = native.rules()
    if rules:
        known = {entry["name"]: entry for entry in entries}
        names = [same_name(text.partition("(")[0].strip(), known) for text in rules]
        for text, name in zip(rules, names, strict=True):
            if name not in known:
                raise click.UsageError(unknown("NAME", text, known))
        entries = [known[name] for name in names]
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
