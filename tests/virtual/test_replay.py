"""A sender of profile ``linux`` does what the kernel's does, ACK by ACK."""

import pytest

from virtual import replay

RUNS = replay.read()["runs"]
CASES = replay.cases()
KNOWN = {
    "single-39": "the kernel sends the part of a packet that the receiver's window has room for",
}
"""Flows that are not equal to the end, and how they begin to differ."""
LATE_US = 20.0
"""Transmissions may be so late: the kernel's system calls take some of it."""


@pytest.mark.parametrize("name", RUNS)
def test_packets_and_windows_are_the_kernels(name: str) -> None:
    """Equal are the order of all transmissions, and cwnd and ssthresh before each ACK."""
    one = replay.replay(name, CASES[name], RUNS[name])
    if name in KNOWN:
        assert not one.is_whole, f"{name} is equal now: take it from the known ones"
        return
    assert one.is_whole, one
    assert one.late_us < LATE_US, one


def test_another_sender_is_found_out() -> None:
    """Reno in fractions of packets is not the kernel's: the replay says so within 1,000 ACKs."""
    name = "single-9"
    case = {**CASES[name], "flows": [{**CASES[name]["flows"][0], "rule": "AIMD(1, 0.5)"}]}
    one = replay.replay(name, case, RUNS[name])
    assert one.windows < 1000


def test_another_draw_is_found_out() -> None:
    """BBR that begins its cycle with another phase than the kernel's leaves its windows."""
    name = "single-26"
    draws = [(RUNS[name]["draws"][0] + 1) % 7]
    assert not replay.replay(name, CASES[name], {**RUNS[name], "draws": draws}).is_whole


def test_the_drafts_bbr_is_not_the_kernels() -> None:
    """BBR1 has another window within the first round trips."""
    name = "single-26"
    case = {**CASES[name], "flows": [{**CASES[name]["flows"][0], "rule": "BBR1"}]}
    assert replay.replay(name, case, RUNS[name]).windows < 100
