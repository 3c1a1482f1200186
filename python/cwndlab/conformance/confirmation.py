"""A kernel's word on a script, by a packetdrill of the user's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

CONFIRMED, NOT_CONFIRMED, COULD_NOT_RUN = "confirmed", "not confirmed", "could not run"
LIMIT_S = 180
"""Seconds that a script may take."""
TRIES = 3
"""Runs at most, of which the outcome of two counts: other processes delay a real kernel."""
_REFUSED = re.compile(r"^(?:sysctl: |Error: |RTNETLINK answers: |.*: No such file or directory)")
_NAMESPACE = ("unshare", "--net")


@dataclass(frozen=True)
class Confirmation:
    """What a kernel made of a script.

    Attributes
    ----------
    outcome : str
        ``confirmed``, ``not confirmed`` or ``could not run``.
    reason : str
        What packetdrill said, or why it could not run; empty if it confirmed.

    Examples
    --------
    >>> Confirmation.of(1, "a.pkt:7: error handling packet: timing error").outcome
    'not confirmed'
    >>> Confirmation.of(0, 'sysctl: setting key "net.ipv4.tcp_ecn": Not permitted').outcome
    'could not run'
    """

    outcome: str
    reason: str = ""

    @classmethod
    def of(cls, status: int, said: str) -> Confirmation:
        """Judge by the exit status and by what was said on standard error."""
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        refused = next((line for line in lines if _REFUSED.match(line)), None)
        if refused is not None:
            # The kernel had other settings than those of the script.
            return cls(COULD_NOT_RUN, refused)
        if status == 0:
            return cls(CONFIRMED)
        reason = next((line for line in lines if "error" in line.lower()), None)
        return cls(NOT_CONFIRMED, reason or (lines[-1] if lines else f"exit status {status}"))

    @classmethod
    def ask(cls, program: Path, script: Path, tolerance_us: float | None = None) -> Confirmation:
        """Run a script by a packetdrill in a network namespace of its own, which needs root.

        Parameters
        ----------
        program : Path
            The packetdrill.
        script : Path
            The script.
        tolerance_us : float, optional
            Tolerance of times in place of the script's, microseconds.
        """
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            return cls(COULD_NOT_RUN, "packetdrill needs root")
        if shutil.which(_NAMESPACE[0]) is None:
            return cls(COULD_NOT_RUN, "unshare is missing: expected util-linux")
        options = [] if tolerance_us is None else [f"--tolerance_usecs={tolerance_us:.0f}"]
        command = [*_NAMESPACE, str(program.resolve()), *options, script.name]
        seen: list[Confirmation] = []
        for _ in range(TRIES):
            found = cls._once(command, script.resolve().parent)
            if found.outcome == COULD_NOT_RUN or found.outcome in (one.outcome for one in seen):
                return found
            seen.append(found)
        return seen[-1]

    @classmethod
    def _once(cls, command: list[str], folder: Path) -> Confirmation:
        try:
            done = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return cls(COULD_NOT_RUN, f"it took more than {LIMIT_S} s")
        except OSError as error:
            return cls(COULD_NOT_RUN, error.strerror or str(error))
        return cls.of(done.returncode, done.stderr)
