"""Printed numbers of a paper (`published.toml`), for comparison with ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwndlab.statistics import Estimate
from cwndlab_papers.claims import Claim
from cwndlab_papers.readings import Reading, read_toml

_OWN = ("id", "what", "place", "value", "unit", "quantity", "exact")


@dataclass(frozen=True)
class Printed:
    """One printed number, with the quantity that computes ours.

    Parameters
    ----------
    claim : Claim
        Definition of ours: experiment, name, place in the paper, quantity and its arguments.
    value : float
        The printed number, in `unit`.
    unit : str
        Unit of both.
    """

    claim: Claim
    value: float
    unit: str


@dataclass(frozen=True)
class Beside:
    """A printed number with ours.

    Attributes
    ----------
    printed : Printed
        The printed number.
    ours : Estimate
        Mean with its 95 % confidence interval; theory has no interval.
    """

    printed: Printed
    ours: Estimate

    @property
    def relative(self) -> float | None:
        """Relative difference of ours from the printed number.

        Examples
        --------
        >>> number = Printed(Claim("table1", "goodput", "table 1", "", Reading("printed", "")),
        ...                  50.0, "KB/s")
        >>> Beside(number, Estimate.around(75.0, 1.0, 10)).relative
        0.5
        """
        if self.ours.mean is None or self.printed.value == 0:
            return None
        return self.ours.mean / self.printed.value - 1

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        claim, ours = self.printed.claim, self.ours
        return {
            "id": claim.id,
            "what": claim.name,
            "place": claim.section,
            "unit": self.printed.unit,
            "published": self.printed.value,
            "ours": ours.mean,
            "interval": None if ours.low is None or claim.is_exact else [ours.low, ours.high],
            "relative": self.relative,
        }


def read_published(file: Path) -> list[Printed]:
    """Read a paper's ``published.toml``; a paper may have none."""
    if not file.is_file():
        return []
    data = read_toml(file)
    found: list[Printed] = []
    for entry in data["number"]:
        rest = {key: value for key, value in entry.items() if key not in _OWN}
        claim = Claim(
            entry["id"], entry["what"], entry["place"], "",
            Reading("published", "the number that is printed"),
            entry["quantity"], entry.get("exact", False), {**data.get("defaults", {}), **rest},
        )  # fmt: skip
        found.append(Printed(claim, float(entry["value"]), entry.get("unit", "")))
    return found
