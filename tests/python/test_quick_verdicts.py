"""`--quick` never contradicts the full run: what a short run cannot judge is not judged."""

from __future__ import annotations

import numpy as np
import pytest

import cwndlab_papers as reproduce
from conftest import ROOT
from cwndlab_papers import Data, ResultsGrid, running, summary

DECIDED = ("holds", "fails")
RECORDED = summary.read(ROOT / "docs")["papers"]


def contradictions(judged, recorded) -> list[str]:
    """Claims of which a short run says the opposite of the recorded full run."""
    full = {(claim["id"], claim["claim"]): claim["verdict"] for claim in recorded}
    return [
        f"{entry.claim.id}/{entry.claim.name}: {entry.verdict}"
        for entry in judged
        if {entry.verdict, full.get((entry.claim.id, entry.claim.name))} == set(DECIDED)
    ]


# Theory's experiments and the cheapest simulated ones: in every test run.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "ids"),
    [("psaras2009", ["fig1", "fig7", "table2"]), ("attie2003", ["fig9-10"]),
     ("yang2000", ["formula", "fig9", "fig10", "fig11", "kernel"])],
)  # fmt: skip
def test_a_short_run_contradicts_no_recorded_verdict(key, ids, tmp_path):
    found = reproduce.reproduce(key, ids, quick=True, out=tmp_path)
    assert found.judged
    assert not contradictions(found.judged, RECORDED[key]["claims"])


@pytest.mark.nightly
@pytest.mark.parametrize("key", reproduce.names())
def test_no_short_run_contradicts_a_recorded_verdict(key, tmp_path):
    found = reproduce.reproduce(key, quick=True, out=tmp_path)
    assert not contradictions(found.judged, RECORDED[key]["claims"])


def test_a_claim_that_a_short_run_cannot_judge_is_judged_by_the_full_run_alone():
    paper = reproduce.load("psaras2009")
    claim = next(one for one in paper.claims if "short" in one.arguments)
    rules = tuple(paper.rules.values())
    cases = paper.sweep(claim["plan"]).plan.axes["case"]
    shape = (1, len(cases), len(rules), 5)
    grid = ResultsGrid(
        ("sack",), tuple(level.label for level in cases), rules,
        {claim["metric"]: 1.0 + 0.01 * np.random.default_rng(1).random(shape)},
    )  # fmt: skip
    data = Data({claim["plan"]: grid}, paper.rules)
    (full,), (short,) = (
        running.judge(paper, [claim], data, is_quick=is_quick) for is_quick in (False, True)
    )
    assert full.verdict in DECIDED
    assert short.verdict == "not judged"
    assert claim["short"] in short.note
    assert short.measured == full.measured
