"""How far the engine is from what is thought possible."""

from __future__ import annotations

# Estimate of the least time a packet can take, from prototypes that did nothing else (two events a
# packet, no traces, no finite flows, no varying rates); one that handled each packet at its
# arrival, with one event, reached 15 ns.
FLOOR_NS = 10.0
# What the fastest of those prototypes took on the same workloads, ns a delivered packet, on another
# machine.
PROTOTYPE_NS = {
    "ten-equal": 23.0,
    "ten-mixed": 30.0,
    "thousand": 37.0,
    "hundred-thousand": 177.0,
    "ten-red": 24.0,
    "ten-drr": 49.0,
    "thousand-drr": 86.0,
}


def distances(entries: dict[str, dict]) -> tuple[list[str], list[list[str]]]:
    """Measured time a packet, as a multiple of the prototype's and of the floor."""
    rows = []
    for name, prototype_ns in PROTOTYPE_NS.items():
        figures = entries.get(name, {}).get("figures")
        if figures:
            ns = figures["ns_per_packet"]
            row = [name, f"{ns:.1f}", f"{prototype_ns:.0f}", f"{ns / prototype_ns:.1f}"]
            rows.append([*row, f"{ns - FLOOR_NS:.1f}", f"{ns / FLOOR_NS:.1f}"])
    head = [
        "workload",
        "ns a packet",
        "prototype, ns",
        "times the prototype",
        f"ns above the floor of {FLOOR_NS:g}",
    ]
    return [*head, "times the floor"], rows
