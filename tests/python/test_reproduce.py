"""Papers: readings and verdicts on made-up data, the paper's folder, and the quick form."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from conftest import ROOT
from cwndlab import reproduce
from cwndlab.errors import ScenarioError
from cwndlab.reproduce import Board, Claim, Data, reading, readings
from cwndlab.reproduce.quantities import QUANTITIES, lead
from cwndlab.statistics import Estimate, estimate, jackknife

RULES = ("A", "B", "C")
FOLDER = ROOT / "python/cwndlab/papers/akella2002"
# The catalogue of experiments names these of the paper; "bounds" and "ordering" are in its text.
CATALOGUE = {
    *("fig1a", "fig1b", "fig1c", "fig1d", "fig2a", "fig2b", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9"),
    *("fig10", "fig11", "fig12", "fig14", "ring", "small-buffers", "unequal-rtt", "appendix", "sync"),
    *("bounds", "ordering"),
}  # fmt: skip


def _data(goodput: np.ndarray, loss: np.ndarray | None = None) -> Data:
    """Make the data of one plan, one setting: arrays of shape (environments, rules, replicates)."""
    values = {"goodput": goodput[None], "loss_rate": (goodput if loss is None else loss)[None]}
    cases = tuple(f"e{at}" for at in range(goodput.shape[0]))
    return Data({"plan": Board(("sack/red",), cases, RULES, values)}, {})


def _claim(quantity: str, wanted: str, **arguments) -> Claim:
    given = {"plan": "plan", "metric": "goodput", "settings": "all", "among": RULES, **arguments}
    return Claim("id", "name", "1", "says", reading(wanted), quantity, arguments=given)


def _measured(data: Data, claim: Claim) -> Estimate:
    return data.estimate(lambda chosen: QUANTITIES[claim.quantity](chosen, claim), claim.plans)


def _three(noise: float) -> np.ndarray:
    """Two environments, three rules, four replicates: A 0.9 and 0.5, B 0.8 and 0.6, C 0.7 and 0.1; noise of B alone."""
    level = np.array([[0.9, 0.8, 0.7], [0.5, 0.6, 0.1]])
    whole = np.repeat(level[:, :, None], 4, axis=2)
    whole[:, 1, :] += noise * np.array([1, -1, 1, -1])
    return whole


def test_jackknife_of_a_mean_is_students_interval():
    values = [0.3, 0.9, 0.4, 0.45, 0.7]
    found = jackknife(lambda chosen: float(np.mean([values[at] for at in chosen])), len(values))
    assert found == pytest.approx(estimate(values))


def test_jackknife_covers_a_correlation_about_as_often_as_it_says():
    # 12 pairs each, correlation 0.5; jackknife intervals of correlations are known to cover a little less than 95 %.
    stream, covered = np.random.default_rng(1), 0
    for _ in range(300):
        pairs = stream.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=12)
        mean, width, _ = jackknife(lambda chosen, pairs=pairs: np.corrcoef(pairs[list(chosen)].T)[0, 1], 12)
        covered += abs(mean - 0.5) <= width
    assert 0.86 <= covered / 300 <= 0.99


@pytest.mark.parametrize(
    ("name", "measured", "verdict"),
    [
        ("near-identical", Estimate(0.01, 0.01, 9), "holds"),
        ("near-identical", Estimate(0.01, 0.011, 9), "undecided"),
        ("near-identical", Estimate(0.04, 0.01, 9), "fails"),
        ("better", Estimate(0.0, 0.0, 9), "fails"),
        ("better", Estimate(0.01, 0.005, 9), "holds"),
        ("better", Estimate(0.01, 0.02, 9), "undecided"),
        ("clearly-better", Estimate(0.07, 0.01, 9), "holds"),
        ("clearly-better", Estimate(0.06, 0.02, 9), "undecided"),
        ("clearly-better", Estimate(0.03, 0.01, 9), "fails"),
        ("slightly-above", Estimate(1.1, 0.05, 9), "holds"),
        ("slightly-above", Estimate(1.5, 0.1, 9), "fails"),
        ("slightly-above", Estimate(0.9, 0.05, 9), "fails"),
        ("slightly-above", Estimate(1.2, 0.3, 9), "undecided"),
        ("fair", Estimate(0.1, None, 1), "undecided"),
        ("fair", Estimate(None, None, 0), "undecided"),
    ],
)
def test_verdict_by_the_interval(name, measured, verdict):
    assert reading(name).verdict(measured) == verdict


def test_theory_is_judged_without_an_interval():
    assert reading("fair").verdict(Estimate(0.4, None, 1), exact=True) == "holds"
    assert reading("fair").verdict(Estimate(0.6, None, 1), exact=True) == "fails"


# By hand from `_three`: means A 0.7, B 0.7, C 0.4; distances from the best A 0 and 0.1, B 0.1 and 0, C 0.2 and 0.5.
@pytest.mark.parametrize(
    ("claim", "value"),
    [
        (_claim("lead", "better", of=["A"], over=["C"], by=["D_a"]), 0.3),
        (_claim("lead", "better", of=["A"], over=["C"], by=["C_a"]), 0.4),
        (_claim("lead", "better", of=["A", "B"], over=["C"], by=["C_a", "D_a"]), 0.3),
        (_claim("lead", "better", of=["A"], over=["B", "C"], by=["D_a"]), 0.0),
        (_claim("lead", "better", of=["C"], over=["A"], by=["D_a"], metric="loss_rate"), 0.3),
        (_claim("lead", "better", of=["A"], over=["C"], by=["C_a"], among=["A", "C"]), 0.4),
        (_claim("behind", "near-identical", of=["C"]), 0.3),
        (_claim("behind", "near-identical", of=["A", "B"]), 0.0),
        (_claim("gap", "near-identical", of=["A", "B", "C"]), 0.3),
        (_claim("level", "fair", of=["A", "C"], pick="largest"), 0.7),
        (_claim("level", "fair", of=["A", "C"], pick="smallest"), 0.4),
        (_claim("share", "far-below", of=["C"], over=["A"], pick="largest"), 4 / 7),
        (_claim("above_the_rest", "better", of=["A"], over=["B", "C"]), 0.15),
    ],
)
def test_quantities_by_hand(claim, value):
    assert _measured(_data(_three(0.0)), claim).mean == pytest.approx(value)


def test_quantities_between_settings_by_hand():
    one, two = _three(0.0)[None], _three(0.0)[None] / 2
    values = {"goodput": np.concatenate([one, two]), "loss_rate": np.concatenate([one, two])}
    data = Data({"plan": Board(("sack/red", "reno/red"), ("e0", "e1"), RULES, values)}, {})
    given = {"settings": ["sack/red"], "against": "reno/red", "of": RULES}
    assert _measured(data, _claim("ratio", "well-below", pick="largest", **given)).mean == pytest.approx(2.0)
    assert _measured(data, _claim("ratio", "well-below", together=True, **given)).mean == pytest.approx(2.0)
    assert _measured(data, _claim("change", "better", **given)).mean == pytest.approx(0.3)
    assert _measured(data, _claim("change", "better", metric="loss_rate", **given)).mean == pytest.approx(-0.3)


def test_noise_makes_a_claim_undecided_and_a_missing_value_leaves_it_without_a_number():
    claim = _claim("lead", "clearly-better", of=["B"], over=["C"], by=["D_a"])
    for noise, verdict in ((0.0, "holds"), (0.3, "undecided")):
        assert claim.reading.verdict(_measured(_data(_three(noise)), claim)) == verdict
    missing = _three(0.0)
    missing[0, 1, :] = np.nan
    found = _measured(_data(missing), claim)
    assert (found.mean, claim.reading.verdict(found)) == (None, "undecided")


def test_replicates_are_paired():
    # Luck that rules share cancels in their difference: the interval has width 0, though each rule's own is wide.
    luck = np.array([0.0, 0.2, -0.1, 0.3])
    data = _data(_three(0.0) + luck)
    claim = _claim("lead", "better", of=["A"], over=["C"], by=["D_a"])
    assert _measured(data, claim).half_width == pytest.approx(0.0, abs=1e-12)
    assert _measured(data, _claim("level", "fair", of=["A"], pick="largest")).half_width > 0.2


def test_unknown_names_are_refused_with_those_allowed():
    for call, words in (
        (lambda: reading("rather"), "`rather`.*near-identical"),
        (lambda: reproduce.load("akella"), "`akella`.*akella2002"),
        (lambda: reproduce.choose(["akella2002/fig3"]), "`fig3`.*fig4"),
        (lambda: lead(_data(_three(0)), _claim("lead", "better", of=["A"], over=["D"], by=["D_a"])), "`D`.*A, B, C"),
        (lambda: lead(_data(_three(0)), _claim("lead", "better", of=["A"])), "`over` is missing|`by` is missing"),
    ):
        with pytest.raises(ScenarioError, match=words):
            call()


def test_the_paper_is_whole():
    paper = reproduce.load("akella2002")
    assert set(paper.experiments) == CATALOGUE
    assert {claim.id for claim in paper.claims} == CATALOGUE
    assert {claim.reading.name for claim in paper.claims} == set(readings())
    for claim in paper.claims:
        # Waveforms are lost; everything else is computed.
        is_lost = claim.id in {"fig1a", "fig1b", "fig1c", "fig1d", "fig2a", "fig2b"}
        assert bool(claim.quantity) != is_lost
        assert is_lost or callable(paper.quantity(claim))
    for experiment in paper.experiments.values():
        for kind, module in (("figure", "figures"), ("table", "tables")):
            name = getattr(experiment, kind)
            assert not name or callable(getattr(paper.module(module), name))


def test_the_published_pairs_are_all_there():
    paper = reproduce.load("akella2002")
    with (FOLDER / "published.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 288
    sweep = paper.sweep("appendix")
    rules = {level.label for level in sweep.plan.axes["rule"]}
    assert len(rules) == 36
    assert {row["rule"] for row in rows} == rules
    places = {(row["setting"], row["rule"]) for row in rows}
    assert len(places) == 288
    misprinted = {(row["setting"], row["rule"]) for row in rows if row["misprint"]}
    assert misprinted == {
        ("reno/drr", "MIAD(1.19, 1)"), ("sack/red", "MIMD(1.19, 0.8)"), ("sack/red", "MIMD(1.25, 0.5)"),
    }  # fmt: skip
    # A sum of distances is no less than the largest of them.
    assert all(float(row["D_a"]) >= float(row["C_a"]) for row in rows if not row["misprint"])
    # Cells read off the printed tables, one in each corner of the appendix.
    printed = {(row["setting"], row["rule"]): (row["D_a"], row["C_a"]) for row in rows}
    assert printed["reno/drop-tail", "AIMD(1, 0.5)"] == ("0.19", "0.06")
    assert printed["reno/drop-tail", "MIAD(1.25, 3)"] == ("1.31", "0.31")
    assert printed["sack/drop-tail", "AIAD(3, 2)"] == ("0.15", "0.11")
    assert printed["sack/drr", "MIMD(1.125, 0.8)"] == ("0.60", "0.14")
    assert printed["sack/ecn", "MIAD(1.25, 3)"] == ("0.05", "0.01")


def test_the_papers_own_numbers_bear_its_choice_out():
    # The reading of "near-best in every setting" is met by the numbers the paper chose by.
    own = reproduce.load("akella2002").module("quantities")
    paper = reproduce.load("akella2002")
    for family in own.FAMILIES:
        worst: dict[str, list[float]] = {}
        for row in own.published():
            if row["family"] == family and not row["misprint"]:
                worst.setdefault(row["rule"], []).append(float(row["D_a"]))
        highest = {rule: max(values) for rule, values in worst.items()}
        regret = (highest[paper.rules[family]] - min(highest.values())) / 13
        assert regret <= reading("near-identical").most


def test_correlation_by_hand():
    own = reproduce.load("akella2002").module("quantities")
    # Ranks 1 2 3 4 and 1 3 2 4: 1 - 6 * 2 / (4 * 15) = 0.8.
    assert own.correlation([0.1, 0.2, 0.3, 0.9], [1.0, 3.0, 2.0, 40.0]) == pytest.approx(0.8)
    assert own.correlation([1.0, 1.0], [1.0, 2.0]) == 0.0


def test_a_few_experiments_end_to_end(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "cwndlab", "reproduce", "akella2002/fig1a", "akella2002/bounds", "akella2002/ring",
               "akella2002/unequal-rtt", "--quick", "--out", str(out), "--json"]  # fmt: skip
    first, second = (json.loads(subprocess.check_output(command, text=True, cwd=tmp_path)) for _ in range(2))
    assert first["paper"] == "akella2002"
    assert first["wall_s"] > 0
    assert (first["runs"], first["runs_done_now"], first["runs_failed"]) == (48, 48, 0)
    # Stored runs are not done again, and say the same.
    assert second["runs_done_now"] == 0
    assert second["claims"] == first["claims"]
    for claim in first["claims"]:
        assert {"id", "claim", "statement", "measured", "interval", "verdict"} <= set(claim)
        assert claim["verdict"] in ("holds", "fails", "undecided")
        assert (claim["note"] == "not searched yet") == claim["id"].startswith("fig1")
    by_name = {(claim["id"], claim["claim"]): claim for claim in first["claims"]}
    # Three packets of fifteen are a fifth, of thirty a tenth.
    assert by_name["bounds", "increase"]["measured"] == pytest.approx(0.2)
    assert by_name["bounds", "increase"]["verdict"] == "fails"
    assert by_name["bounds", "decrease"]["verdict"] == "holds"
    ring = by_name["ring", "goodput"]
    assert 0 <= ring["measured"] < 0.5
    assert ring["interval"][0] <= ring["measured"] <= ring["interval"][1]
    page = (out / "akella2002/report.html").read_text()
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert page.count("✗ fails") >= 1
    table = pl.read_parquet(out / "akella2002/ring/data.parquet")
    assert table.filter(metric="goodput")["value"].is_between(0.3, 1.0).all()
    assert (out / "akella2002/ring/plot.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_quick_form_judges_every_claim(tmp_path):
    found = reproduce.reproduce("akella2002", out=tmp_path, quick=True)
    assert len(found.judged) == len(found.paper.claims)
    assert sum(cost.failed for cost in found.costs) == 0
    for entry in found.judged:
        if entry.claim.quantity:
            assert entry.measured.mean is not None, (entry.claim.id, entry.claim.name, entry.note)
    for name, experiment in found.paper.experiments.items():
        assert bool(experiment.table) == (tmp_path / "akella2002" / name / "data.parquet").exists()
    appendix = pl.read_parquet(tmp_path / "akella2002/appendix/data.parquet")
    assert appendix.height == 288
    assert appendix["published_D_a"].null_count() == 3
    # D is a sum of distances, C the largest of them; in each setting and family somebody is best somewhere.
    assert (appendix["D_a"] >= appendix["C_a"]).all()


def test_bad_input_is_one_line(tmp_path):
    for arguments, words in (
        (["nobody2001"], "paper: `nobody2001` is not known; allowed: akella2002"),
        (["akella2002/fig3"], "`fig3` is no experiment"),
        (["akella2002/ring", "--assume", "speed=1"], "`speed` is not an assumption"),
        (["akella2002/ring", "--jobs", "0"], "--jobs"),
    ):
        command = [sys.executable, "-m", "cwndlab", "reproduce", *arguments]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert answer.returncode == 2
        assert words in answer.stderr
        assert answer.stderr.count("\n") == 1
