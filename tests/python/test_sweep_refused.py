"""What a sweep refuses, before its first run.

One line that names the key, the value and what is expected.
"""

from __future__ import annotations

import pytest

from cwndlab import ScenarioError
from small_sweeps import AXES, small_sweep


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": {"dumbbel.rate": ["1Mbit"]}}, r"axis `dumbbel.rate`: 1Mbit: .*dumbbel"),
        ({"axes": {**AXES, "flows.a.rul": ["x"]}}, r"axis `flows.a.rul`: x: .*rul"),
        ({"axes": {"flows.b.rule": ["CUBIC"]}}, r'flows.b.rule: "b" is not valid: expected a, an'),
        ({"axes": {"rule": []}}, r"axes.rule: \[\] is not valid: expected one value or more"),
        ({"axes": {"rule": 3}}, 'axes.rule: "3" is not valid: expected a list of values'),
        ({"axes": {"rule": ["CUBIQ"]}}, "CUBIQ"),
        ({"axes": {"rule": ["CUBIC", "CUBIC"]}}, "axis `rule` must not repeat the label `CUBIC`"),
        ({"axes": {"load": {"light": 3}}}, "axes.load.light: \"3\" is not valid"),
        ({"axes": {"seed": [1, 2]}}, "axis `seed` must not be used: replicates set it"),
        ({"axes": {"dumbbell.rate": ["1Mbit", "-1Mbit"]}}, "axis `dumbbell.rate`: -1Mbit: "),
        ({"zip": [{"dumbbell.rate": ["1Mbit"], "flows.a.count": [1, 2]}]},
        "must have equally many values: `dumbbell.rate` has 1"),
        ({"zip": [{"rule": ["CUBIC"]}]}, "axis `rule` must not be repeated"),
        ({"replicates": 0}, "replicates: 0 is not valid: expected a whole number from 1"),
        ({"replicates": 3_000_000},
        "sweep: .*12000000 runs.* is not valid: expected at most 10000000; .* or --yes"),
        ({"metrics": []}, r"metrics: \[\] is not valid"),
        ({"metrics": ["links.bottleneck.god"]}, 'metrics: "links.bottleneck.god" is not valid'),
        ({"metrics": ["name"]}, 'metrics: "name" is not valid: expected '),
        ({"metrics": ["flows.b.loss_rate"]}, 'group: "b" is not known: expected a or'),
        ({"link": "west"}, 'link: "west" is not known: expected bottleneck'),
        ({"group": "b"}, '"b" is not valid: expected a'),
        ({"until": "goodput < 1%"},
        r'until: "goodput < 1%" is not valid: expected "ci\(METRIC\) < 1%"'),
        ({"until": "ci(goodput) < 0"}, 'until: "ci'),
        ({"until": "ci(timeouts) < 1%"}, 'until: "timeouts" is not known'),
        ({"compare": "rules"}, 'compare: "rules" is not known: expected rule or dumb'),
        ({"baseline": "CUBIC"}, 'baseline: "CUBIC" is not known'),
        ({"replicate": 3}, 'key: "replicate" is not known: .*did you mean replicates'),
        ({"name": "../x"}, 'name: "../x" is not valid'),
        ({"base": {}}, "base is missing: expected a scenario"),
        ({"axes": {"env": ["constant"]}}, "`base` must not define a network when axis"),
        ({"duration": "5s"}, "`duration` needs an axis `env`"),
        ({"axes": [1]}, "axes: .* is not valid: expected a table"),
    ],
)  # fmt: skip
def test_bad_sweeps(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        small_sweep(**changes).run(tmp_path / "store")
    assert not list(tmp_path.iterdir())


def test_more_than_ten_million_runs_are_allowed_when_asked_for():
    sweep = small_sweep(replicates=3_000_000, yes=True)
    assert len(sweep.plan) == 12_000_000
    with pytest.raises(ScenarioError, match="--yes"):
        small_sweep(replicates=3_000_000)
