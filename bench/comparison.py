"""The whole comparison of Akella et al. (2002), as a user runs it: its time and its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ours

RULES = ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)")


def measure_comparison(replicates: int, duration: str | None) -> dict:
    """Four rules in 13 environments and 8 settings through the command line, on all processors."""
    command = [
        sys.executable,
        "-m",
        "cwndlab",
        "compare",
        *RULES,
        "--env",
        "all",
        "--setting",
        "all",
    ]
    command += ["--replicates", str(replicates), *(["--duration", duration] if duration else [])]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--out", folder], stdout=subprocess.DEVNULL, env=ours.fresh()
        )
        # Waits for this process alone, so that its memory is not that of another child.
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command[1:4])} failed ({process.returncode})")
        runs = len(list(Path(folder).glob("runs/*/run.json")))
    return {"runs": runs, "wall_s": wall_s, "peak_bytes": used.ru_maxrss * 1024}
