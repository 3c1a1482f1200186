"""Index of a store, as of this process's last refresh.

It has keys of runs and places in sweeps, not the runs themselves.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from cwndlab.runs.store import journal
from cwndlab.runs.store.parts import Parts
from cwndlab.runs.store.schema import Record, Use, decode, finished_of, moment_s

CLOCK_NS = 50_000_000
"""Resolution of file times, seconds (ticks of the kernel's clock are 1 to 10 ms)."""


class Index:
    """Keys and places; `refresh` adds new ones.

    Attributes
    ----------
    runs : dict
        Key of a run to the time when it was last finished (s since 1970, for comparisons).
    notes : list of str
        Damaged entries that were left out.
    """

    def __init__(self, root: Path, runs: Parts[Record], used: Parts[Use], notes: list[str]) -> None:
        self._root, self._runs, self._used, self.notes = root, runs, used, notes
        self.runs: dict[bytes, float] = {}
        # Hash of a place (places are long) to the time and the key of its run.
        self._placed: dict[int, str] = {}
        self._readers: dict[Path, journal.Reader] = {}
        self._seen_parts: set[Path] = set()
        self._listed: dict[str, int] = {}

    def refresh(self, own: Path | None) -> None:
        """Add new entries; `own` is the journal that this process writes."""
        # Journals before parts: entries that leave a journal meanwhile are in a part then. If a
        # file disappears meanwhile, another pass finds its entries.
        while not (self._note_journals(own) and self._note_parts()):
            self._listed.clear()

    def forget_lists(self) -> None:
        """Read the directories again at the next refresh, whatever their modification times."""
        self._listed.clear()

    def note_run(self, key: bytes, finished: str) -> None:
        """Add a run; of a repeated run the later one counts."""
        self.runs[key] = max(moment_s(finished), self.runs.get(key, 0.0))

    def note_runs(self, keys: Collection[str], finished: Collection[str]) -> None:
        """Add many runs."""
        for key, text in zip(keys, finished, strict=True):
            self.note_run(bytes.fromhex(key), text)

    def note_use(self, use: Use) -> None:
        """Add a place; the latest run has it."""
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
        """Whether files may have been added or removed since the last call.

        It is called before every run.
        """
        try:
            changed_ns, now_ns = (self._root / folder).stat().st_mtime_ns, time.time_ns()
        except FileNotFoundError:
            # A copy of the store may lack empty directories; a writer makes them.
            return False
        if self._listed.get(folder) == changed_ns:
            return False
        # A change within the same tick of the file system's clock is invisible: read again next
        # time.
        self._listed[folder] = changed_ns if now_ns - changed_ns > CLOCK_NS else -1
        return True
