"""What a store holds, as a table: runs by the sweeps that have them, with metrics and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ScenarioError
from cwndlab.store import Record, Store, Use
from cwndlab.sweep.definition import METRICS
from cwndlab.sweep.measures import Measure, find, measure

if TYPE_CHECKING:
    import polars as pl

PROVENANCE = ("duration_s", "finished", "machine", "version", "build", "key")
"""Columns that say where a run comes from."""
_FIXED = ("sweep", "replicate", "seed", "trace_hash", *PROVENANCE)


def stored_runs(
    store: Store,
    *,
    sweep: str | None = None,
    where: Mapping[str, str] | None = None,
    metrics: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Read the runs of a store that a sweep has.

    Parameters
    ----------
    store : Store
        Where they are.
    sweep : str, optional
        Name of one sweep; by default all.
    where : mapping, optional
        Column to the text it must have: an axis, ``replicate``, ``seed``, ``machine``, ``version``, ...
    metrics : sequence of str, optional
        What is measured on each run; by default what its sweep measures.

    Returns
    -------
    polars.DataFrame
        One row per run and place in a sweep: ``sweep``, the axes (null where a sweep has no such one), ``replicate``,
        ``seed``, ``trace_hash``, every metric, and where it comes from: ``duration_s`` (s), ``finished`` (UTC),
        ``machine``, ``version``, ``build``, ``key``.

    Raises
    ------
    ScenarioError
        If there is no such sweep, column or metric.

    Examples
    --------
    >>> import tempfile
    >>> from cwndlab import Sweep, dumbbell
    >>> base = dumbbell("2Mbit", "10ms", flows="AIMD(1, 0.5)", duration="2s").to_dict()
    >>> sweep = Sweep(base=base, axes={"rule": ["AIMD(1, 0.5)", "CUBIC"]}, replicates=2, metrics=["loss_rate"])
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     found = sweep.run(store)
    ...     stored_runs(store, where={"rule": "CUBIC"}).select("rule", "replicate", "seed").rows()
    [('CUBIC', 0, 1), ('CUBIC', 1, 2)]
    """
    import polars as pl

    definitions = store.definitions()
    uses = store.uses()
    if sweep is not None and sweep not in {*definitions, *(use.sweep for use in uses)}:
        raise ScenarioError(f"sweep: `{sweep}` is not in the store; allowed: {', '.join(definitions) or 'none yet'}")
    chosen = [use for use in uses if sweep in (None, use.sweep)]
    axes = list(dict.fromkeys(axis for use in chosen for axis in use.cell))
    kept = _where(chosen, axes, dict(where or {}))
    named = {name: _names(definitions.get(name, {}), metrics) for name in {use.sweep for use in kept}}
    measures = {name: [find(key) for key in keys] for name, keys in named.items()}
    rows = _rows(store, kept, axes, dict(where or {}), measures, definitions)
    columns = list(dict.fromkeys(key for keys in named.values() for key in keys))
    schema = {
        "sweep": pl.String, **dict.fromkeys(axes, pl.String), "replicate": pl.Int64, "seed": pl.UInt64,
        "trace_hash": pl.String, **dict.fromkeys(columns, pl.Float64), "duration_s": pl.Float64,
        **dict.fromkeys(PROVENANCE[1:], pl.String),
    }  # fmt: skip
    # Cells as their sweep has them: the order in which they finished means nothing.
    order = {use[:3]: place for place, use in enumerate(kept)}
    rows.sort(key=lambda row: order[row.pop(" place")])
    return pl.DataFrame(rows, schema=schema)


def _where(uses: list[Use], axes: list[str], where: Mapping[str, str]) -> list[Use]:
    for column in where:
        if column not in (*axes, *_FIXED):
            raise ScenarioError(f"where: `{column}` is no column; allowed: {', '.join([*axes, *_FIXED])}")
    labels = {axis: text for axis, text in where.items() if axis in axes}
    # Cells in the order in which they were first seen, which is the sweep's.
    order = {text: place for place, text in enumerate(dict.fromkeys(use.labels for use in uses))}
    found = [use for use in uses if labels.items() <= use.cell.items()]
    return sorted(found, key=lambda use: (use.sweep, order[use.labels], use.replicate))


def _names(definition: Mapping[str, Any], metrics: Sequence[str] | None) -> list[str]:
    return list(metrics or definition.get("metrics") or METRICS)


def _rows(
    store: Store, uses: list[Use], axes: list[str], where: Mapping[str, str], measures: Mapping[str, list[Measure]],
    definitions: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    by_key: dict[str, list[Use]] = {}
    for use in uses:
        by_key.setdefault(use.key, []).append(use)
    rest = {column: text for column, text in where.items() if column not in axes}
    rows = []
    for record in store.records(by_key) if by_key else ():
        run = record.run()
        for use in by_key[record.key]:
            row = {"sweep": use.sweep, **use.cell, "replicate": use.replicate, **_provenance(record)}
            if all(str(row[column]) == text for column, text in rest.items()):
                about = definitions.get(use.sweep, {})
                group = about.get("group") or ("flow" if "env" in about.get("axes", {}) else None)
                values = measure(run, measures[use.sweep], about.get("link", "bottleneck"), group)
                rows.append({**row, **values, " place": use[:3]})
    return rows


def _provenance(record: Record) -> dict[str, Any]:
    return {key: getattr(record, key) for key in ("seed", "trace_hash", *PROVENANCE)}
