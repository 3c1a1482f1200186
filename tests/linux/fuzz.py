"""Random scenarios: profile ``linux`` beside the kernel in virtual time, flow by flow.

``python -m tests.linux.fuzz --rule cubic --count 100`` from the repository's root runs scenarios in
the kernel and simulated, and prints of how many flows the whole course is equal: the order of
packets and ACKs, and cwnd and ssthresh before each ACK. ``--several`` takes scenarios of two to
four flows, ``--no-sack`` those of one flow without SACK. ``--show NUMBER`` prints a scenario and
both courses around the first difference. ``--record`` keeps the kernel's side of all in reference/:
a hash per flow, and what surrounds the first difference. ``--kept`` compares with that, without a
kernel.

BBR draws the phase in which it enters ProbeBW. The numbers that the kernel drew are found by trial,
those with which simulator and kernel stay equal longest, and are kept, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cwndlab import Result
from cwndlab.kernel_runs import kernels
from cwndlab.live_runs.run import linux
from linux.generate import RULES, one_flow, one_flow_without_sack, several_flows
from virtual.beside import simulated
from virtual.kept import course, courses, timed_course, traced

FOLDER = Path(__file__).with_name("reference")
COUNTS = {"one flow": 100, "several flows": 40, "no SACK": 40}
"""Scenarios per rule that are kept."""
KINDS = {
    "one flow": one_flow,
    "several flows": several_flows,
    "no SACK": one_flow_without_sack,
}
DRAWN = 7
"""BBR enters ProbeBW in one of so many phases (Linux `bbr_reset_probe_bw_mode`)."""
MOST_DRAWS = 8
"""Numbers of a flow that are looked for, at most."""
Draws = dict[str, list[int]]
"""Random numbers that the kernel drew, by flow."""
AROUND = 3
"""Lines of a course that are kept before and after the first difference."""


def file_of(kind: str, rule: str) -> Path:
    """Where the kernel's side is kept."""
    return FOLDER / f"{kind.lower().replace(' ', '-')}-{rule}.json.gz"


def run(case: dict[str, Any], draws: Draws) -> Result:
    """Simulate a scenario with numbers that the kernel drew."""
    scenario = simulated(case)
    flows = [flow["name"] for flow in case["flows"]]
    done = scenario.core.run(draws=[draws.get(flow, []) for flow in flows])
    return Result.from_run(done, scenario.to_dict())


def equal_until_s(theirs: Result, ours: Result) -> float:
    """When the first flow parts from the kernel's."""
    until_s = math.inf
    for flow in theirs.flows["flow"].to_list():
        lines, other = (timed_course(result, flow) for result in (theirs, ours))
        end = (None, math.inf)
        for (line, line_s), (ours_line, ours_s) in zip_longest(lines, other, fillvalue=end):
            if line != ours_line:
                until_s = min(until_s, line_s, ours_s)
                break
    return until_s


def drawn(case: dict[str, Any], theirs: Result) -> Draws:
    """Find the numbers that the kernel drew: with each, all flows stay equal longest."""
    flows = [flow["name"] for flow in case["flows"] if flow["rule"] == "kernel:bbr"]
    found: Draws = {}
    until_s = equal_until_s(theirs, run(case, found))
    for _ in range(MOST_DRAWS * len(flows)):
        best = None
        for flow in flows:
            tried = [{**found, flow: [*found.get(flow, []), draw]} for draw in range(DRAWN)]
            each_s = [equal_until_s(theirs, run(case, one)) for one in tried]
            # A number without which they are equal as long may be the one that the model drew.
            if min(each_s) < max(each_s) >= until_s:
                until_s = max(each_s)
                best = tried[each_s.index(until_s)]
        if best is None or until_s == math.inf:
            return best or found
        found = best
    return found


def in_kernel(case: dict[str, Any], kernel: kernels.Kernel) -> dict[str, Any]:
    """Run a scenario in the kernel, and compare its flows with the simulator's."""
    theirs = linux(traced(case), kernel=kernel)
    draws = drawn(case, theirs)
    ours = run(case, draws)
    hashes = courses(theirs)
    apart = {}
    for flow, a, b in zip(theirs.flows["flow"].to_list(), hashes, courses(ours), strict=True):
        if a != b:
            apart[flow] = difference(course(theirs, flow), course(ours, flow))
    return {"courses": hashes, "apart": apart, "draws": draws, "reasons": theirs.reasons}


def difference(theirs: list[str], ours: list[str]) -> dict[str, Any]:
    """Return what surrounds the first line that differs, and its number."""
    pairs = enumerate(zip(theirs, ours, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(theirs), len(ours)))
    lines = slice(max(0, at - AROUND), at + AROUND)
    return {"line": at, "of": len(theirs), "kernel": theirs[lines], "simulator": ours[lines]}


def recorded(kind: str, rule: str, count: int, kernel: kernels.Kernel) -> Iterator[dict[str, Any]]:
    """Run the scenarios in the kernel, two at a time."""
    cases = [KINDS[kind](rule, number) for number in range(count)]
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda case: in_kernel(case, kernel), cases)


def write(kind: str, rule: str, kernel: kernels.Kernel, runs: list[dict[str, Any]]) -> None:
    """Keep the kernel's side."""
    document = {"identity": kernel.identity, "release": kernel.release, "hz": kernel.hz,
                "runs": runs}  # fmt: skip
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    FOLDER.mkdir(exist_ok=True)
    file_of(kind, rule).write_bytes(gzip.compress(text.encode(), mtime=0))


def read(kind: str, rule: str) -> list[dict[str, Any]]:
    """Return the kernel's side as it is kept."""
    return json.loads(gzip.decompress(file_of(kind, rule).read_bytes()))["runs"]


def equal_flows(case: dict[str, Any], kept: dict[str, Any]) -> list[bool]:
    """Simulate a scenario; whether each flow's course is that of the kernel."""
    found = courses(run(case, kept.get("draws", {})))
    return [a == b for a, b in zip(kept["courses"], found, strict=True)]


def classes_of(case: dict[str, Any]) -> list[str]:
    """Return what a scenario of one flow has that may part it from the kernel."""
    tcp, link = case["tcp"], case["dumbbell"]
    has = {
        "a small receive window": "window" in tcp,
        "no delayed ACKs": not tcp.get("delayed_ack", True),
        "reordering": "jitter" in link,
        "losses": "loss" in link,
        "a transfer": "packets" in case["flows"][0],
    }
    return [name for name, is_so in has.items() if is_so] or ["none of these"]


def print_classes(rules: list[str]) -> None:
    """Print how many flows of each class part, of scenarios of one flow."""
    apart, every = Counter[str](), Counter[str]()
    for rule in rules:
        for number, kept in enumerate(read("one flow", rule)):
            for name in ["all", *classes_of(one_flow(rule, number))]:
                every[name] += 1
                apart[name] += bool(kept["apart"])
    for name, count in every.items():
        print(f"{name}: {apart[name]} of {count} part")


def show(kind: str, rule: str, number: int) -> None:
    """Print a scenario, and both courses around the first difference of each flow."""
    case = KINDS[kind](rule, number)
    print(json.dumps(case))
    found = in_kernel(case, kernels.find())
    for flow, apart in found["apart"].items():
        print(f"{flow}: line {apart['line']} of {apart['of']}")
        for side in ("kernel", "simulator"):
            print(f"  {side}: {', '.join(apart[side])}")


def main() -> int:
    """Run, and print a line per rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rule", choices=RULES, action="append", help="all by default")
    parser.add_argument("--count", type=int, help="scenarios per rule; those that are kept")
    kinds = parser.add_mutually_exclusive_group()
    for option, kind, about in [
        ("--several", "several flows", "scenarios of two to four flows"),
        ("--no-sack", "no SACK", "scenarios of one flow without SACK"),
    ]:
        kinds.add_argument(option, action="store_const", dest="kind", const=kind, help=about)
    parser.set_defaults(kind="one flow")
    parser.add_argument("--show", type=int, metavar="NUMBER")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument(
        "--classes", action="store_true", help="what the kept flows have that part; no BBR"
    )
    asked = parser.parse_args()
    if asked.classes:
        print_classes(asked.rule or [rule for rule in RULES if rule != "bbr"])
        return 0
    kind = asked.kind
    count = asked.count or COUNTS[kind]
    for rule in asked.rule or RULES:
        if asked.show is not None:
            show(kind, rule, asked.show)
            continue
        if asked.kept:
            runs = read(kind, rule)[:count]
            flags = [equal_flows(KINDS[kind](rule, i), kept) for i, kept in enumerate(runs)]
        else:
            kernel = kernels.find()
            runs = list(recorded(kind, rule, count, kernel))
            names = [[flow["name"] for flow in KINDS[kind](rule, i)["flows"]] for i in range(count)]
            flags = [[name not in kept["apart"] for name in flows]
                     for flows, kept in zip(names, runs, strict=True)]  # fmt: skip
            if asked.record:
                write(kind, rule, kernel, runs)
        whole = sum(all(flag) for flag in flags)
        flows = sum(map(len, flags))
        apart = [str(i) for i, flag in enumerate(flags) if not all(flag)]
        print(f"{rule}, {kind}: {whole} of {len(flags)} scenarios equal, "
              f"{sum(map(sum, flags))} of {flows} flows; "
              f"apart: {' '.join(apart) or '-'}", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
