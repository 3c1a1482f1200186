"""Undo of spurious reductions in whole runs: reordering and pauses without any loss."""

from __future__ import annotations

from typing import Any

import pytest

import cwndlab

# The window limit is below the bandwidth-delay product and the queue: no packet is ever dropped.
BASE = {
    "duration": "20s",
    "dumbbell": {
        "rate": "20Mbit",
        "delay": "20ms",
        "queue": {"kind": "drop-tail", "limit": "500pkt"},
    },
}


def flow(profile: str, tcp: dict[str, Any], dumbbell: dict[str, Any], **own: str) -> dict[str, Any]:
    """The figures of a flow that loses nothing."""
    result = cwndlab.run(
        {
            **BASE,
            "profile": profile,
            "dumbbell": {**BASE["dumbbell"], **dumbbell},
            "flows": [{"rule": "AIMD(1, 0.5)", **own}],
            "tcp": {"window": 100, **tcp},
        }
    )
    found = result.flows.row(0, named=True)
    assert found["dropped_packets"] == 0
    return found


REORDERING = {"jitter": {"kind": "uniform", "high": "10ms", "reorder": True}}
# Packets wait in the queue for two seconds, longer than the RTO of a second.
PAUSE = {"outages": [{"from": "5s", "to": "7s"}]}


@pytest.mark.parametrize("recovery", ["reno", "newreno", "sack"])
def test_reordering(recovery: str):
    """By timestamps most reductions are undone, and the flow gets several times as much."""
    without = flow("rfc", {}, REORDERING, recovery=recovery)
    undone = flow("rfc", {"undo": True}, REORDERING, recovery=recovery)
    assert without["undone_reductions"] == 0
    assert undone["undone_reductions"] > 0.9 * undone["fast_retransmits"] > 0
    assert undone["goodput_bps"] > 3 * without["goodput_bps"]


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "newreno", "sack"])
@pytest.mark.parametrize("timestamps", [True, False])
def test_spurious_timeout(recovery: str, timestamps: bool):
    """With timestamps by RFC 3522, without by RFC 5682: the window of before returns at once."""
    tcp = {"timestamps": timestamps}
    without = flow("rfc", tcp, PAUSE, recovery=recovery)
    undone = flow("rfc", {**tcp, "undo": True}, PAUSE, recovery=recovery)
    assert without["timeouts"] == undone["timeouts"] > 0
    assert undone["undone_reductions"] == 1
    # Go-back-n sends most of the 100 packets again; undo only those that timeouts sent.
    assert without["retransmitted_packets"] > 60
    assert undone["retransmitted_packets"] == undone["timeouts"]
    assert undone["mean_cwnd_packets"] > without["mean_cwnd_packets"]


def test_linux_undoes_a_spurious_timeout():
    """Under RACK too, where the probe of the tail is sent before the timeout."""
    without, undone = (flow("linux", {"undo": undo}, PAUSE) for undo in (False, True))
    assert (without["undone_reductions"], undone["undone_reductions"]) == (0, 1)
    assert undone["retransmitted_packets"] < 10 < without["retransmitted_packets"]


def test_dsack_widens_the_reordering_window():
    """RFC 8985 section 6.2: needless retransmissions make RACK more patient, soon enough."""
    impatient, patient = (
        flow("linux", {"undo": False, "dsack": dsack}, REORDERING) for dsack in (False, True)
    )
    assert patient["retransmitted_packets"] < impatient["retransmitted_packets"] + 5
    assert patient["goodput_bps"] > 1.2 * impatient["goodput_bps"]


@pytest.mark.parametrize("rule", ["AIMD(1, 0.5)", "CUBIC", "BBR1", "BBR3"])
@pytest.mark.parametrize("profile", ["rfc", "linux"])
@pytest.mark.parametrize("recovery", ["reno", "newreno", "sack"])
def test_real_losses_are_not_undone(rule: str, profile: str, recovery: str):
    """Without reordering none is spurious, however many recoveries follow each other."""
    dumbbell = {
        "rate": "50Mbit",
        "delay": "20ms",
        "queue": {"kind": "drop-tail", "limit": "1000pkt"},
        "loss": [{"kind": "bernoulli", "p": 0.01}],
    }
    scenario = {"duration": "10s", "profile": profile, "tcp": {"undo": True}, "dumbbell": dumbbell}
    flow = {"rule": rule, "recovery": recovery}
    found = cwndlab.run({**scenario, "flows": [flow]}).flows.row(0, named=True)
    assert found["fast_retransmits"] > 5
    assert found["undone_reductions"] == 0
