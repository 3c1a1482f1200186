"""The protocol of a run with the program `cwndlab-live`.

A request in JSON, then its events, one per line, until the end.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cwndlab.arguments import Simulated
from cwndlab.errors import LiveError, RunError
from cwndlab.kernel_runs import program

GRACE_S = 5.0
"""Time that the program may take to end by itself, seconds."""
DYING_S = 60.0
"""Time that a killed program may take to end, seconds: the host frees the memory of a kernel in
virtual time, slowly where it is busy."""


def exchange(command: str, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Start the program with a request, and yield its events until it ends.

    Closing the iterator, or an exception such as Ctrl-C, ends the program; it ends with this
    process in any case.

    Raises
    ------
    LiveError
        If the program refuses.
    RunError
        If the program fails.
    """
    with _started(command) as process:
        assert process.stdin is not None, "it was asked for"
        assert process.stdout is not None, "it was asked for"
        try:
            process.stdin.write(json.dumps({**request, "parent": os.getpid()}))
            process.stdin.close()
        except BrokenPipeError:
            # The program has ended; its output says why.
            pass
        problem = "ended without a word"
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "error":
                problem = event["message"]
            else:
                yield event
        code = process.wait()
        if code == program.EXIT_REFUSED:
            raise LiveError(problem)
        if code != 0:
            raise RunError(f"live: {problem} (exit code {code})")


def play(
    command: str, request: Mapping[str, Any], progress: Simulated | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a scenario with the program.

    Returns
    -------
    tuple of dict
        Fields and tables of the run, and the columns of its traces.

    Raises
    ------
    LiveError
        If the program refuses.
    RunError
        If the program fails.
    """
    for event in exchange(command, request):
        if event["event"] == "progress" and progress is not None:
            progress(event["time_s"], event["packets"])
        if event["event"] == "result":
            return event["run"], event["traces"]
    raise RunError("live: the program ended without a result")


@contextmanager
def _started(command: str) -> Generator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([program.find(), command], stdin=pipe, stdout=pipe, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            # It removes its folder, and ends the kernel in virtual time that it has started.
            process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(DYING_S)
        for end in (process.stdin, process.stdout):
            if end is not None:
                end.close()
