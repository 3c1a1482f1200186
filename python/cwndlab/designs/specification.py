"""The specification of a search for rules, the same in a TOML file and in Python."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cwndlab import custom_rules, environments, native
from cwndlab.designs.aims import FLUID, SIZE, Aim, Constraint, read_aims
from cwndlab.designs.conditions import Conditions
from cwndlab.designs.space import Family, Formulas, Space
from cwndlab.document_kinds import other_kind
from cwndlab.documents import is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.message import invalid, missing, unknown
from cwndlab.quantities import seconds
from cwndlab.scenario import check_rule
from cwndlab.sweeps.base import read
from cwndlab.theory.formulas import VARIABLES

TRAINING, VALIDATION, HIDDEN = "training", "validation", "hidden"
SETS = (TRAINING, VALIDATION, HIDDEN)
NAMES: Mapping[str, tuple[str, ...]] = {
    TRAINING: ("CL", "SQH", "RWL", "RDL"),
    VALIDATION: ("CH", "SQL", "RDH"),
    HIDDEN: ("RWH", "RWA", "RWM", "saw-tooth"),
}
"""Environments of each set, unless others are given; no two sets share one."""
AGAINST = ("AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC")
AGAINST_IN_KERNEL = (*AGAINST[:2], "kernel:cubic")
"""What `from_dict` takes where a kernel is the home."""


@dataclass(frozen=True, kw_only=True)
class Specification:
    """What is searched, for which aims, on which conditions, and with how much work.

    Parameters
    ----------
    name : str
        Name of the search.
    family : str
        A rule with open parameters, ``"AIMD(?, ?)"``; empty to search formulas.
    parameters : mapping
        Bounds of the family's parameters: name to ``[low, high]``.
    formulas : mapping
        With an empty family: ``variables``, ``operators`` and ``terms`` of the grammar.
    start : sequence of str
        Rules that the search tries first; they must be of what is searched.
    objectives : sequence of str or str
        At least two.
    constraints : sequence of str
        What every rule must meet, in the mean.
    training, validation, hidden : mapping
        Conditions: ``env``, ``queue``, ``recovery``, or ``base`` and ``cases``; ``flows``.
    duration, profile, home, assume
        Of all conditions, unless one has its own; `home` is where the runs go: empty or
        ``"simulator"``, or TCP of a Linux kernel in virtual time, ``"linux"`` or ``"linux:NAME"``.
    against : sequence of str
        Rules with which the frontier is compared on the hidden conditions.
    budget : int
        Rules to try.
    population : int
        Rules of a generation.
    first_duration : str
        Duration of a first round, in which new rules run once and the worse half is dropped; empty:
        no such round.
    replicates, validate, confirm : int
        Runs of each rule in each condition of training, validation and hidden conditions.
    frontier : int
        Largest number of rules on the frontier.
    adversary : int
        Links that an adversary tries against each of the best rules, at half of the budget; the
        worst link of each joins the training. 0: no adversary.
    robustness : bool
        Whether to change each parameter of each rule on the frontier by 20 %.
    seed : int
        Seed of the search and of its runs.

    Examples
    --------
    >>> found = Specification(family="AIMD(?, ?)", objectives="goodput, delay")
    >>> [aim.text for aim in found.aims], found.sets["hidden"].env[0]
    (['goodput', 'mean_queueing_delay_s'], 'RWH')
    """

    name: str = "design"
    family: str = ""
    parameters: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    formulas: Mapping[str, Any] = field(default_factory=dict[str, Any])
    start: Sequence[str] = ()
    objectives: Sequence[str] | str = ("goodput", "delay", "fairness")
    constraints: Sequence[str] = ()
    training: Mapping[str, Any] = field(default_factory=dict[str, Any])
    validation: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hidden: Mapping[str, Any] = field(default_factory=dict[str, Any])
    duration: str = "40s"
    profile: str = "linux"
    home: str = ""
    assume: Mapping[str, Any] = field(default_factory=dict[str, Any])
    against: Sequence[str] = AGAINST
    budget: int = 400
    population: int = 40
    first_duration: str = ""
    replicates: int = 3
    validate: int = 5
    confirm: int = 20
    frontier: int = 10
    adversary: int = 0
    robustness: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        for key, least in (("budget", 4), ("population", 4), ("replicates", 1), ("validate", 2),
                           ("confirm", 2), ("frontier", 1), ("adversary", 0)):  # fmt: skip
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ScenarioError(invalid(key, value, f"a whole number, {least} or more"))
        if 0 < self.adversary < 5:
            raise ScenarioError(invalid("adversary", self.adversary, "0, or 5 links or more"))
        for key in ("constraints", "against", "start"):
            if isinstance(getattr(self, key), str):
                raise ScenarioError(invalid(key, getattr(self, key), "a list of texts"))
        object.__setattr__(self, "against", [native.rule(rule) for rule in self.against])
        object.__setattr__(self, "objectives", [aim.text for aim in self.aims])
        if len(self.aims) < 2:
            raise ScenarioError(invalid("objectives", list(self.objectives), "two or more"))
        self.limits  # noqa: B018 (what is not valid is said now)
        self.space  # noqa: B018
        self._check_sets()
        self._check_home()
        self._check_first_duration()

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Specification:
        """Read a specification from a TOML file; its rule files are relative to its directory.

        Parameters
        ----------
        path : str or Path
            The file.
        **changes
            Keys that count instead of the file's.

        Raises
        ------
        ScenarioError
            If it is not a valid specification.
        OSError
            If it cannot be read.
        """
        file = Path(path)
        if "(" in file.name and not file.exists():
            family = re.sub(r"\b[a-z]\w*", "?", file.name)
            raise ScenarioError(invalid("specification", path, "a file", f'family="{family}"'))
        try:
            with custom_rules.data_beside(file.parent):
                return cls.from_dict({"name": file.stem, **read(file), **changes})
        except ScenarioError as error:
            raise type(error)(f"{file}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Specification:
        """Make a specification from a dictionary shaped like its file."""
        known = [entry.name for entry in dataclasses.fields(cls)]
        if other := other_kind(data, "design"):
            raise ScenarioError(f"it {other}")
        for key in data:
            if key not in known:
                raise ScenarioError(unknown("key", key, known))
        usual = {} if data.get("home", "") in ("", SIMULATOR) else {"against": AGAINST_IN_KERNEL}
        given: dict[str, Any] = {**usual, **data}
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, as `from_dict` takes it."""
        return dataclasses.asdict(self)

    @property
    def aims(self) -> tuple[Aim, ...]:
        """The objectives."""
        return read_aims(self.objectives)

    @property
    def limits(self) -> tuple[Constraint, ...]:
        """The constraints."""
        return tuple(Constraint.read(text) for text in self.constraints)

    @property
    def measured(self) -> tuple[Aim, ...]:
        """The objectives, then the aims of constraints that are no objectives."""
        return tuple(dict.fromkeys((*self.aims, *(limit.aim for limit in self.limits))))

    @property
    def space(self) -> Space:
        """Where the search looks."""
        fluid = next((aim for aim in self.measured if aim.kind == FLUID), None)
        if self.family:
            if fluid is not None and "qdelay" in self.family:
                raise ScenarioError(invalid("family", self.family, _without_qdelay(fluid)))
            if self.formulas:
                raise ScenarioError("`family` and `formulas` must not both be given")
            if any(aim.kind == SIZE for aim in self.aims):
                raise ScenarioError(
                    invalid("objectives", SIZE, "no `size` where a family is searched")
                )
            bounds = {key: _span(key, span) for key, span in self.parameters.items()}
            return Family.read(self.family, bounds).starting(self.start)
        if self.parameters:
            raise ScenarioError(missing("family", "the rule whose parameters have these bounds"))
        known = ("variables", "operators", "terms")
        for key in self.formulas:
            if key not in known:
                raise ScenarioError(unknown("formulas", key, known))
        chosen: dict[str, Any] = {
            key: value if key == "terms" else tuple(value) for key, value in self.formulas.items()
        }
        if fluid is not None:
            usual = tuple(name for name in VARIABLES if name != "qdelay")
            if "qdelay" in chosen.setdefault("variables", usual):
                raise ScenarioError(invalid("formulas.variables", "qdelay", _without_qdelay(fluid)))
        return Formulas(**chosen).starting(self.start)

    @property
    def sets(self) -> dict[str, Conditions]:
        """Training, validation and hidden conditions."""
        return {name: self._conditions(name) for name in SETS}

    def _conditions(self, name: str) -> Conditions:
        given: object = getattr(self, name)
        if not is_mapping(given):
            raise ScenarioError(invalid(name, given, "a table of conditions"))
        known = [entry.name for entry in dataclasses.fields(Conditions)]
        for key in given:
            if key not in known:
                raise ScenarioError(unknown(name, key, known))
        chosen: dict[str, Any] = {
            "duration": self.duration, "profile": self.profile, "home": self.home,
            "assume": self.assume, "env": NAMES[name], **given,
        }  # fmt: skip
        for key in ("env", "queue", "recovery"):
            value = chosen.get(key, getattr(Conditions, key))
            chosen[key] = (value,) if isinstance(value, str) else tuple(value)
        chosen["env"] = tuple(environments.names(list(chosen["env"])))
        if bool(chosen.get("cases")) != bool(chosen.get("base")):
            raise ScenarioError(missing(f"{name}.base and {name}.cases", "both, or neither"))
        return Conditions(**chosen)

    def _check_sets(self) -> None:
        """Refuse a hidden condition that the search has seen."""
        sets = self.sets
        seen = {*sets[TRAINING].labels, *sets[VALIDATION].labels}
        shared = [label for label in sets[HIDDEN].labels if label in seen]
        if shared:
            raise ScenarioError(
                invalid("hidden", shared[0], "conditions that neither training nor validation has")
            )

    def _check_home(self) -> None:
        """Refuse rules that a home cannot run: known ones, and those in a family's middle."""
        homes = [block.home for block in self.sets.values() if block.home]
        rules = [("against", rule) for rule in self.against]
        rules += [("objectives", aim.other) for aim in self.aims if aim.other]
        rules += [("constraints", limit.aim.other) for limit in self.limits if limit.aim.other]
        if isinstance(self.space, Family):
            rules.append(("family", self.space.rule([0.5] * len(self.space.bounds))))
        for home in dict.fromkeys(homes):
            for key, rule in rules:
                check_rule(rule, home, key)

    def _check_first_duration(self) -> None:
        if not self.first_duration:
            return
        training = self.sets[TRAINING]
        if training.cases:
            raise ScenarioError("`first_duration` must not be given with `training.cases`")
        first_s, whole_s = seconds(self.first_duration), seconds(training.duration)
        if first_s is None or not 0 < first_s < (whole_s or 0.0):
            expected = f"a time shorter than the {training.duration} of training"
            raise ScenarioError(invalid("first_duration", self.first_duration, expected))


def _without_qdelay(fluid: Aim) -> str:
    return f"no qdelay where {fluid.text} is asked for: the fluid model has no queueing delay"


def _span(key: str, span: Any) -> tuple[float, float]:
    try:
        low, high = span
        return float(low), float(high)
    except (TypeError, ValueError):
        raise ScenarioError(
            invalid(f"parameters.{key}", span, "two numbers, [low, high]")
        ) from None
