"""Messages for arguments that are right elsewhere: another command, another key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from cwndlab.cli.output import warn
from cwndlab.document_kinds import RUNS, kind_of
from cwndlab.names import KEYS
from cwndlab.quantities import bare_rates

KEYS_OF_OPTIONS = {f"--{name}": key for name, key in KEYS.items()}
"""Options of `compare` and those that are tried on a file, to the keys of a scenario."""
_WINDOW = re.compile(
    r"measure: \[(?P<start>\S+), (?P<end>\S+)\] is not valid: expected .* <= (?P<duration>\S+)$"
)


def refuse_other(file: Path, kind: str) -> None:
    """Refuse a file of another kind, and name the command for it.

    Parameters
    ----------
    file : Path
        As it was given.
    kind : str
        What is expected: a "scenario", a "sweep" or a "design".
    """
    found = kind_of(document(file))
    if found not in (None, kind):
        raise click.UsageError(f"{file} is a {found}: run it with `cwndlab {RUNS[found]} {file}`")


def document(file: Path) -> dict[str, Any]:
    """Read a file without checking it; empty if it cannot be read."""
    from cwndlab.errors import ScenarioError
    from cwndlab.sweeps.base import read

    try:
        return read(file)
    except (OSError, ScenarioError):
        return {}


def of_missing(file: object) -> str:
    """Say which command writes a missing file, if it is an example; else nothing.

    Examples
    --------
    >>> of_missing("examples/one-flow-sawtooth.toml"), of_missing("mine.toml")
    ('; `cwndlab examples one-flow-sawtooth` writes it', '')
    """
    from cwndlab.cli.examples import FOLDER, by_name

    path = Path(str(file))
    name = path.relative_to(FOLDER).as_posix() if path.is_relative_to(FOLDER) else ""
    name = name.removesuffix(".toml")
    return f"; `cwndlab examples {name}` writes it" if name in by_name() else ""


def with_window(message: str, is_shortened: bool) -> str:
    r"""Say how to move the measuring window into a duration that the command line has shortened.

    The window is not moved silently: the results would be of another time than the file says.

    Examples
    --------
    >>> text = "measure: [2s, 10s] is not valid: expected [from, to] with 0s <= from < to <= 5s"
    >>> with_window(text, True).rpartition(": ")[2]
    'set the window, too, such as --set \'measure=["1s", "5s"]\''
    """
    from cwndlab.quantities import seconds

    found = _WINDOW.search(message) if is_shortened else None
    if found is None:
        return message
    start, end, duration = (seconds(found[name]) for name in ("start", "end", "duration"))
    if not (end and duration and start is not None):
        return message
    window = f'["{round(start * duration / end, 3):g}s", "{duration:g}s"]'
    return f"{message}: set the window, too, such as --set 'measure={window}'"


def warn_of_bare_rates(document: Any) -> None:
    """Warn of rates in a scenario or a sweep that were probably meant in Mbit/s."""
    for text in bare_rates(document):
        warn(f"warning: {text}")
