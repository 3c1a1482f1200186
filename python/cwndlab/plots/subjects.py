"""What plots read of results, so that no plot imports one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.metrics import Metric


class Run(Protocol):
    """The result of a run; its own fields are attributes."""

    flows: pl.DataFrame
    links: pl.DataFrame
    arrivals: pl.DataFrame
    traces: dict[str, pl.DataFrame]
    scenario: dict[str, Any]

    @property
    def fields(self) -> dict[str, Any]:
        """Its own fields."""
        ...

    def table(self) -> pl.DataFrame:
        """One row per flow."""
        ...

    def __getattr__(self, name: str, /) -> Any: ...


class LiveRun(Run, Protocol):
    """A live run, with simulated ones of its scenario."""

    @property
    def simulated(self) -> Sequence[Run] | None:
        """Simulated runs, if there are any."""
        ...

    @property
    def verdict(self) -> str:
        """Where the live run is among them."""
        ...


class Means(Protocol):
    """Results of many runs."""

    @property
    def summary(self) -> pl.DataFrame:
        """Means with their intervals."""
        ...


class Pairs(Means, Protocol):
    """Rules beside another."""

    @property
    def against(self) -> str:
        """The other rule."""
        ...

    @property
    def rules(self) -> Sequence[str]:
        """The rules."""
        ...


class Explained(Protocol):
    """A difference between two sides, split into parts."""

    names: tuple[str, str]
    accounts: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]

    @property
    def headline(self) -> str:
        """The difference and its largest cause."""
        ...

    @property
    def is_of_capacity(self) -> bool:
        """Whether one side is the capacity of a link."""
        ...

    def labelled(self, labels: Mapping[str, str]) -> Explained:
        """Return the same with other names of the sides."""
        ...

    @property
    def goodput(self) -> pl.DataFrame:
        """Parts of the difference of goodputs by phase."""
        ...


class Measured(Means, Protocol):
    """Metrics of many runs over axes."""

    @property
    def title(self) -> str:
        """What figures call it."""
        ...

    @property
    def levels(self) -> Mapping[str, Sequence[str]]:
        """The levels of each axis."""
        ...

    @property
    def views(self) -> Sequence[str]:
        """Axes that another view of the runs has."""
        ...

    @property
    def measures(self) -> Sequence[Metric]:
        """The metrics."""
        ...

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: its levels and every metric."""
        ...

    @property
    def distributions(self) -> Mapping[str, Metric]:
        """What has a distribution."""
        ...

    @property
    def each(self) -> Callable[[str], pl.DataFrame]:
        """Returns the values of a distribution, with levels and replicate."""
        ...


@runtime_checkable
class Traced(Protocol):
    """Many runs with traces."""

    @property
    def traced(self) -> Callable[[str | None], Mapping[str, Sequence[Run]]]:
        """Returns the runs with their traces, by level of an axis."""
        ...


class Scores(Measured, Protocol):
    """Rules with their distances from the best."""

    @property
    def scores(self) -> pl.DataFrame:
        """C_a and D_a by setting, metric and rule."""
        ...


class Swept(Measured, Protocol):
    """Results of a sweep."""

    @property
    def axes(self) -> Sequence[str]:
        """Names of its columns of levels."""
        ...

    @property
    def sweep(self) -> Any:
        """Its definition."""
        ...


class Assessed(Protocol):
    """A rule judged by criteria."""

    @property
    def rule(self) -> str:
        """The rule."""
        ...

    @property
    def deciding(self) -> Sequence[str]:
        """The references that decide."""
        ...

    def judged(self) -> Sequence[Any]:
        """Return each criterion with its comparisons."""
        ...


class Frontier(Protocol):
    """Rules that a search found, with their objectives."""

    @property
    def specification(self) -> Any:
        """What was searched."""
        ...

    @property
    def frontier(self) -> Sequence[Any]:
        """The rules."""
        ...

    @property
    def references(self) -> Sequence[Any]:
        """Rules to compare them with."""
        ...


class Verdicts(Protocol):
    """Checks of rules under profiles."""

    @property
    def checks(self) -> Sequence[Any]:
        """The checks."""
        ...

    @property
    def rules(self) -> Sequence[str]:
        """The rules."""
        ...

    @property
    def profiles(self) -> Sequence[str]:
        """The profiles."""
        ...

    @property
    def cells(self) -> Callable[[], Mapping[Any, Any]]:
        """Returns the verdict of each check, rule and profile."""
        ...


class ImportedFlow(Protocol):
    """A recorded flow, and the scenario made of it."""

    @property
    def window(self) -> str:
        """What its windows are."""
        ...

    @property
    def rule(self) -> str:
        """Rule of the scenario."""
        ...

    @property
    def difference(self) -> float:
        """Mean distance of the windows as a fraction."""
        ...

    def windows(self, rows: int = 20, /) -> pl.DataFrame:
        """Return recorded and simulated windows over time."""
        ...
