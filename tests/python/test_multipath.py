"""Connections over several paths: tables, files, rules in Python, and what is refused."""

from __future__ import annotations

import pytest

import cwndlab
from conftest import ROOT
from cwndlab import Result, Scenario, run
from cwndlab.errors import ScenarioError
from cwndlab.topology import topology

SHARED = (ROOT / "examples" / "multipath-shared.toml").read_text(encoding="utf-8")
SHORT = {"duration": "12s", "measure": ["2s", "12s"]}


@pytest.fixture(scope="module")
def scenario():
    return Scenario.from_text(SHARED).patch(SHORT)


@pytest.fixture(scope="module")
def found(scenario):
    return run(scenario)


def test_tables_of_connections_and_their_subflows(found):
    assert found.flows["flow"].to_list() == ["tcp", "connection.first", "connection.second"]
    (row,) = found.connections.to_dicts()
    assert (row["connection"], row["rule"], row["scheduler"]) == ("connection", "LIA", "min-rtt")
    assert row["finish_s"] is None
    own = found.subflows
    assert own["flow"].to_list() == ["connection.first", "connection.second"]
    assert own["share"].sum() == pytest.approx(1)
    assert own["first_packets"].sum() == row["delivered_packets"]
    assert own["goodput_bps"].sum() == pytest.approx(row["goodput_bps"])
    # What came twice is no goodput of the connection.
    assert row["goodput_bps"] <= found.flows["goodput_bps"][1:].sum()


def test_other_runs_have_empty_tables():
    found = run(cwndlab.dumbbell("2Mbit", "10ms", flows="NewReno", duration="2s"))
    assert (found.connections.height, found.subflows.height) == (0, 0)


def test_files_keep_the_tables_and_the_scenario_as_written(found, scenario, tmp_path):
    loaded = Result.load(found.save(tmp_path / "run"))
    assert loaded.connections.equals(found.connections)
    assert loaded.subflows.equals(found.subflows)
    again = Scenario.from_dict(loaded.scenario)
    assert [flow["name"] for flow in again.to_dict()["flows"]] == ["tcp", "connection"]
    assert run(again).trace_hash == found.trace_hash
    assert run(scenario.with_seed(2)).trace_hash != found.trace_hash


def test_the_topology_has_a_path_for_each_subflow():
    chain = Scenario.load(ROOT / "examples" / "multipath-chain.toml")
    paths = {path.name: path.forward for path in topology(chain.core).paths}
    assert paths == {"users.own": ("server",), "users.shared": ("server", "shared"),
                     "others": ("shared",)}  # fmt: skip


class Linked:
    """LIA, as docs/multipath.md has it."""

    def increase(self, cwnd, ack, siblings):
        if len(siblings) < 2:
            return cwnd + ack.growth_packets / cwnd
        assert sum(one.is_own for one in siblings) == 1
        assert all(one.loss_interval_packets > 0 for one in siblings)
        best = max(one.cwnd_packets / (one.srtt_s * one.srtt_s) for one in siblings)
        rate = sum(one.cwnd_packets / one.srtt_s for one in siblings)
        return cwnd + ack.growth_packets * min(best / (rate * rate), 1 / cwnd)

    def decrease(self, cwnd, _signal):
        return cwnd / 2


def test_a_coupled_rule_in_python_is_that_of_the_core(found, scenario):
    own = run(scenario.set("flows.connection.rule", cwndlab.rule(Linked)))
    assert own.trace_hash == found.trace_hash


def test_a_coupled_rule_of_a_single_flow_has_no_siblings():
    def of(rule):
        return run(cwndlab.dumbbell("2Mbit", "10ms", flows=rule, duration="5s", profile="rfc"))

    assert of(cwndlab.rule(Linked)).trace_hash == of("LIA").trace_hash == of("NewReno").trace_hash


TWO = "[{}, {}]"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('scheduler = "redundant"', r"flows\[0\]\.scheduler: `scheduler` must not be given when"),
        ("connection_buffer = 9", r"flows\[0\]\.connection_buffer: .* must not be given when"),
        (f"subflows = {TWO}\nscheduler = 'fastest'", "expected min-rtt, round-robin or redundant"),
        (f"subflows = {TWO}\nconnection_buffer = 0", r"connection_buffer: 0 is not valid"),
        (f"subflows = {TWO}\nbytes = '1MB'", r"flows\[0\]\.bytes: `bytes` must not be given when"),
        (f"subflows = {TWO}\ncount = 0", r"flows\[0\]\.count: 0 is not valid"),
        ("subflows = [{ name = 'a' }, { name = 'a' }]", r"flows\[0\]\.subflows\[1\]\.name"),
        ("subflows = [{}, { path = ['x'] }]", r"flows\[0\]\.subflows\[1\]\.path"),
        ("subflows = [{}, { start = '9s', stop = '8s' }]", r"subflows\[1\]\.stop: .*later than"),
        ("subflows = [{}, { stopp = '8s' }]", r"flows\[0\]\.subflows\[1\]: key \"stopp\" is not"),
        ("subflows = [{}, { tcp = { packet_size = 500 } }]", r"subflows\[1\]\.tcp\.packet_size"),
        (f"subflows = {TWO}\ntcp = {{ optimistic_acks = 2 }}", r"flows\[0\]\.subflows: must not"),
    ],
)  # fmt: skip
def test_bad_input_names_key_and_expectation(keys, message):
    head = 'duration = "9s"\n[dumbbell]\nrate = "1Mbit"\ndelay = "5ms"\n[[flows]]\nrule = "LIA"\n'
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_text(f"{head}{keys}\n")


def test_a_kernel_cannot_run_connections():
    text = SHARED.replace('rule = "LIA"', 'rule = "NewReno"')
    scenario = Scenario.from_text(f'home = "linux"\n{text}')
    with pytest.raises(ScenarioError, match=r"flows\[1\]\.subflows: has an effect only in the sim"):
        run(scenario)
