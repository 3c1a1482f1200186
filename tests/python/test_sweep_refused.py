"""What a sweep refuses, before its first run.

One line that names the key, the value and what is allowed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cwndlab import ScenarioError
from small_sweeps import AXES, small_sweep


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": {"dumbbel.rate": ["1Mbit"]}}, r"axis `dumbbel.rate`: 1Mbit: .*dumbbel"),
        ({"axes": {**AXES, "flows.a.rul": ["x"]}}, r"axis `flows.a.rul`: x: .*rul"),
        ({"axes": {"flows.b.rule": ["CUBIC"]}}, r"`flows.b.rule`: the list has no entry `b`"),
        ({"axes": {"rule": []}}, "axis `rule`: is empty; allowed: one or more values"),
        ({"axes": {"rule": "CUBIC"}}, "axis `rule`: `CUBIC` is no list; allowed: a list of values"),
        ({"axes": {"rule": ["CUBIQ"]}}, "CUBIQ"),
        ({"axes": {"rule": ["CUBIC", "CUBIC"]}}, "axis `rule`: repeats `CUBIC`"),
        ({"axes": {"load": {"light": 3}}}, "axis `load`: `light` is no table"),
        ({"axes": {"seed": [1, 2]}}, "axis `seed`: replicates have the seeds"),
        ({"axes": {"dumbbell.rate": ["1Mbit", "-1Mbit"]}}, "axis `dumbbell.rate`: -1Mbit: "),
        ({"zip": [{"dumbbell.rate": ["1Mbit"], "flows.a.count": [1, 2]}]},
        "zip: .* allowed: equally many"),
        ({"zip": [{"rule": ["CUBIC"]}]}, "axis `rule`: is there twice"),
        ({"replicates": 0}, "replicates: `0` is not allowed; allowed: a whole number from 1"),
        ({"replicates": 3_000_000},
        "sweep: 12000000 runs are more than 10000000; allowed: .* or --yes"),
        ({"metrics": []}, "metrics: is empty"),
        ({"metrics": ["links.bottleneck.god"]}, "metrics: `links.bottleneck.god` is not known"),
        ({"metrics": ["name"]}, "metrics: `name` is no number of a run"),
        ({"metrics": ["flows.b.loss_rate"]}, "the run has no `b`; allowed: a, or"),
        ({"link": "west"}, "link: `west` is not in this run; allowed: bottleneck"),
        ({"group": "b"}, "no entry `b`"),
        ({"until": "goodput < 1%"},
        r"until: `goodput < 1%` is not allowed; allowed: " r"\"ci\(METRIC\) " r"< 1%\""),
        ({"until": "ci(goodput) < 0"}, "until: `ci"),
        ({"until": "ci(timeouts) < 1%"}, "until: `timeouts` is not measured"),
        ({"compare": "rules"}, "compare: `rules` is no axis; allowed: rule, dumbbell.queue.limit"),
        ({"baseline": "CUBIC"}, "baseline: `CUBIC` is not there"),
        ({"replicate": 3}, "key `replicate` is not known, did you mean `replicates`"),
        ({"base": {}}, "base: is missing"),
        ({"axes": {"env": ["constant"]}}, "base: has a network, and environments are networks"),
        ({"duration": "5s"}, "duration: is for environments"),
        ({"axes": [1]}, "axes: `.*` is not allowed; allowed: a table"),
        ({"name": "../x"}, "name: `../x` is not allowed"),
    ],
)  # fmt: skip
def test_bad_sweeps(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        small_sweep(**changes).run(tmp_path / "store")
    assert not list(Path(tmp_path).rglob("*.journal"))


def test_more_than_ten_million_runs_are_allowed_when_asked_for():
    sweep = small_sweep(replicates=3_000_000, yes=True)
    assert len(sweep.plan) == 12_000_000
    with pytest.raises(ScenarioError, match="--yes"):
        small_sweep(replicates=3_000_000)
