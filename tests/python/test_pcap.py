"""Captures, read by tshark: what Wireshark shows of a run is what its packet trace says."""

from __future__ import annotations

import shutil
import subprocess

import polars as pl
import pytest

import cwndlab

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark (Debian package tshark) is not installed"
)


def count(path, condition):
    done = subprocess.run(
        ["tshark", "-r", str(path), "-Y", condition, "-T", "fields", "-e", "frame.number"],
        capture_output=True,
        text=True,
        check=True,
    )
    return len(done.stdout.split())


@pytest.mark.slow
def test_marks_are_where_rfc_3168_has_them(tmp_path):
    scenario = cwndlab.dumbbell(
        "2Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s", trace={"packets": True}
    )
    scenario = scenario.set("tcp.ecn", True).set(
        "dumbbell.queue", {"kind": "red", "limit": "50pkt", "ecn": True}
    )
    path = tmp_path / "marks.pcapng"
    result = cwndlab.run(scenario, pcap=path)
    acks = result.traces["packets"].filter(pl.col("event") == "ack")
    echoes = acks["marked"].sum()
    reductions = result.flows["ecn_reductions"][0]
    assert echoes > reductions > 0
    assert count(path, "tcp.flags.ece == 1") == echoes
    # One CWR for each reduction, whatever its cause (section 6.1.2); the last may still be to come.
    cuts = result.flows["window_reductions"][0]
    assert cuts - 1 <= count(path, "tcp.flags.cwr == 1 && tcp.dstport == 5001") <= cuts
    data, capable = (
        count(path, f"tcp.dstport == 5001 && {condition}")
        for condition in ("ip", "ip.dsfield.ecn == 2")
    )
    # All but the SYN, and retransmissions (section 6.1.5).
    sent = result.traces["packets"].filter(pl.col("event") == "send")
    assert data == sent.height
    assert capable == data - 1 - sent["retransmission"].sum()
