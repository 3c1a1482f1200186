"""Whole runs of profile ``linux`` are those of the kernel, which they exchange nothing with."""

import pytest

from virtual.beside import beside
from virtual.kept import every, read

KEPT = read()["runs"]
CASES = {name: case for name, case in every().items() if name.startswith("single-")
         and case["flows"][0]["rule"] in ("kernel:reno", "kernel:cubic")}  # fmt: skip
PARTS = "the kernel sends the part of a packet that the receiver's window has room for"
ROOT = "cubic_root begins with another guess"
KNOWN = {
    "single-6": PARTS,
    "single-10": PARTS,
    "single-39": PARTS,
    "single-12": ROOT,
    "single-24": ROOT,
    "single-38": ROOT,
    "single-17": "a retransmission follows 0.2 ms earlier in the kernel",
    "single-31": "a packet meets a full queue a step of the kernel's clock earlier",
    "single-34": "RACK waits 0.8 ms more in the kernel",
}
"""Flows that part from the kernel's, and how."""


@pytest.mark.parametrize("name", CASES)
def test_a_flow_is_the_kernels_from_the_first_packet_to_the_last(name: str) -> None:
    """Equal are the order of packets and ACKs, and cwnd and ssthresh before each ACK."""
    found = beside(name, CASES[name], KEPT[name])
    assert found.equal == [name not in KNOWN], KNOWN.get(name, name)


def test_another_receiver_is_found_out() -> None:
    """ACKs for every second packet from the start are not the kernel's."""
    name = "single-9"
    other = {**CASES[name], "tcp": {**CASES[name]["tcp"], "receive_buffer": 0}}
    assert beside(name, other, KEPT[name]).equal == [False]
