"""Figures of sweeps over time, of transfers, with formulas and logarithmic axes, and headlines."""

import numpy as np
import pytest

import cwndlab
from cwndlab.plots import FigureStyleError
from cwndlab.runs.store import Store
from small_sweeps import MEASURED, small_sweep

LIMIT = "dumbbell.queue.limit"
SHORT = {
    **MEASURED,
    "duration": "8s",
    "flows": [{"name": "answers", "rule": "CUBIC", "responses": {"size": 5, "think": "500ms"}}],
    "arrivals": [{"name": "web", "rule": "CUBIC", "gap": "300ms", "size": 3}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def short(folder):
    given = {"base": SHORT, "axes": {LIMIT: ["40pkt", "80pkt"]}, "replicates": 2}
    without = small_sweep(**given, metrics=["loss_rate"]).run(folder)
    assert without.transfers.is_empty()
    return small_sweep(**given, metrics=["loss_rate"], distributions="fct_s").run(folder)


def test_a_distribution_of_transfers_is_that_of_single_runs(short):
    base = short.sweep.plan.cell(0).document(1)
    one = cwndlab.run(base).traces["transfers"]
    kept = short.transfers.filter(replicate=1, **{LIMIT: "40pkt"})
    assert kept["fct_s"].to_list() == one["fct_s"].to_list()
    (web, _) = short.plot(cdf="fct_s", hue="group", panel=LIMIT, log="x").axes
    lines = {line.get_label(): line.get_ydata() for line in web.get_lines()}
    assert list(lines) == ["CUBIC", "web"]
    assert lines["web"][-1] == 1.0
    # One step for each transfer of both replicates, and the first value twice.
    arrived = short.transfers.filter(group="web", **{LIMIT: "40pkt"}).height
    assert len(lines["web"]) == arrived + 1
    assert web.get_xscale() == "log"


def test_stored_runs_that_lack_what_a_figure_reads_are_done_again(short, folder):
    told = []
    sweep = small_sweep(**{**short.sweep.to_dict(), "replicates": 2})
    again = sweep.run(folder, progress=told.append)
    assert [event["event"] for event in told].count("run") == 0
    assert again.transfers.equals(short.transfers)
    with Store(folder, write=False) as kept:
        assert all(record.traces == "transfers" for record in kept.records())


def test_over_time_a_line_is_the_median_of_the_replicates():
    one = small_sweep(axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, over_time="queue", replicates=3)
    found = one.run()
    (axes,) = found.plot(bands="queue", hue="rule").axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["AIMD(1, 0.5)", "CUBIC"]
    documents = [one.plan.cell(1).document(replicate) for replicate in range(3)]
    traces = [cwndlab.run(document).traces["queue"] for document in documents]
    queues = [trace.filter(link="bottleneck")["queue_packets"].to_numpy() for trace in traces]
    assert np.array_equal(lines["CUBIC"].get_ydata(), np.median(queues, axis=0))


def test_a_formula_is_drawn_in_the_units_of_the_axes():
    rates = small_sweep(axes={"dumbbell.rate": ["1Mbit", "2Mbit", "20Mbit"]}, metrics=["goodput"])
    found = rates.run()
    figure = found.plot(x="dumbbell.rate", curves={"half": "x/2", "flat": "0.5"}, log="y")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "dumbbell.rate [Mbit/s]"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    assert lines["half"][0].tolist() == pytest.approx([1, 0.5])
    assert lines["half"][-1].tolist() == pytest.approx([20, 10])
    assert set(lines["flat"][:, 1]) == {0.5}
    figure = found.plot(x="goodput", y="goodput", hue="dumbbell.rate", curves={"same": "x"})
    same = next(line for line in figure.axes[0].get_lines() if line.get_label() == "same")
    assert np.array_equal(*same.get_data())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": LIMIT, "curves": {"a": "2*y"}}, 'curves: a: formula: "2[*]y" is not valid'),
        ({"x": "rule", "curves": {"a": "x"}}, 'curves: "rule" is not valid: expected a metric, or'),
        (
            {"x": LIMIT, "y": ["goodput", "loss_rate"], "curves": {"a": "x"}},
            "one metric on y: got 2",
        ),
        ({"x": LIMIT, "log": "z"}, 'log: "z" is not known: expected x or y'),
        ({"bands": "cwn"}, r'bands: "cwn" is not known: .* \(did you mean cwnd'),
        ({"bands": "cwnd", "hue": "rule"}, f"hue: axis `{LIMIT}` has several levels"),
        ({"bands": "cwnd", "x": LIMIT}, "x: cannot be used with `bands`"),
        ({"cdf": "goodput", "curves": {"a": "x"}}, "curves: cannot be used with `cdf`"),
        ({"curves": {"a": "x"}}, "x: is missing"),
    ],
)
def test_what_a_figure_cannot_have_is_refused(asked, message):
    from cwndlab.plots.over import Over
    from cwndlab.sweeps import SweepResult

    with pytest.raises(FigureStyleError, match=message):
        Over.of(**asked).check(SweepResult(small_sweep()))


def test_a_headline_stands_above_what_the_figure_says():
    found = small_sweep(replicates=2).run()
    for asked in ({}, {"style": "paper"}):
        plain = found.plot(x=LIMIT, hue="rule", **asked)
        figure = found.plot(x=LIMIT, hue="rule", title="Small buffers lose " * 5, **asked)
        (above,) = figure.texts[-1:]
        assert above.get_text().replace("\n", " ") == ("Small buffers lose " * 5).strip()
        assert "\n" in above.get_text()
        note = figure.get_suptitle().split("\n")
        assert " ".join(note).strip() == plain.get_suptitle()
        figure.draw_without_rendering()
        whole, room = above.get_window_extent(), figure.axes[0].get_window_extent()
        assert whole.x1 <= figure.bbox.width
        assert whole.y0 > room.y1
