"""Tests of failures during a QUIC run: the run names the part that failed and leaves nothing
behind.

The tests destroy sockets from outside by `ss -K` (sock_diag(7), SOCK_DESTROY): the next call of the
owner returns an error, and no more datagrams arrive."""

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
from host_load import Load, is_running, measured, unless_busy

from cwndlab import Scenario
from cwndlab.errors import RunError
from cwndlab.kernel_runs import program
from cwndlab.live_runs.quic import quic
from waiting import HANG_S, wait_until

TWO = """
name = "two"
duration = "{seconds}s"
profile = "rfc"

[dumbbell]
rate = "10Mbit"
delay = "10ms"

[[flows]]
name = "flow"
count = 2
rule = "AIMD(1, 0.5)"
"""
SOCKETS = [
    "relay to the sources",
    "relay to the sinks",
    "client 0",
    "client 1",
    "server 0",
    "server 1",
]
"""In the order in which they are bound."""
FOREVER_S = int(HANG_S)
"""Duration of a run that ends only by a failure."""


def _destroy(port: int) -> None:
    command = ["ss", "-K", "-uan", "src", "127.0.0.1", "sport", "=", f":{port}"]
    subprocess.run(command, capture_output=True, timeout=HANG_S, check=False)


def _can_destroy() -> bool:
    """Whether sockets can be destroyed here: needs root and CONFIG_INET_DIAG_DESTROY."""
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
    pytest.mark.usefixtures("alone"),
    pytest.mark.skipif(not program.BUILT.is_file(), reason="cwndlab-live is not built: make live"),
]
destroys = pytest.mark.skipif(
    not _can_destroy(),
    reason="sockets cannot be destroyed here: root, ss, a kernel with CONFIG_INET_DIAG_DESTROY",
)


@pytest.fixture
def start(tmp_path):
    """Start a run by the command line; return the command, the program and the ports of its
    sockets."""
    started = []

    def run(seconds: int) -> tuple[subprocess.Popen[str], int, dict[str, int]]:
        (tmp_path / "two.toml").write_text(TWO.format(seconds=seconds))
        command = [sys.executable, "-m", "cwndlab", "live", "quic", "two.toml", "--json"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        wait_until(
            lambda: process.poll() is not None or len(_ports(_child(process))) == len(SOCKETS),
            "the sockets of a run",
        )
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
    listed = subprocess.run(
        ["ss", "-uanpH"], capture_output=True, text=True, timeout=HANG_S, check=False
    ).stdout
    found = re.findall(rf"127\.0\.0\.1:(\d+) .*pid={pid},fd=(\d+)\)", listed)
    return [int(port) for port, descriptor in sorted(found, key=lambda row: int(row[1]))]


def _is_over(child: int) -> bool:
    return not Path(f"/proc/{child}/task").exists() and not is_running()


@destroys
@pytest.mark.parametrize("which", SOCKETS[:2])
def test_a_run_without_its_relay_ends_and_says_so(start, which):
    process, child, ports = start(FOREVER_S)
    time.sleep(0.5)
    _destroy(ports[which])
    out, err = process.communicate(timeout=HANG_S)
    # No result: the run did not continue to its end.
    assert (process.returncode, out) == (2, ""), err
    assert re.search(
        r"^error: live: relay: .*abort.* \(exit code 1\)$", err.strip(), re.MULTILINE
    ), err
    wait_until(lambda: _is_over(child), "the end of the program")


@destroys
@pytest.mark.parametrize("whose", ["client", pytest.param("server", marks=pytest.mark.nightly)])
def test_a_flow_that_loses_a_socket_is_named_and_the_others_continue(start, whose):
    load = Load()
    # On a busy machine the run may be over before its sockets were found, or one was destroyed.
    with unless_busy(load), measured(load):
        process, child, ports = start(4)
        time.sleep(1)
        _destroy(ports[f"{whose} 0"])
        out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, err
    result = json.loads(out)
    with unless_busy(load):
        assert not result["valid"]
        reason = next(
            (reason for reason in result["reasons"] if reason.startswith('flow "')),
            "none of a flow",
        )
        found = re.fullmatch(
            rf'flow "flow-0": the socket of its {whose} was closed before the end of the run; '
            r"data last arrived at (\d+\.\d+) s",
            reason,
        )
        assert found, reason
        # Finding the sockets takes a moment.
        assert 0.5 < float(found[1]) < 3
        failed, alive = result["quic_flows"]
        assert (failed["failed"], alive["failed"]) == (reason.removeprefix('flow "flow-0": '), None)
        # The other flow has 10 Mbit/s alone from then on; the failed flow keeps its bytes.
        assert alive["stream_bytes"] > 2 * failed["stream_bytes"] > 0
    wait_until(lambda: _is_over(child), "the end of the program")


@pytest.mark.parametrize(
    ("files", "part"), [(5, "relay"), (8, "endpoints"), (11, "endpoints"), (12, "endpoints")]
)
def test_without_enough_file_descriptors_the_run_ends_and_names_the_part(files, part, monkeypatch):
    # The program opens ten descriptors: three standard ones, the lock and six sockets. Threads open
    # the others.
    start = subprocess.Popen

    def limited(command, **named):
        limit = (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        return start(
            command, **named, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        )

    monkeypatch.setattr(subprocess, "Popen", limited)
    with pytest.raises(RunError, match=f"live: {part}: Too many open files"):
        quic(Scenario.load(TWO.format(seconds=FOREVER_S)))
