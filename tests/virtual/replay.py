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
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import polars as pl

from cwndlab import native
from cwndlab.kernel_runs import kernels
from cwndlab.live_runs.run import counterpart, linux
from cwndlab.scenario import Scenario
from virtual import scenarios

FILE = Path(__file__).with_name("replays.json.gz")
RULES = ("kernel:reno", "kernel:cubic", "kernel:bbr")
"""Rules whose models are the kernel's, beside DCTCP's, which has scenarios of its own."""
DRAWING = ("kernel:bbr",)
"""Rules that draw random numbers, from 0 to 6; their models are told the numbers, and what the
kernel measured."""
MOST_DRAWS = 8
"""Numbers that a flow draws, at most, as far as they are looked for."""
MOST_ACKS = 4000
MOST_MEASURED_ACKS = 3000
"""ACKs of a flow that is kept, at most; those with what the kernel measured are larger."""
LATE_NS = 20_000
"""Transmissions may be so late: the kernel's system calls take some of it."""
NO_RTT = 2**32 - 1
"""tcpi_min_rtt before the first sample."""
NO_THRESHOLD = 2e4
"""Thresholds from here on limit nothing."""


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


def record(case: dict[str, Any]) -> dict[str, list[Any]]:
    """Run a scenario in the kernel, and return what its flow sent and which ACKs it got.

    Times are whole nanoseconds.
    """
    traced = {**case, "trace": {"packets": True}}
    rows = linux(traced, kernel=kernels.find(None)).traces["packets"]
    rows = rows.with_columns(time_ns=(pl.col("time_s") * 1e9).round().cast(pl.Int64))
    sent = rows.filter(pl.col("event") == "send").select("time_ns", "seq").rows()
    columns = ["time_ns", "seq", "cwnd_packets", "ssthresh_packets", "marked", "sack"]
    draws = rule_of(case) in DRAWING
    if draws:
        # No RTT is the largest number.
        rtt = pl.col("min_rtt_us")
        rows = rows.with_columns(pl.when(rtt < NO_RTT).then(rtt).otherwise(0).alias("min_rtt_us"))
        columns += ["delivery_rate_bytes_s", "min_rtt_us"]
    acks = rows.filter(pl.col("event") == "ack").select(columns).rows()
    recorded = {"sent": [list(row) for row in sent], "acks": [list(row) for row in acks]}
    return {**recorded, "draws": drawn(case, recorded)} if draws else recorded


def drawn(case: dict[str, Any], recorded: dict[str, list[Any]]) -> list[int]:
    """Return the random numbers that the kernel drew: with each the senders stay equal longest."""
    draws: list[int] = []

    def equal_until(more: int) -> float:
        one = {**recorded, "draws": [*draws, more]}
        return first_difference(events(case, one), one)

    for _ in range(MOST_DRAWS):
        until = [equal_until(more) for more in range(7)]
        if max(until) == min(until):
            break
        draws.append(until.index(max(until)))
    return draws


def events(case: dict[str, Any], recorded: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Play the recorded ACKs to a simulated sender, whose random numbers are the kernel's."""
    scenario = counterpart(Scenario.from_dict(case)).to_dict()
    parsed = native.Scenario(json.dumps(scenario), "json")
    # What the kernel measured with an ACK is seen before the next one.
    measured = [tuple(row[6:8]) for row in recorded["acks"][1:]] + [()]
    acks = [(row[0] / 1e9, row[1], [tuple(block) for block in row[5]], row[4], *(after or (0, 0)))
            for row, after in zip(recorded["acks"], measured, strict=True)]  # fmt: skip
    first_ns, last_ns = recorded["sent"][0][0], recorded["sent"][-1][0]
    until_s = (last_ns + LATE_NS) / 1e9
    return parsed.replay(0, first_ns / 1e9, acks, until_s, recorded.get("draws", []))


def sides(
    done: list[tuple[Any, ...]], recorded: dict[str, list[Any]]
) -> tuple[list[tuple[float, int]], ...]:
    """Return transmissions, and cwnd and ssthresh before each ACK: of the simulator, of the kernel.

    The ACK of the SYN is left out: its window is the initial one.
    """
    ours = [(event[0], event[2]) for event in done if event[1] == "send"]
    theirs = [(time_ns / 1e9, seq) for time_ns, seq in recorded["sent"]]
    found = [(event[3], min(event[4], NO_THRESHOLD)) for event in done if event[1] == "ack"][1:]
    known = [(row[2], min(row[3], NO_THRESHOLD)) for row in recorded["acks"]][1:]
    return ours, theirs, found, known


def first_difference(done: list[tuple[Any, ...]], recorded: dict[str, list[Any]]) -> float:
    """Return when the senders begin to differ, seconds: a packet, its time, or a window."""
    ours, theirs, found, known = sides(done, recorded)

    def differs(a: tuple[float, int], b: tuple[float, int]) -> bool:
        return a[1] != b[1] or abs(a[0] - b[0]) > LATE_NS / 1e9

    sent = (b[0] for a, b in zip(ours, theirs, strict=False) if differs(a, b))
    windows = (row[0] / 1e9 for a, b, row in zip(found, known, recorded["acks"][1:], strict=True)
               if a != b)  # fmt: skip
    return min(next(sent, math.inf), next(windows, math.inf))


def replay(name: str, case: dict[str, Any], recorded: dict[str, list[Any]]) -> Replay:
    """Compare both senders."""
    ours, theirs, found, known = sides(events(case, recorded), recorded)

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
    done = events(case, recorded)
    ack_times = [row[0] / 1e9 for row in recorded["acks"]]

    def after_each_ack(sent: list[tuple[float, int]]) -> list[list[int]]:
        """Packets from each ACK to the next one; first those before any."""
        groups: list[list[int]] = [[] for _ in range(len(ack_times) + 1)]
        at = 0
        for time_s, seq in sent:
            while at < len(ack_times) and ack_times[at] <= time_s + 1e-9:
                at += 1
            groups[at].append(seq)
        return groups

    theirs = after_each_ack([(time_ns / 1e9, seq) for time_ns, seq in recorded["sent"]])
    ours = after_each_ack([(event[0], event[2]) for event in done if event[1] == "send"])
    first = next((i for i, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b), None)
    if first is None:
        print(f"{name}: equal after each of {len(ack_times)} ACKs")
        return
    for i in range(max(1, first - acks), min(first + acks, len(theirs))):
        time_ns, ack, cwnd, _, _, sack, *_ = recorded["acks"][i - 1]
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

    def is_small(one: dict[str, list[Any]]) -> bool:
        return len(one["acks"]) <= (MOST_MEASURED_ACKS if "draws" in one else MOST_ACKS)

    kept = {name: one for name, one in done.items() if is_small(one)}
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
