"""What was cut, changed or copied half is never read as good, and keeps nobody from the rest."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab.runs.store import Store, Use
from cwndlab.runs.store.frames import frame, read
from cwndlab.runs.store.schema import encode
from stores import RECORDS, journals, left_open


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
    assert read(whole[:cut]).payloads == [
        p for p, end in zip(payloads, ends, strict=True) if end <= cut
    ]


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8), st.data())
def test_a_flipped_bit_costs_its_own_frame_alone(payloads, data):
    frames = [frame(payload) for payload in payloads]
    hit = data.draw(st.integers(0, len(frames) - 1))
    at, bit = data.draw(st.integers(0, len(frames[hit]) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(frames[hit])
    changed[at] ^= 1 << bit
    found = read(b"".join([*frames[:hit], bytes(changed), *frames[hit + 1 :]])).payloads
    assert found == payloads[:hit] + payloads[hit + 1 :]


@settings(max_examples=60)
@given(st.data())
def test_of_a_damaged_journal_every_record_that_is_read_is_as_it_was_put(tmp_path_factory, data):
    """Cuts, flips, zeros and rubbish in the middle, then both ways of reading.

    As a journal and made into a part.
    """
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
    assert journals(folder) == []
    with Store(folder) as store:
        assert {record.key: record for record in store.records()} == found
    assert all(put[key] == record for key, record in found.items())


_originals: list[bytes] = []


def _original(tmp_path_factory) -> bytes:
    if not _originals:
        _originals.append(left_open(tmp_path_factory.mktemp("original")).read_bytes())
    return _originals[0]


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


def test_a_copy_without_empty_folders_can_be_read(tmp_path):
    with Store(tmp_path / "store") as store:
        store.put(RECORDS[0])
    for name in ("journal", "sweeps", "traces"):
        (tmp_path / "store" / name).rmdir()
    with Store(tmp_path / "store", write=False) as store:
        assert list(store.records()) == RECORDS[:1]
        assert store.uses() == []


def test_a_definition_that_cannot_be_read_is_said_and_the_rest_is_there(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0], Use.of("good", {}, 0, RECORDS[0].key, "one"))
        store.define("good", {}, "one")
        (tmp_path / "sweeps" / "bad.json").write_text("{")
        assert list(store.definitions()) == ["good"]
        assert len(store.uses()) == 1
        assert len(store.notes) == 1
        assert store.notes[0].startswith("sweeps/bad.json: is left out")


def test_links_that_lead_nowhere_are_no_files_of_the_store(tmp_path):
    """As in a copy by a program that keeps large files elsewhere."""
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
    (tmp_path / "journal" / "1-elsewhere.journal").symlink_to("nowhere")
    (tmp_path / "parts" / f"runs-000009-{'0' * 16}.parquet").symlink_to("nowhere")
    with Store(tmp_path) as store:
        assert list(store.records()) == RECORDS[:1]
        assert store.uses() == []
        store.compact()


def _compact_with_few_files(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))
    with Store(folder) as store:
        assert len(store) == 300
        store.compact()


def test_hundreds_of_journals_become_parts(tmp_path):
    """As of many processes that were killed.

    A process may have fewer files open at a time than that.
    """
    Store(tmp_path).close()
    written = [
        (
            tmp_path / "journal" / f"{number:03}.journal",
            encode(RECORDS[0]._replace(key=f"{number:032x}")),
        )
        for number in range(300)
    ]
    for path, payload in written:
        path.write_bytes(frame(payload))
    process = multiprocessing.get_context("spawn").Process(
        target=_compact_with_few_files, args=(tmp_path,)
    )
    process.start()
    process.join()
    assert process.exitcode == 0
    assert journals(tmp_path) == []


def test_what_killed_writers_left_is_tidied_up_and_what_is_being_written_is_not(tmp_path):
    with Store(tmp_path) as store:
        names = [
            tmp_path / folder / f".{age}.tmp"
            for folder in ("sweeps", "traces")
            for age in ("old", "new")
        ]
        for path in names:
            path.write_text("")
            os.utime(path, None if "new" in path.name else (1, 1))
        store.compact()
        assert [path.name for path in names if path.exists()] == [".new.tmp"] * 2


def test_a_journal_of_another_user_keeps_nobody_from_the_others(tmp_path, monkeypatch):
    for number in range(2):
        left_open(tmp_path / str(number), [RECORDS[number]])
    theirs = journals(tmp_path / "1")[0].rename(tmp_path / "0" / "journal" / "9-theirs.journal")
    opened = os.open

    def refuse(path, flags, *more):
        if str(path) == str(theirs) and flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", refuse)
    with Store(tmp_path / "0") as store:
        store.compact()
        assert journals(tmp_path / "0") == [theirs]
        assert sorted(store.records()) == sorted(RECORDS[:2])
