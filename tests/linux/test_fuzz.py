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
        assert equal_flows(kind, rule, number, kept) == was, number


def test_another_receiver_is_found_out() -> None:
    """Flows that delay no ACKs are not those of the kernel."""
    equal = [i for i, kept in enumerate(read("one flow", "reno")[:FIRST]) if not kept["apart"]]
    assert equal
    assert not all(
        all(equal_flows("one flow", "cubic", i, read("one flow", "reno")[i])) for i in equal
    )
