"""Trains a small agent by the cross-entropy method, and writes it as a rule.

    python examples/agents/cem.py       # two minutes on two cores
    cwndlab compare examples/agents/cem_rule.py:Trained --baseline CUBIC

Look at: the last lines printed, the policy's five weights, and where the rule loses (docs/gym.md).

Each generation draws candidates from a normal distribution of parameters (Rubinstein 1999), lets
each control one flow on a few networks of random rate, RTT and buffer, and fits the distribution to
the best. All candidates of a generation meet the same networks; they are one vector environment.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import cwndlab
import cwndlab.gym
from cwndlab.gym import Interface, Policy

INTERFACE = Interface(every="rtt", action="window_factor", limits=(2, 5000))
CENTER, SCALE = (1.0, 0.0, 1.0, 0.0, 1.0), (0.5, 0.5, 0.5, 0.05, 0.5)
CANDIDATES, BEST, NETWORKS = 24, 6, 4
SECONDS = 15


def network(seed: int) -> cwndlab.Scenario:
    """Draw a network: 2 to 50 Mbit/s, an RTT of 20 to 120 ms, a buffer of a half to two BDPs."""
    random = np.random.default_rng(seed)
    rate, rtt_s = np.exp(random.uniform(np.log([2e6, 0.02]), np.log([50e6, 0.12])))
    return cwndlab.dumbbell(
        f"{rate:.0f}bit",
        f"{1000 * rtt_s / 2:.3f}ms",
        queue={"kind": "drop-tail", "limit": f"{random.uniform(0.5, 2):.2f}bdp"},
        flows=[{"name": "agent", "rule": "cwndlab.gym:Agent"}],
        duration=f"{SECONDS}s",
        profile="linux",
    )


def act(parameters: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Act in each copy by the linear policy of its parameters."""
    inputs = np.clip((observations - CENTER) / np.array(SCALE), -10, 10)
    actions = np.einsum("ij,ij->i", inputs, parameters[:, :-1]) + parameters[:, -1]
    return np.clip(actions, -1, 1)[:, None].astype(np.float32)


def returns(envs: cwndlab.gym.vector.CwndVectorEnv, candidates: np.ndarray, seeds: list[int]):
    """Mean reward of each candidate's steps, over one episode on each network."""
    parameters = np.repeat(candidates, len(seeds), axis=0)
    observations, _ = envs.reset(seed=seeds * len(candidates))
    total, steps = np.zeros(len(parameters)), np.zeros(len(parameters))
    running = np.ones(len(parameters), bool)
    while running.any():
        observations, rewards, terminated, truncated, _ = envs.step(act(parameters, observations))
        total += np.where(running, rewards, 0)
        steps += running
        running &= ~(terminated | truncated)
    return (total / steps).reshape(len(candidates), len(seeds)).mean(axis=1)


def train(generations: int, seed: int, threads: int) -> np.ndarray:
    """Return the mean of the last distribution."""
    random = np.random.default_rng(seed)
    count = Policy.parameter_count(INTERFACE)
    mean, spread = np.zeros(count), np.full(count, 0.5)
    envs = cwndlab.gym.make_vec(
        network, CANDIDATES * NETWORKS, reward="orca", threads=threads, **INTERFACE.to_dict()
    )
    begin = time.perf_counter()
    for generation in range(1, generations + 1):
        candidates = random.normal(mean, spread, (CANDIDATES, count))
        # The mean itself is one of them: what it gets is what is printed.
        candidates[0] = mean
        seeds = [int(number) for number in random.integers(2**31, size=NETWORKS)]
        found = returns(envs, candidates, seeds)
        best = candidates[np.argsort(found)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.3 / generation
        if generation % 10 == 0 or generation == generations:
            print(
                f"generation {generation}: mean reward {found[0]:.3f}, best {found.max():.3f}, "
                f"{time.perf_counter() - begin:.0f} s"
            )
    return mean


def main() -> None:
    """Train, print the weights, write the rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("cem_rule.py"))
    asked = parser.parse_args()
    parameters = train(asked.generations, asked.seed, asked.threads).round(4)
    policy = Policy.of_parameters(INTERFACE, parameters, center=CENTER, scale=SCALE)
    for name, weight in zip((*INTERFACE.observe, "constant"), parameters, strict=True):
        print(f"{name:>15}  {weight:+.4f}")
    about = (
        f"What examples/agents/cem.py learned ({asked.generations} generations, seed {asked.seed})."
    )
    print(f"written: {policy.save(asked.out, about=about)}")


if __name__ == "__main__":
    main()
