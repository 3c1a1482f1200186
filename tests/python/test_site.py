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
from cwndlab.kernel_runs import kernels, program
from waiting import HANG_S

sys.path.insert(0, str(ROOT / "docs" / "website"))
import build
import gallery
import links
import notebooks

ENTRIES = gallery.entries()
STARTS = sorted((ROOT / "docs" / "website" / "pages" / "start").glob("*.md"))
PAGES = sorted((ROOT / "docs" / "website" / "pages").rglob("*.md"))
LEFT_OUT = {"live-l4s", "live-one-flow"}
"""Live runs that bench/beside.json has no numbers of."""


def test_the_gallery_has_every_example():
    assert len(ENTRIES) >= 40
    shown = {entry.scenario for entry in ENTRIES} | LEFT_OUT
    scripts = "".join(entry.code() for entry in ENTRIES if entry.script)
    for path in (ROOT / "examples").glob("*.toml"):
        assert path.stem in shown or path.name in scripts or path.stem.startswith("sweep-"), path


def test_counts_of_the_gallery_are_those_of_its_list():
    """The gallery's own page counts for itself; where a document gives a count, it is that one."""
    kept = sum(bool(entry.record) for entry in ENTRIES)
    page = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    count, ran = re.search(r"gallery of (\d+) examples\. Of these (\d+) run", page).groups()
    assert (int(count), int(ran)) == (len(ENTRIES), len(ENTRIES) - kept)
    for page in PAGES:
        assert not re.search(r"gallery\W[^.]*\b\d+ ", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize(
    ("about", "clause"),
    [
        ("The algorithm of Attie et al. (2003): eight flows. One joins.",
         "The algorithm of Attie et al. (2003)."),
        ("Cross traffic (Akella et al. 2002, figure 3b). More.",
         "Cross traffic (Akella et al. 2002, figure 3b)."),
        ("As fast as Reno? Several formulas answer.", "As fast as Reno?"),
        ("Why Rely on Blind AIMDs?: a network.", "Why Rely on Blind AIMDs?"),
        ("`cwndlab topology` draws it. `--plot` keeps it.", "cwndlab topology draws it."),
    ],
)  # fmt: skip
def test_a_blurb_ends_where_a_sentence_or_a_clause_does(about, clause):
    assert gallery.first_clause(about) == clause


def test_no_blurb_of_the_gallery_is_cut_at_an_abbreviation():
    blurbs = [gallery.first_clause(entry.about) for entry in ENTRIES]
    assert not [blurb for blurb in blurbs if re.search(r"(et al|e\.g|i\.e)\.$", blurb)]
    assert all(blurb.count("(") == blurb.count(")") for blurb in blurbs)


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
    if page.stem in ("kernel-engineer", "quic-engineer") and not program.BUILT.is_file():
        pytest.skip("needs `make live`")
    if page.stem == "kernel-engineer" and not kernels.installed():
        pytest.skip("needs a kernel: `make virtual-kernel`")
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
@pytest.mark.parametrize("studio", [True, False], ids=["studio", "no-studio"])
def test_the_site_builds_without_a_warning_or_a_dead_link(studio, tmp_path):
    if studio and not build.STUDIO.exists():
        pytest.skip("the studio is not built: make web")
    options = [] if studio else ["--without-studio"]
    built = subprocess.run(
        [sys.executable, ROOT / "docs/website/build.py", "--quick", *options,
         "--out", tmp_path / "site"],
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
        assert "](copy" not in text, page
        assert str(ROOT) not in text, page
        # The page about the studio has its name, too; places in the studio begin with #/.
        assert studio or not re.search(r'"[^"]*studio\.html#/', text), page
    for page in ("index", "install", "start/student", "gallery/index", "reference/commands",
                 "guides/lessons/loss-and-rate"):  # fmt: skip
        assert (tmp_path / "site" / f"{page}.html").is_file()
    commands = (tmp_path / "site/reference/commands.html").read_text(encoding="utf-8")
    assert "cwndlab theory friendly" in commands
    assert (tmp_path / "site" / "studio.html").exists() == studio
    opened = (tmp_path / "site/guides/lessons.html").read_text(encoding="utf-8")
    assert ("../studio.html#/lessons/12" in opened) == studio


def test_without_the_studio_the_site_is_not_built_unless_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "STUDIO", ROOT / "python" / "nowhere.html")
    monkeypatch.setattr(sys, "argv", ["build.py", "--quick", "--out", str(tmp_path / "site")])
    assert build.main() == 2
    said = capsys.readouterr().err
    assert "python/nowhere.html is not there" in said
    assert "`make web`" in said
    assert "--without-studio" in said
    assert not (tmp_path / "site").exists()


def test_without_the_studio_pages_say_so_instead_of_linking_to_it(tmp_path):
    stage = build.Stage(tmp_path, studio=False)
    linking = [page for page in PAGES if "studio.html" in page.read_text(encoding="utf-8")]
    assert len(linking) >= 3
    for page in linking:
        stage.add(page, page.read_text(encoding="utf-8"), "page")
        text = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert not re.search(r'(href|data-studio)="[^"]*studio\.html', text), page
        assert "built without the studio" in text, page
        prose = re.findall(r"^[^<\n].*$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert not [line for line in prose if "](" not in line and line not in text], page


def test_links_of_a_copied_page_lead_to_pages_of_the_site(tmp_path):
    stage = build.Stage(tmp_path, studio=False)
    page = ROOT / "docs" / "reproduction.md"
    stage.add(page, page.read_text(encoding="utf-8"), "concepts/reproduction")
    copy = tmp_path / "extra/files/docs/reproduction/claims.html"
    targets = re.findall(r'href="([^"]+)"', copy.read_text(encoding="utf-8"))
    assert "../../../concepts/reproduction.html" in targets
    assert "../../../guides/papers.html" in targets
    assert not [target for target in targets if target.endswith(".md")]


def test_dead_links_are_found_in_every_page(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "macros.html").write_text('<a href="{{ template }}">x</a>')
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="#top">x</a><a href="https://nowhere.invalid">x</a>'
        '<a href="files/a.html#there">x</a><a href="files/a.html#gone">x</a>'
        '<img src="gone.png"><a href="studio.html#/look">x</a>'
    )
    (tmp_path / "studio.html").write_text('<a href="nowhere.html">x</a>')
    (tmp_path / "files" / "a.html").write_text('<p id="there">x</p><a href="../b.md">x</a>')
    assert links.dead(tmp_path) == [
        "files/a.html: ../b.md", "index.html: files/a.html#gone", "index.html: gone.png",
    ]  # fmt: skip


@pytest.mark.parametrize("path", sorted((ROOT / "docs/lessons").glob("*.ipynb")), ids=str)
def test_a_lesson_is_a_page_with_its_outputs(path):
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in stored for output in cell.get("outputs", [])]
    text, pictures = notebooks.page(path, "copy.ipynb")
    drawn = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == len(drawn) == text.count("![")
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    assert text.count("```python") == len([cell for cell in stored if cell["cell_type"] == "code"])
    assert text.count("<table") == len([o for o in outputs if "text/html" in o.get("data", {})])
    assert 'href="copy.ipynb" download' in text
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "$" not in prose


def test_formulas_are_written_as_the_browser_reads_them():
    latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml")
    for path in (ROOT / "docs/lessons").glob("*.ipynb"):
        text = notebooks.page(path, "x")[0]
        for formula in re.findall(r"\{math\}`([^`]+)`|```\{math\}\n(.+?)\n```", text, re.DOTALL):
            (tex,) = filter(None, formula)
            # Two digits after a fraction would become one numerator.
            assert not re.search(r"frac\d\d", tex), tex
            assert latex2mathml.tex2mathml(tex).startswith("<math")


def test_versions_of_the_site_are_listed_the_newest_first(tmp_path):
    for name in ("0.9.0", "0.10.0", "1.0.0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")
    (tmp_path / "empty").mkdir()
    assert build.list_versions(tmp_path) == ["1.0.0", "0.10.0", "0.9.0"]
    listed = (tmp_path / "versions.js").read_text(encoding="utf-8")
    assert listed == 'window.cwndlabVersions = ["1.0.0", "0.10.0", "0.9.0"];\n'
    assert 'href="1.0.0/index.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_scripts_of_packaging_are_shell():
    if shutil.which("bash") is None:
        pytest.skip("bash")
    for script in (ROOT / "packaging").glob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)
