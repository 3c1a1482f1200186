"""Counts instructions a packet after parts of the engine are removed, to show how far it can go.

    python bench/removed.py

Builds five versions of one commit in a folder of its own (ten minutes) and prints a table: without
the trace hash, then also without metrics, without the order of simultaneous events, and without
bounds checks. What is left simulates the same packets of ten-mixed and does nothing else that a
feature could be blamed for. The patches of bench/removed belong to this commit; the engine of today
may differ.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import callgrind  # noqa: E402
from workloads import read  # noqa: E402

COMMIT = "a5de469"
PATCHES = ROOT / "bench" / "removed"
# What is removed, by the features of without.patch; the last one is unchecked.patch.
STEPS = (
    ("all", ()),
    ("without the trace hash", ("without-hash",)),
    ("also without metrics of links and flows", ("without-metrics",)),
    ("also without the order of simultaneous events", ("without-ties",)),
    ("also without bounds checks", ()),
)


def build(tree: Path, features: list[str]) -> Path:
    """Build the program that runs a scenario without Python; where it lies."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "cwndlab-sim", "--example", "bench"]
    subprocess.run([*command, "--features", ",".join(features)], cwd=tree, check=True)
    return tree / "target" / "release" / "examples" / "bench"


def main() -> int:
    """Print the table."""
    if reason := callgrind.missing():
        print(reason, file=sys.stderr)
        return 2
    scenario = {**read("ten-mixed"), "duration": "30s"}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", tree, COMMIT], check=True)
        try:
            features: list[str] = []
            print("| ten-mixed | instructions a packet |\n| --- | --- |")
            for number, (what, more) in enumerate(STEPS):
                patch = {0: "without.patch", len(STEPS) - 1: "unchecked.patch"}.get(number)
                if patch:
                    subprocess.run(["git", "apply", PATCHES / patch], cwd=tree, check=True)
                features += more
                counted = callgrind.count(scenario, build(tree, features))
                print(f"| {what} | {counted.instructions / counted.delivered:,.0f} |", flush=True)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", tree], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
