"""Clusters that cannot be had: addresses that are none, nobody there, and no dask.distributed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cwndlab import ClusterError, Sweep
from small_sweeps import AXES, BASE
from waiting import HANG_S

pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("dask://127.0.0.1", 'on: "dask://127.0.0.1" is not valid: expected dask://HOST:PORT'),
        ("cluster:8786", 'on: "cluster:8786" is not valid'),
        ("http://127.0.0.1:80", 'on: "http://127.0.0.1:80" is not valid'),
        ("dask://127.0.0.1:99999", 'on: "dask://127.0.0.1:99999" is not valid'),
        (3, "on: 3 is not valid"),
    ],
)
def test_addresses_that_are_none(on, message):
    with pytest.raises(ClusterError, match=message):
        Sweep.from_dict({"base": BASE, "axes": AXES}).run(on=on)


def test_nobody_answers(cli, tmp_path, monkeypatch):
    (tmp_path / "sweep.json").write_text(json.dumps({"base": BASE, "axes": AXES}))
    monkeypatch.setattr("cwndlab.runs.cluster.client.CONNECT_S", 0.5)
    with pytest.raises(ClusterError, match=r"on: no scheduler answers at tcp://127.0.0.1:1 "):
        Sweep.from_dict({"base": BASE, "axes": AXES}).run(on="dask://127.0.0.1:1")
    answer = cli("sweep", "sweep.json", "--on", "dask://127.0.0.1:1", "--jobs", "2")
    assert answer.returncode == 2
    assert (
        answer.stderr
        == "error: `--jobs` cannot be used with `--on`: it sets the threads of this process\n"
    )


@pytest.mark.slow
def test_without_dask_the_message_says_how_to_install_it(tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"base": BASE, "axes": AXES}))
    code = (
        "import sys\n"
        "sys.modules['distributed'] = None\n"
        "from cwndlab.cli import main\n"
        "main(['sweep', 'sweep.json', '--on', 'dask://127.0.0.1:8786'])\n"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert answer.returncode == 2
    assert "a cluster needs dask.distributed" in answer.stderr
    assert "): pip install 'distributed>=2024.8,<2027'" in answer.stderr
    assert "Traceback" not in answer.stderr
