"""The adversary: a search for the link on which a rule is farthest behind its references.

Differential evolution (`cwndlab.searches.evolution`) varies a dumbbell's rate, delay, buffer, loss,
jitter, and the depth and period of a square wave of its rate, so that the share of the capacity
that the rule uses is as far as possible below that of the worst of its references. The link that is
found is run again with new seeds: its interval is no outcome of the search. CC-Fuzz [1]_ searches
traces of single packets in a similar way; links with a few parameters are easier to understand, and
a test that anybody can repeat.

References
----------
.. [1] D. Ray, S. Seshan, "CC-Fuzz: Genetic Algorithm-Based Fuzzing for Stress Testing Congestion
   Control Algorithms", HotNets 2022.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.arguments import Progress
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.runs.execution import opened
from cwndlab.scenario import DEFAULT_PROFILE
from cwndlab.searches.evolution import SEED_STEP, Evolution
from cwndlab.searches.families import RATE, SHARE, TIME, Family, Parameter
from cwndlab.searches.objective import Objective
from cwndlab.statistics import Estimate, estimate
from cwndlab.sweeps import Sweep

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.runs.executors import Executor
    from cwndlab.runs.store import Store

BUDGET, QUICK_BUDGET = 640, 64
"""Links to try."""
REPLICATES, CONFIRM = 2, 10
STALLED = 0.1
"""Share of the capacity below which a rule counts as stalled."""
DURATION_S, MEASURE_FROM_S = 30.0, 5.0


def _link(given: Mapping[str, float]) -> dict[str, Any]:
    """Return the dotted keys of a scenario with this link."""
    low = given["low"] * given["rate"]
    half = round(given["period"] / 2, 9)
    wave = {"kind": "square", "high": given["rate"], "low": low, "every": half}
    return {
        "dumbbell.rate": wave,
        "dumbbell.delay": round(given["rtt"] / 2, 9),
        "dumbbell.queue.limit": f"{round(given['buffer'] * 1000, 6)}ms",
        "dumbbell.loss": [{"kind": "bernoulli", "p": given["loss"]}],
        "dumbbell.jitter": {"kind": "uniform", "high": round(given["jitter"], 9)},
    }


LINKS = Family(
    "link",
    "a dumbbell with one flow",
    (
        Parameter("rate", RATE, 1e6, 50e6, "rate of the link, bit/s"),
        Parameter("rtt", TIME, 0.002, 0.3, "round trip time, seconds"),
        Parameter("buffer", TIME, 0.002, 0.4, "buffer, seconds at the rate"),
        Parameter("loss", "probability", 1e-6, 0.05, "probability of loss"),
        Parameter("jitter", TIME, 1e-5, 0.2, "largest jitter, in order, seconds"),
        Parameter("low", SHARE, 0.1, 1.0, "lower rate, as a share of the rate"),
        Parameter("period", TIME, 0.2, 20.0, "period of the square wave, seconds"),
    ),
    _link,
)
"""What the adversary varies; rates, times and probabilities on a logarithmic scale."""


@dataclass(frozen=True)
class Worst:
    """The worst link that was found."""

    values: Mapping[str, float]
    """Its parameters (`LINKS`)."""
    keys: Mapping[str, Any]
    """The same as dotted keys of a scenario."""
    goodput: Mapping[str, Estimate]
    """Rule to the share of the capacity that it used, over the confirming seeds."""
    behind: Estimate
    """How far the rule is behind the worst of the references, over these seeds."""
    tried: int
    runs: int
    profile: str = DEFAULT_PROFILE
    """Of the TCP endpoints."""
    home: str = SIMULATOR

    @property
    def text(self) -> str:
        """What was found, one sentence."""
        rule, own = next(iter(self.goodput.items()))
        others = ", ".join(
            f"{name} {_percent(one.mean)}" for name, one in self.goodput.items() if name != rule
        )
        found = (
            f"Of {self.tried} links the worst for {rule} has {self.words}: it uses "
            f"{_percent(own.mean)} of the capacity ({others})."
        )
        return found + (f" It stalls: less than {_percent(STALLED)}." if self.is_stalled else "")

    @property
    def words(self) -> str:
        """The link in words."""
        given = self.values
        steady = given["low"] > 0.95
        rate = (
            f"{given['rate'] / 1e6:.3g} Mbit/s" if steady else
            f"{given['rate'] / 1e6:.3g} and {given['low'] * given['rate'] / 1e6:.3g} Mbit/s in "
            f"turn, for {given['period'] / 2:.2g} s each"
        )  # fmt: skip
        return (
            f"{rate}, {1e3 * given['rtt']:.3g} ms of round trip, {1e3 * given['buffer']:.3g} ms of "
            f"buffer, {100 * given['loss']:.2g} % of loss and up to {1e3 * given['jitter']:.3g} ms "
            "of jitter"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        rule = next(iter(self.goodput))
        return {
            "values": dict(self.values),
            "goodput": {name: one._asdict() for name, one in self.goodput.items()},
            "behind": self.behind._asdict(),
            "stalled": self.is_stalled,
            "tried": self.tried,
            "runs": self.runs,
            "text": self.text,
            "scenario": self.scenario(rule),
        }

    @property
    def is_stalled(self) -> bool:
        """Whether the rule surely used less than `STALLED` of the capacity."""
        rule = next(iter(self.goodput.values()))
        return rule.high is not None and rule.high < STALLED

    def scenario(self, rule: str) -> dict[str, Any]:
        """Return the scenario with this link and a rule."""
        from cwndlab.patching import patched

        return patched(patched(base(self.profile, self.home), self.keys), {"flows.*.rule": rule})


def worst_link(
    rule: str,
    references: Sequence[str],
    *,
    budget: int = BUDGET,
    seed: int = 1,
    profile: str = DEFAULT_PROFILE,
    home: str | None = None,
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Worst:
    """Search for the link on which a rule is farthest behind every reference.

    Parameters
    ----------
    rule : str
        The rule.
    references : sequence of str
        Those that it must not fall behind.
    budget : int
        Links to try.
    seed : int
        Seed of the search and of its runs; the result is confirmed with others.
    profile : str
        Profile of the TCP endpoints.
    home : str, optional
        Where the runs go; by default the simulator.
    store : Store, str or Path, optional
        Keeps finished runs.
    executor : Executor, optional
        Does the runs, by default threads of this process.
    progress : callable, optional
        Gets what is done, the number of links tried, and of all.

    Examples
    --------
    >>> found = worst_link("Vegas", ["Reno"], budget=5)
    >>> sorted(found.values), found.behind.count
    (['buffer', 'jitter', 'loss', 'low', 'period', 'rate', 'rtt'], 10)
    """
    objective = Objective(worst=rule, rules=(rule, *references), metric="goodput_left")

    def tell(_what: str, done: int, of: int) -> None:
        if progress is not None:
            progress("worst link", done, of)

    with opened(store, executor=executor) as (kept, threads):
        work = Evolution(
            objective, LINKS, functools.partial(_sweep, objective.rules, base(profile, home)),
            budget=budget,
            replicates=REPLICATES, seed=seed,
            run=functools.partial(Sweep.run, store=kept, executor=threads), progress=tell,
        )  # fmt: skip
        work.evolve()
        position = work.shortlisted()
        measured = work.measure([position], CONFIRM, seed + 2 * SEED_STEP)[0]
    values = LINKS.values(position)
    return Worst(
        values, _link(values),
        {name: estimate(list(found), bounds=(0.0, np.inf)) for name, found in measured.items()},
        estimate(list(objective.margins(measured))), len(work.history), work.runs, profile,
        home or SIMULATOR,
    )  # fmt: skip


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g} %"


def base(profile: str = DEFAULT_PROFILE, home: str | None = None) -> dict[str, Any]:
    """Return the scenario that links are put into."""
    return {
        "profile": profile,
        "home": home or SIMULATOR,
        "duration": DURATION_S,
        "measure": [MEASURE_FROM_S, DURATION_S],
        "dumbbell": {
            "rate": "10Mbit", "delay": "10ms", "queue": {"kind": "drop-tail", "limit": "100ms"},
        },
        "flows": [{"rule": "Reno", "start": ["0s", "100ms"]}],
    }  # fmt: skip


def _sweep(
    rules: Sequence[str],
    scenario: Mapping[str, Any],
    shapes: Mapping[str, Mapping[str, Any]],
    replicates: int,
    seed: int,
) -> Sweep:
    return Sweep(
        name="adversary", base=scenario, axes={"case": dict(shapes), "rule": list(rules)},
        replicates=replicates, seed=seed, metrics=["goodput_left"],
    )  # fmt: skip
