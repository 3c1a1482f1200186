"""No window falls below its floor."""

from __future__ import annotations

from typing import Any

from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import Path
from cwndlab.results import Result
from cwndlab.scenario import Scenario

PATH = Path(10, 40)
DURATION_S = 30.0
LEAST = 1.0
"""Packets. RFC 5681 section 3.1: the loss window is one segment, and nothing asks for less."""
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a fifth is lost": ({"loss": [{"kind": "bernoulli", "p": 0.2}]}, {}),
    "every packet is marked": ({"ecn_mangling": "mark-all"}, {"ecn": True}),
    "an outage": ({"outages": [{"from": "5s", "to": "15s", "arrivals": "lost"}]}, {}),
}
"""Keys of the link and of the endpoints."""


class Floor:
    """The smallest window of one flow that is hit as hard as can be."""

    name = "floor"
    at_first: int | None = None
    question = "Does no window fall below one packet?"
    unit = "packets"
    why = "one packet, the loss window of RFC 5681 section 3.1; the knob cwnd_floor"

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return what hits the flow."""
        del profile
        return tuple(CASES)

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return one flow."""
        link, tcp = CASES[case]
        trace = {"cwnd": "all"}
        return [PATH.scenario(rule, profile, DURATION_S, link=link, tcp=tcp, trace=trace)]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the smallest window."""
        del rule, profile, case
        windows = results[0].traces["cwnd"]["cwnd_packets"].to_numpy()
        return Outcome(float(windows.min()), LEAST, at_least=True)
