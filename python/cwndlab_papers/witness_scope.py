"""What a witness runs: the ns-2 of a paper's date, and the cells that decide its claims.

``witness.toml`` of a paper's folder has both. Its levels are written down before the runs: ns-2
takes tens of times as long as cwndlab, and both programs are judged over the same cells. Cells that
no claim is about, but whose numbers the paper prints, have names of their own::

    [beside.appendix-miad]
    plan = "appendix"
    levels = { recovery = ["sack"], queue = ["drop-tail"] }
    about = "What they show, for the page."
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cwndlab.sweeps import Sweep
from cwndlab_papers.levels import kept
from cwndlab_papers.paper import load
from cwndlab_papers.readings import read_toml


@dataclass(frozen=True)
class Beside:
    """Some cells of a plan, and what they show."""

    plan: str
    levels: Mapping[str, Sequence[str]]
    about: str


@dataclass(frozen=True)
class Scope:
    """What a witness of a paper runs.

    Attributes
    ----------
    profile : str
        The ns-2 of the paper's date.
    levels : mapping
        Plan to axis to the labels that are run; all of the axes that are not there.
    reasons : mapping of str to str
        Claim (``fig4/delay``) to why a program contradicts the paper.
    beside : mapping of str to Beside
        Cells that no claim is about, by name.
    """

    profile: str
    levels: Mapping[str, Mapping[str, Sequence[str]]]
    reasons: Mapping[str, str]
    beside: Mapping[str, Beside] = field(default_factory=dict[str, Beside])

    def decisive(self, plan: str, sweep: Sweep) -> Sweep:
        """Return the decisive cells of a plan."""
        return kept(sweep, self.levels.get(plan, {}), f"witness.toml: {plan}")

    def beside_of(self, plans: Iterable[str]) -> dict[str, Beside]:
        """Return the cells beside some plans, by name."""
        known = set(plans)
        return {name: part for name, part in self.beside.items() if part.plan in known}


def read_scope(key: str) -> Scope:
    """Read ``witness.toml`` of a paper.

    Examples
    --------
    >>> read_scope("yang2000").profile
    'ns2-2000'
    """
    data = read_toml(load(key).folder / "witness.toml")
    beside = {name: Beside(**part) for name, part in data.get("beside", {}).items()}
    return Scope(data["profile"], data.get("plans", {}), data.get("reasons", {}), beside)
