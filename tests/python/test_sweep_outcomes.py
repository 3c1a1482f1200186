"""What a sweep says of its runs.

Intervals, targets that are not reached, cells that are one run.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from cwndlab import ScenarioError, Sweep, native
from cwndlab.runs import cell_scenarios, execution, executors
from cwndlab.runs.until import LEAST
from cwndlab.sweeps import SweepResult, execute

FIXED = {
    "duration": "1s",
    "dumbbell": {"rate": "2Mbit", "delay": "5ms", "queue": {"kind": "drop-tail", "limit": "10pkt"}},
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}],
}
DRAWN = {**FIXED, "dumbbell": {**FIXED["dumbbell"], "access_delay": ["1ms", "5ms"]}}
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]


def _sweep(base=DRAWN, **changes) -> Sweep:
    return Sweep.from_dict(
        {"name": "small", "base": base, "replicates": 2, "metrics": ["loss_rate"], **changes}
    )


def _answers(value):
    """An executor that gives `value(scenario)` as the goodput of a run, or fails it where that is
    an error."""

    def execute(tasks):
        template = json.loads(executors.perform(json.dumps(FIXED)).result)
        for place, text in tasks:
            scenario = json.loads(text)
            found = value(scenario)
            error = str(found) if isinstance(found, Exception) else ""
            number = None if error else found
            hashed = f"{hash((number, scenario['seed'])) % 2**63 + 1:016x}"
            run = {
                **template,
                "seed": scenario["seed"],
                "trace_hash": hashed,
                "aggregate_goodput_bps": number,
            }
            yield place, executors.Outcome(json.dumps(run), 0.0, "here", "0", native.build(), error)

    return execute


def test_replicates_that_are_one_run_have_no_interval(tmp_path):
    """Nothing is drawn: five equal numbers say nothing of a spread, and more are not asked for."""
    events: list[dict] = []
    sweep = _sweep(FIXED, axes={"rule": RULES}, until="ci(loss_rate) < 0.0001%", most=50)
    found = sweep.run(tmp_path, progress=events.append)
    assert found.runs.height == 2 * LEAST
    assert found.runs["trace_hash"].n_unique() == 2
    assert found.summary["ci95_low"].to_list() == [None, None]
    assert found.differences()["ci95_high"].to_list() == [None]
    assert found.unmet == []
    (note,) = found.notes
    assert note.startswith(
        "2 cells gave the same run with every seed, the first: rule = AIMD(1, 0.5), in 5 replicates"
    )
    assert "and `until` adds no replicates" in note


def test_equal_numbers_of_different_runs_have_an_interval():
    """Runs without a loss are all alike in that, and differ otherwise.

    The interval is what the formula says.
    """
    base = {
        **DRAWN,
        "dumbbell": {**DRAWN["dumbbell"], "queue": {"kind": "drop-tail", "limit": "1000pkt"}},
    }
    found = _sweep(base, axes={}, replicates=3).run()
    assert found.runs["trace_hash"].n_unique() == 3
    assert found.summary.select("mean", "ci95_low", "ci95_high").rows() == [(0.0, 0.0, 0.0)]
    assert found.notes == []


def test_a_fixed_cell_beside_one_that_is_drawn():
    axes = {
        "spread": {
            "none": {"dumbbell.access_delay": "1ms"},
            "some": {"dumbbell.access_delay": ["1ms", "5ms"]},
        }
    }
    found = _sweep(axes=axes, replicates=4, metrics=["aggregate_goodput_bps"]).run()
    none, some = found.summary.to_dicts()
    assert none["ci95_low"] is None
    assert some["ci95_low"] < some["mean"] < some["ci95_high"]
    # A difference from something fixed varies as the other does.
    assert found.differences()["ci95_high"][0] > found.differences()["ci95_low"][0]
    assert found.notes[0].startswith(
        "1 cell gave the same run with every seed, the first: spread = none, in 4 repl"
    )


def test_cells_that_are_the_same_run_are_said():
    axes = {"duration": ["1s", "1000ms", "2s"], "dumbbell.queue.limit": ["10pkt", "20pkt"]}
    found = _sweep(axes=axes).run()
    assert found.notes == [
        "2 cells are the same run as another one, the first: duration = 1000ms, "
        "dumbbell.queue.limit = 10pkt, which is"
        " duration = 1s, dumbbell.queue.limit = 10pkt: their differences change nothing"
    ]
    assert _sweep(axes={"rule": RULES}).run().notes == []


def test_a_metric_without_values_does_not_count_as_reached():
    metrics = ["aggregate_goodput_bps"]
    axes = {"dumbbell.rate": ["1Mbit", "2Mbit"]}
    sweep = _sweep(axes=axes, metrics=metrics, until="ci(aggregate_goodput_bps) < 1%", most=20)

    def value(scenario):
        return None if scenario["dumbbell"]["rate"] == "1Mbit" else 1e6 + scenario["seed"]

    found = sweep.run(executor=_answers(value))
    assert found.unmet == [
        {"cell": {"dumbbell.rate": "1Mbit"}, "replicates": LEAST, "wide": [], "without": metrics}
    ]  # fmt: skip


def test_replicates_that_fail_are_made_up_for():
    """Of five replicates one fails: four values are too few, and a sixth replicate is done."""
    sweep = _sweep(
        axes={}, metrics=["aggregate_goodput_bps"], until="ci(aggregate_goodput_bps) < 1%", most=20
    )
    for failing in (1, LEAST):
        found = sweep.run(
            executor=_answers(
                lambda scenario, failing=failing: (
                    ValueError("no") if scenario["seed"] == failing else 1e6
                )
            )
        )
        assert len(found.failed) == 1
        assert found.summary["replicates"].to_list() == [6]
        assert found.unmet == []
    none = sweep.run(executor=_answers(lambda _: ValueError("no")))
    assert [(entry["replicates"], entry["without"]) for entry in none.unmet] == [
        (0, ["aggregate_goodput_bps"])
    ]


def test_two_replicates_that_are_nearly_equal_do_not_reach_a_target():
    sweep = _sweep(
        axes={}, metrics=["aggregate_goodput_bps"], until="ci(aggregate_goodput_bps) < 10%", most=20
    )
    found = sweep.run(executor=_answers(lambda scenario: 1e6 + scenario["seed"]))
    assert found.runs.height == LEAST


@pytest.mark.parametrize(("replicates", "most", "least"), [(2, 4, 5), (8, 7, 8), (101, 100, 101)])
def test_most_is_not_below_what_is_done_anyway(replicates, most, least):
    with pytest.raises(
        ScenarioError, match=rf"most: {most} is not valid: expected a whole number from {least}"
    ):
        _sweep(replicates=replicates, until="ci(loss_rate) < 1%", most=most)
    assert (
        _sweep(replicates=replicates, until="ci(loss_rate) < 1%", most=least).first_replicates
        == least
    )


def test_rules_that_go_with_something_else_are_compared_with_it():
    """Along the index of the axes that go together.

    A level is a rule and its rate, and so is the baseline.
    """
    together = {"dumbbell.rate": ["1Mbit", "3Mbit"], "rule": RULES}
    axes = {"dumbbell.queue.limit": ["5pkt", "20pkt"]}
    metrics = ["aggregate_goodput_bps"]
    found = _sweep(axes=axes, zip=[together], replicates=3, metrics=metrics).run()
    assert found.sweep.compared == "dumbbell.rate & rule"
    assert found.sweep.compared_labels == ["1Mbit & AIMD(1, 0.5)", "3Mbit & AIAD(1, 3)"]
    runs = {
        (row["dumbbell.queue.limit"], row["rule"], row["replicate"]): row[metrics[0]]
        for row in found.runs.to_dicts()
    }
    rows = found.differences().to_dicts()
    assert [row["dumbbell.queue.limit"] for row in rows] == ["5pkt", "20pkt"]
    for row in rows:
        assert (row["dumbbell.rate"], row["rule"], row["baseline"]) == (
            "3Mbit",
            "AIAD(1, 3)",
            "1Mbit & AIMD(1, 0.5)",
        )
        limit = row["dumbbell.queue.limit"]
        between = [
            runs[limit, "AIAD(1, 3)", at] - runs[limit, "AIMD(1, 0.5)", at] for at in range(3)
        ]
        assert row["mean"] == pytest.approx(np.mean(between))
    # By the name of a part, or of all; another axis when that is asked for.
    for name in ("rule", "dumbbell.rate", "dumbbell.rate & rule"):
        assert _sweep(axes=axes, zip=[together], compare=name).compared == "dumbbell.rate & rule"
    assert (
        _sweep(axes=axes, zip=[together], compare="dumbbell.queue.limit").compared
        == "dumbbell.queue.limit"
    )
    with pytest.raises(ScenarioError, match=r'compare: "queue" is not known: expected .* rule'):
        _sweep(axes=axes, zip=[together], compare="queue")


@pytest.mark.slow
def test_the_first_of_a_million_cells_begins_at_once(monkeypatch):
    """Before a run is begun few others are got ready, beside the first ten thousand cells, which
    are checked."""
    ready = []

    def counted(document):
        ready.append(document["seed"])
        return json.dumps(document)

    def first_alone(tasks):
        next(iter(tasks))
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(cell_scenarios, "canonical", counted)
    # How many are prepared in one batch of a tenth of a second depends on the machine.
    monkeypatch.setattr(execution, "BATCH_S", 0.0)
    axes = {
        "dumbbell.rate": [f"{number}Mbit" for number in range(1, 101)],
        "dumbbell.delay": [f"{number}ms" for number in range(1, 101)],
        "dumbbell.queue.limit": [f"{number}pkt" for number in range(1, 101)],
    }
    sweep = _sweep(axes=axes)
    with pytest.raises(KeyboardInterrupt):
        execute(sweep, SweepResult(sweep), executor=first_alone)
    assert len(ready) == 10_001


def test_axes_that_are_not_allowed_together_are_refused_before_the_first_run(tmp_path):
    """Also if a thousand runs precede the first cell that is refused."""
    axes = {"duration": ["2s", "5s"], "measure": [["1s", "2s"], ["1s", "4s"]], "rule": RULES}
    events: list[dict] = []
    with pytest.raises(
        ScenarioError,
        match=r"cell duration = 2s, measure = \[.*4s.*\], rule = AIMD\(1, 0.5\): measure",
    ):
        _sweep({**FIXED, "duration": "5s"}, axes={**axes, "duration": ["5s", "2s"]}).run(
            tmp_path, progress=events.append
        )
    assert {event["event"] for event in events} <= {"begin", "checked"}


def test_cells_are_found_by_their_columns():
    together = {"dumbbell.rate": ["1Mbit", "3Mbit"], "flows.a.count": [1, 2]}
    sweep = _sweep(axes={"rule": RULES, "dumbbell.queue.limit": ["5pkt", "20pkt"]}, zip=[together])
    findings = SweepResult(sweep)
    assert [sweep.cell_of(findings.labels(cell)) for cell in range(8)] == list(range(8))
    known = findings.labels(0)
    for other in ({**known, "flows.a.count": "2"}, {**known, "more": "1"}, {"rule": RULES[0]}, {}):
        assert sweep.cell_of(other) is None
