"""How soon cwndlab starts, and how soon Ctrl-C and SIGTERM end it.

    python bench/responsiveness.py [--repetitions N]

Start-up is the workload ``start-up`` of `make bench`. The signals are sent to `cwndlab run` (of 100
flows, and of one at 10 Gbit/s), `compare` and `sweep` while they compute; the time is until the
process has ended, with what was finished written. Each median has its target. Measure on a quiet
machine.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "python")]

import costs  # noqa: E402
import ours  # noqa: E402
from settings import Settings  # noqa: E402
from tables import plain  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

END_S = 0.5
"""Target: from Ctrl-C to the end of the process."""
BEFORE_RUN_S = 2.0
"""`cwndlab run` does not say without a terminal when it has begun to simulate: it has by then."""
POLL_S = 0.01
NETWORK = {
    "dumbbell": {"rate": "1Gbit", "delay": "20ms"},
    "flows": [{"name": "flow", "rule": "AIMD(1, 0.5)", "count": 100}],
}
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]


def begun_run(folder: Path) -> tuple[list[str], Callable[[], bool]]:
    """One run that takes hours, and whether it is under way."""
    (folder / "long.json").write_text(json.dumps({**NETWORK, "duration": "1e7s"}))
    begin = time.perf_counter()
    return ["run", "long.json", "--json"], lambda: time.perf_counter() - begin > BEFORE_RUN_S


def begun_run_alone(folder: Path) -> tuple[list[str], Callable[[], bool]]:
    """Run one flow that fills 10 Gbit/s and that no other event interrupts."""
    alone = {"dumbbell": {"rate": "10Gbit", "delay": "20ms"}, "flows": [{"rule": RULES[0]}]}
    (folder / "long.json").write_text(json.dumps({**alone, "duration": "1e7s"}))
    begin = time.perf_counter()
    return ["run", "long.json", "--json"], lambda: time.perf_counter() - begin > BEFORE_RUN_S


def begun_compare(folder: Path) -> tuple[list[str], Callable[[], bool]]:
    """Ten thousand runs of a second, and whether three of them are done."""
    command = ["compare", *RULES, "--duration", "1000s", "--replicates", "5000", "--out", "result"]
    return command, lambda: len(list(folder.glob("result/runs/*/run.json"))) >= 3


def begun_sweep(folder: Path) -> tuple[list[str], Callable[[], bool]]:
    """Two million short runs, and whether some of them are stored."""
    base = {**NETWORK, "duration": "1s", "flows": [{"rule": RULES[0]}]}
    sweep = {"base": base, "axes": {"rule": RULES}, "replicates": 1_000_000}
    (folder / "sweep.json").write_text(json.dumps(sweep))
    stored = folder / "store" / "journal"
    return ["sweep", "sweep.json", "--store", "store"], lambda: any(
        path.stat().st_size > 20_000 for path in stored.glob("*")
    )


COMMANDS = {
    "run": begun_run,
    "run (one flow)": begun_run_alone,
    "compare": begun_compare,
    "sweep": begun_sweep,
}
SIGNALS = {"Ctrl-C": (signal.SIGINT, 130), "SIGTERM": (signal.SIGTERM, 143)}


def end_s(name: str, by: str) -> float:
    """Seconds from a signal to the end of a command."""
    number, expected = SIGNALS[by]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command, has_begun = COMMANDS[name](folder)
        with subprocess.Popen(
            [sys.executable, "-m", "cwndlab", *command],
            cwd=folder, env=ours.fresh(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            while not has_begun():
                if process.poll() is not None:
                    raise RuntimeError(f"{name}: ended by itself, exit code {process.returncode}")
                time.sleep(POLL_S)
            begin = time.perf_counter()
            process.send_signal(number)
            code = process.wait()
            seconds = time.perf_counter() - begin
    if code != expected:
        raise RuntimeError(f"{name}: exit code {code} after {by}")
    return seconds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repetitions", type=int, default=5, metavar="N", help="of each (default 5)"
    )
    repetitions = parser.parse_args().repetitions
    # A shell that starts this in the background has it ignore Ctrl-C, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    workload = next(workload for workload in WORKLOADS if workload.name == "start-up")
    found = costs.start_up(workload, Settings(repetitions))
    commands = {"version_s": "cwndlab --version", "import_s": "import cwndlab"}
    measured = [
        (commands[target.figure], [found[target.figure]], target.most)
        for target in workload.targets
    ]
    for by in SIGNALS:
        for name in COMMANDS:
            print(f"{by}: {name}", file=sys.stderr)
            measured.append(
                (f"{by} ends cwndlab {name}", [end_s(name, by) for _ in range(repetitions)], END_S)
            )

    rows = []
    for what, seconds, most in measured:
        median = statistics.median(seconds)
        longest = f"{max(seconds):.3f} s" if len(seconds) > 1 else ""
        verdict = "met" if median <= most else "NOT MET"
        rows.append([what, f"{median:.3f} s", longest, f"at most {most:g} s", verdict])
    print(plain((["what", "median", "most", "target", ""], rows)))


if __name__ == "__main__":
    main()
