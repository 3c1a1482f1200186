"""Where the time goes: instructions of a run by stage, and the distance to the floor.

    python bench/stages.py [--only NAME]... [--record [--keep-before]]

Each instruction that callgrind counts is given to the innermost function of this repository that it
was compiled from, inlined ones included (addr2line -i), and that function's file to a stage. Shares
of instructions are not shares of time: an instruction that waits for memory counts as one. --record
keeps the figures in bench/results.json.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import callgrind  # noqa: E402
import ours  # noqa: E402
from bench import RECORD, write  # noqa: E402
from floor import distances  # noqa: E402
from tables import plain, stages  # noqa: E402
from workloads import read  # noqa: E402

# The first pattern that fits a file; "library" is what no function of this repository is part of.
STAGES = (
    ("rule", r"crates/rules/"),
    ("endpoint", r"crates/tcp/|sim/src/(endpoint/(?!arrivals|transfer)|engine/sender_)"),
    (
        "queue and link",
        r"crates/queues/|sim/src/(network/(link|impairment)/|rate/|random/|collections/|"
        r"network/(access_links|scheduled_service))",
    ),
    ("transport stacks", r"sim/src/stacks/"),
    ("scheduling", r"crates/prefetch/|sim/src/event/"),
    ("flows that come and go", r"sim/src/(engine/flow_slots|endpoint/(arrivals|transfer))\.rs"),
    ("trace hash", r"sim/src/measure/trace_hash\.rs"),
    ("results", r"sim/src/(results|measure)/"),
    ("reading and building", r"crates/(scenario|units)/|sim/(src/build|examples)/"),
    ("engine", r"sim/src/((engine|network)/)?\w+\.rs"),
)
LIBRARY = "library"
# Some hundred thousand packets; a thousand flows need longer until they have found their windows.
RUNS = {"ten-mixed": "30s", "thousand": "12s", "ten-red": "30s", "ten-drr": "30s", "arrivals": "3s"}


def own(files: list[str]) -> str | None:
    """Return the innermost file of this repository that an instruction was inlined through."""
    found = (
        re.search(r"crates/(rules|queues|tcp|units|scenario|sim|prefetch)/(src|examples)/.*", file)
        for file in files
    )
    return next((match[0] for match in found if match), None)


def stage(files: list[str]) -> str:
    """Return the stage of an instruction, from the files that it was inlined through."""
    file = own(files)
    return next((name for name, pattern in STAGES if file and re.search(pattern, file)), LIBRARY)


def inlined(program: Path, addresses: list[int]) -> dict[int, list[str]]:
    """Files of the functions that each address was compiled from, innermost first."""
    asked = "\n".join(hex(address) for address in addresses)
    command = ["addr2line", "--addresses", "--inlines", "--exe", str(program)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found: dict[int, list[str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            files = found.setdefault(int(line, 16), [])
        else:
            files.append(line.rpartition(":")[0])
    return found


def profile(name: str, duration: str, most_files: int) -> dict:
    """Count a run's instructions by stage; print the files that have most of them."""
    counted = callgrind.count({**read(name), "duration": duration})
    files = inlined(ours.native_program(), list(counted.by_address))
    by_stage: Counter[str] = Counter({LIBRARY: counted.elsewhere})
    by_file: Counter[str] = Counter()
    for address, cost in counted.by_address.items():
        by_stage[stage(files.get(address, []))] += cost
        by_file[own(files.get(address, [])) or LIBRARY] += cost
    for file, cost in by_file.most_common(most_files):
        print(f"{name}  {cost / counted.delivered:7.0f} instructions a packet  {file}")
    return {
        "duration": duration,
        "packets": counted.delivered,
        "instructions": counted.instructions,
        "stages": {name: by_stage[name] for name in [*(name for name, _ in STAGES), LIBRARY]},
    }


def main() -> int:
    """Profile from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", choices=list(RUNS), action="append", metavar="NAME", help=", ".join(RUNS)
    )
    parser.add_argument(
        "--files", type=int, default=0, metavar="N", help="also the N files that have most of them"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/results.json"
    )
    parser.add_argument(
        "--keep-before",
        action="store_true",
        help="with --record: the table also shows the figures recorded until now",
    )
    arguments = parser.parse_args()
    reason = callgrind.missing()
    if shutil.which("addr2line") is None:
        reason = "program `addr2line` (Debian package binutils) is not installed"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    found = {}
    for name in arguments.only or RUNS:
        print(f"{name}, {RUNS[name]}: counting instructions", file=sys.stderr)
        found[name] = profile(name, RUNS[name], arguments.files)
    print(plain(stages(found)))
    workloads = json.loads(RECORD.read_text())["workloads"] if RECORD.exists() else {}
    if table := distances(workloads)[1] and distances(workloads):
        print(f"\n{plain(table)}")
    if arguments.record:
        document = json.loads(RECORD.read_text()) if RECORD.exists() else {"workloads": {}}
        if arguments.keep_before:
            document["profile_before"] = document.get("profile", {})
        write(RECORD, {**document, "profile": {**document.get("profile", {}), **found}})
        print(f"written: {RECORD.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
