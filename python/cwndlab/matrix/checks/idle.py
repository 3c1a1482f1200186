"""A flow comes back after idling."""

from __future__ import annotations

import math

import numpy as np

from cwndlab.matrix.checks.course import BUFFER, LOSS, PATH, Course
from cwndlab.matrix.outcomes import Outcome
from cwndlab.matrix.path import knobs
from cwndlab.results import Result
from cwndlab.scenario import Scenario

SIZE, THINK_S, DURATION_S = 1500, 20.0, 90.0
"""A response takes some 15 round trips at windows of 100 packets; then nothing is to be sent."""
TWIN = 4 * SIZE
"""Packets of the flow without idling: those of two responses, and as many again to look ahead."""
STEP = 1.0
"""Packets by which slow start may pass ssthresh: a window grows a packet at a time."""
BEHIND = 2
"""Round trips that idling costs in any case. The pipe is empty when it ends, and the last window of
the response before could not grow; or, against the first response, slow start goes no further than
ssthresh, where the first one went to twice as much."""


class Idle:
    """A response after 20 s of idling, beside a flow that never idled."""

    name = "idle"
    at_first: int | None = None
    question = "Does a flow come back after idling as it was?"
    unit = "of the bound"
    why = (
        "window: at most that of a flow that went on sending, at equal numbers of acknowledged "
        "packets or up to one window later; idling proves nothing about the path (RFC 5681 section "
        "4.1, RFC 7661 section 4.3, RFC 9438 section 5.8). time: that in which the other flow "
        "sends as many packets, and two round trips; where cwnd restarts (RFC 5681 section 4.1), "
        "that of the first response, which began as low, and two round trips"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return what is compared."""
        del profile
        return ("window", "time")

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return the flow that idles, and the flow that does not."""
        del case
        answers = {"responses": {"size": SIZE, "think": f"{THINK_S:g}s"}}
        return [
            PATH.scenario(
                rule,
                profile,
                DURATION_S,
                flow=flow,
                link={"loss": [LOSS]},
                buffer=BUFFER,
                trace={"cwnd": "all"},
            )
            for flow in (answers, {"packets": TWIN})
        ]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the largest part of the bound."""
        del rule
        answers = results[0].traces["transfers"].head(2)
        if answers.height < 2 or answers["fct_s"].null_count():
            return Outcome(math.inf, 1.0, at_least=False)
        idled, went_on = map(Course.of, results)
        (_, start_s), (first_s, lasts_s) = answers["start_s"], answers["fct_s"]
        if case == "window":
            after = idled.between(start_s, start_s + lasts_s)
            return Outcome(excess(after, went_on), 1.0, at_least=False)
        before = idled.between(0.0, start_s).acknowledged[-1]
        once_s = first_s if restarts(profile) else went_on.time_of(before, SIZE)
        return Outcome(lasts_s / (once_s + BEHIND * PATH.rtt_s), 1.0, at_least=False)


def restarts(profile: str) -> bool:
    """Whether cwnd restarts after idling.

    Examples
    --------
    >>> restarts("rfc"), restarts("ns2-2.35"), restarts("linux")
    (True, True, True)
    """
    return bool(knobs(profile)["idle_restart"] or knobs(profile)["slow_start_restart"])


def excess(idled: Course, went_on: Course) -> float:
    """Return the largest ratio of a window after idling to that of the flow that went on.

    The window that is set when idling ends counts as well.
    """
    if len(idled.windows) == 0:
        return math.inf
    return float(np.max(idled.windows / (went_on.most_until(idled.acknowledged) + STEP)))
