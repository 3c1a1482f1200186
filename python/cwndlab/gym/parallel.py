"""A PettingZoo parallel environment: several controlled flows of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cwndlab.errors import ScenarioError
from cwndlab.gym.environment import (
    EPISODE_SEEDS,
    action_space,
    checked,
    observation_space,
)
from cwndlab.gym.episodes import Episodes, RewardLike, Scenarios, reward_of
from cwndlab.gym.interface import Interface
from cwndlab.gym.step import Step
from cwndlab.message import invalid, one_of
from cwndlab.results import Result

Array = NDArray[Any]
Dicts = tuple[
    dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


if TYPE_CHECKING:
    Base = object  # PettingZoo has no types.
else:
    from pettingzoo import ParallelEnv as Base


class CwndParallelEnv(Base):
    """Flows that an agent each controls; `cwndlab.gym.make_parallel` makes them.

    All agents act at the same instants: when the first of them is due. An agent whose flow has
    seen no ACK yet acts in vain. An agent leaves when all data of its flow is acknowledged; the
    scenario's end truncates all.
    """

    metadata: dict[str, Any] = {"name": "cwndlab", "render_modes": []}

    def __init__(
        self,
        scenario: Scenarios,
        interface: Interface,
        reward: RewardLike,
        flows: str | Sequence[str] | None = None,
    ) -> None:
        self.interface = interface
        self._reward = reward_of(reward)
        self._episodes = Episodes(scenario, interface, flows)
        self.possible_agents: list[str] = list(self._episodes.names)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, gymnasium.Space[Any]] = {
            name: observation_space(interface) for name in self.possible_agents
        }
        self._boxes = {name: action_space(interface) for name in self.possible_agents}
        self.action_spaces: dict[str, gymnasium.Space[Any]] = {**self._boxes}
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Begin an episode; `options` change nothing."""
        del options
        if seed is not None:
            self._random = np.random.default_rng(seed)
        drawn = int(self._random.integers(EPISODE_SEEDS)) if seed is None else seed
        self._episodes.reset(0, drawn)
        self.agents = list(self.possible_agents)
        return self._observed(self._steps())

    def step(self, actions: dict[str, Array]) -> Dicts:
        """Act, and advance to the next decision.

        Raises
        ------
        ScenarioError
            If an agent has no action, or one that is not in its space.
        RunError
            If the simulation ends with an error.
        """
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise ScenarioError(invalid("actions", one_of(actions), f"one of {one_of(missing)}"))
        # The flow of an agent that has left sends nothing more, whatever its window.
        commands = np.ones((len(self.possible_agents), 2))
        for index, name in enumerate(self.possible_agents):
            if name in self.agents:
                given = checked(actions[name], self._boxes[name], f"actions.{name}").item()
                commands[index] = self.interface.commands(given, self._episodes.step(0, index))
        ended = self._episodes.advance(commands)[0]
        steps = self._steps()
        observations, infos = self._observed(steps)
        rewards = {name: float(self._reward(steps[name])) for name in self.agents}
        terminated = {name: bool(steps[name]["has_finished"]) for name in self.agents}
        truncated = {name: ended and not terminated[name] for name in self.agents}
        self.agents = [name for name in self.agents if not (terminated[name] or truncated[name])]
        return observations, rewards, terminated, truncated, infos

    def result(self) -> Result:
        """Return the result of the episode, as `CwndEnv.result` does."""
        return self._episodes.result()

    def _steps(self) -> dict[str, Step]:
        return {
            name: self._episodes.step(0, index) for index, name in enumerate(self.possible_agents)
        }

    def _observed(
        self, steps: Mapping[str, Step]
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Return the observations and the infos of the agents."""
        observations = {name: self.interface.observation(steps[name]) for name in self.agents}
        return observations, {name: steps[name].to_dict() for name in self.agents}
