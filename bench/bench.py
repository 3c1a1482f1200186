"""The reference work of cwndlab's engine, timed beside ns-2 in the same run.

    python bench/bench.py [--repetitions N] [--only NAME]

Runs of cwndlab and ns-2 alternate, so that a machine that slows down slows both. Both are timed over the simulation
itself: ns-2 from its first event to its last (its topology and routes are built before), cwndlab from the scenario's
text to the results. Single-threaded. Results go to stdout and to out/bench.json. Exits with 1 where the two programs
did not do the same work.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import ns2_reference  # noqa: E402
from comparison import line, measure_comparison  # noqa: E402
from tests.ns2.translate import quantity  # noqa: E402
from works import WORKS, Work  # noqa: E402

# Packets delivered on either side may differ by this share: the two draw different numbers.
SAME_WORK = 0.02
COMPARISON = "comparison"


def run_cwndlab(scenario: dict) -> dict:
    """Work done and seconds taken, parsing included."""
    from cwndlab import _core

    text = json.dumps(scenario)
    begin = time.perf_counter()
    result, _ = _core.run(_core.parse(text, "json"))
    wall_s = time.perf_counter() - begin
    result = json.loads(result)
    run = result.get("run", result)
    flows = result["flows"]
    return {
        "wall_s": wall_s,
        "sent": sum(flow["total_sent_packets"] for flow in flows),
        "delivered": sum(flow["total_delivered_packets"] for flow in flows),
        "dropped": sum(flow["total_dropped_packets"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "trace_hash": run.get("trace_hash"),
    }


def run_ns2(scenario: dict) -> dict:
    """Run ns-2; the same keys as ``run_cwndlab``."""
    done = ns2_reference.run(scenario)
    return {
        "wall_s": done.wall_s,
        "sent": done.sent_packets,
        "delivered": done.delivered_packets,
        "dropped": done.dropped_packets,
        "timeouts": done.timeouts,
    }


def summary(scenario: dict, runs: list[dict]) -> dict:
    """Speed over the repetitions, and what was simulated (which is the same in each of them)."""
    first = runs[0]
    per_packet = [run["wall_s"] / run["delivered"] * 1e9 for run in runs]
    bits = 8 * 1040 * first["delivered"]
    return {
        "ns_per_packet": statistics.median(per_packet),
        "ns_per_packet_range": [min(per_packet), max(per_packet)],
        "packets_per_s": 1e9 / statistics.median(per_packet),
        "delivered_packets": first["delivered"],
        "loss_rate": first["dropped"] / first["sent"],
        "utilization": bits / (quantity(scenario["dumbbell"]["rate"]) * quantity(scenario["duration"])),
        "timeouts": first["timeouts"],
        "wall_s": [run["wall_s"] for run in runs],
        **({"trace_hash": first["trace_hash"]} if "trace_hash" in first else {}),
    }


def measure(work: Work, repetitions: int, with_ns2: bool) -> dict:
    """Time one scenario, the two programs taking turns."""
    scenario = work.scenario()
    ours, theirs = [], []
    for repetition in range(repetitions):
        print(f"{work.name}: run {repetition + 1} of {repetitions}", file=sys.stderr)
        ours.append(run_cwndlab(scenario))
        if with_ns2 and work.peer:
            theirs.append(run_ns2(scenario))
    entry = {"scenario": work.name, "cwndlab": summary(scenario, ours)}
    if theirs:
        entry["ns2"] = summary(scenario, theirs)
        # One ratio for each pair of neighbouring runs: what changes slowly on the machine cancels out.
        ratios = [
            (b["wall_s"] / b["delivered"]) / (a["wall_s"] / a["delivered"]) for a, b in zip(ours, theirs, strict=True)
        ]
        entry["ratio"] = statistics.median(ratios)
        entry["ratio_range"] = [min(ratios), max(ratios)]
        entry["same_work"] = abs(ours[0]["delivered"] / theirs[0]["delivered"] - 1) <= SAME_WORK
    return entry


def process_seconds(command: list[str], repetitions: int = 7) -> float:
    """Median time of a whole process."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def start_up() -> dict:
    """Seconds to start Python, to start it and import cwndlab, and to answer ``cwndlab --version``."""
    program = Path(sys.executable).with_name("cwndlab")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "cwndlab"]
    python = process_seconds([sys.executable, "-c", "pass"])
    imported = process_seconds([sys.executable, "-c", "import cwndlab"])
    return {
        "import_s": imported - python,
        "python_s": python,
        "version_command_s": process_seconds([*command, "--version"]),
    }


def table(entries: list[dict]) -> str:
    """Lay out speed and work done."""
    head = f"{'scenario':<12} {'cwndlab':>14} {'cwndlab':>10} {'ns-2':>10} {'ratio':>7} {'ratio':>15}"
    units = f"{'':<12} {'packets/s':>14} {'ns/packet':>10} {'ns/packet':>10} {'median':>7} {'min to max':>15}"
    lines = [head, units]
    for entry in entries:
        own, other = entry["cwndlab"], entry.get("ns2")
        row = f"{entry['scenario']:<12} {own['packets_per_s']:>14,.0f} {own['ns_per_packet']:>10.1f}"
        if other:
            low, high = entry["ratio_range"]
            row += f" {other['ns_per_packet']:>10.1f} {entry['ratio']:>7.1f} {f'{low:.1f} to {high:.1f}':>15}"
        else:
            row += f" {'-':>10} {'-':>7} {'-':>15}"
        lines.append(row)
    lines += ["", f"{'work done':<12} {'':<8} {'delivered':>12} {'loss rate':>10} {'utilization':>12} {'timeouts':>9}"]
    for entry in entries:
        for label in ("cwndlab", "ns2"):
            if label in entry:
                done = entry[label]
                lines.append(
                    f"{entry['scenario']:<12} {label:<8} {done['delivered_packets']:>12,} {done['loss_rate']:>10.5f}"
                    f" {done['utilization']:>12.4f} {done['timeouts']:>9,}"
                )
    return "\n".join(lines)


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    names = [work.name for work in WORKS]
    parser.add_argument(
        "--only", choices=[*names, COMPARISON], action="append", help="one scenario (may be given again)"
    )
    arguments = parser.parse_args()
    with_ns2 = ns2_reference.available()
    if not with_ns2:
        print("without the ns-2 column: program `ns` (Debian package ns2) is not installed", file=sys.stderr)
    chosen = [work for work in WORKS if work.name in (arguments.only or names)]
    entries = [measure(work, arguments.repetitions, with_ns2) for work in chosen]
    if entries:
        print(table(entries))
    # Before anything larger is started: its memory is the largest among child processes.
    whole = measure_comparison() if COMPARISON in (arguments.only or [COMPARISON]) else None
    if whole:
        print(f"\n{line(whole)}")
    times = start_up()
    print(
        f"\nimport cwndlab: {times['import_s'] * 1e3:.0f} ms (after Python's own {times['python_s'] * 1e3:.0f} ms);"
        f" cwndlab --version: {times['version_command_s'] * 1e3:.0f} ms"
    )
    out = ROOT / "out" / "bench.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({"scenarios": entries, "comparison": whole, "start_up": times}, indent=1) + "\n")
    print(f"written: {out.relative_to(ROOT)}")
    unequal = [entry["scenario"] for entry in entries if not entry.get("same_work", True)]
    if unequal:
        print(f"not the same work on both sides, so no ratio: {', '.join(unequal)}", file=sys.stderr)
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
