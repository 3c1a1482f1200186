"""Sweeps: many runs as one object.

They survive what befalls the program, replicate until they know enough, and can run elsewhere.

`Sweep` says what is to be done, `cwndlab.store.Store` keeps what is finished, an executor
(`cwndlab.executors`) does the runs, `SweepResult` has what came out.
"""

from __future__ import annotations

from cwndlab.sweep.definition import Sweep
from cwndlab.sweep.result import SweepResult
from cwndlab.sweep.running import execute
from cwndlab.sweep.stored import stored_runs

__all__ = ["Sweep", "SweepResult", "execute", "stored_runs"]
