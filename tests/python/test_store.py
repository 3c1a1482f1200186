"""The store: what was put is there, damage is never read as good, processes do not disturb each other."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab
from cwndlab import StoreError, work
from cwndlab.store import Record, Store, Use, canonical, run_key
from cwndlab.store.frames import frame, read
from cwndlab.store.parts import Parts

DOCUMENT = {
    "duration": "300ms",
    "dumbbell": {"rate": "1Mbit", "delay": "5ms"},
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}],
}


def _record(seed: int = 1) -> Record:
    text = canonical({**DOCUMENT, "seed": seed})
    return Record.of(run_key(text), text, work.perform(text))


RECORDS = [_record(seed) for seed in range(1, 7)]


def _journals(folder: Path) -> list[Path]:
    return sorted((folder / "journal").glob("*.journal"))


def _left_open(folder: Path, records: list[Record] = RECORDS) -> Path:
    """A store whose process is gone without closing it: its journal is all there is."""
    process = multiprocessing.get_context("spawn").Process(target=_put_and_die, args=(folder, records))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    (journal,) = _journals(folder)
    return journal


def _put_and_die(folder: Path, records: list[Record]) -> None:
    store = Store(folder)
    for record in records:
        store.put(record)
    os.kill(os.getpid(), signal.SIGKILL)


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_frames_come_back(payloads):
    data = b"".join(map(frame, payloads))
    assert read(data) == (payloads, len(data), 0)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8), st.data())
def test_of_a_journal_that_was_cut_whole_frames_are_left(payloads, data):
    frames = [frame(payload) for payload in payloads]
    whole = b"".join(frames)
    cut = data.draw(st.integers(0, len(whole)))
    ends = [sum(map(len, frames[: count + 1])) for count in range(len(frames))]
    assert read(whole[:cut]).payloads == [p for p, end in zip(payloads, ends, strict=True) if end <= cut]


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8), st.data())
def test_a_flipped_bit_costs_its_own_frame_alone(payloads, data):
    frames = [frame(payload) for payload in payloads]
    hit = data.draw(st.integers(0, len(frames) - 1))
    at, bit = data.draw(st.integers(0, len(frames[hit]) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(frames[hit])
    changed[at] ^= 1 << bit
    found = read(b"".join([*frames[:hit], bytes(changed), *frames[hit + 1 :]])).payloads
    assert found == payloads[:hit] + payloads[hit + 1 :]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_of_a_damaged_journal_every_record_that_is_read_is_as_it_was_put(tmp_path_factory, data):
    """Cuts, flips, zeros and rubbish in the middle, then both ways of reading: as a journal and made into a part."""
    folder = tmp_path_factory.mktemp("store")
    changed = bytearray(_original(tmp_path_factory))
    for _ in range(data.draw(st.integers(1, 4))):
        if not changed:
            break
        at = data.draw(st.integers(0, len(changed) - 1))
        kind = data.draw(st.sampled_from(["cut", "flip", "zeros", "insert"]))
        if kind == "cut":
            del changed[at:]
        elif kind == "flip":
            changed[at] ^= data.draw(st.integers(1, 255))
        elif kind == "zeros":
            changed[at : at + 100] = bytes(len(changed[at : at + 100]))
        else:
            changed[at:at] = data.draw(st.binary(min_size=1, max_size=60))
    Store(folder).close()
    (folder / "journal" / "damaged.journal").write_bytes(changed)
    put = {record.key: record for record in RECORDS}
    with Store(folder) as store:
        found = {record.key: record for record in store.records()}
        assert len(store) == len(found)
        store.compact()
    assert _journals(folder) == []
    with Store(folder) as store:
        assert {record.key: record for record in store.records()} == found
    assert all(put[key] == record for key, record in found.items())


_originals: list[bytes] = []


def _original(tmp_path_factory) -> bytes:
    if not _originals:
        _originals.append(_left_open(tmp_path_factory.mktemp("original")).read_bytes())
    return _originals[0]


def test_what_a_killed_process_put_is_there(tmp_path):
    journal = _left_open(tmp_path)
    assert len(read(journal.read_bytes()).payloads) == len(RECORDS)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted(RECORDS)
        assert store.notes == []


def test_a_record_is_the_result_that_was_put(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0], Use.of("sweep", {"rule": "one"}, 0, RECORDS[0].key))
    with Store(tmp_path, write=False) as store:
        (record,) = store.records([RECORDS[0].key])
        assert store.uses() == [Use.of("sweep", {"rule": "one"}, 0, RECORDS[0].key)]
    result, again = record.to_result(), cwndlab.run({**DOCUMENT, "seed": 1})
    assert result.flows.equals(again.flows)
    assert result.links.equals(again.links)
    clock = ("wall_s", "packets_per_wall_s")
    assert {key: value for key, value in result.fields.items() if key not in clock} == {
        key: value for key, value in again.fields.items() if key not in clock
    }


def test_a_damaged_part_is_left_out_and_said(tmp_path):
    with Store(tmp_path) as store:
        for record in RECORDS:
            store.put(record)
    (part,) = (tmp_path / "parts").glob("runs-*")
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    with Store(tmp_path) as store:
        assert len(store) == 0
        assert list(store.records()) == []
        assert store.notes == [f"{part.name}: is damaged and left out; its runs are done again"]


def test_the_newest_record_of_a_run_counts(tmp_path):
    old, new = RECORDS[0], RECORDS[0]._replace(duration_s=77.0)
    for records in ([old, RECORDS[1]], [new]):
        with Store(tmp_path) as store:
            for record in records:
                store.put(record)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted([new, RECORDS[1]])


def test_killed_between_parts_and_journals_nothing_doubles(tmp_path):
    """The journal is still there when its part is: as after a death in between."""
    journal = _left_open(tmp_path)
    kept = journal.read_bytes()
    Store(tmp_path).compact()
    journal.write_bytes(kept)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted(RECORDS)
        store.compact()
        assert sorted(store.records()) == sorted(RECORDS)
    assert sum(pl.read_parquet(path).height for path in (tmp_path / "parts").glob("runs-*")) == len(RECORDS)


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
    assert _journals(tmp_path) == []


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
        "import sys, time; from cwndlab.store import Store\n"
        f"print(Store({str(tmp_path)!r}).claim('00' * 16), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        with Store(tmp_path) as store:
            assert not store.claim("00" * 16)
            process.kill()
            process.wait()
            assert store.claim("00" * 16)
            assert not store.claim("00" * 16)
            store.give_back("00" * 16)


def test_a_store_of_another_format_is_refused_untouched(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
    (tmp_path / "store.json").write_text(json.dumps({"format": 2, "cwndlab_version": "9.0.0"}))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match=r"has format 2, written by cwndlab 9\.0\.0; allowed: format 1"):
        Store(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(StoreError, match="holds other files; allowed: a store, an empty or a new directory"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="is no store"):
        Store(tmp_path, write=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="permission denied; allowed: a directory that can be written"):
        Store(tmp_path / "new")


def test_a_file_in_place_of_a_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="allowed: a directory that can be written"):
        Store(tmp_path / "file" / "store")


def _put_until_full(folder: Path, limit: int, answer) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    store = Store(folder)
    done = 0
    try:
        for number in range(1000):
            store.put(RECORDS[0]._replace(key=f"{number:032x}"))
            done += 1
    except StoreError as error:
        answer.put((done, str(error), len(store)))
    os._exit(0)


@pytest.mark.parametrize("limit", [10_000, 12_345, 13_579])
def test_where_no_more_can_be_written_nothing_is_lost(tmp_path, limit):
    """The system's limit on the size of a file cuts a write in its middle, as a full disk does."""
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=_put_until_full, args=(tmp_path, limit, answer))
    process.start()
    done, message, known = answer.get()
    process.join()
    assert done == known > 0
    assert "What was finished before is kept" in message
    (journal,) = _journals(tmp_path)
    # What had been written of the last one has been cut off again.
    assert read(journal.read_bytes()) == (read(journal.read_bytes()).payloads, journal.stat().st_size, 0)
    with Store(tmp_path) as store:
        assert {record.key for record in store.records()} == {f"{number:032x}" for number in range(done)}


def _mounted(folder: Path, size: str) -> bool:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_full_disk_loses_nothing(tmp_path):
    if not _mounted(tmp_path, "256k"):
        pytest.skip("a small file system cannot be mounted here")
    try:
        store, done = Store(tmp_path), 0
        message = ""
        while not message:
            try:
                store.put(RECORDS[0]._replace(key=f"{done:032x}"))
                done += 1
            except StoreError as error:
                message = str(error)
        assert re.search("the disk is full; allowed: free some space.*is kept", message)
        # Parts need room of their own: without it the journals stay, which is said.
        store.close()
        with Store(tmp_path, write=False) as found:
            assert len(found) == done > 20
            assert len(list(found.records())) == done
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def _write_many(folder: Path, first: int) -> None:
    with Store(folder) as store:
        for number in range(first, first + 3000):
            store.put(RECORDS[0]._replace(key=f"{number:032x}"))


def test_processes_share_a_store(tmp_path):
    """Four at once, each of which closes a journal and makes parts of all that are closed on its way."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write_many, args=(tmp_path, 3000 * number)) for number in range(4)]
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


class TestKeys:
    def test_what_results_depend_on_is_in_the_key(self):
        def key(**changes):
            return run_key(canonical({**DOCUMENT, **changes}))

        same = [key(), key(seed=1), key(duration=0.3), key(flows=[{"name": "a", "rule": "AIMD(1,.5)", "count": 1}])]
        assert len(set(same)) == 1
        other = [key(seed=2), key(duration="301ms"), key(flows=[{"name": "a", "rule": "AIMD(1, 0.6)"}])]
        assert len({*same, *other}) == 4

    def test_the_build_is_in_the_key(self, monkeypatch):
        before = run_key(canonical(DOCUMENT))
        monkeypatch.setattr(cwndlab.native, "build", lambda: "another")
        assert run_key(canonical(DOCUMENT)) != before

    def test_a_rules_source_is_in_the_key_and_its_place_is_not(self, tmp_path):
        text = "class Mine:\n    def increase(self, w, ack):\n        return w + 1 / w\n"
        text += "    def decrease(self, w, signal):\n        return w / 2\n"
        keys = []
        for folder, source in (("a", text), ("b", text), ("c", text.replace("w / 2", "w / 3"))):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "mine.py").write_text(source)
            flows = [{"name": "a", "rule": f"{tmp_path / folder}/mine.py:Mine"}]
            keys.append(run_key(canonical({**DOCUMENT, "flows": flows})))
        assert keys[0] == keys[1] != keys[2]

    def test_without_a_source_there_is_no_key(self):
        code = (
            "import cwndlab; from cwndlab.store import canonical, run_key\n"
            "class Mine:\n    def increase(self, w, ack): return w\n    def decrease(self, w, signal): return w\n"
            f"print(run_key(canonical({{**{DOCUMENT!r}, 'flows': [{{'rule': cwndlab.rule(Mine)}}]}})))"
        )
        # From standard input: there is no file to read the source from.
        done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=True)
        assert done.stdout == "None\n"

    def test_a_files_content_is_in_the_key(self, tmp_path):
        keys = []
        for name, content in (("a.down", "1\n5\n"), ("b.down", "1\n5\n"), ("c.down", "1\n6\n")):
            (tmp_path / name).write_text(content)
            rate = {"kind": "trace", "file": str(tmp_path / name)}
            keys.append(run_key(canonical({**DOCUMENT, "dumbbell": {"rate": rate, "delay": "5ms"}})))
        assert keys[0] == keys[1] != keys[2]
