"""What must be done whole or not at all, whenever Ctrl-C comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the body is done.

    In threads other than the main one, which it never meets, do nothing.

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
        # None: a handler that was not set in Python, which cannot be put back from here.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
        if came and callable(before):
            before(*came[0])
