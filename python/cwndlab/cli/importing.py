"""`cwndlab import`: recorded flows as scenarios."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.profile import profile_option

if TYPE_CHECKING:
    from cwndlab.captures import Imported
    from cwndlab.plots import FigureStyle

MOST_FLOWS = 10
"""Flows of a capture that are listed."""


@click.group(name="import")
def import_() -> None:
    """Turn a recorded flow into a scenario."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of both kinds of files."""
    added = (
        click.option(
            "-o",
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE.toml",
            help="File for the scenario.  [default: standard output]",
        ),
        click.option(
            "--rule",
            metavar="RULE",
            help="Rule of the scenario.  [default: the candidate with the nearest window]",
        ),
        click.option(
            "--losses",
            type=options.Choice("list", "rate"),
            default="list",
            show_default=True,
            metavar="list|rate",
            help="Lose the same packets (list), or lose packets at random, at the rate of the "
            "losses that a full queue does not explain (rate).",
        ),
        profile_option("linux"),
        options.json_option,
        click.option(
            "--plot",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Draw the recorded and the simulated window (.png, .svg, .pdf).",
        ),
        figure_options.figure_options,
    )
    return functools.reduce(lambda so_far, add: add(so_far), reversed(added), command)


@import_.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.pcap")
@click.option(
    "--flow", type=options.whole_number(1, 10**6), metavar="N",
    help="Number of the flow; flow 1 has the most data.  [default: 1]",
)  # fmt: skip
@click.option(
    "--at", type=options.Choice("sender", "receiver"), metavar="sender|receiver",
    help="Whether the capture was taken at the sender or at the receiver of the data.  [default: "
         "derived from the handshake]",
)  # fmt: skip
@_shared
def pcap(file: Path, flow: int | None, at: Any, **shared: Any) -> None:
    """Turn a TCP flow of a packet capture into a scenario.

    It estimates rate, base RTT, buffer, losses, ACKs, initial window and packet size, simulates the
    scenario, and compares it with the captured flow (page "Recorded flows" of the documentation).
    FILE.pcap is a pcap or pcapng file. Needs the package dpkt.
    """
    from cwndlab.captures import import_pcap

    _carry_out(functools.partial(import_pcap, file, flow=flow, at=at), **shared)


@import_.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.qlog")
@_shared
def qlog(file: Path, **shared: Any) -> None:
    """Turn a QUIC sender's qlog into a scenario.

    Like `cwndlab import pcap`, but it compares congestion windows.
    """
    from cwndlab.captures import import_qlog

    _carry_out(functools.partial(import_qlog, file), **shared)


def _carry_out(
    ask: Callable[..., Imported],
    *,
    output: Path | None,
    rule: str | None,
    losses: str,
    profile: str | None,
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Import, write and print."""
    from cwndlab.cli.output import say, steps
    from cwndlab.files import write_whole

    options.check_parent("--output", output)
    options.check_plot(plot)
    with steps() as progress:
        found = ask(rule=rule, losses=losses, profile=profile, progress=progress)
    if len(found.flows) > 1:
        more = ", ..." if len(found.flows) > MOST_FLOWS else ""
        listed = ", ".join(
            f"{number}: {name}" for number, name in enumerate(found.flows[:MOST_FLOWS], 1)
        )
        say(f"{len(found.flows)} flows, `--flow N` chooses: {listed}{more}")
    say(f"flow {found.flow}, recorded at the {found.at}")
    for note in found.notes:
        say(f"note: {note}")
    if output is not None:
        write_whole(output, found.to_toml().encode())
        say(f"wrote {output}")
    if plot is not None:
        from cwndlab import plots

        figure_options.save(look, plot, plots.imported, found)
    if as_json:
        click.echo(found.to_json())
    elif output is None:
        click.echo(found.to_toml(), nl=False)
    else:
        _print(found)


def _print(found: Imported) -> None:
    from cwndlab.cli.output import print_line, print_table

    rows = [[*each.shown, each.how] for each in found.estimates.values()]
    print_table("Estimates", ["", "value", "interval", "how"], rows, text_columns=4)
    if len(found.differences) > 1:
        ordered = sorted(found.differences.items(), key=lambda pair: pair[1])
        print_table(
            "Rules",
            ["rule", f"{found.window}: difference\n[% of the mean]"],
            [[rule, f"{100 * difference:.1f}"] for rule, difference in ordered],
        )
    columns = ["time [s]", "recorded\n[packets]", "simulated\n[packets]"]
    windows = [
        [f"{begun_s:.3g}", f"{recorded:.1f}", f"{simulated:.1f}"]
        for begun_s, recorded, simulated in found.windows().iter_rows()
    ]
    print_table(f"Mean {found.window} in each interval", columns, windows)
    print_line(
        f"{found.rule}: simulated {found.window} differs from the recorded one by "
        f"{100 * found.difference:.1f} % of its mean"
    )
