"""Measures cwndlab: speed beside ns-2, ns-3 and htsim in the same run, memory, costs.

With targets, met or not.

    python bench/bench.py [--only NAME]... [--repetitions N] [--quick] [--record] [--htsim PROGRAM]

Runs of cwndlab and of the program beside it alternate, so that a machine that slows down slows
both; ratios are medians over the repetitions. Both are timed over the simulation itself: ns-2 from
its first event to its last (its topology and routes are built before), cwndlab over building its
network and running it. One core unless said. Tables go to standard output, figures to
out/bench.json after every workload, so that Ctrl-C loses nothing; --record also keeps them in
bench/results.json, from which the documents have their tables. Exits with 1 where the two programs
did not run the same workload.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import costs  # noqa: E402
import engine  # noqa: E402
import ns2_reference  # noqa: E402
import peers  # noqa: E402
from machine import machine, moment, versions  # noqa: E402
from settings import Settings, Skipped  # noqa: E402
from tables import TABLES, plain  # noqa: E402
from workloads import WORKLOADS, Workload  # noqa: E402

OUT = ROOT / "out" / "bench.json"
RECORD = ROOT / "bench" / "results.json"
APART = {workload.name for workload in WORKLOADS if workload.measure == "peers"}


def measure(workload: Workload, settings: Settings) -> dict:
    """One workload: its figures, or why there are none."""
    function = next(
        getattr(module, workload.measure)
        for module in (engine, costs, peers)
        if hasattr(module, workload.measure)
    )
    entry = {"measured": moment(), "repetitions": settings.repetitions, "by_hand": settings.by_hand}
    if settings.quick:
        entry["quick"] = True
    try:
        return {**entry, "figures": function(workload, settings)}
    except Skipped as reason:
        return {**entry, "skipped": str(reason)}
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"{workload.name}: {error}", file=sys.stderr)
        return {**entry, "failed": str(error)}


def write(path: Path, document: dict) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    part.replace(path)


def recorded(document: dict) -> dict:
    """Put what was measured now in its place on record.

    Of another machine or other versions nothing stays but the workload of several simulators, which
    says itself where it is from. Measured alone, it changes nothing else.
    """
    old = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    was, now = old.get("workloads", {}), document["workloads"]
    same = all(old.get(key) == document[key] for key in ("machine", "versions"))
    if old and not same and not now.keys() - APART:
        document = {**document, "machine": old["machine"], "versions": old["versions"]}
        same = True
    entries = {name: entry for name, entry in was.items() if same or name in APART} | now
    for name in APART & now.keys():
        entries[name] = peers.kept(was.get(name), now[name])
    if old and not same:
        print(
            "another machine or other versions than on record: nothing of the record stays",
            file=sys.stderr,
        )
    # The profile, too, which stages.py keeps there.
    return {
        **(old if same else {}),
        **document,
        "workloads": {
            workload.name: entries[workload.name]
            for workload in WORKLOADS
            if workload.name in entries
        },
    }


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument(
        "--only",
        choices=names,
        action="append",
        metavar="NAME",
        help=f"{', '.join(names)}; may be repeated",
    )
    parser.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="runs on each side (default 3)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="short runs, each once: shows that every workload runs, measures nothing",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep the figures in bench/results.json, for the documents",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=1200,
        metavar="S",
        help="seconds ns-2 may take for 100,000 flows",
    )
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="put ns-2's sources on its routers, their links by hand",
    )
    parser.add_argument(
        "--htsim",
        type=Path,
        metavar="PROGRAM",
        help="a program built from htsim as bench/htsim.md says; without it, its recorded figures "
        "stay",
    )
    arguments = parser.parse_args()
    if arguments.htsim and not os.access(arguments.htsim, os.X_OK):
        parser.error(f"argument --htsim: {arguments.htsim} is not a program that can be run")
    if arguments.repetitions < 1:
        parser.error(f"argument --repetitions: {arguments.repetitions} is not allowed, at least 1")
    if arguments.quick and arguments.record:
        parser.error(
            "argument --record: not allowed with --quick, whose runs are too short to measure "
            "anything"
        )
    return arguments


def main() -> int:
    """Run the benchmark from the command line."""
    arguments = parsed()
    repetitions = 1 if arguments.quick else arguments.repetitions
    settings = Settings(
        repetitions,
        arguments.quick,
        ns2_reference.available(),
        limit_s=arguments.limit,
        by_hand=arguments.by_hand,
        htsim=arguments.htsim and arguments.htsim.resolve(),
    )
    if not settings.ns2:
        print("without ns-2: program `ns` (Debian package ns2) is not installed", file=sys.stderr)
    chosen = [
        workload for workload in WORKLOADS if workload.name in (arguments.only or [workload.name])
    ]
    document = {"machine": machine(), "versions": versions(), "workloads": {}}
    entries, stopped = document["workloads"], False
    for number, workload in enumerate(chosen, 1):
        begin = time.perf_counter()
        print(f"[{number}/{len(chosen)}] {workload.name}: {workload.what}", file=sys.stderr)
        try:
            entries[workload.name] = measure(workload, settings)
        except KeyboardInterrupt:
            print(f"stopped in {workload.name}; what was finished is kept", file=sys.stderr)
            stopped = True
            break
        print(
            f"[{number}/{len(chosen)}] {workload.name}: {time.perf_counter() - begin:.0f} s",
            file=sys.stderr,
        )
        write(OUT, document)
    for table in (make(entries) for make in TABLES.values()):
        if table[1]:
            print(plain(table), end="\n\n")
    write(OUT, document)
    if arguments.record:
        write(RECORD, recorded(document))
    print(f"written: {(RECORD if arguments.record else OUT).relative_to(ROOT)}")
    unequal = [
        name
        for name, entry in entries.items()
        if not entry.get("figures", {}).get("same_work", True)
    ]
    # Too short a run is a different one on both sides: nothing follows from it.
    if unequal and not arguments.quick:
        print(
            f"not the same workload on both sides, so no ratio: {', '.join(unequal)}",
            file=sys.stderr,
        )
    failed = [name for name, entry in entries.items() if "failed" in entry]
    return 130 if stopped else int(bool(failed or (unequal and not arguments.quick)))


if __name__ == "__main__":
    sys.exit(main())
