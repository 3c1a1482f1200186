"""Locks that end with their process: the operating system releases them."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, at: int) -> None:
        """Lock a byte, or raise PermissionError where another process has it."""
        os.lseek(descriptor, at, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int, at: int) -> None:
        os.lseek(descriptor, at, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, at: int) -> None:
        """Lock a byte, or raise BlockingIOError or PermissionError where another process has it."""
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)

    def _unlock(descriptor: int, at: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, at)


class _File:
    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.users = descriptor, 0
        self.held: set[int] = set()


class Claims:
    """Claims of this process on runs, as locks on single bytes of an empty file.

    Each key maps to a byte. Two keys collide with probability 4e-15 (on Windows 5e-10); the second
    run then waits for the first.
    """

    # One per file: byte locks belong to the process, and closing ANY descriptor of the file
    # releases all of them.
    _open: dict[tuple[int, int], _File] = {}
    _guard = threading.Lock()

    def __init__(self, path: Path) -> None:
        with self._guard:
            path.touch()
            status = path.stat()
            place = (status.st_dev, status.st_ino)
            if place not in self._open:
                self._open[place] = _File(os.open(path, os.O_RDWR))
            self._place, self._file = place, self._open[place]
            self._file.users += 1
        self._own: set[int] = set()

    def close(self) -> None:
        """Release the claims of this object.

        The last user in this process closes the file.
        """
        with self._guard:
            for at in list(self._own):
                self._let_go(at)
            self._file.users -= 1
            if self._file.users == 0:
                os.close(self._open.pop(self._place).descriptor)

    def take(self, key: str) -> bool:
        """Claim a key; False if this process or another has it."""
        at = _byte(key)
        with self._guard:
            if at in self._file.held:
                return False
            try:
                _lock(self._file.descriptor, at)
            except (BlockingIOError, PermissionError):
                return False
            self._file.held.add(at)
            self._own.add(at)
            return True

    def give_back(self, key: str) -> None:
        """Release a key that was claimed here."""
        with self._guard:
            self._let_go(_byte(key))

    def _let_go(self, at: int) -> None:
        # A forked process does not inherit locks, and holds none yet.
        if at in self._own and at in self._file.held:
            self._file.held.discard(at)
            _unlock(self._file.descriptor, at)
        self._own.discard(at)

    @classmethod
    def after_fork(cls) -> None:
        """Forget, in a forked process, the locks of its parent."""
        cls._guard = threading.Lock()
        for file in cls._open.values():
            file.held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Claims.after_fork)


def _byte(key: str) -> int:
    at = int(key[:12], 16)
    # The C library's `_locking` takes a position of 31 bits.
    return at & 0x7FFF_FFFF if sys.platform == "win32" else at
