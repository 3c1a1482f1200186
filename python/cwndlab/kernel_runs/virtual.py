"""Runs a scenario with a Linux kernel in virtual time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from cwndlab.errors import RunError
from cwndlab.kernel_runs import kernels
from cwndlab.kernel_runs.kernels import Kernel
from cwndlab.kernel_runs.protocol import exchange

SIMULATOR, LINUX = "simulator", "linux"
"""Homes of a scenario: ``home`` is one of them, or ``linux:NAME``."""

Progress = Callable[[float, int], object]


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


def perform(
    document: Mapping[str, Any], kernel: Kernel, progress: Progress | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a scenario.

    Parameters
    ----------
    document : mapping
        The scenario, whatever its home.
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
    LiveError
        If the kernel cannot run the scenario.
    RunError
        If the run fails.
    """
    begun = time.perf_counter()
    request = {"scenario": dict(document), "kernel": str(kernel.binary)}
    for event in exchange("virtual", request):
        if event["event"] == "progress" and progress is not None:
            progress(event["time_s"], event["packets"])
        if event["event"] == "result":
            run: dict[str, Any] = event["run"]
            # The kernel's own clock is virtual.
            wall_s = time.perf_counter() - begun
            run.update(
                wall_s=wall_s,
                packets_per_wall_s=run["delivered_packets"] / wall_s,
                virtual_kernel={
                    "name": kernel.name, "identity": kernel.identity, "hz": kernel.hz
                },
            )  # fmt: skip
            return run, event["traces"]
    raise RunError("virtual kernel: the program ended without a result")
