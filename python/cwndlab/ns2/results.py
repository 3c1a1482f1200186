"""Results of ns-2: what a script prints, in the shape of cwndlab's own results.

Columns that a script does not measure are null, such as windows and percentiles of round trips.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.arguments import Simulated
from cwndlab.columns import SCHEMAS
from cwndlab.errors import RunError
from cwndlab.metrics import jain_index, of_flows
from cwndlab.ns2.agents import Endpoints, endpoints
from cwndlab.ns2.flow_measures import (
    SERIES,
    mean_rtt_s,
    measuring,
    numbers_of,
    rate_bin_s,
    rate_trace,
    rate_variations,
)
from cwndlab.ns2.network import Flow, Link, Network, network
from cwndlab.ns2.program import Ns2
from cwndlab.ns2.script import export
from cwndlab.ns2.tcl import name
from cwndlab.ns2.transfers import arrival_rows
from cwndlab.quantities import seconds
from cwndlab.scenario import Scenario, Source

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.results import Result

Row = dict[str, Any]
TABLES = {"flow": "flows", "source": "cross", "link": "links", "group": "arrivals"}
"""First column of a printed table to the table of a result."""


def run(
    scenario: Source,
    *,
    ns: Ns2 | str | Path | None = None,
    seed: int | None = None,
    progress: Simulated | None = None,
) -> Result:
    """Run a scenario in ns-2.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        What to run.
    ns : Ns2, str or Path, optional
        The program; by default ``ns`` on the path.
    seed : int, optional
        Seed that replaces the scenario's.
    progress : callable, optional
        Gets simulated seconds and 0 about ten times a second; an exception it raises ends the run.

    Returns
    -------
    Result
        Null where ns-2's script measures nothing.

    Raises
    ------
    ScenarioError
        If ns-2 cannot express the scenario.
    LiveError
        If ns-2 is not installed.
    RunError
        If ns-2 fails.
    """
    from cwndlab.results import Result

    found = Scenario.of(scenario)
    found = found if seed is None else found.with_seed(seed)
    program = ns if isinstance(ns, Ns2) else Ns2(ns)
    text, traces = perform(found, export(found), program, progress)
    return Result.from_json(text, found.to_dict(), traces)


def perform(
    scenario: Scenario,
    script: str,
    program: Ns2,
    progress: Simulated | None = None,
) -> tuple[str, dict[str, pl.DataFrame]]:
    """Run the script of a scenario, and return its result as one line of JSON, and its traces."""
    script = measuring(script, scenario.canonical())
    printed = program.run(script, duration_s=scenario.duration_s, progress=progress)
    return json.dumps(read(printed, scenario), separators=(",", ":")), traces(printed, scenario)


def traces(printed: str, scenario: Scenario) -> dict[str, pl.DataFrame]:
    """Read the traces that a script printed: ``rate``, if the scenario asks for it."""
    found = network(scenario)
    rate = rate_trace(printed, found, _agents(scenario.canonical(), found))
    return {} if rate is None else {"rate": rate}


def read(printed: str, scenario: Scenario) -> Row:
    """Read what the script of a scenario printed, as `Result.to_dict` has it.

    Raises
    ------
    RunError
        If it is not complete.
    """
    document, found = scenario.canonical(), network(scenario)
    tables = _tables(printed)
    counts = {
        "flows": len(found.flows),
        "cross": len(found.sources),
        "links": len(found.links),
        "arrivals": len(found.arrivals),
    }
    if {table: len(rows) for table, rows in tables.items()} != counts:
        raise RunError("ns: the script did not print a row for each flow, source, link and group")
    links = {row["link"]: row for row in tables["links"]}
    duration = scenario.duration_s
    begin_s, end_s = (seconds(edge) or 0.0 for edge in document.get("measure", (0.0, duration)))
    waits_s = {link.name: links[name(link.name)]["mean_queueing_delay_s"] for link in found.links}
    flows = [
        _flow({**row, **measured}, document, flow, ends, found, waits_s, (begin_s, end_s))
        for row, measured, flow, ends in zip(
            tables["flows"],
            _measured(printed, document, end_s, len(found.flows)),
            found.flows,
            _agents(document, found),
            strict=True,
        )
    ]
    return {
        "name": document.get("name", ""),
        "seed": document["seed"],
        "profile": document["profile"],
        "duration_s": duration,
        "measure_from_s": begin_s,
        "measure_to_s": end_s,
        # As the core's: equal runs have equal hashes.
        "trace_hash": hashlib.blake2b(printed.encode(), digest_size=8).hexdigest(),
        "simulated_s": duration,
        "delivered_packets": sum(row["delivered_packets"] for row in flows),
        "rtt_weighted_jain_index": _rtt_weighted_jain(flows),
        **of_flows(flows),
        "flows": flows,
        "links": [
            _link(links, link, found, tables["cross"], document) for link in found.links
        ],
        "cross": _cross(tables["cross"], found, document),
        "arrivals": [
            _row("arrivals", row)
            for row in arrival_rows(
                printed, tables["arrivals"], found, document, (begin_s, end_s)
            )
        ],
        "wall_s": None,
        "packets_per_wall_s": None,
    }  # fmt: skip


def _tables(printed: str) -> dict[str, list[Row]]:
    """Split tab-separated tables, each with the names of its columns in front."""
    found: dict[str, list[Row]] = {table: [] for table in TABLES.values()}
    columns: list[str] = []
    for line in printed.splitlines():
        cells = line.split("\t")
        if cells[0] in TABLES and len(cells) > 1 and cells[1].endswith(("_bps", "_packets")):
            columns = cells
        elif columns and len(cells) == len(columns):
            values = [cells[0], *map(float, cells[1:])]
            found[TABLES[columns[0]]].append(dict(zip(columns, values, strict=True)))
    return found


def _row(table: str, known: Mapping[str, Any]) -> Row:
    """Return a row with every column of a table; those that are not known are null."""
    return {
        column: round(value) if is_whole and value is not None else value
        for column, kind in SCHEMAS[table].items()
        for is_whole, value in [(kind.is_integer(), known.get(column))]
    }


def _agents(document: Mapping[str, Any], found: Network) -> list[Endpoints]:
    """Return the agents of every flow."""
    groups = [endpoints(document, group) for group in range(len(document.get("flows", ())))]
    return [groups[flow.group] for flow in found.flows]


def _measured(printed: str, document: Mapping[str, Any], end_s: float, flows: int) -> list[Row]:
    """Return what a run measures of its flows beside the tables; a script alone does not."""
    if SERIES not in printed or flows == 0:
        return [{}] * flows
    columns = {
        "acknowledged_packets": numbers_of(printed, "acknowledged"),
        "window_reductions": numbers_of(printed, "reductions"),
        "mean_rto_s": [rto_s if rto_s > 0 else None for rto_s in numbers_of(printed, "mean-rto")],
        "rate_cov": rate_variations(printed, rate_bin_s(document), end_s),
    }
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _flow(
    row: Row,
    document: Mapping[str, Any],
    flow: Flow,
    ends: Endpoints,
    found: Network,
    waits_s: Mapping[str, float],
    window_s: tuple[float, float],
) -> Row:
    spec = document["flows"][flow.group]
    lost, sent = row["dropped_packets"], row["sent_packets"]
    active_s = _active_s(spec, flow, window_s)
    bits = row["goodput_bps"] * (window_s[1] - window_s[0])
    return _row("flows", {
        **row,
        "flow": flow.name,
        "group": spec["name"],
        "rule": spec["rule"],
        "recovery": spec["recovery"],
        "active_s": active_s,
        "active_goodput_bps": bits / active_s if active_s else None,
        # nrexmit_ leaves out timeouts that follow a reduction for ECN.
        "timeouts": None if ends.knobs["ecn"] else row["timeouts"],
        "loss_rate": lost / sent if sent else None,
        "mean_rtt_s": mean_rtt_s(flow, ends, found, waits_s),
        # An endpoint of Linux counts no reductions, and its clock is another one.
        **(dict.fromkeys(("window_reductions", "mean_rto_s")) if ends.module else {}),
    })  # fmt: skip


def _active_s(spec: Mapping[str, Any], flow: Flow, window_s: tuple[float, float]) -> float | None:
    """Return how long a flow is there, until its stop; None where only a run says when it ends."""
    if flow.start_s is None:
        return 0.0
    if any(key in spec for key in ("packets", "bytes")):
        return None
    stop_s = window_s[1] if flow.stop_s is None else min(flow.stop_s, window_s[1])
    return max(0.0, stop_s - max(flow.start_s, window_s[0]))


def _cross(rows: list[Row], found: Network, document: Mapping[str, Any]) -> list[Row]:
    """Sum the sources of each ``[[cross]]`` entry."""
    sums: dict[int, Row] = {}
    for row, source in zip(rows, found.sources, strict=True):
        total = sums.setdefault(source.entry, {})
        for column, value in row.items():
            total[column] = value if column == "source" else total.get(column, 0.0) + value
    entries = enumerate(document.get("cross", []))
    return [_row("cross", {**sums.get(entry, {}), "source": spec["name"]})
            for entry, spec in entries]  # fmt: skip


def _link(
    rows: Mapping[str, Row],
    link: Link,
    found: Network,
    sources: list[Row],
    document: Mapping[str, Any],
) -> Row:
    # What on-off sources offer is known after the run, the rest before it.
    pairs = [(row, source) for row, source in zip(sources, found.sources, strict=True)
             if link.name in source.path]  # fmt: skip
    measured_bps = sum(row["offered_bps"] for row, source in pairs
                       if "on" in document["cross"][source.entry])  # fmt: skip
    offered_bps = link.cross_bps + measured_bps
    target_bps = link.target_available_bps
    return _row("links", {
        **rows[name(link.name)],
        "link": link.name,
        "rate_bps": link.rate_bps,
        # As it is written, in whole nanoseconds: "9ms" is 9 x 1e-3 in a run (`tcl.delay`).
        "delay_s": round(link.delay_s * 1e9) / 1e9,
        "queue": link.queue["kind"],
        "limit_packets": link.limit_packets,
        "cross_bps": offered_bps,
        "available_bps": link.rate_bps - offered_bps if target_bps is None else target_bps,
        "left_bps": link.rate_bps - sum(row["delivered_bps"] for row, _ in pairs),
    })  # fmt: skip


def _rtt_weighted_jain(flows: list[Row]) -> float | None:
    active = [row for row in flows if row["active_s"] != 0.0]
    weighted = [row["goodput_bps"] * (row["mean_rtt_s"] or 0.0) for row in active]
    return None if any(row["mean_rtt_s"] is None for row in active) else jain_index(weighted)
