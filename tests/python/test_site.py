"""The documentation site: it builds without a warning, its examples run, its commands are true."""

from __future__ import annotations

import base64
import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import cwndlab
from conftest import ROOT
from waiting import HANG_S

sys.path.append(str(ROOT / "docs" / "website"))
import gallery

ENTRIES = gallery.entries()
STARTS = sorted((ROOT / "docs" / "website" / "pages" / "start").glob("*.md"))
LEFT_OUT = {"live-l4s", "live-one-flow"}
"""Live runs that bench/beside.json has no numbers of."""


def test_the_gallery_has_every_example():
    assert len(ENTRIES) >= 40
    shown = {entry.scenario for entry in ENTRIES} | LEFT_OUT
    scripts = "".join(entry.code() for entry in ENTRIES if entry.script)
    for path in (ROOT / "examples").glob("*.toml"):
        assert path.stem in shown or path.name in scripts or path.stem.startswith("sweep-"), path


def test_every_script_is_used():
    used = {entry.script for entry in ENTRIES}
    assert {path.stem for path in (ROOT / "docs/website/scripts").glob("*.py")} == used - {""}


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_example_runs_and_shows_what_it_says(entry, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    drawn = gallery.run(entry, tmp_path)
    assert drawn.picture.startswith(b"\x89PNG")
    cells = json.loads(gallery.notebook(drawn))["cells"]
    assert cells[0]["source"]
    assert any("image/png" in output["data"] for output in cells[-1]["outputs"])
    if address := gallery.address(drawn):
        packed = base64.urlsafe_b64decode(address.partition("?s=")[2] + "===")
        text = zlib.decompress(packed, -15).decode()
        assert str(ROOT) not in text
        opened = cwndlab.Scenario.from_text(text, folder=ROOT / "examples")
        assert cwndlab.run(opened).trace_hash == cwndlab.run(drawn.scenario).trace_hash


@pytest.mark.slow
@pytest.mark.parametrize("name", ["short-buffer", "rules-marks", "live-red", "compare"])
def test_a_notebook_runs_without_the_repository(name, tmp_path, monkeypatch):
    """Its cells hold the scenario, so that it needs cwndlab alone."""
    (entry,) = (entry for entry in ENTRIES if entry.name == name)
    monkeypatch.chdir(ROOT)
    drawn = gallery.run(entry, tmp_path)
    cells = json.loads(gallery.notebook(drawn))["cells"]
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    if drawn.scenario is not None:
        assert space["result"].trace_hash == cwndlab.run(drawn.scenario).trace_hash


def test_a_false_check_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    entry = gallery.Entry("x", "X", "g", scenario="exact-drops", check="result.links.height == 0")
    with pytest.raises(gallery.GalleryError, match=r"x: `result\.links\.height == 0` is false"):
        gallery.run(entry, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_the_first_five_minutes_of_each_reader_work(page, tmp_path):
    """Blocks of commands run in order, in one folder, as a reader types them."""
    text = page.read_text(encoding="utf-8")
    for name, body in re.findall(r"Save as `([\w.]+)`:\n\n```toml\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(body, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            assert line.startswith("$ cwndlab "), line
            done = subprocess.run(
                ["sh", "-c", line.removeprefix("$ ")],
                cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True,
                check=False, timeout=HANG_S,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}\n{done.stderr}"


PAGES = sorted((ROOT / "docs" / "website" / "pages").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_on_the_pages_runs(page):
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.M):
        test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0


def test_numbers_of_the_paper_stand_in_the_documents():
    paper = " ".join((ROOT / "paper" / "paper.md").read_text(encoding="utf-8").split())
    agreement = (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")
    found = re.findall(r"\b\d+ of \d+\b", paper)
    assert len(found) >= 4
    assert all(f"| {number} |" in agreement for number in found)
    kept = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text("utf-8"), re.M))
    assert set(re.findall(r"@(\w+)(?=[;\]])", paper)) == kept
    verdicts = re.search(r"Of \d+ claims .*? not judged", paper)
    assert verdicts is not None
    assert verdicts[0] in (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="`make site` installs Sphinx"
)
def test_the_site_builds_without_a_warning(tmp_path):
    built = subprocess.run(
        [sys.executable, ROOT / "docs/website/build.py", "--quick", "--out", tmp_path / "site"],
        capture_output=True, text=True, check=False, timeout=HANG_S,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        if "files" in page.parts or page.name == "studio.html":
            continue
        text = page.read_text(encoding="utf-8")
        # Nothing is loaded from elsewhere: the site works offline.
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"', text)
        loaded += re.findall(r'<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"', text)
        assert not loaded, page
        assert "](copy:" not in text, page
        assert str(ROOT) not in text, page
    for page in ("index", "install", "start/student", "gallery/index", "reference/commands"):
        assert (tmp_path / "site" / f"{page}.html").is_file()
    commands = (tmp_path / "site/reference/commands.html").read_text(encoding="utf-8")
    assert "cwndlab theory friendly" in commands


def test_scripts_of_packaging_are_shell():
    if shutil.which("bash") is None:
        pytest.skip("bash")
    for script in (ROOT / "packaging").glob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)
