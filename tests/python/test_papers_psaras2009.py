"""psaras2009: its folder is whole, printed numbers are the paper's, fits and measures work on
synthetic data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import cwndlab
import cwndlab_papers as reproduce
from cwndlab_papers import Claim, Data, ResultsGrid, reading
from whole_papers import check_whole

# The catalogue of experiments has these of the paper; `assumed` shows what is left open.
CATALOGUE = {"fig1", "table1", "table2", "fig4", "fig5", "fig6", "fig7"}


@pytest.fixture(scope="module")
def paper():
    return reproduce.load("psaras2009")


def test_the_paper_is_whole(paper):
    check_whole(paper, CATALOGUE)


def test_the_printed_numbers_are_all_there(paper):
    assert Counter(number.claim.id for number in paper.published) == {
        "fig1": 1, "table1": 16, "table2": 10, "fig5": 1, "fig7": 4
    }  # fmt: skip
    printed = {(number.claim.id, number.claim.name): number.value for number in paper.published}
    # Cells read off the printed tables, in each corner.
    assert printed["table1", "retransmissions, 2 flows, a = 0.5"] == 172
    assert printed["table1", "retransmissions, 2 flows, a = 2"] == 742
    assert printed["table1", "retransmissions, 4 flows, a = 1.5"] == 1777
    assert printed["table1", "goodput, 4 flows, a = 1"] == 118.8
    assert printed["table2", "goodput, 2 flows, a = 0.5"] == 44.2
    assert printed["table2", "goodput, 4 flows, a = 5"] == 238.4
    # Each number is looked up in a cell that its plan has, and by the rule that it names.
    for number in paper.published:
        if not number.claim.is_exact:
            axes = paper.sweep(number.claim["plan"]).plan.axes
            cases = {level.label for level in axes["case"]}
            assert set(number.claim.arguments.get("cases", cases)) <= cases
            assert paper.rules[number.claim["of"][0]] in {level.label for level in axes["rule"]}


def test_a_packet_of_the_assumed_size_carries_the_printed_goodput():
    """Section 2.1 prints 118.9 KB/s at 1 Mb/s.

    1000 of 1050 bytes are 119.05 KB/s, less a start of up to a second.
    """
    base = {
        "duration": "60s", "profile": "ns2-2.35",
        "tcp": {"window": 1e6, "initial_ssthresh": 1e6, "timestamps": True},
        "dumbbell": {"rate": "1Mbit", "delay": "20ms", "queue": {"kind": "red", "limit": "25pkt"}},
        "flows": [{"rule": "AIMD(1, 0.5)", "count": 2}], "measure": ["5s", "60s"],
    }  # fmt: skip
    assert cwndlab.run(base).fields["aggregate_goodput_bps"] / 8000 == pytest.approx(
        119.05, rel=0.005
    )


@pytest.mark.parametrize(("rule", "increase"), [("AIMD(1, 0.5)", 1.0), ("AIMD(2, 0.5)", 2.0)])
def test_the_increase_is_read_off_windows(paper, rule, increase):
    """Of rules whose increase is fixed it comes out as that, whatever is lost."""
    base = {
        "duration": "15s", "profile": "ns2-2.35", "tcp": {"window": 1e6, "initial_ssthresh": 1e6},
        "dumbbell": {"rate": "4Mbit", "delay": "20ms", "loss": [{"kind": "bernoulli", "p": 0.01}]},
        "flows": [{"rule": rule, "count": 3}], "trace": {"cwnd": "all"},
    }  # fmt: skip
    found = paper.module("measures").mean_increase({}, {"cwnd": cwndlab.run(base).traces["cwnd"]})
    assert found["increase"] == pytest.approx(increase, rel=1e-6)


def test_the_increase_of_a_made_up_trace_by_hand(paper):
    # At 10 packets 0.1 more: a = 1. Then 10.1 to 10.4: a = 3.03, for three times as long. Cuts and
    # slow start are out.
    rows = [
        (9.0, 10.0, 5.0),
        (9.5, 10.1, 5.0),
        (11.0, 10.4, 5.0),
        (11.5, 5.2, 5.2),
        (12.0, 3.0, 5.2),
        (12.1, 4.0, 5.2),
    ]
    cwnd = pl.DataFrame(
        [(time, "a", window, threshold) for time, window, threshold in rows],
        schema=["time_s", "flow", "cwnd_packets", "ssthresh_packets"],
        orient="row",
    )
    found = paper.module("measures").mean_increase({}, {"cwnd": cwnd})
    assert found["increase"] == pytest.approx((1.0 * 0.5 + 3.03 * 1.5) / 2.0)
    assert np.isnan(paper.module("measures").mean_increase({}, {"cwnd": cwnd.clear()})["increase"])


def test_the_fit_finds_a_delay_that_is_known(paper):
    # Goodput falls with the round trip as a power law; the printed numbers are those at 33 ms,
    # which was not run.
    delays = np.array([1.0, 6.0, 16.0, 40.0, 80.0])
    levels = np.array([40.0, 90.0, 200.0])
    goodputs = levels / (2 * (delays[:, None] + 20)) ** 0.9
    targets = levels / (2 * (33.0 + 20)) ** 0.9
    delay, misfit = paper.module("quantities").fit(delays, goodputs, targets)
    assert delay == pytest.approx(33, abs=0.1)
    assert misfit < 1e-3
    # Numbers that no delay fits: a third too high and a third too low.
    delay, misfit = paper.module("quantities").fit(
        delays, goodputs[:, :2], targets[:2] * np.array([1.5, 1 / 1.5])
    )
    assert delay == pytest.approx(33, abs=0.1)
    assert misfit == pytest.approx(np.log(1.5), rel=1e-3)


def test_orders_of_increases_by_hand(paper):
    rules = ("A", "B", "C")
    values = {"goodput": np.array([[[[1.0], [2.0], [3.0]], [[2.0], [2.2], [2.1]]]])}
    data = Data({"p": ResultsGrid(("sack/red",), ("2", "4"), rules, values)}, {})
    given = {"plan": "p", "metric": "goodput", "settings": "all", "of": rules, "cases": ["2"]}

    def measured(quantity: str, **changes: object) -> float:
        claim = Claim("x", "x", "", "", reading("more"), quantity, arguments={**given, **changes})
        return paper.quantity(claim)(data, claim)

    assert measured("rising") == pytest.approx(1.5)
    assert measured("rising", cases=["2", "4"]) == pytest.approx(2.1 / 2.2)
    assert measured("spread", cases=["2", "4"]) == pytest.approx(2.0)
    assert measured("contention", of=["C"]) == pytest.approx(0.7)
    assert measured("increase_ratio", of=["B"], cases=["4", "2"]) == pytest.approx(1.1)
    assert measured("value", of=["A", "C"], pick="mean", scale=2.0) == pytest.approx(4.0)


def test_growth_beside_hand_arithmetic(paper):
    """Equation 1 once a round trip from 20: 21.5, 23.5, 26, 29, 32.5, 36.5, 41.

    Equation 3: 21.5, 24, 28, 34, 42.5.
    """
    model = paper.module("model")
    assert model.rounds_to_double("per round trip", 0.5) == 7
    assert model.rounds_to_double("equation 3", 0.5) == 5
    assert model.rounds_to_double("per round trip", 0.0) == 20
    # Sawtooths from 20 to 40: a cut every 20 round trips for a = 1, every 40 for a = 0.5; the mean
    # is 30 of 40.
    assert model.events_per_round_trip(1) == pytest.approx(1 / 20)
    assert model.events_per_round_trip(0.5) == pytest.approx(1 / 40)
    assert model.sawtooth(0.5).efficiency(cycles=4) == pytest.approx(0.75)


@pytest.mark.slow
def test_a_few_experiments_in_the_quick_form(tmp_path):
    found = reproduce.reproduce("psaras2009", ["fig1", "fig5"], out=tmp_path, quick=True)
    assert sum(cost.failed for cost in found.costs) == 0
    assert all(entry.measured.mean is not None for entry in found.judged)
    by_name = {(entry.claim.id, entry.claim.name): entry.measured.mean for entry in found.judged}
    # One flow has the link for itself whatever its increase, and MR-AIMD's increase grows where
    # errors are few.
    assert by_name["fig1", "goodput"] < 0.02
    assert by_name["fig5", "increase"] > 1
    beside = {entry.printed.claim.name: entry for entry in found.beside}
    assert set(beside) == {"congestion events, a = 1 over a = 0.5", "largest gain of goodput"}
    assert beside["largest gain of goodput"].ours.count == 2
    page = (tmp_path / "psaras2009/report.html").read_text()
    assert "largest gain of goodput" in page
    assert "the paper prints" in page
    # Nothing is over environments: what they assume is no assumption of this paper.
    assert "test flows" not in page
    assert (
        pl.read_parquet(tmp_path / "psaras2009/fig5/data.parquet").filter(metric="increase").height
        == 6
    )
