"""A new queue discipline takes the files that CONTRIBUTING.md lists, and no other.

In the ordinary suite: what names an existing discipline is in the list. At night: a toy in just
these files builds, runs and is documented.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import toy_discipline
from conftest import ROOT

MOST_FILES = 5
# Module, type and kind of disciplines that no other one builds on.
DISCIPLINES = [("pie", "Pie", "pie"), ("fq_codel", "FqCoDel", "fq-codel")]
PRODUCT = ("bench", "crates", "docs", "python")
# Below these folders of the product lies what only uses disciplines.
USES = {"tests", "lessons", "website", "first-session.md"}
COMMENT = {".rs": r"//.*", ".py": r"#.*"}


def _section() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(r"\*\*A queue discipline\*\*.*?(?=^\*\*)", text, re.DOTALL | re.MULTILINE)[0]


def _listed() -> list[str]:
    return re.findall(r"^\d\. `([^`]+)`", _section(), re.MULTILINE)


def _optional() -> set[str]:
    return set(re.findall(r"`([\w/]+\.py)`", _section().split("Optional")[1]))


def _code(path: Path) -> str:
    """A file without comments; of a document its headings and the marks of generated parts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return "\n".join(re.findall(r"<!--.*?-->|^## .*", text, re.MULTILINE))
    return re.sub(COMMENT[path.suffix], "", text)


def _files_that_name(module: str, type_name: str, kind: str) -> set[str]:
    named = re.compile(
        rf"\bmod {module}\b|\b{module}::|\b{type_name}(Parameters)?\b|[\"']{kind}[\"']"
        rf"|<!--.*\b{kind}\b|^## {kind}$",
        re.MULTILINE,
    )
    return {
        path.relative_to(ROOT).as_posix()
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (*COMMENT, ".md")
        and USES.isdisjoint(path.relative_to(ROOT).parts)
        and path.is_file()
        and named.search(_code(path))
    }


@pytest.mark.parametrize(("module", "type_name", "kind"), DISCIPLINES)
def test_what_names_a_discipline_is_in_the_list(module, type_name, kind):
    listed = {name.replace("*", module) for name in _listed()}
    assert len(listed) <= MOST_FILES
    found = _files_that_name(module, type_name, kind)
    assert listed <= found
    assert found - listed <= _optional()


def test_a_toy_stands_in_the_files_of_the_list(tmp_path):
    assert list(toy_discipline.INSERTED) == _listed()
    for name in _listed():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if "*" not in name:
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    toy_discipline.insert_into(tmp_path)


@pytest.mark.nightly
def test_a_toy_in_these_files_runs_and_is_documented(tmp_path):
    """Builds the core, which takes minutes."""
    toy_discipline.copy_sources(ROOT, tmp_path)
    toy_discipline.insert_into(tmp_path)
    built = ROOT / "target" / "toy-discipline"
    run = {"cwd": tmp_path, "check": True, "env": {**os.environ, "CARGO_TARGET_DIR": str(built)}}
    core = ["-p", "cwndlab-python", "--features", "pyo3/abi3-py310"]
    subprocess.run(["cargo", "build", "--quiet", *core], **run)
    (library,) = [path for path in (built / "debug").glob("*_core.*") if path.suffix != ".d"]
    (tmp_path / "python/cwndlab/_core.abi3.so").write_bytes(library.read_bytes())
    run["env"]["PYTHONPATH"] = os.pathsep.join(str(tmp_path / name) for name in ("python", "docs"))
    subprocess.run([sys.executable, "-c", RUN], **run)
    test = "tests/python/test_docs_keys.py"
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], **run)


# Of every ten arriving packets the tenth is dropped; its table is in the documents.
RUN = """
import cwndlab
from cwndlab import environments
from parts import scenario
dumbbell = cwndlab.dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="20s")
result = cwndlab.run(dumbbell.set("dumbbell.queue", {"kind": "every-nth", "nth": 10}))
link = result.links.row(0, named=True)
assert link["dropped_packets"] == link["arrived_packets"] // 10 > 0, link
assert "every-nth" in environments.BOTTLENECK
assert "which packets" in scenario.scenario_type("QueueSpec").lower()
"""
