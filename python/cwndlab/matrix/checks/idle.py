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
"""Round trips that idling costs in any case: the pipe is empty when it ends, and the last window of
the response before it could not grow."""


class Idle:
    """A response after 20 s of idling, beside a flow that never idled."""

    name = "idle"
    question = "Does a flow come back after idling as it was?"
    unit = "of the bound"
    why = (
        "window: at most that of a flow that went on sending, at equal numbers of acknowledged "
        "packets or up to one window later; idling proves nothing about the path (RFC 5681 section "
        "4.1, RFC 7661 section 4.3, RFC 9438 section 5.8). time: that in which the other flow "
        "sends as many packets, and two round trips; where cwnd restarts (idle_restart, "
        "slow_start_restart), also the round trips of slow start up to the window before"
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
        start_s, lasts_s = answers["start_s"][1], answers["fct_s"][1]
        before = idled.between(0.0, start_s)
        if case == "time":
            allowed_s = went_on.time_of(before.acknowledged[-1], SIZE) + PATH.rtt_s * (
                BEHIND + restart_rounds(profile, float(before.windows[-1]))
            )
            return Outcome(lasts_s / allowed_s, 1.0, at_least=False)
        after = idled.between(start_s, start_s + lasts_s)
        return Outcome(excess(after, went_on), 1.0, at_least=False)


def restart_rounds(profile: str, window: float) -> int:
    """Round trips of slow start from the restart window to the window before idling.

    From the initial window (RFC 5681 section 4.1) or, in ns-2, from one packet. With delayed ACKs
    the window grows by half a round trip.

    Examples
    --------
    >>> restart_rounds("rfc", 64), restart_rounds("ns2-2.35", 64), restart_rounds("linux", 64)
    (4, 6, 0)
    """
    known = knobs(profile)
    if known["slow_start_restart"]:
        first = 1.0
    elif known["idle_restart"]:
        first = float(known["initial_window"])
    else:
        return 0
    growth = 1.5 if known["delayed_ack"] else 2.0
    return max(0, math.ceil(math.log(window / first, growth)))


def excess(idled: Course, went_on: Course) -> float:
    """Return the largest ratio of a window after idling to that of the flow that went on.

    The window that is set when idling ends counts as well.
    """
    if len(idled.windows) == 0:
        return math.inf
    return float(np.max(idled.windows / (went_on.most_until(idled.acknowledged) + STEP)))
