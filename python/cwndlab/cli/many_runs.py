"""What the commands that do many runs share: their execution, and how they say what is kept."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli.expect_options import EXIT_UNMET
from cwndlab.cli.options import make_folder
from cwndlab.cli.output import detail, meter, say, warn
from cwndlab.message import plural

if TYPE_CHECKING:
    from cwndlab.results import Result
    from cwndlab.runs.collection import Collection, Gathered
    from cwndlab.runs.plan import Run

MANY_RUNS = 100
"""From this duration on, a message says how long the runs took."""


def execute_plan(
    collection: Gathered,
    *,
    jobs: int | None,
    out: Path | None,
    store: Path | None = None,
    on: str | None = None,
    trace: Mapping[str, Any] | None = None,
    keep: bool = True,
) -> Gathered:
    """Run the plan of a collection.

    With `out`, each finished run is written at once, and the tables are written after Ctrl-C, too.
    """
    from cwndlab.phase_effects import first_note
    from cwndlab.runs.collection import collect

    began_s, plan = time.perf_counter(), collection.plan
    for note in first_note(cell.document() for cell in plan.cells()):
        say(f"note: {note}")
    make_folder(out)
    if out is not None:
        # Files of an earlier comparison would be mistaken for runs of this one.
        shutil.rmtree(out / "runs", ignore_errors=True)
        collection.save_plan(out)

    with (
        meter("compare", len(plan), "runs") as progress,
        says_what_is_kept(lambda: len(collection.measured), store, f" of {len(plan)}"),
    ):

        def save(run: Run, result: Result) -> None:
            if out is not None:
                result.save(_folder(out, run.index))

        try:
            collect(
                collection,
                store=store,
                jobs=jobs,
                on=on,
                trace=trace,
                on_run=None if out is None else save,
                progress=progress.runs,
                packets=progress.packets,
                keep=keep,
            )
        except KeyboardInterrupt:
            _write_interrupted(collection, out)
            raise
    _write_tables(collection, out)
    runs = len(collection.measured)
    detail(f"{runs} runs, seeds {plan.seed} to {plan.seed + plan.replicates - 1}")
    if runs >= MANY_RUNS:
        say(f"{runs} runs in {time.perf_counter() - began_s:.0f} s")
    return collection


@contextmanager
def says_what_is_kept(done: Callable[[], int], store: Path | None, of: str = "") -> Generator[None]:
    """Where the runs end early, say how many are done and whether a store keeps them."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the events (`| head`) has closed the pipe.
        raise
    except BaseException as error:
        kind = "stopped" if isinstance(error, KeyboardInterrupt) else "ended by an error"
        kept = f", which are kept in {store}; the same command resumes" if store else ""
        if done() or kind == "stopped":
            warn(f"{kind} after {done()}{of} runs{kept}")
        raise


def end_unmet(collection: Collection, until: str | None) -> None:
    """Say which cells missed the target, and end with the exit code of that."""
    if not collection.unmet:
        return
    from cwndlab.runs.plan import named

    first = collection.unmet[0]
    warn(
        f"{plural(len(collection.unmet), 'cell')} did not reach `{until}` with "
        f"{first['replicates']} replicates, the first: {named(first['cell'])}; --most N allows more"
    )
    raise click.exceptions.Exit(EXIT_UNMET)


def _folder(out: Path, index: int) -> Path:
    return out / "runs" / f"{index:05d}"


def _write_interrupted(collection: Collection, out: Path | None) -> None:
    """Write the finished runs, and the run that was being saved at the interruption."""
    if out is None or not collection.measured:
        return
    for index, result in collection.results.items():
        if not (_folder(out, index) / "run.json").exists():
            result.save(_folder(out, index))
    _write_tables(collection, out)


def _write_tables(collection: Collection, out: Path | None) -> None:
    if out is not None:
        say(f"wrote {collection.save(out)}")
