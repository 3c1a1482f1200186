"""Axes of sweeps: which of them go together, what they are called, and what is refused."""

from __future__ import annotations

import json

import pytest

import cwndlab
from cwndlab import ScenarioError, Sweep
from cwndlab.sweeps.ranges import expanded

BASE = {
    "duration": "1s",
    "dumbbell": {
        "rate": "2Mbit",
        "delay": "5ms",
        "access_delay": ["1ms", "5ms"],
        "queue": {"kind": "red", "limit": "10pkt", "min": "3pkt"},
    },
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)"}, {"name": "b", "rule": "CUBIC", "count": 2}],
}
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)"]


def _sweep(**changes) -> Sweep:
    return Sweep.from_dict({"name": "small", "base": BASE, "replicates": 2, **changes})


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        # The limit would be lost: the queue comes after it as a whole.
        (
            {"axes": {"dumbbell.queue.limit": ["5pkt", "9pkt"],
            "dumbbell.queue": [{"kind": "drop-tail"}]}},
            "`dumbbell.queue.limit`", "`dumbbell.queue`",
        ),
        ({"axes": {"rule": RULES, "flows.0.rule": RULES}}, "`rule` (sets `flows.*.rule`)",
        "`flows.0.rule`"),
        ({"axes": {"flows.1.count": [1, 2], "flows.b.count": [3, 4]}}, "`flows.1.count`",
        "`flows.b.count`"),
        ({"axes": {"recovery": ["sack"], "flows": [BASE["flows"]]}},
        "`recovery` (sets `flows.*.recovery`)", "`flows`"),
        ({"axes": {"queue": ["codel"], "dumbbell.queue": [{"kind": "pie"}]}},
         "`queue` (sets `dumbbell.queue.kind`)", "`dumbbell.queue`"),
        # The queue's kind takes a threshold away, the axis sets it.
        ({"axes": {"dumbbell.queue.min": ["2pkt", "4pkt"], "queue": ["red", "codel"]}},
         "`dumbbell.queue.min`", "`queue` (sets `dumbbell.queue.min`)"),
        ({"axes": {"load": {"x": {"flows.a.count": 1}}},
         "zip": [{"flows.*.count": [1], "dumbbell.rate": ["1Mbit"]}]},
         "`load` (sets `flows.a.count`)", "`flows.*.count`"),
        ({"zip": [{"flows.*.count": [1, 2], "flows.b.count": [2, 1]}]}, "`flows.*.count`",
        "`flows.b.count`"),
        # A list that the base has not: nothing says what its entries are called.
        ({"axes": {"cross": [[], []], "cross.*.rate": ["1Mbit"]}}, "`cross`", "`cross.*.rate`"),
    ],
)  # fmt: skip
def test_axes_that_overwrite_each_other_are_refused(changes, first, second):
    with pytest.raises(ScenarioError) as raised:
        _sweep(**changes)
    assert str(raised.value).startswith(f"axes {first} and {second} must not set the same key")


def test_axes_of_environments_that_overwrite_each_other_are_refused():
    for axes in (
        {"rule": RULES, "flows.flow.rule": RULES},
        {"flows.*.recovery": ["reno"], "recovery": ["sack"]},
    ):
        with pytest.raises(ScenarioError, match="must not set the same key"):
            Sweep(axes={"env": ["constant"], **axes}, duration="2s")


def test_axes_that_touch_and_do_not_overlap_are_allowed():
    """In either order: kinds of queues beside their limits, one group's rule beside another's."""
    for names in (["queue", "dumbbell.queue.limit"], ["dumbbell.queue.limit", "queue"]):
        values = {"queue": ["drop-tail", "codel", "red"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
        documents = [
            cell.document()
            for cell in _sweep(axes={name: values[name] for name in names}).plan.cells()
        ]
        queues = [document["dumbbell"]["queue"] for document in documents]
        assert {(queue["kind"], queue["limit"]) for queue in queues} == {
            (kind, limit) for kind in values["queue"] for limit in values["dumbbell.queue.limit"]
        }
        # Only a red queue has a threshold.
        assert all(("min" in queue) == (queue["kind"] == "red") for queue in queues)
    rules = _sweep(axes={"flows.a.rule": RULES, "flows.b.rule": RULES}).plan.cells()
    assert len({tuple(flow["rule"] for flow in cell.document()["flows"]) for cell in rules}) == 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dumbbell.rate", "9Mbit"),
        ("dumbbell", {"rate": "1Mbit", "delay": "1ms"}),
        ("flows.1.rule", "CUBIC"),
    ],
)
def test_a_setting_that_is_an_axis_is_refused(key, value):
    axes = {"dumbbell.rate": ["1Mbit"], "rule": RULES}
    with pytest.raises(
        ScenarioError,
        match=rf"`set.{key}` and axis `.* must not set the same key",
    ):
        _sweep(axes=axes, set={key: value})
    assert _sweep(axes=axes, set={"dumbbell.delay": "7ms"}).base["dumbbell"]["delay"] == "7ms"


def test_axes_and_settings_of_environments_come_after_their_base():
    """What all environments share is said first, as in a scenario.

    An axis then sets its own values.
    """
    base = {"flows.flow.rule": "AIAD(1, 3)", "flows.flow.count": 4, "dumbbell.access_delay": "3ms"}
    sweep = Sweep(
        base=base, axes={"env": ["constant", "square"], "rule": RULES, "flows.flow.count": [2, 5]}
    )
    found = [
        (cell.labels, cell.document()["flows"][0], cell.document()["dumbbell"]["access_delay"])
        for cell in sweep.plan.cells()
    ]
    assert len(found) == 8
    for labels, flow, delay in found:
        assert (flow["rule"], str(flow["count"]), delay) == (
            labels["rule"],
            labels["flows.flow.count"],
            "3ms",
        )
    # An axis that the sweep does not name has one level, which an axis of another name may change.
    plan = Sweep(axes={"env": ["constant"], "flows.flow.rule": RULES}).plan
    assert [cell.document()["flows"][0]["rule"] for cell in plan.cells()] == RULES


def test_settings_reach_environments():
    sweep = Sweep.from_dict(
        {
            "axes": {"env": ["constant"], "rule": RULES},
            "duration": "2s",
            "set": {"flows.flow.count": 3},
        }
    )
    assert [cell.document()["flows"][0]["count"] for cell in sweep.plan.cells()] == [3, 3]
    with pytest.raises(
        ScenarioError, match=r"`set.flows.flow.rule` and axis `rule` \(sets `flows.flow.rule`\)"
    ):
        Sweep.from_dict(
            {"axes": {"env": ["constant"], "rule": RULES}, "set": {"flows.flow.rule": "CUBIC"}}
        )


@pytest.mark.parametrize(
    "name",
    ["replicate", "replicates", "metric", "mean", "ci95_low", "baseline", "trace_hash", "sweep",
     "key", "machine", "build",
     "duration_s", "finished", "version", "goodput", "timeouts", "flows.a.mean_rtt_s", ""],
)  # fmt: skip
def test_names_that_tables_have_for_themselves_are_no_axes(name):
    changes = {"x": {"dumbbell.rate": "1Mbit"}}
    metrics = ["loss_rate", "flows.a.mean_rtt_s"]
    for given in ({"axes": {name: changes}}, {"zip": [{"dumbbell.delay": ["1ms"], name: changes}]}):
        with pytest.raises(
            ScenarioError,
            match=r'axes: ".*" is not valid: expected other names',
        ):
            _sweep(metrics=metrics, **given)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            ["seed"],
            'metrics: "seed" is not valid: expected other names than sweep, replicate, ',
        ),
        (["goodput", "duration_s"], 'metrics: "duration_s" is not valid: expected other names'),
        (
            ["goodput", "loss_rate", "goodput"],
            "`metrics` must not repeat `goodput`",
        ),
        (3, "metrics: 3 is not valid: expected a name, or a list of names"),
        ([3], "metrics: 3 is not valid: expected a name, or a list of names"),
        (["flows.a.group"], 'metrics: "flows.a.group" is not valid'),
        (["links.bottleneck.link"], 'metrics: "links.bottleneck.link" is not valid'),
    ],
)
def test_metrics_that_would_spoil_a_table_are_refused(metrics, message):
    for make in (_sweep, lambda **changes: Sweep(base=BASE, **changes)):
        with pytest.raises(ScenarioError, match=message):
            make(metrics=metrics)


@pytest.mark.parametrize(
    "changes",
    [{"name": 3}, {"axes": [1]}, {"zip": "x"}, {"zip": [1]}, {"link": 3}, {"group": []},
     {"compare": 1}, {"until": 1},
     {"traces": "no"}, {"yes": "no"}, {"assume": 3}, {"duration": []}, {"seed": "1"},
     {"most": 1.5}],
)  # fmt: skip
def test_values_of_another_kind_are_refused(changes):
    (key,) = changes
    for make in (_sweep, lambda **changes: Sweep(**{"base": BASE, **changes})):
        with pytest.raises(ScenarioError, match=rf"^{key}: .* is not valid: expected "):
            make(**changes)


def test_an_axis_that_sets_the_seed_is_refused():
    with pytest.raises(ScenarioError, match="axis `load` must not set `seed`"):
        _sweep(axes={"load": {"x": {"seed": 3}}})


def test_a_seed_of_zero_is_kept_in_the_text_of_a_sweep():
    assert Sweep.from_dict(_sweep(seed=0).to_dict()).seed == 0


def test_the_seed_of_the_base_is_that_of_the_first_replicate(tmp_path):
    """Unless the sweep says another one.

    A setting of the base is then refused, as nothing would come of it.
    """
    seeded = {**BASE, "seed": 17}
    (tmp_path / "base.json").write_text(json.dumps(seeded))
    for base in (seeded, str(tmp_path / "base.json")):
        assert [run.seed for run in _sweep(base=base).plan] == [17, 18]
        assert [run.seed for run in _sweep(base=base, seed=3).plan] == [3, 4]
    assert [run.seed for run in _sweep(set={"seed": 5}).plan] == [5, 6]
    assert [run.seed for run in _sweep().plan] == [1, 2]
    over = Sweep(base={"seed": 9}, axes={"env": ["constant"]}, replicates=2, duration="2s")
    assert [run.seed for run in over.plan] == [9, 10]
    assert Sweep.from_dict(_sweep(base=seeded).to_dict()).seed == 17
    with pytest.raises(
        ScenarioError,
        match=r"`seed` and `set.seed` must not both be given: use `seed`, or `--seed",
    ):
        _sweep(seed=3, set={"seed": 5})
    with pytest.raises(
        ScenarioError, match="seed: -1 is not valid: expected a whole number from 0"
    ):
        _sweep(base={**BASE, "seed": -1})


def test_the_largest_seeds():
    """Of the last replicate, too, the seed is below 2^63.

    Tables and TOML have no larger whole numbers.
    """
    found = _sweep(seed=2**63 - 2, metrics=["loss_rate"]).run()
    assert found.runs["seed"].to_list() == [2**63 - 2, 2**63 - 1]
    with pytest.raises(
        ScenarioError, match=f"seed: {2**63 - 1} is not valid: expected a whole number from 0 to "
    ):
        _sweep(seed=2**63 - 1)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"linspace": ["1Mbit", "4Mbit", 4]}, ["1Mbit", "2Mbit", "3Mbit", "4Mbit"]),
        ({"linspace": [4, 1, 3]}, [4, 2.5, 1]),
        ({"linspace": [5, 9, 1]}, [5]),
        ({"logspace": [1, 1000, 4]}, [1, 10, 100, 1000]),
        ({"logspace": ["10ms", "1ms", 3]}, ["10ms", "3.16228ms", "1ms"]),
        ({"logspace": ["1pkt", "4pkt", 9]}, ["1pkt", "2pkt", "3pkt", "4pkt"]),
        ({"range": [0, 1, 0.25]}, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ({"range": ["30ms", "10ms", "-10ms"]}, ["30ms", "20ms", "10ms"]),
        ({"range": [2, 10, 3]}, [2, 5, 8]),
        # One level of that name.
        ({"range": {"duration": "2s"}}, {"range": {"duration": "2s"}}),
    ],
)
def test_ranges(given, values):
    assert expanded({"axis": given}) == {"axis": values}


@pytest.mark.parametrize(
    "given",
    [
        {"linspace": [1, 2]},
        {"linspace": ["1Mbit", "2kbit", 3]},
        {"linspace": [1, 2, 0]},
        {"linspace": [1, 2, 2.5]},
        {"linspace": ["a", 2, 3]},
        {"linspace": [1, 2, 10**9]},
        {"logspace": [0, 2, 3]},
        {"range": [1, 5, 0]},
        {"range": [1, 5, -1]},
        {"range": [0, 1, 1e-12]},
        {"range": "1..5"},
    ],
)
def test_ranges_that_are_not_valid(given):
    (kind,) = given
    with pytest.raises(cwndlab.ScenarioError, match=rf"axes\.x\.{kind}: .* is not valid: expected"):
        expanded({"x": given})


def test_a_range_is_an_axis_like_its_list():
    ranged, listed = (
        Sweep(base=BASE, axes={"flows.0.count": axis}, replicates=1)
        for axis in ({"range": [1, 3, 1]}, [1, 2, 3])
    )
    assert ranged == listed
    assert ranged.plan.count == 3
