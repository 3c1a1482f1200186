"""The page of the witness: made of records alone; relations follow from the verdicts of both."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cwndlab.errors import ScenarioError
from cwndlab_papers import load, witness, witness_page, witness_records, witness_scope
from cwndlab_papers.levels import kept
from cwndlab_papers.results_grid import ResultsGrid
from cwndlab_papers.witness_records import COMPUTED, PlanRecord

KEY, PLAN = "psaras2009", "fig1"
# Appendix of akella2002, SACK over DRR.
PRINTED_D_A = {
    "MIMD(1.125, 0.5)": 0.02, "MIMD(1.125, 0.65)": 0.09, "MIMD(1.125, 0.8)": 0.6,
    "MIMD(1.19, 0.5)": 0.08, "MIMD(1.19, 0.65)": 0.57, "MIMD(1.19, 0.8)": 1.51,
    "MIMD(1.25, 0.5)": 1.02, "MIMD(1.25, 0.65)": 1.41, "MIMD(1.25, 0.8)": 1.64,
}  # fmt: skip


def _grid(goodput: tuple[float, float], reductions: tuple[float, float]) -> ResultsGrid:
    """Two increases over three replicates that hardly differ."""
    noise = np.array([-1e-6, 0.0, 1e-6])

    def table(values: tuple[float, float]) -> np.ndarray:
        return np.array(values)[None, None, :, None] + noise

    values = {
        "goodput": table(goodput),
        "flows.flow.window_reductions": table(reductions),
        COMPUTED: np.full((1, 1, 2, 3), 0.5),
    }
    sweep = load(KEY).sweep(PLAN)
    rules = tuple(level.label for level in sweep.plan.axes["rule"])
    cases = tuple(level.label for level in sweep.plan.axes["case"])
    return ResultsGrid(("sack",), cases, rules, values)


def _record(ours: ResultsGrid, theirs: ResultsGrid) -> PlanRecord:
    return PlanRecord("ns2-2009", "ns-2 2.35", 3, grids={"cwndlab": ours, "ns2": theirs})


def test_records_join_settings_and_replace_what_differs(tmp_path):
    grid = _grid((0.9, 0.9), (10.0, 20.0))
    other = dataclasses.replace(grid, settings=("reno",))
    witness_records.write(tmp_path, KEY, {PLAN: _record(grid, grid)})
    witness_records.write(tmp_path, KEY, {PLAN: _record(other, other)})
    (found,) = witness_records.read(tmp_path, KEY).values()
    assert sorted(found.grids["ns2"].settings) == ["reno", "sack"]
    assert found.runs == 12
    assert found.computed_s == {"cwndlab": 6.0, "ns2": 6.0}
    later = dataclasses.replace(_record(grid, grid), profile="ns2-2.35")
    witness_records.write(tmp_path, KEY, {PLAN: later})
    (found,) = witness_records.read(tmp_path, KEY).values()
    assert found.grids["ns2"].settings == ("sack",)
    assert found.profile == "ns2-2.35"


@pytest.mark.parametrize(
    ("ours", "theirs", "relation"),
    [
        ((0.9, 0.9), (0.9, 0.9), witness.BOTH_WITH),
        ((0.9, 0.8), (0.9, 0.8), witness.BOTH_AGAINST),
        ((0.9, 0.8), (0.9, 0.9), witness.ONLY_NS2),
        ((0.9, 0.9), (0.9, 0.8), witness.ONLY_OURS),
    ],
)
def test_who_agrees_with_the_paper(ours, theirs, relation):
    """The claim: both increases have nearly the same goodput."""
    record = _record(_grid(ours, (10.0, 20.0)), _grid(theirs, (10.0, 20.0)))
    found = witness.judged(load(KEY), {PLAN: record})
    relations = {entry.claim.name: entry.relation for entry in found.testimonies
                 if entry.claim.id == "fig1"}  # fmt: skip
    assert relations["goodput"] == relation
    assert sum(found.counts.values()) == len(found.testimonies)
    unjudged = [entry for entry in found.testimonies if entry.relation == witness.NOT_JUDGED]
    assert all(entry.why for entry in unjudged)


def test_the_page_says_what_is_not_there_yet(tmp_path):
    grid = _grid((0.9, 0.8), (10.0, 20.0))
    witness_records.write(tmp_path / witness_page.FOLDER, KEY, {PLAN: _record(grid, grid)})
    text = witness_page.write(tmp_path).read_text()
    assert text == witness_page.write(tmp_path).read_text()
    assert "| fig1 | ns2-2009 | 3 | 6 | 3 | 3 |" in text
    assert "Both contradict the paper" in text
    assert "No runs yet for" in text
    assert text.count("No runs yet.\n") >= 4


def test_orders_of_a_family_beside_the_printed_ones(tmp_path):
    """ns-2 in the printed order of D_a, cwndlab in the reverse one."""
    choices, printed = list(PRINTED_D_A), list(PRINTED_D_A.values())
    theirs = np.array([1.0 - distance / 2 for distance in printed])
    ours = np.array([0.5 + distance / 2 for distance in printed])

    def grid(goodput):
        whole = np.repeat(goodput[None, None, :, None], 2, axis=3)
        return ResultsGrid(("sack/drr",), ("CL",), tuple(choices),
                           {"goodput": whole, COMPUTED: np.full(whole.shape, 0.5)})  # fmt: skip

    record = PlanRecord("ns2-2002", "ns-2 2.35", 2, grids={"cwndlab": grid(ours),
                                                           "ns2": grid(theirs)})  # fmt: skip
    witness_records.write(tmp_path / witness_page.FOLDER, "akella2002", {"appendix": record})
    text = witness_page.write(tmp_path).read_text()
    # Behind the best choice: (0.60 - 0.02) / 2. Where the worst is the best: (1.64 - 0.60) / 2.
    assert "| sack/drr | MIMD(1.125, 0.8) | 0.60 | 0.29 | 0.52 | 0.14 |" in text
    (line,) = [line for line in text.splitlines() if line.startswith("| sack/drr | MIMD | 9 |")]
    assert [cell.strip() for cell in line.split("|")[4:7]] == ["1.00", "-1.00", "-1.00"]
    # Claims about all settings are not judged by one of them.
    reasons = {entry.claim.name: entry.why for entry in witness.judged(
        load("akella2002"), {"appendix": record}).testimonies}  # fmt: skip
    assert reasons["all-round-MIMD"] == witness.FEW_SETTINGS


def test_the_decisive_levels_are_levels_of_the_plans():
    for key in ("akella2002", "attie2003", "chandrayana2002", "psaras2009", "yang2000"):
        scope = witness_scope.read_scope(key)
        for plan in scope.levels:
            whole = load(key).sweep(plan)
            assert scope.decisive(plan, whole).plan.count < whole.plan.count
    wrong, sweep = witness_scope.Scope("ns2-2009", {PLAN: {"rule": ["CUBIC"]}}, {}), load(KEY)
    with pytest.raises(ScenarioError, match=r'fig1\.rule: "CUBIC" is not known'):
        wrong.decisive(PLAN, sweep.sweep(PLAN))


def test_cells_beside_those_of_claims_are_cells_of_the_plan():
    scope = witness_scope.read_scope("akella2002")
    assert scope.beside_of(["representatives"]) == {}
    for name, part in scope.beside_of(["appendix"]).items():
        sweep = kept(load("akella2002").sweep(part.plan), part.levels, name)
        assert {cell.labels["rule"] for cell in sweep.plan.cells()} == set(part.levels["rule"])


def test_the_page_judges_a_claim_over_cells_beside_those_of_its_plan(tmp_path):
    """With twenty flows ns-2 has the order that it has with ten, cwndlab the reverse."""
    paper = load("akella2002")
    rules = tuple(paper.rules[name] for name in ("AIMD", "AIAD", "MIMD", "MIAD"))

    def grid(goodput):
        whole = np.repeat(np.array(goodput)[None, None, :, None], 2, axis=3)
        return ResultsGrid(("sack/drop-tail",), ("CL",), rules,
                           {"goodput": whole, COMPUTED: np.full(whole.shape, 0.5)})  # fmt: skip

    falling, rising = grid([0.9, 0.8, 0.7, 0.6]), grid([0.6, 0.7, 0.8, 0.9])

    def record(ours, theirs):
        return PlanRecord("ns2-2002", "ns-2 2.35", 2, grids={"cwndlab": ours, "ns2": theirs})

    witness_records.write(tmp_path / witness_page.FOLDER, "akella2002", {
        "representatives": record(falling, falling),
        "more-flows-without-drr": record(rising, falling),
    })  # fmt: skip
    text = witness_page.write(tmp_path).read_text().partition("### more-flows-without-drr")[2]
    (line,) = [line for line in text.splitlines() if line.startswith("| ordering/flows | >= 0.7 |")]
    assert line.endswith(f"| {witness.ONLY_NS2} |")


def test_explained_claims_exist():
    for key in ("akella2002", "attie2003", "chandrayana2002", "psaras2009", "yang2000"):
        names = {f"{claim.id}/{claim.name}" for claim in load(key).claims}
        assert names.issuperset(witness_scope.read_scope(key).reasons)
