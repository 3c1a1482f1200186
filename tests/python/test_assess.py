"""`cwndlab assess`: known results of known rules, statistics, files and exit codes."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import cwndlab
from browsers import browse, in_a_browser
from conftest import ROOT
from cwndlab.assessment import (
    SUITES,
    appendix,
    baseline,
    calibrating,
    calibration,
    criteria,
    dossier,
    judging,
    suite,
)
from cwndlab.cli.app import app
from cwndlab.errors import ScenarioError
from cwndlab.metrics import BY_KEY
from cwndlab.statistics import Estimate
from cwndlab.sweeps.measures import find
from waiting import HANG_S, wait_until


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Runs of the references, which all assessments here share."""
    return tmp_path_factory.mktemp("assess") / "store"


def verdict(store, rule, section, **more):
    found = cwndlab.assess(rule, sections=[section], quick=True, store=store, **more)
    (one,) = found.judged()
    return one


def of(one, test, metric):
    """Verdicts of a metric of a test by cell."""
    return {
        judged.cell.get("path", judged.cell.get("dumbbell.queue.limit", "")): judged.verdict
        for judged in one.comparisons
        if judged.test == test and judged.metric.key == metric
    }


# --- what is known of known rules


def test_bbr1_fails_in_shallow_buffers_and_bbr3_less(store):
    first, third = (verdict(store, rule, "5.1.3") for rule in ("BBR1", "BBR3"))
    assert first.verdict == "worse"
    assert third.counts.get("worse", 0) < first.counts["worse"]
    beside = {rule: verdict(store, rule, "5.2.1") for rule in ("BBR1", "BBR3")}
    shallow = {
        rule: [one for one in found.comparisons
               if one.cell.get("dumbbell.queue.limit") == "0.2bdp"
               and one.metric.key == "flows.standard.goodput_bps"]
        for rule, found in beside.items()
    }  # fmt: skip
    assert any(one.verdict == "worse" for one in shallow["BBR1"])
    for one, other in zip(shallow["BBR1"], shallow["BBR3"], strict=True):
        assert one.means["BBR1"].mean < other.means["BBR3"].mean


def test_a_standard_is_worse_nowhere(store):
    """Two readers objected that RFC 5681 failed a MUST, because CUBIC has more goodput there."""
    found = cwndlab.assess("Reno", quick=True, replicates=8, store=store)
    assert [one.criterion.section for one in found.judged() if one.verdict == "worse"] == []


def test_yielding_is_not_starving(store):
    """Half of what a standard gets in its place is not much; a fortieth is starvation."""
    less = [(Estimate(0.4, 0.35, 0.45, 8), 0.5)], [(Estimate(0.97, 0.9, 1.0, 8), 0.5)]
    assert [judging.verdict(one, is_tolerant=True) for one in less] == ["no worse", "worse"]
    own = [one for one in verdict(store, "LEDBAT", "5.2.1").comparisons if one.is_enough]
    assert own
    for one in own:
        for name in one.deciding:
            assert one.margins[name] == pytest.approx(0.5 * one.means[name].mean)


def test_a_rule_that_ignores_marks_sends_without_ect():
    (test,) = (one for one in suite("rfc9743", quick=True).tests if one.name == "mangled-ecn")
    sweep = test.sweep(["BBR1", "BBR3(ecn=on)", "CUBIC"])
    asked = {
        cell.labels["rule"]: cell.document()["flows"][0].get("tcp", {}).get("ecn")
        for cell in sweep.plan.cells()
    }
    assert [*asked.values()] == [False, None, None]
    (test,) = (one for one in suite("rfc9743", quick=True).tests if one.name == "tunnels")
    marks = {
        (rule, cell.labels["tunnel"]): cwndlab.run(cell.document()).links["marked_packets"].sum()
        for rule in ("BBR1", "CUBIC")
        for cell in test.sweep([rule]).plan.cells()
    }
    # In compatibility mode the queue sees no ECT.
    marked = {("CUBIC", "RFC 6040"), ("CUBIC", "ignores outer")}
    assert {place for place, count in marks.items() if count} == marked


def test_coupled_rules_are_judged_by_the_goals_of_rfc_6356(store):
    alone, coupled = (verdict(store, rule, "7.10") for rule in ("Vegas", "BALIA"))
    assert (alone.verdict, coupled.verdict) == ("no worse", "no worse")
    assert {name for one in alone.comparisons for name in one.deciding} == {"NewReno", "CUBIC"}
    # Uncoupled standards fail the goals.
    assert {name for one in coupled.comparisons for name in one.deciding} == {"LIA", "OLIA"}


def test_cubic_takes_more_than_reno_at_a_high_bdp_and_not_at_a_low_one(store):
    found = verdict(store, "CUBIC", "5.2.1", against=["Reno"], replicates=32)
    standard = [
        one for one in found.comparisons
        if one.metric.key == "flows.standard.goodput_bps" and "path" in one.cell
    ]  # fmt: skip
    high = [one for one in standard if "100 ms" in one.cell["path"]]
    # With a buffer of 4 BDPs the round trip is 200 ms, and with it the way back to the old window.
    low = [
        one for one in standard
        if "40 ms" in one.cell["path"] and one.cell["dumbbell.queue.limit"] != "4bdp"
    ]  # fmt: skip
    behind = [one.disadvantages["NewReno"].low > one.margins["NewReno"] for one in high]
    assert any(behind)
    assert not any(one.disadvantages["NewReno"].low > one.margins["NewReno"] for one in low)
    # It is a standard, so that this is allowed.
    assert {one.verdict for one in standard} == {"no worse"}


def test_vegas_starves_beside_reno(store):
    found = verdict(store, "Vegas", "5.2.1")
    own = [one for one in found.comparisons if one.metric.key == "flows.test.goodput_bps"
           and one.cell.get("dumbbell.queue.limit") == "4bdp"]  # fmt: skip
    assert own
    for one in own:
        assert one.verdict == "worse"
        assert one.means["Vegas(2, 4)"].mean < 0.25 * one.means["NewReno"].mean


def test_ledbat_yields(store):
    """Where a queue can exceed its target of 100 ms; elsewhere it is a standard flow (RFC 6817)."""
    found = verdict(store, "LEDBAT", "5.2.1")
    by = {
        flow: [one for one in found.comparisons if one.metric.key == f"flows.{flow}.goodput_bps"]
        for flow in ("standard", "test")
    }
    assert all(one.verdict != "worse" for one in by["standard"])
    deep = {
        flow: [one for one in judged if one.cell.get("dumbbell.queue.limit") == "4bdp"]
        for flow, judged in by.items()
    }
    for standard, test in zip(deep["standard"], deep["test"], strict=True):
        assert standard.means["LEDBAT(0.1, 1)"].mean > 1.3 * standard.means["NewReno"].mean
        assert test.means["LEDBAT(0.1, 1)"].mean < 0.7 * test.means["NewReno"].mean
    # A queue of 400 ms: hardly anything is left for it.
    assert "better" in [one.verdict for one in deep["standard"]]
    assert "worse" in [one.verdict for one in deep["test"]]


@pytest.mark.parametrize("rule", ["MIMD(1.125, 0.8)", "MIAD(1.125, 3)"])
def test_mimd_and_miad_are_unfair_to_themselves(store, rule):
    assert verdict(store, rule, "5.1.4").verdict == "worse"


def test_dctcp_harms_reno_where_a_classic_aqm_marks(store):
    found = verdict(store, "DCTCP", "5.2.1")
    assert found.verdict == "worse"
    assert found.decisive.test == "rfc9743/beside-standards-ecn"
    assert found.decisive.metric.key == "flows.standard.goodput_bps"


def test_a_rule_that_hardly_shrinks_fails_congestion_collapse(store):
    # Rule(inc="1", dec="w"), which never shrinks, is refused as a rule.
    found = verdict(store, 'Rule(inc="1", dec="w - 0.001")', "5.1.1")
    assert found.verdict == "worse"
    assert found.decisive.metric.key == "loss_rate"


def persistent_loss(store, rule):
    """Comparisons of the packets that a flow loses, by what the path loses."""
    found = verdict(store, rule, "5.1.1").comparisons
    return {one.cell["lost"]: one for one in found if one.test == "rfc9743/persistent-loss"}


@pytest.mark.parametrize(
    ("rule", "where"),
    [
        # A sender that no loss slows down.
        ("NADA(rmin=1000, rmax=1000)", ["half", "nine in ten"]),
        # A window that a packet which arrives opens to a thousand within a round trip.
        ("MIAD(1000, 1)", ["half"]),
    ],
)
def test_what_does_not_back_off_fully_fails_congestion_collapse(store, rule, where):
    found = persistent_loss(store, rule)
    for lost in where:
        assert found[lost].verdict == "worse"
        own, reno = (found[lost].means[name].mean for name in (rule, "NewReno"))
        assert own > 10 * reno
    # Where nothing comes back the timer of the transport speaks, for every rule: as it doubles, it
    # expires log2(20 s / 1 s) = 4.3 times between 1 s and 20 s, one more or less by its phase.
    for mean in found["all"].means.values():
        assert 4.3 - 1 <= mean.mean <= 4.3 + 1


def test_a_rule_that_hardly_grows_does_not_come_back_after_loss(store):
    """It adds 1 packet in 100 round trips, and has 5 s: at most 1.25 packets."""
    found = verdict(store, "AIMD(0.01, 0.5)", "5.1.1")
    back = [one for one in found.comparisons if one.test == "rfc9743/after-persistent-loss"]
    assert {one.cell["lost"]: one.verdict for one in back}["half"] == "worse"


def test_mimd_ruins_calls_that_the_standards_leave_alone(store):
    found = verdict(store, "MIMD(2, 0.9)", "5.2.2")
    late = [one for one in found.comparisons if one.metric.key == "arrivals.call.late_share"]
    assert {one.cell["media"] for one in late} == {"NADA", "fixed rate"}
    for one in late:
        # The reference has a call left, and the rule leaves none to an encoder that yields.
        assert one.means["NewReno"].mean < 0.5
        if one.cell["media"] == "NADA":
            assert one.verdict == "worse"
            assert one.means["MIMD(2, 0.9)"].mean > 0.5


def _alone(test, rule):
    return replace(test, references=()).with_replicates(2).sweep([rule])


def test_dctcp_and_prague_work_in_the_data_centre():
    """No answer waits for a timer of 0.2 s, and long flows fill the link."""
    incast, queries = (one for one in suite("rfc9743", quick=True).tests if one.section == "7.11")
    assert incast.references == queries.references == ["DCTCP", "Prague"]
    for rule in incast.references:
        found = _alone(incast, rule).run().runs
        # 16 answers of 32 packets of 1500 bytes take 6.1 ms on 1 Gbit/s.
        assert found["arrivals.*.p95_received_fct_s"].is_between(16 * 32 * 12e-6 * 0.9, 0.012).all()
        found = _alone(queries, rule).run().runs
        # Two long flows have what eight servers with 2 packets every 1 ms at most leave: 0.8.
        assert (2 * found["flows.long.goodput_bps"] > 0.8 * 0.9 * 1e9).all()


def test_prague_beside_cubic_is_not_worse_in_dualpi2_where_dctcp_is(store):
    found = {rule: verdict(store, rule, "7.1") for rule in ("Prague", "DCTCP")}
    beside = {
        rule: {one.metric.key: one for one in each.comparisons if one.test == "rfc9743/l4s"}
        for rule, each in found.items()
    }
    assert all(one.verdict != "worse" for one in beside["Prague"].values())
    assert beside["DCTCP"]["flows.cubic.goodput_bps"].verdict == "worse"
    # About equal rates, as RFC 9332 wants them: within 0.7 to 1.4.
    cubic, prague = (
        beside["Prague"][f"flows.{name}.goodput_bps"].means["Prague"].mean
        for name in ("cubic", "test")
    )
    assert 0.7 < cubic / prague < 1.4


# --- the suites as data


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("quick", [False, True])
def test_every_test_of_a_suite_is_valid(name, quick):
    for test in suite(name, quick=quick).tests:
        assert test.section in criteria(), test.id
        assert test.what.endswith("."), test.id
        sweep = test.sweep(["AIAD(1, 3)", "Reno"])
        sweep.plan.check()
        for key in test.judged:
            metric = BY_KEY[key] if key in BY_KEY else find(key)
            assert judging.sign_of(metric) in (1.0, -1.0), f"{test.id}: {key}"
            margin = judging.margin_of(key)
            assert margin.absolute or margin.relative
            assert margin.reason


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("quick", [False, True])
def test_what_a_test_says_of_its_judging_is_valid(name, quick):
    for test in suite(name, quick=quick).tests:
        assert set(test.harm) <= set(test.judged), test.id
        assert not set(test.harm) & set(test.enough), test.id
        # A purpose is a number of the run that a reference has, not of its distance to the rule.
        assert set(test.purpose) <= {*test.judged, *test.shown}, test.id
        for bound in test.purpose.values():
            assert set(bound) in ({"most"}, {"least"}), test.id
        assert 0 < test.weight <= 1, test.id
        for rule in test.references:
            assert cwndlab.rule(rule), test.id


@pytest.mark.parametrize("name", [name for name in SUITES if name != "rfc9743"])
def test_variants_of_a_suite_weigh_together_as_one_test(name):
    weights = {}
    for test in suite(name).tests:
        weights.setdefault(test.section, []).append(test.weight)
    for section, each in weights.items():
        assert sum(each) == pytest.approx(1.0, abs=0.001), (name, section)


def test_the_eight_cases_of_rfc_8867_are_there():
    named = " ".join(test.what for test in suite("rfc8867").tests)
    assert re.findall(r"RFC 8867, section (5\.\d)", named) == [f"5.{case}" for case in range(1, 9)]


def test_every_criterion_is_judged_or_says_why_not():
    tested = {test.section for name in SUITES for test in suite(name).tests}
    quick = {test.section for test in suite("rfc9743", quick=True).tests}
    for criterion in criteria().values():
        if criterion.evidence == "simulation":
            assert criterion.section in tested, criterion
            assert criterion.section in quick, criterion
            assert not criterion.why
        else:
            assert criterion.why.endswith("."), criterion
    must = [name for name, criterion in criteria().items() if criterion.must]
    # The sections of RFC 9743 with a MUST about evaluation.
    assert must == ["5.1.1", "5.1.5", "5.2.1", "5.2.3", "5.3.1", "5.3.2", "6.1", "7.9", "7.10"]


# --- statistics


def test_intervals_widen_with_the_number_of_comparisons(store):
    found = cwndlab.assess("AIAD(1, 3)", sections=["5.1.4"], quick=True, store=store)
    (one,) = found.judged()
    first = one.tested[0]
    alone = judging.comparisons(first.test, first.found, 1, found.references)
    together = [each for each in one.comparisons if each.test == first.test.id]
    for wide, narrow in zip(together, alone, strict=True):
        assert wide.disadvantages["NewReno"].half_width > narrow.disadvantages["NewReno"].half_width


def interval(low, high):
    return Estimate((low + high) / 2, low, high, 8)


def test_worse_is_against_any_reference_and_no_worse_against_all():
    """An earlier edition asked for worse against all, and was content with no worse than one."""
    far, near, wide = ((interval(2, 3), 1.0), (interval(-0.5, 0.5), 1.0), (interval(0, 2), 1.0))
    assert judging.verdict([far, near]) == "worse"
    assert judging.verdict([near, wide]) == "undecided"
    assert judging.verdict([near, near]) == "no worse"


def test_harm_is_what_standards_do_to_each_other():
    """RFC 9743, section 5.2.1: as much as one of them does is allowed."""
    far, near = (interval(2, 3), 1.0), (interval(-0.5, 0.5), 1.0)
    assert judging.verdict([far, near], is_tolerant=True) == "no worse"
    assert judging.verdict([far, far], is_tolerant=True) == "worse"


def test_one_cell_of_many_does_not_condemn():
    """An earlier edition called a criterion worse for one comparison in 28."""
    cells = [(1.0, "no worse")] * 7
    assert judging.overall([*cells, (1.0, "worse")]) == "no worse"
    assert judging.overall([*cells[:6], (1.0, "worse"), (1.0, "worse")]) == "worse"
    assert judging.overall([*cells[:6], (1.0, "worse"), (1.0, "undecided")]) == "undecided"
    # A heavier cell counts more: 3 of 10.
    assert judging.overall([*cells, (3.0, "worse")]) == "worse"


@pytest.mark.parametrize(
    ("column", "reference", "margin"),
    [
        # Where a reference has a tenth of the capacity, a twentieth would be half of it: a rule
        # with 0.054 beside 0.091 was no worse.
        ("goodput", 0.091, 0.25 * 0.091),
        ("goodput", 0.9, 0.05),
        # 64 % of loss beside 49 % was no worse, by half of 49 %.
        ("loss_rate", 0.49, 0.05),
        ("loss_rate", 0.004, 0.005),
        ("loss_rate", 0.04, 0.02),
    ],
)
def test_margins_are_sensible_where_references_are_small_or_large(column, reference, margin):
    assert judging.margin_of(column).around(reference) == pytest.approx(margin)


def test_a_rule_that_stays_at_one_packet_fails_with_a_small_receive_window(store):
    """The test of section 7.4 could not fail: its margin was half of what the reference had."""
    found = verdict(store, 'Rule(inc="0.01", dec="1")', "7.4")
    assert found.verdict == "worse"
    # Less than a twentieth of the capacity behind, the margin of before.
    (one,) = (each for each in found.comparisons if each.cell["tcp.window"] == "4")
    rule, reno = ([*one.means.values()][at].mean for at in (0, 1))
    assert 0 < reno - rule < 0.05
    assert one.verdict == "worse"


def test_a_reference_that_fails_decides_nothing(store):
    """Where every packet is marked, Reno has a twentieth of the link: its queue says nothing."""
    found = verdict(store, "BBR3", "7.6")
    (marked,) = {one.place for one in found.comparisons if one.cell.get("path") == "marks all"}
    for one in found.comparisons:
        if one.place == marked and one.metric.key == "p95_queueing_delay_s":
            assert one.verdict == "not judged"
            assert one.deciding == []


def test_more_replicates_where_a_verdict_is_undecided(store):
    found = cwndlab.assess("MIMD(1.125, 0.8)", sections=["5.1.4"], quick=True, store=store)
    (one,) = found.judged()
    had = {
        entry.found.count(cell)
        for entry in one.tested
        for cell in range(len(entry.found.sweep.plan) // entry.test.replicates)
    }
    looks = one.tested[0].test.looks
    assert looks == [8, 16, 32, 64, 128]
    assert had <= {*looks}
    assert len(had) > 1
    fixed = cwndlab.assess(
        "MIMD(1.125, 0.8)", sections=["5.1.4"], quick=True, store=store, replicates=3
    )
    assert {len(each.values) for each in fixed.judged()[0].comparisons} == {3}


def test_the_references_do_not_count_against_themselves(store):
    with pytest.raises(ScenarioError, match="expected a rule other than the one assessed"):
        cwndlab.assess("Reno", against=["NewReno"], sections=["5.1.2"], quick=True, store=store)
    found = cwndlab.assess("CUBIC", sections=["5.1.2"], quick=True, store=store)
    assert found.references == ["NewReno", "BBR3"]
    assert found.deciding == ["NewReno"]


# --- how often verdicts are wrong


def test_what_the_dossiers_say_was_counted_for_these_tests():
    """After a change of quick tests, margins or judging: docs/assess_calibration.py --keep."""
    tests = [test.with_profile("linux") for test in suite("rfc9743", quick=True).tests]
    counted = calibration.sections()
    for section in {test.section for test in tests}:
        own = [test for test in tests if test.section == section]
        found = calibration.of(section, own)
        assert found is not None, section
        assert found.draws == 200
        assert {"NewReno", "CUBIC"} <= {*found.twins}
        # In another profile, or with other replicates, nothing was counted.
        assert calibration.of(section, [test.with_profile("rfc") for test in own]) is None
        assert calibration.of(section, [test.with_replicates(9) for test in own]) is None
    assert {one.section for one in calibrating.violators()} == {*counted}
    assert all(count <= 16 for count in calibration.kept()["dossiers"].values())


def test_wrong_verdicts_are_counted(tmp_path):
    """A twin's runs are not those of its standard, and are no worse; a violator is worse."""
    pool = calibrating.Pool(32, tmp_path / "pool")
    tests = [test for test in suite("rfc9743", quick=True).tests if test.section == "7.4"]
    said = []
    pool.fill(tests, ["Reno", "CUBIC"], 32, lambda *what: said.append(what))
    rng = np.random.default_rng(1)
    twin = calibrating.twin(pool, [replace(tests[0], most=16)], "NewReno", rng)
    (one,) = [each for each in twin.judged() if each.comparisons]
    assert one.verdict != "worse"
    assert len({*one.comparisons[0].values}) > 1
    pool.fill(tests, ['Rule(inc="0.01", dec="1")'], 16, lambda *what: said.append(what))
    bad = calibrating.violating(
        pool, [replace(tests[0], most=16)], 'Rule(inc="0.01", dec="1")', rng
    )
    (one,) = [each for each in bad.judged() if each.comparisons]
    assert one.verdict == "worse"
    assert said


# --- files, exit codes


def assess(*arguments):
    return CliRunner().invoke(app, ["assess", *arguments])


def earlier_version(folder, rule):
    """The assessment in a folder as that of an earlier version of another rule."""
    path = folder / "assessment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "rule": rule}))
    return str(path)


def test_files_and_baseline(store, tmp_path):
    given = ["--quick", "--section", "5.1.2", "--store", str(store)]
    first = assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "first"), "--expect-no-worse")
    assert first.exit_code == 0, first.output
    html = (tmp_path / "first" / "assessment.html").read_text()
    assert "http://" not in html.replace("http://www.w3.org/", "")
    assert "https://" not in html
    assert "5.1.2" in html
    text = (tmp_path / "first" / "assessment.md").read_text()
    assert "| 5.1.2 |" in text
    data = json.loads((tmp_path / "first" / "assessment.json").read_text())
    assert data["rule"] == "AIMD(1, 0.5)"

    last = str(tmp_path / "first" / "assessment.json")
    junit = tmp_path / "junit.xml"
    same = assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "again"), "--baseline", last,
                  "--expect-no-worse")  # fmt: skip
    assert same.exit_code == 0, same.output
    # It fills a deep buffer as AIMD(1, 0.5) does, and never empties half of it.
    last = earlier_version(tmp_path / "first", "AIMD(20, 0.95)")
    worse = assess(
        "AIMD(20, 0.95)", *given, "--out", str(tmp_path / "second"), "--baseline", last,
        "--expect-no-worse", "--junit", str(junit),
    )  # fmt: skip
    changed = ElementTree.parse(junit).getroot()
    assert changed.get("tests") == "1"
    assert worse.exit_code in (0, 3)
    assert (changed.get("failures") == "1") == (worse.exit_code == 3)


def test_taking_less_from_others_is_not_worse_than_the_baseline(store, tmp_path):
    given = ["--quick", "--section", "5.3.2", "--store", str(store)]
    # MIMD takes most of the link from CUBIC: giving it back is better for CUBIC, and MIMD's own
    # goodput needs no more than AIMD's in its place.
    assert assess("MIMD(1.125, 0.8)", *given, "--out", str(tmp_path / "a")).exit_code == 0
    last = earlier_version(tmp_path / "a", "AIMD(1, 0.5)")
    found = assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "b"), "--baseline", last,
                   "--expect-no-worse")  # fmt: skip
    assert found.exit_code == 0, found.output
    data = json.loads((tmp_path / "a" / "assessment.json").read_text())
    own = [one for one in data["criteria"][0]["comparisons"] if one["enough"]]
    assert {one["metric"] for one in own} == {"flows.test.goodput_bps"}
    assert "better" not in {one["verdict"] for one in own}


def test_exit_code_3_where_a_criterion_got_worse(store, tmp_path):
    given = ["--quick", "--section", "5.1.3", "--store", str(store)]
    assert assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "a")).exit_code == 0
    last = earlier_version(tmp_path / "a", "MIMD(1.125, 0.8)")
    found = assess("MIMD(1.125, 0.8)", *given, "--out", str(tmp_path / "b"), "--baseline", last,
                   "--expect-no-worse")  # fmt: skip
    assert found.exit_code == 3
    assert "1 criterion is worse: 5.1.3" in found.output
    last = earlier_version(tmp_path / "b", "AIMD(1, 0.5)")
    better = assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "c"), "--baseline", last,
                    "--expect-no-worse")  # fmt: skip
    assert better.exit_code == 0
    assert "better" in better.output
    # A comparison that the baseline lacks is left out, and was not run.
    data = json.loads((tmp_path / "b" / "assessment.json").read_text())
    comparisons = data["criteria"][0]["comparisons"]
    comparisons.pop()
    (tmp_path / "b" / "assessment.json").write_text(json.dumps(data))
    given += ["--out", str(tmp_path / "c"), "--baseline", last, "--wide"]
    less = assess("AIMD(1, 0.5)", *given, "--expect-no-worse")
    lacks = f"the baseline lacks 1 of {len(comparisons) + 1} comparisons"
    assert less.exit_code == 3
    assert f"skipped, so not passed: 5.1.3 ({lacks})" in less.output
    assert assess("AIMD(1, 0.5)", *given).exit_code == 0


def test_a_baseline_of_other_seeds_is_refused(store, tmp_path, cli):
    given = ["--quick", "--section", "5.1.2", "--store", str(store), "--replicates", "2"]
    assess("AIMD(1, 0.5)", *given, "--out", str(tmp_path / "a"))
    last = str(tmp_path / "a" / "assessment.json")
    found = cli("assess", "AIMD(1, 0.5)", *given, "--seed", "9", "--out", str(tmp_path / "b"),
                "--baseline", last)  # fmt: skip
    assert found.returncode == 2
    assert "`seed` 1, this assessment 9" in found.stderr
    found = cli("assess", "AIMD(1, 0.5)", *given, "--profile", "rfc", "--out", str(tmp_path / "b"),
                "--baseline", last)  # fmt: skip
    assert found.returncode == 2
    assert '`profile` "linux", this assessment "rfc"' in found.stderr


def test_a_baseline_of_other_criteria_is_no_proof(store, tmp_path, cli):
    given = ["--quick", "--store", str(store), "--replicates", "2"]
    assess("AIMD(1, 0.5)", *given, "--section", "5.1.2", "--out", str(tmp_path / "a"))
    last = str(tmp_path / "a" / "assessment.json")
    compared = ("--baseline", last, "--expect-no-worse", "--out", str(tmp_path / "b"), "--wide")
    none = cli("assess", "AIMD(1, 0.5)", *given, "--section", "5.1.3", *compared)
    assert none.returncode == 2
    assert f"baseline: {last} has none of the criteria that were run (5.1.3): " in none.stderr
    assert "the baseline has no run of this criterion" in none.stdout
    # Of two criteria, one is not in the baseline: that one has not passed.
    junit = tmp_path / "junit.xml"
    both = ("assess", "AIMD(1, 0.5)", *given, "--section", "5.1.2,5.1.3", *compared, "--junit",
            str(junit))  # fmt: skip
    some = cli(*both)
    assert some.returncode == 3, some.stderr
    assert "skipped, so not passed: 5.1.3 (the baseline has no run" in some.stderr
    assert "--allow-not-run 5.1.3" in some.stderr
    since = some.stdout.partition("Since the baseline")[2]
    assert "· not compared" in since
    assert ("5.1.2" in since, "5.1.3" in since) == (True, True)
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    allowed = cli(*both, "--allow-not-run", "5.1.3")
    assert allowed.returncode == 0, allowed.stderr
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


# --- what was not run has not passed


def test_what_the_short_tests_leave_out_is_named(tmp_path, cli):
    short = ("assess", "MIMD(2, 0.9)", "--quick", "--suite", "tcpeval", "--out", str(tmp_path))
    assert cli(*short).returncode == 0
    junit = tmp_path / "junit.xml"
    found = cli(*short, "--expect-no-worse", "--junit", str(junit))
    assert found.returncode == 3
    assert "skipped, so not passed: 5.1.1, 5.1.2, " in found.stderr
    assert "tcpeval (it has no short test)" in found.stderr
    data = json.loads((tmp_path / "assessment.json").read_text())
    sections = [one.section for one in criteria().values() if one.evidence == "simulation"]
    assert list(data["not_run"]) == [*sections, "tcpeval"]
    suite = ElementTree.parse(junit).getroot()
    assert suite.get("failures") == str(len(sections) + 1)
    # Each is allowed by its name, as the message says.
    options = found.stderr.partition("to allow that: ")[2].split()
    assert cli(*short, "--expect-no-worse", *options).returncode == 0
    assert cli(*short, "--expect-no-worse", *options[:1], "tcpeval").returncode == 3


def test_sections_without_a_test_are_not_left_out(store, tmp_path):
    """Only what was asked for has to be run, and all of that."""
    given = ("AIMD(1, 0.5)", "--quick", "--store", str(store), "--out", str(tmp_path),
             "--replicates", "2", "--expect-no-worse")  # fmt: skip
    found = assess(*given, "--suite", "c4", "--section", "5.1.5,7.9")
    assert found.exit_code == 3
    assert "skipped, so not passed: 5.1.5 (None of the chosen tests is about it)" in found.output
    assert "7.9," not in found.output.partition("not run, so")[2]


def test_the_job_of_the_documentation_runs(store, tmp_path, cli):
    """Its commands, in order, for a first and a second version of a rule."""
    page = (ROOT / "docs" / "assess.md").read_text(encoding="utf-8")
    job = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "rule.py").write_text(RULE.format(factor=0.5))
    steps = [shlex.split(step) for step in re.findall(r"- run: (cwndlab .*)", job)]
    (asked,) = steps
    asked += ["--store", str(store), "--section", "5.1.2,5.1.3"]
    at = asked.index("--baseline")
    first = cli(*asked[1:at], *asked[at + 2 :])
    assert first.returncode in (0, 3), first.stderr
    (made,) = tmp_path.glob("out/assess/*/assessment.json")
    (tmp_path / "last.json").write_text(made.read_text())
    again = cli(*asked[1:])
    assert again.returncode == 0, again.stderr
    assert "since the baseline: " in again.stderr
    assert "worse (" not in again.stderr
    # A version that hardly shrinks.
    (tmp_path / "rule.py").write_text(RULE.format(factor=0.99))
    worse = cli(*asked[1:])
    assert worse.returncode == 3
    assert re.search(r"since the baseline: \d+ worse \(.*5\.1\.3", worse.stderr)


RULE = """class Mine:
    def increase(self, cwnd, ack):
        return cwnd + ack.growth_packets / cwnd

    def decrease(self, cwnd, signal):
        return {factor} * cwnd
"""


def test_verdicts_in_quic_stand_beside_those_of_the_simulator(store, tmp_path, cli):
    found = cwndlab.assess(
        "AIAD(1, 3)", sections=["5.1.2"], quick=True, store=store, home=["simulator", "quic"]
    )
    (other,) = found.elsewhere
    assert (found.home, other.home) == ("simulator", "quic")
    rows = dossier.home_rows(found)
    assert [(section, len(verdicts)) for section, _, verdicts, _ in rows] == [("5.1.2", 2)]
    for one, its in zip(found.judged(), other.judged(), strict=True):
        assert len(one.comparisons) == len(its.comparisons)
    # Stacks of their own, so the runs differ.
    mine, theirs = (
        each.judged()[0].comparisons[0].means["AIAD(1, 3)"].mean for each in (found, other)
    )
    assert mine != theirs
    assert mine == pytest.approx(theirs, rel=0.25)
    html = dossier.write(found, tmp_path / "dossier.html").read_text(encoding="utf-8")
    assert "The same in the kernel and in QUIC" in html
    refused = cli("assess", "CUBIC", "--home", "simulator,quick")
    assert refused.returncode == 2
    assert '"quic"' in refused.stderr


def test_a_home_beside_the_first_that_cannot_run_the_rule_says_why(store):
    """Quinn's controllers set a window, and BBR3 a rate."""
    found = cwndlab.assess(
        "BBR3", sections=["7.4"], quick=True, replicates=2, store=store, home=["simulator", "quic"]
    )
    (other,) = found.elsewhere
    ((test, why),) = other.refused.items()
    assert test == "rfc9743/small-receive-window"
    assert "quinn" in why
    ((_, _, verdicts, differ),) = dossier.home_rows(found)
    assert verdicts[1] == "not run"
    assert not differ
    with pytest.raises(ScenarioError, match="home: quic can run none of the tests"):
        cwndlab.assess("BBR3", sections=["7.4"], quick=True, store=store, home="quic")


def test_live_is_refused_with_the_word_for_it(cli):
    found = cli("assess", "CUBIC", "--live")
    assert found.returncode == 2
    assert "--home simulator,linux,quic" in found.stderr


def test_a_rule_without_a_value_has_not_passed(store):
    """A comparison in which only the references have values is none."""
    found = cwndlab.assess("AIMD(1, 0.5)", sections=["5.1.2"], quick=True, store=store)
    (one,) = found.judged()
    first, *rest = one.comparisons
    nothing = {name: Estimate(None, None, None, 0) if name == found.rule else mean
               for name, mean in first.means.items()}  # fmt: skip
    lacking = replace(found)
    lacking.__dict__["_judged"] = [replace(one, comparisons=[replace(first, means=nothing), *rest])]
    (why,) = lacking.not_run.values()
    assert why.startswith(f"the rule has no value in 1 of {len(rest) + 1} comparisons")


def test_nothing_decided_is_said(tmp_path, store):
    """One pair of runs has no interval."""
    given = ("AIMD(1, 0.5)", "--quick", "--section", "5.1.2", "--replicates", "2", "--store",
             str(store), "--out", str(tmp_path), "--expect-no-worse")  # fmt: skip
    found = assess(*given)
    verdicts = {one["verdict"] for one in
                json.loads((tmp_path / "assessment.json").read_text())["criteria"]}  # fmt: skip
    assert ("no criterion is decided" in found.output) == (verdicts == {"undecided"})


@pytest.fixture(scope="module")
def last(store, tmp_path_factory):
    """An assessment of AIMD(1, 0.5)."""
    folder = tmp_path_factory.mktemp("last")
    assess("AIMD(1, 0.5)", "--quick", "--section", "5.1.2", "--replicates", "2", "--store",
           str(store), "--out", str(folder))  # fmt: skip
    return folder / "assessment.json"


def _edited(last, tmp_path, change):
    data = json.loads(last.read_text())
    change(data)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(rule="CUBIC"),
         'the baseline has `rule` "CUBIC", this assessment "AIMD(1, 0.5)": runs of the two cannot '
         "be paired; to compare with another rule, --against 'CUBIC'"),
        (lambda data: data.pop("seed"), "edited.json: seed is missing: expected what `cwndlab"),
        (lambda data: (data.pop("seed"), data.pop("quick")),
         "edited.json: seed, quick are missing: expected what"),
        (lambda data: data.update(seed="one"), 'edited.json: seed: ""one"" is not valid'),
        (lambda data: data.update(quick=False), "the baseline has `quick` false, this"),
        (lambda data: data.update(suites=["c4"]), 'the baseline has `suites` ["c4"], this'),
        (lambda data: data.update(schema="assessment/2"),
         'edited.json: schema: "assessment/2" is not valid: expected "assessment/1"'),
        (lambda data: data.update(cwndlab_version="0.0.1"),
         'the baseline has `cwndlab_version` "0.0.1", this assessment'),
        (lambda data: data["criteria"][0].pop("section"),
         "criteria[0].section is missing"),
        (lambda data: data["criteria"][0]["comparisons"][1].pop("values"),
         "criteria[0].comparisons[1].values is missing"),
        (lambda data: data["criteria"][0]["comparisons"][0].update(values="many"),
         "criteria[0].comparisons[0].values: "),
    ],
)  # fmt: skip
def test_a_baseline_that_is_none_is_refused_before_any_run(
    last, tmp_path, command, change, message
):
    edited = _edited(last, tmp_path, change)
    found = command("assess", "AIMD(1, 0.5)", "--quick", "--section", "5.1.2", "--baseline",
                    edited.name, "--out", "new")  # fmt: skip
    assert found.returncode == 2
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", ["", "{", '{"schema": "assessment/1", "rule": "AIM', "[]", "PK"])
def test_what_is_no_document_is_refused(tmp_path, command, text):
    (tmp_path / "last.json").write_text(text)
    found = command("assess", "CUBIC", "--quick", "--baseline", "last.json")
    assert found.returncode == 2
    assert '--baseline: "last.json" is not valid: expected what `cwndlab assess' in found.stderr


# --- recorded connections that are none


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"garbage\n", 'garbage.tmix line 1: "garbage" is not valid: expected "SEQ" or "CONC"'),
        (b"SEQ 1 1 1 1\n> 245\n< many\n", 'line 3: "< many" is not valid: expected a number'),
        (b"", "garbage.tmix has no connection whose acceptor sends data"),
        (gzip.compress(b"SEQ 1 1 1 1\n< 5\n", mtime=0)[:-1], "its gzip is incomplete"),
        (b"\xff\xfe\x00", "it is not text: expected UTF-8"),
        (b"S 6851 1 1 1\nw 1 1\nI 0 245\n",
         'line 3: "I 0 245" is not valid: expected two times in microseconds and a number'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("quick", [["--quick"], []])
def test_garbage_in_place_of_recorded_connections(tmp_path, command, content, message, quick):
    (tmp_path / "garbage.tmix").write_bytes(content)
    found = command("assess", "CUBIC", *quick, "--suite", "tcpeval", "--vectors", "garbage.tmix",
                    "--out", "new")  # fmt: skip
    assert found.returncode == 2
    assert "error: vectors: " in found.stderr
    assert "garbage.tmix" in found.stderr
    assert message in found.stderr
    assert not (tmp_path / "new" / "store").exists()


def test_recorded_connections_that_no_test_uses(tmp_path, command):
    (tmp_path / "two.tmix").write_text(VECTORS.format(at=1))
    found = command("assess", "CUBIC", "--quick", "--suite", "tcpeval", "--vectors", "two.tmix")
    assert found.returncode == 2
    assert "expected tests that use them: none of those chosen does" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "RULE is missing"),
        (("NoRule", "--quick"), 'rule: "NoRule"'),
        (("CUBIC", "--suite", "tcpevil"), 'suite: "tcpevil" is not known'),
        (("CUBIC", "--section", "9.9"), 'section: "9.9" is not known'),
        (("CUBIC", "--quick", "--full"), "`--full` cannot be used with `--quick`"),
        (("CUBIC", "--full", "--suite", "c4"), "`--full` cannot be used with `--suite`"),
        (("CUBIC", "--baseline", "README.md"), "expected what `cwndlab assess --out` wrote"),
        (("CUBIC", "--allow-not-run", "5.1.1"), "`--allow-not-run` needs `--expect-no-worse`"),
        (
            ("CUBIC", "--expect-no-worse", "--allow-not-run", "tcpevl", "--suite", "tcpeval"),
            '--allow-not-run: "tcpevl" is not known',
        ),
        (("CUBIC", "--suite", "c4", "--section", "5.1.5"), "no test of c4 is about 5.1.5"),
    ],
)
def test_bad_input(arguments, message, cli):
    found = cli("assess", *arguments)
    assert found.returncode == 2
    assert message in found.stderr


def test_the_appendix_has_every_comparison(store):
    found = cwndlab.assess("AIAD(1, 3)", sections=["5.1.3"], quick=True, store=store)
    text = appendix.markdown(found)
    (one,) = found.judged()
    assert text.count("| loss rate [%] |") == len(one.comparisons) == 4


def test_scenarios_of_the_dossier_run_alone(store):
    found = cwndlab.assess("AIAD(1, 3)", sections=["5.2.1"], quick=True, store=store)
    (one,) = found.judged()
    (entry,) = [each for each in one.tested if each.test.name == "beside-standards"]
    judged = next(each for each in one.comparisons if each.test == entry.test.id)
    document = dossier.scenario(entry, judged.cell)
    result = cwndlab.run(cwndlab.Scenario(document))
    mean = result.flows.filter(group="standard")["goodput_bps"].mean()
    index = entry.found.sweep.cell_of({**judged.cell, "rule": "AIAD(1, 3)"})
    assert mean == pytest.approx(entry.found.values(index, "flows.standard.goodput_bps")[0])


CUT = """<script>
const boxes = [...document.querySelectorAll(".scroll")];
const cut = boxes.filter((box) => box.scrollWidth > box.clientWidth);
const answer = document.createElement("pre");
answer.id = "answer";
answer.textContent = `${document.querySelectorAll(".compared").length} ${cut.length}`;
document.body.append(answer);
</script></body>"""


@in_a_browser
@pytest.mark.parametrize("width", [1000, 1300, 1900])
def test_no_column_of_the_dossier_is_cut(store, tmp_path, width):
    """Completion times in milliseconds are the longest numbers."""
    found = cwndlab.assess("AIAD(1, 3)", sections=["5.1.1", "5.2.3"], quick=True, store=store)
    html = dossier.write(found, tmp_path / "dossier.html").read_text(encoding="utf-8")
    assert "p95 FCT" in html
    seen = browse(html.replace("</body>", CUT), tmp_path, width)
    tables, cut = re.search(r'<pre id="answer">(\d+) (\d+)</pre>', seen.stdout).groups()
    assert int(tables) >= 2
    assert cut == "0"


def test_resumes_after_sigkill(tmp_path):
    command = [
        sys.executable, "-m", "cwndlab", "assess", "AIAD(1, 3)", "--quick", "--section",
        "5.1.4", "--out", str(tmp_path / "out"), "--json", "--jobs", "1",
    ]  # fmt: skip
    kept = tmp_path / "out" / "store"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        wait_until(lambda: _runs(kept) or started.poll() is not None, "a finished run")
        started.send_signal(signal.SIGKILL)
    before = _runs(kept)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_S)
    data = json.loads(done.stdout)
    assert before
    assert _runs(kept) > before
    fresh = cwndlab.assess("AIAD(1, 3)", sections=["5.1.4"], quick=True).to_dict()
    assert data["criteria"] == json.loads(json.dumps(fresh["criteria"]))


def _runs(folder):
    """Count the finished runs in a store."""
    if not folder.exists():
        return 0
    try:
        return len(cwndlab.Store(folder, write=False))
    except cwndlab.StoreError:
        return 0


def test_baseline_reads_only_assessments(tmp_path):
    (tmp_path / "x.json").write_text('{"schema": "run/1"}')
    with pytest.raises(ScenarioError, match='expected "assessment/1"'):
        baseline.read(tmp_path / "x.json")


# --- the adversary


def test_the_adversary_finds_a_link_on_which_vegas_starves(store):
    found = cwndlab.assess(
        "Vegas", suites=["adversary"], against=["Reno"], quick=True, store=store
    ).worst
    vegas, reno = found.goodput.values()
    assert vegas.high < 0.2 < reno.low
    assert found.tried > 50
    # The scenario, run alone, says the same.
    results = [
        cwndlab.run(cwndlab.Scenario({**found.scenario(rule), "seed": 9}))
        for rule in ("Vegas", "Reno")
    ]
    used = [result.flows["goodput_bps"][0] / result.links["rate_bps"][0] for result in results]
    assert used[0] < 0.2
    assert used[1] - used[0] > 0.5 * found.behind.mean


def test_bbr1_is_far_behind_on_some_link_and_bbr3_on_none_so_far(store):
    first, third = (
        cwndlab.assess(rule, suites=["adversary"], quick=True, store=store).worst
        for rule in ("BBR1", "BBR3")
    )
    assert next(iter(first.goodput.values())).high < 2 / 3
    assert first.behind.low > third.behind.high


# --- recorded connections

VECTORS = """SEQ {at}00000 2 7 1
> 245
t 51000
< 29200
t 400000
> 300
t 9000
< 14600
SEQ {at}90000 1 8 1
> 100
t 1000
< 146000
"""


def test_recorded_connections_are_the_traffic_of_tcpeval(tmp_path):
    tests = {one.name: one for one in suite("tcpeval").tests}
    drawn = tests["access-link"]
    first_s, last_s = (int(text.rstrip("s")) for text in drawn.base["measure"])
    file = tmp_path / "two.tmix"
    file.write_text("".join(VECTORS.format(at=10 * at) for at in range(first_s + 1, last_s)))
    test = drawn.with_vectors(str(file))
    found = test.with_replicates(2).sweep(["Reno", "CUBIC"]).run()
    slowdown = found.runs["arrivals.*.mean_slowdown"]
    assert slowdown.is_not_null().all()
    # A few hundred packets a second on 100 Mbit/s: nobody waits for others. From an initial window
    # of 10 packets, 10 take one round trip, 20 take two, and 100 take four.
    assert slowdown.is_between(1.0, 4.0).all()
    assert "load" in drawn.axes
    assert "load" not in found.runs.columns


def test_recorded_connections_without_their_suite_are_refused(tmp_path, cli):
    (tmp_path / "two.tmix").write_text(VECTORS.format(at=1))
    found = cli("assess", "CUBIC", "--quick", "--vectors", "two.tmix")
    assert found.returncode == 2
    assert "vectors" in found.stderr
    assert "tcpeval" in found.stderr
