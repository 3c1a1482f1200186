"""Whether this machine can run real flows, and what it must look like afterwards."""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from cwndlab.live import program

ROOT = Path(__file__).resolve().parents[2]


def once_more(test: Callable[..., None]) -> Callable[..., None]:
    """Measure again where the first failed: who else uses the machine disturbs one, a fault of ours shows in both."""

    @functools.wraps(test)
    def measured(*arguments: object, **named: object) -> None:
        try:
            test(*arguments, **named)
        except AssertionError as first:
            print(f"\nmeasured again, after: {first}")
            test(*arguments, **named)

    return measured


def wake_ms() -> float:
    """Median time from a byte sent to a sleeping thread until its answer woke this one, milliseconds."""
    near, far = socket.socketpair()

    def answer() -> None:
        while byte := far.recv(1):
            far.send(byte)

    threading.Thread(target=answer, daemon=True).start()
    taken = []
    with near, far:
        for _ in range(50):
            time.sleep(0.01)
            sent_s = time.perf_counter()
            near.send(b"x")
            near.recv(1)
            taken.append(1e3 * (time.perf_counter() - sent_s))
        near.shutdown(socket.SHUT_WR)
        time.sleep(0.01)
    return median(taken)


SMALL = """
name = "small"
duration = "3s"
measure = ["1s", "3s"]

[dumbbell]
rate = "10Mbit"
delay = "10ms"
queue = { kind = "drop-tail", limit = "40pkt" }

[[flows]]
name = "flow"
rule = "kernel:reno"
"""


def missing() -> str | None:
    """Say what this machine lacks for a live run."""
    if sys.platform != "linux":
        return "live runs need Linux"
    if not program.BUILT.is_file():
        return "cwndlab-live is not built: make live"
    if os.geteuid() != 0:
        return "live runs need root"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    if shutil.which("ip") is None:
        return "no `ip` to see what is left behind (iproute2)"
    return None


def machine() -> tuple[str, str, str, str]:
    """Read what a run must leave as it was: devices, named namespaces, rules of a run, a switch of the host's."""
    links = json.loads(subprocess.run(["ip", "-j", "link"], capture_output=True, text=True, check=True).stdout)
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    ipv4 = Path("/proc/sys/net/ipv4")
    controls = (ipv4 / "tcp_available_congestion_control").read_text().split()
    ours = [name for name in controls if name.startswith("cwndlab_")]
    return str([link["ifname"] for link in links]), spaces, str(ours), (ipv4 / "tcp_ecn").read_text()


def is_running() -> bool:
    """Whether a live run is going on on this machine: it holds a name that no file has."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect("\0cwndlab-live")
        except ConnectionRefusedError:
            return False
    return True
