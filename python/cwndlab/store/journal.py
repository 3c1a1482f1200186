"""Journals: one file a process, to which records are appended as runs finish."""

from __future__ import annotations

import os
import secrets
import socket
import time
from pathlib import Path

from cwndlab.store.frames import Frames, frame, read
from cwndlab.store.layout import sync_folder
from cwndlab.store.locks import lock_whole

ENDING = ".journal"
SYNC_EVERY_S = 1.0
"""How long what was put may take to be on the disk itself, for the case of a power cut.

Once a second costs nothing; after every run of a few milliseconds it would be most of the time.
"""
ROLL_BYTES = 32 << 20
ROLL_RECORDS = 4096
"""A journal of this size is closed and made into a part.

Memory that reading takes stays bounded.
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
            # Between the two, somebody who compacts may have found it unlocked and empty, and
            # removed it.
            if lock_whole(self._descriptor) and self.path.exists():
                break
            os.close(self._descriptor)
        sync_folder(folder)
        self.process = os.getpid()
        self.size = self.count = 0
        self._synced_s = time.monotonic()

    @property
    def is_long(self) -> bool:
        """Whether it is time for another one."""
        return self.size >= ROLL_BYTES or self.count >= ROLL_RECORDS

    def append(self, payloads: list[bytes]) -> None:
        """Append frames with one write. When it returns, the death of this process cannot undo it.

        Raises
        ------
        OSError
            If the disk does not take it all. What had got there is cut off again.
        """
        data = memoryview(b"".join(map(frame, payloads)))
        written = 0
        # Asked of the system: after Ctrl-C in here what this object has counted may be less than
        # what is there.
        begin = os.fstat(self._descriptor).st_size
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            # A frame without its end would be passed over anyhow; cut off, the next one follows a
            # good one.
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
        """Let go of it in a process that was forked: the one that opened it has it still."""
        os.close(self._descriptor)

    def close(self) -> None:
        """Close it: from now on anybody may make a part of it."""
        try:
            os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)


class Reader:
    """Reads a journal as it grows."""

    def __init__(self, path: Path) -> None:
        self.path, self._at, self.damaged_bytes = path, 0, 0

    def more(self) -> list[bytes]:
        """Return the payloads that have come since the last call.

        Raises
        ------
        FileNotFoundError
            If a part has been made of it.
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
    """List the journals of a store in the order in which they were begun."""
    # A link that leads nowhere, in a copy, is no journal: who waited for it would wait for ever.
    return sorted(path for path in (root / "journal").glob(f"*{ENDING}") if path.is_file())


def read_whole(path: Path) -> Frames:
    """Read a journal from its beginning."""
    return read(path.read_bytes())


def take_abandoned(path: Path) -> int | None:
    """Lock a journal whose process is gone or has closed it; None where it is in use.

    The descriptor holds the lock.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        # Gone, or of another user, who makes a part of it; it keeps nobody from the others.
        return None
    if lock_whole(descriptor):
        return descriptor
    os.close(descriptor)
    return None
