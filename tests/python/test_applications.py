"""Web pages and adaptive video, starvation and convergence: their metrics in Python."""

from __future__ import annotations

import pytest

import cwndlab
from cwndlab.metrics import BY_KEY, measure

PAGE = {"objects": [{"name": "html", "size": 4}, {"name": "image", "size": 9, "after": ["html"]}],
        "think": "500ms"}  # fmt: skip
VIDEO = {"bitrates": ["500kbit", "1Mbit"], "segment": "1s", "reservoir": "2s", "cushion": "2s",
         "buffer": "6s"}  # fmt: skip


def _scenario(rate: str) -> cwndlab.Scenario:
    flows = [
        {"name": "browser", "rule": "CUBIC", "count": 2, "page": PAGE},
        {"name": "player", "rule": "CUBIC", "count": 2, "video": VIDEO},
        {"name": "bulk", "rule": "CUBIC"},
    ]
    return cwndlab.dumbbell(rate, "10ms", flows=flows, duration="60s", measure=["5s", "60s"])


def test_metrics_are_those_of_the_groups_that_have_them():
    result = cwndlab.run(_scenario("6Mbit"))
    browser, player = result.arrivals.to_dicts()
    found = measure(result.to_dict())
    for key in ("mean_page_load_s", "p95_page_load_s"):
        assert found[key] == browser[key] > 0.02
        assert player[key] is None
    for key in ("startup_delay_s", "rebuffering_s", "rebuffering_share", "rebufferings",
                "mean_bitrate_bps", "bitrate_switches"):  # fmt: skip
        assert found[key] == player[key]
        assert browser[key] is None
    assert 0 < browser["loaded_pages"] <= browser["pages"]
    # An object a page more than half of the transfers; two a page.
    assert abs(browser["arrived_flows"] - 2 * browser["pages"]) <= 2
    assert 5e5 <= player["mean_bitrate_bps"] <= 1e6


def test_a_link_that_is_too_slow_for_a_video_makes_it_stop():
    """Two players of 500 kbit/s on 400 kbit/s stand still at least 60 % of the time."""
    slow = _scenario("400kbit").patch({"flows.player.video.bitrates": ["500kbit"]})
    (_, player) = cwndlab.run(slow).arrivals.to_dicts()
    assert player["mean_bitrate_bps"] == 5e5
    assert 0.6 < player["rebuffering_share"] < 1
    # Two players of 55 s each, less what passed before playback began.
    assert player["rebuffering_s"] < 110
    assert player["rebufferings"] > 2


@pytest.mark.parametrize("key", ["starved_s", "convergence_s", "unconverged_flows"])
def test_shares_are_recorded_where_a_metric_asks_for_them(key):
    assert BY_KEY[key].patch == {"trace.shares": True}


def test_starvation_and_convergence_of_a_comparison():
    found = cwndlab.compare(
        "CUBIC", replicates=1, duration="20s",
        metrics=["starved_s", "convergence_s", "unconverged_flows"],
    )  # fmt: skip
    (row,) = found.runs.to_dicts()
    plain = cwndlab.compare("CUBIC", replicates=1, duration="20s").runs
    assert row["trace_hash"] == plain["trace_hash"][0]
    assert 0 <= row["starved_s"] <= 20
    assert row["unconverged_flows"] >= 0


def test_a_sweep_measures_pages_and_sets_what_shares_mean():
    document = _scenario("6Mbit").to_dict()
    sweep = cwndlab.Sweep(
        base=document, replicates=1, metrics=["mean_page_load_s", "flows.bulk.convergence_s"],
        axes={"shares.band": [0.01, 1.0]},
    )  # fmt: skip
    runs = sweep.run().runs
    # A flow alone among those that count has its fair share in any band.
    assert runs["flows.bulk.convergence_s"].to_list() == [0.0, 0.0]
    assert runs["mean_page_load_s"].n_unique() == 1


def test_shares_by_hand():
    def flow(starved_s, convergence_s):
        return {"starved_s": starved_s, "convergence_s": convergence_s}

    link = {"link": "bottleneck", "marked_packets": 9, "l4s_marked_packets": 4}
    flows = [flow(3.0, 2.0), flow(8.0, None), flow(0.0, 5.0), flow(None, None)]
    run = {"flows": flows, "links": [link]}
    keys = ("starved_s", "convergence_s", "unconverged_flows", "l4s_marked_packets",
            "classic_marked_packets", "rebufferings")  # fmt: skip
    found = measure(run, metrics=[BY_KEY[key] for key in keys])
    assert list(found.values()) == [8.0, 3.5, 1, 4, 5, None]
    alone = measure({**run, "flows": [flow(None, None)]}, metrics=[BY_KEY[key] for key in keys])
    assert list(alone.values())[:3] == [None, None, None]


def test_percentiles_of_a_flow_reach_the_last_in_a_thousand():
    scenario = _scenario("6Mbit").set("trace.rtt", True)
    bulk = cwndlab.run(scenario).flows.row(-1, named=True)
    assert bulk["p99_rtt_s"] <= bulk["p999_rtt_s"] < 1.0
