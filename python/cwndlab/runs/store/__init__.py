"""A directory of finished runs: no run is lost, no run is done twice.

A run has a key (`run_key`): a hash of its canonical scenario, its seed, the fingerprint of the
engine's build, and the content of the files and Python rules that the scenario names. A run whose
source is unavailable has no key, and is not stored.

Layout, format `store.FORMAT`::

    DIR/runs.sqlite            tables `runs`, `uses` (the runs of each sweep) and `sweeps`
    DIR/traces/KEY-*.parquet   traces, if the sweep asks for them
    DIR/claims                 empty; a locked byte is a run that is being done

**Durability.** A run is a transaction of SQLite with a write-ahead log. `Store.put` returns when
the operating system has it: no signal that kills the process can lose it. A power cut can lose the
latest runs, and leaves the database whole. Each row has a checksum; damaged ones are left out.

**Concurrency.** Processes of one machine read and write at the same time. `Store.claim` keeps two
of them from doing the same run; a claim is a lock of the operating system and ends with its
process. Of duplicate entries the later one counts, by the clocks of the writers. A `Store` is for
one thread. SQLite's write-ahead log needs a file system of this machine: on a network file system,
one process at a time.

`convert` makes this format of formats 1 and 2 (``cwndlab results DIR --convert``).

Examples
--------
>>> import tempfile
>>> from cwndlab import dumbbell, run
>>> from cwndlab.runs import executors
>>> scenario = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s")
>>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
...     text = canonical(scenario.to_dict())
...     key = run_key(text)
...     store.put(Record.of(key, text, executors.perform(text)))
...     results = [record.to_result() for record in store.records([key])]
...     [result.trace_hash == run(scenario).trace_hash for result in results]
[True]
"""

from __future__ import annotations

from cwndlab.runs.store.convert import convert
from cwndlab.runs.store.keys import (
    canonical,
    definition_digest,
    has_outside,
    run_key,
    scenario_digest,
)
from cwndlab.runs.store.records import Record, Use
from cwndlab.runs.store.store import Store, is_store

__all__ = [
    "Record",
    "Store",
    "Use",
    "canonical",
    "convert",
    "definition_digest",
    "has_outside",
    "is_store",
    "run_key",
    "scenario_digest",
]
