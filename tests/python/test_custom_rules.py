"""Rules written in Python: they run as built-in ones do, and what they do wrong is said."""

from __future__ import annotations

import pickle

import pytest

import cwndlab
from conftest import ROOT, SMALL
from cwndlab import custom_rules
from cwndlab.ack_fields import ack_fields

TWINS = '''
class Standard:
    """AIMD(1, 0.5) as the built-in rule computes it."""

    def increase(self, cwnd, ack):
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        return cwnd * 0.5

class Scaled(Standard):
    def __init__(self, factor=0.5, *, step=1):
        self.factor, self.step = factor, step

    def increase(self, cwnd, ack):
        return cwnd + self.step / cwnd

    def decrease(self, cwnd, signal):
        return cwnd * self.factor

class Raising(Standard):
    def increase(self, cwnd, ack):
        return 1 / 0 if ack.now_s > 3 else cwnd + 1 / cwnd

class Answering(Standard):
    def __init__(self, answer):
        self.answer = answer

    def decrease(self, cwnd, signal):
        return float(self.answer) if self.answer == "nan" else self.answer

class Curious(Standard):
    needs = ("rounds", "delivery_rate")
    seen = []

    def increase(self, cwnd, ack):
        Curious.seen.append(ack)
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        Curious.seen.append(signal)
        return cwnd / 2

class PerPacket(Standard):
    def increase(self, cwnd, ack):
        for _ in range(ack.growth_packets):
            cwnd += 1 / cwnd
        return cwnd

class Watching(PerPacket):
    seen = []
    idle = []

    def slow_start(self, cwnd, ack):
        Watching.seen.append(ack)
        return cwnd + ack.growth_packets

    def increase(self, cwnd, ack):
        Watching.seen.append(ack)
        return super().increase(cwnd, ack)

    def restart_from_idle(self, cwnd, now_s):
        Watching.idle.append(now_s)
        return cwnd

class Undeclared(Standard):
    def increase(self, cwnd, ack):
        return cwnd + ack.round_start

class Leaving(Standard):
    def slow_start(self, cwnd, ack):
        from cwndlab import Leave
        return Leave(cwnd) if cwnd >= 8 else cwnd + 1

class Paced(Standard):
    def pacing_rate(self):
        return 100.0

class Interrupted(Standard):
    def increase(self, cwnd, ack):
        raise KeyboardInterrupt

class Huge(Standard):
    def increase(self, cwnd, ack):
        return 2e8

class Sinking(Standard):
    def increase(self, cwnd, ack):
        return -1e300

class Wishing(Standard):
    needs = ["bandwidth"]
'''


@pytest.fixture
def rules(tmp_path):
    """A function that names a class of the file."""
    file = tmp_path / "twins.py"
    file.write_text(TWINS)
    (tmp_path / "itself.py").write_text(
        f"import cwndlab\ncwndlab.rule({str(tmp_path / 'itself.py')!r} + ':Mine')\n"
    )
    return lambda name: f"{file}:{name}"


def _small(rule: str, **patch) -> cwndlab.Scenario:
    return cwndlab.Scenario.from_text(SMALL).set("flows.a.rule", rule).patch(patch)


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "newreno", "sack"])
def test_it_sends_the_packets_of_the_built_in_rule(rules, recovery):
    ours = cwndlab.run(_small(rules("Standard"), **{"flows.a.recovery": recovery}))
    assert (
        ours.trace_hash
        == cwndlab.run(_small("AIMD(1, 0.5)", **{"flows.a.recovery": recovery})).trace_hash
    )
    other = cwndlab.run(_small(rules("Scaled(0.875, step=0.31)"), **{"flows.a.recovery": recovery}))
    assert (
        other.trace_hash
        == cwndlab.run(_small("AIMD(0.31, 0.875)", **{"flows.a.recovery": recovery})).trace_hash
    )
    assert other.trace_hash != ours.trace_hash


def test_finite_flows_each_have_a_fresh_one(rules):
    def arrivals(rule):
        document = _small("AIMD(1, 0.5)").to_dict()
        return {**document, "arrivals": [{"rule": rule, "gap": "50ms", "size": 30}]}

    assert (
        cwndlab.run(arrivals(rules("Standard"))).trace_hash
        == cwndlab.run(arrivals("AIMD(1, 0.5)")).trace_hash
    )


def test_a_rule_gets_what_it_needs(rules):
    cwndlab.run(_small(rules("Curious")))
    seen = custom_rules.find(rules("Curious"))[1]().seen
    acks = [one for one in seen if isinstance(one, cwndlab.Ack)]
    assert {"loss"} <= {one for one in seen if isinstance(one, str)} <= {"loss", "timeout"}
    assert all(0.04 < ack.min_rtt_s <= ack.rtt_s < 1 for ack in acks)
    assert 0 < sum(ack.round_start for ack in acks) < len(acks) / 2
    # 4 Mbit/s are 500 packets of 1000 bytes a second.
    assert 100 < max(ack.delivery_rate_packets_s for ack in acks) < 550


def test_an_ack_of_many_packets_is_one_event(rules):
    """Profile linux, delayed ACKs: one call for each ACK, and a window as the built-in rule's."""

    def bulk(rule):
        return cwndlab.dumbbell("10Mbit", "20ms", flows=rule, duration="5s", profile="linux")

    built_in = cwndlab.run(bulk("AIMD(1, 0.5)"))
    assert cwndlab.run(bulk(rules("PerPacket"))).trace_hash == built_in.trace_hash
    assert cwndlab.run(bulk(rules("Standard"))).trace_hash != built_in.trace_hash
    cwndlab.run(bulk(rules("Watching")))
    seen = custom_rules.find(rules("Watching"))[1]().seen
    times = [ack.now_s for ack in seen]
    assert times == sorted(set(times))
    assert {ack.acked_packets for ack in seen} >= {1, 2}
    assert all(ack.growth_packets in {0, ack.acked_packets} for ack in seen)


def test_a_rule_sees_what_limits_the_flow(rules):
    """Responses of three packets never fill a window of ten: the rule sees it, and cwnd stays."""
    flow = {
        "name": "a",
        "rule": rules("Watching"),
        "responses": {"size": 3, "think": "1s"},
    }
    path = cwndlab.dumbbell(
        "10Mbit", "20ms", flows=[flow], duration="5.5s", profile="linux", trace={"cwnd": "1s"}
    )
    result = cwndlab.run(path)
    watching = custom_rules.find(rules("Watching"))[1]()
    data = [ack for ack in watching.seen if ack.delivered_packets > 1]
    assert len(data) >= 10
    assert not any(ack.cwnd_limited or ack.growth_packets for ack in data)
    assert result.traces["cwnd"]["cwnd_packets"].max() == 10
    # Each response but the first ends an idle period of a second.
    assert watching.idle == pytest.approx([watching.idle[0] + 1.05 * k for k in range(5)], abs=0.05)


def test_a_field_that_nobody_measured_is_named(rules):
    with pytest.raises(
        cwndlab.RunError, match=r'ack\.round_start is not measured: expected "rounds" among'
    ):
        cwndlab.run(_small(rules("Undeclared")))


def test_slow_start_can_be_left(rules):
    def early(rule):
        result = cwndlab.run(_small(rule, trace={"cwnd": "all"}, **{"flows.a.start": "0s"}))
        window = result.traces["cwnd"].filter(flow="a-0")
        return window.filter(window["time_s"] < 0.4)["cwnd_packets"].max()

    assert 8 <= early(rules("Leaving")) < 12
    assert early("AIMD(1, 0.5)") > 16


def test_it_can_pace(rules):
    result = cwndlab.run(cwndlab.dumbbell("10Mbit", "20ms", flows=rules("Paced"), duration="20s"))
    assert result.flows["sent_packets"][0] == pytest.approx(100 * 20, abs=12)


def test_names_are_canonical_and_pickle_as_text(rules):
    assert cwndlab.rule(rules("Scaled( .5,step = 1 )")) == rules("Scaled(0.5, step=1)")
    scenario = cwndlab.Scenario.from_dict(_small(rules("Scaled(.5)")).to_dict())
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_class_of_this_program_has_a_name():
    name = cwndlab.rule(Local, 0.5)
    assert name.endswith(":Local(0.5)")
    built_in = cwndlab.run(_small("AIMD(1, 0.5)"))
    assert cwndlab.run(_small(name)).trace_hash == built_in.trace_hash
    assert "class Local" in custom_rules.source(name)


class Local:
    def __init__(self, factor):
        self.factor = factor

    def increase(self, cwnd, _ack):
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, _signal):
        return cwnd * self.factor


def test_a_file_is_read_again_when_it_changed(tmp_path):
    import os

    file = tmp_path / "mine.py"
    file.write_text(TWINS)
    before = cwndlab.run(_small(f"{file}:Standard")).trace_hash
    file.write_text(TWINS.replace("cwnd * 0.5", "cwnd * 0.7"))
    os.utime(file, ns=(1, 1))
    assert cwndlab.run(_small(f"{file}:Standard")).trace_hash != before


def test_a_mistake_in_the_syntax_has_its_line(command, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def increase(self, cwnd, ack):\n        retrun 1\n"
    )
    refused = command("compare", "mine.py:Mine")
    assert refused.returncode == 2
    assert "SyntaxError: invalid syntax (mine.py, line 3)" in refused.stderr


def test_a_file_that_is_named_as_a_module(command, tmp_path):
    (tmp_path / "only_here_twins.py").write_text(TWINS)
    refused = command("compare", "only_here_twins:Standard")
    assert refused.returncode == 2
    assert "(did you mean only_here_twins.py?)" in refused.stderr


def test_beside_the_scenario_file(tmp_path, cli):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "twins.py").write_text(TWINS)
    text = SMALL.replace('rule = "AIMD(1, 0.5)"', 'rule = "twins.py:Standard"')
    (tmp_path / "deep" / "small.toml").write_text(text)
    answer = cli("run", "deep/small.toml")
    assert answer.returncode == 0, answer.stderr
    assert "twins.py:Standard " in answer.stdout
    assert str(tmp_path) not in answer.stdout


INVALID = "returned an invalid congestion window"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Raising", ["increase raised ZeroDivisionError", "twins.py, line", 'flow "a-']),
        ("Huge", ["memory"]),
        ("Answering('nan')", [f"decrease {INVALID}, nan", "finite number"]),
        ("Answering('much')", [f"decrease {INVALID}, 'much'"]),
        ("Answering(None)", [f"decrease {INVALID}, None"]),
    ],
)
def test_what_goes_wrong_stops_the_run(rules, cli, tmp_path, name, says):
    scenario = _small(rules(name))
    with pytest.raises(cwndlab.RunError) as error:
        cwndlab.run(scenario)
    assert all(word in str(error.value) for word in says)
    assert (error.value.__cause__ is not None) == ("raised" in says[0])
    (tmp_path / "bad.json").write_text(scenario.to_json())
    answer = cli("run", "bad.json", "--json", "result.json", "--plot", "result.png")
    assert (answer.returncode, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert not list(tmp_path.glob("result*"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("twins.py:Nobody", "classes there: Standard, Scaled"),
        ("nowhere.py:Standard", "cannot be read"),
        ("no_such_module:Standard", "cannot be imported"),
        ("twins.py:Standard(3)", "Standard() takes no arguments"),
        ("twins.py:Scaled(x)", '(x)" is not valid'),
        (
            "twins.py:Wishing",
            'needs: "bandwidth" is not known: expected delivery_rate, exact_marks, recovery or '
            "rounds",
        ),
        ("twins.py:", "is not valid: expected"),
        ("os:getcwd", "has no getcwd; classes there"),
        ("subprocess:Popen('true')", "has no method increase"),
        ("itself.py:Mine", "itself.py builds a rule of its own while it is imported"),
        ("fractions:Fraction(1)", "has no method increase"),
    ],
)
@pytest.mark.usefixtures("rules")
def test_what_cannot_be_made_is_refused_before_the_run(text, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cwndlab.RuleError, match="rule ") as error:
        cwndlab.rule(text)
    assert says in str(error.value)
    with pytest.raises(cwndlab.ScenarioError) as error:
        _small(text)
    assert says in str(error.value)
    assert "flows[0].rule" in str(error.value)


def test_a_class_in_a_function_has_no_name():
    class Hidden(Local):
        pass

    with pytest.raises(cwndlab.RuleError, match="at the top level of a module"):
        cwndlab.rule(Hidden, 0.5)


def test_an_interrupt_is_an_interrupt(rules, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        cwndlab.run(_small(rules("Interrupted")))
    (tmp_path / "impatient.py").write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        cwndlab.rule(f"{tmp_path / 'impatient.py'}:Mine")
    with pytest.raises(KeyboardInterrupt):
        _small(f"{tmp_path / 'impatient.py'}:Mine")


def test_a_window_has_a_floor(rules):
    run = cwndlab.run(_small(rules("Sinking"), **{"trace.cwnd": "all"}))
    assert run.traces["cwnd"]["cwnd_packets"].min() == 1
    # The mean is a sum of many terms: rounded.
    assert run.flows["mean_cwnd_packets"].min() == pytest.approx(1, rel=1e-9)


def test_a_rule_file_may_name_rules_of_another(rules, tmp_path):
    (tmp_path / "more.py").write_text(
        f"import cwndlab\nSTANDARD = cwndlab.rule({rules('Standard')!r})\n"
        "class Mine:\n    def increase(self, cwnd, ack): return cwnd\n    def decrease(self, "
        "cwnd, signal): return 1\n"
    )
    assert cwndlab.rule(f"{tmp_path / 'more.py'}:Mine").endswith("more.py:Mine")


def test_a_class_that_is_defined_again_is_the_new_one(monkeypatch):
    name = cwndlab.rule(Local, 0.5)
    before = cwndlab.run(_small(name)).trace_hash

    class Other(Local):
        def decrease(self, cwnd, _signal):
            return cwnd * self.factor * 0.5

    monkeypatch.setitem(globals(), "Local", Other)
    assert cwndlab.run(_small(name)).trace_hash != before


@pytest.mark.parametrize("quote", ["'", '"'])
def test_folders_with_quotation_marks(tmp_path, quote):
    folder = tmp_path / "it's" / 'a "b"'
    folder.mkdir(parents=True)
    (folder / "twins.py").write_text(TWINS)
    text = SMALL.replace('rule = "AIMD(1, 0.5)"', f"rule = {quote}twins.py:Scaled(0.5){quote}")
    (folder / "small.toml").write_text(text)
    assert (
        cwndlab.Scenario.load(folder / "small.toml")["flows"][0]["rule"]
        == f"{folder / 'twins.py'}:Scaled(0.5)"
    )


def test_the_example_in_the_documents_is_the_file():
    document = (ROOT / "docs" / "custom-rules.md").read_text()
    code = document[document.index("class Patient") :].split("```")[0]
    stripped = (ROOT / "examples" / "my_rules.py").read_text()
    for annotation in (": int", " -> None", ": float", " -> float", ": str"):
        stripped = stripped.replace(annotation, "")
    assert code.strip() in stripped.replace("most = 3", "most=3")


class _Readers:
    """Methods that read an acknowledgement in ways that bytecode shows, or hides."""

    def nothing(self, cwnd, _ack):
        return cwnd + 1 / cwnd

    def both_rtts(self, cwnd, ack):
        return cwnd + ack.rtt_s / ack.srtt_s

    def more(self, cwnd, ack):
        return cwnd + ack.rtt_s * ack.acked_packets

    def passed_on(self, cwnd, ack):
        return self.more(cwnd, ack)

    def in_a_closure(self, cwnd, ack):
        return (lambda: cwnd + ack.acked_packets)()

    def by_its_name(self, cwnd, ack):
        return cwnd + locals()["ack"].acked_packets

    def as_a_list(self, *arguments):
        return arguments[0]


@pytest.mark.parametrize(
    ("name", "fields"),
    [("nothing", "none"), ("both_rtts", "rtt"), ("more", "all"), ("passed_on", "all"),
     ("in_a_closure", "all"), ("by_its_name", "all"), ("as_a_list", "all")],
)  # fmt: skip
def test_the_fields_that_a_method_reads(name, fields):
    assert ack_fields(getattr(_Readers(), name)) == fields
