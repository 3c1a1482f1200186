"""The store: what was put is there, and a run's key says all that its result depends on."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import cwndlab
from cwndlab import StoreError
from cwndlab.runs.store import Record, Store, Use, canonical, run_key
from cwndlab.runs.store.frames import frame, read
from stores import DOCUMENT, RECORDS, journals, left_open


def test_what_a_killed_process_put_is_there(tmp_path):
    journal = left_open(tmp_path)
    assert len(read(journal.read_bytes()).payloads) == len(RECORDS)
    with Store(tmp_path) as store:
        assert sorted(store.records()) == sorted(RECORDS)
        assert store.notes == []


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


def test_a_store_of_another_format_is_refused_untouched(tmp_path):
    with Store(tmp_path) as store:
        store.put(RECORDS[0])
    (tmp_path / "store.json").write_text(json.dumps({"format": 3, "cwndlab_version": "9.0.0"}))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match=r"has format 3 \(cwndlab 9\.0\.0\): expected format 2"):
        Store(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


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
        b"".join(frame(text.encode()) for text in [*heads, *uses])
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


def test_a_store_of_format_1_is_read_and_goes_on_as_one_of_this_format(tmp_path):
    records = _of_format_1(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with Store(tmp_path, write=False) as store:
        assert sorted(store.records()) == sorted(records)
        assert [(use.replicate, use.key) for use in store.uses("one")] == [
            (number, records[number].key) for number in (2, 0, 1)
        ]
        assert store.definitions() == {"one": {"name": "one", "replicates": 3}}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    with Store(tmp_path) as store:
        assert json.loads((tmp_path / "store.json").read_bytes())["format"] == 2, (
            "older versions refuse it now"
        )
        store.put(RECORDS[3], Use.of("one", {}, 3, RECORDS[3].key))
    assert journals(tmp_path) == []
    with Store(tmp_path, write=False) as store:
        assert sorted(store.records()) == sorted([*records, RECORDS[3]])
        assert {use.replicate for use in store.uses("one")} == {0, 1, 2, 3}


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
