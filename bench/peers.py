"""One workload in every simulator that is there, all in turns: ns-2, ns-3, htsim and cwndlab."""

from __future__ import annotations

from collections.abc import Callable

import htsim_reference
import ns3_reference
import ours
from engine import run_ns2, speed
from machine import machine, versions
from settings import Settings, per_packet, ratios, spread
from workloads import Workload

# Delivered packets that differ from cwndlab's by more than this share: not alike any more. ns-3 and
# htsim have a TCP of their own.
ALIKE = 0.1


def counted(done: ns3_reference.Reference | htsim_reference.Reference) -> dict:
    """Give a run the keys of `ours.run`."""
    return {
        "wall_s": done.wall_s,
        "sent": done.sent_packets,
        "delivered": done.delivered_packets,
        "dropped": done.dropped_packets,
        "version": getattr(done, "version", None),
    }


def sides(scenario: dict, settings: Settings) -> dict[str, Callable[[], dict]]:
    """Name what can run here; cwndlab is the first."""
    found: dict[str, Callable[[], dict]] = {"cwndlab": lambda: ours.run(scenario)}
    if settings.ns2:
        found["ns-2"] = lambda: run_ns2(scenario, by_hand=settings.by_hand)
    if not ns3_reference.missing():
        folder = ours.ROOT / "out"
        ns3_reference.compiled(folder)
        found["ns-3"] = lambda: counted(ns3_reference.run(scenario, folder))
    if (program := settings.htsim) is not None:
        found["htsim"] = lambda: counted(htsim_reference.run(program, scenario))
    return found


def peers(workload: Workload, settings: Settings) -> dict:
    """Time a packet in each simulator, and what it simulated."""
    scenario = workload.scenario(settings.quick)
    present = sides(scenario, settings)
    own, *others = settings.turns(workload, *present.items())
    known = versions()
    simulators = {}
    for name, runs in zip(present, (own, *others), strict=True):
        difference = runs[0]["delivered"] / own[0]["delivered"] - 1
        simulators[name] = {
            "version": known.get(name) or runs[0].get("version"),
            **speed(runs),
            **spread("ratio", ratios(per_packet(runs), per_packet(own))),
            "difference": difference,
            "alike": abs(difference) <= ALIKE,
        }
    # It says by itself where it is from, since it can be measured without the rest.
    return {
        "machine": machine(),
        "duration": scenario["duration"],
        "simulators": simulators,
    }


def kept(old: dict | None, new: dict) -> dict:
    """Return the new entry of the record.

    With the figures on record of simulators that were not there this time, if machine and workload
    are the same.
    """
    was, now = (entry.get("figures") if entry else None for entry in (old, new))
    if not was or not now or any(was[key] != now[key] for key in ("machine", "duration")):
        return new
    stays = {
        name: {"measured": old["measured"], **found}
        for name, found in was["simulators"].items()
        if name not in now["simulators"]
    }
    return {**new, "figures": {**now, "simulators": {**now["simulators"], **stays}}}
