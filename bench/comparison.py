"""The whole comparison of Akella et al. (2002), as a user runs it: its time and its memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RULES = ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)")
REPLICATES = 3


def measure_comparison() -> dict:
    """Four rules in 13 environments, 8 settings and 3 replicates through the command line, on all processors."""
    command = [sys.executable, "-m", "cwndlab", "compare", *RULES, "--env", "all", "--setting", "all"]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        subprocess.run(
            [*command, "--replicates", str(REPLICATES), "--out", folder], check=True, stdout=subprocess.DEVNULL
        )
        wall_s = time.perf_counter() - begin
        runs = len(list(Path(folder).glob("runs/*/run.json")))
    # Of all child processes so far the largest: the others here are small.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"runs": runs, "wall_s": wall_s, "peak_bytes": peak}


def line(done: dict) -> str:
    """Say it in one line."""
    return (
        f"compare --env all --setting all: {done['runs']} runs of 4 rules in {done['wall_s']:.0f} s"
        f" ({done['runs'] / done['wall_s']:.1f} runs/s), peak memory {done['peak_bytes'] / 2**20:.0f} MiB"
    )
