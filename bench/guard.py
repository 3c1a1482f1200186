"""Guards the engine's speed by what noise cannot move.

Instructions of five runs, against a record.

    python bench/guard.py [--record [RUN ...]]

Fails (1) when a run takes more than 2 % more instructions than bench/instructions.json says. Who
means it records that run anew, so that the change of the file says so. Counts belong to one
compiler and one architecture: on another architecture, and without valgrind, this skips with a
reason; with another rustc it compares all the same and says in a failure that the compiler may be
the cause.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import callgrind  # noqa: E402
from machine import printed  # noqa: E402
from workloads import read  # noqa: E402

RECORD = ROOT / "bench" / "instructions.json"
# Two runs of one program differ by less than a millionth: 2 % is what the work itself has grown by.
MOST_GROWTH_PERCENT = 2
# Drop-tail, a queue that owns its packets, flows that come and go; then the profile that people use
# (SACK, RACK, PRR), with a loss-based rule and with one that paces. More than 70,000 packets of
# each.
RUNS = {
    "ten-mixed": "30s",
    "ten-drr": "30s",
    "arrivals": "3s",
    "ten-cubic": "10s",
    "ten-bbr1": "10s",
}


def counted(names: Iterable[str] = RUNS) -> dict[str, dict]:
    """Instructions and packets of each run."""
    found = {}
    for name in names:
        duration = RUNS[name]
        print(f"{name}, {duration}: counting instructions", file=sys.stderr)
        done = callgrind.count({**read(name), "duration": duration})
        found[name] = {
            "duration": duration,
            "instructions": done.instructions,
            "packets": done.delivered,
        }
    return found


def judge(name: str, old: dict, new: dict) -> tuple[str, bool]:
    """One line about a run, and whether it has grown too much."""
    growth = new["instructions"] / old["instructions"] - 1
    each = new["instructions"] / new["packets"]
    line = (
        f"{name}: {new['instructions']:,} instructions, {each:,.0f} a packet; "
        f"on record {old['instructions']:,}: {growth:+.2%}"
    )
    if new["packets"] != old["packets"]:
        line += (
            f"; {new['packets']:,} packets instead of {old['packets']:,}: what is simulated "
            "has changed"
        )
    if growth < -MOST_GROWTH_PERCENT / 100:
        line += "; record this, so that it stays"
    return line, 100 * new["instructions"] > (100 + MOST_GROWTH_PERCENT) * old["instructions"]


def write(record: dict, here: dict, names: list[str]) -> int:
    """Record these runs anew, or all if none is named."""
    others = {name: entry for name, entry in record["runs"].items() if name not in names}
    if names and others and any(record[key] != value for key, value in here.items()):
        print(f"recorded with {record['rustc']}: record all runs anew", file=sys.stderr)
        return 1
    found = counted(names or RUNS)
    runs = {name: (found | (others if names else {}))[name] for name in RUNS}
    RECORD.write_text(json.dumps({**here, "runs": runs}, indent=1) + "\n")
    print(f"written: {RECORD.relative_to(ROOT)}")
    return 0


def main() -> int:
    """Count, and compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--record",
        nargs="*",
        choices=RUNS,
        metavar="RUN",
        help="write bench/instructions.json anew; of these runs only",
    )
    arguments = parser.parse_args()
    if reason := callgrind.missing():
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    here = {"architecture": platform.machine(), "rustc": printed(["rustc", "--version"])}
    record = json.loads(RECORD.read_text())
    if arguments.record is not None:
        return write(record, here, arguments.record)
    if record["architecture"] != here["architecture"]:
        print(
            f"skipped: recorded on {record['architecture']}, this is {here['architecture']}",
            file=sys.stderr,
        )
        return 0
    new = counted()
    if record["runs"].keys() != new.keys() or any(
        new[name]["duration"] != old["duration"] for name, old in record["runs"].items()
    ):
        print("other runs than on record: record anew (bench/guard.py --record)", file=sys.stderr)
        return 1
    judged = [judge(name, record["runs"][name], entry) for name, entry in new.items()]
    print("\n".join(line for line, _ in judged))
    grown = [
        f"{name}: {new[name]['instructions']:,} instructions, "
        f"at most {(100 + MOST_GROWTH_PERCENT) * old['instructions'] // 100:,} allowed "
        f"({MOST_GROWTH_PERCENT} % above {old['instructions']:,})"
        for (name, old), (_, has_grown) in zip(record["runs"].items(), judged, strict=True)
        if has_grown
    ]
    if not grown:
        return 0
    print(*grown, sep="\n", file=sys.stderr)
    print("find out why, or record it anew where it is meant (--record RUN)", file=sys.stderr)
    if record["rustc"] != here["rustc"]:
        print(
            f"recorded with {record['rustc']}, this is {here['rustc']}: the compiler may be the "
            "cause",
            file=sys.stderr,
        )
    return 1


if __name__ == "__main__":
    sys.exit(main())
