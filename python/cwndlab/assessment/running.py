"""Assesses a rule: runs the tests of suites with the rule and its references, and judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import custom_rules, native
from cwndlab.arguments import Progress, keywords, listed, some
from cwndlab.assessment import judging
from cwndlab.assessment.adversary import BUDGET, QUICK_BUDGET, worst_link
from cwndlab.assessment.live import live_runs
from cwndlab.assessment.result import Assessment, Tested
from cwndlab.assessment.suite import ADVERSARY, IN_KERNEL, Test, select
from cwndlab.errors import ScenarioError
from cwndlab.kernel_runs.virtual import SIMULATOR, identity, is_simulated
from cwndlab.message import invalid
from cwndlab.runs.execution import opened
from cwndlab.runs.executors import built
from cwndlab.scenario import DEFAULT_PROFILE, Scenario, check_rule
from cwndlab.sweeps import SweepResult, execute

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab.custom_rules import Rule
    from cwndlab.runs.store import Store

REFERENCES = ("Reno", "CUBIC", "BBR3")
REFERENCES_IN_KERNEL = (*IN_KERNEL.values(), "kernel:bbr")
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
    live: bool = False,
    profile: str = DEFAULT_PROFILE,
    home: str = SIMULATOR,
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
        Number of runs of each cell, instead of that of the test.
    vectors : str or Path, optional
        A file of connection vectors, in a format of Tmix, as the traffic of ``tcpeval``.
    live : bool
        Whether to run the rule in the kernel and in QUIC, too, where the machine can.
    profile : str
        Profile of the TCP endpoints in all tests.
    home : {"simulator", "linux", "linux:NAME"}
        Where the runs execute: the simulator, or TCP of a Linux kernel in virtual time.
        `Assessment.not_run` lists what a kernel cannot run.
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
    own, suites, sections = native.rule(rule), some("suites", suites), listed(sections)
    is_ours = is_simulated({"home": home})
    if against is None:
        against = REFERENCES if is_ours else REFERENCES_IN_KERNEL
    asked = [native.rule(one) for one in listed(against)]
    others = [name for name in dict.fromkeys(asked) if name != own]
    if not others:
        raise ScenarioError(invalid("against", asked, "a rule other than the one assessed"))
    if not select(suites, sections=sections) and ADVERSARY not in suites:
        raise ScenarioError(
            f"section: no test of {', '.join(suites)} is about {', '.join(sections)}: expected "
            "other sections or suites (`cwndlab assess --list` shows all)"
        )
    check_rule(own, home)
    for name in others:
        check_rule(name, home, "against")
    if not is_ours:
        identity({"home": home})  # This machine has the kernel, and the program in it.
    chosen = select(suites, quick=quick, sections=sections)
    if vectors is not None:
        chosen = _recorded(chosen, Path(vectors).resolve(), suites)
    chosen = [test.with_profile(profile).at_home(home) for test in chosen]
    refused = {} if is_ours else _refused(chosen, own)
    chosen = [test for test in chosen if test.id not in refused]
    if refused and not chosen and ADVERSARY not in suites:
        first, why = next(iter(refused.items()))
        raise ScenarioError(f"home: {home} can run none of the tests; {first}: {why}")
    sweeps = [test.sweep([own, *others], seed, replicates) for test in chosen]
    done, runs = 0, sum(len(sweep.plan) for sweep in sweeps)
    found: list[Tested] = []
    with opened(store, jobs=jobs, on=on) as (kept, executor):
        for test, sweep in zip(chosen, sweeps, strict=True):
            result = SweepResult(sweep)

            execute(
                sweep,
                result,
                kept,
                executor=executor,
                progress=_teller(progress, test, done, result, runs),
            )
            if result.failed:
                first = result.failed[0]
                raise ScenarioError(f"{test.id}: a run failed: {first['error']}")
            done += len(result)
            found.append(Tested(test, result))
        worst = (
            worst_link(
                own,
                judging.deciding(others),
                budget=QUICK_BUDGET if quick else BUDGET,
                seed=seed,
                profile=profile,
                home=home,
                store=kept,
                executor=executor,
                progress=progress,
            )
            if ADVERSARY in suites
            else None
        )
    return Assessment(
        rule=custom_rules.shown(own), references=[custom_rules.shown(name) for name in others],
        suites=list(dict.fromkeys(suites)), quick=quick, profile=profile,
        home=home, refused=refused, seed=seed, sections=list(sections),
        tested=found, worst=worst, live=live_runs(own, progress) if live else [],
    )  # fmt: skip


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


def _teller(
    progress: Progress | None, test: Test, before: int, result: SweepResult, of: int
) -> Callable[[dict[str, Any]], None]:
    """Return what gets the events of a test's sweep, after so many runs of others."""

    def tell(_event: dict[str, Any]) -> None:
        if progress is not None:
            progress(test.title, before + len(result), of)

    return tell
