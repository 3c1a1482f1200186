"""Tables of `cwndlab live`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.cli.output import print_line, print_table, say
from cwndlab.cli.run_tables import print_sums, print_tables, scaled

if TYPE_CHECKING:
    from cwndlab.live_runs.result import LiveResult
    from cwndlab.results import Result

LATENESS = ("late p50\n[ms]", "late p99\n[ms]", "late max\n[ms]")
"""Headings of `lateness`."""


def print_live(result: Result) -> None:
    """Print the tables of a run, how well the emulation kept up, and whether the run is valid."""
    print_tables(result)
    health, kernel = result.health, result.kernel
    columns = ["packets", *LATENESS, "lost\noutside", "broken", "CPU\n[%]"]
    lost = health["refused_packets"] + sum(
        end["dropped_packets"] for end in result.namespaces.values()
    )
    broken = health["broken_packets"] + sum(
        end["broken_packets"] for end in result.namespaces.values()
    )
    cpu = scaled(health["cpu_share"], 100, 1)
    row = [str(health["released_packets"]), *lateness(health), str(lost), str(broken), cpu]
    print_table(f"Emulator, beside {kernel}", columns, [row], text_columns=0)
    rules = [
        [rule["rule"], rule["name"], str(rule["skipped_callbacks"])] for rule in result.kernel_rules
    ]
    if rules:
        print_table(
            "Rules in the kernel", ["rule", "name", "skipped\ncallbacks"], rules, text_columns=2
        )
    least = [[row["flow"], scaled(row["min_rtt_s"], 1e3, 3), scaled(row["wire_min_rtt_s"], 1e3, 3)]
             for row in result.kernel_flows[:20]]  # fmt: skip
    base = dict(result.flows.select("flow", "base_rtt_s").iter_rows())
    least = [[name, f"{base[name] * 1e3:.3f}", *rest] for name, *rest in least]
    columns = ["flow", "propagation\n[ms]", "kernel's least\n[ms]", "least on the wire\n[ms]"]
    print_table("RTTs", columns, least)
    print_verdict(result, "emulation", "live.md")


def print_verdict(result: Result, network: str, document: str) -> None:
    """Print the numbers of the whole run, and whether it is valid.

    `network` is the name of its network, `document` the file that explains validity.
    """
    print_sums(result)
    if kernel := result.fields.get("virtual_kernel"):
        print_line(
            f"kernel {kernel['name']}, identity {kernel['identity']}, HZ {kernel['hz']}; seed "
            f"{result.fields['seed']}, trace hash {result.fields['trace_hash']}"
        )
    if result.valid:
        print_line(f"valid: the {network} kept up, and nothing was lost outside it")
    else:
        print_line(f"NOT valid: {'; '.join(result.reasons)}")
        say(
            "do not rely on this run: see the reasons above "
            f"(docs/{document}, what makes a run valid)"
        )


def print_beside(live: LiveResult) -> None:
    """Print where the live run is among the simulated ones."""
    from cwndlab.tables import number

    assert live.simulated is not None, "it was asked for"
    judged, count = live.judged, len(live.simulated)
    rows = [
        [one.metric.title, number(one.mean, one.metric), one.spread,
         number(one.live, one.metric), one.says]
        for one in judged
    ]  # fmt: skip
    seeds = [run.fields["seed"] for run in live.simulated]
    print_table(
        f"Beside {count} simulated runs, seeds {seeds[0]} to {seeds[-1]}, "
        f"host jitter {live.simulated.host_jitter}",
        ["", "simulated\n(mean)", "95 % of\nsuch runs", "live", "live is"],
        rows,
    )
    print_line(live.verdict)


def lateness(health: dict[str, Any]) -> list[str]:
    """Columns under `LATENESS`: how late packets were released."""
    return [scaled(health[f"lateness_{what}_s"], 1e3, 3) for what in ("p50", "p99", "max")]
