"""A flow alone over the emulated link cuts and grows as its rule's law says. `pytest -s` shows the
figures."""

from __future__ import annotations

import laws
import pytest
from laws import LAWS
from surroundings import measured, once_more, unless_busy
from test_kernel_rules import REASON

QUICK = 'Rule(inc="2", dec="w - 0.25*w^0.9")'
"""It cuts some six times a second, neither grows nor cuts as Linux's own rules do, and takes the
way of any formula."""


@pytest.mark.skipif(REASON is not None, reason=REASON or "")
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "rule",
    [rule if rule == QUICK else pytest.param(rule, marks=pytest.mark.nightly) for rule in LAWS],
)
@once_more
def test_a_flow_alone_keeps_its_rules_law(rule):
    with measured() as load:
        found = laws.measure(rule, 4 if rule == QUICK else 8)
    print("\n" + laws.line(found))
    with unless_busy(load, found["result"]):
        reasons = found["reasons"]
        if found["hits"] > 0:
            # The kernel skipped a callback, the guard counted it, and a sample fell between that
            # and its repair.
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


def samples(*rows: tuple[float, float]) -> laws.Samples:
    """Windows and thresholds a millisecond apart, a packet delivered in each of them."""
    cwnd, ssthresh = (list(column) for column in zip(*rows, strict=True))
    times = [laws.ONE_WAY_S + 0.0005 + 0.001 * number for number in range(len(rows))]
    return laws.Samples(times, cwnd, ssthresh, [float(number) for number in range(len(rows) + 1)])


@pytest.mark.anywhere
def test_an_episode_is_read_where_it_begins_and_where_growth_sets_in():
    # Halved from 20: reduced over a round trip, below the threshold for want of packets, and at the
    # threshold at last.
    halved = samples((20, 15), (19, 10), (14, 10), (8, 10), (9, 10), (10, 10), (10, 10), (11, 10))
    assert list(laws.episodes(halved)) == [laws.Cut(1, 7, 20, 10, 10)]
    # A reduction that ends a packet above its threshold is not taken for one that reached it.
    (cut,) = laws.episodes(samples((20, 15), (15, 10), (12, 10), (12, 10), (13, 10)))
    assert (cut.threshold, cut.after) == (10, 12)
    assert cut.off(laws.LAWS["AIMD(1, 0.5)"]) == 2.0
    # Two answers of the rule in one episode, and a cut in slow start: counted, not judged.
    assert list(laws.episodes(samples((20, 15), (15, 10), (10, 10), (8, 7), (7, 7), (8, 7)))) == [
        None
    ]
    assert list(laws.episodes(samples((20, 30), (10, 10), (11, 10)))) == [None]
    # What a skipped callback leaves until the guard's repair is no answer of the rule.
    assert list(laws.episodes(samples((20, 15), (19, 2e9), (10, 10), (11, 10)))) == [
        laws.Cut(1, 3, 20, 10, 10)
    ]


@pytest.mark.anywhere
def test_a_cut_is_not_judged_where_the_window_may_have_grown_unseen():
    law = laws.LAWS["MIMD(1.125, 0.8)"]
    # A step every eight packets. Twelve since the last, three of them after the loss, are hardly
    # more; fifteen say that another was due before the cut.
    for since, is_judged in ((12, True), (15, False)):
        course = samples((19, 15), *[(20, 15)] * since, (16, 16), (17, 16))
        (cut,) = laws.episodes(course)
        assert laws.is_seen(course, cut, law) is is_judged
    # Three milliseconds without a sample: 2.5 packets at this rate, 0.31 of a packet for the
    # window.
    course = samples((19, 15), (20, 15), (20, 15), (16, 16), (17, 16))
    (cut,) = laws.episodes(course)
    assert laws.is_seen(course, cut, law)
    course.time_s[3:] = [time_s + 0.002 for time_s in course.time_s[3:]]
    assert not laws.is_seen(course, cut, law)


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
    found = list(laws.episodes(course))
    ((grew, by_law, rounds),) = laws.stretches(course, found, laws.LAWS["AIMD(1, 0.5)"])
    assert grew == 2
    # Ten packets at 10.5, eleven at 11.5: 0.952 and 0.957 of a round trip, and a packet for each.
    assert by_law == pytest.approx(1.909, abs=0.001)
    assert rounds == pytest.approx(1.909, abs=0.001)
    # Twice the law is twice the growth, whatever the window came to.
    ((_, doubled, _),) = laws.stretches(
        course, found, laws.LAWS['Rule(inc="2", dec="w - 0.25*w^0.9")']
    )
    assert doubled == pytest.approx(2 * 1.909, abs=0.002)
