"""Figures of a sweep with a line for each group of flows."""

import numpy as np
import polars as pl
import pytest

from cwndlab import ScenarioError, Sweep
from cwndlab.plots import FigureStyleError
from cwndlab.plots.drawing import LINE_LABEL
from cwndlab.sweeps.measures import find, measure
from small_sweeps import MEASURED, refused

X = "dumbbell.queue.limit"
GROUPS = {"first": "AIMD(1, 0.5)", "second": "AIAD(1, 3)", "third": "CUBIC"}
SHARED = {**MEASURED, "flows": [{"name": name, "rule": rule} for name, rule in GROUPS.items()]}


def shared_sweep(**changes) -> Sweep:
    given = {"base": SHARED, "axes": {X: ["5pkt", "20pkt"]}, "replicates": 3, **changes}
    return Sweep.from_dict({"name": "shared", "metrics": ["loss_rate", "group.share"], **given})


@pytest.fixture(scope="module")
def found():
    return shared_sweep().run()


def _names(axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_label() == LINE_LABEL]


def test_a_share_is_of_all_flows_of_a_group():
    rates = [("a", 1e6), ("a", 2e6), ("b", 9e6)]
    flows = [{"flow": f"{i}", "group": g, "goodput_bps": bps} for i, (g, bps) in enumerate(rates)]
    run = {"flows": flows, "links": []}
    shares = [find(f"groups.{name}.share") for name in ("a", "b")]
    found = measure(run, shares, "bottleneck", None)
    assert found == {"groups.a.share": 0.25, "groups.b.share": 0.75}
    # A group that counts in other metrics changes none of these.
    assert measure(run, shares, "bottleneck", "a") == found


def test_each_group_is_a_metric(found):
    names = [f"groups.{name}.share" for name in GROUPS]
    assert found.sweep.metrics == ["loss_rate", *names]
    np.testing.assert_allclose(found.runs.select(names).sum_horizontal(), 1.0)
    assert Sweep.from_dict(found.sweep.to_dict()) == found.sweep


def test_groups_are_lines_with_their_rules(found):
    figure = found.plot(x=X, hue="group", y="share")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "share of goodput [%]"
    assert axes.get_ylim()[0] == 0
    for (group, rule), drawn in zip(GROUPS.items(), axes.containers, strict=True):
        assert drawn.get_label() == rule
        means = found.summary.filter(metric=f"groups.{group}.share")["mean"]
        np.testing.assert_allclose(drawn.lines[0].get_ydata(), 100 * means.to_numpy())
    (fair,) = [line for line in axes.get_lines() if list(line.get_xdata()) == [0, 1]]
    assert fair.get_ydata() == pytest.approx([33.333, 33.333], abs=0.001)


def test_lines_have_a_legend_or_names_at_their_ends(found):
    figure = found.plot(x=X, hue="group", labels={rule: rule[0] * 3 for rule in GROUPS.values()})
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert sorted([*legends, *_names(figure.axes[0])]) == ["AAA", "AAA", "CCC"]
    # Names that would take the room of the lines.
    long = {rule: f"{rule}, which is a very long name" for rule in GROUPS.values()}
    figure = found.plot(x=X, hue="group", labels=long)
    assert _names(figure.axes[0]) == []
    assert len(figure.legends[0].get_texts()) == 3


def test_groups_have_their_names_where_an_axis_sets_a_rule():
    axes = {X: ["5pkt", "20pkt"], "flows.third.rule": ["CUBIC", "AIAD(1, 3)"]}
    found = shared_sweep(axes=axes, replicates=2).run()
    figure = found.plot(x=X, hue="group", panel="flows.third.rule")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(GROUPS)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_no_panel_cuts_a_whisker_off():
    axes = {X: ["20pkt", "5pkt"], "flows.third.rule": ["AIMD(1, 0.5)"]}
    found = shared_sweep(axes=axes, replicates=4).run()
    # The interval of a group is widest in the second panel.
    widest = found.summary.filter(metric="groups.third.share").sort(X)["ci95_high"].to_list()
    assert widest[0] < widest[1]
    figure = found.plot(x="flows.third.rule", panel=X, hue="group")
    top = 100 * found.summary.filter(pl.col("metric").str.starts_with("groups."))["ci95_high"].max()
    assert all(axes.get_ylim()[1] > top for axes in figure.axes)


def test_a_target_may_name_each_group():
    sweep = shared_sweep(until="ci(group.share) < 0.1")
    assert [target.metric for target in sweep.targets] == sweep.metrics[1:]
    assert {target.limit for target in sweep.targets} == {0.1}
    with pytest.raises(ScenarioError, match=r"until: .*did you mean group.share"):
        shared_sweep(until="ci(group.shar) < 0.1")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": X, "hue": "grup"}, "hue: .*did you mean group"),
        ({"x": X, "hue": "group", "y": "shar"}, "y: .*did you mean share"),
    ],
)
def test_wrong_names_are_refused(found, asked, message):
    with pytest.raises(FigureStyleError, match=message):
        found.plot(**asked)


def test_a_sweep_without_metrics_of_groups_says_so():
    found = shared_sweep(metrics=["loss_rate"], replicates=2).run()
    with pytest.raises(FigureStyleError, match=r"hue: .*such as group\.share"):
        found.plot(x=X, hue="group")


def test_one_command_draws_shares(cli, tmp_path):
    file = tmp_path / "shared.toml"
    flows = "".join(f'[[base.flows]]\nname = "{n}"\nrule = "{r}"\n' for n, r in GROUPS.items())
    file.write_text(
        f'metrics = ["loss_rate"]\nreplicates = 2\naxes."{X}" = ["5pkt", "20pkt"]\n[base]\n'
        'duration = "1s"\n[base.dumbbell]\nrate = "2Mbit"\ndelay = "5ms"\n'
        f'queue = {{ kind = "drop-tail", limit = "10pkt" }}\n{flows}'
    )
    figure = ["--plot", "share.svg", "--x", X, "--hue", "group"]
    done = cli("sweep", file, "--store", "kept", *figure)
    assert done.returncode == 0, done.stderr
    assert "share of goodput [%]" in (tmp_path / "share.svg").read_text()
    done = cli("sweep", file, "--store", "other", *figure, "--y", "shar")
    assert "--y:" in refused(done)
    assert "did you mean share" in done.stderr
    assert not (tmp_path / "other").exists()
