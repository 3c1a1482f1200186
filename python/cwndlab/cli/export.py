"""`cwndlab export`: a scenario as a script for another simulator."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.hints import refuse_other
from cwndlab.cli.output import say
from cwndlab.cli.profile import profile_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option("--to", "target", type=options.Choice("ns2"), required=True, metavar="ns2",
              help="Simulator for which the script is: ns2 (ns-2 2.35).")  # fmt: skip
@click.option(
    "-o", "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.tcl",
    help="File to write; standard output without it.",
)  # fmt: skip
@options.set_option
@options.seed_option
@profile_option("the scenario's, else linux")
def export(
    file: Path,
    target: str,  # noqa: ARG001
    output: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    profile: str | None,
) -> None:
    """Write a scenario as a Tcl script for ns-2 2.35.

    The script builds the same network with the same rules, queues and traffic, and prints the
    results. If ns-2 cannot express a key of the scenario, the command refuses it by name.
    """
    options.check_parent("--output", output)
    refuse_other(file, "scenario")
    patch = options.patch_of(settings)
    given = {"seed": seed, "profile": profile}
    patch |= {key: value for key, value in given.items() if value is not None}

    from cwndlab import ns2
    from cwndlab.files import write_whole
    from cwndlab.scenario import Scenario

    scenario = Scenario.load(file)
    text = ns2.export(scenario.patch(patch) if patch else scenario)
    if output is None:
        click.echo(text, nl=False)
        return
    write_whole(output, text.encode())
    say(f"wrote {output}; ns {output} runs it")
