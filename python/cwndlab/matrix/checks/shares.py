"""Two equal flows share a link."""

from __future__ import annotations

from cwndlab.matrix import waveform
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import Path, rounded_s
from cwndlab.results import Result
from cwndlab.scenario import Scenario
from cwndlab.statistics import estimate

PATH = Path(10, 40)
FEW, MANY = 5, 15
"""Draws of the starts: many where a few leave it undecided."""
MEASURED_S = 60.0
SETTLED_S = 60.0
"""Before measuring, at least, also where theory has no law or the law never gets fair: eight times
as long as the synchronous model needs for AIMD(1, 0.5) here, and six of BBR's ten-second cycles."""
MOST_SETTLED_S = 600.0
WITHIN = 0.5
"""RFC 5348 section 1: a flow is "reasonably fair" if its rate is generally within a factor of two
of another's under the same conditions."""


class Shares:
    """The smaller goodput of two equal flows over the larger, whose starts are drawn."""

    name = "shares"
    at_first: int | None = FEW
    question = "Do two equal flows share a link?"
    unit = "smaller goodput over larger"
    why = (
        "within a factor of two (RFC 5348 section 1), after the time in which the rule gets fair "
        "in the synchronous model of Chiu and Jain 1989; 95 % interval over five draws of the "
        "starts, over fifteen where five leave it undecided"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return one path."""
        del profile
        return (PATH.name,)

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return two flows that start within a second, with a seed for each draw.

        Exact delays before a drop-tail queue would decide who loses. A delay drawn from up to the
        transmission time of a packet avoids it (Floyd and Jacobson, "On traffic phase effects in
        packet-switched gateways", 1992, section 3).
        """
        del case
        begin = settled_s(rule, profile)
        end = begin + MEASURED_S
        scenario = PATH.scenario(
            rule,
            profile,
            end,
            flow={"count": 2, "start": ["0s", "1s"]},
            link={"jitter": {"kind": "uniform", "high": f"{1e3 * PATH.packet_s(profile):.3f}ms"}},
            measure=[rounded_s(begin), rounded_s(end)],
        )
        return [scenario.with_seed(seed) for seed in range(1, MANY + 1)]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the mean ratio and its interval."""
        del rule, profile, case
        ratios = [ratio(result.flows["goodput_bps"].to_list()) for result in results]
        found = estimate(ratios, bounds=(0.0, 1.0))
        return Outcome(found.mean or 0.0, WITHIN, at_least=True, low=found.low, high=found.high)


def settled_s(rule: str, profile: str) -> float:
    """Time before measuring, seconds."""
    window = PATH.bdp(profile) + PATH.buffer(profile)
    found = waveform.fair_s(rule, window, PATH.full_round_s(profile))
    return SETTLED_S if found is None else min(max(found, SETTLED_S), MOST_SETTLED_S)


def ratio(goodputs: list[float]) -> float:
    """Return the smallest over the largest; 0 where nobody gets anything.

    Examples
    --------
    >>> ratio([2.0, 4.0]), ratio([0.0, 0.0])
    (0.5, 0.0)
    """
    return min(goodputs) / max(goodputs) if max(goodputs) > 0 else 0.0
