"""Several processes, threads and forks at one store: what each sees, claims and writes."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import cwndlab
from cwndlab import StoreError
from cwndlab.runs.store import Record, Store, Use
from cwndlab.runs.store.frames import read
from cwndlab.runs.store.parts import Parts
from stores import DOCUMENT, RECORDS, journals, later, left_open
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
    assert len(Parts(tmp_path / "parts", "runs", Record).paths()) == 1, "parts have been merged"
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
        store.place(Use.of("sweep", {}, 0, RECORDS[0].key))
        assert len(read(journals(tmp_path)[0].read_bytes()).payloads) == 5, (
            "what is known is not written again"
        )
    with Store(tmp_path) as store:
        assert store.uses() == [places[2]]


@pytest.mark.slow
def test_killed_between_parts_and_journals_nothing_doubles(tmp_path):
    """The journal is still there when its part is: as after a death in between."""
    journal = left_open(tmp_path)
    kept = journal.read_bytes()
    Store(tmp_path).compact()
    journal.write_bytes(kept)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted(RECORDS)
        store.compact()
        assert sorted(store.records()) == sorted(RECORDS)
    assert sum(pl.read_parquet(path).height for path in (tmp_path / "parts").glob("runs-*")) == len(
        RECORDS
    )


def test_a_journal_in_use_is_read_and_left_alone(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.put(RECORDS[0])
        assert RECORDS[0].key not in other
        other.refresh()
        assert RECORDS[0].key in other
        other.compact()
        one.put(RECORDS[1])
        other.refresh()
        assert len(other) == 2
        assert sorted(other.records()) == sorted(RECORDS[:2])
    assert journals(tmp_path) == []


@pytest.mark.slow
def test_readers_see_every_run_while_parts_are_made_and_merged(tmp_path):
    records = [RECORDS[0]._replace(key=f"{number:032x}") for number in range(300)]
    reader = Store(tmp_path)
    for begin in range(0, 300, 10):
        with Store(tmp_path) as store:
            for record in records[begin : begin + 10]:
                store.put(record)
        reader.refresh()
        assert len(reader) == begin + 10
        assert len(list(reader.records())) == begin + 10
    assert len(Parts(tmp_path / "parts", "runs", Record).paths()) == 1


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
    Store(tmp_path).close()
    store = Store(tmp_path, write=write)
    store.close()
    changes = (
        lambda: store.claim("00" * 16),
        lambda: store.define("one", {}),
        lambda: store.put(RECORDS[0]),
        lambda: store.place(Use.of("sweep", {}, 0, "00" * 16)),
        lambda: store.put_traces("00" * 16, {}),
        store.compact,
        lambda: cwndlab.Sweep(base=DOCUMENT, replicates=1).run(store),
    )
    for change in changes:
        with pytest.raises(StoreError, match="is closed, or open for reading only"):
            change()
    store.give_back("00" * 16)
    assert list(store.records()) == []
    assert list((tmp_path / "sweeps").iterdir()) == []


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
        store.compact()
        assert len(journals(tmp_path)) == 1, (
            "the fork's journal, which nobody has now, has become a part"
        )
        store.refresh()
        assert sorted(store.records()) == sorted(RECORDS[:3])


def _in_a_fork(store: Store) -> None:
    assert not store.claim("00" * 16)
    store.give_back("11" * 16)
    assert not store.claim("11" * 16), "it is the other process's"
    assert store.claim("22" * 16)
    store.put(RECORDS[1])
    assert len(journals(store.path)) == 2
    # Not closed, which makes a part: polars does not work in a fork of a process that has used it.


def test_threads_write_the_same_file_at_the_same_time(tmp_path):
    with Store(tmp_path) as store, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.define("one", {"number": number}), range(400)))
        assert store.definitions()["one"]["number"] in range(400)
    assert [path.name for path in (tmp_path / "sweeps").iterdir()] == ["one.json"]


def _write_many(folder: Path, first: int) -> None:
    with Store(folder) as store:
        for number in range(first, first + 3000):
            store.put(RECORDS[0]._replace(key=f"{number:032x}"))


@pytest.mark.slow
def test_processes_share_a_store(tmp_path):
    """Four at once, each of which closes a journal and makes parts of all that are closed on its
    way."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_write_many, args=(tmp_path, 3000 * number)) for number in range(4)
    ]
    for process in processes:
        process.start()
    with Store(tmp_path) as reader:
        seen = 0
        while any(process.is_alive() for process in processes):
            reader.refresh()
            assert len(reader) >= seen
            seen = len(reader)
    assert [process.exitcode for process in processes] == [0] * 4
    with Store(tmp_path) as store:
        store.compact()
        keys = [record.key for record in store.records()]
    assert sorted(keys) == [f"{number:032x}" for number in range(12_000)]
