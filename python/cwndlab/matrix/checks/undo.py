"""What was undone leaves no trace."""

from __future__ import annotations

import numpy as np

from cwndlab.matrix.checks.course import BUFFER, LOSS, PATH, Course
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import knobs
from cwndlab.results import Result
from cwndlab.scenario import Scenario

SPIKE_S, LASTS_S, BY_S = 2.0, 0.6, 2.0
"""ACKs stop for two seconds. A tail loss probe follows after two round trips (RFC 8985 section
7.2), and the RTO after it: 300 ms where the round trip is 100 ms (srtt and its least variance term
of 200 ms in Linux), below a second where the rule makes a queue. What was sent arrives, late."""
BEGIN_S, END_S, DURATION_S = 6.0, 10.0, 11.0
"""What was late has arrived and is acknowledged by 4.7 s: from 6 s on, 40 round trips. The flows go
on for as long as the other one's window is looked up later."""


class Undo:
    """The window after a spurious timeout, beside a flow without the delay that caused it."""

    name = "undo"
    at_first: int | None = None
    question = "Does a reduction that was undone leave no trace?"
    unit = "of the bound"
    why = (
        "RFC 4015 section 3.2: cwnd and ssthresh as before the spurious timeout. lost: no smaller "
        "than the other flow's within the last window of packets, at equal numbers of acknowledged "
        "packets. gained: no larger than the other's up to one window later. Or as the other's at "
        "the same time, give or take a round trip, because some rules go by time"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return both directions, in profiles that undo."""
        return ("lost", "gained") if knobs(profile)["undo"] else ()

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return the flow with the delay spike, and the one without."""
        del case
        up, down = f"{SPIKE_S:g}s", f"{SPIKE_S + LASTS_S:g}s"
        spike = {"kind": "steps", "points": [[up, f"{BY_S:g}s"], [down, "0s"]]}
        return [
            PATH.scenario(
                rule,
                profile,
                DURATION_S,
                link={"loss": [LOSS], **jitter},
                buffer=BUFFER,
                trace={"cwnd": "all"},
            )
            for jitter in ({"jitter": spike}, {})
        ]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the smallest or largest part of the other flow's window."""
        del rule, profile
        undone, other = map(Course.of, results)
        after = undone.between(BEGIN_S, END_S)
        if results[0].flows["timeouts"][0] == 0 or len(after.windows) == 0:
            # Nothing was there to be undone.
            return Outcome(np.nan, 1.0, at_least=case == "lost")
        if case == "lost":
            return Outcome(lost(after, other), 1.0, at_least=True)
        return Outcome(gained(after, other), 1.0, at_least=False)


def lost(after: Course, other: Course) -> float:
    """Return the smallest ratio of a window to the other flow's smallest one just before."""
    bound = np.minimum(other.least_since(after.acknowledged), np.minimum(*at_about(after, other)))
    return float(np.min(after.windows / bound))


def gained(after: Course, other: Course) -> float:
    """Return the largest ratio of a window to the other flow's largest one just after."""
    bound = np.maximum(other.most_until(after.acknowledged), np.maximum(*at_about(after, other)))
    return float(np.max(after.windows / bound))


def at_about(after: Course, other: Course) -> tuple[np.ndarray, np.ndarray]:
    """Return the other flow's window a round trip before and after the same time."""
    before, later = (other.at_time(after.times + way * PATH.rtt_s) for way in (-1, 1))
    return before, later
