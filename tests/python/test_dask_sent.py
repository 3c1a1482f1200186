"""Files and rules that a scenario names, on a cluster: sent along, or looked for there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT
from cwndlab import Store, Sweep
from cwndlab.runs.cluster import payload
from small_sweeps import BASE
from test_dask import address, stored, sweep_of
from waiting import HANG_S

RULE = (ROOT / "examples" / "my_rules.py").read_text()


@pytest.mark.slow
def test_rules_and_files_are_sent_along(tmp_path, client):
    """The workers see none of the files: they are there under other names, and the results do not
    show it."""
    folder = tmp_path / 'here "and" not thére'
    folder.mkdir()
    (folder / "my_rules.py").write_text(RULE)
    (folder / "sizes.cdf").write_text("1 0.5\n20 1\n")
    traced = {
        "name": "x",
        "base": {**BASE, "arrivals": [ARRIVALS]},
        "axes": {"rule": ["my_rules.py:Patient(3)"]},
    }
    (folder / "own.json").write_text(json.dumps({**traced, "replicates": 2}))
    sweep = Sweep.load(folder / "own.json")
    local = sweep.run(tmp_path / "local")
    assert local.failed == []
    read = [
        text
        for _, _, text in payload.named_outside(
            json.loads(next(iter(_scenarios(tmp_path / "local"))))
        )
    ]
    assert {str(folder / "my_rules.py") + ":Patient(3)", str(folder / "sizes.cdf")} <= set(read)
    assert sweep.run(tmp_path / "far", on=client).runs.equals(local.runs)
    assert stored(tmp_path / "far") == stored(tmp_path / "local")
    places = client.run(
        lambda dask_worker: [str(path) for path in Path(dask_worker.local_directory).rglob("*.cdf")]
    )
    assert any(places.values()), "they were unpacked there"


ARRIVALS = {
    "name": "web",
    "rule": "CUBIC",
    "gap": "200ms",
    "size": {"kind": "empirical", "file": "sizes.cdf"},
}


def _scenarios(folder: Path) -> list[str]:
    with Store(folder, write=False) as store:
        return [record.scenario for record in store.records()]


@pytest.mark.slow
def test_a_class_of_the_program_itself_is_sent_along(tmp_path, cluster):
    """As in a notebook: its module is `__main__`, which no worker can import."""
    (tmp_path / "program.py").write_text(
        "import json, sys, cwndlab\n"
        "LOSSES = 3\n"
        f"{RULE}\n"
        "class Mine(Patient):\n"
        "    def decrease(self, cwnd, signal):\n"
        "        return super().decrease(cwnd, signal) * (LOSSES - 2)\n"
        "base, on = json.loads(sys.argv[1]), sys.argv[2]\n"
        "sweep = cwndlab.Sweep(base=base, axes={'rule': [cwndlab.rule(Mine, 3)]}, replicates=2)\n"
        "local, far = sweep.run('local'), sweep.run('far', on=on)\n"
        "assert far.failed == [], far.failed\n"
        "assert far.runs.equals(local.runs)\n"
        "print(far.runs['rule'].to_list())\n"
    )
    time.sleep(
        0.05
    )  # What is written in the tick before a program starts has no key: see cwndlab.sources.
    command = [sys.executable, "program.py", json.dumps(BASE), address(cluster)]
    answer = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == "['__main__:Mine(3)', '__main__:Mine(3)']\n"
    assert len(stored(tmp_path / "far")) == 2
    assert stored(tmp_path / "far") == stored(tmp_path / "local")


def test_a_rule_of_a_module_that_the_workers_have_not(tmp_path, client, monkeypatch):
    shutil.copy(ROOT / "examples" / "my_rules.py", tmp_path / "only_here.py")
    monkeypatch.syspath_prepend(tmp_path)
    found = sweep_of(axes={"rule": ["only_here:Patient(3)", "CUBIC"]}, replicates=1).run(on=client)
    assert found.runs["rule"].to_list() == ["CUBIC"]
    (failed,) = found.failed
    assert failed["error"].startswith(
        "rule only_here:Patient(3): module only_here is not the same at the worker on "
    )
    assert (
        'expected the same source, or "FILE.py:Class(values)", whose file is sent'
        in failed["error"]
    )
