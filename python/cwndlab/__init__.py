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
    from cwndlab import environments as environments
    from cwndlab import plots as plots
    from cwndlab.comparing import compare as compare
    from cwndlab.comparison import Comparison as Comparison
    from cwndlab.custom_rules import Leave as Leave
    from cwndlab.custom_rules import WindowRule as WindowRule
    from cwndlab.errors import ClusterError as ClusterError
    from cwndlab.errors import CwndlabError as CwndlabError
    from cwndlab.errors import LiveError as LiveError
    from cwndlab.errors import RuleError as RuleError
    from cwndlab.errors import RunError as RunError
    from cwndlab.errors import ScenarioError as ScenarioError
    from cwndlab.errors import StoreError as StoreError
    from cwndlab.native import Ack as Ack
    from cwndlab.native import knobs as knobs
    from cwndlab.native import rule as rule
    from cwndlab.native import rules as rules
    from cwndlab.native import schema as schema
    from cwndlab.pairwise import Pairwise as Pairwise
    from cwndlab.pairwise import against as against
    from cwndlab.report import write_report as write_report
    from cwndlab.results import Result as Result
    from cwndlab.runs.execute import run as run
    from cwndlab.runs.execute import run_many as run_many
    from cwndlab.runs.plan import Level as Level
    from cwndlab.runs.plan import Plan as Plan
    from cwndlab.runs.store import Store as Store
    from cwndlab.scenario import Scenario as Scenario
    from cwndlab.scenario import dumbbell as dumbbell
    from cwndlab.sweeps import Sweep as Sweep

    __version__: str

# Public name -> its module. Modules and functions have different names (`execute` has `run`),
# because importing a submodule would shadow a function of the same name.
_HOMES = {
    "Ack": "native",
    "ClusterError": "errors",
    "Comparison": "comparison",
    "CwndlabError": "errors",
    "Leave": "custom_rules",
    "Pairwise": "pairwise",
    "Level": "runs.plan",
    "LiveError": "errors",
    "Plan": "runs.plan",
    "Result": "results",
    "RuleError": "errors",
    "RunError": "errors",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Store": "runs.store",
    "StoreError": "errors",
    "Sweep": "sweeps",
    "WindowRule": "custom_rules",
    "against": "pairwise",
    "compare": "comparing",
    "dumbbell": "scenario",
    "knobs": "native",
    "rule": "native",
    "rules": "native",
    "run": "runs.execute",
    "run_many": "runs.execute",
    "schema": "native",
    "write_report": "report",
}
_MODULES = ("environments", "plots", "theory")
_RENAMED = {"Contest": "Pairwise"}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = importlib.import_module("cwndlab.native").version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"cwndlab.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"cwndlab.{name}")
    else:
        now = f": its name is `{_RENAMED[name]}`" if name in _RENAMED else ""
        raise AttributeError(f"module 'cwndlab' has no attribute {name!r}{now}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
