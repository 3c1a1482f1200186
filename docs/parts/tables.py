"""Tables of knobs, rules and environments."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import cwndlab
import cwndlab_papers as reproduce
from cwndlab import environments, native
from cwndlab.known_results import page as known_results_page
from cwndlab.quantities import rate_text
from cwndlab_papers import summary, summary_text, witness_page
from parts.text import ROOT, code, code_name, table

OFTEN_CHANGED = (
    "packet_size", "window", "initial_window", "slow_start", "pacing", "rack", "min_rto",
    "timestamps", "delayed_ack", "ecn",
)  # fmt: skip
"""The knobs that people change."""


def often_changed_knobs() -> str:
    """Table of the ten endpoint knobs that people change."""
    entries = {entry["name"]: entry for entry in native.knobs()}
    return _knob_table([entries[name] for name in OFTEN_CHANGED])


def knobs() -> str:
    """Tables of the endpoint knobs with their value in each profile, by group."""
    groups = itertools.groupby(native.knobs(), lambda entry: entry["group"])
    return "\n".join(f"### {about.rstrip('.')}\n\n{_knob_table(group)}" for about, group in groups)


def _knob_table(entries: Iterable[Mapping[str, Any]]) -> str:
    profiles = ["linux", "ns2-2.35", "rfc"]
    rows = [
        [
            code_name(entry["name"]),
            *(knob_value(entry["values"][name]) for name in profiles),
            entry["meaning"],
        ]
        for entry in entries
    ]
    return table(["knob", *profiles, "meaning"], rows)


def dated_knobs() -> str:
    """Table of the endpoint knobs whose defaults in ns-2 have changed."""
    entries = native.knobs()
    profiles = sorted(name for name in entries[0]["values"] if name.startswith("ns2-2"))
    # 2.35 is of 2011.
    profiles.sort(key=lambda name: "." in name)
    rows = [
        [code_name(entry["name"]), *(knob_value(entry["values"][name]) for name in profiles)]
        for entry in entries
        if len({str(entry["values"][name]) for name in profiles}) > 1
    ]
    return table(["knob", *profiles], rows)


def knob_value(value: object) -> str:
    """Write a knob's value as `cwndlab knobs` does."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def rules() -> str:
    """Table of the window rules."""
    rows = []
    for rule in native.rules():
        allowed = "; ".join(
            f"{p['name']}: {p['meaning']}, {p['allowed']}" for p in rule["parameters"]
        )
        rows.append([code_name(rule["notation"]), rule["summary"], allowed, rule["source"]])
    return table(["rule", "what it does", "parameters", "source"], rows)


def environment_table() -> str:
    """Table of the environments."""
    assume = environments.Assumptions()
    found = environments.ENVIRONMENTS.values()
    rows = [
        [
            code_name(entry.name),
            entry.title,
            entry.summary,
            rate_text(entry.capacity_bps(assume)),
            entry.topology,
        ]
        for entry in found
    ]
    return table(["name", "title", "residual bandwidth per test flow", "link", "topology"], rows)


def assumption_table() -> str:
    """Table of the assumptions of the environments."""
    rows = [
        [code_name(entry["name"]), code(entry["default"]), entry["meaning"], entry["reason"]]
        for entry in environments.assumptions()
    ]
    return table(["key", "value", "meaning", "reason"], rows)


def share_table() -> str:
    """Table of the bandwidth of a greedy flow under DRR, beside the intended residual bandwidth."""
    rows = []
    for name in environments.PAPER:
        if environments.ENVIRONMENTS[name].topology == "simple":
            asked, got = greedy_share(name)
            rows.append([name, f"{asked / 1e6:.3f}", f"{got / 1e6:.3f}", f"{got / asked:.3f}"])
    return table(["environment", "intended, Mb/s", "measured, Mb/s", "ratio"], rows)


def greedy_share(name: str, duration: str = "30s") -> tuple[float, float]:
    """Bandwidth per flow under DRR, bit/s.

    Intended by the environment, and measured with greedy sources.
    """
    assume = environments.Assumptions(duration=duration, profile="ns2-2.35")
    document = environments.scenario(name, queue="drr", assume=assume).to_dict()
    capacity = environments.ENVIRONMENTS[name].capacity_bps(assume)
    # Each sends twice the largest share, so its queue is always backlogged.
    greedy = {
        "name": "greedy",
        "count": assume.flows,
        "rate": rate_text(2 * capacity / assume.flows),
    }
    document |= {
        "flows": [],
        "cross": [*document.get("cross", []), {**greedy, "start": ["0s", "1s"]}],
    }
    result = cwndlab.run(document)
    # The waveform is the same with every queue; in this run the greedy sources would count as cross
    # traffic.
    asked = cwndlab.run(environments.scenario(name, assume=assume)).links["available_bps"][0]
    return asked / assume.flows, result.cross.filter(source="greedy")["delivered_bps"][
        0
    ] / assume.flows


def verdicts() -> str:
    """Write the verdicts on the papers' claims, from the data of the last full reproduction."""
    return summary_text.markdown(summary.read(ROOT / "docs"))


def margins() -> str:
    """Table of the margins of relevance."""
    rows = [
        [code_name(metric), f"{entry['margin']:g}", entry["reason"]]
        for metric, entry in reproduce.margins().items()
    ]
    return table(["metric", "margin of relevance", "reason"], rows)


def witness() -> str:
    """Write the page of the witness, from its records."""
    return witness_page.markdown(ROOT / "docs" / witness_page.FOLDER)


def known_results() -> str:
    """Write the tables of known results, from the record of the last full run."""
    return known_results_page.markdown(ROOT / "docs")


def readings() -> str:
    """Table of the numerical meaning of words in papers."""
    rows = [
        [code_name(name), entry.text, entry.meaning] for name, entry in reproduce.readings().items()
    ]
    return table(["reading", "bounds", "meaning"], rows)
