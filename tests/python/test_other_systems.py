"""What a user does on Windows needs no part of Unix: simulated by a Python without these parts.

This is not Windows. It finds an import, a call or an attribute that Windows lacks.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT
from waiting import HANG_S

LIKE_WINDOWS = '''
import os, signal, sys, types

# Threads of polars and numpy start by what the real system has: imported before it is hidden.
import numpy, polars, matplotlib.figure, scipy.stats, rich.console, click, sqlite3
import concurrent.futures, subprocess, tempfile, platform, multiprocessing
import fcntl

def locking(descriptor, mode, count):
    """`_locking` of the C library, from the position of the file, in 31 bits."""
    at = os.lseek(descriptor, 0, os.SEEK_CUR)
    assert 0 <= at < 2**31
    try:
        kind = fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.lockf(descriptor, kind, count, at)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None

open_before, fsync_before = os.open, os.fsync

def opened(path, flags, *rest, **named):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return open_before(path, flags, *rest, **named)

real_fcntl = fcntl.fcntl
os.fsync = lambda descriptor: (
    (_ for _ in ()).throw(OSError(9, "Bad file descriptor"))
    if real_fcntl(descriptor, 3) & os.O_ACCMODE == os.O_RDONLY
    else fsync_before(descriptor)
)
os.open = opened
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2, LK_UNLCK=0)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "syslog", "posix"):
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "killpg", "setsid", "sched_getaffinity", "sysconf",
             "register_at_fork", "uname", "getloadavg", "mkfifo", "O_CLOEXEC", "O_NOFOLLOW"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_kill", "SIGKILL", "SIGHUP", "SIGUSR1", "setitimer", "pthread_sigmask"):
    if hasattr(signal, name):
        delattr(signal, name)
sys.platform = "win32"
'''
USES = {
    "import": "import cwndlab; [getattr(cwndlab, name) for name in cwndlab.__all__]",
    "run": """
import cwndlab
network = cwndlab.dumbbell("5Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s")
assert cwndlab.run(network).links["utilization"][0] > 0.5
""",
    "compare": """
import cwndlab
found = cwndlab.compare(["AIMD(1, 0.5)", "AIAD(1, 3)"], replicates=2, duration="5s")
assert found.runs.height == 4
""",
    "sweep": """
import cwndlab
base = cwndlab.dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="5s")
for again in range(2):
    found = cwndlab.sweep(base, axes={"dumbbell.queue.limit": ["5pkt", "20pkt"]}, replicates=2,
                          store="kept", jobs=2)
    assert found.runs.height == 4
""",
    "command line": """
import cwndlab.cli
for line in (["run", "--help"], ["demo", "--duration", "5s", "--out", "demo", "-q"],
             ["theory", "friendly", "--beta", "0.875"], ["rules"]):
    try:
        cwndlab.cli.main(line)
    except SystemExit as ended:
        assert not ended.code, line
""",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="this is the real thing")
@pytest.mark.parametrize("use", USES)
def test_nothing_of_unix_is_needed(use, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIKE_WINDOWS + USES[use]],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HANG_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_the_simulated_windows_lacks_what_windows_lacks(tmp_path):
    for missing in ("import fcntl", "import os; os.fork()", "import os; os.open('.', os.O_RDONLY)"):
        done = subprocess.run(
            [sys.executable, "-c", LIKE_WINDOWS + missing],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HANG_S,
        )  # fmt: skip
        assert done.returncode != 0, missing


def test_the_documents_say_what_needs_linux():
    text = (ROOT / "docs" / "website" / "pages" / "install.md").read_text(encoding="utf-8")
    assert "Windows" in text
    assert "but have not run" in text
