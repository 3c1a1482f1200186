"""The measured parts of the documents, from what is on record.

``python bench/document.py`` writes them anew.

A part stands between ``<!-- generated: bench NAME -->`` and ``<!-- end -->``. docs/generate.py and
the tests that compare the documents use `part`; nothing in these parts comes from elsewhere than
bench/results.json, bench/instructions.json and bench/beside.json, but for the prototypes' times in
bench/floor.py.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import beside as kernel  # noqa: E402
from floor import distances  # noqa: E402
from tables import TABLES, Table, stages  # noqa: E402

RECORD = ROOT / "bench" / "results.json"
GUARD = ROOT / "bench" / "instructions.json"
DOCUMENTS = ("docs/performance.md", "docs/live-beside.md")
PART = re.compile(r"(<!-- generated: bench (?P<name>[a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(table: Table) -> str:
    """Write a table as Markdown."""
    head, rows = table
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines
    )


def circumstances(record: dict) -> str:
    """Say what was measured on, with which versions, when."""
    machine = record["machine"]
    # What is of another machine says so at its table.
    entries = [
        entry for entry in record["workloads"].values() if "machine" not in entry.get("figures", {})
    ]
    rows = [
        ["processor", f"{machine['processor']} ({machine['architecture']})"],
        ["cores", str(machine["cores"])],
        [
            "memory",
            f"{machine['memory_gib']:.0f} GiB" if machine["memory_gib"] else "unknown",
        ],
        ["system", machine["system"]],
        *([name, version or "not installed"] for name, version in record["versions"].items()),
    ]
    for key, what in (("commit", "commits measured"), ("date", "dates")):
        rows.append([what, ", ".join(sorted({str(entry["measured"][key]) for entry in entries}))])
    repetitions = sorted({entry["repetitions"] for entry in entries})
    loads = [
        entry["measured"]["load"] for entry in entries if entry["measured"]["load"] is not None
    ]
    rows.append(["repetitions", " or ".join(map(str, repetitions))])
    by_hand = {
        "by hand, except under DRR" if entry["by_hand"] else "a node and a link each"
        for entry in entries
    }
    rows.append(["ns-2's sources, up to 1000 flows", " or ".join(sorted(by_hand))])
    # Its own runs count as one, two in the sweep and the comparison.
    rows.append(
        [
            "load when a workload began (1 is this measurement itself)",
            f"{min(loads):.1f} to {max(loads):.1f}" if loads else "unknown",
        ]
    )
    cores = [entry["measured"]["core"] for entry in entries if "core" in entry["measured"]]
    if cores:
        ranges = {
            chains: f"{min(core[chains] for core in cores)} to "
            f"{max(core[chains] for core in cores)}"
            for chains in cores[0]
        }
        rows.append(
            [
                "steps a nanosecond when a workload began, four chains (and one)",
                f"{ranges['four']} ({ranges['one']})",
            ]
        )
    return markdown((["", ""], rows))


def guard(record: dict) -> str:
    """Say what the guard has on record."""
    rows = [
        [
            name,
            run["duration"],
            f"{run['instructions']:,}",
            f"{run['instructions'] / run['packets']:,.0f}",
        ]
        for name, run in record["runs"].items()
    ]
    table = markdown((["workload", "simulated", "instructions", "a packet"], rows))
    return f"{table}\nRecorded with {record['rustc']} on {record['architecture']}.\n"


def beside(record: dict) -> str:
    """Say what flows of the kernel did, beside simulated ones."""
    machine, measured = record["machine"], record["measured"]
    invalid = sum(
        bool(run["reasons"]) for entry in record["scenarios"].values() for run in entry["live"]
    )
    where = (
        f"Linux {record['kernel']}, {machine['cores']} cores of {machine['processor']}, load "
        f"{measured['load']}"
    )
    return (
        f"{markdown((kernel.HEAD, kernel.lines(record)))}\n"
        f"{record['repetitions']} runs of each scenario; {invalid} of the live runs were [not "
        f"valid](live.md#what-makes-a-run-valid) and do not count. {where} when it began; "
        f"{measured['date']}, "
        f"commit {measured['commit']}. {virtual(record)}\n"
    )


def virtual(record: dict) -> str:
    """Say what ran in virtual time."""
    if "virtual_kernel" not in record:
        return ""
    runs = [run for entry in record["scenarios"].values() for run in entry.get("virtual", [])]
    valid = len(kernel.valid(runs))
    return (
        f"In virtual time: {len(runs)} runs, {valid} of them valid, kernel "
        f"{record['virtual_kernel']}."
    )


def peers(entries: dict[str, dict]) -> str:
    """Say how long a packet takes in each simulator, and on which machine."""
    entry = entries.get("peers", {})
    table = markdown(TABLES["peers"](entries))
    if not entry.get("figures"):
        return table
    machine, measured = entry["figures"]["machine"], entry["measured"]
    return (
        f"{table}\n"
        f"Simulated time {entry['figures']['duration']}, {entry['repetitions']} repetitions. "
        f"{machine['system']}, {machine['cores']} cores of {machine['processor']}, load "
        f"{measured['load']} when it began; {measured['date']}.\n"
    )


def part(name: str) -> str:
    """Return the text of a part."""
    if name == "guard":
        return guard(json.loads(GUARD.read_text()))
    if name == "beside":
        return beside(json.loads(kernel.RECORD.read_text()))
    record = json.loads(RECORD.read_text())
    if name == "circumstances":
        return circumstances(record)
    if name == "stages":
        return markdown(stages(record.get("profile", {}), record.get("profile_before")))
    if name == "floor":
        return markdown(distances(record["workloads"]))
    if name == "peers":
        return peers(record["workloads"])
    return markdown(TABLES[name](record["workloads"]))


def main() -> int:
    """Write the parts of every document anew."""
    for name in DOCUMENTS:
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = PART.sub(lambda found: f"{found[1]}{part(found['name'])}{found[3]}", old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"written: {name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
