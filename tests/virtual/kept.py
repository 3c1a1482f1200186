"""Kept outputs of a kernel in virtual time.

``python tests/virtual/kept.py`` runs every scenario with the kernel ``default`` and writes them
anew; ``--compare`` lists what a kernel gives that differs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import polars as pl

from cwndlab.kernel_runs import kernels
from cwndlab.live_runs.run import linux
from virtual import scenarios

FILE = Path(__file__).with_name("kept.json.gz")
COUNTS = {"delivered": "total_delivered_packets", "sent": "total_sent_packets",
          "retransmitted": "retransmitted_packets", "goodput_bps": "goodput_bps"}  # fmt: skip


def every() -> dict[str, dict[str, Any]]:
    """All scenarios by name."""
    return {
        **scenarios.NAMED,
        **{f"single-{seed}": scenarios.single(seed) for seed in range(40)},
        **{f"pair-{seed}": scenarios.pair(seed) for seed in range(20)},
    }


NO_THRESHOLD = 2e4
"""Thresholds from here on limit nothing."""


def courses(result: Any) -> list[str]:
    """Each flow's course as a hash: which packets it sent, which ACKs it got, and cwnd and ssthresh
    before each, in order. The ACK of the SYN is left out: it finds the initial window."""
    return [hashlib.sha256("\n".join(course(result, flow)).encode()).hexdigest()[:16]
            for flow in result.flows["flow"].to_list()]  # fmt: skip


def course(result: Any, flow: str) -> list[str]:
    """A flow's course, a line per packet."""
    return [line for line, _ in timed_course(result, flow)]


def timed_course(result: Any, flow: str) -> list[tuple[str, float]]:
    """A flow's course, a line per packet and its time in seconds."""
    columns = ("event", "seq", "cwnd_packets", "ssthresh_packets", "time_s")
    rows = result.traces["packets"].filter(pl.col("flow") == flow).select(columns).rows()
    lines = []
    for event, seq, cwnd, ssthresh, time_s in rows:
        if event == "send":
            lines.append((f"{seq}", time_s))
        elif event == "ack" and seq > 0:
            lines.append((f"ack {seq} {cwnd:g} {min(ssthresh, NO_THRESHOLD):g}", time_s))
    return lines


def traced(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario with its packets traced."""
    return {**scenario, "trace": {"packets": True}}


def numbers(result: Any) -> dict[str, Any]:
    """What is kept of a run, with the kernel or simulated."""
    columns = {key: result.flows[column].to_list() for key, column in COUNTS.items()}
    return {"hash": result.trace_hash, **columns, "courses": courses(result),
            "delay_s": result.links["mean_queueing_delay_s"][0]}  # fmt: skip


def run(kernel: kernels.Kernel, scenario: dict[str, Any]) -> dict[str, Any]:
    """Run a scenario, which must be valid."""
    result = linux(traced(scenario), kernel=kernel)
    return {**numbers(result), "reasons": result.reasons}


def read() -> dict[str, Any]:
    """The kept outputs: of which kernel, and by scenario."""
    return json.loads(gzip.decompress(FILE.read_bytes()))


def main() -> None:
    """Run all scenarios, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel")
    parser.add_argument("--compare", action="store_true")
    asked = parser.parse_args()
    kernel = kernels.find(asked.kernel)
    cases = every()
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(cases, pool.map(lambda case: run(kernel, case), cases.values()),
                         strict=True))  # fmt: skip
    for name, output in found.items():
        if output["reasons"]:
            print(f"{name}: not valid: {'; '.join(output['reasons'])}")
    if asked.compare:
        kept = read()["runs"]
        different = [name for name in found if found[name]["hash"] != kept[name]["hash"]]
        print(f"{len(different)} of {len(found)} differ: {', '.join(different) or '-'}")
        return
    document = {"identity": kernel.identity, "release": kernel.release, "hz": kernel.hz,
                "runs": found}  # fmt: skip
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(found)} runs of Linux {kernel.release}, identity {kernel.identity}")


if __name__ == "__main__":
    main()
