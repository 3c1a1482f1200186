"""Agents that control flows: environments of Gymnasium and PettingZoo, and policies as rules.

``pip install 'gymnasium>=1.3,<2' 'pettingzoo>=1.26,<2'`` installs what the environments need;
policies run without it.

>>> import cwndlab, cwndlab.gym
>>> path = cwndlab.dumbbell("10Mbit", "20ms", flows="cwndlab.gym:Agent", duration="5s")
>>> env = cwndlab.gym.make(path, observe=("rtt_ratio", "loss_rate"), reward="power")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape, terminated, truncated
((2,), False, False)

At each decision an agent gets what its flow's ACKs report since the decision before, and sets the
window or the pacing rate from the next ACK on. Losses, marks and slow start change nothing by
themselves: they are observations.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.arguments import keywords
from cwndlab.errors import MissingPackageError
from cwndlab.gym.actions import ACTIONS
from cwndlab.gym.interface import Interface
from cwndlab.gym.observations import OBSERVATIONS, SCALE_FREE
from cwndlab.gym.policy import Agent, Policy, PolicyRule
from cwndlab.gym.rewards import REWARDS
from cwndlab.gym.step import Step

if TYPE_CHECKING:
    from cwndlab.gym.environment import CwndEnv
    from cwndlab.gym.episodes import RewardLike, Scenarios
    from cwndlab.gym.parallel import CwndParallelEnv
    from cwndlab.gym.vector import CwndVectorEnv

__all__ = [
    "ACTIONS",
    "OBSERVATIONS",
    "REWARDS",
    "Agent",
    "Interface",
    "Policy",
    "PolicyRule",
    "Step",
    "make",
    "make_parallel",
    "make_vec",
]

PACKAGES = {"gymnasium": "gymnasium>=1.3,<2", "pettingzoo": "pettingzoo>=1.26,<2"}
"""What the environments need, as pyproject.toml has it."""


@keywords()
def make(
    scenario: Scenarios,
    *,
    flows: str | None = None,
    observe: str | Sequence[str] = SCALE_FREE,
    action: str = "window_factor",
    reward: RewardLike = "power",
    every: str | float = "rtt",
    limits: Sequence[float] | None = None,
) -> CwndEnv:
    """Make a Gymnasium environment of a scenario with one controlled flow.

    Parameters
    ----------
    scenario : Scenario, mapping, str, Path or callable
        What `cwndlab.run` takes, or a function that draws such a scenario from a seed.
    flows : str, optional
        Name of the controlled flow; by default the one whose rule is ``cwndlab.gym:Agent``.
    observe : str or sequence of str
        Names of `OBSERVATIONS`.
    action : str
        Name of one of `ACTIONS`.
    reward : str or callable
        Name of one of `REWARDS`, or a function of a `Step`.
    every : str or float
        Interval between two decisions: ``"rtt"``, a time such as ``"10ms"`` (seconds if a bare
        number), or a number of ACKs such as ``"8 acks"``.
    limits : (float, float), optional
        Least and largest window (packets) or rate (packets/s) that the agent can set.

    Raises
    ------
    ScenarioError
        If the scenario, a name or a value is not valid.
    MissingPackageError
        If Gymnasium is not installed.
    """
    _needs("gymnasium")
    from cwndlab.gym.environment import CwndEnv

    return CwndEnv(scenario, Interface.of(observe, action, every, limits), reward, flows)


@keywords()
def make_vec(
    scenario: Scenarios,
    num_envs: int,
    *,
    flows: str | None = None,
    observe: str | Sequence[str] = SCALE_FREE,
    action: str = "window_factor",
    reward: RewardLike = "power",
    every: str | float = "rtt",
    limits: Sequence[float] | None = None,
    threads: int = 1,
) -> CwndVectorEnv:
    """Make a Gymnasium vector environment: `num_envs` copies that are stepped in one call.

    Parameters are those of `make`; `threads` share the copies among them, which makes long steps
    faster and short ones slower. A reward that is a function gets a `Step` with an array over
    copies for each statistic.

    Examples
    --------
    >>> import cwndlab
    >>> path = cwndlab.dumbbell("10Mbit", "20ms", flows="CUBIC", duration="5s")
    >>> envs = make_vec(path, 4, flows="flow-1", action="window", limits=(1, 100))
    >>> observations, _ = envs.reset(seed=1)
    >>> envs.step(envs.action_space.sample())[1].shape
    (4,)
    """
    _needs("gymnasium")
    from cwndlab.gym.vector import CwndVectorEnv

    interface = Interface.of(observe, action, every, limits)
    return CwndVectorEnv(scenario, interface, reward, flows, count=num_envs, threads=threads)


@keywords()
def make_parallel(
    scenario: Scenarios,
    *,
    flows: str | Sequence[str] | None = None,
    observe: str | Sequence[str] = SCALE_FREE,
    action: str = "window_factor",
    reward: RewardLike = "power",
    every: str | float = "rtt",
    limits: Sequence[float] | None = None,
) -> CwndParallelEnv:
    """Make a PettingZoo parallel environment of a scenario with several controlled flows.

    Parameters are those of `make`, with one name or several in `flows`. The agents are the flows.
    With ``every="rtt"`` the shortest RTT of them counts.

    Examples
    --------
    >>> import cwndlab
    >>> flows = [{"name": "a", "rule": "cwndlab.gym:Agent", "count": 2}, "CUBIC"]
    >>> env = make_parallel(cwndlab.dumbbell("10Mbit", "20ms", flows=flows, duration="5s"))
    >>> env.possible_agents
    ['a-0', 'a-1']
    """
    _needs("pettingzoo")
    from cwndlab.gym.parallel import CwndParallelEnv

    return CwndParallelEnv(scenario, Interface.of(observe, action, every, limits), reward, flows)


def _needs(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"gym: expected the package {package}: pip install '{PACKAGES[package]}'"
        ) from None
