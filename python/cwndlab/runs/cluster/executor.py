"""The executor on a cluster: few runs in flight, each answered once.

dask.distributed repeats the runs of a lost worker on another. This executor submits only as many
runs as keep the workers busy, fetches and releases answers as they come, submits runs again that
the scheduler lost, and cancels runs that nobody awaits.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.errors import ClusterError
from cwndlab.runs.cluster import worker
from cwndlab.runs.cluster.payload import Packer
from cwndlab.runs.executors import Outcome

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as AnyFuture

    Future = AnyFuture[Any]

PER_THREAD = 3
"""Submitted runs per thread of a worker.

One is running, the others wait.
"""
AT_LEAST = 4
"""Submitted runs while the cluster has no worker."""
LOOK_EVERY_S = 2.0
"""Interval of counting the workers, seconds."""
ANSWER_S = 0.5
"""Time to wait for an answer before checking the scheduler, seconds."""


def _now(answer: Any) -> Any:
    """Return the answer of a synchronous client, whose types allow for a coroutine, too."""
    return answer


class Dask:
    """Executor on a cluster; `cwndlab.runs.cluster.connect` makes one.

    Parameters
    ----------
    client : distributed.Client
        A connected, synchronous client.
    tell : callable, optional
        Gets ``address``, ``workers`` and ``threads`` as named arguments, at first and when they
        change.
    """

    def __init__(self, client: Client, tell: Callable[..., object] | None = None) -> None:
        self._client, self._tell = client, tell
        self._address = client.scheduler.address if client.scheduler else "?"
        self._packer = Packer()
        self._sent: dict[str, Future] = {}
        self._finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._seen: tuple[int, int] | None = None
        self._room, self._looked_s = AT_LEAST, 0.0
        self.most_in_flight: int = 0

    def ask(self, question: Callable[[], Any]) -> dict[str, Any]:
        """Call a function on every worker.

        If it raises, the answer is the exception.
        """
        with self._reaching():
            return _now(self._client.run(question, on_error="return"))

    def __call__(self, tasks: Iterable[tuple[Any, str]], /) -> Generator[tuple[Any, Outcome]]:
        """Do every run, and yield each as it finishes."""
        waiting = iter(tasks)
        kept: dict[str, tuple[Any, str]] = {}
        futures: dict[str, Future] = {}
        try:
            while True:
                self.look()
                while len(futures) < self._room and (task := next(waiting, None)) is not None:
                    future = self._submit(task[1])
                    kept[str(future.key)], futures[str(future.key)] = task, future
                self.most_in_flight = max(self.most_in_flight, len(futures))
                if not futures:
                    return
                for name, outcome in self._answers(futures):
                    # Release it from the scheduler and the workers.
                    futures.pop(name).release()
                    key, scenario = kept.pop(name)
                    if outcome is not None:
                        yield key, outcome
                        continue
                    future = self._submit(scenario)
                    name = str(future.key)
                    kept[name], futures[name] = (key, scenario), future
        finally:
            if futures:
                with suppress(Exception):
                    self._client.cancel(list(futures.values()))

    def _submit(self, scenario: str) -> Future:
        scenario, beside = self._packer.pack(scenario)
        with self._reaching():
            contents: list[Future] = [
                self._content(payload.digest, content)
                for payload, content in beside
                if content is not None
            ]
            # Unique keys: the store detects equal runs, not the scheduler.
            future = self._client.submit(
                worker.perform_payload, native.build(), scenario,
                [tuple(payload) for payload, _ in beside], *contents,
                key=f"cwndlab-run-{uuid.uuid4().hex}", pure=False,
            )  # fmt: skip
            future.add_done_callback(self._finished.put)
        return future

    def _content(self, digest: str, content: bytes) -> Future:
        """Return the content of a payload as its own task.

        The scheduler can repeat it after the loss of a worker.
        """
        if digest not in self._sent or self._sent[digest].cancelled():
            self._sent[digest] = self._client.submit(
                worker.hold, content, key=f"cwndlab-payload-{digest}", pure=False
            )
        return self._sent[digest]

    def _answers(self, futures: dict[str, Future]) -> list[tuple[str, Outcome | None]]:
        """Wait briefly for runs to finish, and fetch their outcomes.

        None for runs to submit again.
        """
        finished: list[Future] = []
        with suppress(queue.Empty):
            finished.append(self._finished.get(timeout=ANSWER_S))
            while True:
                finished.append(self._finished.get_nowait())
        self._see_that_it_is_there()
        # Others belong to an earlier call.
        keys = {str(future.key): future for future in finished}
        named = {key: future for key, future in keys.items() if futures.get(key) is future}
        if not named:
            return []
        with self._reaching():
            # If a worker is lost before it delivered its outcome, this waits for the repetition.
            given = _now(self._client.gather(named, errors="skip"))
        return [(name, self._outcome(future, given[name])) for name, future in named.items()]

    def _outcome(self, future: Future, given: Outcome | None) -> Outcome | None:
        if given is not None:
            if given.build != native.build():
                from cwndlab.runs.cluster.client import other_build

                raise ClusterError(other_build("that came later", given.machine, given.build))
            return None if given.error == worker.NOT_WANTED else given
        if future.status != "error":
            # The cluster was restarted, or the connection was interrupted.
            self._see_that_it_is_there()
            return None
        from distributed import KilledWorker

        error = _now(future.exception())
        if isinstance(error, KilledWorker):
            return Outcome(
                "",
                0.0,
                "",
                native.version(),
                native.build(),
                f"every worker that began it was lost: {error}",
            )
        raise ClusterError(
            f"worker: cannot perform a run ({type(error).__name__}: "
            f"{' '.join(str(error).split())}): expected cwndlab {native.version()} on each worker "
            "and the scheduler"
        )

    def look(self) -> None:
        """Count the workers from time to time."""
        now_s = time.monotonic()
        if self._seen is not None and now_s - self._looked_s < LOOK_EVERY_S:
            return
        with self._reaching():
            threads: dict[str, int] = _now(self._client.nthreads())
        self._looked_s, seen = now_s, (len(threads), sum(threads.values()))
        self._room = max(AT_LEAST, PER_THREAD * seen[1])
        if seen != self._seen and self._tell is not None:
            self._tell(address=self._address, workers=seen[0], threads=seen[1])
        self._seen = seen

    def _see_that_it_is_there(self) -> None:
        if self._client.status != "running":
            raise ClusterError(self._gone("the connection is closed"))

    @contextmanager
    def _reaching(self) -> Generator[None]:
        """Raise a ClusterError if the scheduler is gone."""
        from concurrent.futures import CancelledError

        try:
            yield
        except (OSError, CancelledError, TimeoutError) as error:
            raise ClusterError(
                self._gone(" ".join(str(error).split()) or type(error).__name__)
            ) from None

    def _gone(self, why: str) -> str:
        return (
            f"on: the scheduler at {self._address} does not answer any more ({why}): "
            "finished runs are kept"
        )
