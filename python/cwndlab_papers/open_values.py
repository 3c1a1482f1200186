"""Readings of a paper: verdicts over all values that it leaves open, changed together.

``open-values.toml`` of a paper has these values with their choices and reasons, written down before
the runs. A reading takes one choice of each, by a Latin hypercube; reading 0 is what the paper's
plans assume. A coarse plan runs under every reading, and claims are judged by their means::

    plans = ["appendix"]                  # run under every reading, with:
    stands_for = ["representatives"]      # other plans whose claims their runs can judge
    readings = 20
    seed = 2002
    replicates = 1
    axes = { rule = [...] }               # instead of the plans'

    [levels.appendix]                     # of a plan, the levels that run; all without it
    queue = ["red"]

    [[value]]
    name = "round trip"
    choices = [{ rtt = "120ms" }, { rtt = "60ms" }]
    reason = "..."                        # keys of the environments, or keys of a scenario

A plan whose scenarios are written out takes the dotted keys of a scenario; `queue.KIND.KEY` in
every queue of a kind at the bottleneck; and `count_arrivals` of the sweep. Keys of groups of flows
and of cross traffic that it lacks do not concern it::

    [[value]]
    name = "RED thresholds"
    choices = [{ "queue.red.min" = "5pkt", "queue.red.max" = "15pkt" }, { ... }]

    [fit]
    function = "misfit"                   # of quantities.py: (data, settings) -> numbers by name
    half = ["reno/drop-tail", ...]        # settings whose printed numbers choose a reading
    held = ["sack/drop-tail", ...]        # settings whose printed numbers judge it

`cwndlab reproduce PAPER/ID --reading N` runs plans under one of the readings, with all of their
rules, in the settings of the coarse plan.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cwndlab import ScenarioError
from cwndlab.outputs import stamped
from cwndlab.plugins import dumps, invalid, write_whole
from cwndlab.statistics import Bounds
from cwndlab_papers.claims import FITTED, Claim
from cwndlab_papers.levels import changed, kept
from cwndlab_papers.paper import Paper, load
from cwndlab_papers.readings import read_toml
from cwndlab_papers.results_grid import RULE, Data
from cwndlab_papers.running import Tell, opened_runs, own_measures, run_keys
from cwndlab_papers.sensitivity import is_about, is_met

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab import Store
    from cwndlab.plugins import Executor
    from cwndlab.sweeps import Sweep

FILE = "open-values.toml"
NAME = "readings.json"
ROBUST, REFUTED = "robust", "refuted"
DEPENDS = "depends on"
FEW = 0.1
"""Share of readings up to which a claim counts as refuted, and from 1 - `FEW` on as robust."""
PERMUTATIONS = 2000
LEVEL = 0.05
PARTS = {"half": "fitted half", "held": "held half"}
PAIRS = "pairs"
"""Name of the number of printed pairs among the scores of a misfit."""


@dataclass(frozen=True)
class OpenValue:
    """A value that a paper leaves open, with its choices."""

    name: str
    choices: Sequence[Mapping[str, Any]]
    reason: str

    def text(self, choice: int) -> str:
        """Write a choice.

        Examples
        --------
        >>> OpenValue("RED", [{"red_min": "5pkt", "red_max": "15pkt"}], "").text(0)
        'red_min 5pkt, red_max 15pkt'
        >>> OpenValue("round trip", [{"rtt": "60ms"}], "").text(0)
        '60ms'
        >>> OpenValue("starts", [{"flows.tcp.start": ["0s", "1s"]}], "").text(0)
        '0s to 1s'
        >>> OpenValue("RED", [{"queue.red.gentle": True}], "").text(0)
        'gentle True'
        """
        chosen = {
            key.rpartition(".")[2]: _said(value) for key, value in self.choices[choice].items()
        }
        if len(chosen) == 1 and not {"True", "False"} & {*chosen.values()}:
            return next(iter(chosen.values()))
        return ", ".join(f"{key} {value}" for key, value in chosen.items())


@dataclass
class PaperReading:
    """One choice of every open value, and what its runs say.

    Attributes
    ----------
    number : int
        0 is what the plans assume.
    choices : sequence of int
        Choice of each open value; empty for reading 0.
    measured : mapping of str to (float, float)
        ``ID/claim`` to the ends of its number.
    met : mapping of str to bool
        Whether the number lies within the claim's bounds.
    misfit : mapping of str to mapping
        ``half`` and ``held`` to the differences from printed numbers.
    """

    number: int
    choices: Sequence[int]
    measured: dict[str, Bounds] = field(default_factory=dict[str, Bounds])
    met: dict[str, bool] = field(default_factory=dict[str, bool])
    misfit: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


@dataclass
class Readings:
    """All readings of a paper, and what they say of each claim."""

    paper: str
    is_quick: bool
    values: Sequence[OpenValue]
    drawn: int = 0
    """Readings of the hypercube, of which `readings` may have a part."""
    readings: list[PaperReading] = field(default_factory=list[PaperReading])
    runs: int = 0
    failed: int = 0
    computed_s: float = 0.0
    """Processor seconds of the new runs."""
    wall_s: float = 0.0

    @property
    def fitted(self) -> PaperReading | None:
        """The reading that fits the printed numbers of the first half best."""
        known = [entry for entry in self.readings if entry.misfit]
        return min(known, key=lambda entry: entry.misfit["half"]["all"], default=None)

    def claim(self, name: str) -> dict[str, Any]:
        """Say in which share of the readings a claim is met, what decides it, and its class."""
        known = [entry for entry in self.readings if name in entry.met]
        share = sum(entry.met[name] for entry in known) / len(known)
        chances = self._chances(name, [entry for entry in known if entry.choices])
        best = min(chances, key=lambda value: chances[value])
        decisive = best if chances[best] * len(chances) < LEVEL else None
        return {
            "claim": name,
            "share": share,
            "readings": len(known),
            "as_assumed": self.readings[0].met.get(name),
            "decisive": decisive,
            "chances": chances,
            "class": _class(share, decisive),
        }

    def _chances(self, name: str, drawn: Sequence[PaperReading]) -> dict[str, float]:
        """Chance, for each value, that a claim's number hangs on it as clearly by luck alone."""
        ranks = _ranks([_middle(entry.measured[name]) for entry in drawn])
        return {
            value.name: _chance(ranks, np.array([entry.choices[at] for entry in drawn]))
            for at, value in enumerate(self.values)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all readings as plain data."""
        names = list(dict.fromkeys(name for entry in self.readings for name in entry.met))
        fitted = self.fitted
        return {
            "paper": self.paper,
            "quick": self.is_quick,
            "drawn": self.drawn,
            "values": [
                {
                    "name": value.name,
                    "choices": [value.text(at) for at in range(len(value.choices))],
                    "reason": value.reason,
                }
                for value in self.values
            ],
            "claims": [self.claim(name) for name in names],
            "readings": [
                {
                    "number": entry.number,
                    "values": {
                        value.name: value.text(choice)
                        for value, choice in zip(self.values, entry.choices, strict=False)
                    },
                    "met": sum(entry.met.values()),
                    "misfit": entry.misfit,
                }
                for entry in self.readings
            ],
            "fitted": None if fitted is None else fitted.number,
            "runs": self.runs,
            "runs_failed": self.failed,
            "computed_s": self.computed_s,
            "wall_s": self.wall_s,
        }


def reading_name(number: int) -> str:
    """Name a reading.

    Examples
    --------
    >>> reading_name(0), reading_name(6)
    ('as assumed', 'reading 6')
    """
    return f"reading {number}" if number else "as assumed"


def is_defined(paper: Paper) -> bool:
    """Whether a paper's open values are written down."""
    return (paper.folder / FILE).is_file()


def read(paper: Paper, *, quick: bool = False) -> tuple[dict[str, Any], list[OpenValue]]:
    """Read what a paper's readings run, and its open values.

    Raises
    ------
    ScenarioError
        If the paper has none.
    """
    if not is_defined(paper):
        raise ScenarioError(
            f"`readings` needs a paper with `{FILE}`, and `{paper.key}` does not have it"
        )
    asked = read_toml(paper.folder / FILE)
    asked.update(asked.get("quick", {}) if quick else {})
    return asked, [OpenValue(**entry) for entry in asked["value"]]


def hypercube(values: Sequence[OpenValue], count: int, seed: int) -> list[list[int]]:
    """Draw readings: of each value every choice equally often, in an order of its own.

    Returns
    -------
    list of list of int
        Choices of each reading.

    Examples
    --------
    >>> rtt = OpenValue("round trip", [{"rtt": "120ms"}, {"rtt": "60ms"}], "")
    >>> sorted(choice for (choice,) in hypercube([rtt], 6, seed=1))
    [0, 0, 0, 1, 1, 1]
    """
    from scipy.stats import qmc

    drawn = qmc.LatinHypercube(len(values), rng=seed).random(count)
    sizes = [len(value.choices) for value in values]
    return [[int(part * size) for part, size in zip(row, sizes, strict=True)] for row in drawn]


def run(
    key: str,
    *,
    out: str | Path = "out/reproduce",
    quick: bool = False,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Tell | None = None,
) -> Readings:
    """Judge a paper's claims under many readings of what it leaves open.

    Finished runs are kept in the store and never done again; ``OUT/KEY/readings.json`` has the
    result.

    Parameters
    ----------
    key, out, quick, store, jobs, on, progress
        As in `cwndlab_papers.sensitivity.run`.

    Raises
    ------
    ScenarioError
        If there is no such paper, or it has no open values.
    """
    began_s = time.perf_counter()
    paper = load(key)
    asked, values = read(paper, quick=quick)
    found = Readings(key, quick, values, asked["readings"])
    drawn = [[], *hypercube(values, asked["readings"], asked["seed"])]
    with opened_runs(store or Path(out) / "store", jobs, on, progress) as (kept, executor):
        for number, choices in enumerate(drawn):
            entry = PaperReading(number, choices)
            changes = changes_of(values, choices)
            data = Data(_boards(found, paper, asked, entry, changes, kept, executor, progress),
                        paper.rules)  # fmt: skip
            _judge(paper, entry, data)
            if "fit" in asked:
                entry.misfit = misfit(paper, data, asked)
            found.readings.append(entry)
    found.wall_s = time.perf_counter() - began_s
    folder = Path(out) / key
    folder.mkdir(parents=True, exist_ok=True)
    text = dumps(stamped("readings", found.to_dict()), 2) + "\n"
    write_whole(folder / NAME, text.encode("utf-8"))
    return found


def changes_of(values: Sequence[OpenValue], choices: Sequence[int]) -> dict[str, Any]:
    """Return the keys and values of a reading's choices."""
    pairs = zip(values, choices, strict=False)
    return {key: item for value, at in pairs for key, item in value.choices[at].items()}


def assumptions_of(key: str, number: int) -> dict[str, Any]:
    """Return what a reading of a paper assumes of the environments.

    Parameters
    ----------
    key : str
        The paper.
    number : int
        The reading; 0 is what the plans assume.

    Raises
    ------
    ScenarioError
        If the paper has no such reading, or one that changes more than its environments.

    Examples
    --------
    >>> assumptions_of("akella2002", 0)
    {}
    >>> assumptions_of("akella2002", 6)["rtt"]
    '60ms'
    """
    from cwndlab.environments import Assumptions

    asked, values = read(load(key))
    drawn = hypercube(values, asked["readings"], asked["seed"])
    if number > len(drawn):
        raise ScenarioError(invalid("reading", number, f"a whole number from 0 to {len(drawn)}"))
    changes = changes_of(values, drawn[number - 1]) if number else {}
    Assumptions().with_(**changes)
    return changes


def settings_of(key: str) -> dict[str, dict[str, Any]]:
    """Return the axes of settings of a paper's coarse plans, by plan.

    Examples
    --------
    >>> settings_of("akella2002")
    {'appendix': {'queue': ['drop-tail', 'red', 'ecn']}}
    """
    asked = read(load(key))[0]
    axes = {name: levels for name, levels in asked.get("axes", {}).items() if name != RULE}
    return dict.fromkeys(asked["plans"], axes)


def misfit(
    paper: Paper, data: Data, asked: Mapping[str, Any] | None = None
) -> dict[str, dict[str, float]]:
    """Return differences from printed numbers, by part of `PARTS`; none without such numbers.

    A part has those of its settings that are in the data.
    """
    if asked is None:
        asked = read(paper)[0] if is_defined(paper) else {}
    if "fit" not in asked or any(plan not in data.boards for plan in asked["plans"]):
        return {}
    function = getattr(paper.module("quantities"), asked["fit"]["function"])
    known = {name for plan in asked["plans"] for name in data.boards[plan].settings}
    chosen = {part: [name for name in asked["fit"].get(part, ()) if name in known]
              for part in PARTS}  # fmt: skip
    return {part: function(data, names) for part, names in chosen.items() if names}


def _boards(
    found: Readings, paper: Paper, asked: Mapping[str, Any], entry: PaperReading,
    changes: Mapping[str, Any], store: Store, executor: Executor, progress: Tell | None,
) -> dict[str, Any]:  # fmt: skip
    """Run the plans under a reading, and return their grids by the plans that they stand for."""
    boards: dict[str, Any] = {}

    def tell(event: dict[str, Any]) -> None:
        if event["event"] == "run":
            found.computed_s += event["duration_s"]
        if progress is not None:
            progress(event)

    for plan in asked["plans"]:
        if progress is not None:
            title = f"{plan}, {f'reading {entry.number}' if entry.number else 'as assumed'}"
            progress({"event": "plan", "plan": title, "number": entry.number + 1,
                      "of": asked["readings"] + 1})  # fmt: skip
        sweep = sweep_of(paper, plan, asked, changes, f"-reading-{entry.number}")
        findings = sweep.run(store, executor=executor, progress=tell)
        found.runs += len(findings)
        found.failed += len(findings.failed)
        own = own_measures(paper, plan, findings, store, run_keys(findings))
        boards[plan] = paper.board(plan, findings, own)
    first = boards[asked["plans"][0]]
    return {**dict.fromkeys(asked.get("stands_for", ()), first), **boards}


def sweep_of(
    paper: Paper, plan: str, asked: Mapping[str, Any], changes: Mapping[str, Any], name: str = ""
) -> Sweep:
    """Return the coarse sweep of a plan with changed values; `name` ends its name."""
    from cwndlab.sweeps import Sweep

    own = read_toml(paper.folder / "plans" / f"{plan}.toml")
    is_environments = "env" in own.get("axes", {})
    sweep = paper.sweep(plan, assume=changes if is_environments else None)
    whole = kept(sweep, asked.get("levels", {}).get(plan, {}), f"{FILE}: {plan}").to_dict()
    if not is_environments:
        whole = changed(whole, changes)
    whole["axes"] = {**whole["axes"], **asked.get("axes", {})}
    whole["name"] += name
    keys = ("replicates", "metrics", "duration")
    return Sweep.from_dict({**whole, **{key: asked[key] for key in keys if key in asked}})


def _judge(paper: Paper, entry: PaperReading, data: Data) -> None:
    for claim in (each.alone for each in paper.claims):
        if not is_about(claim, data) or claim.tag == FITTED:
            continue
        try:
            ends = _ends(paper, claim, data)
        except (ScenarioError, ValueError):
            continue  # It looks at a level that the coarse plan lacks.
        if not math.isnan(ends[0]):
            name = f"{claim.id}/{claim.name}"
            entry.measured[name] = ends
            entry.met[name] = is_met(claim, ends)


def _ends(paper: Paper, claim: Claim, data: Data) -> Bounds:
    value = paper.quantity(claim)(data, claim)
    return value if isinstance(value, tuple) else (value, value)


def _middle(ends: Bounds) -> float:
    known = [end for end in ends if math.isfinite(end)]
    return sum(known) / len(known) if known else 0.0


def _said(value: Any) -> str:
    """Write a value, or the ends of an interval."""
    return (
        " to ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)
    )


def _ranks(values: Sequence[float]) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(values)


def _chance(ranks: np.ndarray, choices: np.ndarray) -> float:
    """Chance that ranks differ so much between choices by luck alone, by permutation."""
    shuffled = np.random.default_rng(1).permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1)
    between = np.zeros(PERMUTATIONS + 1)
    for rows in (np.vstack([ranks, shuffled])[:, choices == at] for at in np.unique(choices)):
        between += rows.shape[1] * (rows.mean(axis=1) - ranks.mean()) ** 2
    hits = int(np.sum(between[1:] >= between[0] - 1e-9))
    return (hits + 1) / (PERMUTATIONS + 1)


def _class(share: float, decisive: str | None) -> str:
    if share >= 1 - FEW:
        return ROBUST
    if share <= FEW:
        return REFUTED
    return f"{DEPENDS} {decisive or 'the reading'}"
