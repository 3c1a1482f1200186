"""Where routers draw numbers, cwndlab's distributions are those of ns-2 2.35.

What ns-2 counted is kept (`reference.py`). `python -m tests.ns2.statistical` prints the whole
table."""

from __future__ import annotations

import functools

import pytest

from . import statistical
from .statistical_scenarios import EXPERIMENTS


@functools.cache
def _comparisons(name: str) -> list[statistical.Comparison]:
    (experiment,) = (experiment for experiment in EXPERIMENTS if experiment.name == name)
    return statistical.compare(experiment)


@pytest.mark.parametrize("name", [experiment.name for experiment in EXPERIMENTS])
def test_means_agree(name):
    items = _comparisons(name)
    assert len(items) >= 5
    assert all(item.agrees for item in items), "\n" + statistical.table(items)


def test_no_metric_is_off_to_one_side_throughout():
    comparisons = [item for experiment in EXPERIMENTS for item in _comparisons(experiment.name)]
    one_sided = [side for side in statistical.sides(comparisons) if side.one_sided]
    assert not one_sided, "\n" + statistical.table(comparisons)


def test_a_bias_is_noticed():
    """Half a per cent to one side in every experiment is within each tolerance, but not chance."""
    theirs = [100 + 0.2 * (i % 5 - 2) for i in range(10)]
    ours = [x + 0.5 + 0.05 * (i % 5 - 2) for i, x in enumerate(theirs)]
    items = [statistical.Comparison(name, "queue", ours, theirs) for name in ("a", "b", "c")]
    assert all(item.agrees for item in items)
    (side,) = statistical.sides(items)
    assert side.one_sided
    assert side.mean == pytest.approx(0.005)


def test_a_difference_is_noticed():
    theirs = [10 + 0.1 * (i % 5 - 2) for i in range(10)]
    assert not statistical.Comparison("a", "queue", [x + 0.4 for x in theirs], theirs).agrees
