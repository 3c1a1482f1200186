"""From a sweep's file to its plan: base scenario or environments, and axes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cwndlab.documents import is_list, is_mapping, is_table
from cwndlab.errors import ScenarioError
from cwndlab.foreign_files import instead
from cwndlab.message import invalid, missing, plural
from cwndlab.metrics import patch_of
from cwndlab.names import HERE, TRACE, known_value
from cwndlab.patching import patched
from cwndlab.runs.plan import Joint, Level, Plan
from cwndlab.scenario import Scenario
from cwndlab.sweeps.axes import ENVIRONMENT, SHORT, keys_of, label, levels, listed, zipped
from cwndlab.sweeps.overlaps import refuse_overlaps
from cwndlab.sweeps.traces import DRAWN

if TYPE_CHECKING:
    from cwndlab.sweeps.definition import Sweep

RULES = ("AIMD(1, 0.5)",)
"""Rules of environments, if no axis names rules."""
Columns = dict[tuple[str, str], dict[str, str]]
"""Axis and label to the columns of a table; zipped axes have several."""


class Built(NamedTuple):
    """The plan of a sweep's file, with its columns and keys."""

    plan: Plan
    columns: Columns
    keys: dict[str, list[str]]
    """The dotted keys that each axis sets; zipped axes are separate."""


def read(path: Path) -> dict[str, Any]:
    """Read a TOML or JSON file as a dictionary."""
    if found := instead(path):
        raise ScenarioError(found)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError("the file is not valid: expected TOML or JSON in UTF-8") from None
    return parse(text, is_json=path.suffix == ".json")


def parse(text: str, *, is_json: bool = False) -> dict[str, Any]:
    """Read TOML or JSON text as a dictionary.

    Raises
    ------
    ScenarioError
        If the text is neither.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: object = json.loads(text) if is_json else tomllib.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{error}: expected {'JSON' if is_json else 'TOML'}") from None
    if not is_table(data):
        raise ScenarioError(
            f"{'JSON' if is_json else 'TOML'}: the file is not valid: expected a table with the "
            "keys of a sweep"
        )
    return data


def base(
    given: Any, folder: Path | None, settings: Mapping[str, Any], over: Mapping[str, Any]
) -> dict[str, Any]:
    """Read the base of a sweep, a table or the path of a scenario, and set dotted keys in it.

    If the axes (`over`) have environments, the keys stay dotted: they are set in each environment.
    """
    found = _base(given, folder)
    return {**found, **settings} if ENVIRONMENT in over else patched(found, settings)


def _base(given: Any, folder: Path | None) -> dict[str, Any]:
    where = Path() if folder is None else folder
    if isinstance(given, Scenario):
        return given.to_dict()
    if isinstance(given, str | Path):
        return Scenario.load(given if folder is None else where / given).to_dict()
    if not is_mapping(given):
        raise ScenarioError(
            invalid("base", label(given), "a scenario as a table, or the path of its file")
        )
    # Read as text, like a scenario's file: its paths are relative to the sweep's directory.
    return _absolute(dict(given), where) if folder is not None else dict(given)


def _absolute(node: Any, folder: Path, key: str = "") -> Any:
    if is_mapping(node):
        return {name: _absolute(value, folder, name) for name, value in node.items()}
    if is_list(node):
        return [_absolute(entry, folder, key) for entry in node]
    return absolute(node, folder) if key in ("file", "rule") else node


def absolute(value: Any, folder: Path) -> Any:
    """Make the path of a value such as ``x.down`` or ``mine.py:Mine`` absolute.

    It is relative to `folder`.
    """
    if not isinstance(value, str):
        return value
    place, colon, rest = value.partition(":")
    if f"{place}{colon}" == TRACE:
        # `shown_environment` finds in it what was written.
        is_whole = Path(rest).is_absolute()
        return f"{TRACE}{rest}" if is_whole else f"{TRACE}{folder.resolve()}{HERE}{rest}"
    if colon:
        return f"{(folder / place).resolve()}:{rest}" if place.endswith(".py") else value
    # Built-in rules have a name and perhaps parameters, but no file suffix.
    is_rule = value.endswith(")") or "." not in value
    return value if is_rule else str((folder / value).resolve())


def with_absolute_files(columns: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Make the paths in axes absolute: recorded links, also as environments, rules in Python.

    They are relative to the sweep's directory.
    """
    if folder is None:
        return dict(columns)
    return {
        name: [absolute(value, folder) for value in values]
        if name.rsplit(".", 1)[-1] in ("rule", "file", ENVIRONMENT) and is_list(values)
        else values
        for name, values in columns.items()
    }


def build(sweep: Sweep, replicates: int, most_runs: int) -> Built:
    """Make the plan of a sweep.

    Raises
    ------
    ScenarioError
        If an axis is empty, its values are not valid, or it overwrites another one, or the runs
        are too many.
    """
    if ENVIRONMENT in sweep.axes:
        return _over_environments(sweep, replicates, most_runs)
    for key in ("assume", "duration"):
        if getattr(sweep, key):
            raise ScenarioError(f"`{key}` needs an axis `env`; without one, set it in `base`")
    if not sweep.base:
        raise ScenarioError(
            missing("base", "a scenario as a table, the path of its file, or an axis `env`")
        )
    document = dict(sweep.base)
    if not sweep.traces:
        given: dict[str, Any] = document.pop("trace", None) or {}
        if sweep.over_time:
            document["trace"] = {name: given.get(name, DRAWN[name]) for name in sweep.over_time}
    start = Scenario(patched(document, patch_of(sweep.recorded)))
    axes, columns, keys = _axes(sweep, dict(sweep.axes), start)
    plan = Plan(start, axes, replicates, _seed(sweep), most_runs=sys.maxsize)
    return Built(_counted(plan, most_runs), columns, keys)


def _over_environments(sweep: Sweep, replicates: int, most_runs: int) -> Built:
    from cwndlab.comparison import plan_rules
    from cwndlab.environments import Assumptions
    from cwndlab.quantities import seconds

    if "flows" in sweep.base or "dumbbell" in sweep.base or "links" in sweep.base:
        raise ScenarioError("`base` must not define a network when axis `env` is used")
    given = {
        name: [known_value(name, value) for value in listed(name, sweep.axes[name])]
        for name in (*SHORT, ENVIRONMENT)
        if name in sweep.axes
    }
    for name, values in given.items():
        if not values:
            raise ScenarioError(invalid(f"axes.{name}", [], "one value or more"))
    duration_s = None if sweep.duration is None else seconds(sweep.duration)
    if sweep.duration is not None and not (duration_s or 0) > 0:
        raise ScenarioError(invalid("duration", sweep.duration, "a duration above 0, such as 100s"))
    # Truth values as TOML and JSON write them.
    texts = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in sweep.assume.items()
    }
    assume = Assumptions.from_texts([f"{key}={value}" for key, value in texts.items()])
    own: dict[str, Any] = {name: values for name, values in given.items() if name != "rule"}
    plan = plan_rules(
        given.get("rule", RULES), **own, replicates=replicates, seed=_seed(sweep),
        duration_s=duration_s,
        assume=assume,
    )  # fmt: skip
    rest = {
        name: values for name, values in sweep.axes.items() if name not in (*SHORT, ENVIRONMENT)
    }
    start = Scenario(patched(plan.base.to_dict(), sweep.base))
    axes, columns, keys = _axes(
        sweep, rest, start, {name: keys_of(plan.axes[name]) for name in given}
    )
    # Keep the file's order of axes.
    order = [name for name in (*sweep.axes, *plan.axes, *axes) if name in plan.axes or name in axes]
    both = {**plan.axes, **axes}
    used = {
        name: both[name]
        for name in dict.fromkeys(order)
        if name in sweep.axes or name in axes or len(both[name]) > 1
    }
    joint = [replace(entry,
             cell={key: value for key, value in entry.cell.items() if key in (*used, "replicate")})
             for entry in plan.joint]  # fmt: skip
    # For every cell, after its environment, and before the keys of its axes.
    shared = Joint({}, {**_fixed(plan, used), **sweep.base, **patch_of(sweep.recorded)})
    whole = replace(plan, axes=used, joint=[*joint, shared], most_runs=sys.maxsize)
    return Built(_counted(whole, most_runs), columns, keys)


def _fixed(plan: Plan, used: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of one-level axes that the sweep does not name: they need no column."""
    return {
        key: value
        for name, axis in plan.axes.items()
        if name not in used
        for key, value in axis[0].patch.items()
    }


def _axes(
    sweep: Sweep,
    product: Mapping[str, Any],
    start: Scenario,
    others: Mapping[str, list[str]] | None = None,
) -> tuple[dict[str, list[Level]], Columns, dict[str, list[str]]]:
    """Make the levels of the product axes and of the zipped axes.

    `others` are the keys of existing axes.
    """
    group, link = sweep.measured_group, sweep.link
    axes = {name: levels(name, values, start, group, link) for name, values in product.items()}
    columns: Columns = {}
    keys = {**(others or {}), **{name: keys_of(found) for name, found in axes.items()}}
    for columns_together in sweep.zip:
        together = zipped(columns_together, start, group, link)
        if twice := [part for part in together.keys if part in keys]:
            raise ScenarioError(
                f"axis `{twice[0]}` must not be repeated, in `[axes]` or in `[[zip]]`"
            )
        axes[together.name] = together.levels
        keys.update(together.keys)
        labels = (level.label for level in together.levels)
        columns.update(
            {(together.name, text): part for text, part in zip(labels, together.parts, strict=True)}
        )
    for name, own in keys.items():
        if "seed" in own:
            raise ScenarioError(f"axis `{name}` must not set `seed`: replicates set it")
    refuse_overlaps(keys, start.to_dict())
    _check_keys(axes, start)
    return axes, columns, keys


def _check_keys(axes: Mapping[str, list[Level]], start: Scenario) -> None:
    """Check every value in a cell where the other axes have their first level.

    The message for a wrong key names its axis, before any run.
    """
    first = {name: axis[0] for name, axis in axes.items()}
    fault = _fault(first, start)
    if fault is not None:
        # The axis without which the cell is valid; otherwise all of them.
        blamed = [
            name
            for name in axes
            if _fault({key: first[key] for key in first if key != name}, start) is None
        ]
        where = (
            f"axis `{blamed[0]}`: {first[blamed[0]].label}" if blamed else f"axes {', '.join(axes)}"
        )
        raise type(fault)(f"{where}: {fault}")
    for name, axis in axes.items():
        for level in axis[1:]:
            fault = _fault({**first, name: level}, start)
            if fault is not None:
                raise type(fault)(f"axis `{name}`: {level.label}: {fault}")


def _fault(chosen: Mapping[str, Level], start: Scenario) -> ScenarioError | None:
    document = start.to_dict()
    try:
        for level in chosen.values():
            document = patched(document, level.patch)
        Scenario(document)
    except ScenarioError as error:
        return error
    return None


def _seed(sweep: Sweep) -> int:
    assert sweep.seed is not None, "the sweep has found one"
    return sweep.seed


def _counted(plan: Plan, most_runs: int) -> Plan:
    if plan.count > most_runs:
        raise ScenarioError(
            invalid(
                "sweep",
                plural(plan.count, "run"),
                f"at most {most_runs}; use fewer values or replicates, or --yes (in Python and "
                "files: yes = true)",
            )
        )
    return plan
