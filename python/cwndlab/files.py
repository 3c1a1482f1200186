"""Files that are written whole or not at all, and what is said where a disk refuses."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import CwndlabError, ScenarioError, StoreError
from cwndlab.message import invalid

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(r"\(os error (\d+)\)")
"""How polars, written in Rust, names the system's error."""


def write_whole(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write a file atomically, if `synced` also across a power cut."""
    with written_whole(path, synced=synced) as part:
        part.write_bytes(data)


def made_folder(path: str | Path) -> Path:
    """Make the directory for a result's files, if needed.

    Raises
    ------
    ScenarioError
        If the path looks like a file's.

    Examples
    --------
    >>> made_folder("runs.csv")
    Traceback (most recent call last):
    ...
    cwndlab.ScenarioError: directory: "runs.csv" is not valid: expected a directory, for a file of \
each table
    """
    folder = Path(path)
    if folder.suffix in (".parquet", ".csv", ".json") and not folder.is_dir():
        expected = "a directory, for a file of each table"
        raise ScenarioError(invalid("directory", folder, expected))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_parquet(path: Path, table: pl.DataFrame, *, synced: bool = True, **options: Any) -> None:
    """Write a table as `write_whole` does; `options` are those of polars.

    In memory first: where a disk is full, polars hides the system's error.
    """
    written = io.BytesIO()
    table.write_parquet(written, **options)
    write_whole(path, written.getvalue(), synced=synced)


@contextmanager
def written_whole(path: Path, *, synced: bool = True) -> Generator[Path]:
    """Give the name of a temporary file that replaces `path` once it is on the disk.

    Without `synced` it need not be on the disk yet, which takes no time. What is there and no file,
    such as a pipe or ``/dev/stdout``, is not replaced: it is given itself.

    Raises
    ------
    OSError
        With the name of `path`: what failed to write does not always say of which file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder) / "runs.csv") as part:
    ...         _ = part.write_text("1")
    ...     [file.name for file in Path(folder).iterdir()]
    ['runs.csv']
    """
    # A link stays one: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with _named(path, path):
            yield path
        return
    # A unique name for every writer: threads of one process may write the same file.
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with _named(path, part):
        try:
            yield part
            if synced:
                # Windows syncs only what is open for writing.
                with part.open("r+b") as file:
                    os.fsync(file.fileno())
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        if synced:
            _sync_folder(target.parent)


@contextmanager
def _named(path: Path, part: Path) -> Generator[None]:
    """Give the system's errors about a file without a name, or a temporary one, its own name."""
    try:
        yield
    except CwndlabError:
        raise
    except Exception as error:
        found = _NUMBER.search(str(error))
        number = error.errno if isinstance(error, OSError) else None
        number = int(found[1]) if number is None and found else number
        name = error.filename if isinstance(error, OSError) else None
        if number is None or (name is not None and os.fspath(name) != str(part)):
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


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
