"""Counts instructions of a run with callgrind: the same however busy the machine is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import ours
from workloads import text


@dataclass
class Counted:
    """Instructions of a run in all and by address of the program, and what the run did."""

    instructions: int
    delivered: int
    arrived: int
    by_address: Counter[int]
    # Of the C library and the loader.
    elsewhere: int


def missing() -> str | None:
    """Why instructions cannot be counted here, if they cannot."""
    if shutil.which("valgrind") is None:
        return "program `valgrind` (Debian package valgrind) is not installed"
    return None


def count(scenario: dict, program: Path | None = None) -> Counted:
    """Run the scenario without Python under callgrind; about fifty times slower than by itself."""
    program = program or ours.native_program()
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "scenario.toml", Path(folder) / "callgrind.out"
        path.write_text(text(scenario))
        command = [
            "valgrind",
            "--tool=callgrind",
            "--dump-instr=yes",
            f"--callgrind-out-file={out}",
            str(program),
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(
                f"valgrind failed ({done.returncode}): {done.stderr.strip()[-1000:]}"
            )
        return read(out.read_text(), program.name, json.loads(done.stdout))


def read(dump: str, program: str, did: dict) -> Counted:
    """Add up what instructions cost by themselves, from callgrind's dump.

    A line of costs is an address, a line number and a count, where an address may be relative to
    the one before; the line after `calls=` has the cost of what was called, which is counted there
    (Callgrind format specification, 1).
    """
    total = int(re.search(r"^(?:summary|totals): (\d+)", dump, re.MULTILINE)[1])
    by_address: Counter[int] = Counter()
    names: dict[str, str] = {}
    address, elsewhere, inside, called = 0, 0, False, False
    for line in dump.splitlines():
        if line.startswith("ob="):
            number, _, name = line.removeprefix("ob=").partition(" ")
            inside = Path(names.setdefault(number, name)).name == program
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "0123456789+-*" and line:
            position, _, cost = line.split()
            if position.startswith(("+", "-")):
                address += int(position)
            elif position != "*":
                address = int(position, 0)
            if not called and inside:
                by_address[address] += int(cost)
            elif not called:
                elsewhere += int(cost)
            called = False
        elif line.startswith("cob="):
            number, _, name = line.removeprefix("cob=").partition(" ")
            names.setdefault(number, name)
    return Counted(total, did["delivered"], did["arrived"], by_address, elsewhere)
