"""Sweeps: many runs as one object.

They survive crashes, add replicates until intervals are narrow, and can run on a cluster.

`Sweep` defines the runs, `cwndlab.store.Store` keeps finished ones, an executor
(`cwndlab.executors`) does them, and `SweepResult` has the results.
"""

from __future__ import annotations

from cwndlab.sweep.definition import Sweep
from cwndlab.sweep.result import SweepResult
from cwndlab.sweep.running import execute
from cwndlab.sweep.stored import stored_runs

__all__ = ["Sweep", "SweepResult", "execute", "stored_runs"]
