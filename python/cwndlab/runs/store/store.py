"""The store: a SQLite database, and traces as Parquet files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import sqlite3
import time
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.errors import StoreError
from cwndlab.files import disk_errors, refused, write_parquet
from cwndlab.message import invalid
from cwndlab.runs.store.locks import Claims
from cwndlab.runs.store.records import Record, Use

if TYPE_CHECKING:
    import polars as pl

FORMAT = 3
"""Format of the database; `convert` reads those before it."""
DATABASE, CLAIMS, TRACES = "runs.sqlite", "claims", "traces"
OLD_MARKER = "store.json"
"""File that stores of formats 1 and 2 have."""
BUSY_S = 60.0
"""How long a write waits for those of other processes, seconds; each takes less than one."""
CHUNK = 256
"""Number of runs in memory at a time."""
LEFT_AFTER_S = 86_400
"""Age of a temporary file whose writer was killed, seconds."""

_NAMES = (DATABASE, CLAIMS, TRACES)
_APPLICATION = int.from_bytes(b"cwnd", "big")
_TABLES = """
CREATE TABLE runs (
    key TEXT NOT NULL PRIMARY KEY,
    seed TEXT NOT NULL,            -- up to 2^64 - 1, which SQLite's integers do not reach
    trace_hash TEXT NOT NULL,
    finished TEXT NOT NULL,        -- UTC, ISO 8601
    duration_s REAL NOT NULL,      -- seconds of wall-clock time
    machine TEXT NOT NULL,
    version TEXT NOT NULL,
    build TEXT NOT NULL,
    traces TEXT NOT NULL,          -- names of traces/KEY-NAME.parquet, joined by spaces
    scenario TEXT NOT NULL,        -- canonical, JSON
    result BLOB NOT NULL,          -- JSON, compressed by zlib
    checksum BLOB NOT NULL         -- of the columns before it
);
CREATE TABLE uses (
    sweep TEXT NOT NULL,
    labels TEXT NOT NULL,          -- axis to label, JSON
    replicate INTEGER NOT NULL,
    key TEXT NOT NULL,
    definition TEXT NOT NULL,      -- digest of the sweep's definition
    placed TEXT NOT NULL,          -- UTC, ISO 8601
    checksum BLOB NOT NULL,
    PRIMARY KEY (sweep, definition, labels, replicate)
) WITHOUT ROWID;
CREATE TABLE sweeps (
    name TEXT NOT NULL PRIMARY KEY,
    definition TEXT NOT NULL,      -- digest of the latest definition
    document TEXT NOT NULL         -- the definition, JSON
);
"""
# Of two entries with the same key the later one counts, by the clocks of the writers.
_PUT_RUN = f"""
INSERT INTO runs VALUES ({", ".join("?" * 12)}) ON CONFLICT (key) DO UPDATE SET
{", ".join(f"{name} = excluded.{name}" for name in (*Record._fields[1:], "checksum"))}
WHERE excluded.finished >= finished
"""
_PUT_USE = """
INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sweep, definition, labels, replicate)
DO UPDATE SET key = excluded.key, placed = excluded.placed, checksum = excluded.checksum
WHERE excluded.placed >= placed
"""


class Store:
    """Finished runs in a directory.

    Parameters
    ----------
    path : str or Path
        Directory; the first write makes it if it does not exist.
    write : bool
        If False, the store is read-only, even while others write.

    Raises
    ------
    StoreError
        If the directory is not a store, has another format, or cannot be read or written.

    Attributes
    ----------
    notes : list of str
        Damaged runs that were skipped: one line each.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import compare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = compare("AIMD(1, 0.5)", replicates=2, duration="2s", store=folder)
    ...     with Store(folder, write=False) as store:
    ...         len(store), list(store.definitions())
    (2, ['compare'])
    """

    def __repr__(self) -> str:
        return f"<Store {self.path}>"

    def __init__(self, path: str | Path, *, write: bool = True) -> None:
        self.path: Path = Path(path)
        self._write = write
        self._file = self.path / DATABASE
        self.notes: list[str] = []
        self._database: sqlite3.Connection | None = None
        self._claims: Claims | None = None
        self._process = os.getpid()
        self._of_parents: list[sqlite3.Connection] = []
        with self._errors():
            if (self.path / OLD_MARKER).exists():
                raise _of_older_format(self.path)
            if self._file.exists():
                self._database = self._connected()
            elif not write:
                raise StoreError(
                    invalid("store", self.path, "a directory that `cwndlab sweep` wrote")
                )
            elif self.path.is_dir() and any(
                not entry.name.startswith(_NAMES) for entry in self.path.iterdir()
            ):
                raise StoreError(
                    invalid("store", self.path, "a store, or an empty or new directory")
                )

    def __contains__(self, key: str) -> bool:
        """Whether the run is finished."""
        return bool(self._select("SELECT 1 FROM runs WHERE key = ?", key))

    def __len__(self) -> int:
        """Count the runs."""
        rows = self._select("SELECT count(*) FROM runs")
        return rows[0][0] if rows else 0

    def put(self, record: Record, use: Use | None = None) -> None:
        """Store a finished run, with its place in a sweep.

        After it returns, the death of the process cannot lose the run.

        Raises
        ------
        StoreError
            If the run cannot be written.
        """
        row = (
            record.key, str(record.seed), *record[2:-2],
            record.scenario, _compressed(record.result),
        )  # fmt: skip
        with self._writing() as database:
            database.execute(_PUT_RUN, (*row, _checksum(row)))
            if use is not None:
                database.execute(_PUT_USE, (*use, _checksum(use)))

    def place(self, use: Use) -> None:
        """Store a place in a sweep of a run that is stored already."""
        self._check_writable()
        known = self._select(
            "SELECT key FROM uses WHERE (sweep, definition, labels, replicate) = (?, ?, ?, ?)",
            *use.place,
        )
        if known != [(use.key,)]:
            with self._writing() as database:
                database.execute(_PUT_USE, (*use, _checksum(use)))

    def claim(self, key: str) -> bool:
        """Claim a run; False if another process has claimed it.

        The claim ends with the process.

        Raises
        ------
        StoreError
            If the store is closed or read only.
        """
        self._check_writable()
        with self._errors():
            self._made()
            if self._claims is None:
                self._claims = Claims(self.path / CLAIMS)
            return self._claims.take(key)

    def give_back(self, key: str) -> None:
        """Release a claim: the run is stored, or was abandoned."""
        if self._claims is not None:
            self._claims.give_back(key)

    def records(self, keys: Collection[str] | None = None) -> Iterator[Record]:
        """Read runs, each once, in the order in which they were first stored.

        A run that is damaged is left out, with a note; a store that may be written forgets it.

        Parameters
        ----------
        keys : collection of str, optional
            Keys to read; by default all.
        """
        for row in self._rows() if keys is None else self._rows_of(sorted(keys)):
            record = _record(row)
            if record is not None:
                yield record
                continue
            self.notes.append(f"run {row[0]}: is damaged and skipped; it will be repeated")
            if self._write:
                with self._writing() as database:
                    database.execute("DELETE FROM runs WHERE key = ?", (row[0],))

    def uses(self, sweep: str | None = None, *, older: bool = False) -> list[Use]:
        """Read the places of runs in sweeps; the latest run of each place counts.

        Parameters
        ----------
        sweep : str, optional
            Name of one; by default all.
        older : bool
            Also read places of a sweep's earlier definitions.
        """
        rows = self._select(
            "SELECT uses.* FROM uses LEFT JOIN sweeps ON sweep = name "
            "WHERE (?1 IS NULL OR sweep = ?1) AND "
            "(?2 OR sweeps.definition IS NULL OR uses.definition = sweeps.definition) "
            "ORDER BY placed",
            sweep,
            older,
        )
        return [Use(*row[:-1]) for row in rows if row[-1] == _checksum(row[:-1])]

    def define(self, name: str, definition: Mapping[str, Any], digest: str = "") -> None:
        """Store the definition of a sweep, and the digest of its new entries (`Use.definition`)."""
        with self._writing() as database:
            database.execute(
                "REPLACE INTO sweeps VALUES (?, ?, ?)",
                (name, digest, json.dumps({"name": name, **definition})),
            )

    def definitions(self) -> dict[str, dict[str, Any]]:
        """Read the latest definitions of all sweeps by name."""
        rows = self._select("SELECT name, document FROM sweeps ORDER BY name")
        return {name: json.loads(document) for name, document in rows}

    def put_traces(self, key: str, traces: Mapping[str, pl.DataFrame]) -> str:
        """Store the traces of a run, before its record.

        Returns their names, for the record.
        """
        self._check_writable()
        with disk_errors(self.path):
            (self.path / TRACES).mkdir(parents=True, exist_ok=True)
            for name, frame in traces.items():
                # Written before the record that names it.
                write_parquet(self._trace(key, name), frame)
        return " ".join(traces)

    def traces(self, record: Record) -> dict[str, pl.DataFrame]:
        """Read the stored traces of a run."""
        import polars as pl

        return {
            name: pl.read_parquet(self._trace(record.key, name)) for name in record.traces.split()
        }

    def close(self) -> None:
        """Sync to the disk, and release claims.

        A store that is closed can be read.
        """
        try:
            if self._write:
                self._tidy()
            if self._database is not None and self._process == os.getpid():
                # The last one to close it moves the write-ahead log into the database.
                self._database.close()
                self._database = None
        finally:
            if self._claims is not None:
                self._claims.close()
            self._claims, self._write = None, False

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_writable(self) -> None:
        if not self._write:
            raise StoreError(f"the store `{self.path}` is closed, or open for reading only")

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Give the database within a transaction, which an exception rolls back."""
        self._check_writable()
        with self._errors(), self._made() as database:
            yield database

    def _made(self) -> sqlite3.Connection:
        """Return the database of this process; it is made if it does not exist."""
        if self._process != os.getpid():
            # A forked process must not use, nor close, the connection of its parent
            # (sqlite.org/howtocorrupt.html, section 2.6).
            self._of_parents += [] if self._database is None else [self._database]
            self._database, self._process = None, os.getpid()
        if self._database is None:
            if self._write:
                self.path.mkdir(parents=True, exist_ok=True)
            self._database = self._connected()
        return self._database

    def _connected(self) -> sqlite3.Connection:
        path = self._file
        if self._write:
            found = sqlite3.connect(path, timeout=BUSY_S, isolation_level="IMMEDIATE")
            is_new = _format(found, path) == 0
            # The write-ahead log: readers and the writer do not wait for each other. A commit
            # survives the death of the process; a power cut may lose the latest commits, and leaves
            # the database whole.
            _use_write_ahead_log(found)
            found.execute("PRAGMA synchronous = NORMAL")
            if is_new:
                with found:
                    found.execute("BEGIN IMMEDIATE")
                    # Another process may have made it while this one waited.
                    if _format(found, path) == 0:
                        for statement in _TABLES.split(";"):
                            found.execute(statement)
                        found.execute(f"PRAGMA application_id = {_APPLICATION}")
                        found.execute(f"PRAGMA user_version = {FORMAT}")
            return found
        found = sqlite3.connect(
            f"{path.absolute().as_uri()}?{self._reading(path)}", timeout=BUSY_S, uri=True
        )
        found.execute("PRAGMA query_only = 1")
        if _format(found, path) == 0:
            raise StoreError(invalid("store", self.path, "a directory that `cwndlab sweep` wrote"))
        return found

    def _reading(self, path: Path) -> str:
        """Return how SQLite opens a database that is only read."""
        effective = os.access in os.supports_effective_ids
        if all(os.access(place, os.W_OK, effective_ids=effective) for place in (self.path, path)):
            # The last reader removes the files of the write-ahead log.
            return "mode=rw"
        # Where files cannot be made beside it, and there are none, the database does not change.
        return "mode=ro" if path.with_name(f"{DATABASE}-wal").exists() else "immutable=1"

    def _select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Read rows; none while there is no database yet."""
        with self._errors():
            if self._database is None and not self._file.exists():
                return []
            return self._made().execute(query, values).fetchall()

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        last = -1
        while rows := self._select(
            f"SELECT rowid, * FROM runs WHERE rowid > ? ORDER BY rowid LIMIT {CHUNK}", last
        ):
            last = rows[-1][0]
            yield from (row[1:] for row in rows)

    def _rows_of(self, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for begin in range(0, len(keys), CHUNK):
            chunk = keys[begin : begin + CHUNK]
            places = ", ".join("?" * len(chunk))
            yield from self._select(f"SELECT * FROM runs WHERE key IN ({places})", *chunk)

    def _trace(self, key: str, name: str) -> Path:
        return self.path / TRACES / f"{key}-{name}.parquet"

    def _tidy(self) -> None:
        """Remove half-written traces of processes that were killed."""
        for unfinished in (self.path / TRACES).glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - unfinished.stat().st_mtime > LEFT_AFTER_S:
                    unfinished.unlink()

    @contextmanager
    def _errors(self) -> Generator[None]:
        """Turn errors of the disk and the database into StoreErrors that say what to do."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, StoreError | sqlite3.ProgrammingError):
                raise
            raise _refused(self._file, error) from error


def is_store(root: Path) -> bool:
    """Whether a directory has a store, of any format."""
    return (root / DATABASE).exists() or (root / OLD_MARKER).exists()


def _refused(path: Path, error: OSError | sqlite3.Error) -> StoreError:
    """Make the error of a store that cannot be read or written."""
    text = str(error)
    if isinstance(error, OSError):
        return refused(error.filename or path, error.errno, error.strerror or text)
    if "locked" in text:
        return StoreError(
            f'store: "{path}": other processes have kept it locked for {BUSY_S:.0f} s: expected '
            "each to write for less than one"
        )
    if isinstance(error, sqlite3.OperationalError):
        # Python 3.10 has no numbers of SQLite's errors.
        number = {"full": errno.ENOSPC, "I/O": errno.EIO}
        return refused(path, next((number[word] for word in number if word in text), None), text)
    return StoreError(
        f'store: "{path}" cannot be read ({error}): expected what `cwndlab sweep` wrote; '
        "`sqlite3 runs.sqlite .recover` finds what is left of a damaged database"
    )


def _use_write_ahead_log(database: sqlite3.Connection) -> None:
    """Switch a database to a write-ahead log, if it has none yet.

    If several processes do so at the same time, SQLite refuses all but one without waiting: it does
    not call the busy handler where that might deadlock (documentation of sqlite3_busy_handler).
    """
    until = time.monotonic() + BUSY_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(random.uniform(0.001, 0.02))
        else:
            return


def _format(database: sqlite3.Connection, path: Path) -> int:
    """Return the format of a store, 0 if it is empty.

    Raises
    ------
    StoreError
        If it is not one that this version reads.
    """
    # Both from one state of the database: another process may be making it.
    database.execute("SAVEPOINT format")
    ((application,),) = database.execute("PRAGMA application_id").fetchall()
    ((number,),) = database.execute("PRAGMA user_version").fetchall()
    database.execute("RELEASE format")
    if (application, number) == (0, 0):
        return 0
    if application != _APPLICATION:
        raise StoreError(invalid("store", path, "a database that `cwndlab sweep` wrote"))
    if number != FORMAT:
        raise StoreError(
            f'store: "{path.parent}" has format {number}: expected format {FORMAT}, which cwndlab '
            f"{native.version()} reads; nothing in the directory was changed"
        )
    return number


def _of_older_format(root: Path) -> StoreError:
    try:
        found = json.loads((root / OLD_MARKER).read_bytes())
        what = f"has format {found['format']} (cwndlab {found['cwndlab_version']})"
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"has an older format ({OLD_MARKER} cannot be read: {error})"
    return StoreError(
        f'store: "{root}" {what}: expected format {FORMAT}, which '
        f'`cwndlab results "{root}" --convert` makes of it'
    )


def _record(row: tuple[Any, ...]) -> Record | None:
    """Make a record of a row; None if it is damaged."""
    key, seed, *rest, result, checksum = row
    try:
        if checksum != _checksum(row[:-1]):
            return None
        return Record._make((key, int(seed), *rest, zlib.decompress(result).decode()))
    except (ValueError, zlib.error):
        return None


def _compressed(text: str) -> bytes:
    # A window of 8 KiB: the memory of the usual 32 KiB is taken from the system and given back each
    # time, which takes several times as long as compressing a run.
    found = zlib.compressobj(level=1, wbits=13, memLevel=6)
    return found.compress(text.encode()) + found.flush()


def _checksum(row: Sequence[object]) -> bytes:
    """Hash a row, 64 bits: damage is undetected with probability 5e-20.

    SQLite has no checksums of its own.
    """
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
