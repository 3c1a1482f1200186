"""Every example says what to look at, and shows it."""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab
from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def _run(name: str, **patch) -> cwndlab.Result:
    scenario = cwndlab.Scenario.load(ROOT / "examples" / f"{name}.toml")
    return cwndlab.run(scenario.patch({key.replace("__", "."): value for key, value in patch.items()}))


def test_there_are_some():
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_to_look_at_and_runs(path):
    comment = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert any("Look at:" in line for line in comment)
    scenario = cwndlab.Scenario.load(path)
    assert scenario["name"] == path.stem
    result = cwndlab.run(scenario)
    assert (result.flows["delivered_packets"] > 0).all()
    flows = result.flows
    sent = flows["total_delivered_packets"] + flows["total_dropped_packets"] + flows["in_flight_packets"]
    assert (flows["total_sent_packets"] == sent).all()


def test_one_flow_sawtooth():
    assert _run("one-flow-sawtooth").links["utilization"][0] > 0.98
    shallow = _run("one-flow-sawtooth", dumbbell__queue__limit="5pkt").links["utilization"][0]
    assert 0.70 < shallow < 0.85


def test_random_loss():
    # sqrt(1.5 / 0.01) = 12.2 packets; losses that end in time-outs take a little off.
    assert 9.5 < _run("random-loss").flows["mean_cwnd_packets"].mean() < 13
    fewer = _run("random-loss").scenario["dumbbell"]["loss"]
    quarter = _run("random-loss", dumbbell__loss=[{**fewer[0], "p": 0.0025}])
    assert 20 < quarter.flows["mean_cwnd_packets"].mean() < 26


def test_exact_drops():
    sack = _run("exact-drops").flows.row(0, named=True)
    assert (sack["total_dropped_packets"], sack["retransmitted_packets"], sack["timeouts"]) == (3, 3, 0)
    times = {
        name: _run("exact-drops", **{"flows__*__recovery": name}).flows["finish_s"][0] for name in ("reno", "sack")
    }
    assert times["sack"] < times["reno"]


def test_four_rules():
    for seed in (1, 2, 3):
        goodput = _run("four-rules", seed=seed).flows.group_by("group").agg(pl.col("goodput_bps").sum())
        shares = dict(goodput.iter_rows())
        assert min(shares, key=shares.get) == "aimd", seed


def test_square_wave():
    links = _run("square-wave").links.row(0, named=True)
    assert links["available_bps"] == pytest.approx(10e6, rel=0.02)


def test_parking_lot():
    goodput = dict(_run("parking-lot").flows.select("flow", "goodput_bps").iter_rows())
    assert all(goodput["long"] < goodput[name] / 2 for name in goodput if name != "long")
