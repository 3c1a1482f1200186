"""Compares optimisers of several objectives on problems whose frontier is known.

``python bench/optimisers.py`` prints, for 400 evaluations as a search for rules has, the share of
the hypervolume that the true frontier has: ZDT1 (convex), ZDT2 (concave) and ZDT3 (in pieces) of
Zitzler, Deb and Thiele (2000) with four variables, without noise and with noise of a fiftieth. The
mean of ten seeds. optuna is compared where it is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from pymoo.algorithms.moo.moead import MOEAD
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.indicators.hv import HV
from pymoo.optimize import minimize
from pymoo.problems import get_problem
from pymoo.util.ref_dirs import get_reference_directions
from scipy.stats import qmc

VARIABLES, BUDGET, POPULATION, SEEDS = 4, 400, 40, 10
REFERENCE = np.array([1.1, 1.1])
PROBLEMS = ("zdt1", "zdt2", "zdt3")
Costs = Callable[[np.ndarray], np.ndarray]


def latin_hypercube(costs: Costs, seed: int) -> np.ndarray:
    """Try points that fill the space."""
    x = qmc.LatinHypercube(VARIABLES, rng=np.random.default_rng(seed)).random(BUDGET)
    costs(x)
    return x


def of_pymoo(make: Callable[[], object]) -> Callable[[Costs, int], np.ndarray]:
    """Return an optimiser of pymoo."""

    def run(costs: Costs, seed: int) -> np.ndarray:
        tried: list[np.ndarray] = []

        class Noisy(Problem):
            """The problem, as the optimiser sees it."""

            def _evaluate(self, x, out, *_, **__):
                tried.append(np.array(x))
                out["F"] = costs(x)

        problem = Noisy(n_var=VARIABLES, n_obj=2, xl=0.0, xu=1.0)
        minimize(problem, make(), ("n_eval", BUDGET), seed=seed)
        return np.concatenate(tried)[:BUDGET]

    return run


def of_optuna(costs: Costs, seed: int) -> np.ndarray:
    """Run the sampler by estimators of densities that optuna has for several objectives."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    tried: list[list[float]] = []

    def objective(trial):
        tried.append([trial.suggest_float(f"x{at}", 0.0, 1.0) for at in range(VARIABLES)])
        return tuple(costs(np.array(tried[-1:]))[0])

    study.optimize(objective, n_trials=BUDGET)
    return np.array(tried)


OPTIMISERS: dict[str, Callable[[Costs, int], np.ndarray]] = {
    "Latin hypercube": latin_hypercube,
    "NSGA-II (pymoo)": of_pymoo(lambda: NSGA2(pop_size=POPULATION)),
    "NSGA-II, half the population": of_pymoo(lambda: NSGA2(pop_size=POPULATION // 2)),
    "MOEA/D (pymoo)": of_pymoo(
        lambda: MOEAD(get_reference_directions("uniform", 2, n_partitions=POPULATION - 1))
    ),
    "TPE (optuna)": of_optuna,
}


def main() -> int:
    """Print the table."""
    volume = HV(ref_point=REFERENCE)
    print("| optimiser | " + " | ".join(f"{name}, noise {noise:g}" for noise in (0.0, 0.02)
                                        for name in PROBLEMS) + " |")  # fmt: skip
    print("| --- |" + " --- |" * 2 * len(PROBLEMS))
    for title, optimiser in OPTIMISERS.items():
        cells: list[str] = []
        try:
            for noise in (0.0, 0.02):
                for name in PROBLEMS:
                    problem = get_problem(name, n_var=VARIABLES)
                    best = volume(problem.pareto_front())
                    shares = []
                    for seed in range(SEEDS):
                        random = np.random.default_rng(seed)

                        def costs(x, problem=problem, random=random, noise=noise):
                            found = problem.evaluate(x)
                            return found + random.normal(0.0, noise, found.shape)

                        tried = optimiser(costs, seed)
                        shares.append(volume(problem.evaluate(tried)) / best)
                    cells.append(f"{np.mean(shares):.3f}")
        except ImportError:
            print(f"{title}: not installed", file=sys.stderr)
            continue
        print(f"| {title} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
