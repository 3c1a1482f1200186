"""A directory of finished runs: no run is lost, no run is done twice.

A run has a key (`run_key`): a hash of its canonical scenario, its seed, the fingerprint of the
engine's build, and the content of the files and Python rules that the scenario names. A run whose
source is unavailable has no key, and is not stored.

Layout, format `layout.FORMAT`::

    DIR/store.json             format and version
    DIR/sweeps/NAME.json       latest definition of each sweep, and its digest
    DIR/journal/*.journal      one per process: framed, checksummed records (`frames`)
    DIR/parts/runs-*.parquet   records of closed journals: key, seed, ..., scenario, result (JSON)
    DIR/parts/uses-*.parquet   the runs of each sweep by cell and definition
    DIR/traces/KEY-*.parquet   traces, if the sweep asks for them
    DIR/lock, DIR/claims       empty; locked during writes and runs

**Durability.** `Store.put` returns when the operating system has the record: no signal that kills
the process can lose it. The record is on the disk within `journal.SYNC_EVERY_S` of work, or when
the store is closed; a power cut can lose later records. A checksum identifies frames that are
truncated or corrupt; reading skips them and continues with the next frame. A part's name holds the
checksum of its content.

**Concurrency.** Each process writes its own journal and reads the others' (`Store.refresh`).
`Store.claim` keeps two processes from doing the same run at the same time. One process at a time
compacts journals that are closed, or whose process is gone, into parts. Every lock belongs to the
operating system and ends with its process. Of duplicate entries the later one counts, by the clocks
of the writers. A `Store` is for one thread.

Format 1 had no definitions and no times in uses. Such a store is read as it is, and becomes
format 2 when it is opened for writing; its content stays.

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

from cwndlab.runs.store.keys import (
    canonical,
    definition_digest,
    has_outside,
    run_key,
    scenario_digest,
)
from cwndlab.runs.store.schema import Record, Use
from cwndlab.runs.store.store import Store

__all__ = [
    "Record",
    "Store",
    "Use",
    "canonical",
    "definition_digest",
    "has_outside",
    "run_key",
    "scenario_digest",
]
