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

from cwndlab import Scenario, ScenarioError
from cwndlab.ns2 import export, rule_variables
from cwndlab.outputs import stamped
from cwndlab.plugins import dumps, write_whole
from cwndlab.statistics import Estimate
from cwndlab_papers import witness_records
from cwndlab_papers.claims import Claim, Judged
from cwndlab_papers.levels import kept, level_labels, without
from cwndlab_papers.paper import Paper, load
from cwndlab_papers.readings import FAILS, HOLDS
from cwndlab_papers.results_grid import CASES, RULE, Data
from cwndlab_papers.running import Tell, judge, own_measures, run_keys
from cwndlab_papers.witness_records import PlanRecord
from cwndlab_papers.witness_scope import read_scope

if TYPE_CHECKING:
    from cwndlab import Store
    from cwndlab.ns2 import Ns2
    from cwndlab.sweeps import Sweep

REPLICATES = 3
"""Replicates of each cell in either program."""
BOTH_WITH, BOTH_AGAINST = "both with the paper", "both against the paper"
ONLY_NS2, ONLY_OURS = "only ns-2 with the paper", "only cwndlab with the paper"
NO_RUNS = "no runs yet"
FEW_SETTINGS = "about all settings, of which only some are decisive"
OPEN_WITH, OPEN_AGAINST = "undecided, both means with it", "undecided, both means against it"
OPEN_APART, NOT_JUDGED = "undecided, means on two sides", "not judged"
RELATIONS = (BOTH_WITH, BOTH_AGAINST, ONLY_NS2, ONLY_OURS, OPEN_WITH, OPEN_AGAINST, OPEN_APART,
             NOT_JUDGED)  # fmt: skip


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
        """Who agrees with the paper, which says that its claims hold.

        Where a verdict is undecided, the means alone say on which sides the programs are.
        """
        if self.ns2 is None or self.ours is None:
            return NOT_JUDGED
        verdicts = (self.ns2.verdict, self.ours.verdict)
        return {
            (HOLDS, HOLDS): BOTH_WITH,
            (FAILS, FAILS): BOTH_AGAINST,
            (HOLDS, FAILS): ONLY_NS2,
            (FAILS, HOLDS): ONLY_OURS,
        }.get(verdicts) or _open(self.claim, self.ns2.measured, self.ours.measured)

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
    plans : dict
        Plan to its record (`witness_records`).
    """

    paper: Paper
    testimonies: list[Testimony] = field(default_factory=list[Testimony])
    plans: dict[str, PlanRecord] = field(default_factory=dict[str, PlanRecord])

    @property
    def counts(self) -> dict[str, int]:
        """Number of claims by relation."""
        found = Counter(entry.relation for entry in self.testimonies)
        return {relation: found[relation] for relation in RELATIONS}

    @property
    def versions(self) -> list[str]:
        """Name and version of ns-2, of every plan."""
        return list(dict.fromkeys(record.version for record in self.plans.values()))

    @property
    def left_out(self) -> dict[str, dict[str, str]]:
        """Plan to the levels that ns-2 lacks, each with the reason."""
        return {plan: record.left_out for plan, record in self.plans.items() if record.left_out}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        plans = {
            plan: {"profile": record.profile, "replicates": record.replicates,
                   "runs": record.runs, "computed_s": record.computed_s}
            for plan, record in self.plans.items()
        }  # fmt: skip
        found: dict[str, Any] = {
            "paper": self.paper.key,
            "ns2_version": ", ".join(self.versions),
            "plans": plans,
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
    profile: str | None = None,
    quick: bool = False,
    jobs: int | None = None,
    progress: Tell | None = None,
) -> Witness:
    """Judge the claims of a paper by runs of ns-2 and of cwndlab.

    Runs of both are kept in ``OUT/store``; ``OUT/witness`` gets the records of each plan as it is
    done, ``OUT/KEY/witness.json`` the verdicts.

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
    profile : str, optional
        The ns-2 whose endpoints and routers the runs have; by default that of the paper's date.
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
    from cwndlab import Store
    from cwndlab.ns2 import Ns2

    program = ns if isinstance(ns, Ns2) else Ns2(ns)
    paper, scope = load(key), read_scope(key)
    claims = _claims(paper, ids)
    plans = list(dict.fromkeys(plan for claim in claims for plan in claim.plans))
    beside = scope.beside_of(plans)
    names = [*plans, *beside]
    records = Path(out) / "witness"
    done: dict[str, PlanRecord] = {}
    with Store(Path(out) / "store") as store:
        for number, name in enumerate(names, 1):
            if progress is not None:
                progress({"event": "plan", "plan": name, "number": number, "of": len(names)})
            record = PlanRecord(profile or scope.profile, f"ns-2 {program.version}", replicates)
            plan = beside[name].plan if name in beside else name
            sweep = paper.sweep(plan, quick=quick, profile=record.profile)
            sweep = dataclasses.replace(_without_packets(sweep), until=None, replicates=replicates)
            try:
                if name in beside:
                    sweep = kept(sweep, beside[name].levels, f"witness.toml: {name}")
                else:
                    sweep = scope.decisive(plan, sweep)
                    sweep = _in_settings(sweep, [claim for claim in claims if plan in claim.plans])
                sweep, record.left_out = expressible(sweep)
            except ScenarioError as error:
                record.refused = str(error)
            else:
                _run(paper, plan, sweep, store, program, record, jobs, progress)
            done[name] = record
            witness_records.write(records, key, {name: record})
    found = judged(paper, done, claims)
    folder = Path(out) / key
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "witness.json", (dumps(found.to_dict(), 2) + "\n").encode())
    return found


def judged(
    paper: Paper, plans: Mapping[str, PlanRecord], claims: Sequence[Claim] | None = None
) -> Witness:
    """Judge claims by records; by default all of a paper, also those whose plans have none.

    Examples
    --------
    >>> found = judged(load("akella2002"), {})
    >>> {entry.why for entry in found.testimonies}
    {'no runs yet'}
    """
    found = Witness(paper, plans=dict(plans))
    ours, theirs = (
        Data({plan: record.grids[side] for plan, record in plans.items() if record.grids},
             paper.rules)
        for side in witness_records.PROGRAMS
    )  # fmt: skip
    for claim in _claims(paper, None) if claims is None else claims:
        found.testimonies.append(_testimony(paper, claim, ours, theirs, plans))
    return found


def _claims(paper: Paper, ids: Sequence[str] | None) -> list[Claim]:
    """Return the claims about packets; the variants of a claim are not judged."""
    chosen = paper.claims_of(list(paper.experiments) if ids is None else ids)
    plain = [claim.alone for claim in chosen]
    return [claim for claim in plain if claim.plans]


def _without_packets(sweep: Sweep) -> Sweep:
    """Return a sweep whose runs record no trace but rates, which a script prints too."""
    base: dict[str, Any] = sweep.to_dict().get("base", {})
    if "trace" not in base:
        return dataclasses.replace(sweep, count_arrivals=None)
    rates = {key: every for key, every in base["trace"].items() if key == "rate"}
    return dataclasses.replace(
        sweep, base={**base, "trace": rates}, traces=bool(rates), count_arrivals=None
    )


def _run(
    paper: Paper,
    plan: str,
    sweep: Sweep,
    store: Store,
    program: Ns2,
    record: PlanRecord,
    jobs: int | None,
    progress: Tell | None,
) -> None:
    """Run a plan in both programs, and fill its record."""
    from cwndlab.plugins import CellScenarios, Ns2Runs
    from cwndlab.sweeps import run_beside

    both = run_beside(sweep, store, ns=program, jobs=jobs, progress=progress)
    for side, findings, make in (
        ("cwndlab", both.ours, CellScenarios),
        ("ns2", both.theirs, Ns2Runs(program).scenarios),
    ):
        keys = run_keys(findings, make)
        times_s = {entry.key: entry.duration_s for entry in store.records(set(keys))}
        own = own_measures(paper, plan, findings, store, keys) or [{}] * len(keys)
        timed = [{**measured, witness_records.COMPUTED: times_s[key]}
                 for key, measured in zip(keys, own, strict=True)]  # fmt: skip
        record.grids[side] = paper.board(plan, findings, timed)


def expressible(sweep: Sweep) -> tuple[Sweep, dict[str, str]]:
    """Return the part of a sweep that ns-2 can express, and the levels left out, with reasons.

    Raises
    ------
    ScenarioError
        If nothing remains, or of several rules one: claims compare them.
    """
    left_out: dict[str, str] = {}
    for label in level_labels(sweep, RULE):
        try:
            rule_variables(label)
        except ScenarioError as error:
            left_out[label] = str(error)
    remaining = without(sweep, RULE, left_out)
    if left_out and len(kept := level_labels(remaining, RULE)) == 1:
        raise ScenarioError(
            f"ns-2 has only {kept[0]} of the rules that are compared, and lacks "
            f"{', '.join(left_out)}"
        )
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
        remaining = without(remaining, case, reasons)
    return remaining, {**left_out, **reasons}


def _in_settings(sweep: Sweep, claims: Iterable[Claim]) -> Sweep:
    """Return the cells that claims look at: their settings, of a plan that has such axes."""
    names = [axis for axis in ("recovery", "queue") if axis in sweep.axes]
    wanted: set[str] = set()
    for claim in claims:
        given = claim.arguments.get("settings", "all")
        if given == "all":
            return sweep
        against = claim.arguments.get("against", [])
        wanted |= {*given, *([against] if isinstance(against, str) else against)}
    for at, axis in enumerate(names):
        kept = {setting.split("/")[at] for setting in wanted if "/" in setting}
        dropped = [label for label in level_labels(sweep, axis) if kept and label not in kept]
        if dropped and len(dropped) < len(level_labels(sweep, axis)):
            sweep = without(sweep, axis, dropped)
    return sweep


def _testimony(
    paper: Paper, claim: Claim, ours: Data, theirs: Data, plans: Mapping[str, PlanRecord]
) -> Testimony:
    """Judge a claim by both; not where ns-2 lacks what it is about."""
    if any(plan not in plans for plan in claim.plans):
        return Testimony(claim, None, None, NO_RUNS)
    levels = read_scope(paper.key).levels
    if claim.arguments.get("settings") == "all" and any(
        {"recovery", "queue"} & {*levels.get(plan, {})} for plan in claim.plans
    ):
        return Testimony(claim, None, None, FEW_SETTINGS)
    missing = next((plans[plan].refused for plan in claim.plans if plans[plan].refused), None)
    if missing is not None:
        return Testimony(claim, None, None, missing)
    try:
        (own,), (other,) = (judge(paper, [claim], data) for data in (ours, theirs))
    except ScenarioError as error:
        return Testimony(claim, None, None, f"not among the runs: {error}")
    except (ValueError, KeyError, IndexError):
        return Testimony(claim, None, None, "about cells that are not among the decisive ones")
    if own.measured.mean is None or other.measured.mean is None:
        return Testimony(claim, None, None, "ns-2's script does not measure it")
    return Testimony(claim, other, own)


def _open(claim: Claim, *measured: Estimate) -> str:
    """Tell on which sides of the bounds the means of both programs are."""
    sides = {claim.reading.verdict(each, exact=True) for each in measured}
    if len(sides) > 1:
        return OPEN_APART
    return OPEN_WITH if HOLDS in sides else OPEN_AGAINST


def _numbers(judged: Judged) -> dict[str, Any]:
    measured: Estimate = judged.measured
    return {"mean": measured.mean, "ci95": measured.half_width, "verdict": judged.verdict}
