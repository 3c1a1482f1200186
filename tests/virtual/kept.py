"""Kept outputs of a kernel in virtual time.

``python tests/virtual/kept.py`` runs every scenario with the kernel ``default`` and writes them
anew; ``--compare`` lists what a kernel gives that differs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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


def numbers(result: Any) -> dict[str, Any]:
    """What is kept of a run, with the kernel or simulated."""
    columns = {key: result.flows[column].to_list() for key, column in COUNTS.items()}
    return {"hash": result.trace_hash, **columns,
            "delay_s": result.links["mean_queueing_delay_s"][0]}  # fmt: skip


def run(kernel: kernels.Kernel, scenario: dict[str, Any]) -> dict[str, Any]:
    """Run a scenario, which must be valid."""
    result = linux(scenario, kernel=kernel)
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
