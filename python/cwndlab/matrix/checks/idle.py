"""A flow comes back after idling."""

from __future__ import annotations

import math

import numpy as np

from cwndlab.matrix.checks.course import BUFFER, LOSS, PATH, Course
from cwndlab.matrix.outcomes import Outcome
from cwndlab.results import Result
from cwndlab.scenario import Scenario

SIZE, THINK_S, DURATION_S = 1500, 20.0, 90.0
"""A response takes some 15 round trips at windows of 100 packets; then there is nothing to send."""
TWIN = 4 * SIZE
"""Packets of the flow without idling: those of two responses, and as many again to look ahead."""


class Idle:
    """A response after 20 s of idling, beside a flow that never idled and beside the first one."""

    name = "idle"
    question = "Does a flow come back after idling as it was?"
    unit = "of the bound"
    why = (
        "window: at most that of a flow that went on sending, at equal numbers of acknowledged "
        "packets or up to one window later; idling proves nothing about the path (RFC 5681 section "
        "4.1, RFC 7661 section 4.3, RFC 9438 section 5.8). time: a response takes no longer than "
        "the first, which begins at the initial window and has a loss besides"
    )

    def cases(self, profile: str) -> tuple[str, ...]:
        """Return what is compared."""
        del profile
        return ("window", "time")

    def scenarios(self, rule: str, profile: str, case: str) -> list[Scenario]:
        """Return the flow that idles, and for its window the flow that does not."""
        answers = {"responses": {"size": SIZE, "think": f"{THINK_S:g}s"}}
        flows = [answers, {"packets": TWIN}] if case == "window" else [answers]
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
            for flow in flows
        ]

    def judge(self, rule: str, profile: str, case: str, results: list[Result]) -> Outcome:
        """Return the largest part of the bound."""
        del rule, profile
        answers = [
            (start, fct)
            for start, fct in results[0].traces["transfers"][["start_s", "fct_s"]].rows()
        ][:2]
        if len(answers) < 2 or any(fct is None for _, fct in answers):
            return Outcome(math.inf, 1.0, at_least=False)
        (_, first_s), (start_s, second_s) = answers
        if case == "time":
            return Outcome(second_s / first_s, 1.0, at_least=False)
        idled, went_on = map(Course.of, results)
        return Outcome(excess(idled.between(start_s, start_s + second_s), went_on), 1.0, False)


def excess(idled: Course, went_on: Course) -> float:
    """Return the largest ratio of a window after idling to that of the flow that went on.

    The window that is set when idling ends counts as well.
    """
    if len(idled.windows) == 0:
        return math.inf
    return float(np.max(idled.windows / went_on.most_until(idled.acknowledged)))
