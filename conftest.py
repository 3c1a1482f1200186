"""What examples in docstrings need that not every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

# A link to examples/, whose programs have no examples in docstrings.
collect_ignore = ["python/cwndlab/templates/_examples"]
PROGRAM = Path(__file__).parent / "python/cwndlab/_bin/cwndlab-live"
LIVE = ("cwndlab.live_runs.running.live", "cwndlab.live_runs.result.LiveResult")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of live runs where their program is not built."""
    for item in items:
        if item.name in LIVE and not PROGRAM.is_file():
            item.add_marker(pytest.mark.skip(reason="needs `make live`"))
