"""Many copies of an environment, stepped in one call."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
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
from cwndlab.message import invalid
from cwndlab.results import Result

Array = NDArray[Any]


class CwndVectorEnv(VectorEnv[Array, Array, Array]):
    """Copies of a `CwndEnv`; `cwndlab.gym.make_vec` makes them.

    ``reset(seed=n)`` gives copy i the seed n + i, as Gymnasium does. A copy whose episode has ended
    begins another one with the next step (``AutoresetMode.NEXT_STEP``), which ignores its action.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        scenario: Scenarios,
        interface: Interface,
        reward: RewardLike,
        flows: str | None = None,
        *,
        count: int,
        threads: int = 1,
    ) -> None:
        if count < 1:
            raise ScenarioError(invalid("num_envs", count, "a whole number from 1"))
        self.interface = interface
        self.num_envs = count
        self._reward = reward_of(reward)
        self._episodes = Episodes(scenario, interface, flows, count=count, threads=threads)
        if len(self._episodes.names) != 1:
            raise ScenarioError(invalid("flows", ", ".join(self._episodes.names), "one flow"))
        self.single_observation_space: gymnasium.Space[Array] = observation_space(interface)
        self.single_action_space: gymnasium.Space[Array] = action_space(interface)
        self.observation_space: gymnasium.Space[Array] = batch_space(
            self.single_observation_space, count
        )
        low, high = interface.action_range
        self._box = gymnasium.spaces.Box(low, high, (count, 1), np.float32)
        self.action_space: gymnasium.Space[Array] = self._box
        self._streams = [np.random.default_rng() for _ in range(count)]
        self._ended = np.zeros(count, bool)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in each copy."""
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        seeds = seed if isinstance(seed, list) else [seed] * self.num_envs
        for index, given in enumerate(seeds):
            own = None if given is None else given + (0 if isinstance(seed, list) else index)
            if own is not None:
                self._streams[index] = np.random.default_rng(own)
            self._begin(index, own)
        self._ended[:] = False
        return self._observation(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Act in each copy, and advance each to its next decision.

        Raises
        ------
        ScenarioError
            If the actions are not in the action space.
        RunError
            If a simulation ends with an error.
        """
        before = self._ended
        given = checked(actions, self._box, "actions")[:, 0].astype(float)
        windows, rates = self.interface.commands(given, self._step())
        commands = np.stack(np.broadcast_arrays(windows, rates), axis=-1)
        ended = np.array(self._episodes.advance(commands))
        step = self._step()
        terminated = step["has_finished"] > 0
        rewards = np.where(before, 0.0, self._reward(step))
        for index in np.flatnonzero(before):
            self._begin(int(index), None)
        terminated &= ~before
        truncated = ended & ~terminated & ~before
        self._ended = terminated | truncated
        return self._observation(), rewards, terminated, truncated, {}

    def result(self, index: int) -> Result:
        """Return the result of the episode of one copy, as `CwndEnv.result` does."""
        return self._episodes.result(index)

    def _begin(self, index: int, seed: int | None) -> None:
        drawn = int(self._streams[index].integers(EPISODE_SEEDS)) if seed is None else seed
        self._episodes.reset(index, drawn)

    def _observation(self) -> Array:
        return self.interface.observation(self._step())

    def _step(self) -> Step:
        return Step.of_many(self._episodes.values[:, 0])
