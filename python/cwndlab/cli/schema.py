"""`cwndlab schema`: the JSON schema of a scenario."""

from __future__ import annotations

import click


@click.command()
def schema() -> None:
    """Print the JSON schema of a scenario."""
    from cwndlab import native
    from cwndlab.jsontext import dumps

    click.echo(dumps(native.schema()))
