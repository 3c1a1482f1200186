"""Checks scripts and recorded runs by the simulator, scripts by a kernel too, if one is asked."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cwndlab.conformance.confirmation import NOT_CONFIRMED, Confirmation
from cwndlab.conformance.play import play
from cwndlab.conformance.recorded_run import MARKER, RecordedRun
from cwndlab.conformance.script import Script
from cwndlab.conformance.verdict import Verdict
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid
from cwndlab.scenario import DEFAULT_PROFILE

ENDING = ".pkt"


@dataclass(frozen=True)
class Checked:
    """A script, or a flow of a recorded run, with its verdict.

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
    """List scripts and folders of recorded runs, those in folders in order of their names.

    Scripts in folders end in ``.pkt``.

    Raises
    ------
    ScenarioError
        If a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir() or RecordedRun.is_at(path):
            found.append(path)
            continue
        runs = (marker.parent for marker in path.rglob(MARKER))
        within = sorted([*path.rglob(f"*{ENDING}"), *runs])
        if not within:
            expected = f"a script, or a folder with files that end in {ENDING} or a recorded run"
            raise ScenarioError(invalid("PATH", path, expected))
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
    """Hold the simulator's sender against scripts and recorded runs, one after the other.

    Parameters
    ----------
    scripts : sequence of Path
        As `scripts_of` lists them. All are read before the first is played.
    rule : str, optional
        A rule in place of each script's congestion control, or of each flow's.
    profile : str
        Profile of the endpoint.
    tolerance_us : float, optional
        Tolerance of times in place of each script's, microseconds.
    program : Path, optional
        A packetdrill that asks the kernel.

    Yields
    ------
    Checked
        In order of `scripts`; of a recorded run one for each flow.

    Raises
    ------
    ScenarioError
        If a file is no script of packetdrill, a folder no recorded run, or the rule or the profile
        is not known.
    OSError
        If a file cannot be read.
    """
    read = [RecordedRun(path) if path.is_dir() else Script.load(path) for path in scripts]
    for path, script in zip(scripts, read, strict=True):
        if isinstance(script, RecordedRun):
            yield from map(Checked, script.verdicts(rule, profile, tolerance_us))
            continue
        verdict = play(
            script, path.parent, name=str(path), rule=rule, profile=profile,
            tolerance_us=tolerance_us,
        )  # fmt: skip
        kernel = None if program is None else Confirmation.ask(program, path, tolerance_us)
        yield Checked(verdict, kernel)
