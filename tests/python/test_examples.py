"""Every example says what to look at, and shows it."""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab
from conftest import ROOT

EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.toml") if not path.stem.startswith("sweep-")
)
SWEEPS = sorted((ROOT / "examples").glob("sweep-*.toml"))


def _run(name: str, **patch) -> cwndlab.Result:
    scenario = cwndlab.Scenario.load(ROOT / "examples" / f"{name}.toml")
    return cwndlab.run(
        scenario.patch({key.replace("__", "."): value for key, value in patch.items()})
    )


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
    sent = (
        flows["total_delivered_packets"]
        + flows["total_dropped_packets"]
        + flows["in_flight_packets"]
    )
    assert (flows["total_sent_packets"] == sent).all()


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_sweep_says_what_to_look_at_and_its_cells_are_valid(path):
    comment = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert any("Look at:" in line for line in comment)
    sweep = cwndlab.Sweep.load(path)
    assert f"sweep-{sweep.name}" == path.stem
    sweep.plan.check()


def test_one_flow_sawtooth():
    assert _run("one-flow-sawtooth").links["utilization"][0] > 0.98
    shallow = _run("one-flow-sawtooth", dumbbell__queue__limit="5pkt").links["utilization"][0]
    assert 0.70 < shallow < 0.85


def test_random_loss():
    # sqrt(1.5 / 0.01) = 12.2 packets; losses that end in timeouts take a little off.
    assert 9.5 < _run("random-loss").flows["mean_cwnd_packets"].mean() < 13
    fewer = _run("random-loss").scenario["dumbbell"]["loss"]
    quarter = _run("random-loss", dumbbell__loss=[{**fewer[0], "p": 0.0025}])
    assert 20 < quarter.flows["mean_cwnd_packets"].mean() < 26


def test_exact_drops():
    sack = _run("exact-drops").flows.row(0, named=True)
    assert (sack["total_dropped_packets"], sack["retransmitted_packets"], sack["timeouts"]) == (
        3,
        3,
        0,
    )
    times = {
        name: _run("exact-drops", **{"flows__*__recovery": name}).flows["finish_s"][0]
        for name in ("reno", "sack")
    }
    assert times["sack"] < times["reno"]


def test_four_rules():
    last = []
    for seed in range(1, 21):
        goodput = (
            _run("four-rules", seed=seed).flows.group_by("group").agg(pl.col("goodput_bps").sum())
        )
        shares = dict(goodput.iter_rows())
        last.append(min(shares, key=shares.get))
    assert {*last} == {"aimd", "aiad"}
    assert last.count("aimd") > 2 * last.count("aiad")


def test_square_wave():
    links = _run("square-wave").links.row(0, named=True)
    assert links["available_bps"] == pytest.approx(10e6, rel=0.02)


def test_parking_lot():
    goodput = dict(_run("parking-lot").flows.select("flow", "goodput_bps").iter_rows())
    assert all(goodput["long"] < goodput[name] / 2 for name in goodput if name != "long")


def test_ring():
    loses = {
        rule: _run("ring", **{"flows__*__rule": rule}) for rule in ("AIMD(1, 0.8)", "AIAD(1, 3)")
    }
    gentle, stubborn = loses.values()
    assert stubborn.links["dropped_packets"].sum() > 2 * gentle.links["dropped_packets"].sum()
    assert stubborn.aggregate_goodput_bps == pytest.approx(gentle.aggregate_goodput_bps, rel=0.1)


def test_second_topology():
    result = _run("second-topology")
    link = result.links.filter(link="bottleneck").row(0, named=True)
    assert link["left_bps"] < 0.7 * link["available_bps"]
    tested = result.flows.filter(group="flow")["dropped_packets"].sum()
    assert tested == pytest.approx(link["dropped_packets"], rel=0.02)


def test_web_traffic():
    usual = _run("web-traffic").arrivals.row(0, named=True)
    apart = _run("web-traffic", dumbbell__queue__kind="fq-codel").arrivals.row(0, named=True)
    assert usual["mean_fct_s"] > usual["p50_fct_s"]
    assert apart["p95_fct_s"] < 0.7 * usual["p95_fct_s"]


def test_connections():
    """A queue for each flow keeps the download's packets out of the way of short responses."""
    usual = _run("connections").arrivals.row(0, named=True)
    apart = _run("connections", dumbbell__queue__kind="fq-codel").arrivals.row(0, named=True)
    assert usual["arrived_flows"] == apart["arrived_flows"] > 150
    assert apart["mean_slowdown"] < 0.7 * usual["mean_slowdown"]


def test_request_response():
    usual = _run("request-response").arrivals.row(0, named=True)
    managed = _run("request-response", dumbbell__queue__kind="codel").arrivals.row(0, named=True)
    assert managed["p50_fct_s"] < 0.5 * usual["p50_fct_s"]


def test_media():
    """A queue for each flow keeps the download's packets out of the call's way."""
    usual = _run("media").arrivals.row(0, named=True)
    apart = _run("media", dumbbell__queue__kind="fq-codel").arrivals.row(0, named=True)
    assert usual["arrived_flows"] == apart["arrived_flows"] == 1440
    assert apart["late_share"] < 0.05 < 0.3 < usual["late_share"]


def test_nada():
    """Encoders that follow the link against ones that stay."""
    calls = _run("nada")
    first, second = calls.flows["goodput_bps"]
    assert first / second == pytest.approx(1, abs=0.1)
    assert 0.01 < calls.arrivals["late_share"][0] < 0.05
    fixed = _run("nada", **{"flows__*__rule": "NADA(rmin=150, rmax=150)"})
    assert fixed.arrivals["late_share"][0] > 0.5


def test_fixed_rate_media():
    """What does not react is seldom late and takes its rate; what does is late."""
    fixed = _run("fixed-rate-media")
    yielding = _run("fixed-rate-media", flows__camera__rule="LEDBAT")
    assert fixed.arrivals["late_share"][0] < 0.05 < 0.5 < yielding.arrivals["late_share"][0]
    apart = _run("fixed-rate-media", dumbbell__queue__kind="fq-codel")
    assert apart.arrivals["late_flows"][0] == 0


def test_l4s_bbr():
    """The flow that responds is in the L queue; without a response nothing is marked there."""
    result = _run("l4s-bbr")
    marks, plain = result.flows["goodput_bps"]
    delays = result.flows["mean_rtt_s"]
    assert result.links["l4s_marked_packets"][0] > 0
    assert marks > plain
    assert delays[0] < 0.5 * delays[1]
    ignored = _run("l4s-bbr", **{"flows__*__rule": "BBR3"})
    assert ignored.links["marked_packets"][0] == 0


def test_aqm():
    delays = {
        kind: _run("aqm", dumbbell__queue__kind=kind).links["mean_queueing_delay_s"][0]
        for kind in ("codel", "drop-tail")
    }
    assert delays["codel"] < 0.01 < 0.1 < delays["drop-tail"]
    marked = _run("aqm", dumbbell__queue__ecn=True, tcp__ecn=True)
    assert marked.links["marked_packets"][0] > 0
    assert marked.flows["ecn_reductions"].sum() > 0


def test_cellular():
    link = _run("cellular").links.row(0, named=True)
    assert link["utilization"] > 0.95
    assert link["p95_queueing_delay_s"] > 0.2


def test_cellular_synthetic():
    link = _run("cellular-synthetic").links.row(0, named=True)
    assert link["utilization"] > 0.95
    assert link["mean_queueing_delay_s"] > 0.2
    paced = _run("cellular-synthetic", flows__phone__rule="BBR3").links["mean_queueing_delay_s"][0]
    assert paced < link["mean_queueing_delay_s"] / 2


def test_ack_aggregation():
    goodput = {
        rate if isinstance(rate, str) else "grants": _run(
            "ack-aggregation", dumbbell__back_rate=rate
        ).flows["goodput_bps"][0]
        for rate in ("10Mbit", {"kind": "grants", "rate": "10Mbit", "every": "10ms"})
    }
    assert goodput["grants"] < 0.93 * goodput["10Mbit"]
    paced = _run("ack-aggregation", flows__upload__rule="BBR3").flows["goodput_bps"][0]
    assert paced > 1.1 * goodput["grants"]


def test_misbehaving_receiver():
    """ACK division pays where senders count ACKs; optimistic ACKs leave nothing to the other."""

    def shares(**changes):
        return dict(_run("misbehaving-receiver", **changes).flows["flow", "goodput_bps"].rows())

    divided, counted = shares(), shares(tcp__grow_by_packets=True)
    assert divided["divides"] > 2 * divided["honest"]
    assert 0.8 < counted["divides"] / counted["honest"] < 1.25
    knobs = {"ack_division": 1, "optimistic_acks": 20, "window": 100}
    hidden = shares(**{f"flows__divides__tcp__{knob}": value for knob, value in knobs.items()})
    assert hidden["divides"] > 20 * hidden["honest"]


def test_reordering():
    undeceived, deceived = (
        _run("reordering", **changes).flows.row(0, named=True)
        for changes in ({}, {"profile": "rfc"})
    )
    assert undeceived["goodput_bps"] > 9e6 > 2e6 > deceived["goodput_bps"]
    assert deceived["fast_retransmits"] > 5 * undeceived["fast_retransmits"]


def test_asymmetric():
    """ACKs that wait on the reverse link lengthen the RTT; those dropped cost nearly nothing."""
    enough = {"dumbbell__back_rate": "1Mbit"}
    short = {"dumbbell__back_queue__limit": "3pkt"}
    slow, enough, short = (_run("asymmetric", **changes) for changes in ({}, enough, short))
    rtt = [result.flows["mean_rtt_s"][0] for result in (slow, enough, short)]
    assert rtt[0] > 1.5 * max(rtt[1:])
    assert slow.links["dropped_packets"][1] > 0.5 * slow.links["arrived_packets"][1]
    assert enough.links["dropped_packets"][1] == 0
    assert min(result.aggregate_goodput_bps for result in (slow, enough, short)) > 18e6


def test_cobalt():
    """BLUE keeps a flood out of the queue, and afterwards drops packets of the download."""
    blue, codel = (_run("cobalt", dumbbell__queue__kind=kind) for kind in ("cobalt", "codel"))
    delays = [result.links["mean_queueing_delay_s"][0] for result in (blue, codel)]
    assert delays[0] < 0.5 * delays[1]
    assert blue.flows["goodput_bps"][0] < 0.9 * codel.flows["goodput_bps"][0]


def test_cake():
    """A phone with one flow gets what a laptop with eight gets, and a ninth by flows alone."""
    hosts = _run("cake")
    flows = _run("cake", links__downlink__queue__flow_isolation="flows")
    shares = [
        result.flows["goodput_bps"][8] / result.aggregate_goodput_bps for result in (hosts, flows)
    ]
    # COBALT leaves a single flow a little less than its half.
    assert shares == [pytest.approx(1 / 2, abs=0.03), pytest.approx(1 / 9, abs=0.01)]
    # The shaper keeps the queue here: 19 of 20 Mbit/s.
    assert hosts.links["utilization"][0] == pytest.approx(0.95, abs=0.005)


def test_handover():
    """CUBIC's window for the faster path fills the queue of the slower one; BBR3 measures anew."""
    usual, paced = _run("handover"), _run("handover", flows__download__rule="BBR3")
    slow = usual.traces["queue"].filter(
        pl.col("link") == "bottleneck", pl.col("time_s").is_between(20, 25)
    )
    assert slow["queue_packets"].max() > 190
    delays = [result.links["mean_queueing_delay_s"][0] for result in (usual, paced)]
    assert delays[1] < 0.5 * delays[0]


def test_wifi():
    """A round trip of 2 ms and jitter of 7 ms: the late packets make the 99th percentile."""
    flow = _run("wifi").flows.row(0, named=True)
    assert flow["base_rtt_s"] == 0.002
    assert flow["p99_rtt_s"] > 0.1
    bbr1 = _run("wifi", flows__download__rule="BBR1").flows["goodput_bps"][0]
    assert bbr1 < 0.8 * flow["goodput_bps"]


def test_web_page():
    """A queue for each flow keeps the download's packets out of the way of small objects."""
    usual = _run("web-page").arrivals.row(0, named=True)
    apart = _run("web-page", dumbbell__queue__kind="fq-codel").arrivals.row(0, named=True)
    alone = _run("web-page", flows__browser__count=1).arrivals.row(0, named=True)
    assert usual["loaded_pages"] > 10
    assert apart["mean_page_load_s"] < 0.7 * usual["mean_page_load_s"]
    assert alone["mean_page_load_s"] > 1.5 * usual["mean_page_load_s"]


def test_adaptive_video():
    video = _run("adaptive-video").arrivals.row(0, named=True)
    slow = _run("adaptive-video", dumbbell__rate="1500kbit").arrivals.row(0, named=True)
    assert video["startup_delay_s"] < 4
    assert video["bitrate_switches"] > 5
    assert slow["mean_bitrate_bps"] < 0.5 * video["mean_bitrate_bps"]


def test_convergence():
    flows = {flow["flow"]: flow for flow in _run("convergence").flows.to_dicts()}
    wide = {flow["flow"]: flow
            for flow in _run("convergence", shares__band=0.5).flows.to_dicts()}  # fmt: skip
    converged = [name for name, flow in flows.items() if flow["convergence_s"] is not None]
    assert len(converged) < 3
    assert all(wide[name]["convergence_s"] <= flows[name]["convergence_s"] for name in converged)
