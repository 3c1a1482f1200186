"""How tests wait. No test judges how long something takes: a busy machine may take any time.

Whatever ends is waited for, and `HANG_S` only ends a test that would hang for ever. `bench/`
measures time."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_S = 900.0
"""More than ten times what the longest wait in any test takes on a quiet machine of two cores."""


def wait_until(
    condition: Callable[[], object], what: str = "the condition", poll_s: float = 0.02
) -> None:
    """Return once ``condition()`` is true; fail after `HANG_S`, naming ``what`` never came."""
    end_s = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < end_s, f"{what} did not happen within {HANG_S:.0f} s"
        time.sleep(poll_s)
