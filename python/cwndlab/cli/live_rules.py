"""`cwndlab live install`, `list`, `remove`, `clean`: rules as congestion controls of this host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from cwndlab.cli import options
from cwndlab.cli.output import print_table, say


@click.command()
@click.argument("rule", metavar="RULE")
@click.option(
    "--name",
    required=True,
    metavar="NAME",
    help="Name of the congestion control: 1 to 15 letters, digits, _ and -.",
)
@click.option(
    "--initial-ssthresh",
    type=options.whole_number(2, 1_000_000),
    metavar="PACKETS",
    help="Initial ssthresh of its flows.  [default: none]",
)
@click.option("--until-stopped", is_flag=True, help="Remove the rule when this command ends.")
@options.json_option
def install(
    rule: str, name: str, initial_ssthresh: int | None, until_stopped: bool, as_json: bool
) -> None:
    """Register RULE as a congestion control of this host.

    Any program may then select it.
    """
    from cwndlab.kernel_runs import program

    arguments = ["install", rule, "--name", name]
    if initial_ssthresh is not None:
        arguments += ["--initial-ssthresh", str(initial_ssthresh)]
    if not until_stopped:
        _tell(program.ask(*arguments), as_json)
        say(f"until `cwndlab live remove {name}`; for example: iperf3 -C {name} -c HOST")
        return
    held = program.Held(*arguments, "--until-stopped")
    _tell(held.answer, as_json)
    say("until Ctrl-C")
    try:
        held.wait()
    except KeyboardInterrupt:
        held.end()
        raise


def _tell(answer: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("live-rule", answer)))
        return
    click.echo(f"{answer['rule']} is {answer['name']}")
    if answer["program"] in ("table", "surface"):
        growth, cut = answer["growth_error_share"], answer["cut_error_share"]
        click.echo(
            f"between the points of its table growth is at most {growth:.1e} of itself off, cuts "
            f"{cut:.1e} packets"
        )


@click.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List the rules of this package on this host."""
    from cwndlab.kernel_runs import program

    answer = program.ask("list")
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("live-rules", answer)))
        return
    columns = ["name", "rule", "stays", "flows", "cuts", "skipped calls, repaired"]
    rows = [_row(entry) for entry in answer["rules"]]
    print_table("Rules registered on this host", columns, rows, text_columns=3)


def _row(entry: Mapping[str, Any]) -> list[str]:
    stays = "until removed" if entry["installed"] else "with its process"
    hits = entry["hits"]
    counts = (hits["flows"], hits["cuts"], hits["skipped_ssthresh"]) if hits else ("", "", "")
    return [entry["name"], entry["rule"] or "", stays, *map(str, counts)]


@click.command()
@click.argument("name", metavar="NAME")
def remove(name: str) -> None:
    """Remove an installed rule."""
    from cwndlab.kernel_runs import program

    program.ask("remove", name)
    say(f"{name} is removed")


@click.command()
def clean() -> None:
    """Remove every installed rule.

    Also remove what an interrupted command left.
    """
    from cwndlab.kernel_runs import program

    removed = program.ask("clean")["removed"]
    say(f"removed: {', '.join(removed)}" if removed else "nothing was installed")
