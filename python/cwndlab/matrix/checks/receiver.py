"""A small receiver's window."""

from __future__ import annotations

from cwndlab.matrix.checks.base import LEVEL
from cwndlab.matrix.checks.course import BUFFER, PATH
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import payload
from cwndlab.results import Result
from cwndlab.scenario import Scenario

WINDOW = 20
"""Packets: a fortieth of the BDP."""
DURATION_S, BEGIN_S = 30.0, 10.0
"""200 round trips are measured after 100, in which one packet a round trip gives 100."""
TWICE = 2.0
"""In slow start half of the window may be in flight (Linux, `tcp_is_cwnd_limited`)."""


class Receiver:
    """One flow whose receiver never lets it have more than 20 packets in flight."""

    name = "receiver"
    at_first: int | None = None
    question = "Does a small receiver's window limit cwnd and nothing else?"
    unit = "packets; part of the window's rate"
    why = (
        "cwnd: at most twice the receiver's window, as Linux lets it grow in slow start "
        "(tcp_is_cwnd_limited), and not at all in avoidance (RFC 9438 section 5.8, RFC 7661 "
        "section 4.1). goodput: 0.9 of the receiver's window per round trip"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return what is measured."""
        del profile
        return ("cwnd", "goodput")

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return one flow."""
        return [
            PATH.scenario(
                rule,
                profile,
                DURATION_S,
                tcp={"window": WINDOW},
                buffer=BUFFER,
                measure=[f"{BEGIN_S:g}s", f"{DURATION_S:g}s"],
                **({"trace": {"cwnd": "all"}} if case == "cwnd" else {}),
            )
        ]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the largest window, or goodput over what the receiver allows."""
        del rule
        if case == "cwnd":
            windows = results[0].traces["cwnd"]["cwnd_packets"].to_numpy()
            return Outcome(float(windows.max()), TWICE * WINDOW, at_least=False)
        allowed_bps = WINDOW * payload(profile) * 8 / (PATH.rtt_s + PATH.packet_s(profile))
        return Outcome(results[0].flows["goodput_bps"][0] / allowed_bps, LEVEL, at_least=True)
