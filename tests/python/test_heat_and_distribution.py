"""Maps of colours, and cumulative distributions."""

import numpy as np
import pytest

import cwndlab
from cwndlab.plots import FigureStyleError
from cwndlab.runs.store import Store
from cwndlab.sweeps.reading import read_sweep
from cwndlab.tables import number
from small_sweeps import MEASURED, TEXT, refused, small_sweep

LIMIT = "dumbbell.queue.limit"
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
FINITE = {
    **MEASURED,
    "duration": "8s",
    "flows": [
        {"name": "short", "rule": "CUBIC", "packets": 5, "count": 3},
        {"name": "endless", "rule": "CUBIC", "count": 3},
    ],
}


@pytest.fixture(scope="module")
def found():
    return small_sweep().run()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def transfers(folder):
    given = {"base": FINITE, "axes": {LIMIT: ["40pkt", "80pkt"]}, "replicates": 3}
    return small_sweep(**given, distributions="received_s").run(folder)


def test_cells_have_the_means_of_the_table(found):
    figure = found.plot(x=LIMIT, y="rule", heat="loss_rate")
    axes, bar = figure.axes
    assert bar.get_ylabel() == "loss rate [%]"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["5pkt", "20pkt"]
    assert [text.get_text() for text in axes.get_yticklabels()] == RULES
    metric = found.sweep.measures[found.sweep.metrics.index("loss_rate")]
    cells = {text.get_position(): text.get_text().split("\n")[0] for text in axes.texts}
    for up, rule in enumerate(RULES):
        for across, limit in enumerate(["5pkt", "20pkt"]):
            cell = {"metric": "loss_rate", "rule": rule, LIMIT: limit}
            assert cells[across, up] == number(found.summary.filter(**cell)["mean"][0], metric)


def test_panels_have_the_same_colours():
    axes = {"rule": RULES, LIMIT: ["5pkt", "20pkt"], "dumbbell.rate": ["1Mbit", "2Mbit"]}
    found = small_sweep(axes=axes, replicates=2, metrics=["loss_rate"]).run()
    figure = found.plot(x=LIMIT, y="dumbbell.rate", heat="loss_rate", panel="rule", style="paper")
    one, other = (axes.images[0] for axes in figure.axes[:2])
    means = 100 * found.summary["mean"].to_numpy()
    assert one.get_clim() == other.get_clim() == (means.min(), means.max())


def test_a_distribution_is_over_the_flows_of_all_replicates(transfers):
    assert transfers.flows.height == 2 * 3 * 6
    (axes,) = transfers.plot(cdf="received_s", hue=LIMIT).axes
    assert axes.get_xlabel() == "completion at the receiver [ms]"
    for line in axes.get_lines():
        x, y = line.get_data()
        assert (np.diff(x) >= 0).all()
        # Half of the flows never end.
        assert y[0] == 0
        assert y[-1] == pytest.approx(0.5)
        assert len(y) == 1 + 3 * 3
    # The interval of the share is of three runs, each with six flows.
    assert len(axes.collections) == 2


def test_a_store_has_the_flows_too(transfers, folder):
    kept = read_sweep(Store(folder, write=False), transfers.sweep.name).findings
    assert kept.flows.equals(transfers.flows)


def test_a_distribution_of_each_group(transfers):
    (axes, _) = transfers.plot(cdf="received_s", hue="group", panel=LIMIT).axes
    short, endless = (line.get_ydata()[-1] for line in axes.get_lines())
    assert (short, endless) == (1.0, 0.0)


def test_a_comparison_has_both():
    found = cwndlab.compare(
        RULES, queue=["drop-tail", "codel"], replicates=3, duration="2s", metrics=["goodput"]
    )
    axes, other = found.plot(cdf="goodput", hue="rule", panel="queue").axes
    assert axes.get_ylabel() == "share of runs"
    assert axes.get_xlim() == other.get_xlim()
    for rule, line in zip(RULES, axes.get_lines(), strict=True):
        own = found.runs.filter(rule=rule, queue="drop-tail")["goodput"].sort().to_list()
        assert line.get_xdata().tolist() == [own[0], *own]
        np.testing.assert_allclose(line.get_ydata(), [0, 1 / 3, 2 / 3, 1])
    assert found.plot(x="rule", y="queue", heat="goodput").axes[0].images


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": LIMIT, "y": "rul", "heat": "loss_rate"}, "y: .*did you mean rule"),
        ({"x": LIMIT, "y": "rule", "heat": "los_rate"}, "heat: .*did you mean loss_rate"),
        ({"x": LIMIT, "heat": "loss_rate"}, "y: is missing: expected one axis"),
        ({"x": LIMIT, "y": "rule", "heat": "loss_rate", "hue": "rule"}, "hue: cannot be used"),
        ({"cdf": "los_rate", "hue": "rule", "panel": LIMIT}, "cdf: .*did you mean loss_rate"),
        ({"cdf": "loss_rate", "hue": "rule"}, "panel: axis .* has several levels"),
        ({"cdf": "loss_rate", "x": "rule"}, "x: cannot be used with `cdf`"),
    ],
)
def test_wrong_names_are_refused(found, asked, message):
    with pytest.raises(FigureStyleError, match=message):
        found.plot(**asked)


def test_a_column_that_flows_do_not_have_is_refused():
    with pytest.raises(cwndlab.ScenarioError, match=r"distributions: .*did you mean received_s"):
        small_sweep(distributions=["receivd_s"])


def test_one_command_draws_each(cli, tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    store = ["sweep", "small.toml", "--store", "kept"]
    heat = ["--plot", "heat.svg", "--x", LIMIT, "--y", "rule", "--heat", "jain_index"]
    assert cli(*store, *heat).returncode == 0
    assert "Jain" in (tmp_path / "heat.svg").read_text()
    cdf = ["--plot", "cdf.svg", "--cdf", "mean_rtt_s", "--hue", "rule", "--panel", LIMIT]
    # From the store, too.
    assert cli(*store, *cdf).returncode == 0
    assert "mean RTT [ms]" in (tmp_path / "cdf.svg").read_text()
    wrong = ["--plot", "a.svg", "--cdf", "mean_rt_s", "--hue", "rule", "--panel", LIMIT]
    message = refused(cli("sweep", "small.toml", "--store", "other", *wrong))
    assert "--cdf:" in message
    assert "did you mean mean_rtt_s" in message
    assert not (tmp_path / "other").exists()
