"""What a busy machine excuses, and what nothing does."""

from __future__ import annotations

import pytest
from host_load import Load, measured, unless_busy

pytestmark = pytest.mark.anywhere


def test_a_miss_on_a_quiet_machine_fails():
    with pytest.raises(AssertionError, match="too slow"), unless_busy(Load()):
        raise AssertionError("too slow")


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (Load(steal_share=0.1), "10 % of CPU time was stolen"),
        (Load(others_share=0.5), "other processes took 50 % of CPU time"),
        (Load(latency_ms=30.0), "a process was woken up 30 ms late"),
    ],
)
def test_a_miss_on_a_busy_machine_skips_with_the_figure(load, says):
    says = f"the machine was too busy: {says}; failed: too slow"
    with pytest.raises(pytest.skip.Exception, match=says), unless_busy(load):
        raise AssertionError("too slow")


def test_figures_are_measured_whatever_becomes_of_the_block():
    load = Load(latency_ms=-1.0)
    with pytest.raises(ValueError, match="anything"), measured(load):
        raise ValueError("anything")
    assert load.latency_ms >= 0
    assert 0 <= load.others_share <= 1
