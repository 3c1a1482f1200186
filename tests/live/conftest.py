"""What tests with real flows share: they skip where they cannot run, and leave nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from surroundings import machine, missing, wait_for_others

from waiting import HANG_S

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would what they
# start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Skip what cannot run here."""
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
    """Wait for the end of somebody else's live run."""
    wait_for_others()


@pytest.fixture
def unchanged():
    """Wait for the end of another live run, and fail where a test leaves something behind."""
    wait_for_others()
    before = machine()
    yield
    assert machine() == before


@pytest.fixture
def cli(tmp_path):
    """Run the command line in a folder of its own."""

    def run(*arguments: str, **named) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cwndlab", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, **named
        )

    return run
