"""`cwndlab schema`: JSON schemas of scenarios and of outputs."""

from __future__ import annotations

import click


@click.command()
@click.option(
    "--output",
    metavar="NAME",
    help="Schema of a JSON output, by the name in its field `schema`; `--list` shows all names.",
)
@click.option("--list", "is_list", is_flag=True, help="List the outputs.")
def schema(output: str | None, is_list: bool) -> None:
    """Print the JSON schema of a scenario, or of an output.

    The field `schema` of every JSON output names its format: "run/1" is version 1 of `run`.
    """
    from cwndlab import native, outputs
    from cwndlab.cli.output import print_table
    from cwndlab.jsontext import dumps

    if is_list:
        rows = [(name, about) for name, (about, _) in outputs.every().items()]
        print_table("JSON outputs", ("output", "what has it"), rows, text_columns=2)
        return
    click.echo(dumps(native.schema() if output is None else outputs.schema(output)))
