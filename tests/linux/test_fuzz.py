"""Random scenarios end as they did beside the kernel: equal to it, or apart as it is kept."""

import pytest

from linux.fuzz import KINDS, equal_flows, read
from linux.generate import RULES

FIRST = 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_flows_are_the_kernels_where_they_were(kind: str, rule: str) -> None:
    """A flow that is equal now and was not is good news: `--record` keeps it."""
    for number, kept in enumerate(read(kind, rule)[:FIRST]):
        names = [flow["name"] for flow in KINDS[kind](rule, number)["flows"]]
        was = [name not in kept["apart"] for name in names]
        assert equal_flows(KINDS[kind](rule, number), kept) == was, number


def test_another_receiver_is_found_out() -> None:
    """ACKs for every second packet from the start are not the kernel's."""
    cases = [
        (KINDS["one flow"]("reno", i), kept) for i, kept in enumerate(read("one flow", "reno"))
    ]
    case, kept = next(
        (case, kept)
        for case, kept in cases
        if not kept["apart"] and "packets" not in case["flows"][0]
    )
    other = {**case, "tcp": {**case["tcp"], "receive_buffer": 0}}
    assert equal_flows(case, kept) == [True]
    assert equal_flows(other, kept) == [False]
