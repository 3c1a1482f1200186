"""The runs of a store, as a table.

One row per run of a sweep, with metrics and origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab.arguments import listed
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, unknown
from cwndlab.runs.store import Record, Store, Use
from cwndlab.sweeps.checks import PROVENANCE, RESERVED
from cwndlab.sweeps.definition import METRICS
from cwndlab.sweeps.measures import Measure, find, measure

if TYPE_CHECKING:
    import polars as pl

_FIXED = ("sweep", "replicate", "seed", "definition", "trace_hash", *PROVENANCE)
Conditions = Mapping[str, "str | Collection[str]"]


def stored_runs(
    store: Store,
    *,
    sweep: str | None = None,
    where: Conditions | None = None,
    metrics: str | Sequence[str] | None = None,
    older: bool = False,
) -> pl.DataFrame:
    """Read the runs of a store's sweeps.

    Parameters
    ----------
    store : Store
        The store.
    sweep : str, optional
        Name of one sweep; by default all.
    where : mapping, optional
        Column to its text, or to several texts of which one must match: an axis, ``replicate``,
        ``seed``, ``machine``, ``version``, ``definition``, ...
    metrics : str or sequence of str, optional
        Metrics of each run; by default those of its sweep.
    older : bool
        Also list runs of a sweep's earlier definitions: another base, seed, engine, rule source, or
        other axes. By default they are left out, unless `where` names a ``definition``.

    Returns
    -------
    polars.DataFrame
        One row per run and place in a sweep: ``sweep``, the axes (null if a sweep has no such
        axis), ``replicate``, ``seed``, ``definition``, ``trace_hash``, every metric (null if the
        run has none), and its origin: ``duration_s`` (s), ``finished`` (UTC), ``machine``,
        ``version``, ``build``, ``key``.

    Raises
    ------
    ScenarioError
        If there is no such sweep or column, or no run has a metric of `metrics`.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import Sweep, dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s").to_dict()
    >>> sweep = Sweep(base=base, axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, replicates=2,
    ...               metrics=["loss_rate"])
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     found = sweep.run(store)
    ...     stored_runs(store, where={"rule": "CUBIC"}).select("rule", "replicate", "seed").rows()
    [('CUBIC', 0, 1), ('CUBIC', 1, 2)]
    """
    import polars as pl

    definitions = store.definitions()
    conditions = {
        name: [text] if isinstance(text, str) else list(text)
        for name, text in (where or {}).items()
    }
    uses = store.uses(older=older or "definition" in conditions)
    if sweep is not None and sweep not in {*definitions, *(use.sweep for use in uses)}:
        raise ScenarioError(unknown("sweep", sweep, definitions))
    chosen = [use for use in uses if sweep in (None, use.sweep)]
    axes = list(dict.fromkeys(axis for use in chosen for axis in use.cell))
    kept = _where(chosen, axes, conditions)
    metrics = None if metrics is None else listed(metrics)
    named = {
        name: _names(definitions.get(name, {}), metrics) for name in {use.sweep for use in kept}
    }
    measures = {name: [find(key) for key in keys] for name, keys in named.items()}
    rest = {name: texts for name, texts in conditions.items() if name not in axes}
    rows = _rows(store, kept, rest, measures, definitions, {*metrics} if metrics else set())
    columns = list(dict.fromkeys(key for keys in named.values() for key in keys))
    if taken := [key for key in columns if key in (*RESERVED, *axes)]:
        raise ScenarioError(
            invalid("metrics", taken[0], f"other names than {', '.join([*RESERVED, *axes])}")
        )
    schema = {
        "sweep": pl.String, **dict.fromkeys(axes, pl.String), "replicate": pl.Int64,
        "seed": pl.UInt64,
        "definition": pl.String, "trace_hash": pl.String, **dict.fromkeys(columns, pl.Float64),
        "duration_s": pl.Float64, **dict.fromkeys(PROVENANCE[1:], pl.String),
    }  # fmt: skip
    # Cells in the sweep's order: the order of finishing means nothing.
    order = {use.place: place for place, use in enumerate(kept)}
    rows.sort(key=lambda row: order[row.pop(" place")])
    return pl.DataFrame(rows, schema=schema)


def older_runs(store: Store, sweep: str | None = None) -> dict[str, int]:
    """Count, by sweep, the runs that `stored_runs` leaves out.

    They belong to earlier definitions alone.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import Sweep, dumbbell
    >>> bases = [dumbbell(rate, "10ms", flows="AIMD(1, 0.5)", duration="2s").to_dict()
    ...          for rate in ("2Mbit", "4Mbit")]
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     done = [Sweep(name="rates", base=base, replicates=3).run(store) for base in bases]
    ...     stored_runs(store).height, older_runs(store)
    (3, {'rates': 3})
    """
    # The latest second: a running sweep adds runs meanwhile, and new runs are not older ones.
    every = {(use.sweep, use.key) for use in store.uses(sweep, older=True)}
    latest = {(use.sweep, use.key) for use in store.uses(sweep)}
    return dict(Counter(name for name, _ in every - latest))


def _where(uses: list[Use], axes: list[str], where: Mapping[str, list[str]]) -> list[Use]:
    for column in where:
        if column not in (*axes, *_FIXED):
            raise ScenarioError(unknown("where", column, [*axes, *_FIXED]))
    labels = {axis: texts for axis, texts in where.items() if axis in axes}
    # Cells in the order of their first occurrence, which is the sweep's.
    order = {text: place for place, text in enumerate(dict.fromkeys(use.labels for use in uses))}
    found = [
        use for use in uses if all(use.cell.get(axis) in texts for axis, texts in labels.items())
    ]
    return sorted(
        found, key=lambda use: (use.sweep, use.definition, order[use.labels], use.replicate)
    )


def _names(definition: Mapping[str, Any], metrics: Sequence[str] | None) -> list[str]:
    return list(metrics or definition.get("metrics") or METRICS)


def _rows(
    store: Store, uses: list[Use], where: Mapping[str, list[str]],
    measures: Mapping[str, list[Measure]],
    definitions: Mapping[str, Mapping[str, Any]], needed: Collection[str],
) -> list[dict[str, Any]]:  # fmt: skip
    by_key: dict[str, list[Use]] = {}
    for use in uses:
        by_key.setdefault(use.key, []).append(use)
    rows: list[dict[str, Any]] = []
    faults: dict[str, ScenarioError] = {}
    for record in store.records(by_key) if by_key else ():
        run = record.run()
        for use in by_key[record.key]:
            about = {
                "replicate": use.replicate,
                "definition": use.definition,
                **_provenance(record),
            }
            row = {"sweep": use.sweep, **use.cell, **about}
            if all(str(row[column]) in texts for column, texts in where.items()):
                values = _values(run, measures[use.sweep], definitions.get(use.sweep, {}), faults)
                rows.append({**row, **values, " place": use.place})
    for key, fault in faults.items():
        # No run has it: the metric is mistyped.
        if key in needed and all(row[key] is None for row in rows):
            raise fault
    return rows


def _values(
    run: Mapping[str, Any],
    measures: list[Measure],
    definition: Mapping[str, Any],
    faults: dict[str, ScenarioError],
) -> dict[str, float | None]:
    """Measure a run; None if it lacks the flows or link, as under an earlier definition."""
    link = definition.get("link", "bottleneck")
    group = definition.get("group") or ("flow" if "env" in definition.get("axes", {}) else None)
    try:
        return measure(run, measures, link, group)
    except ScenarioError:
        values: dict[str, float | None] = {}
        for entry in measures:
            try:
                values |= measure(run, [entry], link, group)
            except ScenarioError as error:
                values[entry.key] = None
                faults.setdefault(entry.key, error)
        return values


def _provenance(record: Record) -> dict[str, Any]:
    return {key: getattr(record, key) for key in ("seed", "trace_hash", *PROVENANCE)}
