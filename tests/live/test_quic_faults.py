"""Parts of a QUIC run that die in its middle: the run says which, and nothing of it stays.

A socket is destroyed from outside, as `ss -K` does to a socket of any process (sock_diag(7), SOCK_DESTROY): its owner
is told once, with the next call, and nothing arrives there any more.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from surroundings import is_running

from cwndlab import Scenario
from cwndlab.errors import RunError
from cwndlab.live import program
from cwndlab.live.quic import quic

TWO = """
name = "two"
duration = "{seconds}s"
measure = ["1s", "{seconds}s"]

[dumbbell]
rate = "10Mbit"
delay = "10ms"

[[flows]]
name = "flow"
count = 2
rule = "AIMD(1, 0.5)"
"""
SOCKETS = ["relay to the sources", "relay to the sinks", "client 0", "client 1", "server 0", "server 1"]
"""In the order in which they are bound."""


def _destroy(port: int) -> None:
    command = ["ss", "-K", "-uan", "src", "127.0.0.1", "sport", "=", f":{port}"]
    subprocess.run(command, capture_output=True, timeout=10, check=False)


def _can_destroy() -> bool:
    """Whether sockets can be destroyed here: needs root and a kernel with CONFIG_INET_DIAG_DESTROY."""
    if sys.platform != "linux" or shutil.which("ss") is None:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as victim:
        victim.bind(("127.0.0.1", 0))
        victim.setblocking(False)
        _destroy(victim.getsockname()[1])
        try:
            victim.recv(1)
        except ConnectionAbortedError:
            return True
        except BlockingIOError:
            return False
    return False


pytestmark = [
    pytest.mark.anywhere,
    pytest.mark.skipif(not program.BUILT.is_file(), reason="cwndlab-live is not built: make live"),
]
destroys = pytest.mark.skipif(
    not _can_destroy(), reason="sockets cannot be destroyed here: root, ss, a kernel with CONFIG_INET_DIAG_DESTROY"
)


@pytest.fixture(autouse=True)
def _alone():
    """Wait for the end of somebody else's live run."""
    _until(lambda: not is_running(), 120)


def _until(condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def start(tmp_path):
    """Start a run of so many seconds by the command line; the command, the program, and the ports of its sockets."""
    started = []

    def run(seconds: int) -> tuple[subprocess.Popen[str], int, dict[str, int]]:
        (tmp_path / "two.toml").write_text(TWO.format(seconds=seconds))
        command = [sys.executable, "-m", "cwndlab", "live", "quic", "two.toml", "--json"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        _until(lambda: process.poll() is not None or len(_ports(_child(process))) == len(SOCKETS), 60)
        assert process.poll() is None, process.communicate()
        child = _child(process)
        return process, child, dict(zip(SOCKETS, _ports(child), strict=True))

    yield run
    for process in started:
        process.kill()
        process.communicate()


def _child(process: subprocess.Popen[str]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    numbers = children.read_text().split() if children.exists() else []
    return int(numbers[0]) if numbers else 0


def _ports(pid: int) -> list[int]:
    """Ports of a process's UDP sockets, in the order of their descriptors."""
    listed = subprocess.run(["ss", "-uanpH"], capture_output=True, text=True, timeout=10, check=False).stdout
    found = re.findall(rf"127\.0\.0\.1:(\d+) .*pid={pid},fd=(\d+)\)", listed)
    return [int(port) for port, descriptor in sorted(found, key=lambda row: int(row[1]))]


@destroys
@pytest.mark.parametrize("which", SOCKETS[:2])
def test_a_run_without_its_relay_ends_at_once(start, which):
    process, child, ports = start(60)
    time.sleep(1)
    begun = time.monotonic()
    _destroy(ports[which])
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < 10
    assert (process.returncode, out) == (2, ""), err
    assert re.search(r"^error: live: relay: .*abort.* \(exit code 1\)$", err.strip(), re.MULTILINE), err
    _until(lambda: not Path(f"/proc/{child}/task").exists() and not is_running(), 10)


@destroys
@pytest.mark.parametrize("whose", ["client", "server"])
def test_a_flow_without_one_end_is_named_and_the_others_go_on(start, whose):
    process, child, ports = start(5)
    time.sleep(1.5)
    _destroy(ports[f"{whose} 0"])
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert not result["valid"]
    # The lead of the run, its begin, and looking for sockets come before the 1.5 s.
    (reason,) = [reason for reason in result["reasons"] if reason.startswith('flow "')]
    found = re.fullmatch(
        rf'flow "flow-0": the socket of its {whose} was gone before the run was over; '
        r"of its data the last arrived at (\d+\.\d+) s",
        reason,
    )
    assert found, reason
    assert 1 < float(found[1]) < 4
    dead, alive = result["quic_flows"]
    assert (dead["failed"], alive["failed"]) == (reason.removeprefix('flow "flow-0": '), None)
    # With 10 Mbit/s for itself from then on; the dead flow has what it had by then.
    assert alive["stream_bytes"] > 2 * dead["stream_bytes"] > 0
    _until(lambda: not Path(f"/proc/{child}/task").exists() and not is_running(), 10)


@pytest.mark.parametrize(("files", "part"), [(5, "relay"), (8, "endpoints"), (11, "endpoints"), (12, "endpoints")])
def test_without_files_enough_the_run_ends_at_once_and_says_which_part(files, part, monkeypatch):
    # Ten are its own: three standard ones, the name that keeps others out, six sockets. What comes then is asked for by
    # threads that have started already.
    start = subprocess.Popen

    def limited(command, **named):
        limit = (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        return start(command, **named, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))

    monkeypatch.setattr(subprocess, "Popen", limited)
    begun = time.monotonic()
    with pytest.raises(RunError, match=f"live: {part}: Too many open files"):
        quic(Scenario.load(TWO.format(seconds=60)))
    assert time.monotonic() - begun < 20
