"""Tests that a flow alone over the emulated link cuts and grows by its rule's equations. `pytest
-s` shows figures."""

from __future__ import annotations

import pytest
import rule_equations
from host_load import measured, once_more, unless_busy
from rule_equations import EQUATIONS
from test_kernel_rules import REASON

QUICK = 'Rule(inc="2", dec="w - 0.25*w^0.9")'
"""A rule with about six cuts a second that differs from Linux's congestion controls and runs as a
formula."""


@pytest.mark.skipif(REASON is not None, reason=REASON or "")
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "rule",
    [
        rule if rule == QUICK else pytest.param(rule, marks=pytest.mark.nightly)
        for rule in EQUATIONS
    ],
)
@once_more
def test_a_flow_alone_follows_its_rules_equations(rule):
    with measured() as load:
        found = rule_equations.measure(rule, 4 if rule == QUICK else 8)
    print("\n" + rule_equations.line(found))
    with unless_busy(load, found["result"]):
        reasons = found["reasons"]
        if found["hits"] > 0:
            # The kernel skipped a callback, and a sample was taken before the guard repaired it.
            reasons = [
                reason
                for reason in reasons
                if "ssthresh was above twice the largest window" not in reason
            ]
        assert reasons == []
        assert found["cuts"] >= 3
        assert found["worst"] <= 1, found["windows"]
        assert found["stretches"] >= 2
        assert abs(found["slope_error_percent"]) <= 3


def samples(*rows: tuple[float, float]) -> rule_equations.Samples:
    """Samples a millisecond apart, with one delivered packet in each."""
    cwnd, ssthresh = (list(column) for column in zip(*rows, strict=True))
    times = [rule_equations.ONE_WAY_S + 0.0005 + 0.001 * number for number in range(len(rows))]
    return rule_equations.Samples(
        times, cwnd, ssthresh, [float(number) for number in range(len(rows) + 1)]
    )


@pytest.mark.anywhere
def test_an_episode_is_read_where_it_begins_and_where_growth_begins():
    # Halved from 20: reduced over a round trip, below the threshold for lack of packets, and at the
    # threshold at the end.
    halved = samples((20, 15), (19, 10), (14, 10), (8, 10), (9, 10), (10, 10), (10, 10), (11, 10))
    assert list(rule_equations.episodes(halved)) == [rule_equations.Cut(1, 7, 20, 10, 10)]
    # A reduction that ends above its threshold counts as an error.
    (cut,) = rule_equations.episodes(samples((20, 15), (15, 10), (12, 10), (12, 10), (13, 10)))
    assert (cut.threshold, cut.after) == (10, 12)
    assert cut.off(rule_equations.EQUATIONS["AIMD(1, 0.5)"]) == 2.0
    # Two thresholds in one episode, and a cut in slow start: counted and not judged.
    assert list(
        rule_equations.episodes(samples((20, 15), (15, 10), (10, 10), (8, 7), (7, 7), (8, 7)))
    ) == [None]
    assert list(rule_equations.episodes(samples((20, 30), (10, 10), (11, 10)))) == [None]
    # The random threshold of a skipped callback is ignored.
    assert list(rule_equations.episodes(samples((20, 15), (19, 2e9), (10, 10), (11, 10)))) == [
        rule_equations.Cut(1, 3, 20, 10, 10)
    ]


@pytest.mark.anywhere
def test_a_cut_is_not_judged_where_the_window_may_have_grown_unseen():
    equations = rule_equations.EQUATIONS["MIMD(1.125, 0.8)"]
    # The window grows every eight packets. After twelve packets, three of them after the loss,
    # another increase is not due; after fifteen it was due before the cut.
    for since, is_judged in ((12, True), (15, False)):
        course = samples((19, 15), *[(20, 15)] * since, (16, 16), (17, 16))
        (cut,) = rule_equations.episodes(course)
        assert rule_equations.is_seen(course, cut, equations) is is_judged
    # Three milliseconds without a sample: 2.5 packets at this rate, 0.31 of a packet for the
    # window.
    course = samples((19, 15), (20, 15), (20, 15), (16, 16), (17, 16))
    (cut,) = rule_equations.episodes(course)
    assert rule_equations.is_seen(course, cut, equations)
    course.time_s[3:] = [time_s + 0.002 for time_s in course.time_s[3:]]
    assert not rule_equations.is_seen(course, cut, equations)


@pytest.mark.anywhere
def test_the_slope_is_growth_in_a_windows_worth_of_packets():
    # From 10 to 12 packets while 21 are delivered, ten at the first window and eleven at the
    # second.
    saw = [
        (20.0, 15.0),
        (9.0, 9.0),
        *[(10.0, 9.0)] * 10,
        *[(11.0, 9.0)] * 11,
        (12.0, 9.0),
        (6.0, 6.0),
        (7.0, 6.0),
    ]
    course = samples(*saw)
    found = list(rule_equations.episodes(course))
    ((grew, by_equations, rounds),) = rule_equations.stretches(
        course, found, rule_equations.EQUATIONS["AIMD(1, 0.5)"]
    )
    assert grew == 2
    # Ten packets at 10.5, eleven at 11.5: 0.952 and 0.957 of a round trip, and a packet for each.
    assert by_equations == pytest.approx(1.909, abs=0.001)
    assert rounds == pytest.approx(1.909, abs=0.001)
    # Twice the growth by the equation, for the same windows.
    ((_, doubled, _),) = rule_equations.stretches(
        course, found, rule_equations.EQUATIONS['Rule(inc="2", dec="w - 0.25*w^0.9")']
    )
    assert doubled == pytest.approx(2 * 1.909, abs=0.002)
