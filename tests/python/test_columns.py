"""Definitions of columns: one each, for Arrow, Parquet, tables, plots and documents."""

from __future__ import annotations

import json
import math

import polars as pl
import pyarrow as pa
import pytest

import cwndlab
from cwndlab.columns import COLUMNS, RUN, TRACES

TRACE = {"cwnd": "1s", "rule": "1s", "queue": "1s", "rate": "1s", "packets": True}
SCENARIO = cwndlab.dumbbell(
    "2Mbit", "10ms",
    flows=[{"rule": "CUBIC"}, {"rule": "AIMD(1, 0.5)", "responses": {"size": 3, "think": "1s"}}],
    cross=[{"rate": "100kbit"}], duration="5s", trace=TRACE,
)  # fmt: skip
UNITS = {"_packets": "packets", "_bps": "bit/s", "_bytes": "bytes", "_s": "s", "_ns": "ns"}


@pytest.fixture(scope="module")
def run():
    return SCENARIO.core.run()


def test_every_field_and_column_is_defined(run):
    result = cwndlab.Result.from_run(run, {})
    assert set(result.fields) == set(RUN)
    for table, columns in COLUMNS.items():
        assert getattr(result, table).columns == list(columns)
    assert set(result.traces) == set(TRACES)
    for table, frame in result.traces.items():
        undefined = [name for name in frame.columns if name not in TRACES[table]]
        # What a rule reports of its state only has a unit.
        assert (undefined != []) == (table == "rule"), (table, undefined)


def test_arrow_fields_carry_the_definitions(run):
    for tables, defined in ((run.tables(), COLUMNS), (run.traces(), TRACES)):
        for name, table in tables.items():
            for field in pa.table(table).schema:
                about = {
                    key.decode(): text.decode() for key, text in (field.metadata or {}).items()
                }
                column = defined[name].get(field.name)
                if column is None:
                    unit = next(
                        (unit for end, unit in UNITS.items() if field.name.endswith(end)), ""
                    )
                    assert about == ({"unit": unit} if unit else {})
                    continue
                assert about.get("unit", "") == column.unit
                assert about["meaning"] == column.meaning
                better = {"higher": True, "lower": False}.get(about.get("better", ""))
                assert better == column.more_is_better
                low, high = (float(about.get(key, end)) for key, end in
                             (("low", "-inf"), ("high", "inf")))  # fmt: skip
                assert (low, high) == column.bounds


def test_parquet_files_have_units(run, tmp_path):
    cwndlab.Result.from_run(run, {}).save(tmp_path)
    about = json.loads(pl.read_parquet_metadata(tmp_path / "links.parquet")["columns"])
    assert about["p99_queueing_delay_s"]["unit"] == "s"
    assert list(about) == list(COLUMNS["links"])
    about = json.loads(pl.read_parquet_metadata(tmp_path / "trace-queue.parquet")["columns"])
    assert about["queue_packets"]["unit"] == "packets"


def test_values_lie_within_the_bounds(run):
    result = cwndlab.Result.from_run(run, {})
    for table, columns in COLUMNS.items():
        for name, column in columns.items():
            if column.kind == "text":
                continue
            values = getattr(result, table)[name].drop_nulls()
            low, high = column.bounds
            assert ((values >= low) & (values <= high)).all(), (table, name)


def test_percentiles_of_the_rtt_are_those_of_the_packets():
    """Without losses each ACK of an undelayed receiver answers one packet: the trace has both."""
    scenario = cwndlab.dumbbell(
        "5Mbit", "20ms", flows="AIMD(1, 0.5)", duration="20s", measure=["5s", "15s"], seed=3,
        queue={"kind": "drop-tail", "limit": "1000pkt"}, tcp={"window": 60},
        trace={"packets": True, "rtt": True},
    )  # fmt: skip
    result = cwndlab.run(scenario)
    (flow,) = result.flows.to_dicts()
    packets = result.traces["packets"].with_columns(pl.col("event").cast(pl.String))
    sent = packets.filter(event="send").select("seq", sent_s="time_s")
    acks = packets.filter(event="ack").join(sent, on="seq")
    acks = acks.filter(pl.col("time_s").is_between(5, 15, closed="left"))
    rtts = (acks["time_s"] - acks["sent_s"]).sort().to_numpy()
    assert len(rtts) > 1000
    assert flow["mean_rtt_s"] == pytest.approx(rtts.mean())
    quantiles = {"p50_rtt_s": 0.5, "p95_rtt_s": 0.95, "p99_rtt_s": 0.99, "p999_rtt_s": 0.999}
    for name, quantile in quantiles.items():
        exact = rtts[math.ceil(quantile * len(rtts)) - 1]
        # The middle of a bucket whose width is 1/32 of its value.
        assert flow[name] == pytest.approx(exact, rel=1 / 63)


def test_percentiles_change_nothing_else():
    base = cwndlab.dumbbell("5Mbit", "20ms", flows="CUBIC", duration="10s")
    plain, asked = cwndlab.run(base), cwndlab.run(base.set("trace.rtt", True))
    assert plain.trace_hash == asked.trace_hash
    assert plain.flows["p95_rtt_s"].to_list() == [None]
    assert asked.traces == {}
    percentiles = ["p50_rtt_s", "p95_rtt_s", "p99_rtt_s", "p999_rtt_s"]
    assert plain.flows.drop(percentiles).equals(asked.flows.drop(percentiles))


def test_percentiles_of_the_queueing_delay_are_those_of_a_queue_that_grows():
    """A constant load above the rate fills an empty queue evenly: percentiles are in proportion."""
    scenario = cwndlab.dumbbell(
        "1Mbit", "1ms", flows="AIMD(1, 0.5)", duration="10s", measure=["0s", "10s"],
        cross=[{"rate": "1.5Mbit", "packet_size": 1000}],
        queue={"kind": "drop-tail", "limit": "100000pkt"},
    ).set("flows.*.start", "9.99s")  # fmt: skip
    link = cwndlab.run(scenario).links.row(0, named=True)
    found = [link[f"p{q}_queueing_delay_s"] for q in (50, 95, 99, 999)]
    # The last one waits for what has arrived less what has left: 10 s x 0.5.
    assert found == pytest.approx([2.5, 4.75, 4.95, 4.995], rel=1 / 63)


def test_lowest_share_is_of_the_flow_that_gets_least():
    result = cwndlab.run(
        cwndlab.dumbbell(
            "5Mbit", "10ms", duration="20s",
            flows=[{"name": "small", "rule": "AIMD(1, 0.5)", "tcp": {"window": 2}},
                   {"name": "large", "rule": "AIMD(1, 0.5)"}],
        )
    )  # fmt: skip
    rates = dict(result.flows.select("flow", "goodput_bps").iter_rows())
    assert result.lowest_share == pytest.approx(rates["small"] / (sum(rates.values()) / 2))
    assert result.lowest_share < 0.5
