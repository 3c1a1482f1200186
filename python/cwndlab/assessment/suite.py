"""Suites of tests and the criteria of RFC 9743: data in TOML files beside this module.

A test is a sweep without an axis of rules: the assessment adds the rule under test and its
references. A suite's file holds ``title``, ``source``, an optional ``common`` table that every base
scenario begins with, and ``[[tests]]`` with these keys:

- ``name``, ``section`` (of RFC 9743), ``title`` and ``what`` (one or two sentences);
- ``rule_at``: the dotted keys that get the rule, by default ``["flows.*.rule"]``;
- ``judged``: metrics that decide; ``enough``: those of them of which a rule needs no more than the
  references have (its own goodput beside other flows: more is others' loss, and not better);
  ``harm``: those that belong to flows other than the rule's; ``shown``: metrics that are only
  listed;
- ``purpose``: metrics with the ``least`` or ``most`` that a reference must have in a cell; one that
  fails there itself decides nothing;
- ``tolerant``: judged metrics in which the weaker of the references is enough, as in ``harm`` and
  ``enough``;
- ``coupled``: keys that are different for a rule that couples the subflows of a connection;
- ``weight`` of the test in its criterion, by default 1, which its cells share; ``references`` that
  decide in this test besides the standards;
- ``most``: the largest number of replicates of a cell that stays undecided, by default 40, of the
  short tests 128;
  ``replicates``, ``base``, ``axes``, ``zip``, ``link``, ``group``: as in a sweep;
- ``quick``: the keys that are different with ``--quick``, or false where the test is left out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, TypedDict

from cwndlab import custom_rules, native
from cwndlab.ack_fields import takes_siblings
from cwndlab.documents import is_list, is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import is_simulated
from cwndlab.message import unknown
from cwndlab.scenario import check_rule
from cwndlab.sweeps import Sweep
from cwndlab.sweeps.base import parse

SUITES = ("rfc9743", "tcpeval", "c4", "rfc8867", "rfc7928", "starvation")
"""Suites of tests, in the order in which a dossier lists them."""
ADVERSARY = "adversary"
"""The name of what is no suite of tests: the search for the worst link."""
DUMBBELL = "dumbbell"
"""The key of `common` that a network of named links does without."""
RULE = "rule"
"""The axis of the rule under test and its references."""
QUIC = "quic"
"""The home of rules in connections of quinn, in the simulator."""
IN_KERNEL = {"Reno": "kernel:reno", "CUBIC": "kernel:cubic", "DCTCP": "kernel:dctcp"}
"""The standards, and DCTCP, as Linux has them."""
REPLICATES, QUICK_REPLICATES = 20, 8
MOST_REPLICATES, QUICK_MOST_REPLICATES = 40, 128
"""Replicates that a cell has at most: the short tests have few cells, and time for more."""


class Wanted(TypedDict, total=False):
    """What a metric must be."""

    least: float
    most: float


DRAWN = ("size", "gap", "phases", "exchanges", "think", "packet_sizes", "regular")
"""Keys of arrivals that a file of connection vectors replaces."""


@dataclass(frozen=True)
class Criterion:
    """A section of RFC 9743 that asks for an evaluation."""

    section: str
    title: str
    asks: str
    """What the section asks, in our words."""
    must: bool = False
    evidence: str = "simulation"
    """``simulation``, or ``text`` where the authors must argue it."""
    why: str = ""
    """Why it is not judged by simulation."""


@dataclass(frozen=True)
class Test:
    """One test of a suite: a sweep over which rules are compared."""

    __test__ = False
    """Not one of pytest's."""

    suite: str
    name: str
    section: str
    title: str
    what: str
    base: Mapping[str, Any]
    judged: Sequence[str]
    axes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    zip: Sequence[Mapping[str, Any]] = ()
    rule_at: Sequence[str] = ("flows.*.rule",)
    enough: Sequence[str] = ()
    harm: Sequence[str] = ()
    tolerant: Sequence[str] = ()
    coupled: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shown: Sequence[str] = ()
    purpose: Mapping[str, Wanted] = field(default_factory=dict[str, Wanted])
    weight: float = 1.0
    references: Sequence[str] = ()
    replicates: int = REPLICATES
    most: int | None = None
    link: str = "bottleneck"
    group: str | None = None
    reference: str = ""
    """Where the test comes from, if the suite's source is not enough."""

    @property
    def id(self) -> str:
        """Suite and name."""
        return f"{self.suite}/{self.name}"

    @property
    def looks(self) -> list[int]:
        """Numbers of replicates at which cells are judged, each twice the one before.

        Examples
        --------
        >>> test = select(["rfc9743"], sections=["5.1.2"])[0]
        >>> test.looks, test.with_replicates(3).looks
        ([20, 40], [3])
        """
        found = [self.replicates]
        while 2 * found[-1] <= (self.most or MOST_REPLICATES):
            found.append(2 * found[-1])
        return found

    def sweep(self, rules: Iterable[str], seed: int = 1) -> Sweep:
        """Return the sweep over these rules, the first of them under test, and its references.

        It has as many replicates as the first of `looks`.

        Examples
        --------
        >>> test = select(["rfc9743"], sections=["5.1.2"])[0]
        >>> test.sweep(["AIAD(1, 3)", "Reno"]).plan.labels["rule"]
        ['AIAD(1, 3)', 'NewReno']
        """
        notations = list(dict.fromkeys(map(native.rule, [*rules, *self.references])))
        levels = {custom_rules.shown(rule): self._patch(rule) for rule in notations}
        return Sweep(
            name=f"{self.suite}-{self.name}", base=self.base, axes={**self.axes, RULE: levels},
            zip=self.zip, replicates=self.replicates, seed=seed, link=self.link, group=self.group,
            metrics=[*dict.fromkeys((*self.judged, *self.shown, *self.purpose))], compare=RULE,
        )  # fmt: skip

    def _patch(self, rule: str) -> dict[str, Any]:
        """Return what the level of a rule sets: a rule that ignores marks asks for none.

        ECT promises a reaction to CE (RFC 3168, section 5).
        """
        found: dict[str, Any] = dict.fromkeys(self.rule_at, rule)
        if self.base.get("tcp", {}).get("ecn") and _ignores_marks(rule):
            found |= {f"{key.removesuffix('.rule')}.tcp.ecn": False for key in self.rule_at}
        return found

    def for_rule(self, rule: str) -> Test:
        """Return the test of a rule: of one that couples subflows with `coupled`.

        Examples
        --------
        >>> test = next(one for one in suite("rfc9743").tests if one.name == "multipath-shared")
        >>> test.for_rule("CUBIC").references, test.for_rule("BALIA").references
        ((), ['LIA', 'OLIA'])
        """
        return replace(self, **self.coupled) if self.coupled and _couples(rule) else self

    def with_replicates(self, replicates: int) -> Test:
        """Return the test with this number of replicates in every cell."""
        return replace(self, replicates=replicates, most=replicates)

    def with_profile(self, profile: str) -> Test:
        """Return the test with another profile of the TCP endpoints."""
        return replace(self, base={**self.base, "profile": profile})

    def at_home(self, home: str) -> Test:
        """Return the test at a home.

        In a kernel the standards that flows have, and the references of the test, are Linux's. With
        ``quic`` the flows that get the rule are connections of quinn in the simulator, of the
        references, too.

        Examples
        --------
        >>> test = next(one for one in suite("rfc9743").tests if one.name == "beside-standards")
        >>> test.at_home("linux").axes["flows.standard.rule"]
        ['kernel:reno', 'kernel:cubic']
        >>> [flow.get("stack") for flow in test.at_home("quic").base["flows"]]
        ['quinn', None]
        """
        if is_simulated({"home": home}):
            return self
        if home == QUIC:
            return replace(self, base={**self.base, "flows": [*map(self._in_quic, self._flows)]})
        base = {**_in_kernel(self.base), "home": home}
        references = [name for name in map(_in_kernel, self.references) if _runs_at(name, home)]
        return replace(self, base=base, axes=_in_kernel(self.axes), references=references)

    @property
    def _flows(self) -> Sequence[Mapping[str, Any]]:
        return self.base.get("flows", ())

    def _in_quic(self, flow: Mapping[str, Any]) -> Mapping[str, Any]:
        is_tested = {"flows.*.rule", f"flows.{flow.get('name')}.rule"} & {*self.rule_at}
        return {**flow, "stack": "quinn"} if is_tested else flow

    def with_vectors(self, file: str) -> Test:
        """Return the test with recorded connections as its traffic in both directions.

        Arrivals ``out`` and ``in`` get the connection vectors of `file` (docs/traffic.md) for the
        sizes and times that the suite draws. Axes of their rate of arrival are left out: a
        recording has one load. Tests without such arrivals stay as they are.

        Examples
        --------
        >>> test = next(one for one in suite("tcpeval").tests if one.name == "access-link")
        >>> recorded = test.with_vectors("campus.tmix")
        >>> recorded.base["arrivals"][0]["vectors"], recorded.axes
        ({'file': 'campus.tmix'}, {})
        """
        entries = [dict(entry) for entry in self.base.get("arrivals", ())]
        drawn = [entry for entry in entries if entry.get("name") in ("out", "in")]
        if not drawn:
            return self
        for entry in drawn:
            for key in DRAWN:
                entry.pop(key, None)
            entry["vectors"] = {"file": file}
        gaps = {f"arrivals.{entry['name']}.gap" for entry in drawn}
        axes = {
            name: levels
            for name, levels in self.axes.items()
            if not (is_mapping(levels) and all(gaps >= {*keys} for keys in levels.values()))
        }
        return replace(self, base={**self.base, "arrivals": entries}, axes=axes)


@dataclass(frozen=True)
class Suite:
    """A suite: tests with a common source."""

    name: str
    title: str
    source: str
    tests: Sequence[Test]


def _in_kernel(node: Any) -> Any:
    if is_mapping(node):
        return {key: _in_kernel(value) for key, value in node.items()}
    if is_list(node):
        return [_in_kernel(entry) for entry in node]
    return IN_KERNEL.get(node, node) if isinstance(node, str) else node


def _couples(rule: str) -> bool:
    if custom_rules.NOTATION.fullmatch(rule):
        _, made = custom_rules.find(rule)
        return takes_siblings(getattr(made(), "increase", None))
    return rule.partition("(")[0] in {each["name"] for each in native.rules() if each["coupled"]}


def _ignores_marks(rule: str) -> bool:
    """Whether a rule does not answer ECN marks: BBR, unless version 3 is told to."""
    return re.match(r"BBR1|BBR3(?!.*ecn *= *on)|kernel:bbr", rule) is not None


def _runs_at(rule: str, home: str) -> bool:
    try:
        check_rule(native.rule(rule), home)
    except ScenarioError:
        return False
    return True


@functools.cache
def criteria() -> dict[str, Criterion]:
    """Return the criteria of RFC 9743 by section, in its order.

    Examples
    --------
    >>> found = criteria()
    >>> found["5.1.2"].title, found["5.1.1"].must
    ('Protection against bufferbloat', True)
    """
    return {entry["section"]: Criterion(**entry) for entry in _read("criteria.toml")["criteria"]}


@functools.cache
def suite(name: str, *, quick: bool = False) -> Suite:
    """Return a suite.

    Parameters
    ----------
    name : str
        One of `SUITES`.
    quick : bool
        Whether the tests are the short ones.

    Raises
    ------
    ScenarioError
        If there is no such suite.

    Examples
    --------
    >>> len(suite("rfc9743", quick=True).tests) <= len(suite("rfc9743").tests)
    True
    """
    if name == ADVERSARY:
        return Suite(name, "The worst link", "cwndlab", [])
    if name not in SUITES:
        raise ScenarioError(unknown("suite", name, [*SUITES, ADVERSARY]))
    data = _read(f"{name}.toml")
    common = data.get("common", {})
    found = (_test(name, entry, common, quick=quick) for entry in data["tests"])
    return Suite(name, data["title"], data["source"], [entry for entry in found if entry])


def select(
    suites: Iterable[str], *, quick: bool = False, sections: Sequence[str] = ()
) -> list[Test]:
    """Return the tests of suites, of these sections (and those below them) only, if given.

    Raises
    ------
    ScenarioError
        If there is no such suite or section.
    """
    for wanted in sections:
        if not any(within(section, wanted) for section in criteria()):
            raise ScenarioError(unknown("section", wanted, criteria()))
    return [
        test
        for name in dict.fromkeys(suites)
        for test in suite(name, quick=quick).tests
        if not sections or any(within(test.section, wanted) for wanted in sections)
    ]


def left_out(suites: Iterable[str], *, quick: bool, sections: Sequence[str] = ()) -> dict[str, str]:
    """Return what the short tests leave out of suites: a suite's or a test's name, and why.

    Examples
    --------
    >>> left_out(["rfc9743", "tcpeval"], quick=True)
    {'tcpeval': 'it has no short test'}
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(suites):
        all_of_it = select([name], sections=sections)
        short = {test.id for test in select([name], quick=quick, sections=sections)}
        if all_of_it and not short:
            found[name] = "it has no short test"
        else:
            found |= {one.id: "it is no short test" for one in all_of_it if one.id not in short}
    return found


def within(section: str, wanted: str) -> bool:
    """Whether a section is another one or below it.

    Examples
    --------
    >>> within("5.1.2", "5.1"), within("7.10", "7.1")
    (True, False)
    """
    return section == wanted or section.startswith(f"{wanted}.")


def _test(
    suite_name: str, entry: Mapping[str, Any], common: Mapping[str, Any], *, quick: bool
) -> Test | None:
    """Make a test of its table; None if it is not one of the quick ones."""
    own: dict[str, Any] = {key: value for key, value in entry.items() if key != "quick"}
    base: dict[str, Any] = own["base"]
    short: Any = entry.get("quick", {})
    if quick:
        if short is False:
            return None
        own = {**own, "replicates": QUICK_REPLICATES, "most": QUICK_MOST_REPLICATES, **short}
        base = {**base, **short.get("base", {})}
    shared = {key: value for key, value in common.items() if "links" not in base or key != DUMBBELL}
    own.update(suite=suite_name, base=_joined(shared, base))
    return Test(**own)


def _joined(common: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Join two tables; where both have a table, key by key."""
    found = {**common, **own}
    for key in common.keys() & own.keys():
        if is_mapping(common[key]) and is_mapping(own[key]):
            found[key] = _joined(common[key], own[key])
    return found


def _read(file: str) -> dict[str, Any]:
    return parse(resources.files("cwndlab.assessment").joinpath("suites", file).read_text("utf-8"))
