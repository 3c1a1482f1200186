"""A directory of finished runs: none is lost, none is done twice.

A run is known by its key (`run_key`): a hash of its canonical scenario, its seed, the fingerprint
of the engine's build, and the content of what lies outside the scenario: files that it names,
sources of rules written in Python. Where a source cannot be had there is no key, and the run is not
stored.

Layout, format `layout.FORMAT`::

    DIR/store.json             what this is, and its format
    DIR/sweeps/NAME.json       the latest definition of each sweep, and its digest
    DIR/journal/*.journal      one a process: records as they came, framed and checksummed
    (`frames`) DIR/parts/runs-*.parquet   records of journals that are closed: key, seed, ...,
    scenario and result as JSON DIR/parts/uses-*.parquet   which sweep has which run in which cell,
    by which of its definitions DIR/traces/KEY-*.parquet   traces, of runs that were asked for them
    DIR/lock, DIR/claims       empty; locked while something is under way

**What is safe when.** `Store.put` returns when the operating system has the record: the death of
the process, by any signal, cannot take it back. It is on the disk within `journal.SYNC_EVERY_S` of
work, or when the store is closed; a power cut can take what was put since. A frame that was cut
short, or of which a bit has changed, is recognised by its checksum and left out; those after it are
still read. A part's name holds the checksum of its content.

**Several processes.** Each writes a journal of its own, and reads the others' (`Store.refresh`).
`Store.claim` keeps two from doing the same run at the same time. Only journals whose process is
gone, or closed them, are made into parts, by one process at a time. Every lock is the operating
system's and ends with the process that holds it. Of what is there twice the later one counts, by
the clocks of those who wrote it, whatever file it is in. A `Store` is for one thread.

Format 1 had no definitions and no times in uses. Such a store is read as it is, and becomes one of
format 2 when it is opened for writing; what is in it stays.

Examples
--------
>>> import tempfile
>>> from cwndlab import dumbbell, run, work
>>> scenario = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s")
>>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
...     text = canonical(scenario.to_dict())
...     key = run_key(text)
...     store.put(Record.of(key, text, work.perform(text)))
...     results = [record.to_result() for record in store.records([key])]
...     [result.trace_hash == run(scenario).trace_hash for result in results]
[True]
"""

from __future__ import annotations

from cwndlab.store.keys import canonical, definition_digest, has_outside, run_key, scenario_digest
from cwndlab.store.records import Record, Use
from cwndlab.store.store import Store

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
