"""The functions of the package: the words of the command line, and what every result offers."""

from __future__ import annotations

import inspect
import json

import numpy as np
import polars as pl
import pytest

import cwndlab
import cwndlab_papers
from cwndlab.cli.app import app

RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
PRINTED = {"as_json", "plot", "detail", "out", "width", "height", "style", "label", "order",
           "is_list", "labels", "page", "is_all", "sensitivity", "readings",
           "expectations", "junit", "baseline", "expect_no_worse", "not_run", "look", "expected",
           "format", "help", "quiet", "verbose", "wide", "rule_places", "beside", "ns",
           "witness", "output", "x", "hue", "panel", "y", "heat", "cdf", "bands", "curves", "log",
           "title"}  # fmt: skip
"""Options of what is printed or written, or that run ns-2: results have methods for it, or another
function."""
CALLED = {"settings": "patch", "file": "source", "targets": "paper"}
"""Options whose Python word differs: `set` is a type of Python."""
COMMANDS = [
    # command, function, the option that another function stands for
    # An environment's scenario is environments.scenario(name, assume=...).
    ("run", cwndlab.run, {"file": "scenario", "replicates": "", "jobs": "", "env": "",
                          "assume": ""}),
    ("compare", cwndlab.compare, {"against": "", "flows": "", "rate": "", "baseline": "",
                                  "setting": "queue"}),
    ("compare", cwndlab.against, {"against": "other", "baseline": "", "setting": "queue",
                                  "metrics": ""}),
    ("explain", cwndlab.explain_rules, {"what": "", "flows": ""}),
    ("sweep", cwndlab.sweep, {}),
    ("assess", cwndlab.assess, {"full": "suites"}),
    ("search", cwndlab.search, {"setting": "queue"}),
    ("reproduce", cwndlab_papers.reproduce, {}),
    ("import pcap", cwndlab.import_pcap, {"file": "path"}),
    ("import qlog", cwndlab.import_qlog, {"file": "path"}),
    ("live linux", cwndlab.live, {"file": "scenario"}),
    ("live quic", cwndlab.live, {"file": "scenario"}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "function", "called"), COMMANDS)
def test_functions_have_the_words_of_the_command_line(command, function, called):
    found = app
    for word in command.split():
        found = found.get_command(None, word)
    # A hidden option is there to be refused with the word for it.
    options = {
        option.name for option in found.params
        if option.name not in PRINTED and not getattr(option, "hidden", False)
    }  # fmt: skip
    words = {**CALLED, **called}
    asked = {words.get(name, name) for name in options} - {""}
    assert asked <= set(inspect.signature(function).parameters)


RESULTS = {
    "run": lambda _: cwndlab.run(_base(), patch={"trace.cwnd": "20ms"}),
    "compare": lambda _: cwndlab.compare(RULES, replicates=2, duration="2s"),
    "against": lambda _: cwndlab.against(
        RULES[1], RULES[0], flows=2, replicates=2, duration="2s", queue="red"
    ),
    "explain": lambda _: cwndlab.explain(_base()),
    "sweep": lambda _: cwndlab.sweep(_base(), axes={"rule": RULES}, replicates=2),
    "design": lambda _: cwndlab.design(
        family="AIMD(?, ?)", objectives="goodput, delay", budget=8, population=4, replicates=1,
        validate=2, confirm=2, duration="5s", robustness=False,
    ),
    "search": lambda _: cwndlab.search(
        best=RULES[1], rules=RULES, budget=5, duration="2s", replicates=1, confirm=2
    ),
    "reproduce": lambda folder: cwndlab_papers.reproduce("akella2002/bounds", out=folder),
    "assess": lambda _: cwndlab.assess(
        RULES[1], against=["Reno"], sections=["5.1.2"], quick=True, replicates=2
    ),
}  # fmt: skip


def _base() -> cwndlab.Scenario:
    drawn = {"access_delay": ["1ms", "9ms"]}
    return cwndlab.dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s", link=drawn)


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_table_a_plot_and_files(name, tmp_path):
    found = RESULTS[name](tmp_path / "out")
    table = found.table()
    assert isinstance(table, pl.DataFrame)
    assert table.height
    assert len(found.to_pandas())
    assert "<table" in found._repr_html_()
    assert json.loads(found.to_json())
    assert len(found.plot().axes)
    folder = found.save(tmp_path / "saved")
    assert folder == tmp_path / "saved"
    assert list(folder.glob("*.parquet"))
    assert list(folder.glob("*.json"))


def test_a_table_of_a_sweep_says_what_its_summary_says():
    found = cwndlab.sweep(_base(), axes={"rule": RULES}, replicates=3, metrics=["loss_rate"])
    means = dict(found.summary.select("rule", "mean").iter_rows())
    table = dict(found.table().iter_rows())
    assert {rule: float(text.split(" ")[0]) for rule, text in table.items()} == pytest.approx(
        {rule: 100 * mean for rule, mean in means.items()}, abs=0.0005
    )


def test_axes_are_ranges_of_any_kind():
    axes = {"flows.*.count": range(1, 4), "dumbbell.rate": np.array([1e6, 2e6])}
    found = cwndlab.sweep(_base(), axes=axes, replicates=1)
    assert found.runs.height == 6
    assert found.axes == ["flows.*.count", "dumbbell.rate"]
    spaced = {"dumbbell.rate": {"linspace": ["1Mbit", "3Mbit", 3]}}
    found = cwndlab.sweep(_base(), axes=spaced, replicates=1)
    assert found.runs["dumbbell.rate"].to_list() == ["1Mbit", "2Mbit", "3Mbit"]


def test_a_sweep_is_given_in_five_ways(tmp_path):
    given = {"name": "five", "base": _base().to_dict(), "axes": {"rule": RULES}, "replicates": 2}
    (tmp_path / "five.json").write_text(json.dumps(given))
    (tmp_path / "base.json").write_text(_base().to_json())
    ways = [
        cwndlab.sweep(given), cwndlab.sweep(tmp_path / "five.json"),
        cwndlab.sweep(cwndlab.Sweep.from_dict(given)),
        cwndlab.sweep(tmp_path / "base.json", axes={"rule": RULES}, replicates=2),
        cwndlab.sweep(_base().to_dict(), axes={"rule": RULES}, replicates=2),
    ]  # fmt: skip
    assert all(found.runs.equals(ways[0].runs) for found in ways)
    changed = cwndlab.sweep(given, seed=5, replicates=3, patch={"duration": "1s"})
    assert changed.runs["seed"].unique().to_list() == [5, 6, 7]
    assert changed.sweep.base["duration"] == "1s"
    with pytest.raises(cwndlab.ScenarioError, match="axes is missing"):
        cwndlab.sweep(_base())


def test_a_search_and_a_reproduction_continue_in_a_store_and_run_on_a_cluster(tmp_path):
    from distributed import Client, LocalCluster

    asked = {"best": RULES[1], "rules": RULES, "budget": 5, "duration": "2s", "replicates": 1,
             "confirm": 2}  # fmt: skip
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp",
                     host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        far = cwndlab.search(on=client, store=tmp_path / "s", **asked)
        claims = cwndlab_papers.reproduce(
            "psaras2009/fig1", quick=True, out=tmp_path / "far", on=client, store=tmp_path / "s"
        )
    near = cwndlab.search(**asked)
    assert (far.values, far.rules) == (near.values, near.rules)
    with cwndlab.Store(tmp_path / "s") as store:
        runs = len(store)
        assert runs > 0
    again = cwndlab_papers.reproduce(
        "psaras2009/fig1", quick=True, out=tmp_path / "near", store=tmp_path / "s"
    )
    assert sum(cost.done_now for cost in again.costs) == 0
    assert again.table().equals(claims.table())
