"""Runs of ns-2 as runs of a store, beside those of cwndlab, and as a witness of papers."""

from __future__ import annotations

import json

import click
import pytest

import cwndlab
from cwndlab.cli.app import app
from cwndlab.ns2 import Ns2
from cwndlab.sweeps import Sweep, run_beside
from cwndlab_papers import paper, witness

from . import reference

needs_ns2 = pytest.mark.skipif(
    reference.installed_version() != reference.VERSION,
    reason=f"ns-2 {reference.VERSION} (program `ns`, Debian package ns2) is not installed",
)
BASE = {
    "duration": "10s",
    "profile": "ns2-2.35",
    "dumbbell": {"rate": "2Mbit", "delay": "20ms", "access_delay": ["1ms", "9ms"]},
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)", "count": 2, "start": ["0s", "1s"]}],
}
ENDLESS = "set ns [new Simulator]\nwhile 1 {}\n$ns run\n"


def _sweep(**changes) -> Sweep:
    axes = {"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"]}
    metrics = ["aggregate_goodput_bps", "loss_rate"]
    whole = {"name": "both", "base": BASE, "axes": axes, "replicates": 2, "metrics": metrics}
    return Sweep.from_dict({**whole, **changes})


@needs_ns2
def test_both_agree_and_a_second_call_runs_nothing(tmp_path):
    first = run_beside(_sweep(), tmp_path)
    assert first.version == "ns-2 2.35"
    table = first.differences
    assert table["replicates"].to_list() == [2, 2, 2, 2]
    for row in table.filter(metric="aggregate_goodput_bps").to_dicts():
        assert row["ns2"] == pytest.approx(row["cwndlab"], rel=0.002)
    done = []
    again = run_beside(_sweep(), tmp_path, progress=lambda event: done.append(event["event"]))
    assert "run" not in done
    assert again.differences.equals(table)
    with cwndlab.Store(tmp_path) as store:
        versions = {record.version for record in store.records()}
    assert versions == {cwndlab.__version__, "ns-2 2.35"}


@needs_ns2
def test_what_ns2_does_not_count_has_no_difference(tmp_path):
    """With ECN, nrexmit_ leaves out timeouts: the others are compared nevertheless."""
    ecn = {**BASE, "flows": [{**BASE["flows"][0], "tcp": {"ecn": True}}]}
    ecn["dumbbell"] = {**BASE["dumbbell"], "queue": {"kind": "red", "ecn": True}}
    found = run_beside(_sweep(base=ecn, metrics=["timeouts", "aggregate_goodput_bps"]), tmp_path)
    rows = {(row["rule"], row["metric"]): row for row in found.differences.to_dicts()}
    assert all(row["ns2"] is None for (_, metric), row in rows.items() if metric == "timeouts")
    row = rows["AIMD(1, 0.5)", "aggregate_goodput_bps"]
    # RED draws random numbers of its own in each program.
    assert row["ns2"] == pytest.approx(row["cwndlab"], rel=0.02)


@needs_ns2
def test_a_cell_that_ns2_lacks_is_refused_before_any_run(tmp_path):
    sweep = _sweep(axes={"rule": ["AIMD(1, 0.5)", "BBR1"]})
    with pytest.raises(cwndlab.ScenarioError, match=r"cell rule = BBR1: flows\[0\].rule"):
        run_beside(sweep, tmp_path)
    with pytest.raises(cwndlab.ScenarioError, match="`until` cannot be used with ns-2"):
        run_beside(_sweep(until="ci(loss_rate) < 1%"))


@needs_ns2
def test_a_run_ends_at_its_limit_and_when_progress_stops_it():
    with pytest.raises(cwndlab.RunError, match=r"longer than 0.2 s"):
        Ns2().run(ENDLESS, limit_s=0.2)

    def stop(_seconds: float, _packets: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ns2().run(ENDLESS, duration_s=1.0, progress=stop)


@needs_ns2
def test_progress_changes_nothing():
    seen = []
    scenario = cwndlab.Scenario(BASE)
    plain = cwndlab.ns2.run(scenario)
    shown = cwndlab.ns2.run(scenario, progress=lambda seconds, _: seen.append(seconds))
    assert shown.trace_hash == plain.trace_hash


@needs_ns2
def test_an_error_of_ns2_is_said():
    with pytest.raises(cwndlab.RunError, match="no-such-command"):
        Ns2().run("set ns [new Simulator]\nno-such-command\n$ns run\n")


def test_a_program_that_is_not_ns2_is_refused():
    for path in ("/bin/no-such-program", "/bin/true"):
        with pytest.raises(cwndlab.LiveError, match="expected the program ns of ns-2"):
            Ns2(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "x.toml", "--ns", "ns"], "`--ns` needs `--beside ns2`"),
        (["run", "x.toml", "--beside", "ns3"], '"ns3" is not known: expected ns2'),
        (["run", "x.toml", "--replicates", "3"], "`--replicates` needs `--beside ns2`"),
        (["sweep", "x.toml", "--beside", "ns2", "--until", "ci(goodput) < 1%"],
         "`--until` cannot be used with `--beside`"),
        (["reproduce", "akella2002/fig4", "--ns", "ns"], "`--ns` needs `--witness ns2`"),
        (["reproduce", "akella2002/fig4", "--witness", "ns2", "--sensitivity"],
         "`--sensitivity` cannot be used with `--witness`"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.ClickException) as caught:
        app.main(arguments, standalone_mode=False)
    assert message in caught.value.format_message()


def test_what_ns2_lacks_is_left_out_of_a_plan():
    whole = paper.load("akella2002").sweep("hybrids")
    reduced, left_out = witness.expressible(whole)
    assert {"AIMAD(1, 1, 0.9)", "MAIMD(1, 1.1, 0.8)", "RCL", "RCH", "RSQ"} == set(left_out)
    rules = [level.label for level in reduced.plan.axes["rule"]]
    assert rules == ["AIMD(1, 0.8)", "AIAD(1, 3)"]
    assert len(reduced.plan.axes["env"]) == 10
    alone = paper.load("psaras2009").sweep("fig4")
    with pytest.raises(cwndlab.ScenarioError, match=r"only AIMD\(1, 0.5\) of the rules"):
        witness.expressible(alone)


@needs_ns2
@pytest.mark.slow
def test_a_witness_judges_every_claim_and_says_why_not(tmp_path):
    found = witness.witness("psaras2009", ["fig1"], out=tmp_path, replicates=2, quick=True)
    assert len(found.testimonies) > 0
    assert sum(found.counts.values()) == len(found.testimonies)
    for entry in found.testimonies:
        assert (entry.relation == witness.NOT_JUDGED) == bool(entry.why)
    written = json.loads((tmp_path / "psaras2009" / "witness.json").read_text())
    assert written["counts"] == found.counts
