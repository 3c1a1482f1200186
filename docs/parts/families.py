"""The sections of docs/rules.md about single rules: definition, and window on one lossy link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cwndlab import Result, Scenario, native, run
from parts.equations import law
from parts.text import ROOT, code_name, table

WINDOW = "examples/rules-window.toml"
MARKS = "examples/rules-marks.toml"
# Pictures use the parameters that `cwndlab rules` prints, except where these make a rule equal to
# another or its changes too small to see on this link. (LEDBAT's usual target, 100 ms, exceeds the
# delay of this full queue. NADA's usual rate is an eighth of this link's, but
# a larger one has a window beyond the picture.)
SHOWN = {
    "Binomial": "Binomial(0.25, 0.75, 2, 0.5)",
    "IIAD": "IIAD(50, 20)",
    "SQRT": "SQRT(5, 2)",
    "LEDBAT": "LEDBAT(0.025, 1)",
    "NADA": "NADA(rmax=500)",
    "Rule": 'Rule(inc="10*rtt", dec="max(w/2, w - 30)")',
}
# Rules with their own response to ECN marks have a second panel, with a queue that marks.
MARKED = ("DCTCP", "MRAIMD")


def families() -> dict[str, dict[str, Any]]:
    """Every family by name, in the program's order."""
    return {entry["name"]: entry for entry in native.rules()}


def of_single_flows() -> dict[str, dict[str, Any]]:
    """Every family but those that couple subflows, whose rules are NewReno for a single flow."""
    return {name: entry for name, entry in families().items() if not entry["coupled"]}


def notation(family: str) -> str:
    """Return the rule of a family that docs/rules.md shows."""
    return SHOWN.get(family) or families()[family]["example"]


def picture(family: str) -> str:
    """Path of a family's picture, from the root."""
    return f"docs/images/rule-{family.lower()}.png"


def section(family: str) -> str:
    """Write the definition of a family: summary, equations, parameters, source, picture."""
    entry = families()[family]
    shown = notation(family)
    text = f"{code_name(entry['notation'])}: {entry['summary']}.\n\n```text\n{law(family)}```\n\n"
    if entry["parameters"]:
        text += table(
            ["parameter", "meaning and unit", "allowed", "default"],
            [_row(p) for p in entry["parameters"]],
        )
    else:
        text += "No parameters.\n"
    text += f"\nSource: {entry['source']}.\n\n"
    if entry["coupled"]:
        return text.rstrip("\n") + "\n"
    marked = ", and below it with a queue that marks" if family in MARKED else ""
    return (
        text
        + f"![Window of {shown} over 60 s on one lossy link{marked}]"
        + f"(images/{picture(family)[12:]})\n"
    )


def _row(parameter: dict[str, Any]) -> list[str]:
    name = f"{parameter['name']}=" if parameter["option"] else parameter["name"]
    default = parameter["default"]
    shown = (
        "none"
        if default is None
        else f"{default:g}"
        if isinstance(default, float)
        else str(default)
    )
    return [code_name(name), parameter["meaning"], parameter["allowed"], shown]


def windows(family: str) -> Iterator[tuple[str, Result]]:
    """Run the rule of a family on the lossy link.

    With marks, too, if it has its own response to them.
    """
    scenario = Scenario.load(ROOT / WINDOW).set("flows.*.rule", notation(family))
    yield notation(family), run(scenario)
    if family in MARKED:
        marks = Scenario.load(ROOT / MARKS).set("flows.*.rule", notation(family))
        yield f"{notation(family)}, with a queue that marks", run(marks)


def events() -> str:
    """Table of the losses, delays and timeouts of each rule on the lossy link."""
    rows = []
    for family in of_single_flows():
        for _, result in list(windows(family))[:1]:
            flow, link = result.flows.row(0, named=True), result.links.row(0, named=True)
            rows.append([
                f"[{notation(family)}](#{family.lower()})",
                f"{flow['goodput_bps'] / link['rate_bps']:.2f}",
                f"{1e3 * link['mean_queueing_delay_s']:.0f}",
                f"{flow['mean_cwnd_packets']:.0f}",
                f"{flow['dropped_packets']}",
                f"{flow['fast_retransmits']}",
                f"{flow['timeouts']}",
            ])  # fmt: skip
    head = [
        "rule",
        "goodput / rate",
        "mean queueing delay, ms",
        "mean window, packets",
        "drops",
        "fast retransmits",
    ]
    return table([*head, "timeouts"], rows)
