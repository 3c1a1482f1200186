"""The store: what was put is there, and a run's key says all that its result depends on."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import shutil
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import cwndlab
from cwndlab import StoreError
from cwndlab.runs.store import Record, Store, Use, canonical, convert, run_key
from stores import DOCUMENT, RECORDS, left_open


def test_what_a_killed_process_put_is_there(tmp_path):
    left_open(tmp_path)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted(RECORDS)
        assert store.notes == []
    assert [path.name for path in tmp_path.iterdir()] == ["runs.sqlite"]


def test_a_record_is_the_result_that_was_put(tmp_path):
    use = Use.of("sweep", {"rule": "one"}, 0, RECORDS[0].key)
    with Store(tmp_path) as store:
        store.put(RECORDS[0], use)
    with Store(tmp_path, write=False) as store:
        (record,) = store.records([RECORDS[0].key])
        assert store.uses() == [use]
    result, again = record.to_result(), cwndlab.run({**DOCUMENT, "seed": 1})
    assert result.flows.equals(again.flows)
    assert result.links.equals(again.links)
    clock = ("wall_s", "packets_per_wall_s")
    assert {key: value for key, value in result.fields.items() if key not in clock} == {
        key: value for key, value in again.fields.items() if key not in clock
    }


def test_a_store_of_a_later_format_is_refused_untouched(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
        database.execute("PRAGMA user_version = 4")
    before = (tmp_path / "runs.sqlite").read_bytes()
    for write in (True, False):
        with pytest.raises(StoreError, match=r"has format 4: expected format 3, which cwndlab"):
            Store(tmp_path, write=write)
    assert (tmp_path / "runs.sqlite").read_bytes() == before


def test_a_store_that_is_not_written_leaves_nothing(tmp_path):
    with Store(tmp_path / "new") as store:
        assert RECORDS[0].key not in store
        assert (len(store), list(store.records()), store.uses()) == (0, [], [])
    assert not (tmp_path / "new").exists()


def test_what_is_in_the_store_can_be_asked_in_sql(tmp_path):
    with Store(tmp_path) as store:
        for record in RECORDS:
            store.put(record, Use.of("sweep", {"rule": "one"}, record.seed, record.key))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
        query = "SELECT replicate, trace_hash FROM uses JOIN runs USING (key) ORDER BY replicate"
        assert database.execute(query).fetchall() == [(r.seed, r.trace_hash) for r in RECORDS]


class TestConversion:
    def test_of_a_store_that_format_2_wrote(self, tmp_path, command):
        """Two replicates of each cell are in its parts, the third in a journal."""
        folder = tmp_path / "old"
        shutil.copytree(Path(__file__).parent / "store_of_format_2", folder)
        with pytest.raises(StoreError, match=r"format 2 \(cwndlab 0\.1\.0\).*--convert"):
            Store(folder)
        answer = command("results", "old", "--convert", "--format", "csv")
        assert answer.returncode == 0, answer.stderr
        assert "converted 6 runs in old" in answer.stderr
        assert [path.name for path in folder.iterdir()] == ["runs.sqlite"]
        with Store(folder, write=False) as store:
            hashes = {record.key: record.trace_hash for record in store.records()}
            # As the version that wrote it listed them.
            assert sorted(
                (use.cell["rule"], use.replicate, use.key[:6], hashes[use.key])
                for use in store.uses("two")
            ) == [
                ("AIMD(1, 0.5)", 0, "86da81", "6a646230b0d2e089"),
                ("AIMD(1, 0.5)", 1, "6d2755", "6a646230b0d2e089"),
                ("AIMD(1, 0.5)", 2, "3ca8ac", "6a646230b0d2e089"),
                ("CUBIC", 0, "1d198e", "79b9078004fd14d0"),
                ("CUBIC", 1, "e0233f", "79b9078004fd14d0"),
                ("CUBIC", 2, "d57f65", "79b9078004fd14d0"),
            ]
            assert store.definitions()["two"]["axes"] == {"rule": ["AIMD(1, 0.5)", "CUBIC"]}
        with pytest.raises(StoreError, match="expected a store of format 1 or 2"):
            convert(folder)

    def test_of_a_store_of_format_1(self, tmp_path):
        records = _of_format_1(tmp_path)
        assert convert(tmp_path) == (3, [])
        with Store(tmp_path, write=False) as store:
            assert sorted(store.records()) == sorted(records)
            assert sorted((use.replicate, use.key) for use in store.uses("one")) == [
                (number, records[number].key) for number in range(3)
            ]
            assert store.definitions() == {"one": {"name": "one", "replicates": 3}}

    def test_what_is_damaged_is_said_and_left_out(self, tmp_path):
        folder = tmp_path / "old"
        shutil.copytree(Path(__file__).parent / "store_of_format_2", folder)
        (journal,) = folder.glob("journal/*")
        (part,) = folder.glob("parts/runs*")
        for path in (journal, part):
            data = bytearray(path.read_bytes())
            data[100] ^= 1
            path.write_bytes(data)
        (folder / "sweeps" / "bad.json").write_text("{")
        converted, notes = convert(folder)
        assert converted == 1
        assert [note.partition(":")[0] for note in notes] == [
            part.name, journal.name, "sweeps/bad.json",
        ]  # fmt: skip

    def test_that_fails_leaves_the_store_as_it_was(self, tmp_path, monkeypatch):
        folder = tmp_path / "old"
        shutil.copytree(Path(__file__).parent / "store_of_format_2", folder)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Store, "place", full)
        with pytest.raises(StoreError, match="disk is full"):
            convert(folder)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def _of_format_1(folder: Path) -> list[Record]:
    """Write a store as format 1 was.

    Uses have four fields, in journals and in parts, and moments are milliseconds.
    """
    records = [
        record._replace(finished=f"2026-01-0{number}T03:04:05.678+00:00")
        for number, record in enumerate(RECORDS[:3], 1)
    ]
    for name in ("journal", "parts", "sweeps", "traces"):
        (folder / name).mkdir(parents=True)
    marker = {"what": "cwndlab store", "format": 1, "cwndlab_version": "0.1.0"}
    (folder / "store.json").write_text(json.dumps(marker))
    (folder / "sweeps" / "one.json").write_text(json.dumps({"name": "one", "replicates": 3}))
    heads = [
        json.dumps(["run", *record[:-2]]) + f"\n{record.scenario}\n{record.result}"
        for record in (records[0], records[1])
    ]
    uses = [json.dumps(["use", "one", "{}", number, records[number].key]) for number in range(2)]
    (folder / "journal" / "1-old.journal").write_bytes(
        b"".join(_frame(text.encode()) for text in [*heads, *uses])
    )
    columns = {"sweep": ["one"], "labels": ["{}"], "replicate": [2], "key": [records[2].key]}
    parts = {
        "uses": pl.DataFrame(columns, schema_overrides={"replicate": pl.UInt64}),
        "runs": pl.DataFrame([records[2]], schema_overrides={"seed": pl.UInt64}, orient="row"),
    }
    for kind, table in parts.items():
        data = io.BytesIO()
        table.write_parquet(data)
        name = (
            f"{kind}-000001-{hashlib.blake2b(data.getvalue(), digest_size=8).hexdigest()}.parquet"
        )
        (folder / "parts" / name).write_bytes(data.getvalue())
    return records


def _frame(payload: bytes) -> bytes:
    length = len(payload)
    salt = length.to_bytes(8, "little")
    checksum = hashlib.blake2b(payload, digest_size=8, salt=salt).digest()
    return struct.pack("<4sI8s", b"\xf0cwj", length, checksum) + payload


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(
        StoreError, match="is not valid: expected a store, or an empty or new directory"
    ):
        Store(tmp_path)
    with pytest.raises(StoreError, match="is not valid: expected a directory that"):
        Store(tmp_path, write=False)


class TestKeys:
    def test_what_results_depend_on_is_in_the_key(self):
        def key(**changes):
            return run_key(canonical({**DOCUMENT, **changes}))

        same = [
            key(),
            key(seed=1),
            key(duration=0.3),
            key(flows=[{"name": "a", "rule": "AIMD(1,.5)", "count": 1}]),
        ]
        assert len(set(same)) == 1
        other = [
            key(seed=2),
            key(duration="301ms"),
            key(flows=[{"name": "a", "rule": "AIMD(1, 0.6)"}]),
        ]
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
            "import cwndlab; from cwndlab.runs.store import canonical, run_key\n"
            "class Mine:\n    def increase(self, w, ack): return w\n    def decrease(self, w, "
            "signal): return w\n"
            f"print(run_key(canonical({{**{DOCUMENT!r}, 'flows': [{{'rule': "
            "cwndlab.rule(Mine)}]})))"
        )
        # From standard input: there is no file to read the source from.
        done = subprocess.run(
            [sys.executable, "-"], input=code, capture_output=True, text=True, check=True
        )
        assert done.stdout == "None\n"

    def test_a_files_content_is_in_the_key(self, tmp_path):
        keys = []
        for name, content in (("a.down", "1\n5\n"), ("b.down", "1\n5\n"), ("c.down", "1\n6\n")):
            (tmp_path / name).write_text(content)
            rate = {"kind": "trace", "file": str(tmp_path / name)}
            keys.append(
                run_key(canonical({**DOCUMENT, "dumbbell": {"rate": rate, "delay": "5ms"}}))
            )
        assert keys[0] == keys[1] != keys[2]
