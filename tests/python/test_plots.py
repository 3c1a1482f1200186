"""Figures: every axis has its unit, no meaning by colour alone, nothing left behind in matplotlib."""

from __future__ import annotations

import sys

import pytest

import cwndlab
from cwndlab import plots
from cwndlab.plots.style import LOOKS

TRACE = {"cwnd": "100ms", "queue": "100ms", "rate": "500ms"}


@pytest.fixture(scope="module")
def result():
    from conftest import SMALL

    return cwndlab.run(cwndlab.Scenario.from_text(SMALL).set("trace", TRACE))


def test_looks_differ_without_colour():
    assert len({look.linestyle for look in LOOKS}) == len({look.marker for look in LOOKS}) == len(LOOKS)
    assert len({look.hatch for look in LOOKS}) == len(LOOKS)


def test_overview_names_axes_with_units(result):
    figure = plots.overview(result)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "window [packets]", "goodput [Mbit/s]", "queue [packets]",
    ]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "time [s]"
    windows = figure.axes[0].get_lines()
    assert [line.get_label() for line in windows] == [
        "a-0: AIMD(1, 0.5)", "a-1: AIMD(1, 0.5)", "b: AIAD(1, 3)",
    ]  # fmt: skip
    assert len({line.get_linestyle() for line in windows}) == 3


def test_many_flows_become_group_means():
    from conftest import SMALL

    scenario = cwndlab.Scenario.from_text(SMALL).patch({"flows.a.count": 8, "trace": TRACE})
    labelled = [
        line.get_label() for line in plots.overview(cwndlab.run(scenario)).axes[0].get_lines()
        if not line.get_label().startswith("_")
    ]  # fmt: skip
    assert labelled == ["a: AIMD(1, 0.5), mean of 8 flows", "b: AIAD(1, 3)"]


def test_drawn_windows_are_the_traced_ones(result):
    import polars as pl

    line = plots.overview(result).axes[0].get_lines()[2]
    trace = result.traces["cwnd"].filter(pl.col("flow") == "b")
    assert line.get_ydata().tolist() == trace["cwnd_packets"].to_list()


def test_no_traces_no_plot(result):
    bare = cwndlab.Result(result.fields, result.flows, result.links)
    with pytest.raises(ValueError, match=r"no traces; allowed: .*cwnd"):
        plots.overview(bare)


def test_rules_share_one_scale(result):
    figure = plots.windows_by_rule({"one": result, "two": result})
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert figure.get_supylabel() == "window [packets]"
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_saving_is_repeatable(result, tmp_path, ending, start):
    first, second = (plots.save(result.plot(), tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
    assert first == second
    assert first.startswith(start)


def test_other_endings_are_refused(result, tmp_path):
    with pytest.raises(ValueError, match=r"\.gif.*allowed: \.png, \.svg, \.pdf"):
        plots.save(result.plot(), tmp_path / "x.gif")


def test_pyplot_is_not_used():
    import subprocess

    code = "import cwndlab.plots, sys; print('matplotlib.pyplot' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
