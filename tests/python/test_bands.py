"""Lines over time with a band over replicates."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import cwndlab
from cwndlab import plots
from small_sweeps import MEASURED

TRACED = {**MEASURED, "trace": {"cwnd": "100ms", "queue": "100ms", "rate": "500ms"}}


def _run(*windows: float) -> SimpleNamespace:
    """A run of two flows with these windows at the times 0 and 1."""
    trace = pl.DataFrame({
        "time_s": [0.0, 1.0, 0.0, 1.0],
        "flow": ["a", "a", "b", "b"],
        "cwnd_packets": [float(window) for window in windows],
    })  # fmt: skip
    flows = pl.DataFrame({"flow": ["a", "b"], "group": ["g", "g"], "rule": ["CUBIC", "CUBIC"]})
    return SimpleNamespace(traces={"cwnd": trace}, flows=flows)


def test_the_line_is_the_median_and_the_band_has_half_of_the_replicates():
    # Means of the two flows: 2, 3, 4, 5, 6 at first, and 1, 1, 1, 1, 6 a second later.
    runs = [_run(1 + i, 1, 3 + i, 1) for i in range(4)] + [_run(5, 6, 7, 6)]
    (axes,) = plots.bands(runs).axes
    (line,) = axes.get_lines()
    assert line.get_ydata().tolist() == [4, 1]
    assert line.get_label() == "g: CUBIC"
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[band[:, 0] == 0][:, 1].min(), band[band[:, 0] == 0][:, 1].max()) == (3, 5)
    assert (band[band[:, 0] == 1][:, 1].min(), band[band[:, 0] == 1][:, 1].max()) == (1, 1)


def test_replicates_of_several_rules_are_lines():
    found = {
        rule: [cwndlab.run(TRACED, patch={"flows.a.rule": rule}, seed=seed) for seed in (1, 2, 3)]
        for rule in ("AIMD(1, 0.5)", "CUBIC")
    }
    figure = plots.bands(found)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "window [packets]", "goodput [Mbit/s]", "queue [packets]",
    ]  # fmt: skip
    for axes in figure.axes:
        assert [line.get_label() for line in axes.get_lines()] == list(found)
        assert axes.get_ylim()[0] == 0
    # The link carries 2 Mbit/s with headers.
    rates = figure.axes[1].get_lines()[0].get_ydata()
    assert 0 < np.max(rates) < 2.05
    with pytest.raises(ValueError, match="replicates: 1 is not valid"):
        plots.bands([found["CUBIC"][0]])
    with pytest.raises(ValueError, match="expected runs with a trace cwnd, rate, queue"):
        plots.bands([cwndlab.run(MEASURED, seed=seed) for seed in (1, 2)])
