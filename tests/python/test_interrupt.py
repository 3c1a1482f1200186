"""Ctrl-C: ends what is under way, exit code 130, and leaves what is finished.

What is interrupted would compute for hours, so that it ends before `HANG_S` only because it was
interrupted. How soon, bench/responsiveness.py measures."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import cwndlab
from terminals import Terminal
from waiting import HANG_S, wait_until

MANY_HOURS = """
duration = "1e7s"
[dumbbell]
rate = "1Gbit"
delay = "20ms"
[[flows]]
name = "flow"
rule = "AIMD(1, 0.5)"
count = 100
"""
ALONE = MANY_HOURS.replace("count = 100\n", "")
"""A flow that no other event interrupts."""
MINUTES = MANY_HOURS.replace("1e7s", "36000s")
"""Of a test's own process, which nobody would stop: a run that goes on is seen by what it came to.
"""

AFTER_SOME_WORK = (
    "import signal\n"
    "signal.signal(signal.SIGVTALRM, signal.default_int_handler)\n"
    "signal.setitimer(signal.ITIMER_VIRTUAL, 1)\n"
)
"""Interrupts the process in which it runs when this has computed for a second, however long that
takes."""


def _python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=HANG_S, check=False
    )


SIGNALS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_run_stops(tmp_path, number, code, word):
    (tmp_path / "long.toml").write_text(MANY_HOURS)
    with Terminal(
        "run", "long.toml", "--json", folder=tmp_path, stdout=subprocess.PIPE
    ) as terminal:
        # Its bar says how many seconds have been simulated.
        terminal.read_until(r"[1-9]\d*\.\d/10000000\.0 s")
        terminal.process.send_signal(number)
        shown = terminal.read_to_the_end()
        assert terminal.process.wait(HANG_S) == code
        assert terminal.process.stdout.read() == ""
    assert shown.splitlines()[-1] == word


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [MANY_HOURS, ALONE], ids=["many flows", "one flow"])
def test_run_stops_where_no_bar_is_shown(tmp_path, scenario):
    (tmp_path / "long.toml").write_text(scenario)
    code = f"{AFTER_SOME_WORK}from cwndlab.cli import main\nmain(['run', 'long.toml', '--json'])\n"
    done = _python(code, tmp_path)
    *notes, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout, last) == (130, "", "interrupted")
    assert all(note.startswith("note: ") for note in notes), notes


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules", [["AIMD(1, 0.5)", "AIAD(1, 3)"], ["CUBIC", "--against", "NewReno", "--flows", "2"]]
)
@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_compare_keeps_what_is_finished(tmp_path, rules, number, code, word):
    amount = ["--duration", "1000s", "--replicates", "5000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "cwndlab", "compare", *rules, *amount, "--out", "result"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    runs = tmp_path / "result" / "runs"
    wait_until(
        lambda: len(list(runs.glob("*/run.json"))) >= 3 or process.poll() is not None, "a third run"
    )
    process.send_signal(number)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == code, err
    assert word in err.splitlines()[-1]
    assert "Traceback" not in err
    finished = sorted(runs.glob("*/run.json"))
    assert len(finished) >= 3
    table = pl.read_parquet(tmp_path / "result/runs.parquet")
    hashes = {cwndlab.Result.load(path.parent).trace_hash for path in finished}
    assert set(table["trace_hash"]) == hashes
    assert f"stopped after {table.height} of 10000 runs" in err


@pytest.mark.slow
def test_what_a_shell_runs_in_the_background_ends_on_sigterm_alone(tmp_path):
    # The shell starts it with SIGINT ignored.
    command = f"trap '' INT; exec {sys.executable} -m cwndlab run long.toml --json"
    (tmp_path / "long.toml").write_text(MANY_HOURS)
    with subprocess.Popen(
        ["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        wait_until(lambda: _handles(process.pid, signal.SIGTERM), "handler of SIGTERM")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=HANG_S)
        assert process.returncode == 143, err
    assert err.splitlines()[-1] == "terminated"


def _handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler of a signal (proc_pid_status(5), SigCgt)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    [caught] = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")]
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    "early", [False, True], ids=["a moment later", "before its thread has started"]
)
@pytest.mark.parametrize(
    "wait", [f"time.sleep({2 * HANG_S})", "subprocess.Popen(['cat'], stdin=-1).wait()"]
)
def test_an_interrupt_that_python_swallows_comes_again(tmp_path, wait, early):
    """While a module is imported many callbacks run, from which an exception goes nowhere.

    It ends either wait: for the clock, or for a child, which itself waits for its parent's end.
    """
    code = (
        "import signal, subprocess, sys, threading, time\n"
        "from cwndlab.cli.interrupt import interrupts_kept\n"
        f"early = {early}\n"
        "class Timer(threading.Timer):\n"
        "    def start(self):\n"
        "        global early\n"
        "        super().start()\n"
        "        if early:\n"
        "            self.cancel()\n"
        "            early = False\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "threading.Timer = Timer\n"
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
    done = _python(code, tmp_path)
    assert done.stdout.endswith("stopped True\n")
    assert done.stderr == ""


@pytest.mark.slow
def test_python_gets_keyboard_interrupt_from_a_long_run(tmp_path):
    """Without a call of Python's in between, such as one that shows progress."""
    (tmp_path / "long.toml").write_text(MANY_HOURS)
    code = (
        f"{AFTER_SOME_WORK}"
        "import cwndlab\n"
        "try:\n"
        "    cwndlab.run('long.toml')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    assert _python(code, tmp_path).stdout == "stopped\n"


def test_a_caller_who_stops_early_stops_the_threads(small):
    """Packets are counted: of the long run far fewer than it has, of the one after it none."""
    long, counted = cwndlab.Scenario.from_text(MINUTES), []
    scenarios = [("short", small), ("long", long), ("never", long)]
    runs = cwndlab.run_many(scenarios, jobs=2, progress=counted.append)
    assert next(runs)[0] == "short"
    runs.close()
    packets_a_second = 1e9 / 8 / 1000
    assert sum(counted) < 0.5 * 36_000 * packets_a_second


def test_an_exception_in_the_progress_call_ends_the_run():
    seen_s = []

    def progress(seconds: float, _packets: int) -> None:
        seen_s.append(seconds)
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        cwndlab.run(MINUTES, progress=progress)
    (first_s,) = seen_s
    assert first_s < 36_000
