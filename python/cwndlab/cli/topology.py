"""`cwndlab topology`: the network of a scenario, as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import figure_options, options
from cwndlab.cli.hints import refuse_other

if TYPE_CHECKING:
    from cwndlab.plots import FigureStyle
    from cwndlab.results import Result
    from cwndlab.scenario import Scenario
    from cwndlab.topology import FlowPath, Topology

INSTANT_S = 1e-6
"""Duration of a run that only builds the network, seconds."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@options.set_option
@options.rules_option
@options.json_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw nodes, links and the paths of the flows (.png, .svg, .pdf).",
)
@figure_options.figure_options
def topology(
    file: Path,
    settings: tuple[str, ...],
    as_json: bool,
    plot: Path | None,
    look: FigureStyle | None,
) -> None:
    """Print the links of a scenario and the paths of its flows.

    Paths have their base RTTs.
    """
    options.check_plot(plot)
    refuse_other(file, "scenario")
    from cwndlab.runs.execute import run
    from cwndlab.scenario import Scenario
    from cwndlab.topology import topology as topology_of

    scenario = Scenario.load(file)
    patch = options.patch_of(settings)
    scenario = scenario.patch(patch) if patch else scenario
    look = figure_options.check_run(look, scenario, has_tables=False)
    found = topology_of(scenario.core)
    built = run(_for_an_instant(scenario))
    if plot is not None:
        from cwndlab import plots

        figure_options.save(look, plot, plots.network, found)
    links = [_link_row(found, name, built) for name in (link.name for link in found.links)]
    paths = [_path_row(found, path, built) for path in found.paths]
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(
            dumps(stamped("topology", {"nodes": list(found.nodes), "links": links, "paths": paths}))
        )
    else:
        _print(links, paths)


def _for_an_instant(scenario: Scenario) -> Scenario:
    return scenario.patch({"duration": INSTANT_S, "measure": None, "trace": None})


def _link_row(found: Topology, name: str, built: Result) -> dict[str, Any]:
    link = found.link(name)
    limit = built.links.filter(link=name)["limit_packets"]
    return {
        "link": name,
        "from": link.start,
        "to": link.end,
        "rate": link.rate,
        "delay": link.delay,
        "queue": link.queue,
        "limit": link.limit,
        "limit_packets": limit[0] if len(limit) else None,
    }


def _path_row(found: Topology, path: FlowPath, built: Result) -> dict[str, Any]:
    round_trips = built.flows.filter(group=path.name)["base_rtt_s"]
    return {
        "name": path.name,
        "kind": path.kind,
        "count": path.count,
        "what": path.what,
        "route": found.route(path.forward),
        "links": list(path.forward),
        "back": list(path.back),
        "least_base_rtt_s": round_trips.min(),
        "largest_base_rtt_s": round_trips.max(),
    }


def _print(links: list[dict[str, Any]], paths: list[dict[str, Any]]) -> None:
    from cwndlab.cli.output import print_table

    columns = ["link", "from", "to", "rate", "delay", "queue", "limit", "packets"]
    rows = [
        [
            *(row[key] for key in ("link", "from", "to", "rate", "delay", "queue", "limit")),
            "-" if row["limit_packets"] is None else str(row["limit_packets"]),
        ]
        for row in links
    ]
    print_table("Links", columns, rows, text_columns=7)
    columns = ["name", "kind", "count", "rule or rate", "route", "back", "base RTT\n[ms]"]
    rows = [
        [
            row["name"],
            row["kind"],
            str(row["count"]),
            row["what"],
            " > ".join(row["route"]),
            _back(row),
            _round_trip(row),
        ]
        for row in paths
    ]
    print_table("Paths", columns, rows, text_columns=6, optional=["kind"])


def _back(row: dict[str, Any]) -> str:
    if row["kind"] == "cross":
        return "-"
    return ", ".join(row["back"]) or "as long, no queue"


def _round_trip(row: dict[str, Any]) -> str:
    least, largest = row["least_base_rtt_s"], row["largest_base_rtt_s"]
    if least is None:
        return "-"
    texts = [f"{value * 1e3:.1f}" for value in (least, largest)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)
