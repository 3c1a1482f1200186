"""Sweeps: many runs as one object.

They survive what befalls the program, replicate until they know enough, and can run elsewhere.

`Sweep` says what is to be done, `cwndlab.store.Store` keeps what is finished, an executor
(`cwndlab.work`) does the runs, `Findings` has what came out.
"""

from __future__ import annotations

from cwndlab.sweep.definition import Sweep
from cwndlab.sweep.findings import Findings
from cwndlab.sweep.running import execute
from cwndlab.sweep.stored import stored_runs

__all__ = ["Findings", "Sweep", "execute", "stored_runs"]
