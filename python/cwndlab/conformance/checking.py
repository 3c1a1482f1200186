"""Checks scripts: by the simulator, and by a kernel where one is asked."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cwndlab.conformance.confirmation import NOT_CONFIRMED, Confirmation
from cwndlab.conformance.play import play
from cwndlab.conformance.script import Script
from cwndlab.conformance.verdict import Verdict
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.scenario import DEFAULT_PROFILE

ENDING = ".pkt"


@dataclass(frozen=True)
class Checked:
    """A script with its verdict.

    Attributes
    ----------
    verdict : Verdict
        How far the simulator agrees.
    kernel : Confirmation or None
        What the kernel says; None if none was asked.
    """

    verdict: Verdict
    kernel: Confirmation | None = None

    @property
    def counts(self) -> bool:
        """Whether the script says how the kernel behaves: the one that was asked agrees with it."""
        return self.kernel is None or self.kernel.outcome != NOT_CONFIRMED


def scripts_of(paths: Iterable[Path]) -> list[Path]:
    """List scripts: files, and those in folders that end in ``.pkt``, in order of their names.

    Raises
    ------
    ScenarioError
        If a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        within = sorted(path.rglob(f"*{ENDING}"))
        if not within:
            raise ScenarioError(
                invalid("PATH", path, f"a script, or a folder with files that end in {ENDING}")
            )
        found += within
    return list(dict.fromkeys(found))


def checked(
    scripts: Sequence[Path],
    *,
    rule: str | None = None,
    profile: str = DEFAULT_PROFILE,
    tolerance_us: float | None = None,
    program: Path | None = None,
) -> Generator[Checked, None, None]:
    """Hold the simulator's sender against scripts, one after the other.

    Parameters
    ----------
    scripts : sequence of Path
        Files, as `scripts_of` lists them. All are read before the first is played.
    rule : str, optional
        A rule in place of each script's congestion control.
    profile : str
        Profile of the endpoint.
    tolerance_us : float, optional
        Tolerance of times in place of each script's, microseconds.
    program : Path, optional
        A packetdrill that asks the kernel.

    Yields
    ------
    Checked
        In order of `scripts`.

    Raises
    ------
    ScenarioError
        If a file is no script of packetdrill, or the rule or the profile is not known.
    OSError
        If a file cannot be read.
    """
    read = [Script.load(path) for path in scripts]
    for path, script in zip(scripts, read, strict=True):
        verdict = play(
            script, path.parent, name=str(path), rule=rule, profile=profile,
            tolerance_us=tolerance_us,
        )  # fmt: skip
        kernel = None if program is None else Confirmation.ask(program, path, tolerance_us)
        yield Checked(verdict, kernel)
