"""Known results: the facts are whole, verdicts follow from values, measures read traces rightly,
and the quick part gives the verdicts of the record."""

from __future__ import annotations

import re
from types import SimpleNamespace

import polars as pl
import pytest

from conftest import ROOT
from cwndlab import known_results, native
from cwndlab.errors import ScenarioError
from cwndlab.known_results import measures, packet_traces, page, pair_traces, record, window_traces
from cwndlab.known_results.checking import Checked
from cwndlab.known_results.fact import FAILS, HOLDS, UNDECIDED, Band
from cwndlab.statistics import Estimate

FACTS = known_results.select()
DOCS = ROOT / "docs"
RECORD = record.read(DOCS)
RECORDED = {entry["fact"]: entry for entry in RECORD["facts"]}


# The facts


def test_there_are_many_facts_of_every_theme_and_their_names_differ():
    assert len(FACTS) >= 60
    assert {fact.theme for fact in FACTS} == set(known_results.THEMES)
    assert len({fact.id for fact in FACTS}) == len(FACTS)
    assert sum(fact.quick for fact in FACTS) >= 30


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.id)
def test_a_fact_is_whole(fact):
    assert re.fullmatch(r"[a-z0-9-]+", fact.name)
    assert fact.statement.endswith(".")
    assert len(fact.statement) < 160
    # A source that can be found: a year, an RFC, a draft or a function of Linux.
    assert re.search(r"\b(?:19|20)\d\d\b|RFC \d+|draft-|Linux [a-zA-Z_]+|[Dd]efinition|Sizes",
                     fact.source)  # fmt: skip
    # The expected value is explained in words and numbers.
    assert len(fact.why) > 40
    assert fact.expected.low <= fact.expected.high
    # The default profile must not change a fact.
    assert fact.base["profile"] in ("linux", "rfc", "ns2-2.35")
    assert (
        fact.measure["of"] in measures.MEASURES
        or "." in fact.measure["of"]
        or (fact.measure["of"] in ("jain_index", "aggregate_goodput_bps"))
    )
    for cell in fact.cells:
        fact.cell_scenario(cell, 0)
    assert (len(fact.cells) > 1) == ("over" in fact.measure)
    assert (fact.measure.get("over") == "exponent") == all(cell.x for cell in fact.cells)


def test_replicates_differ_where_there_are_several():
    """Equal values throughout would have an interval without width; counts may be equal."""
    for fact in FACTS:
        values = RECORDED[fact.id]["values"]
        assert len(values) == fact.replicates, fact.id
        if fact.replicates > 1 and any(value % 1 for value in values):
            assert len(set(values)) > 1, fact.id


def test_an_unknown_fact_is_refused_with_the_nearest_one():
    with pytest.raises(ScenarioError, match=r"did you mean recovery/tail-loss-two\?"):
        known_results.select(["recovery/tail-loss-tow"])
    with pytest.raises(ScenarioError, match=r"did you mean queues\?"):
        known_results.check("queus")


# Verdicts


@pytest.mark.parametrize(
    ("expected", "measured", "verdict"),
    [
        ({"value": 10, "absolute": 1}, Estimate.around(10.5, 0.4, 5), HOLDS),
        ({"value": 10, "absolute": 1}, Estimate.around(10.5, 0.6, 5), UNDECIDED),
        ({"value": 10, "absolute": 1}, Estimate.around(12.0, 0.9, 5), FAILS),
        ({"value": 10, "relative": 0.1}, Estimate(11.0, None, None, 1), HOLDS),
        ({"value": 0.3, "absolute": 0}, Estimate(0.1 + 0.2, None, None, 1), HOLDS),
        ({"value": 10, "absolute": 0}, Estimate(10.01, None, None, 1), FAILS),
        ({"most": 2}, Estimate.around(1.0, 0.5, 5), HOLDS),
        ({"most": 2}, Estimate.around(2.0, 0.5, 5), UNDECIDED),
        ({"least": 2}, Estimate.around(1.0, 0.5, 5), FAILS),
        ({"low": 1, "high": 2}, Estimate.around(1.5, 3.0, 5), UNDECIDED),
        ({"low": 1, "high": 2}, Estimate(None, None, None, 0), FAILS),
        ({"value": -0.5, "relative": 0.1}, Estimate(-0.54, None, None, 1), HOLDS),
    ],
)
def test_verdict_of_a_mean_with_its_interval(expected, measured, verdict):
    assert Band.of(expected).verdict(measured) == verdict


@pytest.mark.parametrize("given", [{"value": 1}, {"low": 2, "high": 1}, {"most": 1, "least": 0}])
def test_an_expectation_of_another_form_is_refused(given):
    with pytest.raises(ScenarioError, match="expected"):
        Band.of(given)


def test_a_replicate_without_a_value_is_a_fault():
    fact = known_results.fact("buffers/reno-1-bdp")
    assert Checked.of(fact, [1.0, None, 1.0]).verdict == FAILS
    assert Checked.of(fact, [0.995, 0.9951, 0.9952]).verdict == HOLDS


def test_counts_have_an_interval_that_stays_above_zero():
    """Three counts far apart: the symmetric interval would reach below 0, and decide nothing."""
    fact = known_results.fact("recovery/rack-reordering")
    assert Checked.of(fact, [120.0, 300.0, 700.0]).verdict == FAILS


# Measures, on traces made by hand


def _found(**tables):
    traces = {name: pl.DataFrame(rows, orient="row", schema=columns)
              for name, (columns, rows) in tables.items()}  # fmt: skip
    return SimpleNamespace(traces=traces, simulated_s=10.0)


def _packets(*rows):
    columns = ["time_s", "event", "flow", "seq", "cwnd_packets", "retransmission"]
    return _found(packets=(columns, [(at, event, "a", seq, window, again)
                                     for at, event, seq, window, again in rows]))  # fmt: skip


RECOVERY = _packets(
    (0.0, "send", 0, 1.0, False), (0.1, "ack", 0, 1.0, None),
    (0.1, "send", 1, 4.0, False), (0.1, "send", 2, 4.0, False), (0.1, "send", 3, 4.0, False),
    (0.1, "send", 4, 4.0, False), (0.2, "ack", 0, 4.0, None), (0.21, "send", 1, 3.0, True),
    (0.22, "ack", 0, 3.0, None), (0.23, "ack", 0, 3.0, None), (0.23, "send", 5, 3.0, False),
    (0.31, "ack", 4, 3.0, None), (0.33, "ack", 5, 2.0, None), (0.45, "send", 6, 2.0, False),
    (1.0, "timeout", 6, 1.0, None), (2.0, "timeout", 6, 1.0, None), (5.0, "timeout", 6, 1.0, None),
)  # fmt: skip


def test_measures_of_packets():
    # Four packets, the retransmission and packet 5 before the first ACK of data, at 0.31 s.
    assert packet_traces.first_burst(RECOVERY, "a") == 6
    assert packet_traces.events(RECOVERY, "a", "send", end=0.2) == 5
    assert packet_traces.event_s(RECOVERY, "a", "send", retransmission=True) == 0.21
    # From 0.21 to 0.31 s: two packets sent, two ACKs.
    assert packet_traces.sent_per_ack(RECOVERY, "a") == 1.0
    assert packet_traces.window_kept(RECOVERY, "a") == 0.5
    assert packet_traces.retransmissions_last(RECOVERY, "a") == 0.0
    assert packet_traces.probe_delay(RECOVERY, "a") == pytest.approx(0.01)
    assert packet_traces.first_timeout_delay(RECOVERY, "a") == pytest.approx(0.67)
    assert packet_traces.backoff_factor(RECOVERY, "a") == 3.0
    assert packet_traces.burst_after(RECOVERY, "a", begin=0.3, gap=0.1) == 1
    assert packet_traces.event_s(RECOVERY, "a", "drop") is None


def test_measures_of_windows():
    found = _found(
        cwnd=(
            ["time_s", "flow", "cwnd_packets", "ssthresh_packets"],
            [(0.0, "a", 10.0, 1e9), (1.0, "a", 20.0, 1e9), (2.0, "a", 80.0, 1e9),
             (3.0, "a", 40.0, 40.0), (4.0, "a", 41.0, 40.0), (0.0, "b", 99.0, 1e9)],
        ),
        rule=(
            ["time_s", "flow", "phase", "alpha"],
            [(0.0, "a", "up", None), (2.0, "a", "down", 1.0), (3.0, "a", "down", 2.0),
             (5.0, "a", "up", None), (8.0, "a", "down", 6.0)],
        ),
    )  # fmt: skip
    assert window_traces.slow_start_exit(found, "a") == 80
    assert window_traces.slow_start_exit_s(found, "a") == 3
    assert window_traces.slow_start_exit(found, "b") is None
    assert window_traces.window_at(found, "a", 1.5) == 20
    assert window_traces.window_change(found, "a", 1.5, 3.5) == 20
    assert window_traces.window_rise(found, "a", 0.0, 4.0) == 70
    assert window_traces.growth_factor(found, "a", 1.0, 2.0, 2) == 2
    assert window_traces.threshold_at(found, "a", 4.0) == 40
    assert window_traces.largest_window(found, "a", 3.0) == 41
    assert window_traces.phase_entries(found, "a", "down") == 2
    # Down from 2 to 5 and from 8 to 10 s.
    assert window_traces.time_share(found, "a", "down") == 0.5
    assert window_traces.time_share(found, "a", "down", begin=5.0) == 0.4
    assert window_traces.phase_end_s(found, "a", "down") == 5
    assert window_traces.mean_rule_state(found, "alpha", begin=2.5) == 4
    assert window_traces.rule_state(found, "a", "alpha", at=6.0) == 2


def test_measures_of_queues():
    columns = ["time_s", "link", "queue_packets", "average_queue_packets"]
    rows = [(0.0, "x", 9, 1.0), (1.0, "x", 3, 2.0), (2.0, "x", 7, 4.0), (2.0, "y", 50, None)]
    found = _found(queue=(columns, rows))
    assert window_traces.queue_peak(found, "x", 0.5) == 7
    assert window_traces.queue_least(found, "x") == 3
    assert window_traces.queue_amplitude(found, "x") == 6
    assert window_traces.average_queue(found, "x", 0.5) == 3


def test_measures_of_two_flows_with_common_signals():
    rows = [
        (0.0, "a", 40.0), (1.0, "a", 42.0), (1.1, "a", 21.0), (2.0, "a", 43.0), (2.1, "a", 21.5),
        (0.0, "b", 80.0), (1.0, "b", 82.0), (1.1, "b", 41.0), (2.0, "b", 63.0), (2.1, "b", 31.5),
    ]  # fmt: skip
    found = _found(cwnd=(["time_s", "flow", "cwnd_packets"], rows))
    assert pair_traces.gap_factor(found, "a", "b", cuts=1) == 0.5
    assert pair_traces.gap_factor(found, "a", "b", cuts=2) is None
    assert pair_traces.ratio_factor(found, "a", "b", cuts=1) == pytest.approx(21.5 / 31.5 * 41 / 21)
    assert pair_traces.peak_ratio(found, "a", "b", begin=1.5) == pytest.approx(43 / 63)
    assert pair_traces.cut_period(found, "a", begin=0.0) == pytest.approx(1.0)


def test_one_number_of_several_cells():
    assert measures.over("exponent", [1.0, 4.0], [3.0, 24.0]) == 1.5
    assert measures.over("difference", [None, None], [3.0, 5.0]) == -2
    assert measures.over("largest", [None, None], [3.0, 5.0]) == 5
    assert measures.over("ratio", [None, None], [3.0, None]) is None
    with pytest.raises(ScenarioError, match="did you mean ratio"):
        measures.over("ration", [None], [1.0])


# The record


def test_the_record_is_of_these_facts():
    """A fact that changed must be measured again: `cwndlab known-results --page docs`."""
    assert [*RECORDED] == [fact.id for fact in FACTS]
    for fact in FACTS:
        assert RECORDED[fact.id]["scenario_hash"] == record.scenario_hash(fact), fact.id
    assert RECORD["build"]
    for one in record.judged(RECORD, FACTS):
        assert one.verdict == RECORDED[one.fact.id]["verdict"], one.fact.id


def test_the_page_is_current():
    text = (ROOT / "docs" / page.NAME).read_text(encoding="utf-8")
    part = f"<!-- generated: {page.PART} -->\n{page.markdown(DOCS)}<!-- end -->\n"
    assert text == page.HEAD + part
    assert 20_000 < (ROOT / "docs" / page.PICTURE).stat().st_size < 150_000


def _changed(found):
    """Facts whose verdict is not the recorded one."""
    return {
        one.fact.id: f"recorded {RECORDED[one.fact.id]['verdict']}, now {one.verdict}:"
        f" {page.measured_text(one.measured)}"
        for one in found
        if one.verdict != RECORDED[one.fact.id]["verdict"]
    }


@pytest.mark.slow
def test_the_quick_part_gives_the_verdicts_of_the_record():
    """Where the simulator is mended on purpose, make the record anew."""
    assert _changed(known_results.checked(known_results.select(quick=True))) == {}


@pytest.mark.nightly
def test_all_facts_give_the_verdicts_of_the_record():
    found = list(known_results.checked(FACTS))
    assert _changed(found) == {}
    if RECORD["build"] == native.build():
        values = {one.fact.id: list(one.values) for one in found}
        assert values == {name: entry["values"] for name, entry in RECORDED.items()}


# The command


def test_a_scenario_can_be_saved_and_run(tmp_path, capsys):
    from cwndlab import run
    from cwndlab.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["known-results", "recovery/tail-loss-one", "--scenario"])
    assert ended.value.code == 0
    file = tmp_path / "tail-loss.toml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run(file).flows["retransmitted_packets"][0] == 1


def test_expect_all_ends_with_3_where_a_fact_does_not_hold(capsys):
    from cwndlab.cli import main

    failing = next(fact.id for fact in FACTS if RECORDED[fact.id]["verdict"] == FAILS)
    for options, code in (([], 0), (["--expect-all"], 3)):
        with pytest.raises(SystemExit) as ended:
            main(["known-results", failing, *options])
        assert ended.value.code == code
    assert failing in capsys.readouterr().err
