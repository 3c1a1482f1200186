"""Says which files run between an event and what the sender does about it.

`python bench/opened.py` prints them for an ACK, a drop, a mark and a retransmission timeout: the
files that somebody opens who asks what happens then. It runs one flow under callgrind, in a build
without optimisation, where each function is still in its own file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


# Every packet asks for its sizes there.
ASKED = ("tcp/src/config.rs", "tcp/src/segment.rs", "sim/src/packet.rs")


class Question(NamedTuple):
    """Asks what happens when something does."""

    title: str
    functions: tuple[str, ...]
    """Functions of the program, as callgrind's patterns: what runs in them is counted."""
    crates: tuple[str, ...]
    """The crates whose files answer it."""
    scenario: str
    not_of_it: tuple[str, ...] = ASKED
    """Files that run, and that nobody opens to answer it."""


ONE_FLOW = """
duration = "3s"
profile = "{profile}"
[dumbbell]
rate = "2Mbit"
delay = "20ms"
queue = {queue}
[[flows]]
rule = "{rule}"
{more}
"""


LARGE = '{ kind = "drop-tail", limit = "1000pkt" }'
SMALL = '{ kind = "drop-tail", limit = "20pkt" }'


def scenario(profile: str, rule: str, queue: str = SMALL, more: str = "") -> str:
    """Return the scenario of the flow."""
    return ONE_FLOW.format(profile=profile, rule=rule, queue=queue, more=more)


SENDER, NETWORK = ("tcp", "rules"), ("sim", "queues")
# The way of a segment to the network; what runs there is not the sender's.
OUT = "*SenderOutput*send*"
MARKS = '{ kind = "red", ecn = true, limit = "50pkt" }'
OUTAGE = SMALL + '\noutages = [{ from = "1s", to = "2s", arrivals = "lost" }]'
ECN = "tcp = { ecn = true }"
QUESTIONS = [
    Question("an ACK arrives, profile rfc, AIMD", ("*run_acks*",), SENDER,
             scenario("rfc", "AIMD(1, 0.5)", LARGE), (*ASKED, "tcp/src/receiver.rs")),
    Question("an ACK arrives", ("*on_ack_slow_path*", OUT), SENDER,
             scenario("linux", "CUBIC", LARGE)),
    Question("a queue drops a packet", ("*Link*arrive_slow_path*", "*on_dropped*"), NETWORK,
             scenario("linux", "CUBIC")),
    Question("a loss is found", ("*enter_recovery*",), SENDER, scenario("linux", "CUBIC")),
    Question("a queue marks a packet",
             ("*Link*arrive_slow_path*", "*Receiver*on_data*", "*on_ece*"),
             (*SENDER, *NETWORK), scenario("linux", "CUBIC", MARKS, ECN)),
    Question("the retransmission timer expires", ("*RackTlp*on_timer*",), SENDER,
             scenario("linux", "CUBIC", OUTAGE), (*ASKED, "tcp/src/receiver.rs")),
]  # fmt: skip
# What a file has to have of the instructions to be one that is opened.
SHARE = 0.02


def program() -> Path:
    """Build the program that runs a scenario, without optimisation."""
    target = ROOT / "target" / "opened"
    command = [
        "cargo",
        "build",
        "--quiet",
        "-p",
        "cwndlab-sim",
        "--example",
        "bench",
        "--target-dir",
        str(target),
    ]
    flags = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0"}
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **flags})
    return target / "debug" / "examples" / "bench"


def files(binary: Path, question: Question) -> dict[str, int]:
    """Instructions in each file of the repository while the functions run."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "scenario.toml", Path(folder) / "out"
        path.write_text(question.scenario)
        toggles = [f"--toggle-collect={name}" for name in question.functions]
        command = [
            "valgrind",
            "--tool=callgrind",
            *toggles,
            f"--callgrind-out-file={out}",
            str(binary),
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-1000:])
        return read(out.read_text())


def read(dump: str) -> dict[str, int]:
    """Add up costs by source file (Callgrind format specification, 1)."""
    names: dict[str, str] = {}
    costs: dict[str, int] = {}
    here, called = "", False
    for line in dump.splitlines():
        position = re.match(r"(fl|fi|fe)=\((\d+)\)(?: (.*))?", line)
        if position:
            _, number, name = position.groups()
            here = names.setdefault(number, name or "")
        elif named := re.match(r"(cfi|cfl)=\((\d+)\)(?: (.*))?", line):
            names.setdefault(named[2], named[3] or "")
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "0123456789+-*" and line:
            if not called:
                costs[here] = costs.get(here, 0) + int(line.split()[-1])
            called = False
    return {name: cost for name, cost in costs.items() if "crates/" in name}


def table() -> str:
    """Return what ARCHITECTURE.md says happens."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return text.partition("## A sender")[2].partition("| to add")[0]


def main() -> int:
    """Print the files of every question; say which ones ARCHITECTURE.md leaves out."""
    binary, described, left_out = program(), table(), 0
    for question in QUESTIONS:
        costs = {
            re.sub(r".*crates/", "", name): cost for name, cost in files(binary, question).items()
        }
        costs = {
            name: cost
            for name, cost in costs.items()
            if name.split("/")[0] in question.crates and name not in question.not_of_it
        }
        total = sum(costs.values())
        main_files = [name for name, cost in costs.items() if cost >= SHARE * total]
        print(f"{question.title}: {len(main_files)} files of {len(costs)} have {SHARE:.0%} or more")
        for name in sorted(main_files, key=costs.__getitem__, reverse=True):
            known = name.split("/src/")[1] in described
            left_out += not known
            note = "" if known else "   ARCHITECTURE.md leaves it out"
            print(f"   {100 * costs[name] / total:5.1f} %  crates/{name}{note}")
    return min(left_out, 1)


if __name__ == "__main__":
    sys.exit(main())
