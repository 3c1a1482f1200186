"""Files that a command writes where the disk is full: the file is named, the exit code is 2, and
nothing is left of it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import cwndlab
from conftest import SMALL
from waiting import HANG_S

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
COMPARE = ("compare", "AIMD(1, 0.5)", "AIAD(1, 3)", "--replicates", "2", "--duration", "2s")
EXPECT = ("--expect", "loss_rate >= 0", "--junit")
ASSESS = ("assess", "MIMD(2, 0.9)", "--quick", "--suite", "tcpeval", "--junit")
OUTPUTS = [
    (("run", "small.toml", "--pcap"), "run.pcapng"),
    (("run", "small.toml", "--plot"), "run.png"),
    (("run", "small.toml", "--plot"), "run.svg"),
    (("run", "small.toml", "--plot"), "run.pdf"),
    (("run", "small.toml", *EXPECT), "run.xml"),
    ((*COMPARE, "--plot"), "means.png"),
    ((*COMPARE, *EXPECT), "means.xml"),
    (ASSESS, "assessed.xml"),
    (("cellular", "--mean", "5Mbit", "--duration", "60s", "-o"), "link.down"),
    (("export", "small.toml", "--to", "ns2", "--profile", "ns2-2.35", "-o"), "small.tcl"),
    (("results", "store", "--export"), "runs.csv"),
    (("results", "store", "--export"), "runs.json"),
    (("results", "store", "--export"), "runs.parquet"),
    (("report", "store", "-o"), "report.html"),
]


@pytest.fixture
def folder(tmp_path, limits_store) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "store").symlink_to(limits_store)
    return tmp_path


def _command(folder: Path, *arguments: str, limit: int | None = None, **how):
    """Run the command line; with a limit no file may have more bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "cwndlab", *arguments], cwd=folder, text=True, timeout=HANG_S,
        stderr=subprocess.PIPE, preexec_fn=limited, check=False,
        **{"stdout": subprocess.PIPE, **how},
    )  # fmt: skip


@pytest.mark.parametrize(("arguments", "name"), OUTPUTS)
def test_every_file_of_a_command(folder, command, arguments, name):
    (folder / name).symlink_to(FULL)
    answer = command(*arguments, name)
    assert answer.returncode == 2, answer.stderr
    assert f"error: {name}: No space left on device" in " ".join(answer.stderr.split())
    assert f"wrote {name}" not in answer.stderr
    assert FULL.is_char_device()


@pytest.mark.parametrize(("arguments", "name"), [OUTPUTS[0], OUTPUTS[1], OUTPUTS[8]])
def test_nothing_is_left(folder, arguments, name):
    """The system's limit on the size of a file cuts a write in its middle, as a full disk does."""
    before = {path.name for path in folder.iterdir()}
    answer = _command(folder, *arguments, name, limit=2000)
    assert answer.returncode == 2, answer.stderr
    assert f"error: {name}: File too large" in answer.stderr
    assert {path.name for path in folder.iterdir()} == before


def test_what_was_there_is_kept(folder, cli):
    assert cli("run", "small.toml", "--pcap", "run.pcapng").returncode == 0
    before = (folder / "run.pcapng").read_bytes()
    assert len(before) > 2000
    answer = _command(folder, "run", "small.toml", "--pcap", "run.pcapng", limit=2000)
    assert answer.returncode == 2
    assert (folder / "run.pcapng").read_bytes() == before


def test_a_disk_that_is_full(folder):
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this user may mount no disk")
    try:
        answer = _command(folder, "run", "small.toml", "--pcap", "disk/run.pcapng")
        assert answer.returncode == 2, answer.stderr
        assert "disk/run.pcapng: No space left on device" in answer.stderr
        assert list(disk.iterdir()) == []
        answer = _command(folder, "run", "small.toml", "--set", "trace.cwnd=1ms", "--out",
                          "disk/run")  # fmt: skip
        assert answer.returncode == 2, answer.stderr
        assert "No space left on device" in answer.stderr
        assert ".parquet" in answer.stderr
        assert not (disk / "run" / "run.json").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_python_gets_the_error_of_the_system(small):
    with pytest.raises(OSError, match="No space left on device") as error:
        cwndlab.run(small, pcap=FULL)
    assert error.value.filename == str(FULL)


def test_a_capture_may_go_into_a_pipe(folder):
    """What is there and no file is written itself."""
    os.mkfifo(folder / "pipe")
    with (folder / "taken").open("wb") as taken:
        reader = subprocess.Popen(["cat", folder / "pipe"], stdout=taken)
        assert _command(folder, "run", "small.toml", "--pcap", "pipe").returncode == 0
        reader.wait(HANG_S)
    # The section header block of pcapng.
    assert (folder / "taken").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert (folder / "pipe").is_fifo()


def test_standard_output(folder):
    with FULL.open("wb") as full:
        answer = _command(folder, "rules", stdout=full)
    assert answer.returncode == 2
    assert "standard output: No space left on device" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "Exception ignored" not in answer.stderr
