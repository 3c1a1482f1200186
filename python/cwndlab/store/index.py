"""What is in a store, as far as this process has looked.

Keys of runs and places of sweeps, not the runs themselves.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from cwndlab.store import journal
from cwndlab.store.parts import Parts
from cwndlab.store.records import Record, Use, decode, finished_of, moment_s

CLOCK_NS = 50_000_000
"""Resolution of file times, seconds (ticks of the kernel's clock are 1 to 10 ms)."""


class Index:
    """Keys and places; `refresh` reads what has come since the last time.

    Attributes
    ----------
    runs : dict
        Key of a run to when it was finished last (s since 1970, to compare).
    notes : list of str
        What is damaged and was left out.
    """

    def __init__(self, root: Path, runs: Parts[Record], used: Parts[Use], notes: list[str]) -> None:
        self._root, self._runs, self._used, self.notes = root, runs, used, notes
        self.runs: dict[bytes, float] = {}
        # Of a place, when its run was given and which it is. By hashes: places are long.
        self._placed: dict[int, str] = {}
        self._readers: dict[Path, journal.Reader] = {}
        self._seen_parts: set[Path] = set()
        self._listed: dict[str, int] = {}

    def refresh(self, own: Path | None) -> None:
        """Take note of what has come; `own` is the journal that this process writes."""
        # Journals before parts: what leaves a journal in between is in a part by then. Where
        # something else went away in between, another look finds where it went.
        while not (self._note_journals(own) and self._note_parts()):
            self._listed.clear()

    def forget_lists(self) -> None:
        """Look at the folders again the next time, whatever their times say."""
        self._listed.clear()

    def note_run(self, key: bytes, finished: str) -> None:
        """Take note of a run: of one that was done again the later one counts."""
        self.runs[key] = max(moment_s(finished), self.runs.get(key, 0.0))

    def note_runs(self, keys: Collection[str], finished: Collection[str]) -> None:
        """Take note of many."""
        for key, text in zip(keys, finished, strict=True):
            self.note_run(bytes.fromhex(key), text)

    def note_use(self, use: Use) -> None:
        """Take note of a place: the run that was given it last has it."""
        place = hash(use.place)
        self._placed[place] = max(self._placed.get(place, ""), use.placed + use.key)

    def has(self, use: Use) -> bool:
        """Whether the place has this run, and no later one."""
        return self._placed.get(hash(use.place), "").endswith(use.key)

    def _note_journals(self, own: Path | None) -> bool:
        if self._has_changed("journal"):
            for path in journal.listed(self._root):
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
            run = finished_of(payload)
            if run is not None:
                self.note_run(*run)
            elif isinstance(use := decode(payload), Use):
                self.note_use(use)
        if reader.damaged_bytes > before:
            self.notes.append(
                f"{reader.path.name}: {reader.damaged_bytes} damaged bytes are left out"
            )
        return True

    def _note_parts(self) -> bool:
        if not self._has_changed("parts"):
            return True
        new = [(kind, path) for kind in (self._runs, self._used) for path in kind.paths()]
        noted = [self._note_part(kind, path) for kind, path in new if path not in self._seen_parts]
        return all(noted)

    def _note_part(self, kind: Parts[Any], path: Path) -> bool:
        is_run = kind is self._runs
        try:
            frame = kind.frame(path, ("key", "finished") if is_run else Use._fields)
        except FileNotFoundError:
            return False
        self._seen_parts.add(path)
        if frame is None:
            self.notes.append(f"{path.name}: is damaged and left out; its runs are done again")
        elif is_run:
            self.note_runs(frame["key"].to_list(), frame["finished"].to_list())
        else:
            for row in frame.iter_rows():
                self.note_use(Use._make(row))
        return True

    def _has_changed(self, folder: str) -> bool:
        """Whether files may have come or gone since this was last asked.

        It is asked before every run.
        """
        try:
            changed_ns, now_ns = (self._root / folder).stat().st_mtime_ns, time.time_ns()
        except FileNotFoundError:
            # Whoever copied the store left empty folders out. Who writes to it makes them.
            return False
        if self._listed.get(folder) == changed_ns:
            return False
        # What happens in the same tick of the file system's clock leaves no trace: then look again
        # next time.
        self._listed[folder] = changed_ns if now_ns - changed_ns > CLOCK_NS else -1
        return True
