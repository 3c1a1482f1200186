"""`cwndlab results`: the runs in a store and their origin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwndlab.cli import options
from cwndlab.cli.display import display
from cwndlab.cli.output import print_frame, print_line, print_table, say
from cwndlab.message import invalid, one_of, plural

if TYPE_CHECKING:
    import polars as pl

    from cwndlab.runs.store import Store

MOST_ROWS = 50
ENDINGS = (".csv", ".parquet", ".json")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--sweep", metavar="NAME", help="Only runs of this sweep.")
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=TEXT",
    help="Only runs with this value of an axis, replicate, seed, machine, ..., e.g. --where "
    '"rule=AIMD(1, 0.5)". Repeated for one column, it means any of the values; for several '
    "columns, all of them.",
)
@click.option(
    "--all",
    "older",
    is_flag=True,
    help="Also list runs of earlier definitions of a sweep.",
)
@click.option(
    "--metrics",
    multiple=True,
    metavar="NAMES",
    help="Metrics to list.  [default: those of the sweep]",
)
@click.option(
    "--export",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the runs as .csv, .parquet or .json; an existing file is replaced at the end.",
)
@click.option(
    "--run",
    "run_key",
    metavar="KEY",
    help="Print one run: its provenance, and its scenario as TOML.",
)
@click.option(
    "--convert",
    "is_conversion",
    is_flag=True,
    help="Convert a store that an earlier version of cwndlab wrote, in place.",
)
@options.rules_option
@options.json_option
@options.format_option
def results(
    folder: Path,
    sweep: str | None,
    where: tuple[str, ...],
    older: bool,
    metrics: tuple[str, ...],
    export: tuple[Path, ...],
    run_key: str | None,
    is_conversion: bool,
    as_json: bool,
) -> None:
    """List and export the runs in a store.

    If a sweep was changed and run again under the same name, only the runs of its latest definition
    are listed.
    """
    options.check_format(as_json)
    conditions: dict[str, list[str]] = {}
    for column, text in map(_condition, where):
        conditions.setdefault(column, []).append(text)
    for path in export:
        if path.suffix.lower() not in ENDINGS:
            raise click.UsageError(
                invalid("--export", path, f"a file that ends in {one_of(ENDINGS)}")
            )
        options.check_parent("--export", path)

    from cwndlab.metrics import BY_KEY
    from cwndlab.runs.store import Store, convert
    from cwndlab.sweeps.reading import former_profile, says_former_profile
    from cwndlab.sweeps.stored import older_runs, stored_runs

    if is_conversion:
        converted, notes = convert(folder)
        for note in notes:
            say(f"note: {note}")
        say(f"converted {plural(converted, 'run')} in {folder}")
    store = click.get_current_context().with_resource(Store(folder, write=False))
    if run_key is not None:
        _print_run(store, run_key, as_json=as_json)
        return
    names = options.names_of("--metrics", metrics, BY_KEY) if metrics else None
    table = stored_runs(store, sweep=sweep, where=conditions, metrics=names, older=older)
    for note in store.notes:
        say(f"note: {note}")
    for name in table["sweep"].unique(maintain_order=True):
        if former := former_profile(store, name):
            say(f"note: {says_former_profile(name, former)}")
    left_out = {} if older or "definition" in conditions else older_runs(store, sweep)
    for name, count in left_out.items():
        say(
            f"note: {plural(count, 'run')} of earlier definitions of the sweep {name} left out; "
            "--all lists them"
        )
    for path in export:
        _write(table, path, lambda: _whole(store, table, left_out))
        say(f"wrote {path}")
    if as_json:
        from cwndlab.jsontext import dumps

        click.echo(dumps(_whole(store, table, left_out)))
        return
    if display.format == "csv":
        print_frame(table)
        return
    are_many = table.height > MOST_ROWS and table["sweep"].n_unique() > 1
    if are_many:
        _print_sweeps(table)
    else:
        _print_runs(table, ["definition"] if older or "definition" in conditions else [])
    if display.is_terminal:
        _print_provenance(_provenance(store, table, left_out), with_sweeps=not are_many)


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise click.UsageError(invalid("--where", text, "COLUMN=TEXT"))
    return column.strip(), value.strip()


def _whole(store: Store, table: pl.DataFrame, left_out: dict[str, int]) -> dict[str, Any]:
    from cwndlab.outputs import stamped

    provenance = _provenance(store, table, left_out)
    return stamped("results", {"provenance": provenance, "runs": table.to_dicts()})


def _write(table: pl.DataFrame, path: Path, whole: Callable[[], dict[str, Any]]) -> None:
    from cwndlab.files import write_parquet, write_whole

    kind = path.suffix.lower()
    if kind == ".csv":
        write_whole(path, table.write_csv().encode())
    elif kind == ".parquet":
        write_parquet(path, table)
    else:
        from cwndlab.jsontext import dumps

        write_whole(path, f"{dumps(whole())}\n".encode())


def _print_runs(table: pl.DataFrame, more: list[str]) -> None:
    from cwndlab.sweeps.checks import PROVENANCE
    from cwndlab.sweeps.measures import find
    from cwndlab.tables import number

    shown = table.head(MOST_ROWS)
    # Axes and metrics of other sweeps are empty.
    has = {name for name in table.columns if shown[name].null_count() < shown.height}
    before = [
        name for name in [*table.columns[: table.columns.index("replicate")], *more] if name in has
    ]
    keys = table.columns[table.columns.index("trace_hash") + 1 : -len(PROVENANCE)]
    metrics = [find(key) for key in keys if key in has]
    rows = [
        [
            *(row[name] or "-" for name in before),
            str(row["replicate"]),
            str(row["seed"]),
            *(number(row[metric.key], metric) for metric in metrics),
            row["key"][:8],
        ]
        for row in shown.to_dicts()
    ]
    headings = [metric.heading for metric in metrics]
    columns = [*before, "replicate", "seed", *headings, "key"]
    print_table(
        f"{table.height} runs",
        columns,
        rows,
        text_columns=len(before),
        optional=["seed", "definition", "sweep"],
    )
    if table.height > MOST_ROWS:
        say(f"{table.height - MOST_ROWS} more; --where selects, --export writes all of them")


def _print_sweeps(table: pl.DataFrame) -> None:
    """Print the names of the sweeps if there are too many runs to list."""
    axes = _axes(table)
    rows: list[list[str]] = []
    for (name,), runs in table.group_by("sweep", maintain_order=True):
        own = [axis for axis in axes if runs[axis].null_count() < runs.height]
        rows.append(
            [str(name), ", ".join(own) or "-", str(runs.height), f"{runs['duration_s'].sum():.1f}"]
        )
    columns = ["sweep", "axes", "runs", "run time\n[s]"]
    print_table(f"{table.height} runs of {len(rows)} sweeps", columns, rows, text_columns=2)
    say("--sweep NAME lists the runs of one, --export writes all of them")


def _provenance(store: Store, table: pl.DataFrame, left_out: dict[str, int]) -> dict[str, Any]:
    """Print the origin of the listed runs, and how many other runs there are."""
    from cwndlab.runs.store.store import FORMAT

    def distinct(column: str, rows: pl.DataFrame = table) -> list[Any]:
        return rows[column].unique().sort().to_list()

    return {
        "store": str(store.path),
        "format": FORMAT,
        "runs_in_store": len(store),
        "runs": table.height,
        "sweeps": {name: table.filter(sweep=name).height for name in distinct("sweep")},
        "definitions": {
            name: distinct("definition", table.filter(sweep=name)) for name in distinct("sweep")
        },
        "older_runs": left_out,
        "seeds": [table["seed"].min(), table["seed"].max()],
        "versions": distinct("version"),
        "builds": distinct("build"),
        "machines": distinct("machine"),
        "finished": [table["finished"].min(), table["finished"].max()],
        "duration_s": table["duration_s"].sum(),
        "hash": _hash(table),
    }


def _hash(table: pl.DataFrame) -> str:
    """Hash all runs as a report does: equal elsewhere if every run was equal there."""
    from cwndlab.report.from_sweep import digest

    return digest(
        [
            {**row, "cell": {axis: row[axis] for axis in _axes(table) if row[axis] is not None}}
            for row in table.to_dicts()
        ]
    )


def _axes(table: pl.DataFrame) -> list[str]:
    columns = table.columns
    return columns[columns.index("sweep") + 1 : columns.index("replicate")]


def _print_provenance(found: dict[str, Any], *, with_sweeps: bool) -> None:
    if not found["runs"]:
        click.echo(f"{found['runs_in_store']} runs in the store, none of them selected")
        return
    sweeps = ", ".join(f"{name} ({count} runs)" for name, count in found["sweeps"].items())
    for what, text in (
        *([("sweeps", sweeps)] if with_sweeps else []),
        ("seeds", f"{found['seeds'][0]} to {found['seeds'][1]}"),
        ("engine", f"cwndlab {', '.join(found['versions'])}, build {', '.join(found['builds'])}"),
        ("machines", "; ".join(found["machines"])),
        ("finished", f"{found['finished'][0]} to {found['finished'][1]}"),
        ("run time", f"{found['duration_s']:.2f} s in all"),
        ("hash", f"{found['hash']} of all runs"),
    ):
        print_line(f"{what:9} {text}")


def _print_run(store: Store, prefix: str, *, as_json: bool) -> None:
    """Print one run with its scenario."""
    if not prefix or not set(prefix.lower()) <= set("0123456789abcdef"):
        raise click.UsageError(invalid("--run", prefix, "the first digits of a key in the table"))
    found = [record for record in store.records() if record.key.startswith(prefix.lower())]
    if len(found) != 1:
        raise click.UsageError(
            invalid("--run", prefix, f"the digits of one key; {plural(len(found), 'key')} begin so")
        )
    record = found[0]
    scenario, about = json.loads(record.scenario), record._asdict()
    places: list[dict[str, Any]] = [
        {
            "sweep": use.sweep,
            "definition": use.definition,
            "cell": use.cell,
            "replicate": use.replicate,
        }
        for use in store.uses(older=True)
        if use.key == record.key
    ]
    if as_json:
        from cwndlab.groups import with_groups
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        result = with_groups(record.run())
        whole = {**about, "scenario": scenario, "result": result, "places": places}
        click.echo(dumps(stamped("stored-run", whole)))
        return
    from cwndlab import tomltext

    for place in places:
        cell = ", ".join(f"{axis} = {label}" for axis, label in place["cell"].items())
        definition = f", definition {place['definition']}" if place["definition"] else ""
        click.echo(f"# sweep {place['sweep']}: {cell}, replicate {place['replicate']}{definition}")
    for key in (
        "key",
        "seed",
        "trace_hash",
        "version",
        "build",
        "machine",
        "finished",
        "duration_s",
    ):
        click.echo(f"# {key}: {about[key]}")
    click.echo(tomltext.dumps(scenario))
