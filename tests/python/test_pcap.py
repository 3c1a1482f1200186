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
    assert count(path, "tcp.flags.ece == 1 && tcp.flags.syn == 0") == echoes
    # The SYN asks for ECN by ECE and CWR, the SYN/ACK agrees by ECE (section 6.1.1).
    assert count(path, "tcp.flags == 0x0c2") == count(path, "tcp.flags == 0x052") == 1
    # One CWR for each reduction, whatever its cause (section 6.1.2); the last may still be to come.
    cuts = result.flows["window_reductions"][0]
    assert (
        cuts - 1
        <= count(path, "tcp.flags.cwr == 1 && tcp.dstport == 5001 && tcp.flags.syn == 0")
        <= cuts
    )
    data, capable = (
        count(path, f"tcp.dstport == 5001 && {condition}")
        for condition in ("ip", "ip.dsfield.ecn == 2")
    )
    # All but the SYN, and retransmissions (section 6.1.5).
    sent = result.traces["packets"].filter(pl.col("event") == "send")
    assert data == sent.height
    assert capable == data - 1 - sent["retransmission"].sum()


@pytest.mark.slow
@pytest.mark.parametrize("ect1", [False, True])
def test_accecn_counters_are_in_the_headers(tmp_path, ect1):
    scenario = cwndlab.dumbbell(
        "20Mbit", "20ms", flows="DCTCP", duration="5s", trace={"packets": True}, profile="linux"
    )
    scenario = scenario.set("tcp.ecn", True).set("tcp.ecn_feedback", "accecn")
    scenario = scenario.set("tcp.ect1", ect1).set(
        "dumbbell.queue",
        {"kind": "red", "limit": "200pkt", "min": "5pkt", "max": "100pkt", "max_p": 1,
         "weight": 1, "wait": False, "ecn": True},
    )  # fmt: skip
    path = tmp_path / "accecn.pcapng"
    result = cwndlab.run(scenario, pcap=path)
    # RFC 9768 section 3.1.1: AE, CWR and ECE of the SYN, CWR of the SYN/ACK.
    assert count(path, "tcp.flags == 0x1c2") == count(path, "tcp.flags == 0x092") == 1
    codepoint = 1 if ect1 else 2
    sent = result.traces["packets"].filter(pl.col("event") == "send", ~pl.col("retransmission"))
    assert count(path, f"ip.dsfield.ecn == {codepoint}") == sent.height - 1
    # The last ACK: how many packets with CE had arrived, modulo 8. The option: their bytes.
    acks = subprocess.run(
        ["tshark", "-r", str(path), "-Y", "tcp.srcport == 5001", "-T", "fields",
         "-e", "tcp.flags", "-e", "tcp.options", "-e", "tcp.ack_raw"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    fields = [line.split("\t") for line in acks]
    received = result.traces["packets"].filter(pl.col("event") == "receive")
    highest = max(int(fields[-1][2]), 1)
    arrived = received.filter(pl.col("seq") * 1448 < highest)
    marks = arrived["marked"].sum()
    assert marks > 50
    ace = int(fields[-1][0], 16) >> 6 & 7
    assert ace == (5 + marks) % 8
    kind = "ac08000001" if ect1 else "ae08000001"
    options = [line[1] for line in fields if line[1].startswith(kind)]
    counted = int(options[-1][10:16], 16)
    assert counted == marks * 1448


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_a_transfer_has_the_bytes_that_were_asked_for(tmp_path, profile):
    """The last packet is short, also where a retransmission repeats it."""
    flow = {"rule": "AIMD(1, 0.5)", "bytes": "1234567B"}
    scenario = cwndlab.dumbbell("5Mbit", "20ms", flows=[flow], duration="10s", profile=profile)
    scenario = scenario.set("trace", {"rate": "100ms"}).set(
        "dumbbell.loss", [{"kind": "bernoulli", "p": 0.01}]
    )
    path = tmp_path / "transfer.pcapng"
    result = cwndlab.run(scenario, pcap=path)
    assert result.flows["finish_s"][0] < 10
    assert result.flows["goodput_bps"][0] * 10 == pytest.approx(8 * 1_234_567, rel=1e-12)
    fields = ["tcp.seq_raw", "tcp.len", "tcp.ack_raw"]
    shown = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", *[x for f in fields for x in ("-e", f)]],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    rows = [[int(value) for value in line.split("\t")] for line in shown]
    first = 1  # The SYN has 0.
    assert max(sequence + length for sequence, length, _ in rows) == first + 1_234_567
    assert max(ack for *_, ack in rows) == first + 1_234_567
    payloads = {sequence: length for sequence, length, _ in rows if length > 0}
    assert sum(payloads.values()) == 1_234_567
    rates = result.traces["rate"]
    assert rates["goodput_bps"].sum() * 0.1 == pytest.approx(8 * 1_234_567, rel=1e-9)
