"""NSGA-II of pymoo over a space of rules; the one module that imports pymoo, which has no types.

``pip install 'pymoo>=0.6.1,<0.7'`` installs it.
"""

# pyright: reportMissingTypeStubs=false, reportArgumentType=false
# pyright: reportIncompatibleMethodOverride=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cwndlab.designs.space import Family, Formulas, Space
from cwndlab.errors import MissingPackageError

MISSING = "design: expected the package pymoo: pip install 'pymoo>=0.6.1,<0.7'"

FIRST = 5
"""Populations in the first generation of formulas: a good form is rarer than good numbers."""


def nsga2(
    space: Space,
    *,
    objectives: int,
    population: int,
    seed: int,
    start: Sequence[Sequence[Any]] = (),
) -> Any:
    """Make the algorithm, ready to be asked for its first rules.

    Parameters
    ----------
    space : Space
        What is searched.
    objectives, population, seed : int
        Number of objectives, rules of a generation, and seed of the algorithm.
    start : sequence
        Vectors of the first population, which others fill up; those of the space, if none is given.

    Raises
    ------
    MissingPackageError
        If pymoo is not installed.
    """
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
    except ImportError:
        raise MissingPackageError(MISSING) from None
    if isinstance(space, Family):
        start = start or space.starts()
        free = len(space.bounds)
        problem = Problem(n_var=free, n_obj=objectives, n_ieq_constr=1, xl=0.0, xu=1.0)
        algorithm = NSGA2(pop_size=population, sampling=_hypercube(free, population, seed, start))
    else:
        assert isinstance(space, Formulas)
        problem = Problem(n_var=2, n_obj=objectives, n_ieq_constr=1, vtype=object)
        algorithm = NSGA2(
            pop_size=population, sampling=_objects(_formulas(space, population, seed, start)),
            **_operators(space),
        )  # fmt: skip
    algorithm.setup(problem, termination=NoTermination(), seed=seed, verbose=False)
    return algorithm


def tell(algorithm: Any, asked: Any, costs: np.ndarray, excess: np.ndarray) -> None:
    """Give the algorithm the costs of what it asked for, and how far constraints are violated."""
    from pymoo.core.evaluator import Evaluator
    from pymoo.problems.static import StaticProblem

    problem = StaticProblem(algorithm.problem, F=costs, G=excess[:, None])
    Evaluator().eval(problem, asked)
    algorithm.tell(infills=asked)


def ranks(costs: np.ndarray) -> np.ndarray:
    """Return the number of each row's front: 0 for rows that no other beats.

    A row beats another if it is as small everywhere, and smaller somewhere.

    Examples
    --------
    >>> ranks(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]])).tolist()
    [0, 0, 1, 2]
    """
    if len(costs) == 0:
        return np.zeros(0, dtype=int)
    from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

    sorting: Any = NonDominatedSorting()
    return np.asarray(sorting.do(costs, return_rank=True)[1])


def _hypercube(
    free: int, population: int, seed: int, start: Sequence[Sequence[float]]
) -> np.ndarray:
    from scipy.stats import qmc

    given = np.array([list(x) for x in start][:population], dtype=float).reshape(-1, free)
    rest = qmc.LatinHypercube(free, rng=np.random.default_rng(seed)).random(
        max(population - len(given), 0)
    )
    return np.concatenate((given, rest))


def _formulas(
    space: Formulas, population: int, seed: int, start: Sequence[Sequence[Any]]
) -> list[list[Any]]:
    if start:
        return [list(x) for x in start][:population]
    random = np.random.default_rng(seed)
    known = [list(x) for x in space.starts()][:population]
    return known + [space.random(random) for _ in range(FIRST * population - len(known))]


def _objects(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return rows of trees, which are tuples, as an array of objects."""
    found = np.empty((len(rows), len(rows[0])), dtype=object)
    for at, row in enumerate(rows):
        for column, tree in enumerate(row):
            found[at, column] = tree
    return found


def _operators(space: Formulas) -> dict[str, Any]:
    """Return crossover, mutation and the test for duplicates of formulas."""
    from pymoo.core.crossover import Crossover
    from pymoo.core.duplicate import ElementwiseDuplicateElimination
    from pymoo.core.mutation import Mutation

    class Crossed(Crossover):
        """Exchanges parts of two rules."""

        def __init__(self) -> None:
            super().__init__(2, 2, vtype=object)

        def do(self, problem: Any, pop: Any, parents: Any = None, *_: Any,  # noqa: ARG002
               random_state: Any = None, **__: Any) -> Any:  # fmt: skip
            from pymoo.core.population import Population

            random = random_state if random_state is not None else np.random.default_rng(1)
            pairs = [pop[mating] for mating in parents] if parents is not None else pop
            rows: list[Any] = []
            for one, two in pairs:
                rows += space.crossed(list(one.X), list(two.X), random)
            return Population.new("X", _objects(rows))

    class Mutated(Mutation):
        """Changes one of the two formulas."""

        def do(self, problem: Any, pop: Any, inplace: bool = True, *_: Any,  # noqa: ARG002
               random_state: Any = None, **__: Any) -> Any:  # fmt: skip
            from pymoo.core.population import Population

            random = random_state if random_state is not None else np.random.default_rng(1)
            rows = [
                space.mutated(list(one.X), random) if random.random() < 0.7 else list(one.X)
                for one in pop
            ]
            return Population.new("X", _objects(rows))

    class Same(ElementwiseDuplicateElimination):
        """Tells whether two rules are written alike."""

        def is_equal(self, a: Any, b: Any) -> bool:
            return space.rule(list(a.X)) == space.rule(list(b.X))

    return {
        "crossover": Crossed(),
        "mutation": Mutated(),
        "eliminate_duplicates": Same(),
    }
