"""A Gymnasium environment: one controlled flow of a scenario."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cwndlab.errors import ScenarioError
from cwndlab.gym.episodes import Episodes, RewardLike, Scenarios, reward_of
from cwndlab.gym.interface import Interface
from cwndlab.gym.observations import OBSERVATIONS
from cwndlab.message import invalid
from cwndlab.results import Result

Box = gymnasium.spaces.Box
Array = NDArray[Any]

EPISODE_SEEDS = 2**31
"""Seeds of episodes are drawn below this bound, so that a plan or a command line can repeat one."""


def observation_space(interface: Interface) -> Box:
    """Return the space of observations: a number for each name, within its bounds."""
    found = [OBSERVATIONS[name] for name in interface.observe]
    low, high = ([getattr(entry, end) for entry in found] for end in ("low", "high"))
    return Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)


def action_space(interface: Interface) -> Box:
    """Return the space of actions: one number."""
    low, high = interface.action_range
    return Box(low, high, (1,), np.float32)


def checked(action: Any, space: Box, key: str = "action") -> Array:
    """Return an action as an array.

    Raises
    ------
    ScenarioError
        If it does not lie in the space.
    """
    found = np.asarray(action, np.float32)
    # As `Box.contains`, which takes three times as long.
    if found.shape != space.shape or not ((found >= space.low) & (found <= space.high)).all():
        raise ScenarioError(invalid(key, str(action), f"an element of {space}"))
    return found


class CwndEnv(gymnasium.Env[Array, Array]):
    """A flow whose window or rate an agent sets; `cwndlab.gym.make` makes one.

    The seed of an episode is that of the scenario: `reset` with a seed takes this one, any other
    `reset` draws the next one. An episode begins with the first ACK of the flow. It is truncated
    at the end of the scenario, and terminated when all data of the flow is acknowledged.

    Attributes
    ----------
    interface : Interface
        What the agent observes and sets, and how often.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenarios,
        interface: Interface,
        reward: RewardLike,
        flows: str | None = None,
    ) -> None:
        self.interface = interface
        self._reward = reward_of(reward)
        self._episodes = Episodes(scenario, interface, flows)
        names = self._episodes.names
        if len(names) != 1:
            expected = "one flow (for several: cwndlab.gym.make_parallel)"
            raise ScenarioError(invalid("flows", ", ".join(names), expected))
        self._last = self._episodes.step(0, 0)
        self._box = action_space(interface)
        self.observation_space: gymnasium.Space[Array] = observation_space(interface)
        self.action_space: gymnasium.Space[Array] = self._box

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; returns the first observation, and every statistic as info."""
        super().reset(seed=seed, options=options)
        drawn = int(self.np_random.integers(EPISODE_SEEDS)) if seed is None else seed
        self._episodes.reset(0, drawn)
        self._last = self._episodes.step(0, 0)
        return self.interface.observation(self._last), {**self._last.to_dict(), "seed": drawn}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Act, and advance to the next decision.

        Raises
        ------
        ScenarioError
            If the action is not in the action space.
        RunError
            If the simulation ends with an error.
        """
        given = checked(action, self._box).item()
        ended = self._episodes.advance(self.interface.commands(given, self._last))[0]
        self._last = step = self._episodes.step(0, 0)
        terminated = bool(step["has_finished"])
        return (
            self.interface.observation(step),
            float(self._reward(step)),
            terminated,
            ended and not terminated,
            step.to_dict(),
        )

    def result(self) -> Result:
        """Return the result of the episode, as `cwndlab.run` returns it.

        An episode that is not at its end runs on with its last action.
        """
        return self._episodes.result()
