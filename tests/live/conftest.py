"""Fixtures of live tests, which skip where they cannot run and check that they leave nothing
behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from host_load import machine, missing, wait_for_others

from waiting import HANG_S

# In the background of a shell the tests, and so their child processes, would ignore SIGINT.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Skip the live tests if this machine cannot run them."""
    reason = missing()
    for item in items:
        if (
            reason is not None
            and Path(__file__).parent in item.path.parents
            and "anywhere" not in item.keywords
        ):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def alone():
    """Wait for the end of another live run."""
    wait_for_others()


@pytest.fixture
def unchanged():
    """Wait for the end of another live run, and fail if the test changes the machine's state."""
    wait_for_others()
    before = machine()
    yield
    assert machine() == before


@pytest.fixture
def cli(tmp_path):
    """Run the command line in a temporary folder."""

    def run(*arguments: str, **named) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cwndlab", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, **named
        )

    return run
