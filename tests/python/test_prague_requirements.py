"""The Prague requirements (RFC 9331 section 4, appendix A), a test for each that concerns a sender.

Those that no rule or endpoint here meets are tested, too: docs/l4s.md says what is missing.
"""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab

DUALPI2 = {"kind": "dualpi2", "limit": "10000pkt"}


def _run(flows, *, rate="40Mbit", delay="10ms", duration="40s", measure=("10s", "40s"), **keys):
    scenario = {
        "duration": duration,
        "measure": list(measure),
        "profile": "linux",
        "dumbbell": {"rate": rate, "delay": delay, "queue": DUALPI2} | keys.pop("dumbbell", {}),
        "flows": flows,
    }
    return cwndlab.run(scenario | keys)


def _rates(result):
    return dict(result.flows["flow", "goodput_bps"].rows())


def test_4_1_packets_have_the_l4s_identifier():
    """ECT(1) on data: all marks are of the L queue. Without ECN nothing is marked at all."""
    link = _run([{"name": "p", "rule": "Prague"}]).links.row(0, named=True)
    assert link["marked_packets"] == link["l4s_marked_packets"] > 100
    plain = _run([{"name": "p", "rule": "Prague", "tcp": {"ecn": False}}])
    assert plain.links["marked_packets"][0] == 0


@pytest.mark.parametrize("back_rate", ["40Mbit", "500kbit"])
def test_4_2_the_feedback_is_accurate(back_rate):
    """AccECN: alpha is the share of packets that the link marked, also if ACKs are lost."""
    result = _run(
        [{"name": "p", "rule": "Prague"}],
        trace={"rule": "20ms"},
        dumbbell={"back_rate": back_rate, "back_queue": {"kind": "drop-tail", "limit": "5pkt"}},
    )
    link, back = result.links.rows(named=True)
    assert (back["dropped_packets"] > 0.1 * back["arrived_packets"]) == (back_rate == "500kbit")
    alpha = result.traces["rule"].filter(pl.col("time_s") > 10)["alpha"].mean()
    share = link["marked_packets"] / link["departed_packets"]
    assert alpha == pytest.approx(share, rel=0.1)


def test_4_3_marks_per_round_trip_stay_as_the_rate_scales():
    """Scalable: ten times the rate, and as many marks a second (within a factor of 1.5).

    Reno has a tenth of them: its sawtooth lasts W/2 round trips.
    """
    marks = {}
    for rule in ("Prague", "AIMD(1, 0.5)"):
        for rate in ("20Mbit", "200Mbit"):
            result = _run(
                [{"rule": rule, "tcp": {"ecn": True}}],
                rate=rate, duration="100s", measure=("20s", "100s"),
            )  # fmt: skip
            marks[rule, rate] = result.links["marked_packets"][0] / 80
    assert 1 / 1.5 < marks["Prague", "200Mbit"] / marks["Prague", "20Mbit"] < 1.5
    assert marks["AIMD(1, 0.5)", "200Mbit"] < 0.2 * marks["AIMD(1, 0.5)", "20Mbit"]


def test_4_3_a_loss_is_answered_as_by_reno():
    """On a drop-tail queue Prague and paced Reno share the link, within a factor of 1.5."""
    rates = _rates(
        _run(
            [
                {"name": "prague", "rule": "Prague"},
                {"name": "reno", "rule": "AIMD(1, 0.5)", "tcp": {"pacing": True}},
            ],
            duration="120s",
            measure=("20s", "120s"),
            dumbbell={"queue": {"kind": "drop-tail", "limit": "1bdp"}},
        )
    )
    assert 1 / 1.5 < rates["prague"] / rates["reno"] < 1.5


def test_4_3_it_can_be_replaced_by_a_classic_rule():
    """`tcp.ecn = false` makes it one: on loss alone it is Reno, window for window."""
    windows = []
    for rule in ("Prague(rounds=1000000)", "AIMD(1, 0.5)"):
        result = _run(
            [{"rule": rule, "tcp": {"ecn": False, "initial_ssthresh": 2, "pacing": True}}],
            measure=("0s", "40s"),
            dumbbell={
                "queue": {"kind": "drop-tail", "limit": "1000pkt"},
                "loss": [{"kind": "list", "packets": [2000, 9000]}],
            },
        )
        windows.append(result.flows["mean_cwnd_packets"][0])
        assert result.flows["fast_retransmits"][0] == 2
    assert windows[0] == pytest.approx(windows[1], rel=0.02)


@pytest.mark.parametrize("kind", ["codel", "pie"])
def test_4_3_a_classic_ecn_bottleneck_is_found_with_fallback(kind):
    """Beside CUBIC in one queue that marks as RFC 3168 says, within a factor of 1.5.

    By default, as in Linux, Prague takes most.
    """

    def ratio(rule):
        flows = [
            {"name": "prague", "rule": rule},
            {"name": "cubic", "rule": "CUBIC", "tcp": {"ecn": True}},
        ]
        queue = {"kind": kind, "limit": "1000pkt", "ecn": True}
        measured = {"duration": "120s", "measure": ("20s", "120s")}
        rates = _rates(_run(flows, dumbbell={"queue": queue}, **measured))
        return rates["prague"] / rates["cubic"]

    assert ratio("Prague") > 4
    assert 1 / 1.5 < ratio("Prague(fallback=1)") < 1.5


def test_4_3_an_l4s_queue_is_not_taken_for_a_classic_one():
    """Over DualPI2 from 40 Mbit/s on, the fallback changes nothing, packet for packet."""
    flow = {"name": "cubic", "rule": "CUBIC"}
    hashes = [
        _run([{"name": "prague", "rule": rule}, flow]).trace_hash
        for rule in ("Prague", "Prague(fallback=1)")
    ]
    assert hashes[0] == hashes[1]


def test_4_3_rtt_bias_is_small_up_to_25_ms():
    """Round trips of 5 and 25 ms: rates within a factor of 1.5; without the virtual RTT above 2."""

    def bias(rule):
        near_far = [
            {"name": "near", "rule": rule, "access_delay": "0.5ms"},
            {"name": "far", "rule": rule, "access_delay": "10.5ms"},
        ]
        rates = _rates(_run(near_far, delay="2ms", duration="60s", measure=("30s", "60s")))
        return rates["near"] / rates["far"]

    assert 1 / 1.5 < bias("Prague(rounds=0)") < 1.5
    assert bias("Prague(rtt=0.0001)") > 2


def test_4_3_windows_do_not_scale_below_two_packets():
    """Not met: 40 flows on a path of 17 packets would need windows of less than a half.

    They keep two, so that the queue marks what it can and drops the rest (RFC 9332, overload).
    """
    result = _run(
        [{"rule": "Prague", "count": 40, "start": ["0s", "1s"]}],
        rate="10Mbit", duration="30s", measure=("10s", "30s"),
    )  # fmt: skip
    assert result.flows["mean_cwnd_packets"].min() > 1
    link = result.links.row(0, named=True)
    assert link["marked_packets"] > 0.7 * link["departed_packets"]
    assert link["dropped_packets"] > 0.1 * link["arrived_packets"]
    assert result.flows["timeouts"].sum() > 100


def test_4_3_reordering_is_tolerated_for_a_time():
    """RACK (profile `linux`): packets up to a quarter of the round trip late are not lost."""

    def retransmitted(tcp):
        late = {"kind": "bernoulli", "p": 0.02, "by": "4ms", "reorder": True}
        result = _run([{"rule": "Prague", "tcp": tcp}], dumbbell={"jitter": late})
        return result.flows["retransmitted_packets"][0] / result.flows["sent_packets"][0]

    assert retransmitted({}) < 0.002
    assert retransmitted({"rack": False, "tlp": False}) > 0.01


def test_5_5_bursts_are_limited():
    """After slow start a flow is paced: in 250 us no more packets than its rate has, and one."""
    result = _run(
        [{"rule": "Prague"}], rate="100Mbit", duration="12s", measure=("6s", "12s"),
        trace={"packets": True},
    )  # fmt: skip
    sent = result.traces["packets"].filter(
        (pl.col("event").cast(pl.String) == "send") & (pl.col("time_s") > 6)
    )["time_s"]
    rate = result.flows["sent_packets"][0] / 6
    burst = (sent.search_sorted(sent + 250e-6) - pl.Series(range(len(sent)))).max()
    assert burst <= 1.5 * rate * 250e-6 + 1
