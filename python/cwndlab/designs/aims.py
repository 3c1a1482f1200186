"""What a search for rules aims at: objectives, and constraints that a rule must meet.

An objective is written as a metric, ``goodput``; as its worst value over the conditions,
``worst(goodput)``; as ``harm(RULE)`` or ``share(RULE)`` beside flows of another rule; as an axiom
in the fluid model, ``fluid(convergence)``; or as ``size``, the number of terms of a formula. A
constraint is an objective with a limit, ``harm(AIMD(1, 0.5)) < 0.1``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cwndlab import native
from cwndlab.documents import split_list
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, same_name, unknown
from cwndlab.metrics import BY_KEY
from cwndlab.theory import axioms

METRIC, BESIDE, FLUID, SIZE = "metric", "beside", "fluid", "size"
_CALL = re.compile(r"(?P<name>[\w-]+)\s*\((?P<inner>.*)\)", re.DOTALL)
_LIMIT = re.compile(r"(?P<aim>.+?)\s*(?P<sign>[<>])\s*(?P<limit>[-+.\deE]+)\s*(?P<percent>%?)")
SHORT = {
    "delay": "mean_queueing_delay_s",
    "loss": "loss_rate",
    "fairness": "jain_index",
}
"""Short names of metrics."""
EXPECTED = "a metric such as goodput, worst(METRIC), harm(RULE), share(RULE), fluid(AXIOM) or size"


@dataclass(frozen=True)
class Aim:
    """One objective.

    Attributes
    ----------
    kind : str
        `METRIC`, `BESIDE` (beside another rule), `FLUID` or `SIZE`.
    name : str
        Metric, axiom, or measure beside the other rule (``"harm"``, ``"share"``).
    other : str
        The other rule.
    is_worst : bool
        Whether the worst of the conditions counts, instead of their mean.

    Examples
    --------
    >>> aim = Aim.read("worst(delay)")
    >>> aim.text, aim.more_is_better, aim.title
    ('worst(mean_queueing_delay_s)', False, 'worst mean queueing delay [ms]')
    >>> Aim.read("harm(aimd(1,.5))").text
    'harm(AIMD(1, 0.5))'
    """

    kind: str
    name: str
    other: str = ""
    is_worst: bool = False

    @classmethod
    def read(cls, text: str) -> Aim:
        """Read an objective.

        Raises
        ------
        ScenarioError
            If it is none.
        RuleError
            If the rule that it names is not known.
        """
        stripped = text.strip()
        call = _CALL.fullmatch(stripped)
        if call is None:
            return cls(SIZE, SIZE) if stripped == SIZE else cls(METRIC, _metric(stripped))
        name, inner = call["name"], call["inner"].strip()
        if name in ("mean", "worst"):
            return cls(METRIC, _metric(inner), is_worst=name == "worst")
        if name in ("harm", "share"):
            return cls(BESIDE, name, native.rule(inner))
        if name == FLUID:
            if inner not in axioms.AXIOMS:
                raise ScenarioError(unknown("axiom", inner, axioms.AXIOMS))
            return cls(FLUID, inner)
        raise ScenarioError(invalid("objective", text, EXPECTED))

    @property
    def text(self) -> str:
        """The objective as `read` takes it."""
        if self.kind == BESIDE:
            return f"{self.name}({self.other})"
        if self.kind == FLUID:
            return f"fluid({self.name})"
        return f"worst({self.name})" if self.is_worst else self.name

    @property
    def more_is_better(self) -> bool:
        """Whether it is to be large."""
        if self.kind == METRIC:
            return bool(BY_KEY[self.name].more_is_better)
        if self.kind == FLUID:
            return axioms.AXIOMS[self.name].more_is_better
        return self.name == "share"

    @property
    def scale(self) -> float:
        """The factor from its value to the shown one."""
        return BY_KEY[self.name].scale if self.kind == METRIC else 1.0

    @property
    def digits(self) -> int:
        """Digits after the point of the shown value."""
        return BY_KEY[self.name].digits if self.kind == METRIC else 0 if self.kind == SIZE else 3

    @property
    def title(self) -> str:
        """Its name and unit, for tables and axes."""
        if self.kind == METRIC:
            return f"worst {BY_KEY[self.name].title}" if self.is_worst else BY_KEY[self.name].title
        if self.kind == BESIDE:
            return f"harm to {self.other}" if self.name == "harm" else f"share beside {self.other}"
        return f"{self.name} (fluid)" if self.kind == FLUID else "terms of the formula"

    @property
    def bounds(self) -> tuple[float, float]:
        """What its values can not lie below and above."""
        if self.kind == METRIC:
            return BY_KEY[self.name].bounds
        if self.name == "harm":
            return (-float("inf"), 1.0)
        return (0.0, float("inf"))


@dataclass(frozen=True)
class Constraint:
    """An objective with a limit.

    Examples
    --------
    >>> constraint = Constraint.read("loss < 5 %")
    >>> constraint.text, constraint.excess(0.06) > 0, constraint.excess(0.04) > 0
    ('loss_rate < 0.05', True, False)
    """

    aim: Aim
    is_most: bool
    """Whether the limit is the largest value that is allowed, instead of the smallest."""
    limit: float

    @classmethod
    def read(cls, text: str) -> Constraint:
        """Read a constraint.

        Raises
        ------
        ScenarioError
            If it is none.
        """
        found = _LIMIT.fullmatch(text.strip())
        try:
            limit = float(found["limit"]) if found else None
        except ValueError:
            limit = None
        if found is None or limit is None:
            raise ScenarioError(
                invalid("constraint", text, "OBJECTIVE < NUMBER or OBJECTIVE > NUMBER")
            )
        percent = 0.01 if found["percent"] else 1.0
        return cls(Aim.read(found["aim"]), found["sign"] == "<", percent * limit)

    @property
    def text(self) -> str:
        """The constraint as `read` takes it."""
        return f"{self.aim.text} {'<' if self.is_most else '>'} {self.limit:g}"

    def excess(self, value: float) -> float:
        """Return by how much a value is beyond the limit; 0 or less if it is allowed."""
        return value - self.limit if self.is_most else self.limit - value


def read_aims(texts: str | Sequence[str]) -> tuple[Aim, ...]:
    """Read objectives, from a list or one text with commas.

    Examples
    --------
    >>> [aim.text for aim in read_aims("goodput, harm(AIMD(1, 0.5)), size")]
    ['goodput', 'harm(AIMD(1, 0.5))', 'size']
    """
    parts = split_list(texts) if isinstance(texts, str) else list(texts)
    found = tuple(dict.fromkeys(Aim.read(part) for part in parts))
    if not found:
        raise ScenarioError(invalid("objectives", [], "one objective or more"))
    return found


def _metric(text: str) -> str:
    name = same_name(SHORT.get(text, text), BY_KEY)
    if name not in BY_KEY:
        raise ScenarioError(unknown("objective", text, [*SHORT, *BY_KEY]))
    if BY_KEY[name].more_is_better is None:
        raise ScenarioError(
            invalid("objective", text, "a metric of which more, or less, is better")
        )
    return name
