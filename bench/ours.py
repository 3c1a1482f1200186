"""Runs of cwndlab to be timed.

In this process, in the native program without Python, in a fresh Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from workloads import text

ROOT = Path(__file__).resolve().parent.parent
# A whole run as a user of the package has it; what it prints is its largest resident memory (Linux,
# in KiB).
FRESH = """
import resource, sys, cwndlab
result = cwndlab.run(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, result.flows.height)
"""


def run(scenario: dict) -> dict:
    """Workload done and seconds taken.

    By the core (network built and run), and with all that Python is handed.
    """
    from cwndlab import native

    parsed = native.Scenario(json.dumps(scenario), "json")
    begin = time.perf_counter()
    result = parsed.run().to_json()
    whole_s = time.perf_counter() - begin
    result = json.loads(result)
    flows = result["flows"]
    sent = sum(flow["total_sent_packets"] for flow in flows)
    dropped = sum(flow["total_dropped_packets"] for flow in flows)
    return {
        "wall_s": result["wall_s"],
        "whole_s": whole_s,
        "sent": sent,
        # As of ns-2, which does not say what reached its sinks: what was not lost, with what is on
        # its way at the end.
        "delivered": sent - dropped,
        "dropped": dropped,
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "trace_hash": result["trace_hash"],
    }


@cache
def native_program(example: str = "bench") -> Path:
    """Build the program that runs a scenario without Python, with the profile of the product.

    Where it lies.
    """
    print(f"building {example}", file=sys.stderr)
    command = [
        "cargo",
        "build",
        "--release",
        "-p",
        "cwndlab-sim",
        "--example",
        example,
        "--message-format",
        "json",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-1000:]}")
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return Path(next(message["executable"] for message in messages if message.get("executable")))


def native(scenario: dict) -> dict:
    """Run in a fresh process without Python; what crates/sim/examples/bench.rs prints."""
    program = native_program()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(text(scenario))
        done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"{program.name} failed ({done.returncode}): {done.stderr.strip()[-1000:]}"
        )
    return json.loads(done.stdout)


def python_peak_bytes(scenario: dict) -> int:
    """Largest resident memory of a fresh Python that runs the scenario and makes its tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(text(scenario))
        done = subprocess.run(
            [sys.executable, "-c", FRESH, path],
            capture_output=True,
            text=True,
            check=True,
            env=fresh(),
        )
    return int(done.stdout.split()[0])


def fresh() -> dict[str, str]:
    """Environment of a process that has to find this source tree's package."""
    path = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}
