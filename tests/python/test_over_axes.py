"""Figures of a sweep over the axes that its reader chooses."""

import subprocess
import sys

import numpy as np
import pytest

from cwndlab.plots import FigureStyleError
from small_sweeps import TEXT, refused, small_sweep

X = "dumbbell.queue.limit"


@pytest.fixture(scope="module")
def found():
    return small_sweep().run()


def test_lines_are_the_means_of_the_table(found):
    figure = found.plot(x=X, hue="rule", y="loss_rate")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "dumbbell.queue.limit [packets]"
    for rule, drawn in zip(["AIMD(1, 0.5)", "AIAD(1, 3)"], axes.containers, strict=True):
        rows = found.summary.filter(metric="loss_rate", rule=rule)
        assert drawn.get_label() == rule
        np.testing.assert_allclose(drawn.lines[0].get_ydata(), 100 * rows["mean"].to_numpy())
        assert drawn.lines[0].get_xdata().tolist() == [5.0, 20.0]


def test_panels_share_their_scale(found):
    left, right = found.plot(x=X, panel="rule", y=["loss_rate"]).axes
    assert left.get_ylim() == right.get_ylim()


@pytest.mark.parametrize(
    ("labels", "title"),
    [
        ({}, "rule AIAD(1, 3)"),
        ({"AIAD(1, 3)": "theirs"}, "theirs"),
        ({"rule": "Rule:"}, "Rule: AIAD(1, 3)"),
        ({"rule": "Rule:", "AIAD(1, 3)": "theirs"}, "Rule: theirs"),
    ],
)
def test_a_panel_may_have_a_title_of_ones_own(found, labels, title):
    _, right = found.plot(x=X, panel="rule", labels=labels).axes
    assert right.get_title("left") == title


def test_a_figure_of_a_paper_leaves_the_study_to_its_caption(found):
    heads = [
        found.plot(x=X, hue="rule", style=style).get_suptitle() for style in ("screen", "paper")
    ]
    assert [head.startswith(f"{found.title}: ") for head in heads] == [True, False]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "rul"}, "x: .*did you mean rule"),
        ({"x": X, "hue": "rules"}, "hue: .*did you mean rule"),
        ({"x": X, "hue": "rule", "y": "loss"}, "y: .*did you mean loss_rate"),
        ({"x": X}, "axis `rule` has several levels"),
        ({"hue": "rule"}, "x: is missing"),
    ],
)
def test_wrong_names_are_refused(found, asked, message):
    with pytest.raises(FigureStyleError, match=message):
        found.plot(**asked)


def test_the_command_refuses_a_wrong_axis_before_the_first_run(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(TEXT)
    answer = subprocess.run(
        [
            sys.executable,
            "-m",
            "cwndlab",
            "sweep",
            file,
            "--store",
            tmp_path / "store",
            "--plot",
            tmp_path / "a.png",
            "--x",
            "rul",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "did you mean rule" in refused(answer)
    assert not (tmp_path / "store").exists()


def test_one_replicate_has_no_interval():
    one = small_sweep(replicates=1).run()
    (axes,) = one.plot(x=X, hue="rule", y="loss_rate").axes
    _, _, (bars,) = axes.containers[0].lines
    lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    assert not any(length > 0 for length in lengths)


def test_axes_are_no_comparison_with_ns2(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(TEXT)
    command = [sys.executable, "-m", "cwndlab", "sweep", file, "--beside", "ns2", "--x", X]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "`--x` cannot be used with `--beside`" in refused(answer)
