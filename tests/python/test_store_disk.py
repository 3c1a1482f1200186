"""Disks that are full or may not be written: what was put before is there."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from cwndlab import StoreError
from cwndlab.runs.store import Store
from stores import RECORDS

NOBODY = 65534


@contextmanager
def _not_allowed_to_write(folder: Path, mode: int = 0o500) -> Iterator[None]:
    """Whoever may write everywhere, as the superuser may, becomes somebody else for the while."""
    folder.chmod(mode)
    user = os.geteuid()
    if os.access(folder, os.W_OK):
        try:
            os.seteuid(NOBODY)
        except OSError as error:
            pytest.skip(f"this user may write everywhere, and cannot become another: {error}")
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_folder_that_may_not_be_written_is_said(tmp_path):
    message = "permission denied: expected a directory that can be written"
    with _not_allowed_to_write(tmp_path), pytest.raises(StoreError, match=message):
        Store(tmp_path / "new").define("sweep", {})


def test_a_store_that_may_not_be_written_is_read():
    # Others may not enter the directory that pytest gives.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Store(folder) as store:
            store.put(RECORDS[0])
        with _not_allowed_to_write(folder, 0o555), Store(folder, write=False) as store:
            assert list(store.records()) == RECORDS[:1]


def test_a_file_in_place_of_a_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="expected a directory that can be written"):
        Store(tmp_path / "file" / "store").define("sweep", {})


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


@pytest.mark.parametrize("limit", [100_000, 123_456, 135_791])
def test_where_no_more_can_be_written_nothing_is_lost(tmp_path, limit):
    """The system's limit on the size of a file cuts a write in its middle, as a full disk does."""
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=_put_until_full, args=(tmp_path, limit, answer))
    process.start()
    done, message, known = answer.get()
    process.join()
    assert done == known > 0
    assert "finished runs are kept" in message
    with Store(tmp_path) as store:
        assert {record.key for record in store.records()} == {
            f"{number:032x}" for number in range(done)
        }


def test_files_have_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        with Store(tmp_path) as store:
            store.put(RECORDS[0])
            assert store.claim(RECORDS[0].key)
            store.put_traces(RECORDS[0].key, {"cwnd": pl.DataFrame({"time_s": [1.0]})})
            modes = {
                oct(path.stat().st_mode & 0o777) for path in tmp_path.rglob("*") if path.is_file()
            }
    finally:
        os.umask(before)
    assert modes == {"0o640"}


def test_traces_are_there_whole_or_not_at_all(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    with Store(tmp_path) as store:
        store.put_traces(RECORDS[0].key, {"cwnd": pl.DataFrame({"time_s": [1.0]})})
        folder = tmp_path / "traces"
        # The file, which keeps its number under its last name, and then the folder that has this
        # name.
        assert synced == [
            path.stat().st_ino for path in (folder / f"{RECORDS[0].key}-cwnd.parquet", folder)
        ]
        monkeypatch.setattr(os, "fsync", _full)
        with pytest.raises(StoreError, match="disk is full"):
            store.put_traces(RECORDS[1].key, {"cwnd": pl.DataFrame({"time_s": [1.0]})})
    assert [path.name for path in (tmp_path / "traces").iterdir()] == [
        f"{RECORDS[0].key}-cwnd.parquet"
    ]


def _full(_descriptor: int) -> None:
    """Fail as where the disk has no room for what was written."""
    raise OSError(errno.ENOSPC, "No space left on device")


def _mounted(folder: Path, size: str) -> bool:
    if shutil.which("mount") is None:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_full_disk_loses_nothing(tmp_path):
    if not _mounted(tmp_path, "512k"):
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
        assert re.search("the disk is full: free some space.*are kept", message)
        store.close()
        with Store(tmp_path, write=False) as found:
            assert len(found) == done > 20
            assert len(list(found.records())) == done
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)
