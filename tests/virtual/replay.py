"""Senders of profile ``linux`` beside the kernel's, ACK by ACK.

The kernel runs a scenario in virtual time with its packets recorded. Its ACKs are then played to a
simulated sender at their times: both senders see the same, so that every difference is one of the
senders. ``python tests/virtual/replay.py`` does this for the flows that are kept, without a kernel.
``--record`` records them anew, ``--markdown`` prints the table of docs/linux.md, ``--show NAME``
prints both senders around the first ACK after which they send different packets.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cwndlab.conformance.recording import DRAWING, Recording
from cwndlab.kernel_runs import kernels
from cwndlab.live_runs.run import counterpart, linux
from cwndlab.scenario import Scenario
from virtual import scenarios

FILE = Path(__file__).with_name("replays.json.gz")
RULES = ("kernel:reno", "kernel:cubic", "kernel:bbr")
"""Rules whose models are the kernel's, beside DCTCP's, which has scenarios of its own."""
MOST_ACKS = 4000
MOST_MEASURED_ACKS = 3000
"""ACKs of a flow that is kept, at most; those with what the kernel measured are larger."""


class Replay(NamedTuple):
    """What the replay of a flow showed."""

    name: str
    rule: str
    sent: tuple[int, int]
    """Packets that kernel and simulator sent."""
    order: int
    """Packets up to the first that differs, of the kernel's."""
    acks: int
    windows: int
    """ACKs up to the first that finds another cwnd or ssthresh."""
    late_us: float
    """Largest difference of a transmission's time, as long as the order is equal."""

    @property
    def is_whole(self) -> bool:
        """Whether order and windows are equal to the end."""
        return self.order == self.sent[0] == self.sent[1] and self.windows == self.acks


def cases() -> dict[str, dict[str, Any]]:
    """Return the scenarios of one flow whose rule has a model."""
    every = {f"single-{seed}": scenarios.single(seed) for seed in range(40)}
    every |= {f"long-{seed}": scenarios.long(seed) for seed in range(2)}
    modelled = {name: case for name, case in every.items() if rule_of(case) in RULES}
    return modelled | {f"marked-{seed}": scenarios.marked(seed) for seed in range(8)}


def rule_of(case: dict[str, Any]) -> str:
    """Return the rule of the scenario's flow."""
    return case["flows"][0]["rule"]


def record(case: dict[str, Any]) -> Recording:
    """Run a scenario in the kernel, and return what its flow sent and which ACKs it got."""
    traced = {**case, "trace": {"packets": True}}
    rows = linux(traced, kernel=kernels.find(None)).traces["packets"]
    return Recording.of(rows, simulated(case), 0)


def simulated(case: dict[str, Any]) -> Scenario:
    """Return the scenario whose sender is compared."""
    return counterpart(Scenario.from_dict(case))


def replay(name: str, case: dict[str, Any], recorded: dict[str, list[Any]]) -> Replay:
    """Compare both senders."""
    both = Recording(**recorded).replay(simulated(case), 0)
    ours, theirs = both.sent, both.recorded_sent
    found, known = both.windows, both.recorded_windows

    def equal(a: list[Any], b: list[Any]) -> int:
        differs = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
        return next(differs, min(len(a), len(b)))

    order = equal([seq for _, seq in theirs], [seq for _, seq in ours])
    late_us = max(1e6 * abs(a[0] - b[0]) for a, b in zip(theirs[:order], ours, strict=False))
    windows = equal(known, found)
    sent = (len(theirs), len(ours))
    return Replay(name, rule_of(case), sent, order, len(known), windows, late_us)


def around(name: str, acks: int = 6) -> None:
    """Print both senders around the first ACK after which they send different packets."""
    case = cases()[name]
    recorded = record(case)
    both = recorded.replay(simulated(case), 0)
    ack_times = [row[0] / 1e9 for row in recorded.acks]

    def after_each_ack(sent: list[tuple[float, int]]) -> list[list[int]]:
        """Packets from each ACK to the next one; first those before any."""
        groups: list[list[int]] = [[] for _ in range(len(ack_times) + 1)]
        at = 0
        for time_s, seq in sent:
            while at < len(ack_times) and ack_times[at] <= time_s + 1e-9:
                at += 1
            groups[at].append(seq)
        return groups

    theirs, ours = after_each_ack(both.recorded_sent), after_each_ack(both.sent)
    first = next((i for i, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b), None)
    if first is None:
        print(f"{name}: equal after each of {len(ack_times)} ACKs")
        return
    for i in range(max(1, first - acks), min(first + acks, len(theirs))):
        time_ns, ack, cwnd, _, _, sack, *_ = recorded.acks[i - 1]
        mark = ">>" if i == first else "  "
        print(f"{mark} {time_ns / 1e9:.6f} ack {ack} {sack or ''} cwnd {cwnd}: "
              f"kernel {theirs[i]}, simulator {ours[i]}")  # fmt: skip


def read() -> dict[str, Any]:
    """Return the kept records: of which kernel, and by scenario."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def write(kernel: kernels.Kernel) -> None:
    """Record all scenarios, and keep those of few ACKs."""
    with ThreadPoolExecutor(2) as pool:
        done = dict(zip(cases(), pool.map(record, cases().values()), strict=True))

    def is_small(name: str) -> bool:
        most = MOST_MEASURED_ACKS if rule_of(cases()[name]) in DRAWING else MOST_ACKS
        return len(done[name].acks) <= most

    kept = {name: asdict(one) for name, one in done.items() if is_small(name)}
    document = {"identity": kernel.identity, "release": kernel.release, "hz": kernel.hz,
                "runs": kept}  # fmt: skip
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def table(replays: list[Replay]) -> str:
    """Return the table of docs/linux.md."""
    lines = ["| scenario | rule | packets equal | ACKs with equal windows | times apart [us] |",
             "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for one in replays:
        sent = "all" if one.order == one.sent[0] == one.sent[1] else f"{one.order:,}"
        windows = "all" if one.windows == one.acks else f"{one.windows:,}"
        lines.append(f"| {one.name} | {one.rule} | {sent} of {one.sent[0]:,} | "
                     f"{windows} of {one.acks:,} | {one.late_us:.0f} |")  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Print how far the flows are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--show", metavar="NAME")
    asked = parser.parse_args()
    if asked.show:
        around(asked.show)
        return
    if asked.record:
        write(kernels.find(None))
    document = read()
    runs = document["runs"]
    replays = [replay(name, case, runs[name]) for name, case in cases().items() if name in runs]
    whole = sum(one.is_whole for one in replays)
    order = sum(one.order == one.sent[0] == one.sent[1] for one in replays)
    if asked.markdown:
        print(table(replays))
    else:
        for one in replays:
            print(f"{one.name} {one.rule}: {one.order} of {one.sent[0]} packets, windows at "
                  f"{one.windows} of {one.acks} ACKs, {one.late_us:.0f} us")  # fmt: skip
    print(f"{len(replays)} flows: {whole} whole, {order} in the order of their packets")


if __name__ == "__main__":
    main()
