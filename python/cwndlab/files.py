"""Files that are written whole or not at all, and what is said where a disk refuses."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cwndlab.errors import StoreError


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically, also across a power cut."""
    with written_whole(path) as part:
        part.write_bytes(data)


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """Give the name of a temporary file that replaces `path` once it is on the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "runs.csv") as part:
    ...         _ = part.write_text("1")
    ...     [file.name for file in Path(folder).iterdir()]
    ['runs.csv']
    """
    # A unique name for every writer: threads of one process may write the same file.
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield part
        # Windows syncs only what is open for writing.
        with part.open("r+b") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Sync a directory's entries to the disk; Windows opens no directory, and keeps them itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_errors(root: Path) -> Generator[None]:
    """Turn disk errors into StoreErrors that say what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise refused(error.filename or root, error.errno, error.strerror or str(error)) from error


def refused(path: object, number: int | None, text: str) -> StoreError:
    """Make the error of a file that the system does not write, of its error number and text."""
    what = {
        errno.ENOSPC: "the disk is full: free some space, or use another directory",
        errno.EDQUOT: "the quota is used up: free some space, or use another directory",
        errno.EIO: "the disk cannot be read or written, or a file would exceed the system's limit "
        "(ulimit -f)",
        errno.EFBIG: "a file would exceed the system's limit (ulimit -f): raise it",
    }.get(number or 0, f"{text.lower()}: expected a directory that can be written")
    found = StoreError(f'store: "{path}": {what}; finished runs are kept')
    found.errno = number
    return found
