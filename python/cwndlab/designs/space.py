"""Where a search looks for rules: a family with open parameters, or formulas.

Both kinds of space turn what an optimiser varies, a vector of objects, into a rule, and back into
words. A family has numbers between bounds; formulas have two trees, the increase and the decrease.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from cwndlab import native
from cwndlab.errors import RuleError, ScenarioError
from cwndlab.message import invalid, missing, unknown
from cwndlab.theory.axioms import Dynamics
from cwndlab.theory.bimodal import Bimodal
from cwndlab.theory.formulas import BINARY, UNARY, VARIABLES, Tree, folded, number, read
from cwndlab.theory.multirate import MultiRate
from cwndlab.theory.notation import parse
from cwndlab.theory.rules import Linear

OPEN = "?"
FORMULA = re.compile(r'Rule\(inc="(.*)", dec="(.*)"\)')
LOG_FROM = 10.0
"""A parameter whose bounds are positive and this far apart varies on a logarithmic scale."""
NEAR = 0.2
"""How far parameters are changed when a rule's robustness is measured."""
TIMES = ("rtt", "qdelay")
"""Variables in seconds."""
TYPICAL_TIME_S = 0.05
"""Times are in seconds: a factor drawn for one makes up for the unit, so that the product is of the
order of a packet."""
BASE_RTT_S = 0.1
QUEUEING_DELAYS_S = (0.0, 0.001, 0.01, 0.1, 1.0)
"""Where it is checked that a formula is a rule."""


class Bound(NamedTuple):
    """A parameter of a family with its bounds."""

    name: str
    low: float
    high: float

    @property
    def is_log(self) -> bool:
        """Whether it varies on a logarithmic scale."""
        return self.low > 0 and self.high / self.low >= LOG_FROM

    def value(self, position: float) -> float:
        """Return the parameter at a position between 0 and 1, with four digits.

        Examples
        --------
        >>> Bound("a", 0.01, 1.0).value(0.5), Bound("b", 0.0, 1.0).value(0.25)
        (0.1, 0.25)
        """
        if self.is_log:
            found = self.low * (self.high / self.low) ** position
        else:
            found = self.low + position * (self.high - self.low)
        return float(f"{found:.4g}")

    def position(self, value: float) -> float | None:
        """Return the position of a parameter, or None if it is out of bounds.

        Examples
        --------
        >>> Bound("a", 0.01, 1.0).position(0.1), Bound("b", 0.0, 1.0).position(1.5)
        (0.5, None)
        """
        if not self.low <= value <= self.high:
            return None
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


USUAL: Mapping[str, tuple[Bound, ...]] = {
    "AIMD": (Bound("a", 0.05, 4.0), Bound("b", 0.2, 0.98)),
    "GAIMD": (Bound("alpha", 0.05, 4.0), Bound("beta", 0.2, 0.98)),
    "AIAD": (Bound("a", 0.05, 4.0), Bound("b", 0.5, 20.0)),
    "MIMD": (Bound("a", 1.001, 1.3), Bound("b", 0.2, 0.98)),
    "MIAD": (Bound("a", 1.001, 1.3), Bound("b", 0.5, 20.0)),
    "AIMAD": (Bound("a", 0.05, 4.0), Bound("b", 0.0, 10.0), Bound("d", 0.2, 1.0)),
    "MAIMD": (Bound("a", 0.05, 4.0), Bound("m", 1.001, 1.3), Bound("b", 0.2, 0.98)),
    "Linear": (
        Bound("ai", 0.01, 4.0), Bound("bi", 1.0, 1.3), Bound("ad", -10.0, 0.0),
        Bound("bd", 0.2, 0.999),
    ),
}  # fmt: skip
"""Bounds of families that are searched without a specification."""


class Space(Protocol):
    """What a search varies."""

    @property
    def text(self) -> str:
        """The space in words."""
        ...

    def rule(self, x: Sequence[Any]) -> str:
        """Return the rule of a vector."""
        ...

    def size(self, x: Sequence[Any]) -> int:
        """Return the number of terms of the rule's formula, 0 for a family."""
        ...

    def near(self, x: Sequence[Any]) -> Iterator[tuple[str, str]]:
        """Yield rules with one parameter changed by `NEAR`, each with what was changed."""
        ...

    def starting(self, rules: Sequence[str]) -> Space:
        """Return the space with these rules as the first ones that the search tries."""
        ...

    def starts(self) -> list[list[Any]]:
        """Return the vectors of the first rules that the search tries."""
        ...


@dataclass(frozen=True)
class Family:
    """A rule with open parameters.

    Examples
    --------
    >>> family = Family.read("AIMD(?, ?)")
    >>> family.rule([0.0, 1.0]), [bound.name for bound in family.bounds]
    ('AIMD(0.05, 0.98)', ['a', 'b'])
    >>> [text for _, text in family.near([0.5, 0.5])][:2]
    ['AIMD(0.3578, 0.59)', 'AIMD(0.5366, 0.59)']
    """

    template: str
    bounds: tuple[Bound, ...]
    first: tuple[tuple[float, ...], ...] = ()
    """Vectors that the search starts from."""

    @classmethod
    def read(cls, template: str, bounds: Mapping[str, tuple[float, float]] | None = None) -> Family:
        """Read a family such as ``AIMD(?, ?)``, with bounds of its parameters by name.

        Without bounds the parameters of linear rules have those of `USUAL`; the parameters of other
        rules are called ``p1``, ``p2`` and so on.

        Raises
        ------
        ScenarioError
            If it has no open parameter, or one without bounds.
        RuleError
            If its rules are not valid at the bounds.
        """
        count = template.count(OPEN)
        if count == 0:
            raise ScenarioError(
                invalid("family", template, 'a rule with open parameters, such as "AIMD(?, ?)"')
            )
        given = dict(bounds or {})
        name = template.partition("(")[0].strip()
        known = USUAL.get(name, ())
        places = _open_places(template)
        chosen: list[Bound] = []
        for index, place in enumerate(places):
            usual = known[place] if place < len(known) else None
            key = usual.name if usual is not None else f"p{index + 1}"
            if key in given:
                low, high = given.pop(key)
                if not low < high:
                    raise ScenarioError(
                        invalid(f"parameters.{key}", f"{low:g}..{high:g}", "LOW..HIGH")
                    )
                chosen.append(Bound(key, low, high))
            elif usual is not None:
                chosen.append(usual)
            else:
                raise ScenarioError(missing(f"parameters.{key}", "its bounds, LOW..HIGH"))
        for key in given:
            raise ScenarioError(unknown("parameter", key, [bound.name for bound in chosen]))
        found = cls(template, tuple(chosen))
        for position in (0.0, 0.5, 1.0):
            native.rule(found.rule([position] * count))
        return found

    @property
    def text(self) -> str:
        """The family, with its bounds."""
        spans = ", ".join(f"{one.name} {one.low:g} to {one.high:g}" for one in self.bounds)
        return f"{self.template}, {spans}"

    def values(self, x: Sequence[float]) -> list[float]:
        """Return the parameters of a vector."""
        return [
            bound.value(min(1.0, max(0.0, float(at))))
            for bound, at in zip(self.bounds, x, strict=True)
        ]

    def rule(self, x: Sequence[float]) -> str:
        """Return the rule of a vector of positions between 0 and 1."""
        return self._filled(self.values(x))

    def size(self, x: Sequence[float]) -> int:
        """Return 0: a family's rules have one size."""
        return 0 * len(x)

    def near(self, x: Sequence[float]) -> Iterator[tuple[str, str]]:
        """Yield rules with one parameter changed by `NEAR`, where it stays valid."""
        values = self.values(x)
        for index, bound in enumerate(self.bounds):
            for factor in (1 - NEAR, 1 + NEAR):
                changed = [*values]
                changed[index] = float(f"{values[index] * factor:.4g}")
                try:
                    yield f"{bound.name} {factor - 1:+.0%}", native.rule(self._filled(changed))
                except RuleError:
                    continue

    def starting(self, rules: Sequence[str]) -> Family:
        """Return the family with these rules as the first ones that the search tries.

        Examples
        --------
        >>> family = Family.read("Linear(?, 1, 0, ?)").starting(["AIMD(1, 0.5)"])
        >>> [family.rule(x) for x in family.starts()]
        ['Linear(1, 1, 0, 0.5)']
        """
        return replace(self, first=tuple(self._vector(rule) for rule in rules))

    def starts(self) -> list[list[float]]:
        """Return the vectors of the first rules that the search tries."""
        return [list(x) for x in self.first]

    def _vector(self, rule: str) -> tuple[float, ...]:
        """Return the vector of a rule of the family; linear rules are those of Linear, too."""
        family, template = _parameters(self.template)
        given = _linear(rule) if family == "Linear" else None
        name, written = _parameters(native.rule(rule)) if given is None else (family, given)
        try:
            pairs = list(zip(written, template, strict=True))
            is_fixed = all(float(value) == float(place) for value, place in pairs if place != OPEN)
            free = [float(value) for value, place in pairs if place == OPEN]
        except ValueError:
            is_fixed, free = False, []
        x = [bound.position(value) for bound, value in zip(self.bounds, free, strict=False)]
        if name != family or not is_fixed or None in x:
            raise ScenarioError(invalid("start", rule, f"a rule of {self.text}"))
        return tuple(each for each in x if each is not None)

    def _filled(self, values: Sequence[float]) -> str:
        parts = self.template.split(OPEN)
        return "".join(
            part + (f"{values[index]:.4g}" if index < len(values) else "")
            for index, part in enumerate(parts)
        )


@dataclass(frozen=True)
class Formulas:
    """Rules ``Rule(inc="...", dec="...")``, by a grammar.

    Attributes
    ----------
    variables, operators : tuple of str
        What formulas may use: `VARIABLES`, and keys of `BINARY` and `UNARY`.
    terms : int
        Largest number of nodes of each of the two formulas.

    Examples
    --------
    >>> formulas = Formulas(terms=9)
    >>> random = np.random.default_rng(1)
    >>> texts = {formulas.rule(formulas.random(random)) for _ in range(20)}
    >>> len(texts) > 10, all(text.startswith("Rule(inc=") for text in texts)
    (True, True)
    """

    variables: tuple[str, ...] = VARIABLES
    operators: tuple[str, ...] = ("+", "-", "*", "/", "^", "min", "max")
    terms: int = 11
    first: tuple[tuple[str, str], ...] = field(
        default=(
            ("1", "0.5*w"), ("0.2", "0.875*w"), ("1", "w - 3"), ("0.1*w", "0.8*w"),
            ("1/w^0.5", "w - 0.5*w^0.5"), ("0.5", "0.9*w - 1"),
        ),
        repr=False,
    )  # fmt: skip
    """Increases and decreases that the search starts from, besides random ones."""

    def __post_init__(self) -> None:
        for name in self.variables:
            if name not in VARIABLES:
                raise ScenarioError(unknown("variable", name, VARIABLES))
        for name in self.operators:
            if name not in (*BINARY, *UNARY):
                raise ScenarioError(unknown("operator", name, (*BINARY, *UNARY)))
        if not 3 <= self.terms <= 100:
            raise ScenarioError(invalid("terms", self.terms, "from 3 to 100"))
        if "w" not in self.variables:
            raise ScenarioError(missing("variables", '"w": a decrease depends on the window'))

    @property
    def text(self) -> str:
        """The grammar in words."""
        words = ", ".join((*self.variables, *self.operators))
        return f"formulas of {words} and numbers, {self.terms} terms at most"

    def rule(self, x: Sequence[Tree]) -> str:
        """Return the rule of an increase and a decrease."""
        return f'Rule(inc="{x[0].text}", dec="{x[1].text}")'

    def size(self, x: Sequence[Tree]) -> int:
        """Return the number of nodes of both formulas."""
        return x[0].size + x[1].size

    def near(self, x: Sequence[Tree]) -> Iterator[tuple[str, str]]:
        """Yield rules with one number changed by `NEAR`, where it stays valid."""
        for which, name in enumerate(("inc", "dec")):
            for path in _paths(x[which]):
                node = _at(x[which], path)
                if node.head:
                    continue
                for factor in (1 - NEAR, 1 + NEAR):
                    changed = [*x]
                    changed[which] = _with(x[which], path, number(node.number * factor))
                    if changed[which] == x[which]:
                        continue  # A number of 0.
                    try:
                        yield (
                            f"{node.text} of {name} {factor - 1:+.0%}",
                            native.rule(self.rule(changed)),
                        )
                    except RuleError:
                        continue

    def starting(self, rules: Sequence[str]) -> Formulas:
        """Return the grammar with these rules in front of those that the search starts from.

        Examples
        --------
        >>> formulas = Formulas().starting(['Rule(inc="0.5", dec="0.75*w")'])
        >>> formulas.rule(formulas.starts()[0])
        'Rule(inc="0.5", dec="0.75*w")'
        """
        pairs: list[tuple[str, str]] = []
        for rule in rules:
            found = FORMULA.fullmatch(native.rule(rule))
            if found is None or not self._allows((found[1], found[2])):
                raise ScenarioError(invalid("start", rule, f"a rule of {self.text}"))
            pairs.append((found[1], found[2]))
        return replace(self, first=(*pairs, *self.first))

    def starts(self) -> list[list[Tree]]:
        """Return the rules that the search starts from, as far as the grammar has them."""
        return [[read(inc), read(dec)] for inc, dec in self.first if self._allows((inc, dec))]

    def _allows(self, pair: tuple[str, str]) -> bool:
        """Tell whether the grammar has an increase and a decrease, both as text."""
        allowed = {*self.variables, *self.operators, ""}
        trees = map(read, pair)
        return all(tree.heads <= allowed and tree.size <= self.terms for tree in trees)

    def random(self, random: np.random.Generator) -> list[Tree]:
        """Draw a valid rule."""
        for _ in range(1000):
            depth = int(random.integers(1, 4))
            factor = Tree("*", (number(random.uniform(0.3, 0.98)), Tree("w")))
            decrease = factor if random.random() < 0.5 else self._tree(random, depth)
            increase = self._sum(random) if random.random() < 0.5 else self._tree(random, depth)
            pair = [folded(increase), folded(decrease)]
            if self.is_valid(pair):
                return pair
        raise ScenarioError(f"formulas: no valid rule in 1000 draws of {self.text}")

    def is_valid(self, pair: Sequence[Tree]) -> bool:
        """Tell whether a pair is a rule, and is not too large."""
        if any(tree.size > self.terms for tree in pair):
            return False
        # At an empty queue the increase must grow windows somewhere. At every queueing delay it
        # must be no faster than slow start, and the decrease must shrink them.
        windows = np.geomspace(2.0, 1e5, 16)
        if not np.any(np.asarray(pair[0].value(windows)) > 1e-3):
            return False
        for qdelay in QUEUEING_DELAYS_S if "qdelay" in pair[0].heads | pair[1].heads else (0.0,):
            grown, shrunk = (tree.value(windows, BASE_RTT_S + qdelay, qdelay) for tree in pair)
            if not (np.isfinite(grown).all() and np.isfinite(shrunk).all()):
                return False
            if not np.all(shrunk < windows) or np.any(grown > windows):
                return False
        try:
            native.rule(self.rule(pair))
        except RuleError:
            return False
        return True

    def mutated(self, pair: Sequence[Tree], random: np.random.Generator) -> list[Tree]:
        """Change a number, replace a part, or leave one out, in one of the two formulas."""
        for _ in range(50):
            changed = [*pair]
            which = int(random.integers(2))
            tree = changed[which]
            paths = list(_paths(tree))
            numbers = [path for path in paths if not _at(tree, path).head]
            kind = random.random()
            if kind < 0.5 and numbers:
                path = numbers[int(random.integers(len(numbers)))]
                value = _at(tree, path).number * math.exp(random.normal(0.0, 0.4))
                new = number(value if value else random.normal(0.0, 0.1))
            elif kind < 0.8:
                path = paths[int(random.integers(len(paths)))]
                new = self._tree(random, int(random.integers(0, 3)))
            else:
                path = paths[int(random.integers(len(paths)))]
                inner = list(_paths(_at(tree, path)))
                new = _at(_at(tree, path), inner[int(random.integers(len(inner)))])
            changed[which] = folded(_with(tree, path, new))
            if changed[which] != tree and self.is_valid(changed):
                return changed
        return [*pair]

    def crossed(
        self, one: Sequence[Tree], two: Sequence[Tree], random: np.random.Generator
    ) -> tuple[list[Tree], list[Tree]]:
        """Exchange parts of two rules: a whole formula, or a part of one."""
        for _ in range(20):
            first, second = [*one], [*two]
            which = int(random.integers(2))
            if random.random() < 0.4:
                first[which], second[which] = second[which], first[which]
            else:
                a, b = list(_paths(one[which])), list(_paths(two[which]))
                here, there = a[int(random.integers(len(a)))], b[int(random.integers(len(b)))]
                first[which] = folded(_with(one[which], here, _at(two[which], there)))
                second[which] = folded(_with(two[which], there, _at(one[which], here)))
            if self.is_valid(first) and self.is_valid(second):
                return first, second
        return [*one], [*two]

    def _sum(self, random: np.random.Generator) -> Tree:
        """Draw a number times variables, or the difference or sum of two such products."""
        signs = [head for head in ("+", "-") if head in self.operators]
        found = self._product(random)
        if signs and random.random() < 0.7:
            head = signs[int(random.integers(len(signs)))]
            first = found if random.random() < 0.5 else number(_draw(random, 3.0))
            found = Tree(head, (first, self._product(random)))
        return found

    def _product(self, random: np.random.Generator) -> Tree:
        heads = [head for head in ("*", "/") if head in self.operators]
        factors = [
            (heads[int(random.integers(len(heads)))], name)
            for name in self.variables
            if heads and random.random() < 0.5
        ]
        value = _draw(random, 3.0)
        for head, name in factors:
            if name in TIMES:
                value *= TYPICAL_TIME_S if head == "/" else 1 / TYPICAL_TIME_S
        found = number(value)
        for head, name in factors:
            found = Tree(head, (found, Tree(name)))
        return found

    def _tree(self, random: np.random.Generator, depth: int) -> Tree:
        if depth <= 0 or random.random() < 0.15:
            value = _draw(random, 10.0)
            if random.random() >= 0.6:
                return number(value)
            variable = Tree(self.variables[int(random.integers(len(self.variables)))])
            if variable.head not in TIMES or "*" not in self.operators:
                return variable
            return Tree("*", (number(value / TYPICAL_TIME_S), variable))
        head = self.operators[int(random.integers(len(self.operators)))]
        count = 1 if head in UNARY else 2
        return Tree(head, tuple(self._tree(random, depth - 1) for _ in range(count)))


@functools.lru_cache(maxsize=1024)
def dynamics(rule: str) -> Dynamics:
    """Return a rule in the fluid model (`cwndlab.theory.axioms`).

    Raises
    ------
    ScenarioError
        If the model has no such rule.

    Examples
    --------
    >>> float(dynamics("AIMD(1, 0.5)").shrink(np.array([8.0]))[0])
    4.0
    >>> float(dynamics('Rule(inc="1/w", dec="w/2")').grow(np.array([8.0]))[0])
    8.125
    """
    formula = FORMULA.fullmatch(rule)
    if formula is not None:
        increase, decrease = read(formula[1]), read(formula[2])
        if "qdelay" in increase.heads | decrease.heads:
            raise ScenarioError(
                invalid("fluid", rule, "a formula without qdelay, which the fluid model lacks")
            )
        return Dynamics(lambda w: w + increase.value(w), lambda w: 0.0 * w + decrease.value(w))
    try:
        found = parse(rule)
    except ValueError as error:
        raise ScenarioError(f"fluid: {error}") from None
    if isinstance(found, Bimodal | MultiRate):
        raise ScenarioError(invalid("fluid", rule, "a rule whose decisions depend on the window"))
    controller = found.controller(1)
    flows = np.zeros(1, dtype=int)
    return Dynamics(
        lambda w: controller.increase(w, flows), lambda w: controller.decrease(w, flows)
    )


def _open_places(template: str) -> list[int]:
    """Return the number of each open parameter among all of the rule's."""
    inner = template.partition("(")[2].rpartition(")")[0]
    places: list[int] = []
    for place, part in enumerate(inner.split(",")):
        places += [place] * part.count(OPEN)
    if len(places) < template.count(OPEN):
        raise ScenarioError(invalid("family", template, 'open parameters in "(...)"'))
    return places


def _parameters(text: str) -> tuple[str, list[str]]:
    """Return the name of a rule or a family, and its parameters as written."""
    name, _, inner = text.partition("(")
    return name.strip(), [part.strip() for part in inner.rpartition(")")[0].split(",")]


def _linear(rule: str) -> list[str] | None:
    """Return the parameters of a linear rule as Linear has them; None for others."""
    try:
        found = parse(rule)
    except ValueError:
        return None
    is_linear = isinstance(found, Linear)
    return [str(each) for each in (found.ai, found.bi, found.ad, found.bd)] if is_linear else None


def _draw(random: np.random.Generator, most: float) -> float:
    return math.exp(random.uniform(math.log(0.01), math.log(most)))


Path = tuple[int, ...]


def _paths(tree: Tree) -> Iterator[Path]:
    yield ()
    for index, operand in enumerate(tree.operands):
        for path in _paths(operand):
            yield (index, *path)


def _at(tree: Tree, path: Path) -> Tree:
    for index in path:
        tree = tree.operands[index]
    return tree


def _with(tree: Tree, path: Path, new: Tree) -> Tree:
    if not path:
        return new
    operands = [*tree.operands]
    operands[path[0]] = _with(operands[path[0]], path[1:], new)
    return tree._replace(operands=tuple(operands))
