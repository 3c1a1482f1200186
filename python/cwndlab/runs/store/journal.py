"""Journals: one file per process, to which records are appended as runs finish."""

from __future__ import annotations

import os
import secrets
import socket
import time
from pathlib import Path

from cwndlab.runs.store.frames import Frames, frame, read
from cwndlab.runs.store.layout import sync_folder
from cwndlab.runs.store.locks import lock_whole

ENDING = ".journal"
SYNC_EVERY_S = 1.0
"""Time until a record is on the disk, seconds: what a power cut can lose.

Once a second costs nothing; after every short run, syncing would dominate.
"""
ROLL_BYTES = 32 << 20
ROLL_RECORDS = 4096
"""A journal of this size is closed and compacted.

This bounds the memory of reading.
"""


class Journal:
    """The journal of this process, locked while it is open."""

    def __init__(self, folder: Path) -> None:
        while True:
            writer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
            name = f"{time.time_ns():020d}-{writer}{ENDING}"
            self.path = folder / name
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._descriptor = os.open(
                self.path, flags, 0o666
            )  # What the umask leaves of it, as of any file.
            # Between opening and locking, a compaction may have removed the unlocked, empty file.
            if lock_whole(self._descriptor) and self.path.exists():
                break
            os.close(self._descriptor)
        sync_folder(folder)
        self.process = os.getpid()
        self.size = self.count = 0
        self._synced_s = time.monotonic()

    @property
    def is_long(self) -> bool:
        """Whether the journal is full."""
        return self.size >= ROLL_BYTES or self.count >= ROLL_RECORDS

    def append(self, payloads: list[bytes]) -> None:
        """Append frames with one write; afterwards the death of this process cannot lose them.

        Raises
        ------
        OSError
            If the disk does not take all bytes; the partial write is truncated.
        """
        data = memoryview(b"".join(map(frame, payloads)))
        written = 0
        # Ask the system: after Ctrl-C in this method, this object's count may be too small.
        begin = os.fstat(self._descriptor).st_size
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            # Readers skip a truncated frame anyway; after truncation, the next frame follows a good
            # one.
            os.ftruncate(self._descriptor, begin)
            raise
        self.size += len(data)
        self.count += len(payloads)
        if time.monotonic() - self._synced_s >= SYNC_EVERY_S:
            self.sync()

    def sync(self) -> None:
        """Bring everything to the disk."""
        os.fsync(self._descriptor)
        self._synced_s = time.monotonic()

    def leave(self) -> None:
        """Release it in a forked process: the process that opened it still has it."""
        os.close(self._descriptor)

    def close(self) -> None:
        """Close it, so that any process may compact it."""
        try:
            os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)


class Reader:
    """Reads a journal as it grows."""

    def __init__(self, path: Path) -> None:
        self.path, self._at, self.damaged_bytes = path, 0, 0

    def more(self) -> list[bytes]:
        """Return the payloads added since the last call.

        Raises
        ------
        FileNotFoundError
            If it has been compacted.
        """
        if self.path.stat().st_size <= self._at:
            return []
        with self.path.open("rb") as file:
            file.seek(self._at)
            found = read(file.read())
        self._at += found.good_bytes
        self.damaged_bytes += found.damaged_bytes
        return found.payloads


def listed(root: Path) -> list[Path]:
    """List the journals of a store in the order of their creation."""
    # A dangling link in a copy is not a journal: nobody would ever finish it.
    return sorted(path for path in (root / "journal").glob(f"*{ENDING}") if path.is_file())


def read_whole(path: Path) -> Frames:
    """Read a journal from its beginning."""
    return read(path.read_bytes())


def take_abandoned(path: Path) -> int | None:
    """Lock a journal that is closed or whose process is gone; None if it is in use.

    The descriptor holds the lock.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        # Removed, or of another user, who compacts it; continue with the others.
        return None
    if lock_whole(descriptor):
        return descriptor
    os.close(descriptor)
    return None
