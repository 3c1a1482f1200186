"""Messages have one form: ``KEY: VALUE is not valid: expected WHAT``, or one plain sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import cwndlab
from cwndlab import environments, gym, message, metrics, theory, topologies
from cwndlab import searches as search
from cwndlab.designs import optimiser
from cwndlab.runs.cluster import client
from cwndlab.runs.plan import Level, Plan
from small_sweeps import small_sweep

PACKAGE = Path(cwndlab.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
VALUE = re.compile(r".+: .* is not (valid: expected|known: expected) \S.*")
MISSING = re.compile(r".+ is missing: expected \S.*")
# A conflict is one sentence that names the key.
SENTENCE = re.compile(
    r"[^:]*`[^`]+`.*|rule \".*\" takes .*|.+ is a (?:sweep|scenario|design): run it with `.+`"
)


def _has_the_form(text: str) -> bool:
    return (
        "\n" not in text
        and "allowed" not in text
        and not text.endswith(".")
        and any(form.fullmatch(text) for form in (VALUE, MISSING, SENTENCE))
    )


def test_the_parts_of_a_message():
    assert message.invalid("p", 2.5, "a number below 1") == (
        "p: 2.5 is not valid: expected a number below 1"
    )
    assert message.invalid("yes", True, "text") == "yes: true is not valid: expected text"
    assert message.invalid("file", Path("a/b"), "a file") == (
        'file: "a/b" is not valid: expected a file'
    )
    assert message.unknown("rule", "aidm", ["AIMD", "CUBIC"]) == (
        'rule: "aidm" is not known: expected AIMD or CUBIC (did you mean AIMD?)'
    )
    assert message.unknown("rule", "zzz", []) == 'rule: "zzz" is not known: expected nothing'
    assert message.one_of(["a", "b", "c"]) == "a, b or c"
    assert (message.plural(1, "flow"), message.plural(0, "flow")) == ("1 flow", "0 flows")


def _raised(tree: ast.AST) -> list[str]:
    """Give the texts with which a module raises errors of its own, values as `x`."""
    texts = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        text = node.exc.args[0]
        if isinstance(text, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in text.values)
            texts.append("".join(map(str, parts)))
        elif isinstance(text, ast.Constant) and isinstance(text.value, str):
            texts.append(text.value)
    return texts


def test_packages_are_installed_in_the_versions_that_the_package_needs():
    project = PACKAGE.parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("an installed package has no pyproject.toml")
    needed = set(re.findall(r'"((?:pymoo|gymnasium|pettingzoo|distributed)[<>=][^"]*)"',
                            project.read_text("utf-8")))  # fmt: skip
    assert len(needed) == 4
    named = set(gym.PACKAGES.values())
    for command in (optimiser.MISSING, client.INSTALL):
        named |= set(re.findall(r"pip install '([^']*)'", command))
    assert named == needed


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(PACKAGE)) for path in SOURCES])
def test_no_message_is_written_in_another_form(path):
    source = path.read_text(encoding="utf-8")
    assert "allowed:" not in source
    assert "is not allowed" not in source
    for text in _raised(ast.parse(source)):
        assert not text.endswith("."), text
        assert "did you mean" not in text, "cwndlab.message suggests names"


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate",),
        ("run", "small.toml", "--sed", "3"),
        ("run", "small.toml", "--seed", "-1"),
        ("run", "small.toml", "--set", "duration"),
        ("run", "small.toml", "--set", "flows.9.count=3"),
        ("run", "small.toml", "--set", "duration.x=3"),
        ("run", "small.toml", "--plot", "x.gif"),
        ("run",),
        ("compare",),
        ("compare", "AIMD", "--env", "wobbly"),
        ("compare", "AIMD", "--env", "constant,"),
        ("compare", "AIMD", "--queue", "fifo"),
        ("compare", "AIMD", "--duration", "soon"),
        ("compare", "AIMD", "--assume", "flor=1Mbit"),
        ("compare", "AIMD", "--assume", "step=-1s"),
        ("compare", "AIMD", "--setting", "sack"),
        ("compare", "AIMD", "--setting", "all", "--queue", "red"),
        ("compare", "AIMD", "--flows", "3"),
        ("compare", "AIMD", "--against", "CUBIC", "--detail"),
        ("compare", "AIMD", "--against", "CUBIC", "--flows", "0"),
        ("compare", "AIMD", "--against", "CUBIC", "--rate", "fast"),
        ("environments", "XX"),
        ("environments", "--toml"),
        ("sweep", "small.toml"),
        ("theory", "fair", "CUBIC"),
        ("compare", "CUBIC", "--against", "AIAD(1, 3)", "--baseline", "CUBIC"),
        ("completion", "tcsh"),
        ("init", "my rule"),
        ("results", "nowhere", "--json", "--format", "csv"),
        ("results", "nowhere"),
        ("report", "nowhere"),
        ("reproduce", "nobody2001"),
        ("reproduce", "akella2002/fig3"),
        ("reproduce", "--all", "akella2002"),
        ("search",),
        ("search", "--best", "AIAD(1,3)", "--worst", "AIAD(1,3)"),
        ("search", "--best", "AIAD(1,3)", "--family", "blob"),
        ("search", "--best", "AIAD(1,3)", "--bound", "speed=3"),
        ("theory", "phse", "AIMD"),
        ("theory", "phase", "AIDM"),
        ("theory", "phase", "AIMD", "--start", "1"),
        ("theory", "fair", "IIAD"),
        ("theory", "rate", "AIMD", "--loss", "1"),
        ("theory", "friendly", "--formula", "3"),
        ("theory", "bimodal", "--flows", "2", "--leave", "2"),
    ],
    ids=" ".join,
)
def test_refusals_of_the_command_line(command, small_file, arguments):
    answer = command(*(small_file if part == "small.toml" else part for part in arguments))
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert _has_the_form(answer.stderr.removeprefix("error: ").rstrip("\n")), answer.stderr


@pytest.mark.parametrize(
    "call",
    [
        lambda: small_sweep(axes={"rule": []}),
        lambda: small_sweep(axes={"rule": 3}),
        lambda: small_sweep(axes={"rule": ["CUBIC", "CUBIC"]}),
        lambda: small_sweep(axes={"seed": [1]}),
        lambda: small_sweep(replicates=0),
        lambda: small_sweep(metrics=[]),
        lambda: small_sweep(until="goodput < 1%"),
        lambda: small_sweep(compare="rules"),
        lambda: small_sweep(baseline="CUBIC"),
        lambda: small_sweep(replicate=3),
        lambda: small_sweep(base={}),
        lambda: small_sweep(axes={"env": ["constant"]}),
        lambda: small_sweep(duration="5s"),
        lambda: small_sweep(zip=[{"dumbbell.rate": ["1Mbit"], "flows.a.count": [1, 2]}]),
        lambda: search.Objective(),
        lambda: search.Objective(best="AIMD(1, 0.5)"),
        lambda: environments.scenario("CL", queue="fifo"),
        lambda: environments.Assumptions(flows="many"),
        lambda: topologies.ring(1, "1Mbit", "1ms", rule="AIMD"),
        lambda: theory.parse("AIMD(1, 0.5, 3, 4)"),
        lambda: theory.parse("AIMD(1, 2)"),
        lambda: theory.gaimd.rate(1, 0.5, 2.0, rtt=0.1, rto=0.4),
        lambda: theory.simulate("AIMD", [1], capacity=-9, steps=5),
        lambda: metrics.only({"flows": [{"group": "a"}]}, "b"),
        lambda: Plan(
            topologies.dumbbell("1Mbit", "1ms", flows="AIMD", duration="1s"),
            {"x": [Level("one", {}), Level("one", {})]},
        ),
        lambda: theory.simulate("AIMD", np.array([-1.0]), capacity=9, steps=5),
    ],
)
def test_refusals_of_the_package(call):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert _has_the_form(str(error.value)), str(error.value)


@pytest.mark.parametrize("group", [(), ("theory",), ("live",)], ids=" ".join)
def test_the_lines_of_commands_in_help_are_whole(command, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    listed = command(*group, "--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(listed) > 3
    assert not [line for line in listed if line.endswith("...")]
