"""Environments of agents: what they give is what the engine's own runs give."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import cwndlab
import cwndlab.gym
from cwndlab.gym import Interface, Policy

LINK = {"rate": "10Mbit", "delay": "20ms"}
AGENT = "cwndlab.gym:Agent"


def _path(flows=AGENT, **settings) -> cwndlab.Scenario:
    return cwndlab.dumbbell(flows=flows, **{**LINK, "duration": "5s", "profile": "rfc", **settings})


LOSSY = {"loss": [{"kind": "bernoulli", "p": 0.01}]}


@pytest.mark.parametrize("action", cwndlab.gym.ACTIONS)
def test_gymnasium_checks_the_environment(action):
    env = cwndlab.gym.make(_path(), action=action, observe=tuple(cwndlab.gym.OBSERVATIONS))
    with warnings.catch_warnings():
        # Advice, not errors: some quantities have no bounds, and windows are packets, not -1 to 1.
        for advice in (".*infinity.*", ".*between -1 and 1.*", ".*symmetric and normalized.*",
                       ".*not being wrapped.*", ".*spec.*"):  # fmt: skip
            warnings.filterwarnings("ignore", advice)
        check_env(env, skip_render_check=True)


def test_pettingzoo_checks_the_environment():
    flows = [{"name": "agent", "rule": AGENT, "count": 2}, {"name": "short", "rule": AGENT,
             "packets": 200}, "CUBIC"]  # fmt: skip
    make = lambda: cwndlab.gym.make_parallel(_path(flows, link=LOSSY), every="50ms")  # noqa: E731
    parallel_api_test(make(), num_cycles=200)
    parallel_seed_test(make)


def _episode(env, act=None, seed=1):
    """Every observation and reward of an episode."""
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    found = [(*observation, 0.0)]
    ended = False
    while not ended:
        action = env.action_space.sample() if act is None else np.array([act(observation)], "f")
        observation, reward, terminated, truncated, _ = env.step(action)
        found.append((*observation, reward))
        ended = terminated or truncated
    return np.array(found)


def test_an_episode_follows_from_its_seed():
    first = _episode(cwndlab.gym.make(_path(link=LOSSY)))
    assert np.array_equal(first, _episode(cwndlab.gym.make(_path(link=LOSSY))))
    env = cwndlab.gym.make(_path(link=LOSSY))
    other = _episode(env, seed=2)
    assert not np.array_equal(first, other)
    # Episodes drawn after a seed are the same ones as well.
    drawn = [env.reset()[1]["seed"] for _ in range(2)]
    env.reset(seed=2)
    assert drawn == [env.reset()[1]["seed"] for _ in range(2)]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_copies_are_the_environment(threads):
    envs = cwndlab.gym.make_vec(_path(link=LOSSY), 3, threads=threads, every="100ms")
    alone = [cwndlab.gym.make(_path(link=LOSSY), every="100ms") for _ in range(3)]
    observations, _ = envs.reset(seed=5)
    for number, env in enumerate(alone):
        assert np.array_equal(observations[number], env.reset(seed=5 + number)[0])
    envs.action_space.seed(1)
    over = np.zeros(3, bool)
    for _ in range(120):
        actions = envs.action_space.sample()
        before = over
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        for number, env in enumerate(alone):
            if before[number]:
                # The next episode of a copy begins, with a seed of its own stream.
                assert np.array_equal(observations[number], env.reset()[0])
                assert (rewards[number], truncated[number]) == (0, False)
                continue
            own = env.step(actions[number])
            assert np.array_equal(observations[number], own[0])
            assert (rewards[number], terminated[number], truncated[number]) == own[1:4]
        over = terminated | truncated
    assert not over.all()


class Constant:
    """A window that nothing changes."""

    needs = ("delivery_rate", "exact_marks", "recovery")

    def __init__(self, window: float) -> None:
        self.window = window

    def increase(self, _cwnd, _ack):
        return self.window

    def slow_start(self, _cwnd, _ack):
        return cwndlab.Leave(self.window)

    def decrease(self, _cwnd, _signal):
        return self.window

    def on_mark(self, _cwnd, _ack):
        return False


@pytest.mark.parametrize("every", ["rtt", "7ms", "8 acks"])
@pytest.mark.parametrize("profile", ["ns2-2.35", "linux"])
def test_a_constant_window_gives_what_the_rule_gives(profile, every):
    settings = {"profile": profile, "link": LOSSY, "tcp": {"initial_window": 40}}
    env = cwndlab.gym.make(_path(**settings), action="window", every=every)
    _episode(env, lambda _: 40.0, seed=3)
    alone = cwndlab.run(_path(cwndlab.rule(Constant, 40), **settings), seed=3)
    own = env.result()
    assert own.trace_hash == alone.trace_hash
    assert own.flows["goodput_bps"].item() == alone.flows["goodput_bps"].item()
    assert own.flows["rule"].item() == "Agent"
    assert alone.flows["fast_retransmits"].item() > 10


class AimdByRounds:
    """AIMD(1, 0.5) once per smoothed RTT, from the first ACK on, in plain Python.

    What is decided at an instant holds from the first ACK after it on.
    """

    needs = ("delivery_rate", "exact_marks", "recovery")

    def __init__(self) -> None:
        self.window = self.due_s = None
        self.srtt_s = 0.0
        self.lost = self.unreported = False

    def increase(self, cwnd, ack):
        if self.window is None:
            self.window, self.due_s = cwnd, ack.now_s
        while ack.now_s > self.due_s:
            self.window = max(self.window / 2 if self.lost else self.window + 1, 1)
            self.lost = False
            self.due_s += self.srtt_s
        self.lost |= self.unreported
        self.unreported = False
        self.srtt_s = ack.srtt_s
        return self.window

    def slow_start(self, cwnd, ack):
        return cwndlab.Leave(self.increase(cwnd, ack))

    def decrease(self, cwnd, _signal):
        self.unreported = True
        return cwnd if self.window is None else self.window

    def on_mark(self, _cwnd, _ack):
        return False


@pytest.mark.parametrize("profile", ["ns2-2.35", "rfc"])
def test_an_agent_with_the_arithmetic_of_aimd_gives_what_the_rule_gives(profile):
    settings = {"profile": profile, "duration": "20s", "tcp": {"window": 1000}}
    env = cwndlab.gym.make(
        _path(**settings), action="window", observe=("loss_events", "timeouts", "cwnd")
    )
    # The window as the agent set it: an observation has less digits.
    window = None

    def act(observation):
        nonlocal window
        losses, timeouts, cwnd = observation
        window = cwnd if window is None else window
        window = max(window / 2 if losses + timeouts > 0 else window + 1, 1)
        return window

    _episode(env, act)
    own, alone = env.result(), cwndlab.run(_path(cwndlab.rule(AimdByRounds), **settings), seed=1)
    assert own.trace_hash == alone.trace_hash
    assert own.flows["fast_retransmits"].item() > 1
    assert own.links["utilization"][0] > 0.9


class Restless(cwndlab.gym.PolicyRule):
    """A policy that reacts to all that it sees, with windows that overflow the buffer."""

    interface = Interface(observe=("rtt_ratio", "loss_rate", "mark_rate", "timeouts"), every="rtt")

    def act(self, observation):
        rtt, loss, marks, timeouts = observation.tolist()
        return float(np.clip(1.6 - rtt + 5 * loss - marks - 0.3 * timeouts, -1, 1))


def _restless(action: str, every: str) -> type:
    interface = Interface(Restless.interface.observe, action, every, (2, 2000))
    name = f"Restless_{action}_{every.replace(' ', '_')}"
    made = type(name, (Restless,), {"interface": interface, "__module__": __name__})
    made.__qualname__ = name
    return made


PATHS = {
    "small buffer": {"queue": {"kind": "drop-tail", "limit": "5pkt"}},
    "losses": {"link": {"loss": [{"kind": "gilbert-elliott", "to_bad": 0.01, "to_good": 0.2}]}},
    "marks": {"queue": {"kind": "red", "ecn": True, "limit": "100pkt"}, "tcp": {"ecn": True}},
    "reordering": {
        "link": {"jitter": {"kind": "bernoulli", "p": 0.02, "by": "30ms", "reorder": True}},
        "profile": "linux",
    },
    "beside CUBIC": {"flows": [{"name": "agent", "rule": AGENT}, {"rule": "CUBIC", "count": 3}]},
}


@pytest.mark.parametrize("every", ["rtt", "10ms", "5 acks"])
@pytest.mark.parametrize("action", ["window_factor", "rate_factor"])
@pytest.mark.parametrize("name", PATHS)
def test_a_policy_as_a_rule_gives_what_its_agent_gives(name, action, every):
    settings = {"flows": [{"name": "agent", "rule": AGENT}], **PATHS[name], "duration": "8s"}
    path = _path(**settings)
    kind = _restless(action, every)
    env = cwndlab.gym.make(path, **{**kind.interface.to_dict(), "flows": "agent"})
    episode = _episode(env, kind().act)
    own = env.result()
    alone = cwndlab.run(path.set("flows.agent.rule", cwndlab.rule(kind)), seed=1)
    assert own.trace_hash == alone.trace_hash
    assert len(episode) > 20


def test_statistics_of_a_flow_that_does_not_fill_the_link():
    # A BDP has 48 packets: the RTT is that of the path and of a burst.
    env = cwndlab.gym.make(
        _path(profile="rfc", tcp={"initial_window": 20}), action="window",
        observe=("rtt", "acks", "delivery_rate", "cwnd", "in_flight", "loss_rate"),
    )  # fmt: skip
    episode = _episode(env, lambda _: 20.0)[5:-1]
    rtt, acks, rate, cwnd, in_flight, loss = episode[:, :6].T
    assert acks == pytest.approx(20)
    assert rate * rtt == pytest.approx(20, rel=0.01)
    assert (rtt > 0.040).all()
    assert (rtt < 0.070).all()
    assert (cwnd == 20).all()
    assert (in_flight >= 19).all()
    assert (loss == 0).all()


def test_losses_and_marks_are_counted():
    observe = ("loss_rate", "mark_rate", "loss_events")
    lossy = _path(link={"loss": [{"kind": "bernoulli", "p": 0.05}]}, duration="60s", profile="rfc")
    env = cwndlab.gym.make(lossy, action="window", observe=observe)
    loss, marks, events, _ = _episode(env, lambda _: 20.0).mean(axis=0)
    assert loss == pytest.approx(0.05, rel=0.15)
    assert marks == 0
    assert 0 < events <= 1
    red = _path(
        queue={"kind": "red", "ecn": True, "limit": "100pkt"}, tcp={"ecn": True}, duration="60s"
    )
    env = cwndlab.gym.make(red, action="window", observe=observe)
    loss, marks, *_ = _episode(env, lambda _: 58.0).mean(axis=0)
    assert marks > 0.001
    link = env.result().links.row(0, named=True)
    assert marks == pytest.approx(link["marked_packets"] / link["arrived_packets"], rel=0.5)


def test_a_flow_that_is_done_ends_the_episode():
    flows = [{"rule": AGENT, "name": "short", "packets": 100}]
    env = cwndlab.gym.make(_path(flows))
    env.reset(seed=1)
    while not (last := env.step(np.array([0.5], "f")))[2]:
        assert not last[3], "the scenario does not end first"
    assert last[4]["delivered_packets"] > 0
    assert env.result().flows["finish_s"].item() < 5


def test_agents_act_beside_other_rules_and_each_sees_its_flow():
    flows = [{"name": "agent", "rule": AGENT, "count": 2}, {"name": "late", "rule": AGENT,
             "start": "2s"}, {"name": "py", "rule": cwndlab.rule(Constant, 5)}]  # fmt: skip
    env = cwndlab.gym.make_parallel(_path(flows), action="window", observe=("cwnd", "acks"))
    assert env.possible_agents == ["agent-0", "agent-1", "late"]
    env.reset(seed=1)
    windows = {"agent-0": 10.0, "agent-1": 20.0, "late": 5.0}
    acks = dict.fromkeys(windows, 0.0)
    while env.agents:
        actions = {name: np.array([windows[name]], "f") for name in env.agents}
        observations, *_ = env.step(actions)
        for name, (_, count) in observations.items():
            acks[name] += count
    assert [float(observations[name][0]) for name in windows] == [10, 20, 5]
    assert acks["agent-1"] == pytest.approx(2 * acks["agent-0"], rel=0.05)
    assert 0 < acks["late"] < acks["agent-0"] / 2
    found = env.result()
    assert found.flows["rule"].to_list()[:3] == ["Agent"] * 3


def test_scenarios_are_drawn_from_the_seed():
    def draw(seed):
        queue = {"kind": "drop-tail", "limit": "100pkt"}
        return _path(rate=f"{1 + seed % 4}Mbit", duration="3s", queue=queue)

    env = cwndlab.gym.make(draw, action="window", observe="delivery_rate")
    rates = [_episode(env, lambda _: 60.0, seed)[-2, 0] for seed in (0, 3)]
    assert rates[1] / rates[0] == pytest.approx(4, rel=0.1)


def test_a_policy_is_a_network():
    interface = Interface(observe=("rtt_ratio", "loss_rate"))
    assert Policy.parameter_count(interface, (3,)) == 3 * 2 + 3 + 3 + 1
    policy = Policy.of_parameters(interface, [0.25, -2.0, 0.5], center=[1, 0], scale=[2, 1])
    # 0.25 (3 - 1) / 2 - 2 x 0.1 + 0.5
    assert float(policy(np.array([3.0, 0.1]))) == pytest.approx(0.55)
    assert float(policy(np.array([99.0, -1.0]))) == 1
    again = Policy.from_dict(policy.to_dict())
    assert float(again(np.array([3.0, 0.1]))) == pytest.approx(0.55)
    deep = Policy.of_parameters(interface, np.arange(13) / 10, (3,))
    hidden = np.tanh(np.array([[0, 0.1], [0.2, 0.3], [0.4, 0.5]]) @ [1, 0.5] + [0.6, 0.7, 0.8])
    deep_action = float(deep(np.array([1.0, 0.5])))
    assert deep_action == pytest.approx(min(hidden @ [0.9, 1.0, 1.1] + 1.2, 1))


def test_a_saved_policy_is_a_rule_for_comparisons(tmp_path):
    interface = Interface(observe=("rtt_ratio", "loss_rate"), every="20ms")
    policy = Policy.of_parameters(interface, [-0.5, -1.0, 0.75])
    saved = policy.save(tmp_path / "steady.py", "Steady")
    text = f"{saved}:Steady"
    found = cwndlab.compare([text, "CUBIC"], replicates=2, duration="3s", metrics=["goodput"])
    assert "steady.py:Steady" in found.table()["rule"][0]
    env = cwndlab.gym.make(_path(), **interface.to_dict())
    _episode(env, policy)
    alone = cwndlab.run(_path(text), seed=1)
    assert alone.trace_hash == env.result().trace_hash


def test_each_arriving_flow_has_its_own_policy(tmp_path):
    policy = Policy.of_parameters(Interface(observe=("rtt_ratio",)), [-0.5, 0.7])
    rule = f"{policy.save(tmp_path / 'own.py')}:Trained"
    arrivals = [{"name": "short", "rule": rule, "gap": "200ms", "size": 30}]
    found = cwndlab.run(_path(rule, arrivals=arrivals))
    assert found.arrivals["finished_flows"].item() > 5


REFUSED = [
    ({"observe": ("rtt", "loss")}, 'observe: "loss" is not known: expected .*loss_rate'),
    ({"observe": ()}, "observe: .* is not valid: expected names"),
    ({"action": "cwnd"}, 'action: "cwnd" is not known: expected window, window_factor'),
    ({"reward": "powr"}, r'reward: "powr" is not known: .*\(did you mean power\?\)'),
    ({"every": "often"}, 'every: "often" is not valid: expected "rtt", a time'),
    ({"every": "0 acks"}, 'every: "0 acks" is not valid'),
    ({"every": 0}, 'every: "0s" is not valid'),
    ({"limits": (5, 1)}, r"limits: .*5.* is not valid"),
    ({"limits": (5,)}, "limits: .* expected two numbers"),
    ({"flows": "nobody"}, 'flows: "nobody" is not known: expected flow-1'),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_what_is_wrong_is_said(wrong, message):
    with pytest.raises(cwndlab.ScenarioError, match=message):
        cwndlab.gym.make(_path(), **wrong)


def test_a_scenario_without_an_agent_is_refused():
    with pytest.raises(cwndlab.ScenarioError, match=r'flows is missing: .*"cwndlab.gym:Agent"'):
        cwndlab.gym.make(_path("CUBIC"))
    two = [{"name": "a", "rule": AGENT}, {"name": "b", "rule": AGENT}]
    with pytest.raises(cwndlab.ScenarioError, match=r"a, b.* is not valid: .*make_parallel"):
        cwndlab.gym.make(_path(two))


def test_an_action_outside_the_space_is_refused():
    env = cwndlab.gym.make(_path(), action="window", limits=(2, 50))
    env.reset(seed=1)
    for wrong in ([51], [1], [float("nan")], [5, 5]):
        with pytest.raises(cwndlab.ScenarioError, match=r"action: .* is not valid: .*Box"):
            env.step(np.array(wrong, "f"))


def test_an_agent_acts_in_environments_only():
    with pytest.raises(cwndlab.RunError, match="rule Agent acts in an environment only"):
        cwndlab.run(_path())


def test_the_exception_of_a_rule_beside_an_agent_ends_the_episode():
    flows = [{"name": "agent", "rule": AGENT}, {"name": "bad", "rule": cwndlab.rule(Failing)}]
    env = cwndlab.gym.make(_path(flows))
    with pytest.raises(cwndlab.RunError, match="tired"):
        _episode(env)


class Failing(Constant):
    """Raises after a while."""

    def __init__(self) -> None:
        super().__init__(5.0)
        self.left = 200

    def increase(self, cwnd, ack):
        self.left -= 1
        if self.left < 0:
            raise ValueError("tired")
        return super().increase(cwnd, ack)


def test_wrappers_of_gymnasium_apply():
    env = gymnasium.wrappers.TimeLimit(cwndlab.gym.make(_path()), 7)
    assert len(_episode(env)) == 8
