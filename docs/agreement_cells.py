"""Runs every cell of the papers' plans that ns-2 can express, in ns-2 and in cwndlab.

``python docs/agreement_cells.py`` takes hours, nearly all of them in ns-2; what is done is kept in
``out/cells.jsonl``, so that it resumes. ``--write`` keeps the records in docs/witness, from which
the table of docs/agreement.md is written.

A run takes 20 s of simulated time and measures from 5 s on, with a seed of its own for each cell:
long enough to compare the two programs, not to judge a paper.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

import cwndlab
from cwndlab import Scenario
from cwndlab.errors import CwndlabError, ScenarioError
from cwndlab.ns2.network import network
from cwndlab_papers import load, names
from cwndlab_papers.witness_scope import read_scope
from parts import all_cells

DOCS = Path(__file__).resolve().parent
KEPT = DOCS / "witness" / "cells.parquet"
DONE = DOCS.parent / "out" / "cells.jsonl"
SECONDS = {"duration": "20s", "measure": ["5s", "20s"]}
NOT_COMPARED = ("trace", "shares")
"""Keys of a cell that ask for what is not compared."""
COUNTED = ("acknowledged_packets", "sent_packets", "dropped_packets")
"""Columns of flows, of which the sum is kept."""
NUMBERS = [f"{program}_{name}" for program in ("cwndlab", "ns2")
           for name in ("s", *COUNTED)]  # fmt: skip
COLUMNS = {
    **dict.fromkeys(("paper", "plan", "cell", "queue", "lacks", "failed"), pl.String),
    **dict.fromkeys(NUMBERS, pl.Float64),
}
"""Of a record; ``lacks``: why ns-2 cannot express the cell, ``failed``: what a program reported."""


def cells() -> Iterator[dict[str, Any]]:
    """Name every cell of every plan, under the ns-2 of the paper's date."""
    for key in names():
        paper, profile = load(key), read_scope(key).profile
        for plan in paper.plans_of(list(paper.experiments)):
            for number, cell in enumerate(paper.sweep(plan, profile=profile).plan.cells()):
                document = {**cell.document(), **SECONDS, "seed": number + 1}
                yield {
                    "paper": key,
                    "plan": plan,
                    "cell": ", ".join(f"{axis} {label}" for axis, label in cell.labels.items()),
                    "queue": queues(document),
                    "scenario": {k: v for k, v in document.items() if k not in NOT_COMPARED},
                }


def queues(document: dict[str, Any]) -> str:
    """Name the queues that are not drop-tail, else drop-tail, and whether sources draw bursts."""
    links = [
        *document.get("links", ()),
        *([document["dumbbell"]] if "dumbbell" in document else ()),
    ]
    specs = [link.get("queue", {"kind": "drop-tail"}) for link in links]
    names = {spec["kind"] + ", ECN" * spec.get("ecn", False) for spec in specs} - {"drop-tail"}
    bursts = ", bursts" * any("on" in source for source in document.get("cross", ()))
    return (" and ".join(sorted(names)) or "drop-tail") + bursts


def compare(cell: dict[str, Any]) -> dict[str, Any]:
    """Run a cell in both programs, or say what ns-2 lacks."""
    record = {name: cell[name] for name in ("paper", "plan", "cell", "queue")}
    scenario = Scenario(cell["scenario"])
    scenario = scenario.patch(limits_in_bytes(scenario))
    try:
        cwndlab.export(scenario)
    except ScenarioError as error:
        return {**record, "lacks": str(error)}
    for program, run in (("cwndlab", cwndlab.run), ("ns2", cwndlab.ns2.run)):
        begin_s = time.perf_counter()
        try:
            result = run(scenario)
        except CwndlabError as error:
            return {**record, "failed": f"{program}: {error}"}
        record[f"{program}_s"] = round(time.perf_counter() - begin_s, 3)
        for column in COUNTED:
            record[f"{program}_{column}"] = int(result.flows[column].sum())
    return record


def limits_in_bytes(scenario: Scenario) -> dict[str, str]:
    """Patch DRR's limits: ns-2 has them in bytes, near those in packets but not equal to them."""
    place = "dumbbell" if "dumbbell" in scenario.to_dict() else "links.{}"
    links = [link for link in network(scenario).links if link.queue["kind"] == "drr"]
    limits = [f"{(link.limit_packets or 0) * link.packet_bytes}B" for link in links]
    places = [f"{place}.queue.limit".format(link.name) for link in links]
    return dict(zip(places, limits, strict=True))


def main() -> None:
    """Run what is not done; with ``--write`` keep the records, with ``--again`` run other seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", metavar="PAPER/PLAN", help="run a plan with three other seeds")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        if arguments.again:
            again(pool, arguments.again)
        else:
            run_missing(pool, arguments.write)


def run_missing(pool: ProcessPoolExecutor, write: bool) -> None:
    """Run the cells that are not done, and keep all records."""
    DONE.parent.mkdir(exist_ok=True)
    lines = DONE.read_text(encoding="utf-8").splitlines() if DONE.exists() else []
    done = [json.loads(line) for line in lines]
    every = {place(cell): cell for cell in cells()}
    known = {place(record) for record in done}
    wanted = [cell for where, cell in every.items() if where not in known]
    with DONE.open("a", encoding="utf-8") as file:
        for record in shown(pool, wanted):
            done.append(record)
            file.write(json.dumps(record) + "\n")
            file.flush()
    if write:
        order = {where: at for at, where in enumerate(every)}
        done.sort(key=lambda record: order[place(record)])
        rows = [{**record, "queue": every[place(record)]["queue"]} for record in done]
        pl.DataFrame(rows, COLUMNS).write_parquet(KEPT, compression="zstd")


def again(pool: ProcessPoolExecutor, name: str) -> None:
    """Print how both differ over a plan with three other seeds for each cell."""
    own = [cell for cell in cells() if f"{cell['paper']}/{cell['plan']}" == name]
    others = [
        {**cell, "scenario": {**cell["scenario"], "seed": 100_000 * turn + number}}
        for turn in (1, 2, 3)
        for number, cell in enumerate(own)
    ]
    records = [record for record in shown(pool, others) if "lacks" not in record]
    print()
    print(all_cells.by_queue([{"failed": None, **record} for record in records]))


def shown(pool: ProcessPoolExecutor, wanted: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Compare cells, and show how many are done."""
    for count, record in enumerate(pool.map(compare, wanted), 1):
        yield record
        print(f"\r{count} of {len(wanted)}", end="", flush=True)


def place(record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what names the cell of a record."""
    return record["paper"], record["plan"], record["cell"]


if __name__ == "__main__":
    main()
