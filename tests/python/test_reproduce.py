"""Papers: readings, quantities and verdicts on made-up data, and what the command refuses."""

from __future__ import annotations

import numpy as np
import pytest

from cwndlab import reproduction as reproduce
from cwndlab.errors import ScenarioError
from cwndlab.reproduction import Claim, Data, ResultsGrid, reading
from cwndlab.reproduction.quantities import QUANTITIES, lead
from cwndlab.statistics import Estimate, estimate, jackknife

RULES = ("A", "B", "C")


def _data(goodput: np.ndarray, loss: np.ndarray | None = None) -> Data:
    """Make the data of one plan, one setting: arrays of shape (environments, rules, replicates)."""
    values = {"goodput": goodput[None], "loss_rate": (goodput if loss is None else loss)[None]}
    cases = tuple(f"e{at}" for at in range(goodput.shape[0]))
    return Data({"plan": ResultsGrid(("sack/red",), cases, RULES, values)}, {})


def _claim(quantity: str, wanted: str, **arguments) -> Claim:
    given = {"plan": "plan", "metric": "goodput", "settings": "all", "among": RULES, **arguments}
    return Claim("id", "name", "1", "says", reading(wanted), quantity, arguments=given)


def _measured(data: Data, claim: Claim) -> Estimate:
    return data.estimate(lambda chosen: QUANTITIES[claim.quantity](chosen, claim), claim.plans)


def _three(noise: float) -> np.ndarray:
    """Two environments, three rules, four replicates: A 0.9 and 0.5, B 0.8 and 0.6, C 0.7 and 0.1.

    Noise of B alone.
    """
    level = np.array([[0.9, 0.8, 0.7], [0.5, 0.6, 0.1]])
    whole = np.repeat(level[:, :, None], 4, axis=2)
    whole[:, 1, :] += noise * np.array([1, -1, 1, -1])
    return whole


def test_jackknife_of_a_mean_is_students_interval():
    values = [0.3, 0.9, 0.4, 0.45, 0.7]
    found = jackknife(lambda chosen: float(np.mean([values[at] for at in chosen])), len(values))
    assert found == pytest.approx(estimate(values))


def test_jackknife_covers_a_correlation_about_as_often_as_it_says():
    # 12 pairs each, correlation 0.5; jackknife intervals of correlations are known to cover a
    # little less than 95 %.
    stream, covered = np.random.default_rng(1), 0
    for _ in range(300):
        pairs = stream.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=12)
        found = jackknife(lambda chosen, pairs=pairs: np.corrcoef(pairs[list(chosen)].T)[0, 1], 12)
        covered += found.low <= 0.5 <= found.high
    assert 0.86 <= covered / 300 <= 0.99


@pytest.mark.parametrize(
    ("name", "measured", "verdict"),
    [
        ("near-identical", Estimate.around(0.01, 0.01, 9), "holds"),
        ("near-identical", Estimate.around(0.01, 0.011, 9), "undecided"),
        ("near-identical", Estimate.around(0.04, 0.01, 9), "fails"),
        ("better", Estimate.around(0.0, 0.0, 9), "fails"),
        ("better", Estimate.around(0.01, 0.005, 9), "holds"),
        ("better", Estimate.around(0.01, 0.02, 9), "undecided"),
        ("clearly-better", Estimate.around(0.07, 0.01, 9), "holds"),
        ("clearly-better", Estimate.around(0.06, 0.02, 9), "undecided"),
        ("clearly-better", Estimate.around(0.03, 0.01, 9), "fails"),
        ("slightly-above", Estimate.around(1.1, 0.05, 9), "holds"),
        ("slightly-above", Estimate.around(1.5, 0.1, 9), "fails"),
        ("slightly-above", Estimate.around(0.9, 0.05, 9), "fails"),
        ("slightly-above", Estimate.around(1.2, 0.3, 9), "undecided"),
        ("fair", Estimate(0.1, None, None, 1), "undecided"),
        ("fair", Estimate(None, None, None, 0), "undecided"),
    ],
)
def test_verdict_by_the_interval(name, measured, verdict):
    assert reading(name).verdict(measured) == verdict


def test_theory_is_judged_without_an_interval():
    assert reading("fair").verdict(Estimate(0.4, None, None, 1), exact=True) == "holds"
    assert reading("fair").verdict(Estimate(0.6, None, None, 1), exact=True) == "fails"


# By hand from `_three`: means A 0.7, B 0.7, C 0.4; distances from the best A 0 and 0.1, B 0.1 and
# 0, C 0.2 and 0.5.
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
    data = Data({"plan": ResultsGrid(("sack/red", "reno/red"), ("e0", "e1"), RULES, values)}, {})
    given = {"settings": ["sack/red"], "against": "reno/red", "of": RULES}
    assert _measured(
        data, _claim("ratio", "well-below", pick="largest", **given)
    ).mean == pytest.approx(2.0)
    assert _measured(
        data, _claim("ratio", "well-below", together=True, **given)
    ).mean == pytest.approx(2.0)
    assert _measured(data, _claim("change", "better", **given)).mean == pytest.approx(0.3)
    assert _measured(
        data, _claim("change", "better", metric="loss_rate", **given)
    ).mean == pytest.approx(-0.3)


def test_a_claim_is_judged_beside_without_one_environment():
    # B is 0.1 behind A in e0 and 0.1 ahead in e1.
    claim = _claim(
        "lead", "better", of=["A"], over=["B"], by=["D_a"], also={"without e1": {"without": "e1"}}
    )
    paper = reproduce.load("akella2002")
    (entry,) = reproduce.running.judge(paper, [claim], _data(_three(0.0)))
    assert entry.measured.mean == pytest.approx(0.0)
    measured, verdict = entry.also["without e1"]
    assert (measured.mean, verdict) == (pytest.approx(0.1), "holds")


def test_noise_makes_a_claim_undecided_and_a_missing_value_leaves_it_without_a_number():
    claim = _claim("lead", "clearly-better", of=["B"], over=["C"], by=["D_a"])
    for noise, verdict in ((0.0, "holds"), (0.3, "undecided")):
        assert claim.reading.verdict(_measured(_data(_three(noise)), claim)) == verdict
    missing = _three(0.0)
    missing[0, 1, :] = np.nan
    found = _measured(_data(missing), claim)
    assert (found.mean, claim.reading.verdict(found)) == (None, "undecided")


def test_replicates_are_paired():
    # Luck that rules share cancels in their difference: the interval has width 0, though each
    # rule's own is wide.
    luck = np.array([0.0, 0.2, -0.1, 0.3])
    data = _data(_three(0.0) + luck)
    claim = _claim("lead", "better", of=["A"], over=["C"], by=["D_a"])
    assert _measured(data, claim).half_width == pytest.approx(0.0, abs=1e-12)
    assert _measured(data, _claim("level", "fair", of=["A"], pick="largest")).half_width > 0.2


def test_unknown_names_are_refused_with_those_allowed():
    for call, words in (
        (lambda: reading("rather"), '"rather".*near-identical'),
        (lambda: reproduce.load("akella"), '"akella".*akella2002'),
        (lambda: reproduce.choose(["akella2002/fig3"]), '"fig3".*fig4'),
        (
            lambda: lead(
                _data(_three(0)), _claim("lead", "better", of=["A"], over=["D"], by=["D_a"])
            ),
            '"D".*A, B or C',
        ),
        (
            lambda: lead(_data(_three(0)), _claim("lead", "better", of=["A"])),
            "(over|by) is missing",
        ),
    ):
        with pytest.raises(ScenarioError, match=words):
            call()


def test_claims_about_one_case_look_at_no_other():
    data = _data(_three(0.0))
    claim = _claim("lead", "better", of=["A"], over=["B"], by=["D_a"], cases=["e0"])
    assert _measured(data, claim).mean == pytest.approx(0.1)
    with pytest.raises(ScenarioError, match='case: "e7" is not known: expected e0 or e1'):
        _measured(data, _claim("lead", "better", of=["A"], over=["B"], by=["D_a"], cases=["e7"]))


def test_bad_input_is_one_line(command):
    for arguments, words in (
        (["nobody2001"], 'paper: "nobody2001" is not known: expected akella2002'),
        (["akella2002/fig3"], 'experiment: "fig3" is not known'),
        (["akella2002/ring", "--assume", "speed=1"], 'assume: "speed" is not known'),
        (["akella2002/ring", "--jobs", "0"], "--jobs"),
        (["akella2002/ring", "--replicates", "1"], "--replicates"),
        (["akella2002/ring", "--sensitivity"], "`akella2002/ring` is one experiment"),
        (["akella2002", "--sensitivity", "--replicates", "3"], "--replicates"),
    ):
        answer = command("reproduce", *arguments)
        assert answer.returncode == 2
        assert words in answer.stderr
        assert answer.stderr.count("\n") == 1
