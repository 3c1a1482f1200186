"""What tests with real flows share: they skip where they cannot run, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from surroundings import is_running, machine, missing


def pytest_collection_modifyitems(items):
    """Skip what cannot run here."""
    reason = missing()
    for item in items:
        if reason is not None and Path(__file__).parent in item.path.parents and "anywhere" not in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def unchanged():
    """Wait for the end of somebody else's live run, and fail where a test leaves something behind."""
    end = time.monotonic() + 120
    while is_running() and time.monotonic() < end:
        time.sleep(0.2)
    before = machine()
    yield
    assert machine() == before


@pytest.fixture
def cli(tmp_path):
    """Run the command line in a folder of its own."""

    def run(*arguments: str, **named) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cwndlab", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, **named)

    return run
