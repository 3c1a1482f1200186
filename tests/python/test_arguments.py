"""Arguments as one would write them who knows other packages: what is meant works, and what is not
known is refused with the nearest."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import pytest

import cwndlab
import cwndlab_papers
from conftest import ROOT
from cwndlab import (
    CwndlabError,
    WindowRule,
    against,
    assess,
    compare,
    dumbbell,
    search,
    sweep,
    topologies,
)

EXAMPLES = ROOT / "examples"
SHORT = {"replicates": 2, "duration": "2s"}


class Slow(WindowRule):
    """Adds a fraction of a packet per round trip."""

    def __init__(self, step: float = 1.0) -> None:
        self.step = step

    def increase(self, cwnd, ack):
        return cwnd + self.step * ack.growth_packets / cwnd

    def decrease(self, cwnd, signal):
        return cwnd / 2 if signal == "loss" else cwnd - 1


class Forgetful(Slow):
    def __init__(self, step: float) -> None:
        super().__init__()
        self.half = step / 2


def path(**more) -> cwndlab.Scenario:
    return dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s", **more)


RULES = {
    "class": (Slow, "test_arguments:Slow"),
    "instance": (Slow(0.5), "test_arguments:Slow(step=0.5)"),
    "usual instance": (Slow(), "test_arguments:Slow"),
    "partial": (functools.partial(Slow, 0.5), "test_arguments:Slow(0.5)"),
    "text": ("CUBIC", "CUBIC"),
}


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_is_a_text_a_class_an_instance_or_a_class_with_values(kind):
    rule, name = RULES[kind]
    assert cwndlab.rule(rule) == name
    other = "AIMD(1, 0.5)"
    assert compare(rule, **SHORT).plan.labels["rule"] == [name]
    assert compare([rule, other], **SHORT).plan.labels["rule"] == [name, other]
    assert against(rule, other, flows=1, **SHORT).rules == [name]
    assert against(other, rule, flows=1, **SHORT).against == name
    for flows in (rule, [rule], {"rule": rule}, [{"rule": rule, "count": 2}]):
        scenario = dumbbell("2Mbit", "10ms", flows=flows, duration="2s")
        assert scenario["flows"][0]["rule"] == name
    assert path().set("flows.*.rule", rule)["flows"][0]["rule"] == name
    assert sweep(path(), axes={"rule": rule}, replicates=1).runs["rule"].to_list() == [name]
    mixed = sweep(path(), axes={"rule": [rule, other]}, replicates=1)
    assert mixed.runs["rule"].to_list() == [name, other]


@pytest.mark.slow
def test_a_search_and_an_assessment_take_rules_of_any_kind():
    found = search(best=Slow(0.5), rules=[Slow(0.5), "AIMD(1, 0.5)"], budget=5, duration="2s",
                   replicates=1, confirm=2)  # fmt: skip
    assert found.objective.best == "test_arguments:Slow(step=0.5)"
    judged = assess(Slow, against="Reno", suites="rfc9743", sections="5.1.4", quick=True,
                    replicates=2)  # fmt: skip
    assert (judged.rule, judged.references) == ("test_arguments:Slow", ["NewReno"])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Forgetful(2.0), "Forgetful does not keep its values: expected an attribute for each"),
        (lambda: Slow(), "is not valid: expected a notation, or a class with increase and"),
        (3.5, "3.5 is not valid: expected a notation, or a class with increase and decrease"),
    ],
)
def test_what_is_no_rule_is_refused(rule, message):
    with pytest.raises(cwndlab.RuleError, match=message):
        compare(rule, **SHORT)


def test_a_text_stands_for_a_list_of_one():
    found = compare("CUBIC", env="constant", queue="red", recovery="sack", metrics="goodput",
                    **SHORT)  # fmt: skip
    assert found.summary["metric"].unique().to_list() == ["goodput"]
    swept = sweep(path(), axes={"rule": "CUBIC"}, metrics="goodput, loss_rate", replicates=1)
    assert swept.sweep.metrics == ["goodput", "loss_rate"]


def test_a_queue_is_a_kind():
    assert path(queue="codel")["dumbbell"]["queue"] == {"kind": "codel", "limit": "1bdp"}
    assert path(queue="FQ-CoDel")["dumbbell"]["queue"]["kind"] == "fq-codel"


def test_a_sweep_takes_a_scenario_as_its_base():
    axes = {"rule": ["CUBIC"]}
    table = cwndlab.Sweep(base=path().to_dict(), axes=axes)
    assert cwndlab.Sweep(base=path(), axes=axes) == table
    assert cwndlab.Sweep.from_dict({"base": path(), "axes": axes}) == table


def test_numbers_of_numpy_and_paths_are_values():
    found = dumbbell(np.float64(2e6), 0.01, flows={"rule": "CUBIC", "count": np.int64(2)})
    assert found["flows"][0]["count"] == 2
    with pytest.raises(cwndlab.ScenarioError, match=r"nowhere\.down"):
        dumbbell({"kind": "trace", "file": Path("nowhere.down")}, "10ms", flows="CUBIC")


REFUSED = {
    # A name that is not known, and the nearest.
    "keyword": (lambda: compare("CUBIC", replicate=2), TypeError, "did you mean replicates?"),
    "keyword of a sweep": (lambda: sweep(path(), axe={}), TypeError, "did you mean axes?"),
    "keyword of a path": (
        lambda: dumbbell("2Mbit", "10ms", flow="CUBIC"), TypeError, "did you mean flows?",
    ),
    "keyword of a search": (lambda: search(bets="CUBIC"), TypeError, "did you mean best?"),
    "keyword of a run": (lambda: cwndlab.run(path(), sed=3), TypeError, "did you mean seed?"),
    "rule": (lambda: compare("CUBICC", **SHORT), CwndlabError, "did you mean CUBIC?"),
    "environment": (lambda: compare("CUBIC", env="sqare"), CwndlabError, "did you mean square?"),
    "queue": (lambda: path(queue="codl"), CwndlabError, "did you mean codel?"),
    "suite": (lambda: assess("CUBIC", suites="rfc9734"), CwndlabError, "did you mean rfc9743?"),
    "metric": (lambda: compare("CUBIC", metrics="godput"), CwndlabError, "did you mean goodput?"),
    "file of a sweep": (
        lambda: cwndlab.run(EXAMPLES / "sweep-buffers.toml"), CwndlabError,
        "sweep-buffers.toml is a sweep: expected a scenario (`cwndlab.sweep(",
    ),
    "file of a design": (
        lambda: cwndlab.run(EXAMPLES / "designs" / "better.toml"), CwndlabError,
        "better.toml is a design: expected a scenario (`cwndlab.design(",
    ),
    # What the command line says of a value.
    "nan": (
        lambda: dumbbell(math.nan, "10ms", flows="CUBIC"), CwndlabError,
        'dumbbell.rate: "nan" is not valid: expected a rate',
    ),
    "inf": (
        lambda: path().set("duration", math.inf), CwndlabError,
        'duration: "inf" is not valid: expected a time',
    ),
    "nan of numpy": (
        lambda: path().set("duration", np.float64("nan")), CwndlabError,
        'duration: "nan" is not valid: expected a time',
    ),
    "replicates": (
        lambda: compare("CUBIC", replicates=math.nan), CwndlabError,
        "replicates: nan is not valid: expected a whole number from 1",
    ),
    "no jobs": (
        lambda: compare("CUBIC", jobs=0, **SHORT), CwndlabError,
        "jobs: 0 is not valid: expected a whole number from 1 to 1024",
    ),
    "less than no jobs": (
        lambda: sweep(path(), axes={"rule": "CUBIC"}, jobs=-1), CwndlabError,
        "jobs: -1 is not valid: expected a whole number from 1 to 1024",
    ),
    "no rules": (lambda: compare([]), CwndlabError, "rules: [] is not valid: expected one or more"),
    "no environments": (
        lambda: compare("CUBIC", env=[]), CwndlabError,
        "env: [] is not valid: expected one or more environments",
    ),
    "no queues": (
        lambda: against("CUBIC", "Reno", queue=()), CwndlabError,
        "queue: [] is not valid: expected one or more queues",
    ),
    "seed of a path": (
        lambda: path(seed=2**70), CwndlabError,
        "seed: 1180591620717411303424 is not valid: expected a whole number from 0 to 2^63 - 1",
    ),
    "seed below 0": (
        lambda: path().set("seed", -1), CwndlabError,
        "seed: -1 is not valid: expected a whole number from 0 to 2^63 - 1",
    ),
    "seed of a sweep": (
        lambda: sweep(path(), axes={"rule": "CUBIC"}, seed=2**70), CwndlabError,
        "expected a whole number from 0 to 2^63 - 1",
    ),
    "file of a scenario as a sweep": (
        lambda: sweep(EXAMPLES / "one-flow-sawtooth.toml"), CwndlabError,
        "it is a scenario: expected a sweep (`cwndlab.run(...)` runs it)",
    ),
    "file of a sweep as a design": (
        lambda: cwndlab.design(EXAMPLES / "sweep-buffers.toml"), CwndlabError,
        "it is a sweep: expected a design (`cwndlab.sweep(...)` runs it)",
    ),
    "keyword of a design": (
        lambda: cwndlab.design(objectve="goodput"), TypeError, "did you mean objectives?",
    ),
    "keyword of a sweep's class": (
        lambda: cwndlab.Sweep(base=path(), axis={}), TypeError, "did you mean axes?",
    ),
    "keyword of an environment": (
        lambda: cwndlab.gym.make(path(), rewrd="power"), TypeError, "did you mean reward?",
    ),
    "keyword of a ring": (
        lambda: topologies.ring(3, "1Mbit", "1ms", rul="CUBIC"), TypeError, "did you mean rule?",
    ),
    "keyword of a report": (
        lambda: cwndlab.write_report("out", titel="x"), TypeError, "did you mean title?",
    ),
    "keyword of a paper": (
        lambda: cwndlab_papers.reproduce("akella2002", quik=True), TypeError, "did you mean quick?",
    ),
    "keyword of a live run": (
        lambda: cwndlab.live(path(), besides=True), TypeError, "did you mean beside?",
    ),
    "an assumption": (
        lambda: compare("CUBIC", rtt="40ms"), TypeError, 'did you mean assume={"rtt": ...}?',
    ),
    "a key of the link": (
        lambda: path(loss=0.01), TypeError, 'did you mean link={"loss": ...}?',
    ),
    "axis": (
        lambda: sweep(path(), axes={"rul": ["CUBIC"]}), CwndlabError,
        'axis: "rul" is not known: expected rule, recovery, queue, env or a dotted key of the '
        "scenario such as dumbbell.rate (did you mean rule?)",
    ),
    "axis by its last part": (
        lambda: sweep(path(), axes={"rate": ["1Mbit"]}), CwndlabError,
        "did you mean dumbbell.rate?",
    ),
    "no function of progress": (
        lambda: compare("CUBIC", progress=True), TypeError,
        "progress: true is not valid: expected a function, or None",
    ),
    "scenarios without keys": (
        lambda: list(cwndlab.run_many([path()])), CwndlabError,
        "is not valid: expected pairs of a key, which comes back, and a scenario",
    ),
    "name of the package": (
        lambda: cwndlab.compar, AttributeError, "did you mean compare?",
    ),
    "name of theory": (
        lambda: cwndlab.theory.simulat, AttributeError, "did you mean simulate?",
    ),
    "a scenario for its name": (
        lambda: compare("CUBIC", env=path()), CwndlabError, "expected names of environments",
    ),
}  # fmt: skip


def test_bare_rates_that_were_meant_in_mbit_are_warned_of():
    with pytest.warns(UserWarning, match=r'rate: 10 is 10 bit/s: did you mean "10Mbit"\?') as found:
        dumbbell(10, "20ms", flows="CUBIC")
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match=r'back_rate: 5 is 5 bit/s: did you mean "5Mbit"\?'):
        path(link={"back_rate": 5})


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_valid_is_refused_with_what_would_be(what):
    call, kind, message = REFUSED[what]
    with pytest.raises(kind) as refused:
        call()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
