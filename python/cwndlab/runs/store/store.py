"""The store, on journals and parts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError, StoreError
from cwndlab.message import invalid
from cwndlab.runs.store import journal, layout, parts
from cwndlab.runs.store.compaction import compact, keep_later
from cwndlab.runs.store.index import Index
from cwndlab.runs.store.locks import Claims, lock_whole
from cwndlab.runs.store.schema import Record, Use, decode, encode, finished_of, moment_s

if TYPE_CHECKING:
    import polars as pl

SWEEP_NAME = re.compile(r"[\w.+-][\w.+ ,;=@#%&~!()\[\]{}'^-]{0,99}")
"""Characters of a name, which must be a file name on any system."""


class Store:
    """Finished runs in a directory.

    Parameters
    ----------
    path : str or Path
        Directory; it is made if it does not exist.
    write : bool
        If False, the store is read only, also while others write.

    Raises
    ------
    StoreError
        If the directory is not a store, has another format, or cannot be read or written.

    Attributes
    ----------
    notes : list of str
        Damaged entries that were left out, and failed compactions: one line each.
    """

    def __init__(self, path: str | Path, *, write: bool = True) -> None:
        self.path, self._write = Path(path), write
        self.notes: list[str] = []
        (layout.prepare if write else layout.check)(self.path)
        self._runs = parts.Parts(self.path / "parts", "runs", Record)
        self._used = parts.Parts(self.path / "parts", "uses", Use)
        self._journal: journal.Journal | None = None
        with layout.disk_errors(self.path):
            self._claims = Claims(self.path / layout.CLAIMS) if write else None
        self._index = Index(self.path, self._runs, self._used, self.notes)
        self.refresh()

    def __contains__(self, key: str) -> bool:
        """Whether the run is finished, as of the last `refresh`."""
        return bytes.fromhex(key) in self._index.runs

    def __len__(self) -> int:
        """Count the runs."""
        return len(self._index.runs)

    def refresh(self) -> None:
        """Read the new entries of other processes."""
        with layout.disk_errors(self.path):
            self._index.refresh(self._journal.path if self._journal else None)

    def put(self, record: Record, use: Use | None = None) -> None:
        """Store a finished run, with its place in a sweep.

        After it returns, the death of the process cannot lose the run.

        Raises
        ------
        StoreError
            If the run cannot be written.
        """
        self._append([encode(record), *([encode(use)] if use else [])])
        self._index.note_run(bytes.fromhex(record.key), record.finished)
        if use:
            self._index.note_use(use)

    def place(self, use: Use) -> None:
        """Store a place in a sweep of a run that is stored already."""
        if not self._index.has(use):
            self._append([encode(use)])
            self._index.note_use(use)

    def claim(self, key: str) -> bool:
        """Claim a run; False if another process has claimed it.

        The claim ends with the process.

        Raises
        ------
        StoreError
            If the store is closed or read only.
        """
        self._check_writable()
        assert self._claims is not None, "a store that may be written has them"
        with layout.disk_errors(self.path):
            return self._claims.take(key)

    def give_back(self, key: str) -> None:
        """Release a claim: the run is stored, or was abandoned."""
        if self._claims is not None:
            self._claims.give_back(key)

    def records(self, keys: Collection[str] | None = None) -> Iterator[Record]:
        """Read runs, each once; one part or journal is in memory at a time.

        Of a repeated run the last one counts, by the writers' clocks.

        Parameters
        ----------
        keys : collection of str, optional
            Keys to read; by default all.
        """
        self.refresh()
        wanted = None if keys is None else {bytes.fromhex(key) for key in keys}
        given: set[bytes] = set()

        def is_wanted(key: bytes, finished: str) -> bool:
            if key in given or (wanted is not None and key not in wanted):
                return False
            return moment_s(finished) >= self._index.runs.get(key, 0.0)

        while True:
            try:
                for payload in self._payloads():
                    run = finished_of(payload)
                    if run is not None and is_wanted(*run):
                        given.add(run[0])
                        yield decode(payload)  # type: ignore[misc]
                for path in reversed(self._runs.paths()):
                    if wanted is not None and len(given) == len(wanted):
                        return
                    for record in self._runs.rows(path):
                        key = bytes.fromhex(record.key)
                        if is_wanted(key, record.finished):
                            given.add(key)
                            yield record
                return
            except FileNotFoundError:
                # Compacted or merged since the files were listed: list them again.
                continue

    def uses(self, sweep: str | None = None, *, older: bool = False) -> list[Use]:
        """Read the places of runs in sweeps; the latest run of each place counts.

        Parameters
        ----------
        sweep : str, optional
            Name of one; by default all.
        older : bool
            Also read places of a sweep's earlier definitions.
        """
        while True:
            try:
                in_journals = [use for use in map(decode, self._payloads()) if isinstance(use, Use)]
                in_parts = [use for path in self._used.paths() for use in self._used.rows(path)]
                break
            except FileNotFoundError:
                continue
        found: dict[tuple[str, str, str, int], Use] = {}
        for use in [*in_parts, *reversed(in_journals)]:
            keep_later(found, use)
        latest = {name: text["definition"] for name, text in self._read_definitions().items()}
        return [
            use
            for use in found.values()
            if sweep in (None, use.sweep)
            and (older or use.definition == latest.get(use.sweep, use.definition))
        ]

    def define(self, name: str, definition: Mapping[str, Any], digest: str = "") -> None:
        """Store the definition of a sweep, and the digest of its new entries (`Use.definition`)."""
        self._check_writable()
        if not SWEEP_NAME.fullmatch(name) or len(name.encode()) > 200:
            raise ScenarioError(
                invalid(
                    "name",
                    name,
                    "at most 100 letters, digits, spaces and . , ; = + - _ @ # % & ~ ! ^ ' ( ) [ "
                    "] { }, the first of them a letter, a digit or one of . + - _",
                )
            )
        text = json.dumps({"name": name, "definition": digest, **definition}, indent=2)
        with layout.disk_errors(self.path):
            layout.write_whole(self.path / "sweeps" / f"{name}.json", text.encode() + b"\n")

    def definitions(self) -> dict[str, dict[str, Any]]:
        """Read the latest definitions of all sweeps by name."""
        found = self._read_definitions()
        return {
            name: {key: text[key] for key in text if key != "definition"}
            for name, text in found.items()
        }

    def put_traces(self, key: str, traces: Mapping[str, pl.DataFrame]) -> str:
        """Store the traces of a run, before its record.

        Returns their names, for the record.
        """
        self._check_writable()
        with layout.disk_errors(self.path):
            for name, frame in traces.items():
                # Written before the record that names it.
                with layout.written_whole(self._trace(key, name)) as part:
                    frame.write_parquet(part)
        return " ".join(traces)

    def traces(self, record: Record) -> dict[str, pl.DataFrame]:
        """Read the stored traces of a run."""
        import polars as pl

        return {
            name: pl.read_parquet(self._trace(record.key, name)) for name in record.traces.split()
        }

    def compact(self) -> None:
        """Compact the journals that are closed or whose processes are gone.

        If another process does it, do nothing.

        If the disk is full nothing is lost: the journals stay.
        """
        self._check_writable()
        with layout.disk_errors(self.path), (self.path / "lock").open("ab") as file:
            if lock_whole(file.fileno()):
                for runs in compact(self.path, self._runs, self._used):
                    self._index.note_runs([run.key for run in runs], [run.finished for run in runs])

    def close(self) -> None:
        """Sync to the disk, compact, and release claims.

        A store that is closed can be read.
        """
        try:
            if self._journal is not None:
                self._roll()
            elif self._write and journal.listed(self.path):
                # Left by a process that was killed after the last compaction.
                self._tidy()
        finally:
            if self._claims is not None:
                self._claims.close()
            self._claims, self._write = None, False

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, payloads: list[bytes]) -> None:
        self._check_writable()
        with layout.disk_errors(self.path):
            if self._journal is not None and self._journal.process != os.getpid():
                # It belongs to the parent of this forked process, which still uses it.
                self._journal.leave()
                self._journal = None
                self._index.forget_lists()
            if self._journal is None:
                self._journal = journal.Journal(self.path / "journal")
            self._journal.append(payloads)
        if self._journal.is_long:
            self._roll()

    def _check_writable(self) -> None:
        if not self._write:
            raise StoreError(f"the store `{self.path}` is closed, or open for reading only")

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
            # Compaction is for speed only: the journals are safe.
            self.notes.append(f"journals are left as they are: {error}")

    def _payloads(self) -> Iterator[bytes]:
        """Read all journals, the newest record first."""
        for path in reversed(journal.listed(self.path)):
            yield from reversed(journal.read_whole(path).payloads)

    def _read_definitions(self) -> dict[str, dict[str, Any]]:
        found = {}
        for path in sorted((self.path / "sweeps").glob("*.json")):
            try:
                found[path.stem] = {"definition": "", **json.loads(path.read_bytes())}
            except (OSError, ValueError, TypeError) as error:
                note = (
                    f"sweeps/{path.name}: is left out ({error}); the sweep itself writes it again"
                )
                if note not in self.notes:
                    self.notes.append(note)
        return found

    def _trace(self, key: str, name: str) -> Path:
        return self.path / "traces" / f"{key}-{name}.parquet"
