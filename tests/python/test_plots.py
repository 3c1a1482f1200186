"""Figures: every axis has its unit, no meaning by colour alone, matplotlib is left clean."""

from __future__ import annotations

import sys

import polars as pl
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
    assert (
        len({look.linestyle for look in LOOKS})
        == len({look.marker for look in LOOKS})
        == len(LOOKS)
    )
    assert len({look.hatch for look in LOOKS}) == len(LOOKS)


def test_overview_names_axes_with_units(result):
    figure = plots.overview(result)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "window [packets]", "goodput [Mbit/s]", "queue [packets]", "",
    ]  # fmt: skip
    assert [axes.get_xlabel() for axes in figure.axes[-2:]] == [
        "time [s]", "share of the flow's time [%]",
    ]  # fmt: skip
    windows = figure.axes[0].get_lines()
    assert [line.get_label() for line in windows] == [
        "a-0: AIMD(1, 0.5)", "a-1: AIMD(1, 0.5)", "b: AIAD(1, 3)",
    ]  # fmt: skip
    assert len({line.get_linestyle() for line in windows}) == 3


def test_what_limited_flows_is_drawn_as_bars_that_add_up(result):
    bars = plots.overview(result).axes[-1]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["a-0", "a-1", "b"]
    ends = [container.patches[0].get_x() + container.patches[0].get_width()
            for container in bars.containers]  # fmt: skip
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(100, abs=0.2)
    assert bars.containers[0].get_label() == "cwnd"


def test_many_flows_become_group_means():
    from conftest import SMALL

    scenario = cwndlab.Scenario.from_text(SMALL).patch({"flows.a.count": 8, "trace": TRACE})
    windows, goodput, *_ = plots.overview(cwndlab.run(scenario)).axes
    labelled = [
        line.get_label() for line in windows.get_lines() if not line.get_label().startswith("_")
    ]
    assert windows.get_title("left").startswith("Congestion window (bold: mean of the group's")
    assert goodput.get_title("left") == "Goodput (sum per group)"
    assert labelled == ["a: AIMD(1, 0.5), 8 flows", "b: AIAD(1, 3)"]


@pytest.mark.parametrize(
    ("measure", "shaded"),
    [(["5s", "15s"], [(0, 5), (15, 20)]), (["5s", "20s"], [(0, 5)]), (["0s", "20s"], [])],
)
def test_the_time_that_is_not_measured_is_grey(measure, shaded):
    from conftest import SMALL

    scenario = cwndlab.Scenario.from_text(SMALL).patch(
        {"duration": "20s", "measure": measure, "trace": TRACE}
    )
    *over_time, _ = plots.overview(cwndlab.run(scenario)).axes
    for axes in over_time:
        found = [
            patch.get_extents().transformed(axes.transData.inverted()).intervalx.tolist()
            for patch in axes.patches
        ]
        assert found == [pytest.approx(span) for span in shaded]
    labels = over_time[0].get_legend_handles_labels()[1]
    assert labels.count("not measured") == (1 if shaded else 0)


def test_drawn_windows_are_the_traced_ones(result):
    line = plots.overview(result).axes[0].get_lines()[2]
    trace = result.traces["cwnd"].filter(pl.col("flow") == "b")
    assert line.get_ydata().tolist() == trace["cwnd_packets"].to_list()


def test_traced_available_bandwidth_is_drawn_as_it_changes(result):
    course = pl.DataFrame(
        {"time_s": [0.0, 5.0], "link": ["bottleneck"] * 2, "available_bps": [4e6, 1e6]}
    )
    changing = cwndlab.Result(
        result.fields, result.flows, result.links, {**result.traces, "available": course}
    )
    (line,) = (
        line for line in changing.plot().axes[1].get_lines() if line.get_label() == "available"
    )
    assert line.get_xdata().tolist() == [0.0, 5.0, 10.0]
    assert line.get_ydata().tolist() == [4.0, 1.0, 1.0]


def test_start_up_is_clipped_and_said(result):
    trace = result.traces["cwnd"].with_columns(
        cwnd_packets=pl.when(pl.col("time_s") < 1).then(900.0).otherwise(pl.col("cwnd_packets"))
    )
    spiked = cwndlab.Result(result.fields, result.flows, result.links, {"cwnd": trace})
    axes, _ = spiked.plot().axes
    assert axes.get_title(loc="left") == "Congestion window (start-up clipped, it reached 900)"
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] < 200


def test_no_traces_no_plot(result):
    bare = cwndlab.Result(result.fields, result.flows, result.links)
    with pytest.raises(ValueError, match=r"no traces to plot: expected .*cwnd"):
        plots.overview(bare)


def test_rules_share_one_scale(result):
    figure = plots.windows_by_rule({"one": result, "two": result})
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert figure.get_supylabel() == "window [packets]"
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_saving_is_repeatable(result, tmp_path, ending, start):
    first, second = (
        plots.save(result.plot(), tmp_path / f"{name}.{ending}").read_bytes() for name in "ab"
    )
    assert first == second
    assert first.startswith(start)


def test_other_endings_are_refused(result, tmp_path):
    with pytest.raises(ValueError, match=r"\.gif.*expected .*\.png, \.svg or \.pdf"):
        plots.save(result.plot(), tmp_path / "x.gif")


@pytest.mark.slow
def test_pyplot_is_not_used():
    import subprocess

    code = "import cwndlab.plots, sys; print('matplotlib.pyplot' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
