"""Results as one self-contained HTML file: tables, plots, settings, origin.

Every source becomes chapters (`chapter`) with plots in SVG (`charts`, `glyphs`) and tables
(`tables`) on one page (`page` and the templates). The file loads nothing, and is complete without
JavaScript, which only selects, hides and sorts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.arguments import Progress, keywords
from cwndlab.errors import StoreError
from cwndlab.message import invalid, missing
from cwndlab.report import page
from cwndlab.report.chapter import Chapter

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison
    from cwndlab.runs.store import Store


@keywords()
def write_report(
    what: Comparison | Store | str | Path,
    path: str | Path | None = None,
    *,
    title: str | None = None,
    sweep: str | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write a comparison, or a store's sweeps, as one self-contained HTML file.

    The file omits unfinished runs, and lists the missing ones.

    Parameters
    ----------
    what : Comparison, Store, str or Path
        A comparison (traces of its replicate 0, if recorded, become plots over time), a store of
        sweeps, or the directory of either.
    path : str or Path, optional
        The file; its directory is made. By default ``report.html`` in the source's directory.
    title : str, optional
        Heading.
    sweep : str, optional
        The sweep of the store; by default all of them.
    progress : callable, optional
        Called with the name of the step, its progress, and its total.

    Returns
    -------
    Path
        The file, which is written atomically.

    Raises
    ------
    StoreError
        If the directory has nothing to report, or the store has no such sweep.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import compare
    >>> comparison = compare("AIMD(1, 0.5)", replicates=1, duration="2s")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(comparison, Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    tell = progress or _ignore
    heading, chapters, folder = _chapters(what, sweep, tell)
    if path is not None:
        target = Path(path)
    elif folder is not None:
        target = folder / "report.html"
    else:
        raise ValueError(missing("path", "a file, as the comparison was not read from a directory"))
    return page.write(target, title or heading, chapters, tell)


def _ignore(_what: str, _done: int, _of: int) -> None:
    """Show no progress."""


def _chapters(
    what: Comparison | Store | str | Path, sweep: str | None, tell: Progress
) -> tuple[str, list[Chapter], Path | None]:
    """Return a heading, the chapters, and their directory."""
    from cwndlab.comparison import Comparison
    from cwndlab.report import from_comparison
    from cwndlab.runs.store import Store, is_store

    if isinstance(what, Comparison):
        return "Rules side by side", [from_comparison.chapter_of(what, tell)], None
    if not isinstance(what, Store):
        folder = Path(what)
        if from_comparison.is_folder(folder):
            if sweep is not None:
                raise StoreError(
                    f"`sweep` must not be given for the comparison in `{folder}`: only a store "
                    "has sweeps"
                )
            comparison, engine = from_comparison.read(folder)
            return (
                "Rules side by side",
                [from_comparison.chapter_of(comparison, tell, engine)],
                folder,
            )
        if not is_store(folder):
            raise StoreError(
                invalid(
                    "report",
                    folder,
                    "a directory that `cwndlab sweep` or `cwndlab compare --out` wrote",
                )
            )
        with Store(folder, write=False) as opened:
            return (*_of_store(opened, sweep, tell), folder)
    return (*_of_store(what, sweep, tell), what.path)


def _of_store(store: Store, sweep: str | None, tell: Progress) -> tuple[str, list[Chapter]]:
    from cwndlab.report import from_sweep
    from cwndlab.sweeps.reading import read_sweep

    definitions = store.definitions()
    names = [sweep] if sweep is not None else [*definitions]
    pairwise = [name for name in names if "against" in definitions.get(name, {})]
    names = [name for name in names if name not in pairwise]
    if pairwise and not names:
        raise StoreError(
            f"report: `{store.path}` has a pairwise comparison, which has no report: `cwndlab "
            "compare RULE --against OTHER --store DIR` prints it, and `--plot FILE` draws it"
        )
    kept = [
        read_sweep(store, name, lambda _what, done, of, name=name: tell(f"read {name}", done, of))
        for name in names
    ]
    found = [entry for entry in kept if len(entry.findings)]
    if not found:
        raise StoreError(f"report: `{store.path}` has no finished run of a sweep")
    notes = [f"Store: {note}." for note in store.notes]
    empty = [
        f"No run of the sweep {entry.findings.sweep.name} has finished."
        for entry in kept
        if entry not in found
    ]
    chapters = [from_sweep.chapter_of(entry, [*notes, *empty]) for entry in found]
    heading = chapters[0].name if len(chapters) == 1 else f"{len(chapters)} sweeps"
    return heading, chapters
