"""Ctrl-C: ends at once, exit code 130, and leaves what is finished."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import cwndlab

LONG = """
duration = "36000s"
[dumbbell]
rate = "1Gbit"
delay = "20ms"
[[flows]]
name = "flow"
rule = "AIMD(1, 0.5)"
count = 100
"""


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cwndlab", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _interrupt(process: subprocess.Popen[str]) -> tuple[float, str, str]:
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return time.perf_counter() - start, out, err


def test_run_stops_at_once(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    process = _start(tmp_path, "run", "long.toml", "--json")
    time.sleep(2.5)
    assert process.poll() is None, process.communicate()
    seconds, out, err = _interrupt(process)
    assert process.returncode == 130
    assert seconds < 2
    assert out == ""
    assert err.splitlines() == ["interrupted"]


@pytest.mark.parametrize("rules", [["AIMD(1, 0.5)", "AIAD(1, 3)"], ["CUBIC", "--against", "NewReno", "--flows", "2"]])
def test_compare_keeps_what_is_finished(tmp_path, rules):
    amount = ["--duration", "300s", "--replicates", "5000"]
    process = _start(tmp_path, "compare", *rules, *amount, "--out", "result")
    runs = tmp_path / "result" / "runs"
    deadline = time.monotonic() + 60
    while len(list(runs.glob("*/run.json"))) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    seconds, _, err = _interrupt(process)
    assert process.returncode == 130
    assert seconds < 2
    assert "Traceback" not in err
    finished = sorted(runs.glob("*/run.json"))
    assert len(finished) >= 3
    table = pl.read_parquet(tmp_path / "result/runs.parquet")
    hashes = {cwndlab.Result.load(path.parent).trace_hash for path in finished}
    assert set(table["trace_hash"]) == hashes
    assert f"stopped after {table.height} of 10000 runs" in err


@pytest.mark.parametrize("wait", ["time.sleep(20)", "__import__('subprocess').run(['sleep', '20'])"])
def test_an_interrupt_that_python_swallows_comes_again(tmp_path, wait):
    """While a module is imported many callbacks run, from which an exception goes nowhere."""
    code = (
        "import signal, sys, time\n"
        "from cwndlab.cli.interrupt import interrupts_kept\n"
        "class Gone:\n"
        "    def __del__(self):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "before = sys.unraisablehook\n"
        "try:\n"
        "    with interrupts_kept():\n"
        "        Gone()\n"
        "        print('goes on', flush=True)\n"
        f"        {wait}\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', sys.unraisablehook is before)\n"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.stdout == "goes on\nstopped True\n"
    assert done.stderr == ""
    assert time.perf_counter() - start < 10


def test_python_gets_keyboard_interrupt_from_a_long_run(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    code = (
        "import cwndlab\n"
        "try:\n"
        "    print('go', flush=True)\n"
        "    cwndlab.run('long.toml')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "go\n"
    time.sleep(1.5)
    seconds, out, _ = _interrupt(process)
    assert out == "stopped\n"
    assert seconds < 2


def test_a_caller_who_stops_early_stops_the_threads(small):
    long = cwndlab.Scenario.from_text(LONG)
    runs = cwndlab.run_many([("short", small), ("long", long), ("never", long)], jobs=2)
    assert next(runs)[0] == "short"
    start = time.perf_counter()
    runs.close()
    assert time.perf_counter() - start < 2


def test_an_exception_in_the_progress_call_ends_the_run():
    def progress(_seconds: float, _packets: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        cwndlab.run(LONG, progress=progress)
