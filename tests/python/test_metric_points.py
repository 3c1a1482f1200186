"""One metric over another, of sweeps and of comparisons."""

import numpy as np
import pytest

import cwndlab
from cwndlab.plots import FigureStyleError
from small_sweeps import TEXT, refused, small_sweep

RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
LIMIT = "dumbbell.queue.limit"


@pytest.fixture(scope="module")
def found():
    return small_sweep(metrics=["aggregate_goodput_bps", "mean_queueing_delay_s"]).run()


@pytest.fixture(scope="module")
def comparison():
    return cwndlab.compare(
        RULES, queue=["drop-tail", "codel"], replicates=3, duration="2s",
        metrics=["goodput", "mean_queueing_delay_s"],
    )  # fmt: skip


def test_every_run_is_a_point_and_every_cell_a_mean(comparison):
    figure = comparison.plot(x="mean_queueing_delay_s", hue="rule", panel="queue")
    assert len(figure.axes) == 2
    assert figure.axes[0].get_xlabel() == "mean queueing delay [ms] (lower is better)"
    for axes, queue in zip(figure.axes, ["drop-tail", "codel"], strict=True):
        for rule, runs, mean in zip(RULES, axes.collections[::3], axes.containers, strict=True):
            where = {"queue": queue, "rule": rule}
            own = comparison.runs.filter(**where)
            drawn = np.asarray(runs.get_offsets())
            np.testing.assert_allclose(drawn[:, 0], 1e3 * own["mean_queueing_delay_s"].to_numpy())
            np.testing.assert_allclose(drawn[:, 1], own["goodput"].to_numpy())
            (x,), (y,) = mean.lines[0].get_data()
            means = comparison.summary.filter(**where)
            assert y == pytest.approx(means.filter(metric="goodput")["mean"][0])
            delay = means.filter(metric="mean_queueing_delay_s")["mean"][0]
            assert x == pytest.approx(1e3 * delay)
    one, other = figure.axes
    assert one.get_xlim() == other.get_xlim()
    assert one.get_ylim() == other.get_ylim()


def test_lines_join_the_levels_of_a_quantity(found):
    figure = found.plot(x="mean_queueing_delay_s", hue="rule")
    (axes,) = figure.axes
    assert [len(drawn.lines[0].get_xdata()) for drawn in axes.containers] == [2, 2]
    assert axes.containers[0].lines[0].get_linestyle() == "-"
    assert f"{LIMIT} from 5pkt (open) to 20pkt" in figure.get_suptitle()


def test_levels_without_an_order_need_a_place(comparison):
    with pytest.raises(FigureStyleError, match="panel: axis `queue` has several levels"):
        comparison.plot(x="mean_queueing_delay_s", hue="rule")


def test_a_comparison_over_an_axis(comparison):
    figure = comparison.plot(x="queue", hue="rule", y=["goodput", "mean_queueing_delay_s"])
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "goodput / available", "mean queueing delay [ms]",
    ]  # fmt: skip
    ticks = [text.get_text() for text in figure.axes[1].get_xticklabels()]
    assert ticks == ["drop-tail", "codel"]
    # Side by side, so that whiskers do not overlap.
    first, second = (drawn.lines[0].get_xdata() for drawn in figure.axes[0].containers)
    assert (first < second).all()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "queu"}, "x: .*did you mean queue"),
        ({"x": "goodputt"}, "x: .*did you mean goodput"),
        ({"x": "queue", "hue": "rul"}, "hue: .*did you mean rule"),
        ({"x": "queue", "hue": "group"}, "hue: .*expected recovery, queue, env or rule"),
        ({"y": "goodput"}, "x: is missing"),
    ],
)
def test_a_comparison_refuses_wrong_names(comparison, asked, message):
    with pytest.raises(FigureStyleError, match=message):
        comparison.plot(**asked)


COMPARE = ["compare", *RULES, "--duration", "2s", "--replicates", "2"]


def test_compare_measures_and_draws_what_is_asked(cli, tmp_path):
    figure = ["--plot", "a.svg", "--x", "p99_rtt_s", "--y", "goodput", "--hue", "rule"]
    done = cli(*COMPARE, "--metrics", "loss_rate", *figure)
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "a.svg").read_text()
    assert "p99 RTT [ms]" in drawn
    assert "goodput / available" in drawn


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "a.svg", "--x", "rul"], "did you mean rule"),
        (["--plot", "a.svg", "--x", "rule", "--y", "gooput"], "did you mean goodput"),
        (["--x", "rule"], "`--x` needs `--plot`"),
        (["--plot", "a.svg", "--hue", "rule"], "`--hue` needs `--x`"),
        (["--plot", "a.svg", "--x", "rule", "--against", "CUBIC"], "cannot be used with"),
        (["--x", "rule", "--beside", "ns2"], "`--x` cannot be used with `--beside`"),
        (["--plot", "a.svg", "--x", "rule", "--label", "los_rate=x"], "did you mean loss_rate"),
        (["--plot", "a.svg", "--label", "quue=x"], "did you mean queue"),
        (
            ["--plot", "a.svg", "--x", "env", "--hue", "rule", "--order", "constant"],
            "expected AIMD",
        ),
    ],
)
def test_compare_refuses_before_the_first_run(cli, tmp_path, options, message):
    done = cli(*COMPARE, "--store", "kept", *options)
    assert message in refused(done)
    assert not (tmp_path / "kept").exists()


def test_labels_of_metrics_axes_and_levels(found):
    labels = {
        "aggregate_goodput_bps": "Rate", LIMIT: "Buffer", "5pkt": "5", RULES[0]: "Reno",
        "rule": "Algorithm", "mean_queueing_delay_s": "Delay",
    }  # fmt: skip
    figure = found.plot(x=LIMIT, hue="rule", labels=labels)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "Rate [Mbit/s]"
    assert axes.get_xlabel() == "Buffer [packets]"
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "Algorithm"
    assert [text.get_text() for text in legend.get_texts()] == ["Reno", RULES[1]]
    # The figure that chooses itself has them, too.
    figure = found.plot(labels=labels)
    assert "Rate [Mbit/s]" in figure.axes[0].get_ylabel()
    assert figure.legends[0].get_title().get_text() == "Algorithm"
    with pytest.raises(FigureStyleError, match=r"labels: .*mean mean_queueing_delay_s"):
        found.plot(x=LIMIT, hue="rule", labels={"mean_queueing_delay": "x"})


def test_tables_have_the_labels_of_metrics(cli, tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    labels = ["--label", "loss_rate=Losses", "--label", "aggregate_goodput_bps=Rate"]
    figure = ["--plot", "a.svg", "--x", LIMIT, "--hue", "rule", "--y", "loss_rate"]
    done = cli("sweep", "small.toml", *labels, *figure)
    assert done.returncode == 0, done.stderr
    assert "Losses" in done.stdout
    assert "Rate" in done.stdout
    assert "loss rate" not in done.stdout
    assert "Losses [%]" in (tmp_path / "a.svg").read_text()


def test_a_sweep_refuses_a_wrong_label_of_a_metric_before_the_first_run(cli, tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    figure = ["--plot", "a.svg", "--x", LIMIT, "--hue", "rule", "--label", "loss_rat=x"]
    done = cli("sweep", "small.toml", "--store", "kept", *figure)
    assert "did you mean loss_rate" in refused(done)
    assert not (tmp_path / "kept").exists()
