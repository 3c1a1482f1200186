"""Tests that a live run leaves nothing behind however it ends, and that unsupported settings are
refused."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from host_load import BPF_SYSCALL, SMALL, rules_in_memory

from cwndlab import Scenario
from cwndlab.errors import LiveError, ScenarioError
from cwndlab.kernel_runs import program
from cwndlab.live_runs.run import linux
from waiting import HANG_S, wait_until

LONG = SMALL.replace('"3s"', f'"{HANG_S:.0f}s"')
"""A run that ends only because something ends it."""
AUTOGROUP = Path("/proc/self/autogroup")


@pytest.fixture
def start(tmp_path):
    """Start a long run, which ends with the test."""
    started = []

    def run(scenario: str = LONG) -> subprocess.Popen[str]:
        (tmp_path / "long.toml").write_text(scenario)
        command = [sys.executable, "-m", "cwndlab", "live", "linux", "long.toml"]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def _children(process: subprocess.Popen[str]) -> list[int]:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in text.split()]


def _namespaces_of(pid: int) -> int:
    """Count the network namespaces of a process's threads."""
    links = Path(f"/proc/{pid}/task").glob("*/ns/net")
    return len({link.readlink() for link in links})


def _running(process: subprocess.Popen[str]) -> int:
    """Wait until the program runs flows in its namespaces; return its process ID."""
    wait_until(lambda: _children(process) or process.poll() is not None, "the start of the program")
    assert process.poll() is None, process.communicate()
    (child,) = _children(process)
    wait_until(lambda: _namespaces_of(child) == 3, "a run in its namespaces")
    return child


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("how", "code", "lines"),
    [
        ("interrupt the command", 130, 1),
        ("terminate the command", 143, 1),
        ("kill the command", -signal.SIGKILL, 0),
        ("terminate the program", 2, 1),
        ("kill the program", 2, 1),
    ],
)
def test_nothing_stays_behind(start, how, code, lines):
    process = start()
    child = _running(process)
    verb, _, whom = how.partition(" the ")
    number = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}[verb]
    os.kill(child if whom == "program" else process.pid, number)
    _, err = process.communicate(timeout=HANG_S)
    wait_until(lambda: not Path(f"/proc/{child}/task").exists(), "the end of the program")
    assert process.returncode == code, err
    assert len(err.strip().splitlines()) == lines, err
    # The lock is released, too: another run starts.
    assert (
        linux(Scenario.load(SMALL).patch({"duration": "0.3s", "measure": None})).duration_s == 0.3
    )


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("how", ["its end", "a kill"])
@pytest.mark.skipif(platform.machine() not in BPF_SYSCALL, reason="number of bpf(2) not known")
def test_the_kernel_forgets_a_rule_within_seconds(start, how):
    """Its connections keep a rule: closed, they would send for two minutes what was buffered."""
    if not program.ask("about")["rules_in_kernel"]:
        pytest.skip("cwndlab-live was built without rules in the kernel")
    before = rules_in_memory()
    rule = {"flows.0.rule": "AIMD(0.31, 0.875)"}
    if how == "its end":
        linux(Scenario.load(SMALL).patch({**rule, "duration": "1s", "measure": None}))
    else:
        process = start(LONG.replace("kernel:reno", rule["flows.0.rule"]))
        child = _running(process)
        wait_until(lambda: rules_in_memory() == before + 1, "the rule in the kernel")
        os.kill(child, signal.SIGKILL)
        process.communicate(timeout=HANG_S)
    wait_until(lambda: rules_in_memory() == before, "the end of the rule")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.skipif(not AUTOGROUP.exists(), reason="a kernel without autogroups")
def test_a_run_has_a_session_with_the_highest_priority(start):
    """Niceness of threads counts within the autogroup of their session only (sched(7))."""
    own = AUTOGROUP.read_text()
    process = start()
    child = _running(process)
    assert os.getsid(child) == child
    group, _, nice = Path(f"/proc/{child}/autogroup").read_text().split()
    assert nice == "-20"
    # A process without a group of its own, such as one of a service, reads nothing.
    assert group not in own.split()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_S)
    assert AUTOGROUP.read_text() == own


@pytest.mark.usefixtures("unchanged")
def test_a_second_run_at_the_same_time_is_refused(start):
    process = start()
    _running(process)
    with pytest.raises(LiveError, match="another live run is in progress"):
        linux(SMALL)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_S)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "flows.0.rule",
            "kernel:no-such",
            'rule: "kernel:no-such" is not known: expected .*kernel:reno',
        ),
        ("tcp", {"max_burst": 3}, "tcp.max_burst: has no effect on Linux"),
        ("profile", "ns2-2.35", "profile: "),
        ("trace", {"packets": True}, "trace.packets: "),
        ("linux", {"tcp_no_such": 1}, "linux.tcp_no_such: this kernel has no such setting"),
        ("linux", {"initcwnd": 0}, "linux.initcwnd: 0 is not valid: expected 1 to 65535"),
        ("flows.0.recovery", "tahoe", r'flows\[0\].recovery: "tahoe"'),
        ("flows.0.responses", {"size": 10, "think": "1s"}, r"flows\[0\].responses: "),
        ("dumbbell.tunnel", {"overhead": "50B"}, "dumbbell.tunnel: live runs do not support"),
        ("dumbbell.circuit_breaker", {"every": "5s"}, "dumbbell.circuit_breaker: live runs do not"),
    ],
)
def test_unsupported_settings_are_refused_by_name(key, value, message):
    with pytest.raises((LiveError, ScenarioError), match=message):
        linux(Scenario.load(SMALL).patch({key: value}))


def test_without_root_the_message_says_what_is_needed(tmp_path):
    (tmp_path / "request.json").write_text('{"scenario": ' + Scenario.load(SMALL).to_json() + "}")
    # A copy that other users may execute.
    copy = tmp_path / "cwndlab-live"
    copy.write_bytes(program.BUILT.read_bytes())
    copy.chmod(0o755)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    with (tmp_path / "request.json").open() as request:
        done = subprocess.run(
            [copy, "linux"],
            stdin=request,
            capture_output=True,
            text=True,
            user=65534,
            group=65534,
            timeout=HANG_S,
        )
    assert done.returncode == 2
    assert "needs root" in done.stdout
    assert "CAP_NET_ADMIN" in done.stdout


@pytest.mark.anywhere
def test_without_the_program_the_message_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(program, "BUILT", tmp_path / "none")
    with pytest.raises(LiveError, match="make live"):
        linux(SMALL)
