"""A rule's key follows the code that runs.

Of programs, modules, files and notebooks, also while they are edited.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time

import pytest

import cwndlab
from conftest import SMALL
from cwndlab import custom_rules
from cwndlab.runs.store import canonical, run_key

RULE = """
{before}
class Mine:
    def increase(self, cwnd, ack):
        return cwnd + {step} / cwnd
    def decrease(self, cwnd, signal):
        return {after}
"""
PROGRAM = (
    RULE
    + """
import sys
import cwndlab
from cwndlab.runs import store
link = {{"rate": "1Mbit", "delay": "5ms"}}
flows = [{{"name": "a", "rule": cwndlab.rule(Mine)}}]
print(store.run_key(store.canonical({{"duration": "300ms", "dumbbell": link, "flows": flows}})))
"""
)


def _key(rule: str) -> str | None:
    return run_key(canonical(cwndlab.Scenario.from_text(SMALL).set("flows.a.rule", rule).to_dict()))


def _hash(rule: str) -> str:
    return cwndlab.run(cwndlab.Scenario.from_text(SMALL).set("flows.a.rule", rule)).trace_hash


@pytest.fixture
def program(tmp_path):
    """A function that runs a program with a rule of its own, and gives the key it prints."""

    def call(*arguments: str, before: str = "", step: str = "1", after: str = "cwnd / 2") -> str:
        file = tmp_path / "program.py"
        file.write_text(PROGRAM.format(before=before, step=step, after=after))
        time.sleep(
            0.05
        )  # What is written in the tick before a program starts may have been edited while it ran.
        command = [sys.executable, str(file), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return call


def test_all_of_a_program_counts(program):
    one = program(before="STEP = 1.0", step="STEP")
    assert len(one) == 32
    assert program(before="STEP = 1.0", step="STEP") == one
    helper = "def cut(cwnd):\n    return cwnd * {}\n"
    others = [
        program(before="STEP = 2.0", step="STEP"),
        program(before=helper.format(0.5), after="cut(cwnd)"),
        program(before=helper.format(0.7), after="cut(cwnd)"),
    ]
    assert len({one, *others}) == 4


def test_what_a_program_was_called_with_counts_where_the_rule_uses_it(program):
    def key(argument: str, *more: str) -> str:
        return program(argument, *more, before="import sys\nSTEP = float(sys.argv[1])", step="STEP")

    assert key("1.0") == key("1.0", "--verbose") != key("2.0")


def test_a_program_that_is_edited_while_it_runs_has_no_key(program):
    edit = "open(__file__, 'a').write('# edited\\n')"
    assert program(before=edit) == "None"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes a module, whose names are new to this process."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"rules_{os.getpid()}_{tmp_path.name}"

    def write(**parts: str) -> str:
        (tmp_path / f"{name}.py").write_text(
            RULE.format(**{"before": "", "step": "1", "after": "cwnd / 2", **parts})
        )
        importlib.invalidate_caches()
        return f"{name}:Mine"

    yield write
    sys.modules.pop(name, None)


def test_a_module_that_is_edited_has_no_key_until_it_is_as_it_was(module):
    name = module()
    key, before = _key(name), _hash(name)
    assert key is not None
    assert module(after="cwnd * 0.9") == name
    # Python does not import it again: what runs is what was there.
    assert _hash(name) == before
    assert _key(name) is None
    module()
    assert _key(name) == key


def test_a_module_that_others_imported_has_a_key_if_it_is_older_than_the_process(module):
    name = module()
    importlib.import_module(name.partition(":")[0])
    # Nobody knows whether it was edited after that.
    assert _key(name) is None
    assert custom_rules.source("fractions:Fraction(1)") is not None


def test_a_module_that_was_loaded_again_is_another_one(module):
    name = module()
    key = _key(name)
    module(after="cwnd * 0.9 ")
    importlib.reload(sys.modules[name.partition(":")[0]])
    assert _key(name) is None
    assert key is not None


def test_what_a_class_comes_from_and_what_it_is_called_by_both_count(module, tmp_path):
    name = module()
    keys, place = {_key(name)}, name.partition(":")[0]
    for text in ("", "# Another.\n"):
        (tmp_path / "called.py").write_text(f"from {place} import Mine\n{text}")
        keys.add(_key(f"{tmp_path / 'called.py'}:Mine"))
    assert len(keys - {None}) == 3
    module(step="3")
    assert _key(f"{tmp_path / 'called.py'}:Mine") is None


def test_a_file_of_the_same_second_and_length_is_read_again(tmp_path):
    """Python's own cache of compiled files would take it for unchanged."""
    file = tmp_path / "mine.py"
    found = []
    for after in ("cwnd * 0.5", "cwnd * 0.7"):
        file.write_text(RULE.format(before="", step="1", after=after))
        os.utime(file, (1_000_000_000, 1_000_000_000))
        found.append((_hash(f"{file}:Mine"), _key(f"{file}:Mine")))
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]


NOTEBOOK = """
import __main__
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell(user_module=__main__)
def cell(text):
    shell.run_cell(text, store_history=True).raise_error()
def source():
    return custom_rules.source("__main__:Mine")
cell("import cwndlab; from cwndlab import custom_rules")
cell("STEP = 1.0")
cell("def cut(cwnd):\\n    return cwnd * 0.5")
cell("class Mine:\\n    def increase(self, cwnd, ack): return cwnd + STEP / cwnd\\n"
     "    def decrease(self, cwnd, signal): return cut(cwnd)")
found = [source(), source()]
cell("UNRELATED = 3")
found.append(source())
cell("STEP = 2.0")
found.append(source())
cell("def cut(cwnd):\\n    return cwnd * 0.7")
found.append(source())
cell("STEP = object()")
found.append(source())
print([found.index(entry) for entry in found], None in found[:5], found[5])
"""


def test_cells_of_a_notebook_count_with_what_they_refer_to(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not installed")
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    # From standard input, as a notebook: there is no file.
    done = subprocess.run(
        [sys.executable, "-"],
        input=NOTEBOOK,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 3, 4, 5] False None"
