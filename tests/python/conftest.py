"""What the Python tests share: the command line as a subprocess, and small scenarios."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import cwndlab
import small_sweeps
from waiting import HANG_S

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would what they
# start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables in pipes would be as narrow as the terminal of a shell that exports its width.
# The library readline, which pytest's debugger imports, exports one behind Python's back.
os.environ["COLUMNS"] = ""
del os.environ["COLUMNS"]

# Hypothesis would fail an example that takes longer than 200 ms, and inputs that are slow to draw.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

ROOT = Path(__file__).resolve().parents[2]

SMALL = """
name = "small"
duration = "10s"
measure = ["2s", "10s"]
profile = "rfc"

[dumbbell]
rate = "4Mbit"
delay = "20ms"
queue = { kind = "drop-tail", limit = "1bdp" }
access_delay = ["1ms", "5ms"]

[[flows]]
name = "a"
rule = "AIMD(1, 0.5)"
count = 2
start = ["0s", "1s"]

[[flows]]
name = "b"
rule = "AIAD(1, 3)"
recovery = "reno"
"""

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line in its own process, with standard output and error taken."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cwndlab", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=HANG_S, cwd=tmp_path, check=False
        )

    return call


@pytest.fixture
def command(tmp_path: Path, monkeypatch, capsys) -> Cli:
    """The command line in this process: for what is refused or computed in less time than a process
    takes to begin.

    Whatever is not caught there fails the test with its traceback.
    """

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        from cwndlab.cli import main

        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code, said.out, said.err)

    return call


@pytest.fixture
def small() -> cwndlab.Scenario:
    return cwndlab.Scenario.from_text(SMALL)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(small_sweeps.TEXT)
    return path


@pytest.fixture(scope="session")
def limits_store(tmp_path_factory) -> Path:
    """A store with the runs of `LIMITS_SWEEP`; tests leave it as it is."""
    folder = tmp_path_factory.mktemp("store") / "runs"
    cwndlab.Sweep.from_dict(small_sweeps.LIMITS_SWEEP).run(folder)
    return folder


PATIENCE = ("comm.timeouts.connect", "deploy.lost-worker-timeout", "scheduler.worker-ttl")
"""How long the parts of a cluster wait for each other before they give each other up."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes of one thread each; a nanny starts a new one where one is lost."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    import dask

    patient = dask.config.set({f"distributed.{name}": f"{HANG_S} s" for name in PATIENCE})
    with (
        patient,
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster) -> Iterator[Client]:
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        # One that a test killed comes again.
        client.wait_for_workers(2, timeout=HANG_S)
        yield client


class Page(HTMLParser):
    """An HTML page as it is read: everything a page would load from elsewhere, its text, and tags
    out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "data", "srcset", "action") and value:
                self.loads.append(value)

    def handle_endtag(self, tag):
        if self.open[-1:] == [tag]:
            self.open.pop()
        else:
            self.faults.append(f"</{tag}> inside {self.open[-3:]}, line {self.getpos()[0]}")

    def handle_data(self, data):
        self.text += data
