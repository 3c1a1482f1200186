"""What the tests of the store share: records of short runs, and stores whose process is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
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


def journals(folder: Path) -> list[Path]:
    return sorted((folder / "journal").glob("*.journal"))


def left_open(folder: Path, records: list[Record] = RECORDS) -> Path:
    """A store whose process is gone without closing it: its journal is all there is."""
    process = multiprocessing.get_context("spawn").Process(
        target=put_and_die, args=(folder, records)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    (journal,) = journals(folder)
    return journal


def put_and_die(folder: Path, records: list[Record]) -> None:
    store = Store(folder)
    for record in records:
        store.put(record)
    os.kill(os.getpid(), signal.SIGKILL)


def later(record: Record, seconds: float = 1.0) -> Record:
    moment = datetime.fromisoformat(record.finished) + timedelta(seconds=seconds)
    return record._replace(finished=moment.isoformat(timespec="microseconds"), duration_s=77.0)
