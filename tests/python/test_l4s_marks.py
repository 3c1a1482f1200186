"""Marks of an L4S and of a classic flow: a link counts what the packet trace shows."""

from __future__ import annotations

import polars as pl
import pytest

import cwndlab

QUEUES = (
    {"kind": "dualpi2", "limit": "1000pkt"},
    {"kind": "codel", "limit": "1000pkt", "ecn": True},
    {"kind": "red", "limit": "1000pkt", "min": "20pkt", "max": "60pkt", "ecn": True},
)


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue["kind"])
def test_marks_are_of_packets_with_ect_1_or_with_ect_0(queue):
    result = cwndlab.run(
        {
            "duration": "20s",
            "measure": ["0s", "20s"],
            "profile": "linux",
            "dumbbell": {"rate": "10Mbit", "delay": "10ms", "queue": queue},
            # They end before the run does, so that every mark arrives.
            "flows": [
                {"name": "l4s", "rule": "Prague", "stop": "18s"},
                {"name": "classic", "rule": "AIMD(1, 0.5)", "stop": "18s", "tcp": {"ecn": True}},
            ],
            "trace": {"packets": True},
        }
    )
    packets = result.traces["packets"].filter(pl.col("event").cast(pl.String) == "receive")
    marks = packets.filter("marked")["flow"].cast(pl.String).value_counts()
    arrived = dict(marks.iter_rows())
    link = result.links.row(0, named=True)
    assert arrived["l4s"] > 10
    assert arrived["classic"] > 10
    assert link["l4s_marked_packets"] == arrived["l4s"]
    assert link["marked_packets"] - link["l4s_marked_packets"] == arrived["classic"]
