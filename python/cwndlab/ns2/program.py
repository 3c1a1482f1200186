"""The program ``ns``: where it is, which version, and its runs."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from cwndlab.arguments import Simulated
from cwndlab.errors import LiveError, RunError
from cwndlab.message import invalid
from cwndlab.ns2.script import with_commands

NAME = "ns"
HOW = "the program ns of ns-2 2.35 (Debian and Ubuntu: apt-get install ns2)"
LIMIT_S = 3600.0
"""Longest time of a run, seconds."""
POLL_S = 0.05
REPORTS = 100
"""Progress reports of a run."""
SAYS = "progress "
NOTICES = (SAYS, "Collisions between ")
"""How lines begin that report no error; sources that share a bucket of DRR collide by design."""


class Ns2:
    """An installed ns-2.

    Parameters
    ----------
    path : str or Path, optional
        Its program; by default ``ns`` on the path.

    Attributes
    ----------
    path : str
        The program.

    Raises
    ------
    LiveError
        If there is no such program, or it is not ns-2.

    Examples
    --------
    >>> Ns2("/bin/nothing")
    Traceback (most recent call last):
        ...
    cwndlab.LiveError: ns: "/bin/nothing" is not valid: expected the program ns of ns-2 2.35
    (Debian and Ubuntu: apt-get install ns2)
    """

    def __init__(self, path: str | Path | None = None) -> None:
        found = shutil.which(NAME if path is None else os.fspath(path))
        if found is None:
            raise LiveError(invalid(NAME, NAME if path is None else os.fspath(path), HOW))
        self.path = found
        if self.version is None:
            raise LiveError(invalid(NAME, found, HOW))

    @property
    def version(self) -> str | None:
        """Its version, such as ``2.35``; None if the program is not ns-2."""
        return _version(self.path)

    def run(
        self,
        script: str,
        *,
        duration_s: float = 0.0,
        progress: Simulated | None = None,
        limit_s: float = LIMIT_S,
    ) -> str:
        """Run a script, and return what it prints.

        Parameters
        ----------
        script : str
            As `cwndlab.ns2.export` writes it.
        duration_s : float
            Simulated seconds, of which progress is reported.
        progress : callable, optional
            Gets simulated seconds and 0, at least ten times a second; an exception that it raises
            ends the run at once.
        limit_s : float
            The run is ended after this time, seconds.

        Raises
        ------
        RunError
            If ns-2 reports an error, or the time is over.
        """
        commands = _reports(duration_s) if progress is not None and duration_s else []
        with tempfile.TemporaryDirectory(prefix="cwndlab-ns2-") as name:
            folder = Path(name)
            (folder / "run.tcl").write_text(with_commands(script, commands), encoding="ascii")
            with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
                process = subprocess.Popen(
                    [self.path, "run.tcl"],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
                try:
                    _wait(process, folder / "err", progress, limit_s)
                finally:
                    _end(process)
            return _output(process, folder)


def _reports(duration_s: float) -> list[str]:
    """Return commands that report the time; they change nothing that the script simulates."""
    every_s = duration_s / REPORTS
    return [
        "proc cwndlab-progress {} {",
        "    global ns",
        f'    puts stderr "{SAYS}[$ns now]"',
        f'    $ns at [expr {{[$ns now] + {every_s!r}}}] "cwndlab-progress"',
        "}",
        f'$ns at {every_s!r} "cwndlab-progress"',
    ]


def _wait(
    process: subprocess.Popen[bytes],
    reports: Path,
    progress: Simulated | None,
    limit_s: float,
) -> None:
    began_s = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
            return
        if time.monotonic() - began_s > limit_s:
            raise RunError(f"ns: a run took longer than {limit_s:g} s, and was ended")
        if progress is not None:
            progress(_reported(reports), 0)


def _reported(file: Path) -> float:
    """Return the simulated time that ns-2 reported last."""
    with file.open("rb") as open_file:
        open_file.seek(max(0, file.stat().st_size - 4096))
        lines = open_file.read().decode("utf-8", "replace").splitlines()
    times = [line[len(SAYS) :] for line in lines if line.startswith(SAYS)]
    try:
        return float(times[-1]) if times else 0.0
    except ValueError:
        return 0.0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a run that is still going, with what it started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _output(process: subprocess.Popen[bytes], folder: Path) -> str:
    printed = (folder / "out").read_text("utf-8", "replace")
    reported = (folder / "err").read_text("utf-8", "replace").splitlines()
    errors = [line for line in reported if not line.startswith(NOTICES) and line.strip()]
    if process.returncode != 0 or errors:
        said = " ".join([*errors, *printed.splitlines()[-3:]])[:500]
        raise RunError(f"ns: exit code {process.returncode}: {said}")
    return printed


@functools.cache
def _version(path: str) -> str | None:
    try:
        done = subprocess.run(
            [path, "-"],
            input='puts "version [ns-version]"; exit 0\n',
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [line.split() for line in done.stdout.splitlines()]
    return next((words[1] for words in lines if words[:1] == ["version"] and words[1:]), None)
