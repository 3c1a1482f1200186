"""Each group of flows alone: the runs that harm is measured from (`cwndlab.groups`).

Where a scenario's ``[trace]`` has ``solo = true``, a run of it is followed by one for each group of
flows, in the same network, with the same seed, cross traffic and finite flows, but without the
other groups. The name of a group seeds its random numbers, so that its flows start as they did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cwndlab.groups import with_groups

Document = Mapping[str, Any]
Run = Mapping[str, Any]


def is_asked(document: Document) -> bool:
    """Whether a scenario asks for these runs."""
    return bool(document.get("trace", {}).get("solo"))


def count(document: Document) -> int:
    """Count the runs that a scenario takes.

    Examples
    --------
    >>> flows = [{"name": "a", "rule": "CUBIC"}, {"name": "b", "rule": "Vegas"}]
    >>> count({"flows": flows}), count({"flows": flows, "trace": {"solo": True}})
    (1, 3)
    """
    return 1 + (len(document.get("flows", ())) if is_asked(document) else 0)


def together(document: Document) -> dict[str, Any]:
    """Return the scenario of all groups, as what runs it knows it."""
    if not is_asked(document):
        return dict(document)
    return {**document, "trace": {k: v for k, v in document["trace"].items() if k != "solo"}}


def alone(document: Document) -> dict[str, dict[str, Any]]:
    """Return the scenario of each group alone, without traces.

    Examples
    --------
    >>> flows = [{"name": "a", "rule": "CUBIC"}, {"name": "b", "rule": "Vegas"}]
    >>> found = alone({"duration": "5s", "flows": flows, "trace": {"solo": True, "rtt": True}})
    >>> found["b"]
    {'duration': '5s', 'flows': [{'name': 'b', 'rule': 'Vegas'}]}
    """
    rest = {key: value for key, value in document.items() if key not in ("flows", "trace")}
    return {group["name"]: {**rest, "flows": [group]} for group in document["flows"]}


def solo(
    document: Document, perform: Callable[[dict[str, Any]], Run]
) -> dict[str, dict[str, float | None]]:
    """Run each group alone.

    Parameters
    ----------
    document : mapping
        The scenario, in which every group of flows has a name.
    perform : callable
        Runs a scenario.

    Returns
    -------
    dict
        Group to its ``goodput_bps`` (of a flow while it is active, bit/s) and ``mean_rtt_s`` (s):
        the field ``solo`` of the result of all.
    """
    rows = (with_groups(perform(own))["groups"][0] for own in alone(document).values())
    return {
        row["group"]: {"goodput_bps": row["active_goodput_bps"], "mean_rtt_s": row["mean_rtt_s"]}
        for row in rows
    }


class Progress:
    """Progress of several runs, one after the other, as that of one.

    Parameters
    ----------
    report : callable, optional
        Gets the simulated seconds and the packets so far, of all runs.

    Examples
    --------
    >>> progress = Progress(lambda seconds, packets: print(seconds, packets))
    >>> progress(2.0, 10)
    2.0 10
    >>> progress.next()
    >>> progress(1.0, 5)
    3.0 15
    """

    def __init__(self, report: Callable[[float, int], object] | None) -> None:
        self._report = report
        self._before = self._now = (0.0, 0)

    def __call__(self, simulated_s: float, packets: int) -> None:
        """Report how far the present run is."""
        self._now = (self._before[0] + simulated_s, self._before[1] + packets)
        if self._report is not None:
            self._report(*self._now)

    def next(self) -> None:
        """Another run begins."""
        self._before = self._now
