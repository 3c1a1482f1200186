"""What the tests of the store share: records of short runs, and stores whose process is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from cwndlab.runs import executors
from cwndlab.runs.store import Record, Store, canonical, run_key

DOCUMENT = {
    "duration": "300ms",
    "dumbbell": {"rate": "1Mbit", "delay": "5ms"},
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}],
}


def record(seed: int = 1) -> Record:
    text = canonical({**DOCUMENT, "seed": seed})
    return Record.of(run_key(text), text, executors.perform(text))


RECORDS = [record(seed) for seed in range(1, 7)]


def left_open(folder: Path, records: list[Record] = RECORDS) -> None:
    """Make a store whose process is killed without closing it: its log is not merged."""
    process = multiprocessing.get_context("spawn").Process(
        target=put_and_die, args=(folder, records)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert log(folder).stat().st_size > 0


def put_and_die(folder: Path, records: list[Record]) -> None:
    store = Store(folder)
    for record in records:
        store.put(record)
    os.kill(os.getpid(), signal.SIGKILL)


def log(folder: Path) -> Path:
    """Return SQLite's write-ahead log."""
    return folder / "runs.sqlite-wal"


def count(folder: Path) -> int:
    """Count the runs of a store, which may not exist yet."""
    if not (folder / "runs.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "runs.sqlite")) as found:
        if not found.execute("SELECT name FROM sqlite_schema WHERE name = 'runs'").fetchall():
            return 0
        return found.execute("SELECT count(*) FROM runs").fetchone()[0]


def later(record: Record, seconds: float = 1.0) -> Record:
    moment = datetime.fromisoformat(record.finished) + timedelta(seconds=seconds)
    return record._replace(finished=moment.isoformat(timespec="microseconds"), duration_s=77.0)
