"""Critical sections that Ctrl-C does not interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Generator[None]:
    """Defer Ctrl-C until the end of the body.

    Signals only reach the main thread; in other threads this does nothing.

    Examples
    --------
    >>> done = []
    >>> try:
    ...     with uninterrupted():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("kept")
    ... except KeyboardInterrupt:
    ...     done.append("interrupted")
    >>> done
    ['kept', 'interrupted']
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        # None: the former handler was not set in Python and cannot be restored.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
        if came and callable(before):
            before(*came[0])
