"""`cwndlab explain`: parts that add up, reasons that are true, refusals."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cwndlab import Scenario, ScenarioError, dumbbell, explain, explain_rules
from cwndlab.cli.app import app

WINDOWS = {"a": 20, "b": 10}


def _windows(**more) -> Scenario:
    """Two flows that receivers' windows limit, over 80 ms."""
    flows = [
        {"rule": "AIMD(1, 0.5)", "name": name, "tcp": {"window": window}}
        for name, window in WINDOWS.items()
    ]
    return dumbbell("100Mbit", "40ms", flows=flows, duration="10s", **more)


def _sum(why) -> float:
    return why.goodput["difference_bps"].sum()


def test_parts_add_up_for_twenty_pairs():
    rules = ["AIMD(1, 0.5)", "CUBIC", "Vegas", "BBR1", "MIMD(1.01, 0.875)", "SQRT", "IIAD"]
    pairs = [(a, b) for a in rules for b in rules if a < b][:20]
    assert len(pairs) == 20
    for first, second in pairs:
        flows = [{"rule": first, "name": "x"}, {"rule": second, "name": "y", "start": "1s"}]
        why = explain(dumbbell("5Mbit", "20ms", flows=flows, duration="8s"))
        sides = why.parts["goodput_bps"]["sides"]
        assert _sum(why) == pytest.approx(sides[0] - sides[1], abs=1e-3)
        for account in (*why.accounts[0], *why.accounts[1]):
            changed = sum(row["packets"] for row in account["cwnd_changes"])
            assert account["first_cwnd"] + changed == pytest.approx(account["last_cwnd"], rel=1e-9)


def test_a_smaller_receivers_window_is_the_reason():
    why = explain(_windows())
    assert why.causes[0][:2] == ("receiver", "window")
    assert "outstanding (20 against 10) while limited by the receiver's window" in why.headline
    assert why.divergence is not None
    assert min(why.divergence.cwnd) >= 10


def test_a_longer_path_is_the_reason():
    flows = [
        {"rule": "AIMD(1, 0.5)", "name": name, "tcp": {"window": 20}, "access_delay": delay}
        for name, delay in (("near", "1ms"), ("far", "40ms"))
    ]
    why = explain(dumbbell("100Mbit", "10ms", flows=flows, duration="10s"), ["near", "far"])
    assert why.causes[0][:2] == ("receiver", "delay")
    assert why.rtt.filter(part="propagation")["difference_s"][0] == pytest.approx(-0.078)


def test_an_idle_application_is_the_reason():
    responses = {"size": 50, "think": "2s"}
    flows = [{"rule": "CUBIC", "name": "idle", "responses": responses}]
    why = explain(dumbbell("10Mbit", "20ms", flows=flows, duration="20s"))
    assert "limited by the application" in why.headline
    assert why.names[1] == "the link's capacity"


def test_losses_on_one_flow_are_its_reason():
    flows = [{"rule": "AIMD(1, 0.5)", "name": name} for name in "xy"]
    loss = [{"kind": "bernoulli", "p": 0.01, "flow": "y"}]
    why = explain(dumbbell("50Mbit", "30ms", flows=flows, duration="30s", link={"loss": loss}))
    cuts = why.cwnd_changes.filter(cause="loss")
    assert cuts.filter(side="y")["times"][0] > 5 * cuts.filter(side="x")["times"][0]
    assert why.causes[0][:2] == ("growth", "window")
    assert "losses cut cwnd 2 times by 50 % against 36 times by 51 %" in why.headline
    # Half a packet of the window per packet and RTT: the square root law within its usual error.
    (predicted,) = why.predictions.filter(side="y").to_dicts()
    assert 0.7 < predicted["predicted_bps"] / predicted["measured_bps"] < 1.4


def test_a_late_start_is_the_reason():
    flows = [{"rule": "AIMD(1, 0.5)", "name": name, "start": start}
             for name, start in (("early", "0s"), ("late", "15s"))]  # fmt: skip
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, duration="20s"))
    assert why.causes[0][:2] == ("absent", "time")
    assert "late is absent (not started, or done) 75 % of the time, early never" in why.headline


def test_a_slow_access_link_is_the_reason():
    flows = [{"rule": "CUBIC", "name": "wide"},
             {"rule": "CUBIC", "name": "narrow", "access_rate": "3Mbit"}]  # fmt: skip
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, duration="20s"))
    assert "narrow fills its slowest link, 2.9 Mbit/s" in why.headline


def test_bbr_is_in_slow_start_only_in_its_startup():
    why = explain(dumbbell("10Mbit", "20ms", flows="BBR1", duration="20s"))
    (account,) = why.accounts[0]
    seconds = {row["phase"]: row["seconds"] for row in account["phases"]}
    assert 0.1 < seconds["slow_start"] < 2.0
    # BBR's ProbeBW and ProbeRTT are no growth.
    assert why.table()["part"].to_list() == ["recovery", "slow start", "past slow start", "edges"]


def test_a_group_is_explained_against_its_part_of_the_link():
    flows = [{"rule": "AIMD(1, 0.5)", "name": "four", "count": 4}]
    why = explain(dumbbell("10Mbit", "20ms", flows=flows, duration="20s"))
    assert why.parts["goodput_bps"]["sides"][1] == pytest.approx(9.6e6 / 4, rel=0.02)
    with pytest.raises(ScenarioError, match="without a common flow"):
        explain(dumbbell("10Mbit", "20ms", flows=flows, duration="20s"), ["four", "four-0"])


def test_rules_in_runs_of_their_own_diverge_where_they_differ():
    why = explain_rules("AIMD(1, 0.8)", "AIMD(1, 0.5)", duration="30s", assume={"flows": 1})
    assert why.divergence is not None
    # Alike up to the first reduction, which leaves one 0.8 of its window and the other a half.
    assert why.divergence.cwnd[0] > why.divergence.cwnd[1]
    assert why.divergence.packets[0].height


def test_the_beginning_of_a_run_is_that_of_the_whole_run():
    base = _windows().patch({"trace": {"cwnd": "all"}})
    from cwndlab import run

    whole = run(base).traces["cwnd"]
    cut = run(base.patch({"duration": 2.0, "measure": [0.0, 2.0]})).traces["cwnd"]
    assert cut.height > 100
    assert whole.head(cut.height).equals(cut)


def test_command_prints_and_writes(tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(_windows().to_toml())
    done = CliRunner().invoke(app, ["explain", str(file), "--plot", str(tmp_path / "why.png")])
    assert done.exit_code == 0, done.output
    assert "a gets 1.42 Mbit/s more than b" in done.output
    assert (tmp_path / "why.png").stat().st_size > 10_000
    done = CliRunner().invoke(app, ["explain", str(file), "--flows", "b", "--json"])
    found = json.loads(done.output)
    assert found["sides"] == ["b", "the link's capacity"]


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        (["a", "c"], "flow or group"),
        (["a", "a"], "one or two different names"),
        (["a", "b", "a"], "one or two different names"),
    ],
)
def test_flows_that_are_not_there_are_refused(flows, expected):
    with pytest.raises(ScenarioError, match=expected):
        explain(_windows(), flows)


def test_equal_rules_are_refused():
    with pytest.raises(ScenarioError, match="two rules that differ"):
        explain_rules("AIMD(1, 0.5)", "AIMD(1,0.5)")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["explain"], "FILE.toml"),
        (["explain", "CUBIC"], "two rules"),
        (["explain", "CUBIC", "Vegas", "--flows", "a"], "--flows"),
        (["explain", "none.toml", "--env", "constant"], "--env"),
    ],
)
def test_command_refuses(arguments, expected):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert expected in done.output


def test_a_flow_that_is_faster_in_recovery_too_is_not_faster_because_of_it():
    """BBR3 ignores losses up to 2 %; CUBIC cuts by 30 %. Recovery is where BBR3 happens to be."""
    flows = [{"rule": "BBR3", "name": "bbr"}, {"rule": "CUBIC", "name": "cubic"}]
    loss = [{"kind": "bernoulli", "p": 0.005}]
    why = explain(dumbbell("50Mbit", "20ms", flows=flows, duration="30s", link={"loss": loss}))
    recovery = why.goodput.filter(part="recovery")
    assert recovery["first_time"][0] > 3 * recovery["second_time"][0]
    assert why.causes[0][:2] == ("growth", "window")
    by_time = why.goodput["by_time_bps"].sum()
    assert abs(by_time) < 0.05 * why.parts["goodput_bps"]["difference"]
    assert "losses cut cwnd" in why.headline


def test_marks_that_a_rule_answers_itself_are_no_decrease_of_its_own():
    queue = {"kind": "step", "limit": "200pkt", "threshold": "20pkt"}
    flow = {"rule": "Prague", "name": "prague"}
    scenario = dumbbell("20Mbit", "20ms", flows=[flow], queue=queue, profile="linux")
    changes = explain(scenario).cwnd_changes
    assert changes.filter(cause="ecn")["times"][0] > 10
    assert changes.filter(cause="rule")["times"][0] == 0


def test_tahoe_starts_slowly_after_each_loss():
    flows = [{"rule": "NewReno", "name": name, "recovery": name} for name in ("tahoe", "sack")]
    queue = {"kind": "drop-tail", "limit": "10pkt"}
    link = {"queue": queue, "host_jitter": "1ms"}
    why = explain(dumbbell("5Mbit", "50ms", flows=flows, profile="rfc", duration="60s", **link))
    (cuts,) = why.cwnd_changes.filter(side="tahoe", cause="loss").to_dicts()
    # From about 25 packets to 1; slow start to half of them follows.
    assert -cuts["packets"] / cuts["times"] > 15
    assert "tahoe is in slow start" in why.headline


def test_the_capacity_of_an_outage_is_none():
    """10 of 40 s without a rate: what is missing is missing in the other 30 s."""
    flow = {"rule": "CUBIC", "name": "x"}
    link = {"outages": [{"from": "20s", "to": "30s"}]}
    why = explain(dumbbell("10Mbit", "20ms", flows=[flow], duration="40s", link=link))
    full = why.goodput.filter(part="timeout")
    assert full["first_time"][0] > 0.2
    # Payload of 10 Mbit/s for the second or so that the timeout lasts behind the outage.
    assert full["second_bps"][0] < 1e6
    assert sum(why.goodput["second_bps"].drop_nulls()) == pytest.approx(0.75 * 9.66e6, rel=0.01)


def test_more_than_the_capacity_comes_from_a_bucket():
    """A bucket of 500 kB passes 4 Mbit at once, beside 4 Mbit/s for 2 s."""
    link = {"shaper": {"rate": "4Mbit", "burst": "500kB"}}
    flow = {"rule": "CUBIC", "name": "x"}
    why = explain(dumbbell("100Mbit", "5ms", flows=[flow], duration="2s", link=link))
    first, second = why.parts["goodput_bps"]["sides"]
    assert second == pytest.approx(0.96 * 4e6, rel=0.01)
    assert first > 1.3 * second
    assert "a token bucket was full as the measurement began" in why.headline


def test_a_short_measurement_is_told():
    """Three round trips of slow start: what the last one brings is not acknowledged within them."""
    flows = [{"rule": "NewReno", "name": name, "tcp": {"initial_window": first}}
             for name, first in (("ten", 10), ("two", 2))]  # fmt: skip
    advice = "packets at the edges of the measurement: measure for longer"
    for measured, is_told in (("300ms", True), ("10s", False)):
        two = dumbbell("20Mbit", "50ms", flows=flows, duration="10s", measure=["0s", measured])
        why = explain(two)
        found = why.parts["goodput_bps"]
        assert (abs(found["edges"]) > 0.1 * abs(found["difference"])) == is_told
        assert (advice in why.headline) == is_told


def test_packets_of_two_sizes_are_compared_in_bytes():
    flows = [{"rule": "NewReno", "name": name, "tcp": {"packet_size": size}}
             for name, size in (("big", 1460), ("small", 536))]  # fmt: skip
    why = explain(dumbbell("20Mbit", "30ms", flows=flows, duration="30s", profile="rfc"))
    assert "kB, in packets of 1460 against 536 bytes" in why.headline


def test_the_phase_that_is_told_is_one_of_the_side_that_loses_by_it():
    """30 packets a round trip are 4.2 Mbit/s, 5 packets each 20 ms are 2.9."""
    flows = [{"rule": "CUBIC", "name": "window", "tcp": {"window": 30}},
             {"rule": "CUBIC", "name": "app", "frames": {"size": 5, "every": "20ms"}}]  # fmt: skip
    why = explain(dumbbell("20Mbit", "40ms", flows=flows, duration="30s"))
    assert why.parts["goodput_bps"]["difference"] > 1e6
    assert "because app is limited by the application" in why.headline


def test_windows_that_limit_both_are_told():
    flows = [{"rule": f"AIMD(1, {beta})", "name": f"beta{beta}"} for beta in (0.5, 0.8)]
    why = explain(dumbbell("20Mbit", "50ms", flows=flows, duration="20s", profile="ns2-2.35"))
    assert "same goodput within 1 %: both are limited by the receiver's window" in why.headline


def test_theory_counts_delayed_acks_and_leaves_out_what_cwnd_does_not_limit():
    """An ACK for two packets halves the growth: 1 / sqrt(2) of the rate (Padhye et al. 1998)."""
    flows = [{"rule": "NewReno", "name": name, "tcp": {"delayed_ack": name == "second"}}
             for name in ("each", "second")]  # fmt: skip
    scenario = dumbbell(
        "20Mbit", "40ms", flows=flows, duration="120s", measure=["20s", "120s"], profile="rfc",
        host_jitter="500us",
    )  # fmt: skip
    for row in explain(scenario).predictions.to_dicts():
        assert row["measured_bps"] == pytest.approx(row["predicted_bps"], rel=0.2)
    idle = [{"rule": "NewReno", "name": "idle", "responses": {"size": 50, "think": "500ms"}},
            {"rule": "NewReno", "name": "bulk"}]  # fmt: skip
    why = explain(dumbbell("20Mbit", "20ms", flows=idle, duration="40s"))
    assert why.predictions["side"].to_list() == ["bulk"]


def test_labels_name_the_sides_everywhere(tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(_windows().to_toml())
    arguments = ["explain", str(file), "--label", "a=Alice"]
    done = CliRunner().invoke(app, arguments)
    assert "Alice gets 1.42 Mbit/s more than b" in done.output
    assert "packets of Alice around it" in done.output
    figure = explain(_windows()).plot(labels={"a": "Alice"})
    assert "Alice gets" in figure.get_suptitle()
    done = CliRunner().invoke(app, ["explain", str(file), "--label", "c=Alice"])
    assert done.exit_code == 2
    assert '--label: "c" is not known: expected a or b' in done.output


def test_a_large_window_in_a_queue_of_its_own_is_no_reason():
    """Both get half of the link; CUBIC fills its queue, and waits in it for three times as long."""
    flows = [{"rule": rule, "name": rule.lower()} for rule in ("BBR1", "CUBIC")]
    queue = {"kind": "fq", "limit": "400pkt"}
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, queue=queue, duration="40s"))
    assert why.causes[0][:2] == ("growth", "rate")
    phases = why.parts["goodput_bps"]["phases"]
    growth = next(part for part in phases if part["phase"] == "growth")
    assert abs(growth["by_window"]) > 5 * abs(growth["by_window"] + growth["by_delay"])
    assert why.headline.endswith("for 136 ms)")


def test_what_makes_a_delay_shorter_is_told():
    flows = [{"rule": "CUBIC", "name": "near"},
             {"rule": "CUBIC", "name": "far", "access_delay": "60ms"}]  # fmt: skip
    queue = {"kind": "cake", "limit": "1000pkt"}
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, queue=queue, duration="40s"))
    assert "its RTT is 120 ms shorter, mainly due to propagation" in why.headline
    marked = {"rule": "CUBIC", "name": "classic", "tcp": {"ecn": True}}
    two = [{"rule": "Prague", "name": "l4s"}, marked]
    queue = {"kind": "dualpi2", "limit": "1000pkt"}
    why = explain(dumbbell("40Mbit", "10ms", flows=two, queue=queue, duration="30s"))
    assert "ms shorter, mainly due to queues" in why.headline


def test_delays_that_differ_little_on_one_path_are_no_reason_by_themselves():
    jitter = {"kind": "bernoulli", "p": 0.05, "by": "20ms", "reorder": True}
    flows = [{"rule": "NewReno", "name": name, "recovery": name} for name in ("sack", "newreno")]
    scenario = dumbbell(
        "20Mbit", "20ms", flows=flows, link={"jitter": jitter}, profile="rfc", duration="40s"
    )
    why = explain(scenario)
    phases = why.parts["goodput_bps"]["phases"]
    growth = next(part for part in phases if part["phase"] == "growth")
    # The delay's part is the largest one, of a delay that differs by 2 %.
    assert abs(growth["by_delay"]) > abs(growth["by_window"])
    assert why.causes[0][:2] == ("growth", "rate")
    assert "; other parts take back 0.0" in why.headline


def test_a_slow_start_that_a_loss_ends_early_is_the_reason():
    flows = [{"rule": "NewReno", "name": name} for name in ("clean", "hit")]
    link = {"drop": [{"flow": "hit", "packet": 30}]}
    why = explain(dumbbell("50Mbit", "40ms", flows=flows, link=link, profile="rfc", duration="30s"))
    assert "past slow start; slow start raises cwnd by 1859 packets against 29" in why.headline


def test_what_cuts_cwnd_is_called_by_its_name():
    flows = [{"rule": "NewReno", "name": "gentle"}, {"rule": "NewReno", "name": "ten", "count": 2}]
    flows = [{**flow, "tcp": {"ecn": True}} for flow in flows]
    queue = {"kind": "step", "limit": "400pkt", "threshold": "20pkt"}
    flows[0]["rule"] = "AIMD(1, 0.9)"
    link = {"queue": queue, "host_jitter": "500us"}
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, duration="60s", measure=["20s", "60s"],
                           **link))  # fmt: skip
    assert why.cwnd_changes.filter(cause="loss")["times"].sum() == 0
    assert "; marks cut cwnd " in why.headline
    assert "a flow of ten (mean of 2)" in why.headline


def test_time_in_a_phase_that_costs_nothing_is_not_told():
    """BBR3 is in recovery more often than CUBIC, and no slower there; neither waits for an RTO."""
    flows = [{"rule": rule, "name": rule.lower()} for rule in ("CUBIC", "BBR3")]
    queue = {"kind": "cake", "limit": "1000pkt"}
    why = explain(dumbbell("20Mbit", "20ms", flows=flows, queue=queue, duration="40s"))
    assert why.causes[0][:2] == ("recovery", "time")
    assert "because bbr3 is in recovery 23.8 % of the time, and faster then; cubic" in why.headline


def test_a_full_link_is_told_with_what_makes_its_rtt_long():
    flow = {"rule": "CUBIC", "name": "x"}
    scenario = {
        "duration": "60s", "measure": ["10s", "60s"], "flows": [flow],
        "dumbbell": {
            "rate": "20Mbit", "delay": "20ms", "queue": {"kind": "drop-tail", "limit": "100pkt"},
            "back_rate": "100kbit", "back_queue": {"kind": "drop-tail", "limit": "20pkt"},
        },
    }  # fmt: skip
    told = explain(scenario).headline
    assert told.startswith("x gets the link's capacity within 1 %; its RTT is 156 ms, 116 above")
    assert told.endswith("mainly due to the way of ACKs")


def test_growth_and_cuts_come_in_the_order_of_what_they_make_of_a_window():
    """A steady window is g / (n s), of growth g and n cuts by s a second.

    HighSpeed grows by up to 70 packets per RTT where NewReno grows by one, and cuts half as much.
    """
    rules = {"highspeed": "HighSpeed", "reno": "NewReno"}
    flows = [{"rule": rule, "name": name} for name, rule in rules.items()]
    fat = dumbbell("500Mbit", "50ms", flows=flows, queue={"kind": "drop-tail", "limit": "1000pkt"},
                   duration="40s")  # fmt: skip
    told = explain(fat).headline
    assert told.index("cwnd grows by") < told.index("losses cut cwnd")
    gentle = [{"rule": "MIMD(1.01, 0.875)", "name": "gentle"},
              {"rule": "AIMD(1, 0.5)", "name": "half"}]  # fmt: skip
    link = {"host_jitter": "500us", "profile": "rfc"}
    told = explain(dumbbell("20Mbit", "20ms", flows=gentle, duration="60s", **link)).headline
    assert "past slow start; losses cut cwnd" in told


def test_of_one_rule_cuts_come_before_the_growth_that_follows_them():
    """A path of three links: three times the losses, and growth per RTT of a three times longer."""
    links = [{"name": name, "rate": "10Mbit", "delay": "15ms",
              "queue": {"kind": "drop-tail", "limit": "50pkt"}} for name in "abc"]  # fmt: skip
    paths = {"long": ["a", "b", "c"], "west": ["a"], "middle": ["b"], "east": ["c"]}
    flows = [{"rule": "AIMD(1, 0.5)", "name": name, "path": path, "start": f"{number / 2}s"}
             for number, (name, path) in enumerate(paths.items())]  # fmt: skip
    times = {"duration": "120s", "measure": ["20s", "120s"], "profile": "rfc"}
    scenario = {**times, "links": links, "flows": flows}
    told = explain(scenario, ["middle", "long"]).headline
    assert told.index("losses cut cwnd") < told.index("cwnd grows by")


def test_other_traffic_of_the_same_link_is_told_first_where_it_takes_most():
    links = [{"name": name, "rate": "10Mbit", "delay": "10ms"} for name in ("west", "east")]
    flows = [{"name": name, "rule": "CUBIC", "path": [name]} for name in ("west", "east")]
    cross = [{"rate": "5Mbit", "path": ["west"]}]
    scenario = {"duration": "30s", "links": links, "cross": cross}
    scenario["flows"] = [{**flow, "name": f"{flow['name']}-flow"} for flow in flows]
    busy, free = (explain(scenario, name) for name in ("west-flow", "east-flow"))
    assert busy.others_bps == pytest.approx(5e6, rel=0.03)
    assert "Mbit/s less than the link's capacity: other traffic gets " in busy.headline
    # The cross traffic and the flow of the other link take nothing of this one.
    assert free.others_bps == 0.0
    assert "other traffic" not in free.headline


def test_flows_that_arrive_are_other_traffic():
    arrivals = [{"rule": "CUBIC", "name": "web", "gap": "100ms", "size": 50}]
    scenario = {
        "duration": "30s", "dumbbell": {"rate": "10Mbit", "delay": "20ms"},
        "flows": [{"rule": "CUBIC", "name": "bulk"}], "arrivals": arrivals,
    }  # fmt: skip
    # 50 packets of 1448 bytes each 100 ms are 5.8 Mbit/s.
    assert explain(scenario, "bulk").others_bps == pytest.approx(5.8e6, rel=0.2)


def test_a_rule_that_never_lowers_its_window_does_so_zero_times():
    flows = [{"rule": "LEDBAT", "name": "ledbat"}, {"rule": "Vegas", "name": "vegas"}]
    link = {"host_jitter": "500us", "profile": "linux"}
    told = explain(dumbbell("20Mbit", "20ms", flows=flows, duration="60s", **link)).headline
    assert "the rule itself lowers cwnd 0 times against " in told
