"""The measurements as tables, in plain text and in Markdown: both from the same rows."""

from __future__ import annotations

from collections.abc import Callable

from workloads import MIB, WORKLOADS, Target

NS, BYTES = "{:,.1f}".format, "{:,.0f}".format


def mebibytes(value: float) -> str:
    """Memory in MiB."""
    return f"{value / MIB:,.0f} MiB"


# How a figure with a target is written: value with its unit, and what the target says.
FIGURES: dict[str, tuple[Callable[[float], str], str]] = {
    "ratio": (lambda value: f"{value:.1f} times faster than ns-2", "{:g} times"),
    "bytes_per_flow": (lambda value: f"{value:,.0f} bytes a flow above an empty run", "{:g} bytes"),
    "bytes_per_flow_python": (lambda value: f"{value:,.0f} bytes a flow with tables", "{:g} bytes"),
    "peak_bytes": (mebibytes, ""),
    "cost": (lambda value: f"{value:.2f} times the built-in rule", "{:g} times"),
    "classic_over_pie": (
        lambda value: f"{value:.2f} times PIE's instructions a packet, classic flows",
        "{:g} times",
    ),
    "l4s_over_pie": (
        lambda value: f"{value:.2f} times PIE's instructions a packet, half of the flows L4S",
        "{:g} times",
    ),
    "speed_up": (lambda value: f"{value:.2f} times faster", "{:g} times"),
    "version_s": (lambda value: f"cwndlab --version in {value:.3f} s", "{:g} s"),
    "import_s": (lambda value: f"import cwndlab in {value:.3f} s", "{:g} s"),
}

Row = list[str]
Table = tuple[Row, list[Row]]


def target_text(target: Target) -> str:
    """Say what has to be reached."""
    value, word = (target.most, "at most") if target.least is None else (target.least, "at least")
    unit = FIGURES[target.figure][1]
    return f"{word} {unit.format(value) if unit else mebibytes(value)}"


def verdict(entry: dict, target: Target, value: float) -> str:
    """Whether the target is met; a run with --quick or on a scaled workload shows nothing."""
    if entry.get("quick"):
        return "not judged (--quick)"
    if target.figure == "ratio" and not entry["figures"].get("same_work", True):
        return "not the same workload"
    word = "met" if target.met(value) else "NOT MET"
    # A single run of ns-2 has no fastest.
    if word == "NOT MET" and target.figure == "ratio" and several(entry["figures"]):
        word += f", {fastest(entry['figures']):.1f} times in the fastest run of each"
    return (
        f"{word}, {entry['figures']['note']}"
        if target.figure == "ratio" and "note" in entry["figures"]
        else word
    )


def several(found: dict) -> bool:
    """Whether ns-2 ran more than once."""
    return found.get("ns2_ns_per_packet_least", 0) < found.get("ns2_ns_per_packet_most", 0)


def fastest(found: dict) -> float:
    """Ratio of the fastest run of each program.

    Neighbours on a shared machine only ever add time.
    """
    return found["ns2_ns_per_packet_least"] / found["ns_per_packet_least"]


def targets(entries: dict[str, dict]) -> Table:
    """Every target with what was measured."""
    rows = []
    for workload in WORKLOADS:
        entry = entries.get(workload.name)
        for target in workload.targets if entry else ():
            value = entry.get("figures", {}).get(target.figure)
            if value is None:
                rows.append(
                    [workload.name, workload.what, "-", target_text(target), why_not(entry, target)]
                )
            else:
                shown = FIGURES[target.figure][0](value)
                rows.append(
                    [
                        workload.name,
                        workload.what,
                        shown,
                        target_text(target),
                        verdict(entry, target, value),
                    ]
                )
        if entry and not workload.targets and entry.get("skipped"):
            rows.append([workload.name, workload.what, "-", "none", f"skipped: {entry['skipped']}"])
    return ["workload", "what", "measured", "target", ""], rows


def why_not(entry: dict, target: Target) -> str:
    """Why a figure with a target is not there."""
    if entry.get("skipped"):
        return f"skipped: {entry['skipped']}"
    if entry.get("failed"):
        return "failed"
    return "skipped: ns-2 is not installed" if target.figure == "ratio" else "not measured"


def speeds(entries: dict[str, dict]) -> Table:
    """Time a packet beside ns-2, and what was simulated on both sides."""
    head = [
        "workload",
        "ns a packet",
        "ns-2, ns a packet",
        "ratio, median",
        "least to most",
        "fastest of each",
        "packets",
        "ns-2",
        "loss",
        "ns-2",
    ]
    rows = []
    for name, found in measured(entries, "versus", "alone"):
        row = [name, NS(found["ns_per_packet"])]
        if "ratio" in found:
            row += [NS(found["ns2_ns_per_packet"]), f"{found['ratio']:.1f}"]
            row += [f"{found['ratio_least']:.1f} to {found['ratio_most']:.1f}"]
            row += [f"{fastest(found):.1f}"]
        else:
            row += ["-"] * 4
        for key, form in (("delivered_packets", BYTES), ("loss_rate", "{:.5f}".format)):
            row += [form(found[key]), form(found[f"ns2_{key}"]) if f"ns2_{key}" in found else "-"]
        rows.append(row)
    return head, rows


def scale(entries: dict[str, dict]) -> Table:
    """Many flows: time and memory."""
    rows = []
    for name, found in measured(entries, "hundred_thousand"):
        rows += [
            [name, "time a packet, network built and run", f"{NS(found['ns_per_packet'])} ns"],
            [name, "memory a flow, whole process", f"{BYTES(found['bytes_per_flow'])} bytes"],
            [
                name,
                "memory a flow up to the end of the run, before results",
                f"{BYTES(found['bytes_per_flow_run'])} bytes",
            ],
            [
                name,
                "memory a flow, through Python, results as tables",
                f"{BYTES(found['bytes_per_flow_python'])} bytes",
            ],
        ]
        if "ratio" in found:
            flows = BYTES(found["ns2_flows"])
            rows += [
                [
                    name,
                    f"ns-2 with {flows} flows, time a packet",
                    f"{NS(found['ns2_ns_per_packet'])} ns",
                ],
                [
                    name,
                    f"ns-2 with {flows} flows, memory a flow",
                    f"{BYTES(found['ns2_bytes_per_flow'])} bytes",
                ],
                [
                    name,
                    f"ratio, {found['ratio_least']:.1f} to {found['ratio_most']:.1f}",
                    f"{found['ratio']:.1f}",
                ],
            ]
        if "note" in found:
            rows.append([name, "ratio", found["note"]])
    for name, found in measured(entries, "million"):
        rows += [
            [name, "time a packet, network built and run", f"{NS(found['ns_per_packet'])} ns"],
            [name, "a tenth of it, in the same run", f"{NS(found['tenth_ns_per_packet'])} ns"],
            [name, "packets delivered", BYTES(found["delivered_packets"])],
            [name, "the whole run", f"{found['wall_s']:.1f} s"],
            [name, "memory at most", mebibytes(found["peak_bytes"])],
        ]
    for name, found in measured(entries, "arrivals"):
        rows += [
            [name, "flows that arrived", BYTES(found["arrived_flows"])],
            [name, "cost of a flow of 12 packets", f"{NS(found['ns_per_flow'])} ns"],
            [name, "cost of a packet", f"{NS(found['ns_per_packet'])} ns"],
            [
                name,
                "memory for each flow more, over twice the time",
                f"{found['more_bytes_per_more_flow']:.1f} bytes",
            ],
        ]
    return ["workload", "what", "measured"], rows


def costs(entries: dict[str, dict]) -> Table:
    """Lay out what is not the engine: rules, traces, threads, processes."""
    rows = []
    for name, found in measured(entries, "formula", "python_rule", "traced"):
        both = f"{NS(found['ns_per_packet'])} and {NS(found['built_in_ns_per_packet'])} ns a packet"
        rows.append(
            [
                name,
                f"{found['cost']:.2f} times ({found['cost_least']:.2f} to "
                f"{found['cost_most']:.2f})",
                both,
            ]
        )
    for name, found in measured(entries, "over_pie"):
        for kind, flows in (("classic", "Reno flows"), ("l4s", "Reno and Prague flows")):
            each = [f"{found[f'{kind}_{queue}_instructions']:,.0f}" for queue in ("dualpi2", "pie")]
            rows.append(
                [
                    name,
                    f"{found[f'{kind}_over_pie']:.2f} times",
                    f"{flows}, {each[0]} and {each[1]} instructions a packet",
                ]
            )
    for name, found in measured(entries, "sweep"):
        times = (
            f"{found['speed_up']:.2f} times ({found['speed_up_least']:.2f} to "
            f"{found['speed_up_most']:.2f})"
        )
        rows.append(
            [name, times, f"{found['runs']} runs, {found['one_thread_s']:.2f} s on one thread"]
        )
    for name, found in measured(entries, "steps"):
        size = f"{found['packets_a_step']} packets a step"
        longer = f"steps of {found['longer_step']}"
        for key, of in (
            ("steps_s", f"one copy, {size}"),
            ("steps_64_s", f"64 copies, {size}"),
            ("steps_64_threads_s", f"64 copies on two threads, {size}"),
            ("longer_64_s", f"64 copies, {longer}"),
            ("longer_64_threads_s", f"64 copies on two threads, {longer}"),
        ):
            what = f"{of} ({found[f'{key}_least']:,.0f} to {found[f'{key}_most']:,.0f})"
            rows.append([name, f"{found[key]:,.0f} steps a second", what])
    for name, found in measured(entries, "start_up"):
        for what, key in (
            ("cwndlab --version", "version_s"),
            ("import cwndlab", "import_s"),
            ("Python alone", "python_s"),
        ):
            rows.append([name, f"{found[key]:.3f} s", what])
    for name, found in measured(entries, "comparison"):
        rate = f"{found['runs'] / found['wall_s']:.1f} runs a second"
        rows.append(
            [
                name,
                f"{found['wall_s']:.0f} s",
                f"{found['runs']} runs, {rate}, at most {mebibytes(found['peak_bytes'])}",
            ]
        )
    return ["workload", "measured", "what"], rows


def peers(entries: dict[str, dict]) -> Table:
    """One workload in several simulators, whose TCPs are not the same."""
    head = [
        "simulator",
        "version",
        "ns a packet",
        "least to most",
        "times cwndlab's",
        "least to most",
        "packets",
        "against cwndlab's",
        "loss",
        "commit of cwndlab",
    ]
    rows = []
    for name, found in measured(entries, "peers"):
        for simulator, one in found["simulators"].items():
            own = simulator == "cwndlab"
            # No minus before a zero.
            difference = round(one["difference"], 3) + 0
            alike = f"{difference:+.1%}{'' if one['alike'] else ', not alike'}"
            rows.append(
                [
                    simulator,
                    one["version"] or "unknown",
                    NS(one["ns_per_packet"]),
                    f"{NS(one['ns_per_packet_least'])} to {NS(one['ns_per_packet_most'])}",
                    "1" if own else f"{one['ratio']:.1f}",
                    "-" if own else f"{one['ratio_least']:.1f} to {one['ratio_most']:.1f}",
                    BYTES(one["delivered_packets"]),
                    "-" if own else alike,
                    f"{one['loss_rate']:.5f}",
                    str(one.get("measured", entries[name]["measured"])["commit"]),
                ]
            )
    return head, rows


def stages(profile: dict[str, dict], before: dict[str, dict] | None = None) -> Table:
    """Instructions a packet by stage and their share, behind those of an earlier profile."""

    def a_packet(name: str, found: dict) -> float:
        count = found["instructions"] if name == "all" else found["stages"][name]
        return count / found["packets"]

    def cell(name: str, workload: str, found: dict) -> str:
        now = f"{a_packet(name, found):,.0f}"
        earlier = (before or {}).get(workload)
        if earlier and (name == "all" or name in earlier["stages"]):
            now = f"{a_packet(name, earlier):,.0f} → {now}"
        share = a_packet(name, found) / a_packet("all", found)
        return now if name == "all" else f"{now} ({share:.0%})"

    names = list(next(iter(profile.values()))["stages"]) if profile else []
    rows = [
        [name, *(cell(name, workload, found) for workload, found in profile.items())]
        for name in [*names, "all"]
    ]
    return ["stage, instructions a packet", *profile], rows


def measured(entries: dict[str, dict], *measures: str) -> list[tuple[str, dict]]:
    """Names and figures of the workloads of these kinds that were measured."""
    names = [workload.name for workload in WORKLOADS if workload.measure in measures]
    return [
        (name, entries[name]["figures"]) for name in names if entries.get(name, {}).get("figures")
    ]


TABLES = {"targets": targets, "speeds": speeds, "peers": peers, "scale": scale, "costs": costs}


def plain(table: Table) -> str:
    """Lay out a table for a terminal."""
    head, rows = table
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    return "\n".join(lines)
