"""`cwndlab studio` serves the page on this machine; the page's lock file names no addresses."""

from __future__ import annotations

import base64
import json
import re
import signal
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

import pytest

from conftest import ROOT
from waiting import HANG_S

PAGE = resources.files("cwndlab") / "templates" / "studio.html"
is_built = pytest.mark.skipif(not PAGE.is_file(), reason="the studio is not built: make web")


def _scenario_of(address: str) -> str:
    """What an address holds."""
    part = address.split("?s=")[1]
    packed = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return zlib.decompress(packed, -15).decode()


@contextmanager
def _served(*arguments: str) -> Iterator[str]:
    """The address that a server prints; ends it by Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cwndlab", "studio", "--no-browser", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG_S)
    assert "Traceback" not in said


@is_built
def test_serves_the_page_and_nothing_else():
    with _served() as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address) as answer:
            assert answer.read() == PAGE.read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}etc/passwd")


@is_built
def test_opens_a_scenario_with_the_files_that_it_names():
    plain, cellular = (ROOT / "examples" / name for name in ("aqm.toml", "cellular.toml"))
    with _served(str(plain)) as address:
        assert _scenario_of(address) == plain.read_text()
    with _served(str(cellular)) as address:
        held = json.loads(_scenario_of(address))
    assert held["toml"] == cellular.read_text()
    assert held["files"] == {"cellular.down": (ROOT / "examples" / "cellular.down").read_text()}


@is_built
def test_refuses_a_scenario_that_is_not_valid(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "1s"\n')
    done = subprocess.run(
        [sys.executable, "-m", "cwndlab", "studio", "--no-browser", file],
        capture_output=True, text=True, check=False, timeout=HANG_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "dumbbell" in done.stderr


def test_says_where_to_get_a_studio_that_is_not_there(command, tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "files", lambda _package: tmp_path)
    refused = command("studio", "--no-browser")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "in a source tree run `make web`" in refused.stderr
    assert "install a wheel with the studio" in refused.stderr


def test_the_lock_file_names_no_addresses_and_every_licence():
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    listed = (ROOT / "web" / "LICENCES.md").read_text()
    for path, entry in packages.items():
        assert "resolved" not in entry, path
        if path and not entry.get("optional"):
            name = path.rpartition("node_modules/")[2]
            assert f"| {name} | {entry['version']} | {entry['license']} |" in listed
