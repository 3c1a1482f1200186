"""Several processes, threads and forks at one store: what each sees, claims and writes."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
import sys
from contextlib import suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

import cwndlab
from cwndlab import StoreError
from cwndlab.runs.store import Record, Store, Use
from cwndlab.runs.store import store as store_module
from stores import DOCUMENT, RECORDS, later, log
from waiting import HANG_S


def test_the_newest_record_of_a_run_counts(tmp_path):
    old, new = RECORDS[0], later(RECORDS[0])
    for records in ([old, RECORDS[1]], [new]):
        with Store(tmp_path) as store:
            for record in records:
                store.put(record)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted([new, RECORDS[1]])


@pytest.mark.parametrize("order", ["newer first", "older first"])
def test_the_newest_counts_whoever_began_first(tmp_path, order):
    """Two processes: the journal that was begun first may be written last, and be made into a part
    last."""
    old, new = RECORDS[0], later(RECORDS[0])
    first_use = Use.of("sweep", {}, 0, RECORDS[0].key)
    last_use = Use.of("sweep", {}, 0, RECORDS[1].key)
    first, last = (
        ((new, last_use), (old, first_use))
        if order == "newer first"
        else ((old, first_use), (new, last_use))
    )

    def seen() -> tuple[list[Record], list[Use]]:
        with Store(tmp_path, write=False) as store:
            return list(store.records([RECORDS[0].key])), store.uses()

    one, other = Store(tmp_path), Store(tmp_path)
    one.put(*first)
    other.put(*last)
    assert seen() == ([new], [last_use])
    other.close()
    assert seen() == ([new], [last_use])
    one.close()
    assert seen() == ([new], [last_use])
    with Store(tmp_path) as store:
        store.put(RECORDS[2])
    assert seen() == ([new], [last_use])


def test_a_place_is_the_last_runs_that_was_given_it(tmp_path):
    """One, another, and the first again: on one open store and after it was closed."""
    places = [Use.of("sweep", {}, 0, RECORDS[number].key) for number in (0, 1, 0)]
    places[2] = places[2]._replace(placed=later(RECORDS[0], 3600).finished)
    with Store(tmp_path) as store:
        for record in RECORDS[:2]:
            store.put(record)
        for use in places:
            store.place(use)
        assert [use.key for use in store.uses()] == [RECORDS[0].key]
        before = log(tmp_path).stat().st_size
        store.place(Use.of("sweep", {}, 0, RECORDS[0].key))
        assert log(tmp_path).stat().st_size == before, "what is known is not written again"
    with Store(tmp_path) as store:
        assert store.uses() == [places[2]]


def test_what_one_process_puts_the_other_sees(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.put(RECORDS[0])
        assert RECORDS[0].key in other
        other.put(RECORDS[1])
        one.put(RECORDS[2])
        assert len(one) == len(other) == 3
        assert sorted(other.records()) == sorted(RECORDS[:3])


def test_a_claim_ends_with_its_process(tmp_path):
    code = (
        "import sys, time; from cwndlab.runs.store import Store\n"
        f"print(Store({str(tmp_path)!r}).claim('00' * 16), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "True\n"
        with Store(tmp_path) as store:
            assert not store.claim("00" * 16)
            process.kill()
            process.wait()
            assert store.claim("00" * 16)
            assert not store.claim("00" * 16)
            store.give_back("00" * 16)


@pytest.mark.parametrize("write", [True, False])
def test_a_store_that_is_closed_says_so(tmp_path, write):
    """Nothing waits for a claim that it can never have."""
    with Store(tmp_path) as made:
        made.define("other", {})
    store = Store(tmp_path, write=write)
    store.close()
    changes = (
        lambda: store.claim("00" * 16),
        lambda: store.define("one", {}),
        lambda: store.put(RECORDS[0]),
        lambda: store.place(Use.of("sweep", {}, 0, "00" * 16)),
        lambda: store.put_traces("00" * 16, {}),
        lambda: cwndlab.Sweep(base=DOCUMENT, replicates=1).run(store),
    )
    for change in changes:
        with pytest.raises(StoreError, match="is closed, or open for reading only"):
            change()
    store.give_back("00" * 16)
    assert list(store.records()) == []
    assert list(store.definitions()) == ["other"]


def test_a_store_lets_go_of_its_own_claims_and_of_no_others(tmp_path):
    one, other = Store(tmp_path), Store(tmp_path)
    assert one.claim("00" * 16)
    other.give_back("00" * 16)
    assert not other.claim("00" * 16)
    one.close()
    assert other.claim("00" * 16)
    other.close()


def test_a_process_that_was_forked_writes_and_claims_for_itself(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
        assert store.claim("00" * 16)
        assert store.claim("11" * 16)
        process = multiprocessing.get_context("fork").Process(target=_in_a_fork, args=(store,))
        process.start()
        process.join(timeout=HANG_S)
        assert process.exitcode == 0
        store.put(RECORDS[2])
        assert sorted(store.records()) == sorted(RECORDS[:3])


def _in_a_fork(store: Store) -> None:
    assert not store.claim("00" * 16)
    store.give_back("11" * 16)
    assert not store.claim("11" * 16), "it is the other process's"
    assert store.claim("22" * 16)
    store.put(RECORDS[1])


def _write_many(folder: Path, first: int) -> None:
    with Store(folder) as store:
        for number in range(first, first + 3000):
            store.put(RECORDS[0]._replace(key=f"{number:032x}"))


@pytest.mark.parametrize("before", range(12))
def test_another_makes_the_store_while_it_is_opened(tmp_path, monkeypatch, before):
    """Before each statement in turn: the other makes it, or finds it locked."""
    connect, statements, opened = sqlite3.connect, [], []

    def make_it(statement: str) -> None:
        statements.append(statement)
        if len(statements) == before + 1:
            with suppress(StoreError), Store(tmp_path) as store:
                store.put(RECORDS[0])

    def connected(*place, **options) -> sqlite3.Connection:
        database = connect(*place, **options)
        if not opened:
            database.set_trace_callback(make_it)
        opened.append(database)
        return database

    monkeypatch.setattr(sqlite3, "connect", connected)
    monkeypatch.setattr(store_module, "BUSY_S", 0.0)
    with Store(tmp_path) as store:
        store.put(RECORDS[1])
        assert RECORDS[1].key in store
    assert len(opened) == 2, f"opening has fewer statements: {statements}"


def _make_many(root: Path, number: int, together: Barrier) -> None:
    for folder in range(40):
        together.wait(HANG_S)
        with Store(root / str(folder)) as store:
            store.put(RECORDS[0]._replace(key=f"{number:032x}"))


@pytest.mark.slow
def test_processes_make_a_store_at_once(tmp_path):
    """As the jobs of an array on a cluster do."""
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(8)
    processes = [
        context.Process(target=_make_many, args=(tmp_path, number, together)) for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(HANG_S)
    assert [process.exitcode for process in processes] == [0] * 8
    for folder in range(40):
        with Store(tmp_path / str(folder), write=False) as store:
            assert len(store) == 8


@pytest.mark.slow
def test_processes_share_a_store(tmp_path):
    """Four at once, each of which merges the log on its way."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_write_many, args=(tmp_path, 3000 * number)) for number in range(4)
    ]
    for process in processes:
        process.start()
    with Store(tmp_path) as reader:
        seen = 0
        while any(process.is_alive() for process in processes):
            assert len(reader) >= seen
            seen = len(reader)
    assert [process.exitcode for process in processes] == [0] * 4
    with Store(tmp_path) as store:
        keys = [record.key for record in store.records()]
    assert sorted(keys) == [f"{number:032x}" for number in range(12_000)]
