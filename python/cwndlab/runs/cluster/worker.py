"""A worker's side of a run: unpack its payload, run it, and answer as a local run would.

These functions are called by name on a worker, which has the same package installed.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cwndlab import custom_rules, native
from cwndlab.arguments import Simulated
from cwndlab.runs.cluster.payload import BY_FILE, BY_VALUE, Payload, escaped, fingerprint
from cwndlab.runs.executors import Outcome, machine, perform

LOOK_EVERY_S = 0.2
"""Interval of checks whether a run is still wanted, seconds."""
NOT_WANTED = "not wanted any more"


class NotWanted(Exception):
    """Raised in a run that nobody awaits any more."""


def about() -> tuple[str, str]:
    """Return this worker's machine and the build of its engine."""
    return machine(), native.build()


def hold(content: bytes) -> bytes:
    """Return the content of a payload.

    It is a task of its own, so that it is sent to each worker once, and not with each run.
    """
    return content


def perform_payload(
    build: str, scenario: str, payloads: Sequence[tuple[str, ...]], *contents: bytes
) -> Outcome:
    """Do a run for another process.

    Parameters
    ----------
    build : str
        Fingerprint of the client's engine; a worker with another one refuses the run.
    scenario : str
        The scenario that `Packer.pack` made.
    payloads : sequence of tuple
        Its payloads, each the fields of a `Payload`.
    *contents : bytes
        Contents of the payloads that have one, in order.
    """
    if native.build() != build:
        return _refused("")
    pieces = iter(contents)
    back: list[tuple[str, str]] = []
    for payload in (Payload(*fields) for fields in payloads):
        if payload.kind in (BY_FILE, BY_VALUE):
            place = _unpacked(payload, next(pieces))
            scenario = scenario.replace(payload.token, escaped(place))
            back.append((place, payload.here))
        elif fingerprint(payload.here) != payload.digest:
            return _refused(_differs(payload))
    try:
        outcome = perform(scenario, _watch())
    except NotWanted:
        return _refused(NOT_WANTED)
    # Restore the original paths: results are identical wherever a run is done.
    result, error = outcome.result, outcome.error
    for place, here in back:
        result, error = result.replace(escaped(place), escaped(here)), error.replace(place, here)
    return outcome._replace(result=result, error=error)


def _refused(error: str) -> Outcome:
    return Outcome("", 0.0, machine(), native.version(), native.build(), error)


def _differs(payload: Payload) -> str:
    place = payload.here.partition(":")[0]
    return (
        f"rule {payload.here}: module {place} is not the same at the worker on {machine()}, or "
        "cannot be imported there:"
        ' expected the same source, or "FILE.py:Class(values)", whose file is sent'
    )


def _unpacked(payload: Payload, content: bytes) -> str:
    """Unpack a payload, and return its name for the scenario."""
    if payload.kind == BY_VALUE:
        place = f"cwndlab_sent_{payload.digest}"
        custom_rules.know(place, payload.name, lambda: pickle.loads(content))
        return place
    file = _folder() / payload.digest / payload.name
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        # Several threads may unpack the same payload: each writes a temporary file, and renames it.
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).replace(file)
    return str(file)


def _folder() -> Path:
    """Directory of this worker; it is removed when the worker ends."""
    from distributed import get_worker

    return Path(get_worker().local_directory) / "cwndlab"


def _watch() -> Simulated:
    """Return the progress callback of a run.

    It ends a run that is not wanted any more.

    A worker cannot stop a thread, but it knows when the client has cancelled a task or is gone:
    such a task is in the state "cancelled" while its thread runs.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    return _every(LOOK_EVERY_S, lambda: _is_wanted(worker, key))


def _is_wanted(worker: object, key: object) -> bool:
    tasks = getattr(getattr(worker, "state", None), "tasks", None)
    if tasks is None:
        return True
    return key in tasks and tasks[key].state != "cancelled"


def _every(seconds: float, is_wanted: Callable[[], bool]) -> Simulated:
    looked_s = time.monotonic()

    def progress(_simulated_s: float, _packets: int) -> None:
        nonlocal looked_s
        now_s = time.monotonic()
        if now_s - looked_s >= seconds:
            looked_s = now_s
            if not is_wanted():
                raise NotWanted

    return progress
