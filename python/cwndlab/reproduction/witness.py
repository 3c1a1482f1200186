"""ns-2 as a witness: the claims of a paper judged by cwndlab and by ns-2, over the same cells.

A plan is reduced to the levels that ns-2 can express: rules that it lacks are left out, and cases
in which it lacks anything else. Both programs then run what remains with the same seeds, and every
claim about these cells is judged by each. A claim about a rule that ns-2 lacks is not judged.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError
from cwndlab.files import write_whole
from cwndlab.jsontext import dumps
from cwndlab.ns2 import export
from cwndlab.ns2.rules import rule_variables
from cwndlab.outputs import stamped
from cwndlab.reproduction.claims import Claim, Judged
from cwndlab.reproduction.paper import Paper, load
from cwndlab.reproduction.readings import FAILS, HOLDS
from cwndlab.reproduction.results_grid import CASES, RULE, Data, ResultsGrid
from cwndlab.reproduction.running import Tell, judge
from cwndlab.scenario import Scenario
from cwndlab.statistics import Estimate

if TYPE_CHECKING:
    from cwndlab.ns2 import Ns2
    from cwndlab.sweeps import Sweep

REPLICATES = 3
"""Replicates of each cell in either program."""
BOTH_WITH, BOTH_AGAINST = "both with the paper", "both against the paper"
ONLY_NS2, ONLY_OURS = "only ns-2 with the paper", "only cwndlab with the paper"
OPEN, NOT_JUDGED = "undecided in one or both", "not judged"
RELATIONS = (BOTH_WITH, BOTH_AGAINST, ONLY_NS2, ONLY_OURS, OPEN, NOT_JUDGED)


@dataclass(frozen=True)
class Testimony:
    """A claim as each program sees it."""

    claim: Claim
    ns2: Judged | None
    ours: Judged | None
    why: str = ""
    """Why it is not judged."""

    @property
    def relation(self) -> str:
        """Who agrees with the paper, which says that its claims hold."""
        if self.ns2 is None or self.ours is None:
            return NOT_JUDGED
        verdicts = (self.ns2.verdict, self.ours.verdict)
        return {
            (HOLDS, HOLDS): BOTH_WITH,
            (FAILS, FAILS): BOTH_AGAINST,
            (HOLDS, FAILS): ONLY_NS2,
            (FAILS, HOLDS): ONLY_OURS,
        }.get(verdicts, OPEN)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "id": self.claim.id,
            "claim": self.claim.name,
            "statement": self.claim.statement,
            "bounds": self.claim.reading.text,
            "ns2": None if self.ns2 is None else _numbers(self.ns2),
            "cwndlab": None if self.ours is None else _numbers(self.ours),
            "relation": self.relation,
            "why": self.why,
        }


@dataclass
class Witness:
    """Every claim of some experiments, with what was left out of each plan.

    Attributes
    ----------
    paper : Paper
        The paper.
    testimonies : list of Testimony
        Its claims about packets.
    left_out : dict
        Plan to the levels that ns-2 lacks, each with the reason.
    replicates : int
        Runs of each cell in either program.
    version : str
        Name and version of ns-2.
    """

    paper: Paper
    replicates: int
    version: str
    testimonies: list[Testimony] = field(default_factory=list[Testimony])
    left_out: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def counts(self) -> dict[str, int]:
        """Number of claims by relation."""
        found = Counter(entry.relation for entry in self.testimonies)
        return {relation: found[relation] for relation in RELATIONS}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        found: dict[str, Any] = {
            "paper": self.paper.key,
            "ns2_version": self.version,
            "replicates": self.replicates,
            "counts": self.counts,
            "left_out": self.left_out,
            "claims": [entry.to_dict() for entry in self.testimonies],
        }
        return stamped("witness", found)


def witness(
    key: str,
    ids: Sequence[str] | None = None,
    *,
    out: str | Path,
    ns: Ns2 | str | Path | None = None,
    replicates: int = REPLICATES,
    quick: bool = False,
    jobs: int | None = None,
    progress: Tell | None = None,
) -> Witness:
    """Judge the claims of a paper by runs of ns-2 and of cwndlab.

    Runs of both are kept in ``OUT/store``; ``OUT/KEY/witness.json`` gets the verdicts.

    Parameters
    ----------
    key : str
        The paper.
    ids : sequence of str, optional
        Its experiments; by default all.
    out : str or Path
        Folder.
    ns : Ns2, str or Path, optional
        The program; by default ``ns`` on the path.
    replicates : int
        Runs of each cell in either program, at least 2.
    quick : bool
        Short runs, as a test.
    jobs : int, optional
        Runs side by side.
    progress : callable, optional
        Gets the events of the sweeps, and one before each plan.

    Raises
    ------
    LiveError
        If ns-2 is not installed.
    """
    from cwndlab.ns2 import Ns2
    from cwndlab.runs.store import Store
    from cwndlab.sweeps import run_beside

    program = ns if isinstance(ns, Ns2) else Ns2(ns)
    paper = load(key)
    chosen = list(paper.experiments) if ids is None else list(ids)
    claims = [claim for claim in paper.claims_of(chosen) if claim.plans]
    found = Witness(paper, replicates, f"ns-2 {program.version}")
    plans = list(dict.fromkeys(plan for claim in claims for plan in claim.plans))
    sides: tuple[dict[str, ResultsGrid], dict[str, ResultsGrid]] = ({}, {})
    refused: dict[str, str] = {}
    with Store(Path(out) / "store") as store:
        for number, plan in enumerate(plans, 1):
            if progress is not None:
                progress({"event": "plan", "plan": plan, "number": number, "of": len(plans)})
            of_plan = [claim for claim in claims if plan in claim.plans]
            sweep = paper.sweep(plan, quick=quick)
            sweep = dataclasses.replace(sweep, until=None, replicates=replicates)
            try:
                sweep, left_out = expressible(_decisive(sweep, of_plan))
                if paper.measure(plan) is not None:
                    raise ScenarioError(f"plan {plan}: its measures need more than ns-2 prints")
            except ScenarioError as error:
                refused[plan] = str(error)
                continue
            found.left_out[plan] = left_out
            both = run_beside(sweep, store, ns=program, jobs=jobs, progress=progress)
            for side, findings in zip(sides, (both.ours, both.theirs), strict=True):
                side[plan] = paper.board(plan, findings)
    ours, theirs = (Data(side, paper.rules) for side in sides)
    for claim in claims:
        found.testimonies.append(_testimony(paper, claim, ours, theirs, refused))
    folder = Path(out) / key
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "witness.json", (dumps(found.to_dict(), 2) + "\n").encode())
    return found


def expressible(sweep: Sweep) -> tuple[Sweep, dict[str, str]]:
    """Return the part of a sweep that ns-2 can express, and the levels left out, with reasons.

    Raises
    ------
    ScenarioError
        If nothing remains.
    """
    left_out: dict[str, str] = {}
    for label in _labels(sweep, RULE):
        try:
            rule_variables(label)
        except ScenarioError as error:
            left_out[label] = str(error)
    remaining = _without(sweep, RULE, left_out) if left_out else sweep
    case = next((name for name in CASES if name in remaining.axes), None)
    reasons: dict[str, str] = {}
    for cell in remaining.plan.cells():
        try:
            export(Scenario(cell.document()))
        except ScenarioError as error:
            if case is None:
                raise
            reasons.setdefault(cell.labels[case], str(error))
    if reasons and case is not None:
        remaining = _without(remaining, case, reasons)
    return remaining, {**left_out, **reasons}


def _decisive(sweep: Sweep, claims: Iterable[Claim]) -> Sweep:
    """Return the cells that claims look at: their settings, of a plan that has such axes."""
    names = [axis for axis in ("recovery", "queue") if axis in sweep.axes]
    wanted: set[str] = set()
    for claim in claims:
        given = claim.arguments.get("settings", "all")
        if given == "all":
            return sweep
        wanted |= {*given, *filter(None, [claim.arguments.get("against")])}
    for at, axis in enumerate(names):
        kept = {setting.split("/")[at] for setting in wanted if "/" in setting}
        dropped = [label for label in _labels(sweep, axis) if kept and label not in kept]
        if dropped and len(dropped) < len(_labels(sweep, axis)):
            sweep = _without(sweep, axis, dropped)
    return sweep


def _labels(sweep: Sweep, axis: str) -> list[str]:
    return [level.label for level in sweep.plan.axes.get(axis, ())]


def _without(sweep: Sweep, axis: str, labels: Iterable[str]) -> Sweep:
    """Return a sweep without some levels of an axis."""
    dropped = set(labels)
    kept = [label for label in _labels(sweep, axis) if label not in dropped]
    if not kept:
        raise ScenarioError(f"axis `{axis}` has no level that ns-2 can express: {min(dropped)}")
    values: Mapping[str, Any] | Sequence[Any] = sweep.axes[axis]
    if isinstance(values, Mapping):
        chosen: Any = {label: patch for label, patch in values.items() if label not in dropped}
    elif len(values) == len(_labels(sweep, axis)):
        pairs = zip(values, _labels(sweep, axis), strict=True)
        chosen = [value for value, label in pairs if label not in dropped]
    else:
        # "all", which stands for several environments.
        chosen = kept
    return dataclasses.replace(sweep, axes={**sweep.axes, axis: chosen})


def _testimony(
    paper: Paper, claim: Claim, ours: Data, theirs: Data, refused: Mapping[str, str]
) -> Testimony:
    """Judge a claim by both; not where ns-2 lacks what it is about."""
    missing = next((refused[plan] for plan in claim.plans if plan in refused), None)
    if missing is not None:
        return Testimony(claim, None, None, missing)
    # The variants of a claim are judged by cwndlab's own runs alone.
    plain = dataclasses.replace(
        claim, arguments={key: value for key, value in claim.arguments.items() if key != "also"}
    )
    try:
        (own,), (other,) = (judge(paper, [plain], data) for data in (ours, theirs))
    except (ScenarioError, ValueError) as error:
        return Testimony(claim, None, None, f"ns-2 lacks it: {error}")
    if own.measured.mean is None or other.measured.mean is None:
        return Testimony(claim, None, None, "ns-2's script does not measure it")
    return Testimony(claim, other, own)


def _numbers(judged: Judged) -> dict[str, Any]:
    measured: Estimate = judged.measured
    return {"mean": measured.mean, "ci95": measured.half_width, "verdict": judged.verdict}
