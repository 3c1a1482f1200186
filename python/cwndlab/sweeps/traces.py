"""The traces of a run that a sweep keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cwndlab import link_arrivals

TRANSFERS = "transfers"
"""The trace of finite flows and responses, which every run with some of them has."""
DRAWN = {"cwnd": "20ms", "queue": "20ms", "rate": "500ms"}
"""Traces that figures have over time, with their intervals unless a scenario has its own."""

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.runs.executors import Outcome
    from cwndlab.sweeps.definition import Sweep


def kept_traces(sweep: Sweep, outcome: Outcome, text: str) -> dict[str, pl.DataFrame]:
    """Return the traces to keep; the packet trace may be reduced to arrival counts.

    Parameters
    ----------
    sweep : Sweep
        The sweep of the run: `Sweep.count_arrivals` reduces the packet trace.
    outcome : Outcome
        The outcome of the run, with its traces.
    text : str
        Its scenario.
    """
    from cwndlab.results import Result

    traces, length = dict(outcome.traces or {}), sweep.count_arrivals
    if not sweep.traces:
        return {name: traces[name] for name in sweep.traced if name in traces}
    if length is None:
        return traces
    traces["packets"] = traces["packets"].select(link_arrivals.COLUMNS)
    result = Result.from_json(outcome.result, json.loads(text), traces)
    rest = {name: frame for name, frame in traces.items() if name != "packets"}
    return {**rest, link_arrivals.TRACE: link_arrivals.count(result, length)}
