"""What a measurement was made on, and with which versions."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import ns3_reference
import ours


def printed(command: list[str], text: str | None = None) -> str | None:
    """First line of what a program prints, if it is there and does not fail."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(
        command, cwd=ours.ROOT, input=text, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


def processor() -> str:
    """Model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown")


def memory_gib() -> float | None:
    """Memory of the machine, of which the kernel keeps a few pages more or less at each start."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError):
        return None


def machine() -> dict:
    """Describe the machine, and count the other runnable processes when the measurement begins."""
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gib": memory_gib(),
        "system": platform.system(),
    }


def versions() -> dict:
    """Versions of everything that takes part; none where it is not installed."""
    import cwndlab

    return {
        "cwndlab": cwndlab.__version__,
        "ns-2": printed(["ns"], "puts [ns-version]\nexit 0\n"),
        "ns-3": ns3_reference.version(),
        "rustc": printed(["rustc", "--version"]),
        "g++": printed(["g++", "--version"]),
        "Python": platform.python_version(),
        "valgrind": printed(["valgrind", "--version"]),
    }


def commit() -> str | None:
    """Commit of the sources, with a mark where they were changed since."""
    found = printed(["git", "rev-parse", "--short", "HEAD"])
    # What a measurement itself writes does not count as a change.
    changed = printed(
        ["git", "status", "--porcelain", "--", "crates", "python", "bench", ":!bench/results.json"]
    )
    return f"{found} with changes" if found and changed else found


def moment() -> dict:
    """When, from which sources, and how busy the machine was."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": commit(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "core": core_share(),
    }


def core_share() -> dict:
    """Measure how much of a core a process gets, steps a nanosecond.

    What neighbours leave of it shows in no load.
    """
    done = subprocess.run(
        [ours.native_program("core_share")], capture_output=True, text=True, check=True
    )
    return {chains: round(rate, 2) for chains, rate in json.loads(done.stdout).items()}
