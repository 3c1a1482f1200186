"""Sweeps: many runs as one object.

They survive crashes, add replicates until intervals are narrow, and can run on a cluster.

`Sweep` defines the runs, `cwndlab.runs.store.Store` keeps finished ones, an executor
(`cwndlab.runs.executors`) does them, and `SweepResult` has the results.

>>> from cwndlab import dumbbell, sweeps
>>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s")
>>> sweeps.Sweep(base=base.to_dict(), axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}).axes
{'rule': ['AIMD(1, 0.5)', 'CUBIC']}
"""

from __future__ import annotations

from cwndlab.sweeps.beside import Beside, run_beside
from cwndlab.sweeps.definition import Sweep
from cwndlab.sweeps.result import SweepResult
from cwndlab.sweeps.running import as_sweep, at_homes, execute, sweep
from cwndlab.sweeps.stored import stored_runs

__all__ = [
    "Beside", "Sweep", "SweepResult", "as_sweep", "at_homes", "execute", "run_beside",
    "stored_runs", "sweep",
]  # fmt: skip
