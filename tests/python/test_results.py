"""Results: frames, attributes, saving and loading, how they show themselves."""

from __future__ import annotations

import copy
import json
import math
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import cwndlab
from conftest import Page
from cwndlab.columns import SCHEMAS, TRACES

TRACE = {"cwnd": "100ms", "queue": "100ms", "rate": "1s", "packets": True}


@pytest.fixture
def result(small) -> cwndlab.Result:
    return cwndlab.run(small.set("trace", TRACE))


def test_save_and_load_round_trip(result, tmp_path):
    again = cwndlab.Result.load(result.save(tmp_path / "run"))
    assert again.fields == result.fields
    assert again.scenario == result.scenario
    assert_frame_equal(again.flows, result.flows)
    assert_frame_equal(again.links, result.links)
    assert again.traces.keys() == result.traces.keys()
    for table, frame in result.traces.items():
        assert_frame_equal(again.traces[table], frame)
    assert cwndlab.run(again.scenario).trace_hash == result.trace_hash


def test_saving_again_leaves_no_old_traces(result, small, tmp_path):
    result.save(tmp_path)
    cwndlab.run(small).save(tmp_path)
    assert cwndlab.Result.load(tmp_path).traces == {}


def test_incomplete_folder_is_refused(result, tmp_path):
    result.save(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(FileNotFoundError, match="no complete result"):
        cwndlab.Result.load(tmp_path)


def test_fields_are_attributes(result):
    assert result.simulated_s == 10.0
    assert result.seed == 1
    assert "jain_index" in dir(result)
    with pytest.raises(AttributeError, match=r"jain_indx.*jain_index"):
        _ = result.jain_indx
    assert (
        copy.deepcopy(result).trace_hash
        == pickle.loads(pickle.dumps(result)).trace_hash
        == result.trace_hash
    )


def test_traces_have_names_and_units(result):
    cwnd = result.traces["cwnd"]
    assert cwnd.columns == list(TRACES["cwnd"])
    assert cwnd["flow"].unique().cast(pl.String).sort().to_list() == ["a-0", "a-1", "b"]
    assert cwnd["time_s"].max() <= 10.0
    assert cwnd["cwnd_packets"].min() > 0
    links = result.traces["queue"]["link"].unique().cast(pl.String)
    assert links.sort().to_list() == ["bottleneck", "bottleneck-back"]
    assert result.traces["queue"]["queue_packets"].max() > 5


def test_windows_come_with_the_state_of_the_timer():
    # One packet at a time over 100 ms: RFC 6298 has RTTVAR = R/2, and 3/4 of it with each sample.
    found = (
        cwndlab.run(
            {
                "duration": "1s",
                "profile": "rfc",
                "dumbbell": {"rate": "1Gbit", "delay": "50ms"},
                "flows": [{"rule": "AIMD(1, 0.5)"}],
                "tcp": {"window": 1, "syn": False},
                "trace": {"cwnd": "all"},
            }
        )
        .traces["cwnd"]
        .filter(pl.col("srtt_s") > 0)
    )
    assert found["acknowledged_packets"].to_list() == list(range(1, len(found) + 1))
    halves = [0.05 * 0.75**sample for sample in range(len(found))]
    assert found["rttvar_s"].to_list() == pytest.approx(halves, rel=0.01)
    assert found["backoff"].unique().to_list() == [1]


def _with_losses(packets, lost):
    return cwndlab.run(
        {
            "duration": "20s",
            "profile": "rfc",
            "dumbbell": {"rate": "10Mbit", "delay": "50ms",
                         "loss": [{"kind": "list", "packets": lost}]},
            "flows": [{"rule": "AIMD(1, 0.5)", "packets": packets}],
            "tcp": {"syn": False},
            "trace": {"cwnd": "all", "packets": True},
        }
    ).traces  # fmt: skip


def test_timeouts_back_off_and_come_before_what_they_send():
    # The last packets of a transfer are lost, and the first retransmission too.
    traces = _with_losses(8, [5, 6, 7, 8])
    packets = traces["packets"].with_row_index()
    timeouts = packets.filter(pl.col("event") == "timeout")
    assert len(timeouts) == 2
    for row in timeouts.iter_rows(named=True):
        after = packets.row(row["index"] + 1, named=True)
        assert (after["event"], after["time_s"], after["seq"]) == (
            "send", row["time_s"], row["seq"],
        )  # fmt: skip
        assert after["retransmission"]
    # The factor of the RTO doubles with each.
    assert traces["cwnd"]["backoff"].max() == 4


def test_duplicate_acks_are_counted_in_a_row():
    # Packets 6 to 9 of the window report the loss of packet 5.
    found = _with_losses(10, [5])["cwnd"]["duplicate_acks"].to_list()
    assert found[-1] == 0
    assert max(found) == 4
    assert set(found) == {0, 1, 2, 3, 4}


def _queue(kind, rule="AIMD(1, 0.5)", **keys):
    """Return the link and the trace of its queue, of four flows."""
    found = cwndlab.run(
        {
            "duration": "30s",
            "profile": "linux",
            "dumbbell": {"rate": "10Mbit", "delay": "20ms", "queue": kind},
            "flows": [{"rule": rule, "count": 4}],
            "trace": {"queue": "10ms"},
            **keys,
        }
    )
    bottleneck = pl.col("link").cast(pl.String) == "bottleneck"
    return found.links.row(0, named=True), found.traces["queue"].filter(bottleneck)


def test_the_average_queue_of_red_is_recorded():
    # With a weight of 1 the average is the number of packets that wait at the last arrival.
    thresholds = {"limit": "50pkt", "min": "10pkt", "max": "40pkt"}
    _, red = _queue({"kind": "red", "weight": 1, **thresholds})
    off = (red["average_queue_packets"] - red["queue_packets"]).abs()
    assert red["average_queue_packets"].max() > 5
    assert off.quantile(0.9) <= 4
    _, slow = _queue({"kind": "red", "weight": 0.002, **thresholds})
    assert slow["average_queue_packets"].std() < 0.7 * slow["queue_packets"].std()
    _, other = _queue({"kind": "drop-tail", "limit": "50pkt"})
    assert other["average_queue_packets"].null_count() == len(other)


def test_drop_probabilities_are_recorded():
    """RED's rises from 0 at `min` to `max_p` at `max`; PIE's is what an overload loses."""
    thresholds = {"limit": "100pkt", "min": "10pkt", "max": "40pkt", "max_p": 0.06}
    _, red = _queue({"kind": "red", "weight": 0.01, "gentle": False, **thresholds})
    average, probability = red["average_queue_packets"], red["drop_probability"]
    assert (probability.filter(average < 10) == 0).all()
    between = red.filter(pl.col("average_queue_packets").is_between(10, 40))
    assert len(between) > 1000
    slope = between["drop_probability"] / (between["average_queue_packets"] - 10)
    assert slope.min() == pytest.approx(0.002)
    assert slope.max() == pytest.approx(0.002)
    overload = {"cross": [{"rate": "12.5Mbit"}], "measure": ["10s", "30s"]}
    link, pie = _queue({"kind": "pie", "limit": "1000pkt"}, **overload)
    lost = link["dropped_packets"] / link["arrived_packets"]
    assert lost > 0.2
    steady = pie.filter(pl.col("time_s") >= 10)["drop_probability"]
    assert steady.mean() == pytest.approx(lost, rel=0.02)
    for other in ("drop-tail", "fq-codel", "rio"):
        limits = {"min": "10pkt", "max": "40pkt"} if other == "rio" else {}
        _, trace = _queue({"kind": other, "limit": "50pkt", **limits})
        assert trace["drop_probability"].null_count() == len(trace)


def test_packet_trace_agrees_with_the_flows(result):
    packets = result.traces["packets"]
    assert packets["time_ns"].is_sorted()
    assert set(packets["event"].unique().cast(pl.String)) <= set(TRACES["packets"]["event"].values)
    sent = packets.filter(pl.col("event") == "send").group_by(pl.col("flow").cast(pl.String)).len()
    totals = dict(result.flows.select("flow", "total_sent_packets").iter_rows())
    assert dict(sent.iter_rows()) == totals


def test_rate_trace_adds_up_to_the_goodput(result):
    measured = result.traces["rate"].filter(pl.col("time_s") >= 2.0)
    assert measured["goodput_bps"].sum() / 8 == pytest.approx(
        result.aggregate_goodput_bps, rel=0.01
    )


def test_frames_convert_to_pandas(result):
    frame = result.flows.to_pandas()
    assert frame["goodput_bps"].sum() == pytest.approx(result.aggregate_goodput_bps)
    assert list(result.traces["cwnd"].to_pandas().columns) == result.traces["cwnd"].columns


def test_what_is_not_finite_is_null_in_json(result):
    odd = cwndlab.Result({"x": math.nan, "y": math.inf, "name": None}, result.flows, result.links)
    data = json.loads(odd.to_json())
    assert data["x"] is None
    assert data["y"] is None


def test_notebook_shows_table_and_picture(result):
    page = Page()
    page.feed(result._repr_html_())
    assert "table" in page.tags
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert len(page.loads) == 1
    for word in ("a-0", "AIAD(1, 3)", result.trace_hash):
        assert word in page.text


def test_notebook_without_traces_has_no_picture(small):
    assert "<img" not in cwndlab.run(small)._repr_html_()


def test_figure_shows_itself(result):
    assert result.plot()._repr_png_()[:4] == b"\x89PNG"


def test_a_run_without_flows_has_the_columns_of_every_run():
    scenario = cwndlab.Scenario.from_text(
        'duration = "2s"\ndumbbell = { rate = "4Mbit", delay = "5ms" }\ncross = [{ rate = "1Mbit" '
        "}]\n"
    )
    alone = cwndlab.run(scenario)
    with_flow = cwndlab.run(
        cwndlab.dumbbell("4Mbit", "5ms", duration="2s", flows=[{"rule": "AIMD(1, 0.5)"}])
    )
    assert alone.flows.height == 0
    assert alone.flows.schema == with_flow.flows.schema
    # A quarter of the link, in packets of 1000 bytes: 125 a second.
    assert alone.links["departed_packets"][0] == pytest.approx(250, abs=1)


TRAFFIC = """
duration = "10s"
measure = ["2s", "10s"]
dumbbell = { rate = "4Mbit", delay = "10ms", queue = { kind = "drop-tail", limit = "20pkt" } }
flows = [
    { name = "long", rule = "AIMD(1, 0.5)" },
    { name = "asked", rule = "AIMD(1, 0.5)", responses = { size = 10, think = "200ms" } },
]
arrivals = [{ name = "web", rule = "AIMD(1, 0.5)", gap = "200ms", size = 12 }]
cross = [{ name = "cbr", rate = "500kbit", count = 2 }]
trace = { rate = "1s" }
"""


@pytest.fixture(scope="module")
def traffic() -> cwndlab.Result:
    return cwndlab.run(cwndlab.Scenario.from_text(TRAFFIC))


def test_cross_traffic_and_finite_flows_have_frames(traffic):
    (cross,) = traffic.cross.to_dicts()
    assert cross["source"] == "cbr"
    assert cross["offered_bps"] == pytest.approx(1e6, rel=0.01)
    assert cross["sent_packets"] == pytest.approx(
        cross["delivered_packets"] + cross["dropped_packets"], abs=25
    )
    web, asked = traffic.arrivals.to_dicts()
    assert (web["group"], asked["group"]) == ("web", "asked")
    assert web["arrived_flows"] == web["finished_flows"] + web["unfinished_flows"]
    assert 20 < web["arrived_flows"] < 70
    assert 0 < web["p50_fct_s"] <= web["p95_fct_s"] <= web["p99_fct_s"]
    assert web["mean_slowdown"] >= 1
    assert asked["finished_flows"] > 5
    for table, frame in (("cross", traffic.cross), ("arrivals", traffic.arrivals)):
        assert dict(frame.schema) == {key: kind() for key, kind in SCHEMAS[table].items()}
        assert all(frame[key].null_count() == 0 for key in ("sent_packets", "delivered_packets"))
    assert "1 cross source" in repr(traffic)
    assert f"{traffic.arrivals['arrived_flows'].sum()} transfers" in repr(traffic)


def test_what_was_left_is_what_they_did_not_take(traffic):
    link = traffic.links.row(0, named=True)
    # Responses are flows of the scenario, not traffic beside them.
    web = traffic.arrivals.filter(group="web")["delivered_bps"][0]
    assert link["left_bps"] == pytest.approx(
        4e6 - traffic.cross["delivered_bps"][0] - web, rel=1e-9
    )
    assert link["available_bps"] == pytest.approx(3e6, rel=0.01)


def test_traces_of_transfers_and_of_what_was_carried(traffic):
    transfers = traffic.traces["transfers"]
    assert transfers.columns == [
        "start_s", "group", "packets", "fct_s", "received_fct_s", "slowdown",
    ]  # fmt: skip
    assert set(transfers["group"].cast(pl.String)) == {"web", "asked"}
    web = transfers.filter(pl.col("group") == "web")
    assert web["packets"].unique().to_list() == [12.0]
    measured = web.filter(
        pl.col("start_s").is_between(2, 10, closed="left"), pl.col("fct_s").is_not_null()
    )
    for time in ("fct_s", "received_fct_s"):
        assert measured[time].mean() == pytest.approx(traffic.arrivals[f"mean_{time}"][0])
    assert (measured["received_fct_s"] < measured["fct_s"]).all()
    carried = traffic.traces["cross"]
    assert carried.columns == ["time_s", "source", "carried_bps"]
    inside = carried.filter(pl.col("time_s") >= 2, pl.col("source") == "cbr")
    assert inside["carried_bps"].mean() == pytest.approx(
        traffic.cross["delivered_bps"][0], rel=0.02
    )


def test_frames_of_other_traffic_are_saved(traffic, small, tmp_path):
    again = cwndlab.Result.load(traffic.save(tmp_path))
    assert_frame_equal(again.cross, traffic.cross)
    assert_frame_equal(again.arrivals, traffic.arrivals)
    bare = cwndlab.Result.load(cwndlab.run(small).save(tmp_path))
    assert not (tmp_path / "arrivals.parquet").exists()
    assert bare.arrivals.height == bare.cross.height == 0
    assert bare.arrivals.schema == traffic.arrivals.schema


@pytest.mark.slow
def test_tables_of_other_traffic_are_printed(cli, tmp_path):
    (tmp_path / "traffic.toml").write_text(TRAFFIC)
    shown = cli("run", "traffic.toml").stdout
    for word in (
        "Cross traffic",
        "offered",
        "Finite flows and transfers",
        "slowdown",
        "web",
        "residual",
    ):
        assert word in shown
    data = json.loads(cli("run", "traffic.toml", "--json").stdout)
    assert data["cross"][0]["source"] == "cbr"
    assert data["arrivals"][1]["group"] == "asked"
