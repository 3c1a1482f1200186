"""The cells of the matrix, and their execution on threads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from cwndlab import native
from cwndlab.arguments import Simulated
from cwndlab.matrix.checks import CHECKS
from cwndlab.matrix.exceptions import judged
from cwndlab.matrix.outcomes import Case, Found
from cwndlab.matrix.path import profiles
from cwndlab.results import Result
from cwndlab.runs.execute import run, side_by_side, threads_of
from cwndlab.scenario import Scenario


def registry() -> list[str]:
    """Return every rule of the registry, with the parameters of its example.

    A rule that couples subflows is NewReno where there is one flow, and none of them.

    Examples
    --------
    >>> "CUBIC" in registry(), "AIMD(1, 0.5)" in registry()
    (True, True)
    """
    return [native.rule(entry["example"]) for entry in native.rules() if not entry["coupled"]]


def cases(
    rules: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
    checks: Sequence[str] | None = None,
) -> list[Case]:
    """Return the cases of some rules, profiles and checks; None means all.

    Examples
    --------
    >>> len(cases(["CUBIC"], ["linux"], ["fills"]))
    9
    """
    return [
        Case(rule, profile, check, name)
        for rule in (registry() if rules is None else rules)
        for profile in (profiles() if among is None else among)
        for check in (CHECKS if checks is None else checks)
        for name in CHECKS[check].cases(profile)
    ]


def drawn(among: Sequence[Case], count: int, seed: int) -> list[Case]:
    """Draw cases at random: as evenly as can be over checks, then over profiles.

    Examples
    --------
    >>> found = drawn(cases(), 14, seed=1)
    >>> len(found), len({case.check for case in found}), len({case.profile for case in found})
    (14, 7, 7)
    """
    draw = random.Random(seed)
    left = list(among)
    draw.shuffle(left)
    checks: dict[str, int] = {}
    pairs: dict[str, int] = {}
    rules: dict[str, int] = {}
    found: list[Case] = []
    while left and len(found) < count:
        case = min(
            left,
            key=lambda one: (
                checks.get(one.check, 0),
                pairs.get(one.profile, 0),
                rules.get(one.rule, 0),
            ),
        )
        left.remove(case)
        found.append(case)
        for counts, key in ((checks, case.check), (pairs, case.profile), (rules, case.rule)):
            counts[key] = counts.get(key, 0) + 1
    return found


def scenarios(case: Case) -> list[Scenario]:
    """Return what a case runs: the scenario in question first, then what it is compared with."""
    return CHECKS[case.check].scenarios(case.rule, case.profile, case.name)


def answer(case: Case, progress: Simulated | None = None) -> Found:
    """Run a case and judge it.

    Examples
    --------
    >>> answer(Case("NewReno", "rfc", "fills", "1 Mbit/s 40 ms")).verdict
    'holds'
    """
    check, asked = CHECKS[case.check], scenarios(case)
    results: list[Result] = []
    first = check.at_first or len(asked)
    for some in (asked[:first], asked[first:]):
        results += [run(scenario, progress=progress) for scenario in some]
        outcome = check.judge(case.rule, case.profile, case.name, results)
        if outcome.verdict != "undecided":
            break
    return judged(case, outcome)


def answers(
    asked: Iterable[Case],
    *,
    jobs: int | None = None,
    packets: Callable[[int], object] | None = None,
) -> Iterator[Found]:
    """Run cases on threads, and yield each answer as it is found.

    On Ctrl-C, or when the caller stops early, running simulations stop within a fraction of a
    second; the caller keeps the answers yielded so far.

    Parameters
    ----------
    asked : iterable of Case
    jobs : int, optional
        Number of threads; by default one for each processor that this process may use.
    packets : callable, optional
        Gets the number of packets since it was last called; called on the threads.
    """
    tasks = ((case, case) for case in asked)
    for _, found in side_by_side(answer, tasks, threads_of(jobs), packets):
        yield found
