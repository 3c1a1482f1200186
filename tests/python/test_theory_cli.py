"""`cwndlab theory`: numbers, JSON, plots, bad input.

And that theory needs nothing of the simulator.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from cwndlab import theory
from cwndlab.plots import theory as draw


def _json(answer) -> dict:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_theory_runs_without_the_simulator():
    """As an oracle must: the native module cannot be imported, and nothing of the package but
    theory and the forms of messages is."""
    code = (
        "import sys; sys.modules['cwndlab._core'] = None\n"
        "from cwndlab import theory\n"
        "theory.simulate('Bimodal', [1, 2], capacity=9, steps=50); "
        "theory.friendly.minimising_alpha(0.8, 0.1)\n"
        "print(sorted(name for name in sys.modules if name.startswith('cwndlab.') and 'theory' "
        "not in name))\n"
        "print('matplotlib' in sys.modules, 'polars' in sys.modules)"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output == "['cwndlab._core', 'cwndlab.message']\nFalse False\n"


def test_friendly(command):
    found = _json(
        command(
            "theory",
            "friendly",
            "--beta",
            "0.875",
            "--threshold",
            "0.1",
            "--threshold",
            "0.3",
            "--json",
        )
    )
    alphas = {row["choice"]: row["alpha"] for row in found["rows"]}
    assert alphas["TD"] == pytest.approx(0.2)
    assert alphas["TO"] == pytest.approx(0.3125)
    assert alphas["TD"] < alphas["least error to 0.1"] < alphas["least error to 0.3"] < alphas["TO"]
    table = command("theory", "friendly", "--beta", "0.875").stdout
    assert "0.3125" in table
    assert "least error to 0.3" in table


def test_rate(cli):
    found = _json(
        cli(
            "theory",
            "rate",
            "AIMD(1, 0.5)",
            "--rtt",
            "100ms",
            "--loss",
            "0.25",
            "--rto",
            "400ms",
            "--json",
        )
    )
    values = {row["key"]: row for row in found["values"]}
    assert values["mean_window_packets"]["rule"] == pytest.approx(4)
    assert values["rate_without_timeouts_pps"]["rule"] == pytest.approx(70 / 3)
    assert all(row["rule"] == pytest.approx(row["tcp"]) for row in values.values())
    assert found["rto_s"] == 0.4
    shown = cli("theory", "rate", "GAIMD(0.31, 0.875)", "--rtt", "100ms", "--loss", "0.01").stdout
    assert "equation 55" in shown
    assert "132.59" in shown


def test_binomial_rate(command):
    found = _json(
        command("theory", "rate", "IIAD(1, 1)", "--rtt", "1s", "--loss", str(3 / 271), "--json")
    )
    assert found["values"][0]["rule"] == pytest.approx(271 / 3 / 9.5)


def test_phase(command):
    found = _json(
        command("theory", "phase", "AIMD(1, 0.5)", "--start", "20,50", "--start", "50,50", "--json")
    )
    first, second = found["runs"]
    assert first["at_last_signal"] == pytest.approx([50, 50], abs=1e-2)
    assert first["convergence_time_rtts"] == 107
    assert second["convergence_time_rtts"] == 0
    assert "never" in command("theory", "phase", "AIAD(1, 3)").stdout


@pytest.mark.slow
def test_fair(command):
    found = _json(command("theory", "fair", "AIMAD", "--json"))
    assert found["verdict"] == "fair"
    assert found["pattern"] == [{"increases": 6, "decreases": 1}]
    assert found["steady_window"] == pytest.approx(44)
    assert found["iterated_windows"] == pytest.approx([44, 44])
    unfair = _json(command("theory", "fair", "AIAD(1, 3)", "--json"))
    assert unfair["steady_window"] is None
    assert "any division stays" in command("theory", "fair", "MIMD(1.125, 0.8)").stdout


def test_bimodal(command):
    pseudo, prose = _json(command("theory", "bimodal", "--join", "1", "--json"))["rows"]
    assert pseudo["for_good_after_signals"] is None
    assert prose["for_good_after_signals"] == 30
    for row in _json(command("theory", "bimodal", "--json"))["rows"]:
        assert row["for_good_after_signals"] == 2
    for row in _json(command("theory", "bimodal", "--leave", "3", "--json"))["rows"]:
        assert row["for_good_after_signals"] == 1


def test_growth(command):
    found = _json(command("theory", "growth", "--json"))
    assert found["round_trips"] == {"per round trip": 7, "per ACK": 8, "equation 3": 5, "AIMD": 20}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["phse", "AIMD"], ["phse", "did you mean phase"]),
        (["phase", "AIDM"], ["AIDM", "AIMD"]),
        (["phase", "AIMD", "--start", "1"], ["--start", "1", "such as 8,64"]),
        (["phase", "AIMD", "--capacity", "-3"], ["--capacity", "-3", "above 0"]),
        (["phase", "IIAD", "--start", "0,1"], ["IIAD", "floor"]),
        (["phase", "AIMD", "--plot", "x.gif"], ["--plot", "x.gif", ".png"]),
        (["phase", "AIMD", "--plot", "nowhere/x.png"], ["--plot", "nowhere"]),
        (["fair", "IIAD"], ["IIAD", "a linear rule", "AIMAD"]),
        (["rate", "MIMD(1.125, 0.8)"], ["MIMD", "GAIMD"]),
        (["rate", "AIMD", "--loss", "1"], ["--loss", "1", "above 0 and below 1"]),
        (["rate", "AIMD", "--loss", "often"], ["--loss", "often"]),
        (["rate", "AIMD", "--rtt", "fast"], ["--rtt", "fast", "500ms"]),
        (["friendly", "--beta", "1.5"], ["--beta", "1.5", "below 1"]),
        (["friendly", "--formula", "3"], ["--formula", "3", "55"]),
        (["bimodal", "--flows", "2", "--leave", "2"], ["--leave", "2"]),
        (["bimodal", "--epsilon", "0"], ["--epsilon", "0"]),
        (["growth", "--to", "3"], ["--to", "3", "above 20"]),
    ],
)
def test_bad_input(command, arguments, named):
    answer = command("theory", *arguments)
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    lines = answer.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    for word in named:
        assert word in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["phase", "AIMD(1,0.5)"],
        ["fair", "AIMAD"],
        ["rate", "SQRT"],
        ["rate", "GAIMD(0.31, 0.875)"],
        ["friendly", "--threshold", "0.3"],
        ["bimodal", "--join", "2"],
        ["growth"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_plots_are_written(command, tmp_path, arguments):
    answer = command("theory", *arguments, "--plot", tmp_path / "plot.png")
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.endswith("plot.png\n")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_phase_plot_has_both_lines_and_units():
    figure = draw.phase(theory.phase("AIMD(1, 0.5)", [[8, 64]], capacity=100))
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "load of flow 1 [packets]",
        "load of flow 2 [packets]",
    )
    words = [text.get_text() for text in axes.texts]
    assert words[:2] == ["efficiency line: x1 + x2 = B", "fairness line: x1 = x2"]
    assert [axes.texts[index].get_rotation() for index in (0, 1)] == [315.0, 45.0]
    assert {"increase", "decrease"} <= set(words)
    efficiency = axes.get_lines()[0]
    assert (np.asarray(efficiency.get_xdata()) + np.asarray(efficiency.get_ydata())).tolist() == [
        100,
        100,
    ]
    assert axes.get_title(loc="left") == "AIMD(1, 0.5)"


def test_arrows_of_a_phase_plot_point_where_the_loads_go():
    """By the model: increases run up the diagonal, decreases towards the origin."""
    figure = draw.phase(theory.phase("AIMD(1, 0.5)", [[8, 64]], capacity=100))
    arrows = [text for text in figure.axes[0].texts if text.arrow_patch is not None]
    ways = [np.subtract(arrow.xy, arrow.xyann) for arrow in arrows]
    assert len(ways) == 6
    assert all(way[0] > 0 and way[0] == pytest.approx(way[1]) for way in ways[:3])
    for arrow, way in zip(arrows[3:], ways[3:], strict=True):
        assert way[0] < 0
        assert arrow.xy[0] * way[1] == pytest.approx(arrow.xy[1] * way[0])


def test_axes_of_a_phase_plot_name_two_rules():
    pair = ["AIMD(1, 0.5)", "AIMD(0.31, 0.875)"]
    (axes,) = draw.phase(theory.phase(pair, [[8, 64]], capacity=100)).axes
    assert axes.get_xlabel() == "load of flow 1, AIMD(1, 0.5) [packets]"
    assert axes.get_ylabel() == "load of flow 2, AIMD(0.31, 0.875) [packets]"


def test_curves_differ_without_colour():
    curves = {str(number): (np.array([1.0, 2]), np.array([1.0, number])) for number in range(1, 5)}
    figure = draw.friendly(0.8, curves, curves, curves)
    assert all(
        len({line.get_linestyle() for line in axes.get_lines()[:4]}) == 4 for axes in figure.axes
    )
    assert [axes.get_xlabel().partition(";")[0] for axes in figure.axes] == [
        "beta",
        "loss rate",
        "alpha [packets per RTT]",
    ]
