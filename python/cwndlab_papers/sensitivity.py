"""Sensitivity of a paper's verdicts to what the paper leaves open.

One coarse plan runs with the assumed values, and again with one of them changed at a time. Claims
are judged by their means, without intervals, because replicates are few. `paper.toml` says what is
varied::

    [sensitivity]
    plan = "appendix"                     # runs for each value, with:
    stands_for = ["representatives"]      # other plans whose claims its runs can judge
    replicates = 2
    quick = { replicates = 1, duration = "3s" }
    cells = "cell_correlations"           # function(data) of quantities.py: numbers by name
    metrics = [...]
    axes = { rule = [...] }               # instead of the plan's

    [[sensitivity.vary]]
    name = "profile"
    values = [{ profile = "ns2-2000" }]   # an assumption of the environments

    [[sensitivity.measure]]               # no new runs: another metric of the claims
    metric = "goodput"
    instead = ["goodput_left"]

    [[sensitivity.without]]               # no new runs: one case left out at a time
    name = "environment left out"
    cases = ["SQH"]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import ScenarioError
from cwndlab.outputs import stamped
from cwndlab.plugins import dumps, write_whole
from cwndlab.statistics import Bounds, Estimate
from cwndlab_papers.claims import Claim
from cwndlab_papers.paper import Paper, load
from cwndlab_papers.readings import HOLDS
from cwndlab_papers.results_grid import Data, ResultsGrid
from cwndlab_papers.running import opened_runs
from cwndlab_papers.variants import Sensitivity, Variant

if TYPE_CHECKING:
    from distributed import Client

    from cwndlab import Store
    from cwndlab.plugins import Executor

Tell = Callable[[dict[str, Any]], object]
NAME = "sensitivity.json"


def run(
    key: str,
    *,
    out: str | Path = "out/reproduce",
    quick: bool = False,
    store: Store | str | Path | None = None,
    jobs: int | None = None,
    on: str | Client | None = None,
    progress: Tell | None = None,
) -> Sensitivity:
    """Vary what a paper leaves open, one value at a time.

    Finished runs are kept in the store and never done again; ``OUT/KEY/sensitivity.json`` has
    the table, which the paper's report then shows.

    Parameters
    ----------
    key : str
        The paper.
    out : str or Path
        Folder.
    quick : bool
        Even shorter runs, as a test.
    store : Store, str or Path, optional
        Store of finished runs, by default ``OUT/store``.
    jobs : int, optional
        Threads.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Gets the events of the sweeps, and ``{"event": "plan", "plan", "of", "number"}`` before
        each.

    Returns
    -------
    Sensitivity

    Raises
    ------
    ScenarioError
        If there is no such paper, or it has no table of variations.
    """
    began_s = time.perf_counter()
    paper = load(key)
    if not paper.sensitivity:
        raise ScenarioError(
            f"`sensitivity` needs a paper that says what may be varied, and `{key}` does not"
        )
    asked: dict[str, Any] = {**paper.sensitivity, **(paper.sensitivity["quick"] if quick else {})}
    found = Sensitivity(key, quick, asked["replicates"])
    changes: list[tuple[str, str, dict[str, Any]]] = [("", "", {}), *_values(asked)]
    took: dict[str, float] = {}
    with opened_runs(store or Path(out) / "store", jobs, on, progress) as (kept, executor):
        for number, (name, value, assume) in enumerate(changes, 1):
            if progress is not None:
                title = f"{name} = {value}" if name else "as assumed"
                progress({"event": "plan", "plan": title, "number": number, "of": len(changes)})
            board, runs, computed_s, failed = _run(paper, asked, assume, kept, executor, progress)
            found.failed += failed
            took.update(runs)
            data = _data(paper, asked, board)
            found.variants.append(
                Variant(
                    name,
                    value,
                    _met(paper, data),
                    _cells(paper, asked, data),
                    len(runs),
                    sum(runs.values()),
                    computed_s,
                )
            )
            if not name:
                found.variants += _measures(paper, asked, board)
                found.variants += _without(paper, asked, board)
    found.took_s = sum(took.values())
    found.wall_s = time.perf_counter() - began_s
    folder = Path(out) / key
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(
        folder / NAME, (dumps(stamped("sensitivity", found.to_dict()), 2) + "\n").encode("utf-8")
    )
    return found


def is_defined(paper: Paper) -> bool:
    """Whether a paper says what may be varied."""
    return bool(paper.sensitivity)


def _values(asked: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for entry in asked.get("vary", ()):
        for assume in entry["values"]:
            text = ", ".join(
                str(value) if len(assume) == 1 else f"{key} {value}"
                for key, value in assume.items()
            )
            yield entry["name"], text, assume


def _run(
    paper: Paper, asked: Mapping[str, Any], assume: Mapping[str, Any], store: Store,
    executor: Executor,
    progress: Tell | None,
) -> tuple[ResultsGrid, dict[str, float], float, int]:  # fmt: skip
    """Return the data, the seconds of each run by key, those of new runs, and the failure count."""
    from cwndlab.sweeps import Sweep, stored_runs

    whole = paper.sweep(asked["plan"], assume=assume).to_dict()
    whole["name"] += "-sensitivity"
    whole["axes"] = {**whole["axes"], **asked.get("axes", {})}
    whole.update({key: asked[key] for key in ("replicates", "metrics", "duration") if key in asked})
    computed_s = 0.0

    def tell(event: dict[str, Any]) -> None:
        nonlocal computed_s
        if event["event"] == "run":
            computed_s += event["duration_s"]
        if progress is not None:
            progress(event)

    findings = Sweep.from_dict(whole).run(store, executor=executor, progress=tell)
    runs = stored_runs(store, sweep=whole["name"], metrics=whole["metrics"][:1])
    took = dict(zip(runs["key"].to_list(), runs["duration_s"].to_list(), strict=True))
    return paper.board(asked["plan"], findings), took, computed_s, len(findings.failed)


def _data(paper: Paper, asked: Mapping[str, Any], board: ResultsGrid) -> Data:
    return Data(dict.fromkeys((asked["plan"], *asked.get("stands_for", ())), board), paper.rules)


def _measures(paper: Paper, asked: Mapping[str, Any], board: ResultsGrid) -> Iterator[Variant]:
    """Return the variants with another metric of the same runs."""
    for entry in asked.get("measure", ()):
        for other in entry["instead"]:
            values = {**board.values, entry["metric"]: board.values[other]}
            data = _data(
                paper, asked, ResultsGrid(board.settings, board.cases, board.rules, values)
            )
            yield Variant(entry["metric"], other, _met(paper, data), _cells(paper, asked, data))


def _without(paper: Paper, asked: Mapping[str, Any], board: ResultsGrid) -> Iterator[Variant]:
    """Return the variants that leave one case out."""
    for entry in asked.get("without", ()):
        for left_out in entry["cases"]:
            data = _data(paper, asked, board.without(left_out))
            yield Variant(entry["name"], left_out, _met(paper, data), _cells(paper, asked, data))


def _met(paper: Paper, data: Data) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for claim in paper.claims:
        if not is_about(claim, data):
            continue
        found[f"{claim.id}/{claim.name}"] = is_met(claim, paper.quantity(claim)(data, claim))
    return found


def is_about(claim: Claim, data: Data) -> bool:
    """Whether the coarse plan has all data of a claim."""
    asked = claim.arguments.get("settings", "all")
    against: str | Sequence[str] = claim.arguments.get("against", ())
    beside = [against] if isinstance(against, str) else against
    named = set[str]() if asked == "all" else {*asked, *beside}
    return bool(claim.plans) and all(
        plan in data.boards and named <= set(data.boards[plan].settings) for plan in claim.plans
    )


def is_met(claim: Claim, value: float | Bounds) -> bool:
    """Whether a number without an interval lies within a claim's bounds."""
    low, high = value if isinstance(value, tuple) else (value, value)
    return claim.reading.verdict(Estimate(None, low, high, 1)) == HOLDS


def _cells(paper: Paper, asked: Mapping[str, Any], data: Data) -> dict[str, float]:
    return (
        dict(getattr(paper.module("quantities"), asked["cells"])(data)) if "cells" in asked else {}
    )
