"""What NADA (RFC 8698) does to a link and to the frames of a media source."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

import cwndlab

WIRE_BITS = 8 * 1500
"""Of a data packet: 1448 bytes with 52 of headers under the profile `linux`."""


def _calls(rules, rate="1Mbit", *, duration="80s", measure=("40s", "80s"), tcp=None, **queue):
    """Flows without end, or calls if `frames` is given, over 40 ms."""
    frames, loss = queue.pop("frames", None), queue.pop("loss", [])
    flows = [
        {"name": f"f{index}", "rule": rule}
        | ({"frames": frames} if frames else {})
        | ({"tcp": tcp} if tcp else {})
        for index, rule in enumerate(rules)
    ]
    return cwndlab.run(
        {
            "duration": duration,
            "measure": list(measure),
            "profile": "linux",
            "dumbbell": {
                "rate": rate,
                "delay": "20ms",
                "queue": {"kind": "drop-tail", "limit": "1000ms"} | queue,
                "loss": loss,
            },
            "flows": flows,
            "trace": {"rule": "100ms", "rate": "1s"},
        }
    )


def _settled(result, column, from_s=40.0):
    rows = result.traces["rule"].filter(pl.col("time_s") >= from_s)
    return rows.group_by("flow").agg(pl.col(column).mean()).sort("flow")[column].to_list()


@pytest.mark.parametrize(("rmax", "delay_s"), [(125, 0.015), (250, 0.03), (375, 0.045)])
def test_a_lone_flow_keeps_the_delay_at_which_its_rate_is_that_of_the_link(rmax, delay_s):
    """RFC 8698 section 4.3, at rest: x_offset = 0, so that x_curr = PRIO XREF RMAX / r_ref.

    The link takes 83.3 packets of 1500 bytes per second: 10 ms x rmax / 83.3 is 15 ms for the
    RFC's 1.5 Mbit/s. The delay moves by parts of a transmission, of 12 ms.
    """
    result = _calls([f"NADA(rmax={rmax})"])
    link = result.links.row(0, named=True)
    assert link["utilization"] > 0.96
    assert link["dropped_packets"] == 0
    (signal_s,) = _settled(result, "x_curr_s")
    (rate,) = _settled(result, "r_ref_packets_s")
    assert rate == pytest.approx(1e6 / WIRE_BITS, rel=0.05)
    assert signal_s == pytest.approx(delay_s, abs=0.003)


@pytest.mark.parametrize("prio", [1, 2])
def test_two_flows_share_by_priority(prio):
    """RFC 8698 section 4.3: both see one x_curr, so that r_ref is proportional to PRIO RMAX."""
    rules = [f"NADA(rmax=250, prio={prio})", "NADA(rmax=250)"]
    result = _calls(rules, "2Mbit", duration="160s", measure=("80s", "160s"))
    first, second = result.flows["goodput_bps"]
    assert first / second == pytest.approx(prio, rel=0.15)
    assert result.links["utilization"][0] > 0.97


def test_there_is_no_rest_above_50_ms_after_a_loss():
    """Two flows of rmax 250 on 83 packets/s would rest at 60 ms, of rmax 125 at 30 ms.

    Above 50 ms a delay counts less the longer it is (equation 1, where losses are recent).
    """
    lost = [{"kind": "list", "packets": [1500, 1600]}]
    dropped = {}
    for rmax in (125, 250):
        rules = [f"NADA(rmax={rmax})"] * 2
        run = _calls(rules, limit="60pkt", loss=lost, duration="160s", measure=("60s", "160s"))
        dropped[rmax] = run.links["dropped_packets"][0]
    assert dropped[125] == 0 < dropped[250]


def test_the_mode_is_accelerated_ramp_up_until_a_queue_builds():
    """From 12.5 packets/s gamma is 50/(40 + 220) = 0.19 per report.

    The gradual update adds 2 % of rmax a second.
    """
    run = _calls(["NADA(rmax=250)"], "2Mbit", duration="20s", measure=("0s", "20s"))
    trace = run.traces["rule"]
    full_s = trace.filter(pl.col("r_ref_packets_s") > 0.9 * 2e6 / WIRE_BITS)["time_s"][0]
    assert full_s < 8
    ramp_up = trace.filter(pl.col("phase").cast(pl.String) == "accelerated ramp-up")
    assert ramp_up["time_s"].max() < full_s + 2
    assert ramp_up["d_queue_s"].max() < 0.01


def test_marks_keep_the_queue_short():
    """A queue that marks from 5 ms on: the signal is marks' penalty, and nothing is lost."""
    plain = _calls(["NADA(rmax=1250)"], "5Mbit").links.row(0, named=True)
    red = {"kind": "codel", "limit": "1000pkt", "ecn": True}
    marked = _calls(["NADA(rmax=1250)"], "5Mbit", tcp={"ecn": True}, **red)
    link = marked.links.row(0, named=True)
    assert link["marked_packets"] > 0
    assert link["dropped_packets"] == 0
    assert link["mean_queueing_delay_s"] < 0.7 * plain["mean_queueing_delay_s"]
    assert _settled(marked, "p_mark")[0] > 0.001
    assert link["utilization"] > 0.8


def test_a_timeout_begins_again_with_the_least_rate():
    """The link is down from 10 to 11 s: what 500 ms send is lost, and then nothing arrives."""
    result = cwndlab.run(
        {
            "duration": "30s",
            "profile": "linux",
            "dumbbell": {
                "rate": "10Mbit",
                "delay": "20ms",
                "queue": {"kind": "drop-tail", "limit": "100pkt"},
                "outages": [{"from": "10s", "to": "11s", "arrivals": "lost"}],
            },
            "flows": [{"rule": "NADA(rmax=500)"}],
            "trace": {"rule": "100ms"},
        }
    )
    assert result.flows["timeouts"][0] > 0
    trace = result.traces["rule"]
    rate = dict(trace.select("time_s", "r_ref_packets_s").rows())
    before = max(rate[time_s] for time_s in rate if 9 < time_s < 10)
    after = min(rate[time_s] for time_s in rate if 11 < time_s < 12)
    assert before == 500
    assert after < 20
    assert max(rate.values()) == 500 == rate[max(rate)]


def test_loss_slows_down():
    """At 2 % the penalty is 40 ms, at 3 % 90 ms (equation 2): rates at rest are rmax / 4 and / 9.

    The smoothed ratio varies, and the penalty with its square: a rate is lower than at rest.
    Where 500 ms have few packets, none of them may be lost, which is accelerated ramp-up again.
    """
    rates = {}
    for loss in (0.0, 0.02, 0.03):
        scenario = {
            "duration": "120s",
            "measure": ["40s", "120s"],
            "profile": "linux",
            "dumbbell": {
                "rate": "50Mbit",
                "delay": "20ms",
                "queue": {"kind": "drop-tail", "limit": "1000pkt"},
                "loss": [{"kind": "bernoulli", "p": loss}],
            },
            "flows": [{"rule": "NADA(rmax=2500)"}],
        }
        rates[loss] = cwndlab.run(scenario).flows["goodput_bps"][0] / (8 * 1448)
    assert rates[0.0] == pytest.approx(2500, rel=0.02)
    assert rates[0.02] == pytest.approx(2500 / 4, rel=0.2)
    assert rates[0.03] == pytest.approx(2500 / 9, rel=0.3)


def test_frames_follow_the_rate():
    """The encoder of a call on 2 Mbit/s: 30 frames per second, as large as the rate allows."""
    frames = {"every": "33.333ms", "deadline": "200ms"}
    result = _calls(["NADA(rmax=250)"], "2Mbit", frames=frames)
    row = result.arrivals.row(0, named=True)
    assert row["arrived_flows"] == pytest.approx(1200, abs=2)
    assert row["late_flows"] == 0
    link = result.links.row(0, named=True)
    assert link["utilization"] > 0.9
    # 10 ms x 250 / 167 = 15 ms at rest, in transmissions of 6 ms.
    assert link["mean_queueing_delay_s"] == pytest.approx(0.015, abs=0.01)


def test_a_fixed_rate_does_not_react():
    """rmin = rmax: frames of 4 packets, 120 packets/s, over 1 Mbit/s, which takes 83."""
    frames = {"size": 4, "every": "33.333ms", "deadline": "200ms"}
    result = _calls(["NADA(rmin=1000, rmax=1000)"], frames=frames, limit="300ms")
    row, link = result.arrivals.row(0, named=True), result.links.row(0, named=True)
    assert row["late_share"] > 0.95
    assert link["utilization"] > 0.99
    assert link["dropped_packets"] > 0
    fits = _calls(["NADA(rmin=1000, rmax=1000)"], "1.5Mbit", frames=frames, limit="300ms")
    assert fits.arrivals["late_flows"][0] == 0
    assert fits.flows["goodput_bps"][0] == pytest.approx(120 * 8 * 1448, rel=0.01)


def test_a_receiver_that_delays_acks_only_where_the_scenario_says_so():
    """NADA reads delays, so that its receiver acknowledges every packet."""
    acks = {}
    for own in (None, {"delayed_ack": True}):
        result = _calls(["NADA(rmax=400)"], duration="20s", measure=("10s", "20s"), tcp=own)
        back = result.links.row(1, named=True)
        acks[own is None] = back["arrived_packets"] / result.flows["delivered_packets"][0]
    assert acks[True] == pytest.approx(1, abs=0.02)
    assert acks[False] < 0.7


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("NADA(rmin=200)", "rmin must not be above rmax"),
        ("NADA(rmax=0)", "rmax: 0 is not valid: expected a number above 0"),
        ("NADA(prio=-1)", "prio: -1 is not valid: expected a number above 0"),
        ("NADA(rate=3)", "rate"),
    ],
)
def test_a_wrong_parameter_is_named(rule, message):
    with pytest.raises(cwndlab.CwndlabError, match=message):
        cwndlab.rule(rule)


def test_equal_seeds_give_equal_runs():
    frames = {"every": "33.333ms"}
    hashes = [_calls(["NADA(rmax=250)"], frames=frames).trace_hash for _ in range(2)]
    assert all(a == b for a, b in itertools.pairwise(hashes))
