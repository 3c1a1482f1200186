"""Networks beyond the dumbbell: builders that return scenarios of links between named nodes.

Links are unidirectional; acknowledgements return with the same delay, without queueing or loss.

>>> from cwndlab import topologies
>>> topologies.ring(4, "10Mbit", "15ms", rule="AIAD(1, 3)")
<Scenario ring: AIAD(1, 3), AIAD(1, 3), AIAD(1, 3), AIAD(1, 3) for 60s>

A dumbbell with unequal round trips needs no builder of its own: give `cwndlab.dumbbell` flows with
an `access_delay` each, or one interval for all of them.

>>> from cwndlab import dumbbell
>>> unequal = dumbbell("10Mbit", "10ms", flows=[
...     {"name": "near", "rule": "AIMD(1, 0.5)", "access_delay": "0ms"},
...     {"name": "far", "rule": "AIMD(1, 0.5)", "access_delay": "40ms"},
... ])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from cwndlab import native
from cwndlab.arguments import keywords
from cwndlab.documents import is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, same_name
from cwndlab.names import queues
from cwndlab.quantities import Quantity
from cwndlab.scenario import Scenario, dumbbell

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

__all__ = ["dumbbell", "parking_lot", "ring", "second_topology"]

Table = Mapping[str, Any]


@keywords(lambda: native.schema()["properties"])
def parking_lot(
    hops: int,
    rate: Quantity | Table,
    delay: Quantity,
    *,
    rule: Rule | Table,
    short: Rule | Table | None = None,
    queue: str | Table | None = None,
    duration: Quantity = "60s",
    **settings: Any,
) -> Scenario:
    """Build a parking lot: one flow crosses all links, and each link has a flow of its own.

    Parameters
    ----------
    hops : int
        Links, at least 1; from node ``R0`` to node ``R1`` and so on.
    rate, delay : str, float or mapping
        Of every link (bit/s and seconds if bare numbers).
    rule : rule or mapping
        The long flow: a rule, or a table of flow keys with one.
    short : rule or mapping, optional
        The flow of each single link; by default the long flow's rule.
    queue : str or mapping, optional
        Queue, or its kind, of every link; by default drop-tail, one bandwidth-delay product.
    duration : str or float
        Simulated time.
    **settings
        Other keys of the scenario.

    Raises
    ------
    ScenarioError
        If there is no link, or a key or value is not valid.

    Examples
    --------
    >>> scenario = parking_lot(3, "10Mbit", "15ms", rule="AIMD(1, 0.5)")
    >>> [flow["name"] for flow in scenario["flows"]]
    ['long', 'short-1', 'short-2', 'short-3']
    """
    if hops < 1:
        raise ScenarioError(invalid("hops", hops, "1 or more"))
    single = _flow(rule if short is None else short)
    links = [_link(f"R{i}", f"R{i + 1}", rate, delay, queue) for i in range(hops)]
    names = [link["name"] for link in links]
    flows = [{"name": "long", **_flow(rule), "path": names}]
    flows += [{"name": f"short-{i}", **single, "path": [name]} for i, name in enumerate(names, 1)]
    return _scenario("parking-lot", links, flows, duration, settings)


@keywords(lambda: native.schema()["properties"])
def ring(
    size: int,
    rate: Quantity | Table,
    delay: Quantity,
    *,
    rule: Rule | Table,
    queue: str | Table | None = None,
    duration: Quantity = "60s",
    **settings: Any,
) -> Scenario:
    """Build a ring of links: every flow crosses two of them, each shared with another flow.

    Flow i enters at node i, crosses links i and i + 1 and leaves: it meets flow i - 1 on its first
    link and flow i + 1 on its second (Akella et al. 2002, section 4.1.3).

    Parameters
    ----------
    size : int
        Links, nodes and flows, at least 3.
    rate, delay : str, float or mapping
        Of every link (bit/s and seconds if bare numbers).
    rule : rule or mapping
        The flows: a rule, or a table of flow keys with one; ``count`` makes several per node.
    queue : str or mapping, optional
        Queue, or its kind, of every link; by default drop-tail, one bandwidth-delay product.
    duration : str or float
        How long to simulate.
    **settings
        Other keys of the scenario.

    Raises
    ------
    ScenarioError
        If the ring is too small, or a key or value is not valid.

    Examples
    --------
    >>> ring(3, "10Mbit", "15ms", rule={"rule": "AIMD(1, 0.5)", "count": 5})["flows"][2]["path"]
    ['R2-R0', 'R0-R1']
    """
    if size < 3:
        raise ScenarioError(invalid("size", size, "3 or more"))
    links = [_link(f"R{i}", f"R{(i + 1) % size}", rate, delay, queue) for i in range(size)]
    names = [link["name"] for link in links]
    flows = [
        {"name": f"flow-{i}", **_flow(rule), "path": [names[i], names[(i + 1) % size]]}
        for i in range(size)
    ]
    return _scenario("ring", links, flows, duration, settings)


@keywords(lambda: native.schema()["properties"])
def second_topology(
    rate: Quantity,
    delay: Quantity,
    *,
    rule: Rule | Table,
    arrivals: Table,
    placeholder: Rule | Table = "AIMD(1, 0.5)",
    queue: str | Table | None = None,
    entry_queue: str | Table | None = None,
    entry_delay: Quantity = "1ms",
    duration: Quantity = "60s",
    **settings: Any,
) -> Scenario:
    """Build a network whose cross traffic are arriving flows (Akella et al. 2002, figure 3b).

    ::

        arrivals     --> R0 ---------> R1 ==bottleneck==> R2   test flows and arrivals end here
        placeholders -->   (leave at R1)
        test flows   ----------------> R1

    R0 shares its link fairly between the arriving flows and the placeholders, as many as there are
    test flows: what arrives at the bottleneck is the share it would have among the test flows.
    There it has priority.

    Parameters
    ----------
    rate : str or float
        Of both links.
    delay : str or float
        Of the bottleneck.
    rule : rule or mapping
        The test flows, named ``flow``: a rule, or a table of flow keys with one, such as ``count``.
    arrivals : mapping
        Keys of ``[[arrivals]]``: at least ``rule``, ``size`` and ``gap`` or ``phases``.
    placeholder : rule or mapping
        The placeholder flows; as many as test flows if it has no ``count``.
    queue : str or mapping, optional
        Queue, or its kind, of the bottleneck; by default RIO.
    entry_queue : str or mapping, optional
        Queue, or its kind, of the link from R0 to R1; by default DRR.
    entry_delay : str or float
        Delay of that link.
    duration : str or float
        How long to simulate.
    **settings
        Other keys of the scenario.

    Raises
    ------
    ScenarioError
        If a key or value is not valid.
    """
    test = _flow(rule)
    holder = {"count": test.get("count", 1), **_flow(placeholder)}
    links = [
        _link("R0", "R1", rate, entry_delay, entry_queue or {"kind": "drr"}, name="entry"),
        _link("R1", "R2", rate, delay, queue or {"kind": "rio"}, name="bottleneck"),
    ]
    flows = [
        {"name": "flow", **test, "path": ["bottleneck"]},
        # The hyphen stays: the name of a group seeds the random numbers of its flows.
        {"name": "place-holder", **holder, "path": ["entry"]},
    ]
    crossing = {"name": "cross", "priority": 0, **arrivals, "path": ["entry", "bottleneck"]}
    return _scenario(
        "second-topology", links, flows, duration, {"arrivals": [crossing], **settings}
    )


def _flow(given: Rule | Table) -> dict[str, Any]:
    return dict(given) if is_mapping(given) else {"rule": native.rule(cast("Rule", given))}


def _link(
    start: str,
    end: str,
    rate: Quantity | Table,
    delay: Quantity,
    queue: str | Table | None,
    name: str = "",
) -> dict[str, Any]:
    link: dict[str, Any] = {
        "name": name or f"{start}-{end}",
        "from": start,
        "to": end,
        "rate": rate,
        "delay": delay,
    }
    if isinstance(queue, str):
        queue = {"kind": same_name(queue, queues())}
    return {**link, "queue": dict(queue)} if queue else link


def _scenario(
    name: str, links: Sequence[Table], flows: Sequence[Table], duration: Quantity, settings: Table
) -> Scenario:
    document = {
        "name": name,
        "duration": duration,
        **settings,
        "links": list(links),
        "flows": list(flows),
    }
    return Scenario(document)
