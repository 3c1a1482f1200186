"""What other packages add: commands and JSON outputs, found by the entry points of packaging."""

from __future__ import annotations

from typing import Any

COMMANDS, OUTPUTS = "cwndlab.commands", "cwndlab.outputs"


def load(group: str) -> dict[str, Any]:
    """Load what installed packages have in a group of entry points.

    Parameters
    ----------
    group : str
        Its name, `COMMANDS` or `OUTPUTS`.

    Returns
    -------
    dict of str to object
        By the names of the entry points.

    Examples
    --------
    >>> load("cwndlab.nothing")
    {}
    """
    # It takes as long to import as the rest of the command line.
    from importlib.metadata import entry_points

    return {entry.name: entry.load() for entry in entry_points(group=group)}
