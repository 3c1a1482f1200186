"""Whether this machine can run real flows, what it did meanwhile, and what it must look like
afterwards."""

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from cwndlab.live import program
from cwndlab.results import Result
from waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]

STEAL_SHARE = 0.02
OTHERS_SHARE = 0.15
LATENCY_MS = 10.0
"""From which figures of `Load` on a machine is too busy. Alone on two processors of a virtual
machine, runs of these tests found up to 0.2 %, 4 % and 6 ms."""


@dataclass
class Load:
    """What others did with this machine while `measured` lasted."""

    steal_share: float = 0.0
    """Processor time that the host of this virtual machine gave to others, over all processor time.
    """
    others_share: float = 0.0
    """Processor time that processes neither ours nor our children's took, over all processor time.
    """
    latency_ms: float = 0.0
    """Scheduling latency: the longest time that a process was woken up after it had asked to be."""

    def disturbances(self) -> list[str]:
        """Say which figures are those of a machine that is too busy."""
        figures = (
            (
                self.steal_share > STEAL_SHARE,
                f"{100 * self.steal_share:.0f} % of processor time was stolen",
            ),
            (
                self.others_share > OTHERS_SHARE,
                f"others took {100 * self.others_share:.0f} % of processor time",
            ),
            (self.latency_ms > LATENCY_MS, f"a process was woken up {self.latency_ms:.0f} ms late"),
        )
        return [text for is_too_much, text in figures if is_too_much]


# A process of its own: threads of this one wait for each other.
PROBE = """
import select, sys, time
print("ready", flush=True)
worst = 0.0
while True:
    due = time.monotonic() + 0.005
    if select.select([sys.stdin], [], [], 0.005)[0]:
        break
    worst = max(worst, time.monotonic() - due)
print(1e3 * worst)
"""


@contextmanager
def measured(load: Load | None = None) -> Iterator[Load]:
    """Measure what the machine does beside the block; the figures are there after it, in `load`
    where it is given."""
    load = load or Load()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", PROBE], stdin=pipe, stdout=pipe, text=True
    ) as probe:
        probe.stdout.readline()
        before = _processor_s()
        try:
            yield load
        finally:
            busy_s, steal_s, all_s, ours_s = (
                b - a for a, b in zip(before, _processor_s(), strict=True)
            )
            load.steal_share = steal_s / max(all_s, 0.01)
            load.others_share = max(busy_s - ours_s, 0.0) / max(all_s, 0.01)
            load.latency_ms = float(probe.communicate()[0])
            print(f"\n{load}")


def _processor_s() -> tuple[float, float, float, float]:
    """Processor time so far, seconds: of all processes, stolen, in all; and of ours."""
    # proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal.
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    per_s = os.sysconf("SC_CLK_TCK")
    return sum(ticks[:3]) / per_s, ticks[7] / per_s, sum(ticks) / per_s, sum(os.times()[:4])


@contextmanager
def unless_busy(load: Load, *results: Result) -> Iterator[None]:
    """Skip where an assertion of the block misses on a machine that was too busy, with the figures
    that say so.

    They are those of `load`, and how late the runs handed over their packets where that was too
    late to be valid."""
    try:
        yield
    except AssertionError as miss:
        if figures := [*load.disturbances(), *filter(None, map(late, results))]:
            pytest.skip(
                f"the machine was too busy: {'; '.join(figures)}; missed: {_first_line(miss)}"
            )
        raise


def late(result: Result) -> str | None:
    """Say how late a run handed over its packets, where that was too late for it to be valid."""
    p99_s = result.health["lateness_p99_s"]
    if p99_s is None or p99_s <= program.ask("limits")["lateness_p99_s"]:
        return None
    return f"1 packet in 100 was handed over {1e3 * p99_s:.1f} ms late or later"


def _first_line(error: AssertionError) -> str:
    return (str(error).splitlines() or ["an assertion"])[0]


def once_more(test: Callable[..., None]) -> Callable[..., None]:
    """Measure again where the first failed: who else uses the machine disturbs one, a fault of ours
    shows in both."""

    @functools.wraps(test)
    def again(*arguments: object, **named: object) -> None:
        try:
            test(*arguments, **named)
        except AssertionError as first:
            print(f"\nmeasured again, after: {first}")
            test(*arguments, **named)

    return again


def wake_ms() -> float:
    """Median time from a byte sent to a sleeping thread until its answer woke this one,
    milliseconds."""
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
    """Read what a run must leave as it was: devices, named namespaces, rules of a run, a switch of
    the host's."""
    links = json.loads(
        subprocess.run(["ip", "-j", "link"], capture_output=True, text=True, check=True).stdout
    )
    spaces = subprocess.run(
        ["ip", "netns", "list"], capture_output=True, text=True, check=True
    ).stdout
    ipv4 = Path("/proc/sys/net/ipv4")
    controls = (ipv4 / "tcp_available_congestion_control").read_text().split()
    ours = [name for name in controls if name.startswith("cwndlab_")]
    return (
        str([link["ifname"] for link in links]),
        spaces,
        str(ours),
        (ipv4 / "tcp_ecn").read_text(),
    )


def wait_for_others() -> None:
    """Wait for the end of somebody else's live run."""
    wait_until(lambda: not is_running(), "the end of another live run")


def is_running() -> bool:
    """Whether a live run is going on on this machine: it holds a name that no file has."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect("\0cwndlab-live")
        except ConnectionRefusedError:
            return False
    return True
