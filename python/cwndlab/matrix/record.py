"""The kept record of all answers: a line per rule and profile, with the core that found them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwndlab import native
from cwndlab.errors import CwndlabError
from cwndlab.jsontext import finite
from cwndlab.matrix.exceptions import judged
from cwndlab.matrix.outcomes import AT_LEAST, VERDICTS, Case, Found, Outcome

SCHEMA = "matrix-record/1"


@dataclass(frozen=True)
class Record:
    """Answers, and the fingerprint of the core that found them."""

    build: str
    found: tuple[Found, ...]

    @classmethod
    def of(cls, found: Iterable[Found]) -> Record:
        """Return the record of answers found now."""
        return cls(native.build(), tuple(found))

    def by_case(self) -> dict[Case, Found]:
        """Return the answers by their cases."""
        return {one.case: one for one in self.found}

    def check_build(self, file: Path) -> None:
        """Refuse answers of another core.

        Raises
        ------
        CwndlabError
            If another build of the core found them.
        """
        if self.build != native.build():
            raise CwndlabError(
                f"{file}: build: {self.build} is not valid: expected answers of this core, "
                f"{native.build()}; `cwndlab matrix --page DIR` without --from finds them"
            )

    def write(self, file: Path) -> None:
        """Write it: verdict, number and bound of each case; a number that is not finite is null."""
        rows: dict[tuple[str, str], dict[str, dict[str, list[Any]]]] = {}
        for one in self.found:
            case, outcome = one.case, one.outcome
            interval = [] if outcome.low is None else [outcome.low, outcome.high]
            row = rows.setdefault((case.rule, case.profile), {})
            row.setdefault(case.check, {})[case.name] = [
                one.verdict, finite(outcome.measured), outcome.sign, outcome.bound, *interval
            ]  # fmt: skip
        lines = [
            json.dumps([rule, profile, row], ensure_ascii=False)
            for (rule, profile), row in rows.items()
        ]
        head = json.dumps({"schema": SCHEMA, "build": self.build})[:-1]
        file.write_text(head + ', "rows": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Record:
        """Read it, with exceptions as they are now.

        Raises
        ------
        CwndlabError
            If the file is not such a record.
        """
        try:
            data: Any = json.loads(file.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise ValueError
            found = [
                _answer(Case(rule, profile, check, name), answer)
                for rule, profile, row in data["rows"]
                for check, answers in row.items()
                for name, answer in answers.items()
            ]
            return cls(data["build"], tuple(found))
        except (KeyError, TypeError, ValueError):
            raise CwndlabError(
                f"{file}: the file is not valid: expected a record of `cwndlab matrix --page`"
            ) from None


def _answer(case: Case, answer: list[Any]) -> Found:
    verdict, measured, sign, bound, *interval = answer
    low, high = interval or (None, None)
    value = math.nan if measured is None else measured
    found = judged(case, Outcome(value, bound, sign == AT_LEAST, low, high))
    # An exception that was added since, or taken back, changes the verdict; the numbers stay.
    assert verdict in VERDICTS
    return found


def differences(found: Iterable[Found], kept: Mapping[Case, Found]) -> list[str]:
    """Say which answers differ from the kept ones in verdict.

    Examples
    --------
    >>> case = Case("CUBIC", "linux", "floor", "an outage")
    >>> now, then = (Found(case, Outcome(1.0, 1.0, True), verdict)
    ...              for verdict in ("holds", "fails"))
    >>> differences([now], {case: then})
    ['CUBIC, linux, floor: an outage: holds, kept as fails']
    """
    said: list[str] = []
    for one in found:
        before = kept.get(one.case)
        if before is None:
            said.append(f"{one.case.text}: {one.verdict}, not kept")
        elif before.verdict != one.verdict:
            said.append(f"{one.case.text}: {one.verdict}, kept as {before.verdict}")
    return said
