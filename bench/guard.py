"""Guards the engine's speed by what noise cannot move.

Instructions of three runs, against a record.

    python bench/guard.py [--record]

Fails (1) when a run takes more than a tenth more instructions than bench/instructions.json says.
Who means it records anew, so that the change of the file says so. Counts belong to one compiler and
one architecture: on another architecture, and without valgrind, this skips with a reason; with
another rustc it compares all the same and says in a failure that the compiler may be the cause.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import callgrind  # noqa: E402
from machine import printed  # noqa: E402
from workloads import read  # noqa: E402

RECORD = ROOT / "bench" / "instructions.json"
# Two runs of one program differ by less than a millionth: a tenth is what the work itself has grown
# by.
MOST_GROWTH_PERCENT = 10
# Drop-tail, a queue that owns its packets, flows that come and go; a few hundred thousand packets
# of each.
RUNS = {"ten-mixed": "30s", "ten-drr": "30s", "arrivals": "3s"}


def counted() -> dict[str, dict]:
    """Instructions and packets of each run."""
    found = {}
    for name, duration in RUNS.items():
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
        f"{name}: {new['instructions']:,} instructions, {each:,.0f} a packet, {growth:+.2%} "
        "against the record"
    )
    if new["packets"] != old["packets"]:
        line += (
            f"; {new['packets']:,} packets instead of {old['packets']:,}: what is simulated "
            "has changed"
        )
    if growth < -MOST_GROWTH_PERCENT / 100:
        line += "; record this, so that it stays"
    return line, 100 * new["instructions"] > (100 + MOST_GROWTH_PERCENT) * old["instructions"]


def main() -> int:
    """Count, and compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write bench/instructions.json anew")
    arguments = parser.parse_args()
    if reason := callgrind.missing():
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    here = {"architecture": platform.machine(), "rustc": printed(["rustc", "--version"])}
    if arguments.record:
        RECORD.write_text(json.dumps({**here, "runs": counted()}, indent=1) + "\n")
        print(f"written: {RECORD.relative_to(ROOT)}")
        return 0
    record = json.loads(RECORD.read_text())
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
    if not any(grown for _, grown in judged):
        return 0
    print(
        f"more than {MOST_GROWTH_PERCENT} % more: find out why, or record anew where it is meant "
        "(--record)",
        file=sys.stderr,
    )
    if record["rustc"] != here["rustc"]:
        print(
            f"recorded with {record['rustc']}, this is {here['rustc']}: the compiler may be the "
            "cause",
            file=sys.stderr,
        )
    return 1


if __name__ == "__main__":
    sys.exit(main())
