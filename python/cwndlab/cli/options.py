"""Options that several commands share, and the parsing of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from cwndlab.cli.display import FORMATS, display
from cwndlab.documents import split_list
from cwndlab.message import invalid, invalid_value, one_of, same_name, unknown_value

PLOT_ENDINGS = (".png", ".svg", ".pdf")


if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
    TextChoice = click.Choice[str]
else:
    # The first releases of click 8 have no type parameters.
    ParamType = click.ParamType
    TextChoice = click.Choice


Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")


class Option(Protocol):
    """Adds a parameter to a command."""

    def __call__(self, command: Command, /) -> Command:
        """Return the command, or the function that becomes one."""
        ...


class Value(ParamType):
    """A value that a function reads.

    Parameters
    ----------
    name : str
        Name of the type.
    read : callable
        Text or default to the value; None, or a ValueError, if it is not valid.
    expected : str
        What is expected, for a message.
    """

    def __init__(self, name: str, read: Callable[[Any], Any], expected: str) -> None:
        self.name: str = name
        self._read, self._expected = read, expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value, or raise an error that says what is expected."""
        try:
            found = self._read(value)
        except ValueError:
            found = None
        if found is None:
            self.fail(invalid_value(value, self._expected), param, ctx)
        return found


def whole_number(least: int, most: int) -> Value:
    """Return the type of whole numbers within bounds, both included."""

    def read(value: Any) -> int | None:
        number = int(value)
        return number if least <= number <= most else None

    return Value("integer", read, f"a whole number from {least} to {most}")


class Choice(TextChoice):
    """One of a few names."""

    def __init__(self, *names: str) -> None:
        super().__init__(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read it, or say what is expected."""
        if value not in self.choices:
            self.fail(unknown_value(value, self.choices), param, ctx)
        return value


json_option: Option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."
)
set_option: Option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one key of the scenario, e.g. dumbbell.rate=20Mbit or flows.*.recovery=reno.",
)
out_option: Option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write Parquet tables to DIR.",
)
assume_option: Option = click.option(
    "--assume",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change an assumption of the environments, e.g. floor=200kbit; `cwndlab environments "
    "--assumptions` lists them.",
)
on_option: Option = click.option(
    "--on",
    metavar="ADDRESS",
    help="Run on the dask.distributed cluster whose scheduler is at dask://HOST:PORT.",
)
store_option: Option = click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep finished runs in DIR; the same command continues from them.",
)
until_option: Option = click.option(
    "--until",
    metavar="TARGET",
    help='Add replicates until every cell\'s 95 % interval is narrow enough: "ci(goodput) < 1%" '
    "of its mean,"
    ' or "ci(goodput) < 0.01"; several joined by "and".',
)
metrics_option: Option = click.option(
    "--metrics",
    multiple=True,
    metavar="NAMES",
    help="Metrics to measure, in the order of the tables (page Metrics of the documentation): "
    "goodput, p99_queueing_delay_s, lowest_share, ...",
)
most_option: Option = click.option(
    "--most",
    type=whole_number(1, 1_000_000),
    metavar="N",
    help="Largest number of replicates with --until.",
)
jobs_option: Option = click.option(
    "--jobs",
    type=whole_number(1, 1024),
    metavar="N",
    help="Number of threads.  [default: one per processor]",
)


def _kept(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Keep the value of an option that is for the whole program."""

    def keep(_context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        # Given before or after the name of the command: the other place does not take it back.
        if value:
            setattr(display, key, value)

    return keep


def _shared_option(key: str, *names: str, **how: Any) -> click.Option:
    return click.Option(names, is_flag=True, expose_value=False, callback=_kept(key), **how)


def loudness_options() -> list[click.Option]:
    """`--quiet` and `--verbose`, before the name of a command or after it."""
    return [
        _shared_option(
            "quiet", "-q", "--quiet", help="Print no progress and no notes, only errors."
        ),
        _shared_option("verbose", "-v", "--verbose", help="Also print timings, seeds and files."),
    ]


def share_options(command: click.Command) -> None:
    """Give a command, or each of a group, the options that all commands have."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            share_options(one)
        return
    # What prints tables also prints them as JSON, but for the demonstration.
    if command.name == "demo" or any(one.name == "as_json" for one in command.params):
        wide = "Print tables with all columns, however narrow the terminal."
        command.params.append(_shared_option("wide", "--wide", help=wide))
    command.params += loudness_options()


format_option: Option = click.option(
    "--format",
    type=Choice(*FORMATS),
    metavar="FORMAT",
    expose_value=False,
    callback=_kept("format"),
    help="Print tables as latex (with booktabs), markdown, or csv (all numbers, one table).",
)


def check_format(as_json: bool) -> None:
    """Refuse `--format` with `--json`."""
    if as_json and not display.is_terminal:
        raise click.UsageError("`--format` cannot be used with `--json`: both print the results")


def seed_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--seed N`."""
    return click.option("--seed", type=whole_number(0, 2**63 - 1), metavar="N", help="Seed.")(
        command
    )


def rules_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--rules FILE` or `--rules MODULE`: code that scenarios may name."""

    def trust(_context: click.Context, _option: click.Parameter, places: tuple[str, ...]) -> None:
        from cwndlab.custom_rules import trust

        for place in places:
            is_there = Path(place).is_file() if place.endswith(".py") else _is_module(place)
            if not is_there and not Path(place).is_dir():
                expected = "a Python file, a directory of such files, or a module"
                raise click.UsageError(invalid("--rules", place, expected))
            trust(place)

    return click.option(
        "--rules",
        "rule_places",
        multiple=True,
        expose_value=False,
        callback=trust,
        metavar="FILE|MODULE",
        help="Python rules that the scenario may use although they are not in its folder.",
    )(command)


def _is_module(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def patch_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read the `--set` options into a patch of dotted keys."""
    from cwndlab.names import known_value
    from cwndlab.patching import value_from_text

    patch: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise click.UsageError(invalid("--set", setting, "key=value"))
        patch[key.strip()] = known_value(key.strip(), value_from_text(text.strip()))
    return patch


def names_of(option: str, values: tuple[str, ...], known: Iterable[str] = ()) -> list[str]:
    """Split lists given with commas, as repeated options, or both.

    A name that is one of the known ones but for its case becomes that one.
    """
    names = [name.strip() for value in values for name in value.split(",")]
    if not all(names):
        raise click.UsageError(
            invalid(option, ",".join(values), "names joined by commas, none of them empty")
        )
    among = list(known)
    return [same_name(name, among) for name in names]


def rules_of(option: str, texts: tuple[str, ...]) -> list[str]:
    """Split lists of rules at commas that are not within a rule's parentheses.

    Examples
    --------
    >>> rules_of("--rules", ("AIMD(1, 0.5), Reno", "CUBIC"))
    ['AIMD(1, 0.5)', 'Reno', 'CUBIC']
    """
    found = [rule for text in texts for rule in split_list(text)]
    if not all(found):
        raise click.UsageError(
            invalid(option, ", ".join(texts), "rules joined by commas, none of them empty")
        )
    return found


def setting_of(text: str) -> tuple[str, str]:
    """Split a setting such as ``sack/drr`` into recovery and queue."""
    recovery, slash, queue = (part.strip() for part in text.partition("/"))
    from cwndlab.names import known_value

    if not (recovery and slash and queue):
        raise click.UsageError(invalid("--setting", text, "RECOVERY/QUEUE, such as sack/drr"))
    return known_value("recovery", recovery), known_value("queue", queue)


def check_plot(path: Path | None) -> None:
    """Refuse a plot file of unknown format, before any run."""
    if path is not None and path.suffix.lower() not in PLOT_ENDINGS:
        raise click.UsageError(
            invalid("--plot", path, f"a file that ends in {one_of(PLOT_ENDINGS)}")
        )


def check_cluster(on: str | None, jobs: int | None) -> None:
    """Refuse `--jobs` with a cluster, and keep the cluster library's own log quiet."""
    if on is None:
        return
    if jobs is not None:
        raise click.UsageError(
            "`--jobs` cannot be used with `--on`: it sets the threads of this process"
        )
    from cwndlab.runs import cluster

    cluster.silence()


def check_parent(option: str, path: Path | None) -> None:
    """Refuse a file whose parent directory does not exist, before any run."""
    if path is not None and not path.parent.is_dir():
        raise click.UsageError(
            f'{option}: "{path}" cannot be written: its parent directory does not exist'
        )


def make_folder(path: Path | None) -> None:
    """Make an output directory before any run, so that a wrong path fails early."""
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)


def seconds_of(option: str, text: str) -> float:
    """Read a time such as ``100s`` or ``2min``; a bare number is seconds."""
    from cwndlab.quantities import seconds

    value = seconds(text)
    if value is None or not 0 < value < float("inf"):
        raise click.UsageError(
            invalid(option, text, "a duration above 0, such as 100s, 500ms or 2min")
        )
    return value
