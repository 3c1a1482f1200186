"""A flow comes back after an outage."""

from __future__ import annotations

from cwndlab.matrix import waveform
from cwndlab.matrix.checks import fills
from cwndlab.matrix.checks.base import LEVEL
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import LOST_RTO_S, Path, knob_s, rounded_s
from cwndlab.results import Result
from cwndlab.scenario import Scenario

PATH = Path(10, 40)
DOWN_S, LASTS_S = 20.0, 5.0
AFTER_A_TIMEOUT = 2.0
"""The least ssthresh after timeouts, packets (RFC 5681 section 3.1, equation 4)."""
CASES = {"packets are lost": "lost", "packets wait": "wait"}


class Outage:
    """Goodput after an outage of five seconds, once there was time to come back."""

    name = "outage"
    at_first: int | None = None
    question = "Does a flow come back after an outage?"
    unit = "part of the link"
    why = (
        "the bound of `fills`, over 200 round trips. They begin after the outage's length and an "
        "RTO, because the RTO doubles (RFC 6298 section 5.5), and the round trips in which the "
        "rule grows from ssthresh 2 (RFC 5681 section 3.1) to the BDP"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return what happens to packets meanwhile."""
        del profile
        return tuple(CASES)

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return one flow whose link is down for a while."""
        up = DOWN_S + LASTS_S
        begin = up + back_s(rule, profile)
        end = begin + fills.ROUNDS * PATH.round_s(profile)
        outage = {"from": f"{DOWN_S:g}s", "to": f"{up:g}s", "arrivals": CASES[case]}
        measure = [rounded_s(begin), rounded_s(end)]
        return [PATH.scenario(rule, profile, end, link={"outages": [outage]}, measure=measure)]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return goodput over the link's."""
        del case
        measured = results[0].flows["goodput_bps"][0] / PATH.goodput_bps(profile)
        bdp, buffer = PATH.bdp(profile), PATH.buffer(profile)
        factor = waveform.decrease_factor(rule, bdp + buffer)
        allowed = waveform.sawtooth_utilisation(factor, bdp, buffer)
        return Outcome(measured, LEVEL * allowed, at_least=True)


def back_s(rule: str, profile: str) -> float:
    """Time from the end of the outage after which the flow must have come back, seconds."""
    rto_s = max(knob_s(profile, "min_rto"), LOST_RTO_S) + PATH.full_round_s(profile)
    rounds = waveform.rounds_between(rule, AFTER_A_TIMEOUT, PATH.bdp(profile))
    return LASTS_S + rto_s + rounds * PATH.full_round_s(profile)
