"""Assesses a rule: runs the tests of suites with the rule and its references, and judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import custom_rules, native
from cwndlab.arguments import Progress, keywords, listed, some
from cwndlab.assessment import judging
from cwndlab.assessment.adversary import BUDGET, QUICK_BUDGET, worst_link
from cwndlab.assessment.result import Assessment, Tested
from cwndlab.assessment.suite import ADVERSARY, IN_KERNEL, QUIC, Test, select
from cwndlab.errors import LiveError, ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR, identity, is_simulated
from cwndlab.message import invalid
from cwndlab.runs.execution import opened
from cwndlab.runs.executors import built
from cwndlab.scenario import DEFAULT_PROFILE, Scenario, check_rule
from cwndlab.sweeps import SweepResult, execute

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.custom_rules import Rule
    from cwndlab.runs.executors import Executor
    from cwndlab.runs.store import Store

REFERENCES = ("Reno", "CUBIC", "BBR3")
REFERENCES_IN_KERNEL = (IN_KERNEL["Reno"], IN_KERNEL["CUBIC"], "kernel:bbr")
LINUX_FORMS = {
    "NewReno": "kernel:reno", "CUBIC": "kernel:cubic", "DCTCP": "kernel:dctcp",
    "BBR1": "kernel:bbr",
}  # fmt: skip
"""Rules that Linux has, too."""
REFERENCES_IN_QUIC = ("Reno", "CUBIC")
"""BBR3 sets a rate, and quinn's controllers a window."""
VECTORS = "tcpeval"
"""The suite whose traffic may be recorded connections."""


@keywords(instead=lambda: {"criteria": "sections"})
def assess(
    rule: Rule,
    *,
    against: Rule | Sequence[Rule] | None = None,
    suites: str | Sequence[str] = ("rfc9743",),
    sections: str | Sequence[str] = (),
    quick: bool = False,
    replicates: int | None = None,
    vectors: str | Path | None = None,
    profile: str = DEFAULT_PROFILE,
    home: str | Sequence[str] = SIMULATOR,
    seed: int = 1,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Assess a rule by the criteria of RFC 9743.

    Parameters
    ----------
    rule : rule
        The rule under test: a notation that `cwndlab.rule` reads, ``FILE.py:CLASS``, a class, or
        an instance.
    against : rule or sequence of rules, optional
        The references, by default Reno, CUBIC and BBR3, in a kernel Linux's Reno, CUBIC and BBR.
        NewReno and CUBIC are decisive if they are among them; others are shown for information.
    suites : str or sequence of str
        Suites of tests (`cwndlab.assessment.SUITES`); ``"adversary"`` is the search for the link
        on which the rule is farthest behind.
    sections : str or sequence of str
        Sections of RFC 9743, such as ``"5.1.2"`` or ``"5.1"``; by default all.
    quick : bool
        Whether to run the short tests.
    replicates : int, optional
        Number of runs of each cell, instead of that of the test, and twice and four times as many,
        up to 40, of cells that stay undecided.
    vectors : str or Path, optional
        A file of connection vectors, in a format of Tmix, as the traffic of ``tcpeval``.
    profile : str
        Profile of the TCP endpoints in all tests.
    home : {"simulator", "linux", "linux:NAME", "quic"} or sequence of them
        Where the runs execute: the simulator; TCP of a Linux kernel in virtual time; or the
        simulator with the rule in connections of quinn. `Assessment.not_run` lists what a home
        cannot run. The verdicts are those of the first; `Assessment.elsewhere` has the others.
    seed : int
        Seed of replicate 0.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    jobs : int, optional
        Number of threads; by default one for each processor.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with the title of a test, the number of finished runs, and the total.

    Returns
    -------
    Assessment
        Verdicts by criterion, with every comparison.

    Raises
    ------
    ScenarioError
        If a rule, suite or section is not valid, or no reference remains.

    Examples
    --------
    >>> found = assess("MIMD(1.125, 0.8)", against=["Reno"], sections=["5.1.4"], quick=True,
    ...                replicates=2)
    >>> [(entry.criterion.section, len(entry.comparisons) > 0) for entry in found.judged()]
    [('5.1.4', True)]
    """
    asked = Asked(
        rule=native.rule(rule),
        against=None if against is None else [native.rule(one) for one in listed(against)],
        suites=list(dict.fromkeys(some("suites", suites))), sections=listed(sections),
        quick=quick, replicates=replicates, profile=profile, seed=seed,
        vectors=None if vectors is None else Path(vectors).resolve(),
    )  # fmt: skip
    homes = list(dict.fromkeys(some("home", home)))
    parts = [asked.at(homes[0]), *map(asked.elsewhere, homes[1:])]
    with opened(store, jobs=jobs, on=on) as (kept, executor):
        total = sum(part.runs for part in parts)
        work = _Work(kept, executor, progress, total)
        first, *elsewhere = (part.found(work) for part in parts)
    return replace(first, elsewhere=elsewhere)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What an assessment is of."""

    rule: str
    against: Sequence[str] | None
    suites: Sequence[str]
    sections: Sequence[str]
    quick: bool
    replicates: int | None
    profile: str
    seed: int
    vectors: Path | None

    def at(self, home: str) -> AtHome:
        """Check everything before the first run, and choose the tests."""
        references = self._references(home)
        if not select(self.suites, sections=self.sections) and ADVERSARY not in self.suites:
            raise ScenarioError(
                f"section: no test of {', '.join(self.suites)} is about "
                f"{', '.join(self.sections)}: expected other sections or suites (`cwndlab assess "
                "--list` shows all)"
            )
        chosen = select(self.suites, quick=self.quick, sections=self.sections)
        if self.vectors is not None:
            chosen = _recorded(chosen, self.vectors, self.suites)
        if self.replicates is not None:
            chosen = [test.with_replicates(self.replicates) for test in chosen]
        chosen = [
            test.for_rule(self.rule).with_profile(self.profile).at_home(home) for test in chosen
        ]
        refused = {} if is_simulated({"home": home}) else _refused(chosen, self.rule)
        chosen = [test for test in chosen if test.id not in refused]
        if refused and not chosen and ADVERSARY not in self.suites:
            first, why = next(iter(refused.items()))
            raise ScenarioError(f"home: {home} can run none of the tests; {first}: {why}")
        rules = [self.rule, *references]
        tested = [Tested(test, SweepResult(test.sweep(rules, self.seed))) for test in chosen]
        return AtHome(self, home, references, refused, tested)

    def elsewhere(self, home: str) -> AtHome:
        """Do the same for a home beside the first: what it cannot run is not run.

        In a kernel Linux's form of a rule takes its place.
        """
        in_kernel = not is_simulated({"home": home}) and home != QUIC
        own = replace(self, rule=LINUX_FORMS.get(self.rule, self.rule)) if in_kernel else self
        try:
            return own.at(home)
        except (ScenarioError, LiveError) as error:
            chosen = select(self.suites, quick=self.quick, sections=self.sections)
            refused = {test.id: str(error) for test in chosen}
            return AtHome(own, home, [], refused, [])

    def _references(self, home: str) -> list[str]:
        usual = (
            REFERENCES if is_simulated({"home": home})
            else REFERENCES_IN_QUIC if home == QUIC else REFERENCES_IN_KERNEL
        )  # fmt: skip
        given = [*map(native.rule, usual)] if self.against is None else self.against
        others = [name for name in dict.fromkeys(given) if name != self.rule]
        if not others:
            raise ScenarioError(invalid("against", given, "a rule other than the one assessed"))
        if home == QUIC:
            return others
        check_rule(self.rule, home)
        for name in others:
            check_rule(name, home, "against")
        if not is_simulated({"home": home}):
            identity({"home": home})  # This machine has the kernel, and the program in it.
        return others


@dataclass
class _Work:
    """What executes runs, and how far it is."""

    kept: Store | None
    executor: Executor
    progress: Progress | None
    total: int
    done: int = field(default=0, init=False)

    def run(self, one: Tested, more: Mapping[int, range]) -> None:
        """Execute replicates of cells of a test."""
        before, had = self.done, len(one.found)
        # The first look is counted before the first run, later ones when they are known.
        self.total = max(self.total, before + sum(map(len, more.values())))

        def tell(_event: dict[str, Any]) -> None:
            self.done = before + len(one.found) - had
            if self.progress is not None:
                self.progress(one.test.title, self.done, self.total)

        execute(
            one.found.sweep, one.found, self.kept, executor=self.executor, more=more, progress=tell
        )
        self.done = before + len(one.found) - had
        if one.found.failed:
            raise ScenarioError(f"{one.test.id}: a run failed: {one.found.failed[0]['error']}")


@dataclass(frozen=True)
class AtHome:
    """An assessment at one home, with its tests."""

    asked: Asked
    home: str
    references: Sequence[str]
    refused: Mapping[str, str]
    tested: Sequence[Tested]

    @property
    def runs(self) -> int:
        """Number of runs of the first look."""
        return sum(len(one.found.sweep.plan) for one in self.tested)

    def judged(self, run: Callable[[Tested, Mapping[int, range]], object]) -> Assessment:
        """Have replicates run and judge them; then more of undecided cells, in looks.

        Parameters
        ----------
        run : callable
            Gets a test, and which replicates of which of its cells to add to its findings.
        """
        wanted = [(one, one.first_look) for one in self.tested]
        while wanted:
            for one, more in wanted:
                run(one, more)
            wanted = self._wanted()
        return self._assessment()

    def found(self, work: _Work) -> Assessment:
        """Execute the runs, and search for the worst link if that was asked."""
        judged = self.judged(work.run)
        worst = (
            worst_link(
                self.asked.rule, judging.deciding(self.references), seed=self.asked.seed,
                budget=QUICK_BUDGET if self.asked.quick else BUDGET, profile=self.asked.profile,
                home=self.home, store=work.kept, executor=work.executor, progress=work.progress,
            )
            if ADVERSARY in self.asked.suites
            else None
        )  # fmt: skip
        return replace(judged, worst=worst)

    def _assessment(self) -> Assessment:
        return Assessment(
            rule=custom_rules.shown(self.asked.rule),
            references=[custom_rules.shown(name) for name in self.references],
            suites=self.asked.suites, quick=self.asked.quick, profile=self.asked.profile,
            home=self.home, refused=self.refused, seed=self.asked.seed,
            sections=self.asked.sections, tested=self.tested,
        )  # fmt: skip

    def _wanted(self) -> list[tuple[Tested, dict[int, range]]]:
        """Return the replicates of the next look, of undecided cells."""
        found: list[tuple[Tested, dict[int, range]]] = []
        for one in self._assessment().judged():
            for entry in one.tested:
                cells = {
                    cell
                    for each in one.comparisons
                    if each.test == entry.test.id and each.verdict == judging.UNDECIDED
                    for cell in entry.places(each.cell, each.deciding)
                }
                more = dict(_next(entry, sorted(cells)))
                if more:
                    found.append((entry, more))
        return found


def _next(entry: Tested, cells: Iterable[int]) -> Iterable[tuple[int, range]]:
    for cell in cells:
        had = entry.found.count(cell)
        later = [look for look in entry.test.looks if look > had]
        if later:
            yield cell, range(had, later[0])


def _refused(chosen: Sequence[Test], rule: str) -> dict[str, str]:
    """Return the tests that a kernel cannot run, and why: a run of no length finds out."""
    found: dict[str, str] = {}
    for test in chosen:
        document = next(test.sweep([rule]).plan.cells()).document()
        if error := built(document).error:
            found[test.id] = error
    return found


def _recorded(chosen: Sequence[Test], file: Path, suites: Sequence[str]) -> list[Test]:
    """Give the tests of `VECTORS` recorded connections; refuse a file that is none, or unused."""
    if VECTORS not in suites:
        raise ScenarioError(invalid("vectors", file, f"the suite {VECTORS}, which uses them"))
    recorded = [one.with_vectors(str(file)) if one.suite == VECTORS else one for one in chosen]
    key = "arrivals[0].vectors.file"
    probe = {
        "duration": "1s",
        "dumbbell": {"rate": "1Mbit", "delay": "1ms", "queue": {"kind": "drop-tail"}},
        "arrivals": [{"name": "out", "rule": "NewReno", "vectors": {"file": str(file)}}],
    }
    try:
        Scenario.from_dict(probe)
    except ScenarioError as error:
        # The file is at fault, and the key is no key of the user's.
        raise ScenarioError(str(error).replace(key, "vectors", 1)) from None
    if not any(one is not other for one, other in zip(recorded, chosen, strict=True)):
        raise ScenarioError(
            invalid("vectors", file, "tests that use them: none of those chosen does (--quick has "
                    f"none of the suite {VECTORS})")
        )  # fmt: skip
    return recorded
