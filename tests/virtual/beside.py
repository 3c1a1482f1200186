"""The simulator beside the kernel: profile ``linux`` over the scenarios of the kept outputs.

``python tests/virtual/beside.py`` prints how far it is from the kernel; ``--markdown`` prints the
tables of docs/linux.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cwndlab import run
from cwndlab.live_runs.run import counterpart
from cwndlab.scenario import Scenario
from virtual.kept import every, numbers, read, traced


class Beside(NamedTuple):
    """One scenario in both homes."""

    name: str
    equal: list[bool]
    """Whether each flow's course is equal: its packets and ACKs in order, cwnd and ssthresh at each
    ACK."""
    goodput: float
    """Relative difference of the whole goodput."""
    share: float
    """Largest difference of a flow's share."""
    delay_ms: tuple[float, float]
    """Mean queueing delay: kernel, simulator."""


def simulated(case: dict[str, Any]) -> Scenario:
    """The scenario to simulate, with the steps of the clock that the kernel has in virtual time."""
    return counterpart(Scenario.from_dict({**traced(case), "host_clock": "256ns"}))


def beside(name: str, case: dict[str, Any], kept: dict[str, Any]) -> Beside:
    """Simulate a scenario, and compare it with its kept output."""
    found = numbers(run(simulated(case)))
    equal = [a == b for a, b in zip(kept["courses"], found["courses"], strict=True)]
    whole = [sum(side["goodput_bps"]) for side in (kept, found)]
    shares = [[goodput / total for goodput in side["goodput_bps"]]
              for side, total in zip((kept, found), whole, strict=True)]  # fmt: skip
    return Beside(
        name,
        equal,
        whole[1] / whole[0] - 1,
        max(abs(a - b) for a, b in zip(*shares, strict=True)),
        (1e3 * kept["delay_s"], 1e3 * found["delay_s"]),
    )


def summary(rows: list[Beside], kind: str) -> list[str]:
    """One line per number of a kind of scenarios."""
    flows = sum(len(row.equal) for row in rows)
    equal = sum(sum(row.equal) for row in rows)
    of = [abs(row.goodput) for row in rows]
    shares = [row.share for row in rows]
    delays = [abs(row.delay_ms[1] - row.delay_ms[0]) for row in rows]

    def spread(values: list[float], scale: float = 1.0, digits: int = 3) -> str:
        middle, most = scale * statistics.median(values), scale * max(values)
        return f"{middle:.{digits}f} in the median, {most:.{digits}f} at most"

    lines = [f"{kind}: {len(rows)} scenarios, {equal} of {flows} flows equal from the first "
             "packet to the last, with cwnd and ssthresh at each ACK",
             f"{kind}: goodput apart by {spread(of, 100, 2)} [%]",
             f"{kind}: mean queueing delay apart by {spread(delays, 1, 2)} [ms]"]  # fmt: skip
    if any(len(row.equal) > 1 for row in rows):
        lines.append(f"{kind}: shares apart by {spread(shares)}")
    return lines


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    kept = read()
    rows = [beside(name, case, kept["runs"][name]) for name, case in every().items()]
    kinds = {"by hand": [row for row in rows if "-" not in row.name or not row.name[-1].isdigit()],
             "one flow": [row for row in rows if row.name.startswith("single-")],
             "two flows": [row for row in rows if row.name.startswith("pair-")]}  # fmt: skip
    start = "- " if asked.markdown else ""
    for kind, found in kinds.items():
        print("\n".join(start + line for line in summary(found, kind)))
    print()
    if asked.markdown:
        print("| scenario | flows equal | goodput [%] | share | delay, kernel [ms] | simulator |")
        print("| --- | --- | --- | --- | --- | --- |")
    for row in kinds["by hand"] if asked.markdown else rows:
        delays = [f"{delay:.2f}" for delay in row.delay_ms]
        equal = f"{sum(row.equal)} of {len(row.equal)}"
        cells = [row.name, equal, f"{100 * row.goodput:+.2f}", f"{row.share:.3f}", *delays]
        print(f"| {' | '.join(cells)} |" if asked.markdown else "  ".join(cells))


if __name__ == "__main__":
    main()
