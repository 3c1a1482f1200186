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
from cwndlab.results import PACKET_EVENTS

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
    assert copy.deepcopy(result).trace_hash == pickle.loads(pickle.dumps(result)).trace_hash == result.trace_hash


def test_traces_have_names_and_units(result):
    cwnd = result.traces["cwnd"]
    assert cwnd.columns == ["time_s", "flow", "cwnd_packets", "ssthresh_packets", "srtt_s"]
    assert cwnd["flow"].unique().cast(pl.String).sort().to_list() == ["a-0", "a-1", "b"]
    assert cwnd["time_s"].max() <= 10.0
    assert cwnd["cwnd_packets"].min() > 0
    links = result.traces["queue"]["link"].unique().cast(pl.String)
    assert links.sort().to_list() == ["bottleneck", "bottleneck-back"]
    assert result.traces["queue"]["queue_packets"].max() > 5


def test_packet_trace_agrees_with_the_flows(result):
    packets = result.traces["packets"]
    assert packets["time_ns"].is_sorted()
    assert set(packets["event"].unique().cast(pl.String)) <= set(PACKET_EVENTS)
    sent = packets.filter(pl.col("event") == "send").group_by(pl.col("flow").cast(pl.String)).len()
    totals = dict(result.flows.select("flow", "total_sent_packets").iter_rows())
    assert dict(sent.iter_rows()) == totals


def test_rate_trace_adds_up_to_the_goodput(result):
    measured = result.traces["rate"].filter(pl.col("time_s") >= 2.0)
    assert measured["goodput_bps"].sum() / 8 == pytest.approx(result.aggregate_goodput_bps, rel=0.01)


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
        'duration = "2s"\ndumbbell = { rate = "4Mbit", delay = "5ms" }\ncross = [{ rate = "1Mbit" }]\n'
    )
    alone = cwndlab.run(scenario)
    with_flow = cwndlab.run(cwndlab.dumbbell("4Mbit", "5ms", duration="2s", flows=[{"rule": "AIMD(1, 0.5)"}]))
    assert alone.flows.height == 0
    assert alone.flows.schema == with_flow.flows.schema
    # A quarter of the link, in packets of 1000 bytes: 125 a second.
    assert alone.links["departed_packets"][0] == pytest.approx(250, abs=1)
