"""The stub of the core says what the core has: names, parameters and their defaults."""

from __future__ import annotations

import ast
import inspect

import cwndlab
from conftest import ROOT, SMALL
from cwndlab import _core

STUB = ast.parse((ROOT / "python" / "cwndlab" / "_core.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
EVERY_CLASS_HAS = set(dir(type("Empty", (), {}))) | {"__new__", "__hash__", "__reduce__"}


def methods(name: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}


def written(node: ast.FunctionDef) -> list[tuple[str, object]]:
    """Parameters with their defaults."""
    names = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
    defaults = [ast.literal_eval(value) for value in node.args.defaults]
    given = [inspect.Parameter.empty] * (len(names) - len(defaults)) + defaults
    return list(zip(names, given, strict=True))


def real(member: object) -> list[tuple[str, object]]:
    parameters = inspect.signature(member).parameters.values()
    return [(each.name, each.default) for each in parameters if each.name != "self"]


def test_the_stub_has_every_name_of_the_core():
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public == {name for name in (*CLASSES, *FUNCTIONS) if not name.startswith("_")}


def test_functions_have_the_parameters_of_the_stub():
    for name, node in FUNCTIONS.items():
        assert real(getattr(_core, name)) == written(node), name


def test_classes_have_the_members_of_the_stub():
    for name in CLASSES:
        if name.startswith("_"):
            continue
        kind = getattr(_core, name)
        public = {member for member in dir(kind) if not member.startswith("__")}
        assert public == {member for member in methods(name) if not member.startswith("__")}, name
        for member, node in methods(name).items():
            if member == "__new__":
                assert real(kind) == written(node), name
            elif not member.startswith("__") and not node.decorator_list:
                assert real(getattr(kind, member)) == written(node), f"{name}.{member}"


def test_types_of_values_are_those_of_the_stub():
    """On a run: what the stub says of properties and results."""
    run = _core.Scenario(SMALL).run()
    assert isinstance(run, _core.Run)
    assert isinstance(run.has_traces, bool)
    assert isinstance(run.phases, list)
    assert isinstance(run.to_json(), str)
    assert all(hasattr(table, "__arrow_c_stream__") for table in run.tables().values())
    assert set(run.traces()) == set(cwndlab.run(SMALL).traces)
