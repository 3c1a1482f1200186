"""Judges a recorded run of a kernel, flow by flow, as a script is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import polars.exceptions

from cwndlab.conformance.connection import has_model
from cwndlab.conformance.recording import LATE_NS, Recording
from cwndlab.conformance.verdict import AGREES, DIFFERS, NOT_MODELLED, Verdict
from cwndlab.errors import ScenarioError
from cwndlab.live_runs.run import counterpart
from cwndlab.results import Result
from cwndlab.scenario import Scenario

MARKER = "run.json"
"""The file of a result's folder that is written last."""
_EXPECTED = (
    "a run of a kernel in virtual time with trace = { packets = true }, as `cwndlab live linux "
    "FILE --virtual --out DIR` writes it"
)


class RecordedRun:
    """A run that `cwndlab live linux --virtual --out DIR` wrote, with its packets.

    Raises
    ------
    ScenarioError
        If the folder holds another result, or none that can be read.
    """

    def __init__(self, folder: Path) -> None:
        try:
            result = Result.load(folder)
        except (OSError, ValueError, KeyError, polars.exceptions.PolarsError) as error:
            raise ScenarioError(f"{folder}: cannot be read: {error}") from error
        packets = result.traces.get("packets")
        if packets is None or "receiver_window_bytes" not in packets.columns:
            raise ScenarioError(f"{folder}: is not valid: expected {_EXPECTED}")
        self.folder = folder
        self.flows: list[tuple[str, str]] = result.flows.select("flow", "group").rows()
        self.packets: pl.DataFrame = packets
        self.scenario: Scenario = Scenario.from_dict(result.scenario)

    @staticmethod
    def is_at(path: Path) -> bool:
        """Whether a folder holds a run."""
        return (path / MARKER).is_file()

    def verdicts(
        self, rule: str | None, profile: str, tolerance_us: float | None
    ) -> Iterator[Verdict]:
        """Hold the simulator's sender against each flow.

        Parameters
        ----------
        rule : str or None
            A rule in place of the flows' own.
        profile : str
            Profile of the endpoint.
        tolerance_us : float or None
            Time by which a packet may come early or late, microseconds; None for that of the
            kernel's system calls.
        """
        asked = self.scenario.to_dict()
        groups = {spec.get("name", "tcp"): number for number, spec in enumerate(asked["flows"])}
        late_s = LATE_NS / 1e9 if tolerance_us is None else tolerance_us * 1e-6
        for flow, name in self.flows:
            group = groups[name]
            spec = asked["flows"][group]
            rows = self.packets.filter(pl.col("flow").cast(pl.String) == flow)
            chosen = spec["rule"] if rule is None else rule
            reason = _not_modelled(asked, spec, chosen, rows)
            if reason is not None:
                yield Verdict(str(self.folder), NOT_MODELLED, found=reason, flow=flow)
                continue
            flows = [{**one, "rule": chosen if one is spec else one["rule"]}
                     for one in asked["flows"]]  # fmt: skip
            both = counterpart(Scenario.from_dict({**asked, "flows": flows}))
            if profile != "linux":
                both = both.set("profile", profile)
            yield self._judged(flow, rows, both, group, late_s)

    def _judged(
        self, flow: str, rows: pl.DataFrame, scenario: Scenario, group: int, late_s: float
    ) -> Verdict:
        recording = Recording.of(rows, scenario, group)
        replay = recording.replay(scenario, group)
        checks = len(replay.recorded_sent) + len(replay.recorded_windows)
        one = replay.first_difference(late_s)
        if one is None:
            return Verdict(str(self.folder), AGREES, checks=checks, flow=flow)
        return Verdict(
            str(self.folder), DIFFERS, 0, one.expected, one.found, checks, flow, one.time_s
        )


def _not_modelled(
    scenario: Mapping[str, Any], flow: Mapping[str, Any], rule: str, rows: pl.DataFrame
) -> str | None:
    """Return why a flow cannot be replayed; None if it can."""
    for name in scenario.get("linux", {}):
        return f"linux.{name} is a setting of the kernel alone"
    for key in ("stop", "leave", "bytes"):
        if key in flow:
            return f"the flow's `{key}`: a replay has data without end, or whole packets"
    if not has_model(rule):
        return f"{rule} has no model in the simulator"
    if not (rows["event"].cast(pl.String) == "send").any():
        return "the flow sent nothing"
    return None
