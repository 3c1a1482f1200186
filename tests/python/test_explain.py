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
    assert "outstanding (20 against 9.99) while limited by the receiver's window" in why.headline
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
    assert "losses and marks cut cwnd 2 times by 50 % against 36 times by 51 %" in why.headline
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
    assert "a gets 1.43 Mbit/s more than b" in done.output
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
