"""The program behind `cwndlab live`: its path and its answers."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any, NoReturn

from cwndlab.errors import LiveError, RunError

BUILT = Path(__file__).resolve().parent.parent / "_bin" / "cwndlab-live"
EXIT_REFUSED = 2
# Time that a command may take to end, seconds.
END_S = 20


def find() -> Path:
    """Path of the program.

    Raises
    ------
    LiveError
        If it was not built.
    """
    if not BUILT.is_file():
        raise LiveError(
            "the program cwndlab-live is not built; run `make live` in the source tree (Linux)"
        )
    return BUILT


def digest() -> str:
    """Hash of the program.

    Raises
    ------
    LiveError
        If it was not built.
    """
    path = find()
    return _digest(path, path.stat().st_mtime_ns)


@functools.lru_cache
def _digest(path: Path, _mtime_ns: int) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def ask(*arguments: str, timeout_s: float = 60) -> dict[str, Any]:
    """Return the answer to one command, such as `ask("list")`.

    Raises
    ------
    LiveError
        If the program refuses, with its reason.
    """
    command = [str(find()), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise LiveError(f"cwndlab-live {arguments[0]} did not end within {timeout_s:g} s") from None
    return _answer(done.stdout.splitlines(), done.returncode, done.stderr)


class Held:
    """A command that lasts until it is ended; `answer` is its first event.

    The program ends with this process in any case: it waits for the end of its input.

    Raises
    ------
    LiveError
        If the program refuses, with its reason.
    """

    def __init__(self, *arguments: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [str(find()), *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        assert self._process.stdout is not None, "it was asked for"
        first = self._process.stdout.readline()
        if '"answer"' not in first:
            _, errors = self._process.communicate(timeout=END_S)
            _answer([first], self._process.returncode, errors)
        self.answer: dict[str, Any] = _answer([first], 0, "")

    def wait(self) -> NoReturn:
        """Wait until the program ends.

        Raises
        ------
        RunError
            If it ends without `close`.
        """
        code = self._process.wait()
        raise RunError(
            f"live: {self.answer['name']} is gone: its program ended without a message (exit code "
            f"{code})"
        )

    def close(self) -> None:
        """Kill it without an answer."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate(timeout=END_S)

    def end(self) -> dict[str, Any] | None:
        """End it, and give its last answer.

        None if it has ended already, as on Ctrl-C.
        """
        rest, errors = self._process.communicate(timeout=END_S)
        return _answer(rest.splitlines(), self._process.returncode, errors) if rest else None


def _answer(lines: list[str], code: int, errors: str) -> dict[str, Any]:
    events = [json.loads(line) for line in lines if line.startswith("{")]
    for event in reversed(events):
        if event["event"] == "answer":
            return event["answer"]
        if event["event"] == "error" and code == EXIT_REFUSED:
            raise LiveError(event["message"])
    said = events[-1].get("message", "") if events else errors.strip()
    raise RuntimeError(f"cwndlab-live ended with code {code}: {said}")
