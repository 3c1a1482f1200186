"""One stands for a list of one, whatever takes a list; a rule is of any kind wherever a rule is
taken, and so is a scenario."""

from __future__ import annotations

import functools
import inspect

import pytest

import cwndlab
import cwndlab_papers
from conftest import ROOT
from cwndlab import (
    environments,
    gym,
    known_results,
    metrics,
    ns2,
    outputs,
    plots,
    plugins,
    searches,
    statistics,
    sweeps,
    topologies,
)  # fmt: skip

MODULES = (
    environments, gym, known_results, metrics, ns2, outputs, plots, plugins, searches, statistics,
    sweeps, topologies, cwndlab, cwndlab_papers,
)  # fmt: skip
SHORT = {"replicates": 2, "duration": "2s"}


class Calm:
    """Adds a fraction of a packet per round trip."""

    def __init__(self, step: float = 1.0) -> None:
        self.step = step

    def increase(self, cwnd, ack):
        return cwnd + self.step * ack.growth_packets / cwnd

    def decrease(self, cwnd, _signal):
        return cwnd / 2


RULES = {
    "test_one_or_several:Calm": Calm,
    "test_one_or_several:Calm(step=0.5)": Calm(0.5),
    "test_one_or_several:Calm(0.5)": functools.partial(Calm, 0.5),
    "AIMD(1, 0.5)": "AIMD(1,.5)",
}


def path(**more) -> cwndlab.Scenario:
    return cwndlab.dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s", **more)


@functools.cache
def swept() -> cwndlab.SweepResult:
    axes, drawn = {"rule": ["AIMD(1, 0.5)", "CUBIC"]}, path(link={"access_delay": ["1ms", "9ms"]})
    return cwndlab.sweep(drawn, axes=axes, replicates=2, over_time="cwnd", metrics="goodput")


@functools.cache
def compared() -> cwndlab.Comparison:
    return cwndlab.compare(["AIMD(1, 0.5)", "CUBIC"], **SHORT)


@functools.cache
def traced() -> list[cwndlab.Result]:
    drawn = path(trace={"cwnd": "100ms"}, link={"access_delay": ["1ms", "9ms"]})
    return [cwndlab.run(drawn, seed=seed) for seed in (1, 2)]


def kept(folder, metrics):
    with cwndlab.Store(folder) as store:
        cwndlab.sweep(path(), axes={"rule": "CUBIC"}, replicates=1, metrics="goodput", store=store)
        return sweeps.stored_runs(store, metrics=metrics).drop("finished").columns


def lines(figure) -> list[int]:
    return [len(axes.lines) for axes in figure.axes]


WAVES = {"a": {"kind": "square", "high": 2e6, "low": 1e6, "every": "1s"}}
ASSUMED = environments.Assumptions()
ONE = {
    # Each is called with one value, and with a list of it.
    "against, rules": ("CUBIC", lambda one: cwndlab.against(one, "Reno", flows=1, **SHORT).rules),
    "against, flows": (
        2, lambda one: cwndlab.against("CUBIC", "Reno", flows=one, **SHORT).runs.rows(),
    ),
    "against, queue": (
        "red", lambda one: cwndlab.against("CUBIC", "Reno", flows=1, queue=one, **SHORT).plan.labels
    ),
    "against, recovery": (
        "sack",
        lambda one: cwndlab.against("CUBIC", "Reno", flows=1, recovery=one, **SHORT).plan.labels,
    ),
    "against, env": (
        "square",
        lambda one: cwndlab.against("CUBIC", "Reno", flows=1, env=one, **SHORT).plan.labels,
    ),
    "against, home": (
        "simulator",
        lambda one: cwndlab.against("CUBIC", "Reno", flows=1, home=one, **SHORT).plan.labels,
    ),
    "compare, rules": ("CUBIC", lambda one: cwndlab.compare(one, run=False).plan.labels),
    "compare, env": ("square", lambda one: cwndlab.compare("Reno", env=one, run=False).plan.labels),
    "compare, queue": (
        "red", lambda one: cwndlab.compare("Reno", queue=one, run=False).plan.labels
    ),
    "compare, recovery": (
        "reno", lambda one: cwndlab.compare("Reno", recovery=one, run=False).plan.labels
    ),
    "compare, home": (
        "simulator", lambda one: cwndlab.compare("Reno", home=one, run=False).plan.labels
    ),
    "compare, metrics": (
        "timeouts", lambda one: cwndlab.compare("Reno", metrics=one, run=False).metrics
    ),
    "assess": (
        "5.1.4",
        lambda one: cwndlab.assess("MIMD(1.125, 0.8)", against="Reno", sections=one, quick=True,
                                   replicates=2).table().rows(),
    ),
    "dumbbell, flows": ("CUBIC", lambda one: cwndlab.dumbbell("1Mbit", "1ms", flows=one)["flows"]),
    "dumbbell, cross": (
        {"name": "udp", "rate": "1Mbit"}, lambda one: path(cross=one).canonical()["cross"]
    ),
    "explain, flows": ("flow-1", lambda one: cwndlab.explain(path(), one).names),
    "sweep, an axis": (
        "1Mbit",
        lambda one: cwndlab.sweep(path(), axes={"dumbbell.rate": one}, replicates=1).runs.rows(),
    ),
    "sweep, home": (
        "simulator",
        lambda one: cwndlab.sweep(path(), axes={}, replicates=1, home=one).runs.rows(),
    ),
    "Sweep, metrics": ("timeouts", lambda one: cwndlab.Sweep(base=path(), metrics=one)),
    "Sweep, distributions": (
        "mean_rtt_s", lambda one: cwndlab.Sweep(base=path(), distributions=one)
    ),
    "Sweep, over_time": ("cwnd", lambda one: cwndlab.Sweep(base=path(), over_time=one)),
    "Sweep, zip": (
        {"rule": ["CUBIC"], "dumbbell.rate": ["1Mbit"]},
        lambda one: cwndlab.Sweep(base=path(), zip=one),
    ),
    "SweepResult.plot, y": ("goodput", lambda one: lines(swept().plot(x="rule", y=one))),
    "SweepResult.plot, bands": ("cwnd", lambda one: lines(swept().plot(bands=one, hue="rule"))),
    "Comparison.plot, y": ("timeouts", lambda one: lines(compared().plot(x="rule", y=one))),
    "Comparison.plot, log": ("y", lambda one: lines(compared().plot(x="rule", log=one))),
    "environments.names": ("square", environments.names),
    "Assumptions.from_texts": ("flows=20", environments.Assumptions.from_texts),
    "metrics.chosen": ("timeouts", metrics.chosen),
    "metrics.chosen, also": ("timeouts", lambda one: metrics.chosen("goodput", also=one)),
    "known_results.select": ("slow-start", known_results.select),
    "searches.read_bounds": ("duty=0.5", lambda one: searches.read_bounds("square", one)),
    "searches.sweep_of, rules": (
        "CUBIC", lambda one: searches.sweep_of(WAVES, one, ("sack", "red"), ASSUMED, replicates=1)
    ),
    "searches.sweep_of, metrics": (
        "timeouts",
        lambda one: searches.sweep_of(WAVES, "CUBIC", ("sack", "red"), ASSUMED, replicates=1,
                                      metrics=one),
    ),
    "plots.bands, traces": ("cwnd", lambda one: lines(plots.bands(traced(), one))),
    "plots.comparison_bars": (
        "timeouts", lambda one: lines(plots.comparison_bars(compared(), metrics=one))
    ),
    "plots.FigureStyle.of": ("CUBIC", lambda one: plots.FigureStyle.of(order=one)),
    "gym.make, observe": (
        "loss_rate",
        lambda one: gym.make(path(), flows="flow-1", observe=one).observation_space.shape,
    ),
    "gym.make_parallel, flows": (
        "flow-1", lambda one: gym.make_parallel(path(), flows=one).possible_agents
    ),
    "papers, choose": ("akella2002/fig4", cwndlab_papers.choose),
}  # fmt: skip


@pytest.mark.parametrize("what", ONE)
def test_one_stands_for_a_list_of_one(what):
    one, call = ONE[what]
    found = call(one)
    assert found is not None
    assert found == call([one])


def test_one_metric_of_a_store_is_a_list_of_one(tmp_path):
    found = kept(tmp_path / "one", "loss_rate")
    assert found == kept(tmp_path / "several", ["loss_rate"])
    assert "loss_rate" in found


def public():
    """Every function, and every method that makes an object, of the modules of docs/api.md."""
    for module in MODULES:
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found


OBJECTS = ("Metric", "Mapping", "Fact", "Checked", "Run", "Claim", "float")


def test_no_public_function_takes_a_list_of_names_and_not_one():
    only = [
        f"{name}({argument.name}: {argument.annotation})"
        for name, function in public()
        for argument in inspect.signature(function).parameters.values()
        if str(argument.annotation).startswith(("Sequence[", "Iterable[", "list["))
        and not any(kind in str(argument.annotation) for kind in OBJECTS)
    ]
    # What other functions have read already.
    assert only == [
        "cwndlab.environments.at_homes(chosen: Sequence[str])",
        "cwndlab.environments.at_homes(homes: Sequence[str])",
        "cwndlab.plugins.one_of(names: Iterable[str])",
        "cwndlab.plugins.unknown(known: Iterable[str])",
        "cwndlab.sweeps.at_homes(homes: Sequence[str])",
    ]


TAKE_A_RULE = {
    "rule": cwndlab.rule,
    "compare": lambda rule: cwndlab.compare(rule, run=False).plan.labels["rule"][0],
    "compare, baseline": lambda rule: (
        cwndlab.compare(["CUBIC", rule], **SHORT).differences(baseline="CUBIC")["rule"][0]
    ),
    "against": lambda rule: cwndlab.against(rule, "CUBIC", flows=1, **SHORT).rules[0],
    "against, other": lambda rule: cwndlab.against("CUBIC", rule, flows=1, **SHORT).against,
    "dumbbell": lambda rule: cwndlab.dumbbell("1Mbit", "1ms", flows=rule)["flows"][0]["rule"],
    "dumbbell, table": lambda rule: (
        cwndlab.dumbbell("1Mbit", "1ms", flows=[{"rule": rule}]).canonical()["flows"][0]["rule"]
    ),
    "Scenario.set": lambda rule: path().set("flows.*.rule", rule).canonical()["flows"][0]["rule"],
    "run, patch": lambda rule: cwndlab.run(path(), patch={"flows.*.rule": rule}).flows["rule"][0],
    "sweep": lambda rule: cwndlab.sweep(path(), axes={"rule": rule}, replicates=1).runs["rule"][0],
    "sweep, differences": lambda rule: (
        cwndlab.sweep(path(), axes={"rule": ["CUBIC", rule]}, replicates=2)
        .differences(baseline=rule)["baseline"][0]
    ),
    "explain_rules": lambda rule: cwndlab.explain_rules(rule, "Vegas", duration="5s").names[0],
    "environments.scenario": lambda rule: (
        environments.scenario("square", rule=rule).canonical()["flows"][0]["rule"]
    ),
    "parking_lot": lambda rule: (
        topologies.parking_lot(2, "1Mbit", "1ms", rule=rule).canonical()["flows"][0]["rule"]
    ),
    "ring": lambda rule: (
        topologies.ring(3, "1Mbit", "1ms", rule=rule, queue="red").canonical()["flows"][0]["rule"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TAKE_A_RULE)
@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_of_any_kind_wherever_one_is_taken(what, name):
    assert TAKE_A_RULE[what](RULES[name]) == name


TAKE_A_SCENARIO = {
    "run": lambda given: cwndlab.run(given).trace_hash,
    "run_many": lambda given: [
        found.trace_hash for _, found in cwndlab.run_many({"one": given}, jobs=1)
    ],
    "explain": lambda given: cwndlab.explain(given).headline,
    "export": lambda given: cwndlab.export(given),
    "gym.make": lambda given: gym.make(given, flows="flow-1").reset(seed=1)[0].tolist(),
    "gym.make_vec": lambda given: gym.make_vec(given, 2, flows="flow-1").reset(seed=1)[0].tolist(),
    "gym.make_parallel": lambda given: gym.make_parallel(given, flows="flow-1").possible_agents,
    "sweep": lambda given: cwndlab.sweep(given, axes={"rule": "CUBIC"}, replicates=1).runs.rows(),
    "Sweep": lambda given: cwndlab.Sweep.from_dict({"base": given}).run().runs.rows(),
}


@pytest.mark.parametrize("what", TAKE_A_SCENARIO)
def test_a_scenario_is_of_any_kind_wherever_one_is_taken(what, tmp_path):
    call = TAKE_A_SCENARIO[what]
    given = path()
    if what == "export":
        given = path(profile="ns2-2.35", queue={"kind": "drop-tail", "limit": "20pkt"})
    expected = call(given)
    assert expected
    forms = {
        "mapping": given.to_dict(),
        "text": given.to_json(),
        "path": tmp_path / "path.json",
        "path as text": str(tmp_path / "path.json"),
    }
    (tmp_path / "path.json").write_text(given.to_json())
    for form in forms.values():
        assert call(form) == expected


NOT_SCENARIOS = {
    "a rule": ("CUBIC", "is a rule: expected a scenario, such as dumbbell("),
    "a class": (Calm, "Calm is a rule: expected a scenario"),
    "a sweep": ({"axes": {}}, "the mapping is a sweep: expected a scenario (`cwndlab.sweep(...)`"),
    "a file of a design": (
        ROOT / "examples" / "designs" / "better.toml", "is a design: expected a scenario",
    ),
    "a number": (5, "scenario: 5 is not valid: expected a Scenario, a mapping, a path or text"),
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_SCENARIOS)
@pytest.mark.parametrize("name", ["run", "explain", "export"])
def test_what_is_no_scenario_is_refused_with_what_it_is(name, what):
    given, words = NOT_SCENARIOS[what]
    with pytest.raises(cwndlab.ScenarioError) as refused:
        TAKE_A_SCENARIO[name](given)
    assert words in str(refused.value)
