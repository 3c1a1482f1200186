"""Runs a scenario with a Linux kernel in virtual time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from cwndlab import native
from cwndlab.arguments import Simulated
from cwndlab.kernel_runs import kernels, program
from cwndlab.kernel_runs.kernels import Kernel
from cwndlab.kernel_runs.protocol import play

SIMULATOR, LINUX = "simulator", "linux"
"""Homes of a scenario: ``home`` is one of them, or ``linux:NAME``."""


def is_simulated(document: Mapping[str, Any]) -> bool:
    """Whether a scenario's home is the simulator."""
    return document.get("home", SIMULATOR) == SIMULATOR


def kernel_of(document: Mapping[str, Any]) -> Kernel:
    """Return the kernel that is a scenario's home.

    Raises
    ------
    LiveError
        If this machine does not have it.
    """
    _, _, name = str(document["home"]).partition(":")
    return kernels.find(name or None)


def twins(homes: Iterable[object]) -> list[tuple[str, str]]:
    """Return homes whose kernels have the identity of an earlier one's, with that one."""
    first: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for home in map(str, homes):
        if is_simulated({"home": home}):
            continue
        identity = kernel_of({"home": home}).identity
        if identity in first:
            found.append((first[identity], home))
        first.setdefault(identity, home)
    return found


def identity(document: Mapping[str, Any]) -> str:
    """Return what decides a run besides the scenario: the kernel, and the program in it.

    Raises
    ------
    LiveError
        If this machine lacks either.
    """
    return f"{kernel_of(document).identity} {program.digest()}"


def perform(
    document: Mapping[str, Any], kernel: Kernel, progress: Simulated | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a scenario.

    Parameters
    ----------
    document : mapping
        The scenario; its home is `kernel`, whatever it says.
    kernel : Kernel
        What runs it.
    progress : callable, optional
        Gets (seconds, packets) a hundred times; an exception it raises ends the run.

    Returns
    -------
    tuple of dict
        Fields and tables of the run, and the columns of its traces.

    Raises
    ------
    ScenarioError
        If no kernel can run a rule.
    LiveError
        If the kernel cannot run the scenario.
    RunError
        If the run fails.
    """
    homed = {**document, "home": f"{LINUX}:{kernel.name}"}
    native.Scenario(json.dumps(homed), "json").check_home()
    begun = time.perf_counter()
    request = {"scenario": homed, "kernel": str(kernel.binary)}
    run, traces = play("virtual", request, progress)
    # The kernel's own clock is virtual.
    wall_s = time.perf_counter() - begun
    run.update(
        wall_s=wall_s,
        packets_per_wall_s=run["delivered_packets"] / wall_s,
        virtual_kernel={"name": kernel.name, "identity": kernel.identity, "hz": kernel.hz},
    )
    return run, traces
