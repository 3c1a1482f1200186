"""Delivers a Ctrl-C that Python would lose, and ends on SIGTERM as on Ctrl-C.

Python raises `KeyboardInterrupt` wherever the main thread is. In a callback or a `__del__` (an
import has many: the lock of every module ends in one), Python prints "Exception ignored" and
continues. This module sends such an interrupt again, a moment later.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

AGAIN_S = 0.02
"""Long enough to have left the callback; should it hit another one, it comes once more."""


class Stops:
    """What ends the program early."""

    terminated = False


@contextmanager
def terminations_as_interrupts() -> Generator[Stops]:
    """Interrupt the body on SIGTERM, too, and say whether that is why it ended."""
    stops = Stops()

    def terminate(_number: int, _frame: FrameType | None) -> None:
        stops.terminated = True
        # Whatever handles Ctrl-C now may defer it.
        signal.raise_signal(signal.SIGINT)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if stops.terminated:
            raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, terminate)
    except ValueError:
        # Signals are the main thread's.
        yield stops
        return
    # A shell starts what runs in the background with SIGINT ignored: it stays so for Ctrl-C alone.
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    if is_ignored:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield stops
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt_main_thread() -> None:
    """Interrupt the thread that raises `KeyboardInterrupt`."""
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        _thread.interrupt_main()
    else:
        # A signal, because it also ends a wait in the kernel.
        signal.pthread_kill(main, signal.SIGINT)


@contextmanager
def interrupts_kept() -> Generator[None]:
    """Send an interrupt again that Python swallows within the body."""
    before = sys.unraisablehook

    def swallowed(what: UnraisableHookArgs) -> None:
        if what.exc_type is not KeyboardInterrupt:
            before(what)
            return
        delay_s = AGAIN_S
        while True:
            again = threading.Timer(delay_s, _interrupt_main_thread)
            again.daemon = True
            try:
                again.start()
                return
            except KeyboardInterrupt:
                # On a busy machine it may come before `start` returns, and Python would swallow it
                # here as well.
                delay_s *= 2

    sys.unraisablehook = swallowed
    try:
        yield
    finally:
        sys.unraisablehook = before
