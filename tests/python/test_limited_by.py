"""`limited_by_...` shows defects of the past, which a rule or a key brings back.

Each would have been seen at once: a flow whose cwnd or receiver's window limits it for the whole
run, on a link that is nearly idle.
"""

from __future__ import annotations

import pytest

from cwndlab import dumbbell, run

LINK = {"rate": "20Mbit", "delay": "20ms"}
"""67 packets of 1500 bytes fill it."""


class Ledbat:
    """LEDBAT (RFC 6817, section 2.4.2); the queueing delay is the RTT above the least one."""

    def allowed(self, ack):
        """Return what was in flight before the ACK, and one more (`max_allowed_cwnd`)."""
        return ack.in_flight_packets + ack.acked_packets + 1

    def increase(self, cwnd, ack):
        off_target = (0.1 - (ack.rtt_s - ack.min_rtt_s)) / 0.1
        return max(min(cwnd + off_target * ack.growth_packets / cwnd, self.allowed(ack)), 2)

    def slow_start(self, cwnd, ack):
        from cwndlab import Leave

        return Leave(self.increase(cwnd, ack))

    def decrease(self, cwnd, _signal):
        return max(cwnd / 2, 2)


class AskedPerPacket(Ledbat):
    """The same, as when a rule was asked for each packet of an ACK: it saw one acknowledged."""

    def allowed(self, ack):
        return ack.in_flight_packets + 1 + 1


def _one(rule, *, duration="40s", profile="linux", tcp=None, link=None, **more):
    """Return the flow of a run, and the utilization of its link."""
    flow = {"rule": rule, "name": "flow", "tcp": tcp or {}}
    result = run(
        dumbbell(**LINK, flows=[flow], duration=duration, profile=profile, link=link or {}, **more)
    )
    return result.flows.row(0, named=True), result.links["utilization"][0]


def test_a_rule_that_stays_with_what_is_in_flight_is_limited_by_its_cwnd():
    """ACKs of two packets: in flight and one more is what cwnd has, and never grows."""
    frozen, idle = _one(AskedPerPacket())
    assert frozen["limited_by_cwnd"] > 0.99
    assert frozen["dropped_packets"] == frozen["timeouts"] == 0
    assert idle < 0.2
    sound, busy = _one(Ledbat())
    assert sound["limited_by_cwnd"] > 0.9
    assert busy > 0.9


def test_a_window_that_grows_unused_is_never_what_limits():
    """One loss at a receiver's window of 20 over 100 ms: cwnd is 10, and back at 20 after 1 s.

    A cwnd that has grown unused meanwhile is still larger than 20 when halved.
    """
    shares = []
    for grow_when_limited in (True, False):
        flow, _ = _one(
            "NewReno", duration="20s",
            tcp={"window": 20, "delayed_ack": False, "grow_when_limited": grow_when_limited},
            link={"delay": "50ms", "loss": [{"kind": "list", "packets": [2000]}]},
            measure=["5s", "20s"],
        )  # fmt: skip
        assert flow["fast_retransmits"] == 1
        shares.append((flow["limited_by_cwnd"], flow["limited_by_receiver"]))
    assert shares[0][0] == pytest.approx(1.0 / 15, abs=0.015)
    assert shares[1][0] == 0
    assert shares[1][1] > 0.99


def test_the_window_of_ns2_is_shown_where_it_limits(cli, tmp_path):
    """20 packets of 1000 bytes over 40 ms are 4 Mbit/s of 20, whatever the rule."""
    file = tmp_path / "two.toml"
    flows = [{"rule": f"AIMD(1, {beta})", "name": f"beta{beta}"} for beta in (0.5, 0.8)]
    scenario = dumbbell(**LINK, flows=flows, duration="20s", profile="ns2-2.35")
    file.write_text(scenario.to_toml())
    flows = run(scenario).flows
    assert flows["limited_by_receiver"].min() > 0.98
    assert flows["goodput_bps"].to_list() == pytest.approx([4e6, 4e6], rel=0.05)
    words = " ".join(cli("run", str(file)).stdout.split())
    assert "limited by the receiver's window, share of time: beta0.5" in words
    words = " ".join(cli("run", str(file), "--set", "flows.*.tcp.window=1000").stdout.split())
    assert "limited by the receiver's window" not in words
