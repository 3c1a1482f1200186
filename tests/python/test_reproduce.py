"""Papers: readings, quantities and verdicts on made-up data, and what the command refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

import cwndlab_papers as reproduce
from cwndlab.errors import ScenarioError
from cwndlab.statistics import UNBOUNDED, Estimate, bootstrap, estimate, resampled
from cwndlab_papers import Claim, Data, ResultsGrid, paper, reading
from cwndlab_papers.page import number
from cwndlab_papers.quantities import QUANTITIES, lead

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


def _bootstrapped(statistic, values: np.ndarray, bounds=UNBOUNDED) -> Estimate:
    again = [statistic(values[drawn]) for drawn in resampled(len(values), 300)]
    return bootstrap(statistic(values), again, len(values), bounds=bounds)


def test_bootstrap_of_a_mean_is_students_interval():
    values = np.array([0.3, 0.9, 0.4, 0.45, 0.7])
    again = [values[drawn].mean() for drawn in resampled(5, 20_000)]
    assert bootstrap(values.mean(), again, 5) == pytest.approx(estimate(values.tolist()), abs=0.01)


def _order(measured: np.ndarray) -> float:
    """Median over eight sets of Spearman's correlation with an order."""
    order = [0, 1, 3, 2, 5, 4, 6, 8, 7]
    means = rankdata(measured.mean(axis=0), axis=1)
    return float(np.median([np.corrcoef(row, order)[0, 1] for row in means]))


def test_bootstrap_covers_medians_of_orders_where_percentiles_do_not():
    # Nine values a fifth of their noise apart: noise lowers every correlation with the true order.
    true = np.linspace(0, 1.6, 9)
    level = np.broadcast_to(true, (10, 8, 9))
    stream, covered, percentiles = np.random.default_rng(1), 0, 0
    for _ in range(60):
        values = level + stream.normal(size=level.shape)
        found = _bootstrapped(_order, values, bounds=(-1.0, 1.0))
        assert found.high <= 1
        covered += found.low <= _order(level) <= found.high
        again = [_order(values[drawn]) for drawn in resampled(10, 100)]
        percentiles += np.quantile(again, 0.025) <= _order(level) <= np.quantile(again, 0.975)
    assert covered >= 51
    assert percentiles <= 12


def test_bootstrap_covers_the_largest_of_several_means():
    stream, covered = np.random.default_rng(2), 0
    for _ in range(200):
        values = stream.normal([0.0, 0.5, 1.0, 1.5], 1.0, (10, 4))
        found = _bootstrapped(lambda drawn: drawn.mean(axis=0).max(), values)
        covered += found.low <= 1.5 <= found.high
    assert 176 <= covered <= 199


def test_a_censored_number_is_decided_by_the_end_that_is_known():
    # No crossing up to 128 flows: 2 to 2.7 times the printed numbers or more, and of two such
    # crossings nobody knows which is earlier.
    data, claim = _data(_three(0.1)), _claim("value", "about-the-published")
    beyond = data.estimate(lambda _: (128 / 48, np.inf), ["plan"])
    assert (beyond.low, beyond.high) == (pytest.approx(8 / 3), np.inf)
    assert claim.verdict(beyond) == "fails"
    assert number(beyond) == ">= 2.67"
    earlier = data.estimate(lambda _: (-np.inf, np.inf), ["plan"])
    assert _claim("value", "better").verdict(earlier) == "undecided"
    assert number(earlier) == "-"


def test_a_lead_below_its_margin_of_relevance_is_undecided():
    # A tenth of a percentage point of loss, half a point of goodput.
    lost, sent = (_claim("lead", "better", metric=metric) for metric in ("loss_rate", "goodput"))
    assert (lost.margin, sent.margin, lost.bounds) == (0.001, 0.005, "> 0, margin 0.001")
    ahead = Estimate.around(0.003, 0.001, 10)
    assert (lost.verdict(ahead), sent.verdict(ahead)) == ("holds", "undecided")
    behind = Estimate.around(-0.003, 0.001, 10)
    assert (lost.verdict(behind), sent.verdict(behind)) == ("fails", "undecided")


def test_a_number_that_values_were_fitted_on_is_not_judged():
    claim = replace(_claim("value", "better"), tag="fitted")
    assert claim.verdict(Estimate.around(1.0, 0.1, 10)) == "not judged"


def test_claims_are_those_that_were_registered_before_their_runs():
    # After a change of a claim, and before its runs: `python -c "from cwndlab_papers import
    # paper; paper.register()"`, in a commit of its own, with the reason in paper.toml's `changes`.
    assert paper.registered() == {key: reproduce.load(key).claims_hash for key in reproduce.names()}


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
    akella = reproduce.load("akella2002")
    (entry,) = reproduce.running.judge(akella, [claim], _data(_three(0.0)))
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
