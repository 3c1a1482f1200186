"""Pairwise comparison of rules on one bottleneck: share and harm.

A mixed run has n flows of a rule and n flows of the other rule; a baseline run has 2n flows of the
other, with the same random numbers: every flow has the start and the RTT of the flow in its place
in the mixed run. Harm is the loss of goodput of the other's flows from the baseline to the mixed
run. RFC 9743 [1]_, section 5.2, asks for it (does a new algorithm harm flows that share its
bottleneck more than the standard ones do?), in goodput, RTT and loss. Ware et al. [2]_ introduced
harm relative to a flow alone, and compare it with the harm that the other rule does itself, which
is the baseline here.

References
----------
.. [1] M. Duke, G. Fairhurst (eds.), "Specifying New Congestion Control Algorithms", RFC 9743, 2025,
   section 5.2.
.. [2] R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar
   For The Deployment of Congestion Control Algorithms", HotNets 2019.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from cwndlab import environments, native
from cwndlab.arguments import Progress, keywords, listed, some, whole
from cwndlab.documents import is_whole
from cwndlab.environments.profile import assumed, words
from cwndlab.errors import ScenarioError
from cwndlab.groups import harm
from cwndlab.message import invalid
from cwndlab.metrics import Metric
from cwndlab.quantities import Quantity, bits_per_second
from cwndlab.result_tables import plotting
from cwndlab.runs.collection import Collection, collect
from cwndlab.runs.plan import Joint, Level, Plan
from cwndlab.runs.until import MOST, targets_of
from cwndlab.sharing import AGAINST, BASELINE, BY_KEY, MEASURES, RULE, measure
from cwndlab.tables import by_cell

if TYPE_CHECKING:
    from distributed import Client
    from matplotlib.figure import Figure

    from cwndlab.custom_rules import Rule
    from cwndlab.runs.store import Store

AXES = ("recovery", "queue", "env", "flows", "rule")
SETTING = ("recovery", "queue", "env")
LINK = "link"
"""Name in the place of an environment for a link of constant rate with no other traffic."""
FLOWS = (1, 2, 4, 8, 16)
REPLICATES = 20
"""Chance decides which of few flows behind a full queue loses, so shares vary between runs."""
RATE = "20Mbit"
MOST_FLOWS = 10_000


@dataclass(repr=False)
class Pairwise(Collection):
    """Results of a plan with the axes recovery, queue, env, flows and rule.

    The baseline runs are those whose `rule` is the other rule itself.

    Examples
    --------
    >>> from cwndlab import against
    >>> found = against("AIAD(1, 3)", "AIMD(1, 0.5)", flows=2, replicates=2, duration="5s")
    >>> found.runs.height, found.table().columns[:5]
    (4, ['recovery', 'queue', 'env', 'flows', 'rule'])
    """

    MEASURE: ClassVar[str] = "measure"
    OUTPUT: ClassVar[str] = "against"

    against: str = field(kw_only=True)
    """The other rule."""
    rules: Sequence[str] = field(kw_only=True)
    """The rules compared with it."""

    def define(self) -> Mapping[str, Any]:
        """Return how a store names the runs."""
        plan = self.plan
        return {
            "name": "against",
            "against": self.against,
            "axes": plan.labels,
            "group": RULE,
            "plan": plan.to_dict(),
        }

    def measure(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Measure the share, and the means over each group and over both."""
        return measure(run)

    @property
    def measures(self) -> Sequence[Metric]:
        """Shares, harm, and what goes with them."""
        return MEASURES

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``runs`` and ``summary`` by name."""
        return {"summary": self.summary, "runs": self.runs}

    @property
    def runs(self) -> pl.DataFrame:
        """One row per finished run: its cell, replicate, seed, trace hash, and every measure.

        Baseline measures and harm are null while the baseline run is missing. Harm compares a run
        with the baseline run of the same seed.
        """
        rows = pl.DataFrame(self.rows(), schema=_RUN_SCHEMA).with_columns(
            pl.col("flows").cast(pl.Int64)
        )
        own = rows.filter(rule=self.against).select(
            *_PAIRED, pl.col(BASELINE).name.replace("both", "baseline")
        )
        paired = rows.drop(BASELINE).join(own, on=_PAIRED, how="left", maintain_order="left")
        lost = harm(pl.col("against_goodput_bps"), pl.col("baseline_goodput_bps"))
        return paired.with_columns(harm=lost).select(*AXES, *_RUN, *BY_KEY)

    @property
    def head(self) -> dict[str, Any]:
        """What the JSON has beside plan and tables."""
        return {"against": self.against, "rules": list(self.rules)}

    def table(self) -> pl.DataFrame:
        """One row per cell, a column per measure: mean with its interval, as in the terminal."""
        return by_cell(self.summary, AXES, "measure", BY_KEY.values())

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot share and harm over the number of flows (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, shares

        return FigureStyle.of(**figure).draw(shares, self)


_RUN = ("replicate", "seed", "trace_hash")
_PAIRED = (*SETTING, "flows", "replicate")
_RUN_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(AXES, pl.String),
    "replicate": pl.Int64,
    "seed": pl.Int64,
    "trace_hash": pl.String,
    **{key: pl.Float64 for key in BY_KEY if key != "harm" and not key.startswith("baseline")},
    **dict.fromkeys(BASELINE, pl.Float64),
}


@keywords(instead=words)
def against(
    rules: Rule | Sequence[Rule],
    other: Rule,
    *,
    flows: int | Sequence[int] = FLOWS,
    queue: str | Sequence[str] = "drop-tail",
    recovery: str | Sequence[str] = "sack",
    env: str | Sequence[str] | None = None,
    rate: Quantity = RATE,
    replicates: int = REPLICATES,
    duration: Quantity | None = None,
    profile: str | None = None,
    home: str | Sequence[str] | None = None,
    assume: environments.Assumptions | Mapping[str, Any] | None = None,
    seed: int = 1,
    patch: Mapping[str, Any] | None = None,
    trace: Mapping[str, Any] | None = None,
    until: str | None = None,
    most: int = MOST,
    jobs: int | None = None,
    store: Store | str | Path | None = None,
    on: str | Client | None = None,
    progress: Progress | None = None,
    keep: bool = True,
    run: bool = True,
) -> Pairwise:
    """Run rules against another on one bottleneck.

    Parameters
    ----------
    rules : rule or sequence of rules
        One rule or several: notations that `cwndlab.rule` reads, classes, or instances.
    other : rule
        The rule that shares the bottleneck with each of them.
    flows : int or sequence of int
        Flow counts n: n flows of the rule and n of the other.
    queue, recovery : sequence of str
        Queues at the bottleneck as in the environments, and loss recovery of all flows.
    env : sequence of str, optional
        Environments, whose link grows with the number of flows; by default one link of constant
        rate.
    rate : str or float
        Rate of that link, independent of the number of flows (bit/s if a bare number).
    replicates : int
        Runs per cell, with seeds ``seed``, ``seed + 1``, ... in every cell.
    duration : str or float, optional
        Simulated time of a run (seconds if a bare number); by default the assumed one, 100 s.
    profile : str, optional
        Profile of the TCP endpoints; by default that of the assumptions, ``"linux"``.
    home : {"simulator", "linux", "linux:NAME"} or sequence of them, optional
        Where the runs execute instead of in the simulator: a Linux kernel in virtual time. With
        several homes, each environment, or the link, runs in each of them.
    assume : Assumptions or mapping, optional
        RTT, buffer, measuring window and so on; its number of flows is not used.
    seed : int
        Seed of replicate 0.
    patch : mapping, optional
        Dotted keys to set in all runs, after all others; the flows are ``flows.rule`` and
        ``flows.against``.
    trace : mapping, optional
        The ``[trace]`` table of replicate 0; the others record none.
    until : str, optional
        Add replicates until every 95 % interval is narrow enough, such as ``"ci(share) < 0.02"``.
    most : int
        With `until`, the largest number of replicates of a cell.
    jobs : int, optional
        Number of threads; by default one for each processor.
    store : Store, str or Path, optional
        Keeps finished runs, so the same call continues where it was interrupted.
    on : str or Client, optional
        A dask.distributed scheduler, whose cluster executes the runs.
    progress : callable, optional
        Called with ``"runs"``, the number of finished runs, and the total.
    keep : bool
        Whether `Pairwise.results` keeps every run's result.
    run : bool
        Whether to execute the runs. Without them the result has only its `plan`, as
        `cwndlab.runs.collection.collect` takes it.

    Returns
    -------
    Pairwise
        `runs` and `summary` are data frames; `plot` makes a figure.

    Raises
    ------
    ScenarioError
        If a rule, queue, recovery, environment, rate or number of flows is not valid.

    Examples
    --------
    A rule that adds a sixteenth of its window per RTT takes most of a link from one that adds a
    packet:

    >>> pairwise = against("MIMD(1.0625, 0.5)", "AIMD(1, 0.5)", flows=[4], replicates=2,
    ...                   duration="40s")
    >>> rows = pairwise.summary.filter(rule="MIMD(1.0625, 0.5)")
    >>> means = dict(rows.select("measure", "mean").iter_rows())
    >>> means["share"] > 0.6, means["harm"] > 0.2
    (True, True)

    What is to be run:

    >>> planned = against(["CUBIC"], "AIMD(1,.5)", flows=[2, 8], replicates=3, run=False)
    >>> len(planned.plan), planned.against, planned.plan.labels["rule"]
    (12, 'AIMD(1, 0.5)', ['CUBIC', 'AIMD(1, 0.5)'])
    """
    beside = native.rule(other)
    asked = list(dict.fromkeys(map(native.rule, some("rules", rules))))
    whole("replicates", replicates, 1)
    counts = list(dict.fromkeys(_checked(count) for count in some("flows", flows)))
    chosen = assumed(assume, profile=profile, duration=duration)
    targets = targets_of(until, BY_KEY)
    first, replicates = replicates, most if targets else replicates
    link = _Bottleneck(chosen, rate)
    queues = list(dict.fromkeys(some("queue", queue, "queues")))
    homes = listed(home or ())
    places = [LINK] if env is None else environments.names(some("env", env, "environments"))
    names = environments.at_homes(places, homes)
    where = list(itertools.product(queues, names, counts))
    axes = {
        "recovery": [
            Level(name, {f"flows.{group}.recovery": name for group in (RULE, AGAINST)})
            for name in dict.fromkeys(some("recovery", recovery, "recovery schemes"))
        ],
        "queue": [Level(name, {}) for name in queues],
        "env": [Level(name, {}) for name in names],
        "flows": [Level(str(count), {}) for count in counts],
        # The other rule itself comes last: the baseline of harm.
        "rule": [
            Level(rule, {f"flows.{RULE}.rule": rule}) for rule in dict.fromkeys((*asked, beside))
        ],
    }
    joint = list(_joint(where, link, range(seed, seed + replicates)))
    base = environments.document(link.tables("drop-tail", LINK, 1), chosen)
    plan = Plan(
        base,
        axes,
        replicates,
        seed,
        joint,
        {
            f"flows.{AGAINST}.rule": beside,
            **(patch or {}),
            **({"home": homes[0]} if len(homes) == 1 else {}),
        },
    )
    planned = Pairwise(plan, against=beside, rules=asked, targets=targets, first=first)
    if not run:
        return planned
    return collect(
        planned, store=store, jobs=jobs, on=on, trace=trace, progress=progress, keep=keep
    )


class _Bottleneck:
    """The networks: n flows of each group on one link, or in an environment."""

    def __init__(self, chosen: environments.Assumptions, rate: Quantity) -> None:
        self.chosen, self.rate_bps = chosen, bits_per_second(rate) or 0.0
        if not self.rate_bps > 0.0:
            raise ScenarioError(invalid("rate", rate, "a rate above 0, such as 20Mbit"))

    def tables(self, queue: str, env: str, count: int, seed: int = 1) -> dict[str, Any]:
        """Return the network's tables, with the two groups first among its flows."""
        both = self.chosen.with_(flows=2 * count)
        place, home = environments.split_home(env)
        if place == LINK:
            tables = environments.link(self.rate_bps, queue, both)
            if home is not None:
                tables["home"] = home
        else:
            tables = environments.network(env, queue, both, seed)
        test, *others = tables["flows"]
        groups = [{**test, "name": group, "count": count} for group in (RULE, AGAINST)]
        return {**tables, "flows": [*groups, *others]}


def _joint(
    where: Sequence[tuple[str, str, int]], link: _Bottleneck, seeds: Sequence[int]
) -> Iterator[Joint]:
    """Return the networks, one per queue, environment and number of flows."""
    for queue, env, count in where:
        cell = {"queue": queue, "env": env, "flows": str(count)}
        yield Joint(cell, link.tables(queue, env, count))
        place, _ = environments.split_home(env)
        is_drawn = place != LINK and environments.environment(place).is_drawn
        for replicate, seed in enumerate(seeds if is_drawn else ()):
            yield Joint(
                {**cell, "replicate": replicate},
                {"cross": link.tables(queue, env, count, seed)["cross"]},
            )


def _checked(count: object) -> int:
    if not is_whole(count) or not 1 <= count <= MOST_FLOWS:
        raise ScenarioError(invalid("flows", count, f"whole numbers from 1 to {MOST_FLOWS}"))
    return count
