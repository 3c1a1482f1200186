"""Connects to a cluster by its address, or by a client of dask.distributed."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.errors import ClusterError, MissingPackageError
from cwndlab.message import invalid
from cwndlab.runs.cluster import worker
from cwndlab.runs.cluster.executor import Dask

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10.0
"""Time in which a scheduler must answer, seconds."""
ADDRESSES = "dask://HOST:PORT, the address of a scheduler (tcp:// and tls:// are understood too)"
INSTALL = "pip install 'distributed>=2024.8,<2027'"


@contextmanager
def connect(on: str | Client, tell: Callable[..., object] | None = None) -> Generator[Dask]:
    """Connect to a cluster, check that its workers have this engine, and return an executor.

    Parameters
    ----------
    on : str or distributed.Client
        An address such as ``dask://127.0.0.1:8786``, or a client, which is left open.
    tell : callable, optional
        Gets ``address``, ``workers`` and ``threads`` as named arguments, at first and when they
        change.

    Raises
    ------
    MissingPackageError
        If dask.distributed is not installed.
    ClusterError
        If no scheduler answers, or a worker has another build of
        the engine or none.
    """
    try:
        import distributed
    except ImportError as error:
        raise MissingPackageError(
            f"on: a cluster needs dask.distributed ({error}): {INSTALL}"
        ) from None

    if isinstance(on, distributed.Client):
        if on.asynchronous:
            raise ClusterError(
                "`on` must be a synchronous client: `asynchronous=True` is not supported"
            )
        if on.status != "running":
            raise ClusterError(f"`on` must be a connected client: this one is {on.status}")
        yield _checked(on, tell)
        return
    client = _client(address(on))
    try:
        yield _checked(client, tell)
    finally:
        # The timeout holds if the scheduler is gone.
        client.close(timeout=2)


def silence() -> None:
    """Silence the logs of a dask.distributed client in this process.

    For the command line, which reports errors itself: the part that first notices a lost scheduler
    would log a traceback. A process with a cluster of its own needs these logs.
    """
    # The import sets levels.
    with suppress(ImportError):
        importlib.import_module("distributed")
    for part in ("batched", "client", "comm", "core"):
        logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)


def address(on: Any) -> str:
    """Return the address of a scheduler as dask.distributed writes it.

    Raises
    ------
    ClusterError
        If `on` is not such an address.

    Examples
    --------
    >>> address("dask://127.0.0.1:8786"), address("tls://cluster:8786")
    ('tcp://127.0.0.1:8786', 'tls://cluster:8786')
    """
    scheme, _, rest = on.partition("://") if isinstance(on, str) else ("", "", "")
    host, _, port = rest.rstrip("/").rpartition(":")
    if (
        scheme not in ("dask", "tcp", "tls")
        or not host
        or not port.isdecimal()
        or not 0 < int(port) < 65536
    ):
        raise ClusterError(invalid("on", on, f"{ADDRESSES}, or in Python a distributed.Client"))
    return f"{'tcp' if scheme == 'dask' else scheme}://{host}:{port}"


def _client(where: str) -> Client:
    from distributed import Client

    # It would log every retry, and a traceback at the end; the error below is one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return Client(where, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"on: no scheduler answers at {where} ({' '.join(str(error).split())}): expected "
            f"{ADDRESSES}"
        ) from None


def _checked(client: Client, tell: Callable[..., object] | None) -> Dask:
    """Check the builds of the current workers; later workers are checked with each run."""
    executor = Dask(client, tell)
    executor.look()
    for name, answer in executor.ask(worker.about).items():
        if isinstance(answer, OSError):
            continue  # Lost while it was asked.
        if isinstance(answer, BaseException):
            raise ClusterError(
                f"worker {name}: cannot import the same cwndlab ({type(answer).__name__}: "
                f"{answer}): expected cwndlab {native.version()} on each worker and the scheduler"
            )
        machine, build = answer
        if build != native.build():
            raise ClusterError(other_build(name, machine, build))
    return executor


def other_build(worker: str, machine: str, build: str) -> str:
    """Say that a worker has another build of the engine.

    Its results need not be those of this one.
    """
    return (
        f"worker {worker} on {machine}: has build {build} of the engine: expected "
        f"{native.build()}, as here"
    )
