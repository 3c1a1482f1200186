"""The host of live tests: whether it can run them, its load during a test, its state before and
after."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import platform
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

from cwndlab.kernel_runs import program
from cwndlab.results import Result
from waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]

STEAL_SHARE = 0.02
OTHERS_SHARE = 0.15
LATENCY_MS = 10.0
"""Limits of the figures of `Load`: beyond one of them a machine is too busy. Alone on two
processors of a virtual machine, runs of these tests found up to 0.2 %, 4 % and 6 ms."""


@dataclass
class Load:
    """The load of this machine by other processes during `measured`."""

    steal_share: float = 0.0
    """Stolen CPU time (given to other virtual machines), over all CPU time."""
    others_share: float = 0.0
    """CPU time of processes other than this one and its children, over all CPU time."""
    latency_ms: float = 0.0
    """Scheduling latency: the longest delay of a timer wake-up."""

    def disturbances(self) -> list[str]:
        """Say which figures exceed their limits."""
        figures = (
            (
                self.steal_share > STEAL_SHARE,
                f"{100 * self.steal_share:.0f} % of CPU time was stolen",
            ),
            (
                self.others_share > OTHERS_SHARE,
                f"other processes took {100 * self.others_share:.0f} % of CPU time",
            ),
            (self.latency_ms > LATENCY_MS, f"a process was woken up {self.latency_ms:.0f} ms late"),
        )
        return [text for is_too_much, text in figures if is_too_much]


# A separate process: threads of this one share the GIL.
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
    """Measure the load during the block; the figures are set at its end, in `load` if given."""
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
            # Ticks are added as floats: the quotient may exceed 1 by rounding.
            load.others_share = min(max(busy_s - ours_s, 0.0) / max(all_s, 0.01), 1.0)
            load.latency_ms = float(probe.communicate()[0])
            print(f"\n{load}")


def _processor_s() -> tuple[float, float, float, float]:
    """CPU time so far, seconds: busy, stolen, total, and of this process and its children."""
    # proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal.
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    per_s = os.sysconf("SC_CLK_TCK")
    return sum(ticks[:3]) / per_s, ticks[7] / per_s, sum(ticks) / per_s, sum(os.times()[:4])


@contextmanager
def unless_busy(load: Load, *results: Result) -> Iterator[None]:
    """Skip the test if an assertion of the block fails on a machine that was too busy.

    The figures are those of `load`, and the lateness of runs that were too late to be valid."""
    try:
        yield
    except AssertionError as failure:
        if figures := [*load.disturbances(), *filter(None, map(late, results))]:
            pytest.skip(
                f"the machine was too busy: {'; '.join(figures)}; failed: {_first_line(failure)}"
            )
        raise


def late(result: Result) -> str | None:
    """Say how late a run delivered its packets, if that was too late for it to be valid."""
    p99_s = result.health["lateness_p99_s"]
    if p99_s is None or p99_s <= program.ask("limits")["lateness_p99_s"]:
        return None
    return f"1 packet in 100 was delivered {1e3 * p99_s:.1f} ms late or later"


def _first_line(error: AssertionError) -> str:
    return (str(error).splitlines() or ["an assertion"])[0]


def once_more(test: Callable[..., None]) -> Callable[..., None]:
    """Repeat a failed test once: load of other processes rarely disturbs both attempts, an error
    fails both."""

    @functools.wraps(test)
    def again(*arguments: object, **named: object) -> None:
        try:
            test(*arguments, **named)
        except AssertionError as first:
            print(f"\nmeasured again, after: {first}")
            test(*arguments, **named)

    return again


def wake_ms() -> float:
    """Median round trip of a byte to a sleeping thread and back, milliseconds."""
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
profile = "rfc"
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
    """Say what this machine lacks for a live run; None if nothing."""
    if sys.platform != "linux":
        return "live runs need Linux"
    if not program.BUILT.is_file():
        return "cwndlab-live is not built: make live"
    if os.geteuid() != 0:
        return "live runs need root"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    if shutil.which("ip") is None:
        return "no `ip` to list devices and namespaces (iproute2)"
    return None


def machine() -> tuple[str, str, str, str]:
    """Read the state that a run must not change: devices, named namespaces, registered rules,
    tcp_ecn."""
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


def rules_in_memory() -> int:
    """Count the rules that the kernel holds, also those that no name leads to any more.

    Each has a map of kind 26, BPF_MAP_TYPE_STRUCT_OPS (linux/bpf.h).
    """
    system = ctypes.CDLL(None, use_errno=True)

    def bpf(command: int, *numbers: int, size: int) -> tuple[int, bytes]:
        attributes = ctypes.create_string_buffer(
            b"".join(number.to_bytes(4, sys.byteorder) for number in numbers), size
        )
        return system.syscall(BPF_SYSCALL[platform.machine()], command, attributes, size), (
            attributes.raw
        )

    count, number = 0, 0
    while True:
        # BPF_MAP_GET_NEXT_ID, BPF_MAP_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD.
        failed, answer = bpf(12, number, 0, 0, size=12)
        if failed:
            return count
        number = int.from_bytes(answer[4:8], sys.byteorder)
        descriptor, _ = bpf(14, number, 0, 0, size=12)
        if descriptor < 0:
            continue
        info = ctypes.create_string_buffer(88)
        address = ctypes.addressof(info)
        bpf(15, descriptor, 88, address & 0xFFFFFFFF, address >> 32, size=16)
        os.close(descriptor)
        count += int.from_bytes(info.raw[:4], sys.byteorder) == 26


BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}


def wait_for_others() -> None:
    """Wait for the end of another live run."""
    wait_until(lambda: not is_running(), "the end of another live run")


def is_running() -> bool:
    """Whether a live run is in progress on this machine: it holds an abstract socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect("\0cwndlab-live")
        except ConnectionRefusedError:
            return False
    return True
