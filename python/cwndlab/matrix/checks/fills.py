"""One flow fills an empty link."""

from __future__ import annotations

import itertools

from cwndlab.matrix import waveform
from cwndlab.matrix.checks.base import LEVEL
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import Path, knobs, rounded_s
from cwndlab.results import Result
from cwndlab.scenario import Scenario

PATHS = {
    path.name: path
    for path in itertools.starmap(Path, itertools.product((1, 20, 1000), (5, 40, 200)))
}
ROUNDS = 200
"""Round trips that are measured."""


class Fills:
    """Goodput of one flow over 200 round trips after slow start, as part of the link's."""

    name = "fills"
    at_first: int | None = None
    question = "Does one flow fill an empty link?"
    unit = "part of the link"
    why = (
        "0.9 of the utilisation of the rule's sawtooth with one BDP of buffer (Villamizar and Song "
        "1994): 1 for rules that leave half of the window or more. A rule without slow start is "
        "given its own ramp"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return the nine paths."""
        del profile
        return tuple(PATHS)

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return one flow on the path, alone."""
        path = PATHS[case]
        begin = path.slow_start_s(profile)
        end = begin + ROUNDS * path.round_s(profile)
        measure = [rounded_s(begin), rounded_s(end)]
        return [path.scenario(rule, profile, end, measure=measure)]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return goodput over the link's, and its bound."""
        path = PATHS[case]
        measured = results[0].flows["goodput_bps"][0] / path.goodput_bps(profile)
        return Outcome(measured, LEVEL * expected(rule, profile, path), at_least=True)


def expected(rule: str, profile: str, path: Path) -> float:
    """Utilisation that a rule's waveform allows on a path."""
    bdp, buffer = path.bdp(profile), path.buffer(profile)
    factor = waveform.decrease_factor(rule, bdp + buffer)
    found = waveform.sawtooth_utilisation(factor, bdp, buffer)
    ramp = waveform.RAMPS.get(waveform.family(rule))
    if ramp is not None:
        first = float(knobs(profile)["initial_window"])
        begin = path.slow_start_s(profile) / path.full_round_s(profile)
        found *= ramp.utilisation(first, bdp, begin, ROUNDS)
    return found
