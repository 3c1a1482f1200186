"""A scenario is data: what code reading a file runs, and what it refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cwndlab
from cwndlab import Sweep, custom_rules

RULE = """
from pathlib import Path
Path(__file__).with_suffix(".ran").touch()

class Mine:
    def increase(self, cwnd, ack):
        return cwnd + 1 / cwnd

    def decrease(self, cwnd, signal):
        return cwnd / 2
"""
SCENARIO = """
duration = "1s"
dumbbell = {{ rate = "1Mbit", delay = "5ms" }}
flows = [{{ name = "a", rule = {rule!r} }}]
"""
SWEEP = """
base = {{ duration = "1s", dumbbell = {{ rate = "1Mbit", delay = "5ms" }}, flows = [{{ name = "a", rule = "CUBIC" }}] }}
axes = {{ rule = [{rule!r}] }}
"""  # noqa: E501
READERS = {
    "scenario": (cwndlab.Scenario.load, SCENARIO),
    "sweep": (Sweep.load, SWEEP),
}


@pytest.fixture(params=list(READERS))
def reader(request):
    return READERS[request.param]


@pytest.fixture(autouse=True)
def nothing_trusted(monkeypatch):
    monkeypatch.setattr(custom_rules, "_trusted_paths", set())
    monkeypatch.setattr(custom_rules, "_trusted_modules", set())


def folders(tmp_path, rule_name="rules.py"):
    """A folder with a data file, and another folder with a rule."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    rule = there / rule_name
    rule.write_text(RULE)
    return here / "it.toml", rule


def test_a_rule_file_beside_the_data_runs(tmp_path, reader):
    load, template = reader
    data = tmp_path / "it.toml"
    (tmp_path / "beside.py").write_text(RULE)
    data.write_text(template.format(rule="beside.py:Mine"))
    load(data)
    assert (tmp_path / "beside.ran").exists()


@pytest.mark.parametrize("relative", [False, True])
def test_a_rule_file_elsewhere_does_not_run(tmp_path, reader, relative):
    load, template = reader
    data, rule = folders(tmp_path)
    data.write_text(template.format(rule=f"{'../there/rules.py' if relative else rule}:Mine"))
    with pytest.raises(
        cwndlab.ScenarioError, match="is not in the folder of the file that names it"
    ):
        load(data)
    assert not rule.with_suffix(".ran").exists()
    custom_rules.trust(rule)
    load(data)
    assert rule.with_suffix(".ran").exists()


def test_a_module_is_not_imported_for_a_file(tmp_path, reader, monkeypatch):
    load, template = reader
    data, rule = folders(tmp_path, "installed_rules.py")
    monkeypatch.syspath_prepend(rule.parent)
    monkeypatch.delitem(sys.modules, "installed_rules", raising=False)
    data.write_text(template.format(rule="installed_rules:Mine"))
    with pytest.raises(cwndlab.ScenarioError, match="--rules installed_rules"):
        load(data)
    assert not rule.with_suffix(".ran").exists()
    custom_rules.trust("installed_rules")
    load(data)
    assert rule.with_suffix(".ran").exists()


def test_a_link_out_of_the_folder_is_no_way_round(tmp_path):
    data, rule = folders(tmp_path)
    (data.parent / "rules.py").symlink_to(rule)
    data.write_text(SCENARIO.format(rule="rules.py:Mine"))
    with pytest.raises(cwndlab.ScenarioError, match="is not in the folder"):
        cwndlab.Scenario.load(data)
    assert not rule.with_suffix(".ran").exists()


def test_the_command_line_names_rules(tmp_path, cli):
    data, rule = folders(tmp_path)
    data.write_text(SCENARIO.format(rule=f"{rule}:Mine"))
    refused = cli("run", str(data))
    assert refused.returncode == 2
    assert "is not in the folder of the file that names it" in refused.stderr
    assert cli("run", str(data), "--rules", str(rule)).returncode == 0
    # An argument that names a rule is enough.
    command = ("compare", f"{rule}:Mine", "--replicates", "1", "--duration", "1s")
    assert cli(*command).returncode == 0


def test_a_rule_file_that_is_missing_is_said(tmp_path, cli):
    data, _ = folders(tmp_path)
    data.write_text(SCENARIO.format(rule="CUBIC"))
    refused = cli("run", str(data), "--rules", "none.py")
    assert refused.returncode == 2
    assert '--rules: "none.py" is not valid' in refused.stderr


def test_a_stored_definition_is_data(tmp_path):
    """A store may come from someone else."""
    data, rule = folders(tmp_path)
    document = {
        "duration": "100ms",
        "dumbbell": {"rate": "1Mbit", "delay": "5ms"},
        "flows": [{"name": "a", "rule": "CUBIC"}],
    }
    sweep = Sweep(name="mine", base=document, axes={"rule": [f"{rule}:Mine"]}, replicates=1)
    store = data.parent / "store"
    sweep.run(store)
    rule.with_suffix(".ran").unlink()
    code = (
        "import sys; from cwndlab.sweeps.reading import read_sweep; from cwndlab import Store; "
        "read_sweep(Store(sys.argv[1], write=False), 'mine')"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(store)], capture_output=True, text=True, check=False
    )
    assert "is not in the folder of the file that names it" in found.stderr
    assert not rule.with_suffix(".ran").exists()
