"""What was cut or changed is never read as good, and keeps nobody from the rest."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab
from cwndlab import StoreError
from cwndlab.runs.store import Record, Store, Use
from stores import DOCUMENT, RECORDS, left_open, log

COLUMNS = (*Record._fields[1:], "checksum")


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> tuple[bytes, bytes]:
    """A database that was closed, and the log of one that was not."""
    folder = tmp_path_factory.mktemp("original")
    with Store(folder / "closed") as store:
        for record in RECORDS:
            store.put(record, Use.of("sweep", {"seed": str(record.seed)}, 0, record.key))
    left_open(folder / "open")
    return (folder / "closed" / "runs.sqlite").read_bytes(), log(folder / "open").read_bytes()


DAMAGE = st.tuples(
    st.sampled_from(["cut", "flip", "zeros", "insert"]),
    st.integers(0, 2**20),  # where, modulo the length
    st.integers(1, 255),
    st.binary(min_size=1, max_size=60),
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["database", "log"]), st.lists(DAMAGE, min_size=1, max_size=4))
def test_what_is_read_from_a_damaged_file_is_as_it_was_put(
    tmp_path_factory, originals, file, damages
):
    """Cuts, flips, zeros and rubbish: records come back as they were put, or not at all."""
    folder = tmp_path_factory.mktemp("store")
    changed = bytearray(originals[file == "log"])
    for kind, where, mask, rubbish in damages:
        at = where % max(len(changed), 1)
        if kind == "cut":
            del changed[at:]
        elif kind == "flip" and changed:
            changed[at] ^= mask
        elif kind == "zeros":
            changed[at : at + 100] = bytes(len(changed[at : at + 100]))
        else:
            changed[at:at] = rubbish
    (folder / ("runs.sqlite-wal" if file == "log" else "runs.sqlite")).write_bytes(changed)
    if file == "log":
        (folder / "runs.sqlite").write_bytes(b"")
    try:
        with Store(folder) as store:
            found = {record.key: record for record in store.records()}
            uses = store.uses()
    except StoreError:
        return  # It says so: nothing was read.
    put = {record.key: record for record in RECORDS}
    assert all(put[key] == record for key, record in found.items())
    assert {(use.labels, use.key) for use in uses} <= {
        (f'{{"seed": "{record.seed}"}}', record.key) for record in RECORDS
    }


@pytest.mark.parametrize("column", COLUMNS)
def test_a_damaged_run_is_said_and_done_again(tmp_path, column):
    sweep = cwndlab.Sweep(base=DOCUMENT, replicates=3)
    before = sweep.run(tmp_path)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute(f"UPDATE runs SET {column} = x'00' WHERE rowid = 2")
    with Store(tmp_path, write=False) as store:
        assert len(list(store.records())) == 2
        (note,) = store.notes
        assert note.endswith("is damaged and skipped; it will be repeated")
    after = sweep.run(tmp_path)
    assert after.runs.equals(before.runs)
    assert note in after.notes
    assert note not in sweep.run(tmp_path).notes


def test_a_file_that_is_no_database_is_said(tmp_path):
    (tmp_path / "runs.sqlite").write_text("rules\n" * 1000)
    with pytest.raises(StoreError, match=r"cannot be read \(file is not a database\): expected"):
        Store(tmp_path)


def test_a_database_of_another_program_is_refused_untouched(tmp_path):
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("CREATE TABLE theses (title TEXT)")
        database.execute("PRAGMA application_id = 7")
    before = (tmp_path / "runs.sqlite").read_bytes()
    for write in (True, False):
        with pytest.raises(StoreError, match="expected a database that `cwndlab sweep` wrote"):
            Store(tmp_path, write=write)
    assert (tmp_path / "runs.sqlite").read_bytes() == before


def test_traces_that_killed_writers_left_are_removed_and_new_ones_are_not(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
        names = [tmp_path / "traces" / f".{age}.tmp" for age in ("old", "new")]
        names[0].parent.mkdir()
        for path in names:
            path.write_text("")
            os.utime(path, None if "new" in path.name else (1, 1))
    assert [path.name for path in names if path.exists()] == [".new.tmp"]
