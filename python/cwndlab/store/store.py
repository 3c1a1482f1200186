"""The store: what its package promises, over journals and parts."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import StoreError
from cwndlab.store import journal, layout, parts
from cwndlab.store.compaction import compact
from cwndlab.store.locks import Claims, lock_whole
from cwndlab.store.records import Record, Use, decode, encode, key_of

if TYPE_CHECKING:
    import polars as pl

CLOCK_NS = 50_000_000
"""File systems tell times apart no better than this (ticks of the kernel's clock are 1 to 10 ms)."""
SWEEP_NAME = re.compile(r"[\w.+-][\w.+ -]{0,99}")


class Store:
    """Finished runs in a directory.

    Parameters
    ----------
    path : str or Path
        Made if it does not exist.
    write : bool
        Without it nothing is changed: what others write can be read meanwhile.

    Raises
    ------
    StoreError
        If it is something else, has another format, or cannot be read or written.

    Attributes
    ----------
    notes : list of str
        What is damaged and was left out, and what could not be tidied up: one line each.
    """

    def __init__(self, path: str | Path, *, write: bool = True) -> None:
        self.path, self._write = Path(path), write
        self.notes: list[str] = []
        (layout.prepare if write else layout.check)(self.path)
        self._runs = parts.Parts(self.path / "parts", "runs", Record)
        self._used = parts.Parts(self.path / "parts", "uses", Use)
        self._journal: journal.Journal | None = None
        with layout.disk_errors(self.path):
            self._claims = Claims(self.path / "claims") if write else None
        self._known: set[bytes] = set()
        self._placed: set[int] = set()
        self._readers: dict[Path, journal.Reader] = {}
        self._seen_parts: set[Path] = set()
        self._listed: dict[str, int] = {}
        self.refresh()

    def __contains__(self, key: str) -> bool:
        """Whether the run is finished, as far as is known since the last `refresh`."""
        return bytes.fromhex(key) in self._known

    def __len__(self) -> int:
        """Count the runs."""
        return len(self._known)

    def refresh(self) -> None:
        """Take note of what other processes have put since."""
        with layout.disk_errors(self.path):
            # Journals before parts: what leaves a journal in between is in a part by then. Where something else went
            # away in between, another look finds where it went.
            while not (self._note_journals() and self._note_parts()):
                self._listed.clear()

    def put(self, record: Record, use: Use | None = None) -> None:
        """Keep a finished run, with its place in a sweep. When this returns it is safe from the death of the process.

        Raises
        ------
        StoreError
            If the disk does not take it.
        """
        self._append([encode(record), *([encode(use)] if use else [])])
        self._known.add(bytes.fromhex(record.key))
        if use:
            self._placed.add(hash(use))

    def place(self, use: Use) -> None:
        """Note that a run which is here already has a place in a sweep."""
        if hash(use) not in self._placed:
            self._append([encode(use)])
            self._placed.add(hash(use))

    def claim(self, key: str) -> bool:
        """Claim a run that is to be done; False where another has it under way. The claim dies with the process."""
        return self._claims is not None and self._claims.take(key)

    def give_back(self, key: str) -> None:
        """Let go of a claim: the run is stored, or was given up."""
        if self._claims is not None:
            self._claims.give_back(key)

    def records(self, keys: Collection[str] | None = None) -> Iterator[Record]:
        """Read runs, each once and the newest where it was done again; one part or journal is in memory at a time.

        Parameters
        ----------
        keys : collection of str, optional
            Which; by default all.
        """
        wanted = None if keys is None else {bytes.fromhex(key) for key in keys}
        given: set[bytes] = set()

        def is_wanted(key: bytes) -> bool:
            return key not in given and (wanted is None or key in wanted)

        while True:
            try:
                for payload in self._payloads():
                    key = key_of(payload)
                    if key is not None and is_wanted(key):
                        given.add(key)
                        yield decode(payload)  # type: ignore[misc]
                for path in reversed(self._runs.paths()):
                    if wanted is not None and len(given) == len(wanted):
                        return
                    for record in self._runs.rows(path):
                        key = bytes.fromhex(record.key)
                        if is_wanted(key):
                            given.add(key)
                            yield record
                return
            except FileNotFoundError:
                # Made into a part, or merged with another one, since the files were listed: look again.
                continue

    def uses(self, sweep: str | None = None) -> list[Use]:
        """Read which sweep has which run where; of one place the latest."""
        while True:
            try:
                newest = [use for use in map(decode, self._payloads()) if isinstance(use, Use)]
                older = [use for path in self._used.paths() for use in self._used.rows(path)]
                break
            except FileNotFoundError:
                continue
        latest = {use[:3]: use for use in [*older, *reversed(newest)]}
        return [use for use in latest.values() if sweep in (None, use.sweep)]

    def define(self, name: str, definition: Mapping[str, Any]) -> None:
        """Keep the definition of a sweep."""
        if not SWEEP_NAME.fullmatch(name):
            raise StoreError(
                f"name: `{name}` is not allowed; allowed: letters, digits, - _ + . and spaces, at most 100"
            )
        text = json.dumps({"name": name, **definition}, indent=2)
        with layout.disk_errors(self.path):
            layout.write_whole(self.path / "sweeps" / f"{name}.json", text.encode() + b"\n")

    def definitions(self) -> dict[str, dict[str, Any]]:
        """Read the definitions of all sweeps by name."""
        paths = sorted((self.path / "sweeps").glob("*.json"))
        return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}

    def put_traces(self, key: str, traces: Mapping[str, pl.DataFrame]) -> str:
        """Keep the traces of a run, before its record is put; returns their names, for the record."""
        with layout.disk_errors(self.path):
            for name, frame in traces.items():
                path = self._trace(key, name)
                frame.write_parquet(path.with_suffix(f".{os.getpid()}.tmp"))
                path.with_suffix(f".{os.getpid()}.tmp").replace(path)
        return " ".join(traces)

    def traces(self, record: Record) -> dict[str, pl.DataFrame]:
        """Read the traces of a run that were kept."""
        import polars as pl

        return {name: pl.read_parquet(self._trace(record.key, name)) for name in record.traces.split()}

    def compact(self) -> None:
        """Make parts of the journals whose processes are gone; where another process is at it, do nothing.

        If the disk is full nothing is lost: the journals stay.
        """
        with layout.disk_errors(self.path), (self.path / "lock").open("ab") as file:
            if lock_whole(file.fileno()):
                for keys in compact(self.path, self._runs, self._used):
                    self._known.update(map(bytes.fromhex, keys))

    def close(self) -> None:
        """Bring everything to the disk, make parts of it, and let go of claims. A store that is closed can be read."""
        if self._journal is not None:
            self._roll()
        elif self._write and self._journals():
            # Left by a process that was killed when all was done.
            self._tidy()
        if self._claims is not None:
            self._claims.close()
        self._claims, self._write = None, False

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, payloads: list[bytes]) -> None:
        if not self._write:
            raise StoreError(f"store: `{self.path}` is closed, or open for reading; allowed: Store(path), which writes")
        with layout.disk_errors(self.path):
            if self._journal is None:
                self._journal = journal.Journal(self.path / "journal")
            self._journal.append(payloads)
        if self._journal.is_long:
            self._roll()

    def _roll(self) -> None:
        assert self._journal is not None
        own, self._journal = self._journal, None
        with layout.disk_errors(self.path):
            own.close()
        self._tidy()

    def _tidy(self) -> None:
        try:
            self.compact()
        except StoreError as error:
            # Parts are for speed. What they would be made of is safe.
            self.notes.append(f"journals are left as they are: {error}")

    def _journals(self) -> list[Path]:
        return journal.listed(self.path)

    def _payloads(self) -> Iterator[bytes]:
        """Read all journals, the newest record first."""
        for path in reversed(self._journals()):
            yield from reversed(journal.read_whole(path).payloads)

    def _has_changed(self, folder: str) -> bool:
        """Whether files may have come or gone since this was last asked: it is asked before every run."""
        changed_ns, now_ns = (self.path / folder).stat().st_mtime_ns, time.time_ns()
        if self._listed.get(folder) == changed_ns:
            return False
        # What happens in the same tick of the file system's clock leaves no trace: then look again next time.
        self._listed[folder] = changed_ns if now_ns - changed_ns > CLOCK_NS else -1
        return True

    def _note_journals(self) -> bool:
        if self._has_changed("journal"):
            own = self._journal.path if self._journal else None
            for path in self._journals():
                if path != own and path not in self._readers:
                    self._readers[path] = journal.Reader(path)
        noted = [self._note_journal(reader) for reader in list(self._readers.values())]
        return all(noted)

    def _note_journal(self, reader: journal.Reader) -> bool:
        before = reader.damaged_bytes
        try:
            payloads = reader.more()
        except FileNotFoundError:
            del self._readers[reader.path]
            return False
        for payload in payloads:
            key = key_of(payload)
            if key is not None:
                self._known.add(key)
            else:
                self._placed.add(hash(decode(payload)))
        if reader.damaged_bytes > before:
            self.notes.append(f"{reader.path.name}: {reader.damaged_bytes} damaged bytes are left out")
        return True

    def _note_parts(self) -> bool:
        if not self._has_changed("parts"):
            return True
        new = [(kind, path) for kind in (self._runs, self._used) for path in kind.paths()]
        noted = [self._note_part(kind, path) for kind, path in new if path not in self._seen_parts]
        return all(noted)

    def _note_part(self, kind: parts.Parts[Any], path: Path) -> bool:
        is_run = kind is self._runs
        try:
            frame = kind.frame(path, Record._fields[:1] if is_run else Use._fields)
        except FileNotFoundError:
            return False
        self._seen_parts.add(path)
        if frame is None:
            self.notes.append(f"{path.name}: is damaged and left out; its runs are done again")
        elif is_run:
            self._known.update(map(bytes.fromhex, frame["key"]))
        else:
            self._placed.update(hash(Use._make(row)) for row in frame.select(Use._fields).iter_rows())
        return True

    def _trace(self, key: str, name: str) -> Path:
        return self.path / "traces" / f"{key}-{name}.parquet"
