"""Live evidence: the rule in the kernel (BPF) and in QUIC, with simulated runs beside it.

A live run takes its duration, and the host's scheduling is part of it; so these runs are few. They
do not decide a criterion, but say whether the rule does on real endpoints what it does in the
simulator, and where it cannot run at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal

from cwndlab.arguments import Progress
from cwndlab.errors import CwndlabError
from cwndlab.live_runs.running import live
from cwndlab.patching import patched
from cwndlab.results import Result
from cwndlab.scenario import Scenario
from cwndlab.statistics import estimate
from cwndlab.sweeps.base import parse

KINDS: tuple[Literal["linux", "quic"], ...] = ("linux", "quic")
NAMES = {"linux": "Linux TCP", "quic": "QUIC"}


@dataclass(frozen=True)
class LiveRun:
    """A test with real flows, and the mean of its simulated runs."""

    kind: str
    test: str
    title: str
    what: str
    refused: str = ""
    """Why it did not run; then there are no numbers."""
    valid: bool = False
    """Whether the host kept up (docs/live.md)."""
    reasons: str = ""
    measured: Mapping[str, float | None] | None = None
    """Goodput (bit/s) of the rule and of the other flow, RTT (s) and loss rate of the rule's."""
    simulated: Mapping[str, float | None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "kind": self.kind, "test": self.test, "what": self.what, "refused": self.refused,
            "valid": self.valid, "reasons": self.reasons,
            "measured": dict(self.measured or {}), "simulated": dict(self.simulated or {}),
        }  # fmt: skip


def live_runs(rule: str, progress: Progress | None = None) -> list[LiveRun]:
    """Run the tests of ``suites/live.toml`` with real flows, where the rule and the machine can.

    Parameters
    ----------
    rule : str
        The rule.
    progress : callable, optional
        Gets what runs, the number of finished runs, and of all.
    """
    text = resources.files("cwndlab.assessment").joinpath("suites", "live.toml").read_text("utf-8")
    tests = parse(text)["tests"]
    found: list[LiveRun] = []
    for kind in KINDS:
        for test in tests:
            if progress is not None:
                progress(f"{NAMES[kind]}: {test['title']}", len(found), len(KINDS) * len(tests))
            found.append(_run(rule, kind, test))
    return found


def _run(rule: str, kind: Literal["linux", "quic"], test: Mapping[str, Any]) -> LiveRun:
    document = patched(test["base"], {"flows.test.rule": rule})
    about = LiveRun(kind, test["name"], test["title"], test["what"])
    try:
        done = live(Scenario.of(document), kind, beside=True)
    except CwndlabError as error:
        return replace(about, refused=str(error))
    run = done.to_dict()["live"]
    return replace(
        about, valid=bool(run["valid"]), reasons="; ".join(run["reasons"]),
        measured=_measured(done), simulated=_mean(list(map(_measured, done.simulated or ()))),
    )  # fmt: skip


def _mean(runs: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    return {key: estimate(run[key] for run in runs).mean for key in (runs[0] if runs else ())}


def _measured(run: Result) -> dict[str, float | None]:
    rows = {row["group"]: row for row in run.flows.to_dicts()}
    own, other = rows["test"], rows.get("other")
    return {
        "goodput_bps": own["goodput_bps"],
        "other_goodput_bps": None if other is None else other["goodput_bps"],
        "mean_rtt_s": own["mean_rtt_s"],
        "loss_rate": own["loss_rate"],
    }
