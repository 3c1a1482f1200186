"""All verdicts at a summary: the page is made of its data alone, and says what that says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

import cwndlab_papers as reproduce
from conftest import ROOT
from cwndlab.errors import ScenarioError
from cwndlab_papers import browser, readings, summary, summary_text
from cwndlab_papers.variants import Sensitivity, Variant

PAGE = ROOT / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Theory's experiments of a paper, as though they were all that there are."""
    out = tmp_path_factory.mktemp("out")
    found = reproduce.reproduce("psaras2009", ["fig7"], out=out)
    found.paper = _only(found.paper, ["fig7"])
    found.ids = ["fig7"]
    return found


def _only(paper, ids):
    return replace(paper, experiments={name: paper.experiments[name] for name in ids})


def test_the_page_says_what_was_found(found, tmp_path):
    target = summary.update([found], tmp_path)
    text = target.read_text()
    data = json.loads((tmp_path / "reproduction.json").read_text())
    part = f"<!-- generated: verdicts -->\n{summary_text.markdown(data)}<!-- end -->\n"
    assert text == summary.HEAD + part
    # Three of five hold: equation 3 needs 5 round trips, AIMD 20, and marks slow it down; equation
    # 1 needs 7 or 8, which the paper reads off its own plot as 6.
    head = "| paper | holds | contradictory | claims |\n"
    assert head in text
    assert re.search(r"\| \[psaras2009\]\(#\S+\) \| 3 \| 2 \| 5 \|", text)
    assert "1. Of 5 claims 3 hold, 2 fail, 0 are undecided and 0 are not judged." in text
    assert "| theory | computed without a simulation | 3 | 2 | 0 | 0 | 60 % |" in text
    assert "| round trips to double, MR-AIMD, equation 1 | 6 | 7 | +16.7 % |" in text
    image = tmp_path / "images" / "reproduction" / "psaras2009-fig7.png"
    assert f"]({image.relative_to(tmp_path)})" in text
    assert 3_000 < image.stat().st_size < 60_000
    headings = {
        re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings


def test_the_browser_has_every_claim_and_needs_no_network(found, tmp_path):
    summary.update([found], tmp_path)
    text = (tmp_path / "reproduction" / "claims.html").read_text()
    assert text.count("<tr data-paper=") == 5
    assert text.count('data-cause="contradictory"') == 2
    for claim in found.judged:
        assert f"<br><small>{claim.claim.name}, " in text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)


def test_papers_that_were_not_run_stay(found, tmp_path):
    other = {"title": "Other", "runs": 3, "claims": [], "published": [], "experiments": []}
    (tmp_path / "reproduction.json").write_text(json.dumps({"papers": {"zeta1999": other}}))
    text = summary.update([found], tmp_path).read_text()
    assert list(json.loads((tmp_path / "reproduction.json").read_text())["papers"]) == [
        "psaras2009",
        "zeta1999",
    ]
    assert "| [zeta1999](#zeta1999-other) |  |  | 0 |" in text
    assert "| all | 3 | 2 | 5 |" in text


def test_what_assumed_values_decide_is_said_and_stays(found, tmp_path):
    base = Variant(
        "", "", {"fig7/a": True, "fig7/b": False}, {"D_a sack": 0.9, "D_a reno": 0.7}, 4, 8.0
    )
    other = Variant(
        "step", "1s", {"fig7/a": False, "fig7/b": True}, {"D_a sack": 0.4, "D_a reno": 0.7}, 4, 8.0
    )
    varied = Sensitivity(
        "psaras2009", is_quick=False, replicates=2, variants=[base, other], took_s=1234.4
    )
    with pytest.raises(ScenarioError, match='page: "psaras2009" is not known'):
        summary.vary(varied, tmp_path)
    summary.update([found], tmp_path)
    text = summary.vary(varied, tmp_path).read_text()
    assert "| step | 1s | 1 of 2 | fig7/b | fig7/a | 0.55 | 1 |" in text
    assert "took 1,234 s of processor time" in text
    # Claims that the paper has no more: what was said of them goes when it is run anew.
    assert "fig7/b" not in summary.update([found], tmp_path).read_text()
    # Where there are all of them it stays.
    kept = [f"fig7/{entry.claim.name}" for entry in found.judged[:2]]
    base, other = (
        replace(base, met=dict(zip(kept, (True, False), strict=True))),
        replace(
            other,
            met=dict(zip(kept, (False, True), strict=True)),
            cells={"D_a sack": float("nan"), "D_a reno": float("nan")},
        ),
    )
    text = summary.vary(replace(varied, variants=[base, other]), tmp_path).read_text()
    assert f"| step | 1s | 1 of 2 | {kept[1]} | {kept[0]} | - | 0 |" in text
    assert summary.update([found], tmp_path).read_text() == text


def test_the_year_of_ns2_and_single_readings_are_said_and_stay(found, tmp_path):
    claims = found.judged
    names = [f"fig7/{entry.claim.name}" for entry in claims]
    with pytest.raises(ScenarioError, match='page: "psaras2009" is not known'):
        summary.of_date([found], tmp_path)
    summary.update([found], tmp_path)
    # Theory has no year, and nothing printed that a reading is judged by.
    summary.of_date([found], tmp_path)
    file = tmp_path / "reproduction.json"
    data = json.loads(file.read_text())
    assert data["papers"]["psaras2009"]["dated"]["profile"] == "ns2-2009"
    assert data["papers"]["psaras2009"]["dated"]["verdicts"] == {}
    with pytest.raises(ScenarioError, match="psaras2009/fig7"):
        summary.under_reading(found, tmp_path)
    # As though the first claim held in one alone, and the last was decided in one alone.
    opposite = {"holds": "fails", "fails": "holds"}
    verdicts = [entry.verdict for entry in claims]
    dated = dict(zip(names, [opposite[verdicts[0]], *verdicts[1:-1], "undecided"], strict=True))
    data["papers"]["psaras2009"]["dated"] |= {"verdicts": dated, "runs": {"a": 1000, "b": 234}}
    scores = {"D_a": 0.25, "all": 0.5, "pairs": 7}
    data["papers"]["psaras2009"]["under_readings"] = {
        "0": {"experiments": ["fig7"], "replicates": 2, "runs": 9000, "misfit": {"held": scores}}
    }
    file.write_text(json.dumps(data))
    text = summary.update([found], tmp_path).read_text()
    holds = [sum(verdict == "holds" for verdict in each) for each in (verdicts, dated.values())]
    assert (
        f"| psaras2009 | ns2-2009 | 1,234 | 5 | {holds[0]} | {holds[1]} | 3 | 1 | {names[0]} "
        f"{opposite[verdicts[0]]} |"
    ) in text
    assert "| as assumed | 2 | 9,000 | held half | 7 | 0.250 | 0.500 |" in text


def test_a_part_of_a_paper_is_no_page(found, tmp_path):
    from dataclasses import replace

    for changes in ({"is_quick": True}, {"assume": {"floor": 1}}, {"reading": 0}, {"ids": []}):
        with pytest.raises(ScenarioError, match="psaras2009"):
            summary.update([replace(found, **changes)], tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_committed_browser_is_of_the_data():
    kept = (PAGE.parent / "reproduction" / "claims.html").read_text()
    assert kept == browser.html(summary.read(PAGE.parent))


def test_experiments_that_were_not_run_stay_and_the_page_says_so(tmp_path):
    ids = ["fig1", "fig7"]
    whole = _only(reproduce.load("psaras2009"), ids)
    fig7 = reproduce.reproduce("psaras2009", ["fig7"], out=tmp_path / "out")
    fig7.paper = whole
    old = {"id": "fig1", "title": "Old", "section": "3", "about": "", "image": ""}
    claim = {"id": "fig1", "claim": "gone", "statement": "A claim of that time", "bounds": "> 0",
             "measured": 0.5, "interval": [0.25, 0.75], "verdict": "holds", "note": "",
             "section": "3", "tag": "simulated"}  # fmt: skip
    page = {"title": whole.title, "runs": 3, "claims": [claim], "published": [],
            "experiments": [old, {**old, "id": "fig7"}]}  # fmt: skip
    (tmp_path / "reproduction.json").write_text(json.dumps({"papers": {"psaras2009": page}}))
    text = summary.update([fig7], tmp_path).read_text()
    assert "Not run again since claims or intervals changed: psaras2009/fig1. " in text
    assert "| ✓ holds | A claim of that time | > 0 | 0.500 ± 0.250 |" in text
    assert "| round trips to double, MR-AIMD, equation 1 | 6 | 7 | +16.7 % |" in text
    # Once the last has been run, all of the paper is of today.
    kept = json.loads((tmp_path / "reproduction.json").read_text())
    assert kept["papers"]["psaras2009"]["renewed"]["experiments"] == ["fig7"]
    kept["papers"]["psaras2009"]["renewed"]["experiments"] = ["fig1"]
    (tmp_path / "reproduction.json").write_text(json.dumps(kept))
    assert "Not run again" not in summary.update([fig7], tmp_path).read_text()


@pytest.mark.skipif(not PAGE.exists(), reason="no page has been written")
def test_the_committed_page_is_of_its_data_and_of_the_papers_that_there_are():
    data = summary.read(PAGE.parent)
    # The part itself is compared in test_docs.py, as those of all documents are.
    assert summary.HEAD in PAGE.read_text()
    for key, entry in data["papers"].items():
        paper = reproduce.load(key)
        if entry.get("claims_hash") != paper.claims_hash:
            # Its claims were changed since it was run: the page says so.
            assert key in summary_text.outdated(data)
            continue
        assert [claim["claim"] for claim in entry["claims"]] == [
            claim.name for claim in paper.claims
        ]
        # Bounds are those that stand in the readings today.
        assert [claim["bounds"] for claim in entry["claims"]] == [
            claim.bounds for claim in paper.claims
        ]
        assert [row["published"] for row in entry["published"]] == [
            number.value for number in paper.published
        ]
        for experiment in entry["experiments"]:
            assert experiment["id"] in paper.experiments
            if experiment["image"]:
                assert (PAGE.parent / experiment["image"]).stat().st_size < 150_000


def test_every_reading_is_used_by_a_paper():
    used = {claim.reading.name for key in reproduce.names() for claim in reproduce.load(key).claims}
    assert used <= set(readings())
    # Papers whose folder is not whole yet have their readings already.
    waiting = set(readings()) - used
    written = "".join(
        path.read_text() for path in (ROOT / "python/cwndlab_papers/papers").glob("*/claims.toml")
    )
    assert all(f'"{name}"' in written for name in waiting)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--all", "attie2003"], "`--all` cannot be used with `attie2003`"),
        (["attie2003/model", "--page", "docs"], 'page: "attie2003" is not known'),
        (["attie2003", "--quick", "--page", "docs"], "`--page` cannot be used with `--quick`"),
        (["attie2003", "--profile", "ns2-2001", "--page", "docs"], "other than dated"),
        (["attie2003", "--reading", "1"], 'assume: "dumbbell.delay" is not known'),
        (["akella2002", "--reading", "13"], "expected a whole number from 0 to 12"),
        (["akella2002", "--reading", "1", "--assume", "floor=50kbit"], "`--reading` cannot be"),
    ],
)
def test_bad_input_is_one_line(arguments, words, tmp_path):
    command = [sys.executable, "-m", "cwndlab", "reproduce", *arguments]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not (tmp_path / "docs").exists()
