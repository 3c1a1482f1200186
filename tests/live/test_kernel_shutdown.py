"""Tests that the rule of `cwndlab live install --until-stopped` is unregistered however the command
ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from test_kernel_rules import REASON, available

from cwndlab.kernel_runs import program
from waiting import HANG_S, wait_until

pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

NAME = "cwl_t_held"


@pytest.fixture
def errors(tmp_path) -> Path:
    """The file with the standard error of the command."""
    return tmp_path / "errors"


@pytest.fixture
def command(errors) -> Iterator[subprocess.Popen[str]]:
    """The command, in a new process group as under a shell; it ends with the test."""
    arguments = [
        sys.executable,
        "-m",
        "cwndlab",
        "live",
        "install",
        "AIMD(1, 0.5)",
        "--name",
        NAME,
        "--until-stopped",
    ]
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True
        )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _registered(process: subprocess.Popen[str], errors: Path) -> int:
    """Wait until the rule is registered; return the process that holds it."""
    assert process.stdout.readline() == f"AIMD(1, 0.5) is {NAME}\n", errors.read_text()
    assert NAME in available()
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(child)


def _holders() -> list[str]:
    """Processes of the program that hold the rule or will register it."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(path.read_bytes().decode(errors="replace"))
    return [
        line
        for line in lines
        if line.split("\0")[0] == str(program.BUILT) and NAME in line.split("\0")
    ]


def _gone() -> bool:
    """Whether the rule is unregistered, which takes an RCU grace period."""
    return NAME not in available()


@pytest.mark.parametrize(
    ("how", "code"),
    [
        # A terminal sends Ctrl-C to the command and to its program; `kill -INT` reaches the command
        # alone.
        ("Ctrl-C", 130),
        ("interrupt the command", 130),
        ("terminate the command", 143),
        ("kill the command", -signal.SIGKILL),
        ("kill the program", 2),
    ],
)
def test_nothing_stays_registered(command, errors, how, code):
    held = Path("/run/cwndlab").exists()
    child = _registered(command, errors)
    assert len(_holders()) == 1
    if how == "Ctrl-C":
        os.killpg(command.pid, signal.SIGINT)
    elif how == "kill the program":
        os.kill(child, signal.SIGKILL)
    else:
        command.send_signal(
            {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}[
                how.split()[0]
            ]
        )
    command.communicate(timeout=HANG_S)
    said = errors.read_text()
    assert command.returncode == code, said
    assert "Traceback" not in said, said
    if how == "kill the program":
        assert NAME in said
    wait_until(lambda: not Path(f"/proc/{child}/task").exists(), "the end of the program")
    wait_until(_gone, "the end of the rule")
    assert NAME not in [entry["name"] for entry in program.ask("list")["rules"]]
    assert Path("/run/cwndlab").exists() == held
    # The name is free at once.
    again = program.Held("install", "AIMD(1, 0.5)", "--name", NAME, "--until-stopped")
    again.end()


@pytest.mark.parametrize("after_s", [0.05, 0.15, 0.25, 0.35, 0.5])
def test_an_early_interrupt_leaves_nothing_either(command, errors, after_s):
    """Interrupts while Python starts, tables are computed, or the kernel loads programs."""
    time.sleep(after_s)
    sent = 0
    while command.poll() is None:
        os.killpg(command.pid, signal.SIGINT)
        sent += 1
        wait_until(
            lambda sent=sent: command.poll() is not None or _ignored(errors) >= sent, "an end"
        )
    assert command.returncode != 0
    # A program that was being started ends when its standard input is closed.
    wait_until(lambda: not _holders(), "the end of the program")
    wait_until(_gone, "the end of the rule")
    assert NAME not in [entry["name"] for entry in program.ask("list")["rules"]]


def _ignored(errors: Path) -> int:
    """Count interrupts that Python ignored because they hit a callback during its start."""
    return errors.read_text().count("Exception ignored in")


def test_the_rule_is_unregistered_while_a_flow_uses_it(command, errors):
    """The flow continues with the rule until it closes, but no other socket can choose the rule."""
    child = _registered(command, errors)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as flow:
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, NAME.encode())
        flow.connect(server.getsockname())
        connection, _ = server.accept()
        os.kill(child, signal.SIGKILL)
        command.communicate(timeout=HANG_S)
        wait_until(_gone, "the end of the rule")
        with socket.socket() as late, pytest.raises(FileNotFoundError):
            late.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, NAME.encode())
        flow.sendall(bytes(100_000))
        received = 0
        while received < 100_000:
            received += len(connection.recv(65536))
        connection.close()
