"""A path of three network namespaces with the kernel's token bucket filter in the middle, and a
flow over it.

The path has no emulator, so it measures the congestion control alone. The namespaces are anonymous:
they, their devices and connections end with the processes that hold them, which end with this
process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from waiting import HANG_S

TOOLS = ("ip", "tc", "nsenter", "unshare", "sysctl")
PORT = 5001
# Ethernet frame of a full packet; the burst of the bucket is two frames.
FRAME_BYTES = 1514
RATE_MBIT = 20
RATE_PACKETS_S = RATE_MBIT * 1e6 / 8 / FRAME_BYTES

SINK = """
import socket, sys
listener = socket.create_server(("10.9.0.2", int(sys.argv[1])))
print("ready", flush=True)
connection, _ = listener.accept()
while connection.recv(1 << 20):
    pass
"""

# Rows: time, time since the sample before, and state, window, threshold, delivered of struct
# tcp_info (linux/tcp.h).
SOURCE = """
import json, os, socket, struct, sys, threading, time
port, name, seconds, ecn = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4]
flow = socket.socket()
flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
flow.connect(("10.9.0.2", port))
stop = threading.Event()
def feed():
    try:
        while not stop.is_set():
            flow.sendall(bytes(65536))
    except OSError:
        pass
threading.Thread(target=feed, daemon=True).start()
# This thread only samples, for about 20 of 500 microseconds. Without priority it would miss changes
# of the window on a busy machine.
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
rows, begin, last, looked = [], time.monotonic(), None, 0.0
while (now := time.monotonic() - begin) < seconds:
    info = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 196)
    row = (info[1], *(struct.unpack_from("I", info, at)[0] for at in (80, 76, 192)))
    if row != last:
        rows.append((now, now - looked, *row))
        last = row
    looked = now
    time.sleep(0.0004)
stop.set()
print(json.dumps(rows), flush=True)
"""


class Row(NamedTuple):
    """A sample of TCP_INFO: time, time since the last sample, recovery state (0 to 4), packets."""

    time_s: float
    unseen_s: float
    state: int
    cwnd: int
    ssthresh: int
    delivered: int


@dataclass
class _Namespace:
    """A process in a new network namespace, which waits for a line on standard input."""

    process: subprocess.Popen[str]

    @property
    def pid(self) -> int:
        """The process in the namespace, a child of `unshare`."""
        inside = (
            Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        )
        return int(inside[0])

    def do(self, *command: str) -> None:
        subprocess.run(
            ["nsenter", "-t", str(self.pid), "-n", *command],
            check=True,
            capture_output=True,
            timeout=HANG_S,
        )

    def go(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def missing() -> str | None:
    """The tools that this machine lacks; None if it has all."""
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    return (
        f"{', '.join(lacking)} not installed (apt-get install iproute2 procps util-linux)"
        if lacking
        else None
    )


@contextmanager
def _namespace(code: str, *arguments: str) -> Iterator[_Namespace]:
    # The process prints a word once it is in its namespace, which `nsenter` needs.
    waiting = "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\n" + code
    command = ["unshare", "-n", "--kill-child", sys.executable, "-c", waiting, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            process.stdout.readline()
            yield _Namespace(process)
        finally:
            process.kill()


def run_flow(name: str, seconds: float, *, buffer_packets: int = 60) -> list[Row]:
    """Run one flow with the congestion control `name`; return the changes of its TCP_INFO."""
    with (
        _namespace(SINK, str(PORT)) as sink,
        _namespace("") as router,
        _namespace(SOURCE, str(PORT), name, str(seconds), "") as source,
    ):
        _join(source, router, "10.9.1", "left")
        _join(router, sink, "10.9.0", "right")
        router.do("sysctl", "-qw", "net.ipv4.ip_forward=1")
        source.do("ip", "route", "add", "default", "via", "10.9.1.2")
        sink.do("ip", "route", "add", "default", "via", "10.9.0.1")
        for end in (source, sink):
            buffers = (
                "net.ipv4.tcp_wmem=4096 1000000 4000000",
                "net.ipv4.tcp_rmem=4096 4000000 8000000",
            )
            end.do("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1", *buffers)
        bucket = (
            "rate",
            f"{RATE_MBIT}mbit",
            "burst",
            str(2 * FRAME_BYTES),
            "limit",
            str(buffer_packets * FRAME_BYTES),
        )
        router.do("tc", "qdisc", "add", "dev", "right0", "root", "tbf", *bucket)
        sink.go()
        sink.process.stdout.readline()
        source.go()
        answer, _ = source.process.communicate(timeout=seconds + HANG_S)
        return [Row(*row) for row in json.loads(answer)]


def _join(near: _Namespace, far: _Namespace, network: str, device: str) -> None:
    """Connect two namespaces by a veth pair without segmentation offload."""
    ends = (f"{device}0", f"{device}1")
    near.do(
        "ip",
        "link",
        "add",
        "name",
        ends[0],
        "type",
        "veth",
        "peer",
        "name",
        ends[1],
        "netns",
        str(far.pid),
    )
    for place, (end, name) in enumerate(zip((near, far), ends, strict=True), start=1):
        end.do("ip", "addr", "add", f"{network}.{place}/24", "dev", name)
        end.do("ip", "link", "set", name, "gso_max_segs", "1", "up")
