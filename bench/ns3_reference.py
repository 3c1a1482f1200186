"""Runs the 10-flow workload in ns-3: compiles ns3_reference.cc against the installed libraries."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cwndlab import Scenario
from cwndlab.ns2.network import network as built_network
from cwndlab.ns2.queues import queue

SOURCE = Path(__file__).with_suffix(".cc")
MODULES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control")


@dataclass
class Reference:
    """Seconds of the run phase, and data packets at the bottleneck."""

    wall_s: float
    sent_packets: int
    dropped_packets: int

    @property
    def delivered_packets(self) -> int:
        """Packets that were not lost; those still on the way at the end are counted in."""
        return self.sent_packets - self.dropped_packets


def version() -> str | None:
    """Version of the installed ns-3, if there is one."""
    if shutil.which("pkg-config") is None:
        return None
    found = subprocess.run(
        ["pkg-config", "--modversion", "ns3-core"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def missing() -> str | None:
    """Why ns-3 cannot run here, if it cannot."""
    for program, package in (("pkg-config", "pkg-config"), ("g++", "g++")):
        if shutil.which(program) is None:
            return f"program `{program}` (Debian package {package}) is not installed"
    return None if version() else "ns-3 (Debian package libns3-dev) is not installed"


def compiled(folder: Path) -> Path:
    """Compile the program into the folder, optimised as ns-3's own release builds are."""
    program = folder / f"ns3_reference-{version()}"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    folder.mkdir(parents=True, exist_ok=True)
    asked = ["pkg-config", "--libs", *(f"ns3-{module}" for module in MODULES)]
    given = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    # Debian's files also name libraries that ns-3 was built with; this program needs none of them.
    flags = [flag for flag in given if flag.startswith(("-lns3", "-L"))]
    command = ["g++", "-std=c++17", "-O2", "-o", str(program), str(SOURCE), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{SOURCE.name} does not compile: {done.stderr.strip()[-1000:]}")
    return program


def network(scenario: dict) -> list[str]:
    """Write a dumbbell over drop-tail as arguments of a program: ns3_reference.cc, htsim.md."""
    checked = Scenario(scenario)
    built = built_network(checked)
    link = built.link("bottleneck")
    discipline = queue(link, len(built.flows))
    assert discipline.kind == "DropTail"
    nanoseconds = [
        str(round(value))
        for flow in built.flows
        for value in (flow.access_delay_s * 1e9, (flow.start_s or 0.0) * 1e9)
    ]
    arguments = [link.rates[0][1], round(link.delay_s * 1e9), discipline.limit]
    arguments += [float(built.flows[0].access_bps or 0), checked.duration_s]
    return [*map(str, arguments), *nanoseconds]


def run(scenario: dict, folder: Path) -> Reference:
    """Run a dumbbell over drop-tail in ns-3 once."""
    command = [str(compiled(folder)), *network(scenario)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ns-3 failed ({done.returncode}): {done.stderr.strip()[-1000:]}")
    wall_us, sent, dropped = done.stdout.split()
    return Reference(int(wall_us) * 1e-6, int(sent), int(dropped))
