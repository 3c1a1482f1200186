"""The group of commands."""

from __future__ import annotations

import click

from cwndlab import entry_points
from cwndlab.cli.assess import assess
from cwndlab.cli.cellular import cellular
from cwndlab.cli.compare import compare
from cwndlab.cli.completion import complete_names, completion
from cwndlab.cli.conform import conform
from cwndlab.cli.demo import demo
from cwndlab.cli.design import design
from cwndlab.cli.doctor import doctor
from cwndlab.cli.environments import environments
from cwndlab.cli.examples import examples
from cwndlab.cli.explain import explain
from cwndlab.cli.export import export
from cwndlab.cli.importing import import_
from cwndlab.cli.init import init
from cwndlab.cli.knobs import knobs
from cwndlab.cli.known_results import known_results
from cwndlab.cli.live import live
from cwndlab.cli.matrix import matrix
from cwndlab.cli.options import loudness_options, share_options
from cwndlab.cli.report import report
from cwndlab.cli.results import results
from cwndlab.cli.rules import rules
from cwndlab.cli.run import run
from cwndlab.cli.schema import schema
from cwndlab.cli.search import search
from cwndlab.cli.studio import studio
from cwndlab.cli.sweep import sweep
from cwndlab.cli.theory import theory
from cwndlab.cli.topology import topology
from cwndlab.cli.virtual_kernel import virtual_kernel
from cwndlab.message import unknown


def _print_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from cwndlab.native import version

        click.echo(f"cwndlab {version()}")
        context.exit()


class Commands(click.Group):
    """A group that lists its commands in the message for an unknown one.

    Commands of other packages (`cwndlab.plugins`) are loaded where they may be meant: finding them
    takes as long as all else that a command imports.
    """

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command with what all of them share."""
        share_options(cmd)
        complete_names(cmd)
        super().add_command(cmd, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name."""
        if cmd_name not in self.commands:
            self._add_others()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of all commands."""
        self._add_others()
        return super().list_commands(ctx)

    def _add_others(self) -> None:
        for name, command in entry_points.load(entry_points.COMMANDS).items():
            if name not in self.commands:
                self.add_command(command, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look the first argument up."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(unknown("command", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.pass_context
def app(context: click.Context) -> None:
    """Find out where a TCP congestion-window rule wins and loses."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


COMMANDS = (
    run, export, compare, explain, assess, matrix, sweep, results, report, known_results,
    conform, search,
    design,
    environments, cellular, topology, import_, studio, rules, knobs, schema, demo, examples, theory,
    live, virtual_kernel, doctor, init, completion,
)  # fmt: skip
for _command in COMMANDS:
    app.add_command(_command)
app.params += loudness_options()
