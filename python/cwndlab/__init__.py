"""cwndlab: a laboratory for TCP congestion-window rules.

Build or load a scenario, run it, and read its data frames.

>>> import cwndlab
>>> scenario = cwndlab.dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s")
>>> result = cwndlab.run(scenario)
>>> result.flows["rule"].to_list()
['AIMD(1, 0.5)']

Importing the package is cheap: data frames and plots are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab import (
        environments,
        gym,
        known_results,
        metrics,
        ns2,
        outputs,
        plots,
        plugins,
        searches,
        statistics,
        sweeps,
        theory,
    )
    from cwndlab.assessment import Assessment, assess
    from cwndlab.captures import Imported, import_pcap, import_qlog
    from cwndlab.comparing import compare
    from cwndlab.comparison import Comparison
    from cwndlab.custom_rules import Leave, WindowRule
    from cwndlab.designs import DesignResult, design
    from cwndlab.errors import (
        ClusterError,
        CwndlabError,
        LiveError,
        MissingPackageError,
        RuleError,
        RunError,
        ScenarioError,
        StoreError,
    )
    from cwndlab.explaining import explain, explain_rules
    from cwndlab.explanation import Explanation
    from cwndlab.live_runs.result import LiveResult
    from cwndlab.live_runs.running import live
    from cwndlab.native import Ack, Sibling, knobs, rule, rules, schema
    from cwndlab.ns2.script import export
    from cwndlab.pairwise import Pairwise, against
    from cwndlab.report import write_report
    from cwndlab.results import Result
    from cwndlab.runs.execute import run, run_many
    from cwndlab.runs.plan import Level, Plan
    from cwndlab.runs.store import Store
    from cwndlab.scenario import Scenario, dumbbell
    from cwndlab.searches import SearchResult, search
    from cwndlab.sweeps import Sweep, SweepResult, sweep

    __version__: str

# Public name -> its module. Modules and functions have different names (`execute` has `run`),
# because importing a submodule would shadow a function of the same name.
_HOMES = {
    "Ack": "native",
    "Assessment": "assessment",
    "ClusterError": "errors",
    "Comparison": "comparison",
    "CwndlabError": "errors",
    "DesignResult": "designs",
    "Explanation": "explanation",
    "Imported": "captures",
    "Leave": "custom_rules",
    "Level": "runs.plan",
    "LiveError": "errors",
    "MissingPackageError": "errors",
    "LiveResult": "live_runs.result",
    "Pairwise": "pairwise",
    "Plan": "runs.plan",
    "Result": "results",
    "RuleError": "errors",
    "RunError": "errors",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "SearchResult": "searches",
    "Sibling": "native",
    "Store": "runs.store",
    "StoreError": "errors",
    "Sweep": "sweeps",
    "SweepResult": "sweeps",
    "WindowRule": "custom_rules",
    "against": "pairwise",
    "assess": "assessment",
    "compare": "comparing",
    "design": "designs",
    "dumbbell": "scenario",
    "explain": "explaining",
    "explain_rules": "explaining",
    "export": "ns2.script",
    "import_pcap": "captures",
    "import_qlog": "captures",
    "knobs": "native",
    "live": "live_runs.running",
    "rule": "native",
    "rules": "native",
    "run": "runs.execute",
    "run_many": "runs.execute",
    "schema": "native",
    "search": "searches",
    "sweep": "sweeps",
    "write_report": "report",
}
_MODULES = (
    "environments", "gym", "known_results", "metrics", "ns2", "outputs", "plots", "plugins",
    "searches", "statistics", "sweeps", "theory",
)  # fmt: skip
_ELSEWHERE = {
    "Contest": "Pairwise",
    "load": "Result.load",
}
"""Names that the package had, or that one expects, and those that there are."""

__all__ = [
    "Ack",
    "Assessment",
    "ClusterError",
    "Comparison",
    "CwndlabError",
    "DesignResult",
    "Explanation",
    "Imported",
    "Leave",
    "Level",
    "LiveError",
    "LiveResult",
    "MissingPackageError",
    "Pairwise",
    "Plan",
    "Result",
    "RuleError",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SearchResult",
    "Sibling",
    "Store",
    "StoreError",
    "Sweep",
    "SweepResult",
    "WindowRule",
    "__version__",
    "against",
    "assess",
    "compare",
    "design",
    "dumbbell",
    "environments",
    "explain",
    "explain_rules",
    "export",
    "gym",
    "import_pcap",
    "import_qlog",
    "knobs",
    "known_results",
    "live",
    "metrics",
    "ns2",
    "outputs",
    "plots",
    "plugins",
    "rule",
    "rules",
    "run",
    "run_many",
    "schema",
    "search",
    "searches",
    "statistics",
    "sweep",
    "sweeps",
    "theory",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = importlib.import_module("cwndlab.native").version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"cwndlab.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"cwndlab.{name}")
    else:
        message = importlib.import_module("cwndlab.message")
        raise AttributeError(message.no_attribute("cwndlab", name, __all__, _ELSEWHERE.get(name)))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
