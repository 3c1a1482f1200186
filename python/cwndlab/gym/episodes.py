"""Episodes: which flows of a scenario are controlled, and what steps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwndlab import native
from cwndlab.errors import ScenarioError
from cwndlab.gym.interface import Interface
from cwndlab.gym.rewards import REWARDS
from cwndlab.gym.step import STATISTICS, Step, Values
from cwndlab.message import invalid, missing, one_of, unknown
from cwndlab.results import Result
from cwndlab.scenario import Scenario, Source

AGENT = "cwndlab.gym:Agent"
"""The rule of a flow that an agent controls."""

Scenarios = Source | Callable[[int], Source]
"""A scenario, or a function that draws one from a seed."""
RewardLike = str | Callable[[Step], Values]


class Episodes:
    """Episodes that are stepped together, each with the same number of controlled flows."""

    def __init__(
        self,
        scenario: Scenarios,
        interface: Interface,
        flows: str | Sequence[str] | None = None,
        *,
        count: int = 1,
        threads: int = 1,
    ) -> None:
        self._flows = (flows,) if isinstance(flows, str) else flows
        self._draw = scenario if callable(scenario) else None
        self._fixed = None if callable(scenario) else self._controlled(scenario)
        self._scenarios: list[Scenario | None] = [None] * count
        self._core = native.Episodes(count, *interface.interval, interface.control.paced, threads)
        self.names: tuple[str, ...] = tuple(_names(*self._scenario(0)))
        """The controlled flows."""
        self.values: NDArray[Any] = np.zeros((count, len(self.names), len(STATISTICS)))
        """Statistics of the last step of each flow of each episode."""

    def _controlled(self, source: Source) -> tuple[Scenario, list[str]]:
        """Give the controlled flows the rule of agents, which the scenario is checked with."""
        scenario = Scenario.of(source)
        flows = controlled(scenario, self._flows)
        if self._flows is not None:
            scenario = scenario.patch({f"flows.{name}.rule": AGENT for name in flows})
        return scenario, flows

    def _scenario(self, seed: int) -> tuple[Scenario, list[str]]:
        """Return the scenario of an episode with this seed, and its controlled entries."""
        found = self._fixed if self._draw is None else self._controlled(self._draw(seed))
        assert found is not None, "it is fixed or drawn"
        return found[0].with_seed(seed), found[1]

    def reset(self, index: int, seed: int) -> None:
        """Begin an episode, up to its first decision."""
        scenario, flows = self._scenario(seed)
        if self._draw is not None and len(_names(scenario, flows)) != len(self.names):
            expected = f"{len(self.names)} flows in each scenario"
            raise ScenarioError(invalid("flows", ", ".join(flows), expected))
        data = self._core.reset(index, scenario.core, flows)
        self._scenarios[index] = scenario
        # What the core returned before stays as it is.
        self.values = self.values.copy()
        self.values[index] = np.frombuffer(data).reshape(len(self.names), -1)

    def advance(self, commands: Values) -> list[bool]:
        """Step all episodes that go on, by window and pacing rate of each flow of each.

        Returns which episodes are at their end.
        """
        data, ended = self._core.step(np.asarray(commands, float).tobytes())
        self.values = np.frombuffer(data).reshape(self.values.shape)
        return ended

    def step(self, index: int, flow: int) -> Step:
        """Return the last step of one flow."""
        return Step(self.values[index, flow].tolist())

    def result(self, index: int = 0) -> Result:
        """Return the result of an episode, as `cwndlab.run` returns it.

        An episode that is not at its end runs on with its last actions.
        """
        scenario = self._scenarios[index]
        if scenario is None:
            raise ScenarioError("the episode has not begun: expected reset() before")
        return Result.from_run(self._core.result(index), scenario.to_dict())


def controlled(scenario: Scenario, flows: Sequence[str] | None) -> list[str]:
    """Return the names of the controlled entries of ``[[flows]]``.

    Raises
    ------
    ScenarioError
        If there is none, or no entry has a given name.
    """
    entries = {str(entry["name"]): str(entry["rule"]) for entry in scenario.canonical()["flows"]}
    if flows is None:
        found = [name for name, rule in entries.items() if rule == AGENT]
        if not found:
            raise ScenarioError(
                missing("flows", f'a flow with the rule "{AGENT}", or names: {one_of(entries)}')
            )
        return found
    for name in flows:
        if name not in entries:
            raise ScenarioError(unknown("flows", name, entries))
    if not flows:
        raise ScenarioError(invalid("flows", "", f"names: {one_of(entries)}"))
    return [name for name in entries if name in flows]


def _names(scenario: Scenario, controlled: list[str]) -> list[str]:
    """Return the names of the flows of entries: those of an entry with a count are numbered."""
    found: list[str] = []
    for entry in scenario.canonical()["flows"]:
        name, count = str(entry["name"]), int(entry["count"])
        if name in controlled:
            found += [name] if count == 1 else [f"{name}-{i}" for i in range(count)]
    return found


def reward_of(reward: RewardLike) -> Callable[[Step], Values]:
    """Return the function of a reward.

    Raises
    ------
    ScenarioError
        If there is no reward of this name.
    """
    if callable(reward):
        return reward
    if reward not in REWARDS:
        raise ScenarioError(unknown("reward", reward, REWARDS))
    return REWARDS[reward].of
