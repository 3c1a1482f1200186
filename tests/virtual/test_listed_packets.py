"""Listed packets are dropped and held back in the kernel as they are in the simulator."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pytest

from cwndlab import Result, run
from cwndlab.errors import LiveError
from cwndlab.kernel_runs import kernels, program
from cwndlab.live_runs.run import counterpart, linux
from cwndlab.scenario import Scenario

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not program.BUILT.is_file(), reason="needs `make live`"
)


@pytest.fixture(scope="module")
def kernel() -> kernels.Kernel:
    try:
        return kernels.find()
    except LiveError as error:
        pytest.skip(str(error))


def homes(kernel: kernels.Kernel, rule: str, drop: list[dict[str, Any]]) -> tuple[Result, Result]:
    """Run two flows, the second one beside the end of the first, in the kernel and simulated.

    A packet takes 0.6 ms on the link, a round trip 40 ms and more.
    """
    flows = [{"name": "a", "rule": rule, "packets": 600},
             {"name": "b", "rule": rule, "start": "500ms", "packets": 100}]  # fmt: skip
    scenario = Scenario.from_dict({
        "duration": "3s", "dumbbell": {"rate": "20Mbit", "delay": "20ms", "drop": drop},
        "flows": flows, "trace": {"packets": True},
    })  # fmt: skip
    return linux(scenario, kernel=kernel), run(counterpart(scenario))


def numbers(result: Result, event: str) -> list[tuple[str, int]]:
    """Flow and number of the packets with an event, in order of time."""
    rows = result.traces["packets"].filter(pl.col("event") == event).sort("time_s")
    return rows.select("flow", "seq").rows()


@pytest.mark.parametrize("rule", ["kernel:reno", "kernel:cubic"])
def test_the_same_transmissions_are_dropped(kernel, rule):
    """Both senders repair the loss of a retransmission, and each packet is sent equally often."""
    drop = [
        {"flow": "a", "packet": 60},
        {"flow": "a", "packet": 60, "transmission": 2},
        {"flow": "a", "packet": 61},
        {"flow": "a", "packet": 300},
        {"flow": "a", "packet": 310, "transmission": 2},
        {"flow": "b", "packet": 20},
    ]
    real, simulated = homes(kernel, rule, drop)
    dropped = [("a", 60), ("a", 60), ("a", 61), ("a", 300), ("b", 20)]
    assert sorted(numbers(real, "drop")) == sorted(numbers(simulated, "drop")) == sorted(dropped)
    for result in (real, simulated):
        assert result.flows["total_dropped_packets"].to_list() == [4, 1]
        assert result.flows["finish_s"].null_count() == 0
    assert sorted(numbers(real, "send")) == sorted(numbers(simulated, "send"))


def test_the_same_packets_are_late(kernel):
    """What arrives is in the same order, and each held packet is behind those that overtook it."""
    drop = [
        {"flow": "a", "packet": 100, "hold": "12ms"},
        {"flow": "a", "packet": 200, "hold": "2ms"},
    ]
    real, simulated = homes(kernel, "kernel:cubic", drop)
    arrived = [[seq for name, seq in numbers(result, "receive") if name == "a"]
               for result in (real, simulated)]  # fmt: skip
    assert arrived[0] == arrived[1]
    assert numbers(real, "drop") == numbers(simulated, "drop") == []
    for number, most in ((100, 20), (200, 3)):
        overtook = arrived[0].index(number) - arrived[0].index(number - 1) - 1
        assert 0 < overtook <= most


def test_the_syn_is_packet_0(kernel):
    """Linux repeats a SYN after a second."""
    real, simulated = homes(kernel, "kernel:cubic", [{"flow": "a", "packet": 0}])
    for result in (real, simulated):
        assert numbers(result, "drop") == [("a", 0)]
        assert numbers(result, "send").count(("a", 0)) == 2
