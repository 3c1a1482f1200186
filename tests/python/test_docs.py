"""The documents: links resolve, code runs, generated parts are current, and nothing is left out."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess

import polars as pl
import pytest

import cwndlab
import generate
from conftest import ROOT
from cwndlab import native
from cwndlab.columns import SCHEMAS
from cwndlab.metrics import METRICS
from cwndlab.sharing import MEASURES
from cwndlab.sweeps import base as sweep_base
from parts import tables

DOCUMENTS = sorted(
    path
    for glob in ("*.md", "docs/*.md", "docs/decisions/*.md", "docs/lessons/*.md")
    for path in ROOT.glob(glob)
)
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_documents_are_there():
    expected = {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    expected |= {
        f"docs/{name}.md"
        for name in (
            "agreement",
            "environments",
            "metrics",
            "profiles",
            "rules",
            "scenario",
            "sweeps",
        )
    }
    assert expected <= set(NAMES)
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"):
        assert (ROOT / name).is_file()
    assert "Changed behaviour" in _read("CHANGELOG.md")


def test_the_readme_is_a_page_and_the_map_has_every_document():
    assert len(_read("README.md").splitlines()) <= 130
    text = _read("docs/README.md")
    listed = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)}
    starts = [path.name for path in ROOT.glob("docs/website/pages/start/*.md")]
    assert {f"website/pages/start/{name}" for name in starts} - listed == {
        "website/pages/start/index.md"
    }
    assert {path.name for path in ROOT.glob("docs/*.md")} - listed == {"README.md"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_links_resolve(path):
    text = re.sub(
        r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in _anchors(file.read_text(encoding="utf-8")), f"{path.name}: {target}"


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_python_in_the_documents_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for number, block in enumerate(_blocks(path.read_text(encoding="utf-8"), "python"), 1):
        test = doctest.DocTestParser().get_doctest(
            block, {}, f"{path.name}, block {number}", str(path), 0
        )
        assert test.examples
        runner = doctest.DocTestRunner(optionflags=options)
        assert runner.run(test).failed == 0


def test_every_public_name_has_an_example_that_is_run():
    page = _read("docs/api.md")
    entries = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE))
    assert set(entries) == {*cwndlab.__all__, "Reproduction", "reproduce"}
    before = page.partition("<!-- generated")[0]
    for name, text in entries.items():
        assert "\n>>> " in text or name in ("Ack", "Sibling", "__version__"), name
    assert "cwndlab.Ack" in before
    assert "cwndlab.Sibling" in before
    assert "cwndlab.__version__" in before


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_scenarios_in_the_documents_are_valid(path):
    for block in _blocks(path.read_text(encoding="utf-8"), "toml"):
        if path.stem == "sweeps":
            cwndlab.Sweep.from_dict(sweep_base.parse(block))
        else:
            cwndlab.Scenario.from_text(block)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("bash") is None, reason="the sessions in the documents run in bash"
)
@pytest.mark.parametrize("name", generate.DOCUMENTS)
def test_generated_parts_are_current(name):
    text = _read(name)
    parts = list(generate.PART.finditer(text))
    assert parts
    for part in parts:
        if not generate.can_generate(part["name"]):
            continue
        new, old = generate.generate(part["name"]), part["text"]
        assert generate.comparable(new) == generate.comparable(old), (
            "out of date; make docs writes it anew"
        )


def test_the_tutorial_states_the_runs_that_it_shows():
    text = _read("docs/tutorial.md")
    (caption,) = _blocks(text, "latex")
    (known,) = re.findall(r"^hash +([0-9a-f]{16}) of all runs$", text, re.MULTILINE)
    assert rf"runs \texttt{{{known}}}" in caption
    (replicates,) = set(re.findall(r"95 % CI, (\d+ to \d+) replicates", text))
    assert f"{replicates}\n    replicates" in caption
    (count,) = re.findall(r"^sweeps +three-rules \((\d+) runs\)$", text, re.MULTILINE)
    assert f"These are {count} runs." in text


def test_pictures_in_the_documents_are_there():
    for name in generate.PICTURES:
        assert (ROOT / name).stat().st_size > 5_000
        assert any(
            name.removeprefix("docs/") in path.read_text(encoding="utf-8") for path in DOCUMENTS
        )


@pytest.mark.parametrize("name", ["SQL", "RWL", "RDL", "RWA", "RWM"])
def test_under_drr_a_flow_gets_what_was_asked_for(name):
    """Within a twentieth: the number of sources beside it is a whole one, and queues take a moment
    after a change."""
    asked, got = tables.greedy_share(name)
    assert got == pytest.approx(asked, rel=0.05)


def test_every_knob_says_where_its_value_of_2000_comes_from():
    text = _read("docs/ns2-profiles.md")
    evidence = text[text.index("## Where each value") : text.index("## Departures from ns-2")]
    dated, uncertain = evidence.split("**Not certain**")
    for knob in native.knobs():
        name = f"`{knob['name']}`"
        assert name in evidence, f"{name} has no row"
        if knob["values"]["ns2-2000"] != knob["values"]["ns2-2.35"]:
            assert name in dated, f"{name} differs from 2.35: its row must say since when"
        assert (name in dated) != (name in uncertain), f"{name} is there twice"


def test_every_result_is_defined():
    text = _read("docs/metrics.md")
    run, rest = text.split("## A flow")
    flow, rest = rest.split("## A link")
    link, rest = rest.split("## Cross traffic")
    cross, rest = rest.split("## Finite flows")
    arrivals, rest = rest.split("## Traces")
    traces, comparisons = rest.split("## Comparisons")
    trace = {"cwnd": "1s", "queue": "1s", "rate": "1s", "packets": True}
    flow_table = {"rule": "AIMD(1, 0.5)", "responses": {"size": 3, "think": "1s"}}
    result = cwndlab.run(
        cwndlab.dumbbell(
            "1Mbit", "10ms", flows=[flow_table], cross=[{"rate": "100kbit"}], duration="3s",
            trace=trace
        )
    )  # fmt: skip
    assert set(result.traces) == {
        "cwnd",
        "queue",
        "rate",
        "available",
        "cross",
        "transfers",
        "packets",
    }
    tables = [(run, [*result.fields, *SCHEMAS]), (flow, SCHEMAS["flows"]), (link, SCHEMAS["links"])]
    tables += [(cross, SCHEMAS["cross"]), (arrivals, SCHEMAS["arrivals"])]
    tables += [(traces, [table, *frame.columns]) for table, frame in result.traces.items()]
    tables += [(comparisons, [entry.key for entry in (*METRICS, *MEASURES)])]
    for section, names in tables:
        for name in names:
            assert f"`{name}`" in section, f"docs/metrics.md does not define {name}"


def test_definitions_hold():
    """What docs/metrics.md says beyond a formula, on a run with a window inside it."""
    scenario = cwndlab.Scenario.load(ROOT / "examples" / "square-wave.toml").set(
        "trace.packets", True
    )
    result = cwndlab.run(scenario)
    begin, end = 10.0, 60.0
    packets = result.traces["packets"].filter(pl.col("flow") == "flow-0")
    flow = result.flows.row(0, named=True)
    inside = packets.filter(pl.col("time_s").is_between(begin, end, closed="left"))
    sent = inside.filter(pl.col("event") == "send")
    assert flow["sent_packets"] == sent.height
    assert flow["retransmitted_packets"] == sent["retransmission"].sum()
    assert flow["dropped_packets"] == inside.filter(pl.col("event") == "drop").height
    assert flow["timeouts"] == inside.filter(pl.col("event") == "timeout").height
    assert flow["window_reductions"] == flow["timeouts"] + flow["fast_retransmits"]
    first = packets.filter(pl.col("event") == "receive").group_by("seq").agg(pl.col("time_s").min())
    unique = first.filter(
        pl.col("time_s").is_between(begin, end, closed="left") & (pl.col("seq") > 0)
    ).height
    assert flow["delivered_packets"] == unique
    assert flow["goodput_bps"] == pytest.approx(unique * 8 * 1000 / (end - begin))
    for link in result.links.to_dicts():
        rest = (
            link["total_departed_packets"] + link["total_dropped_packets"] + link["queued_packets"]
        )
        assert link["total_arrived_packets"] == rest
        assert link["available_bps"] == pytest.approx(link["rate_bps"] - link["cross_bps"])


def _tracked() -> list[str]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: what is tracked cannot be known")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip(f"git does not list the files: {listed.stderr.strip()}")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_no_machine_paths_or_registry_hosts():
    # Written in parts, so that this file is not a case of what it looks for.
    private = [
        r"/ho" + r"me/\w",
        r"/ro" + r"ot/",
        r"/wo" + r"rk/",
        r"/Us" + r"ers/\w",
        r"/tm" + r"p/\w",
    ]
    hosts = [
        r"index\." + r"crates",
        r"py" + r"pi\.org",
        r"static\." + r"crates\.io",
        r"artifact" + r"ory",
        r"--index" + r"-url",
    ]
    pattern = re.compile("|".join(private + hosts))
    for name in _tracked():
        path = ROOT / name
        if path.suffix in (".png", ".parquet"):
            continue
        # The fuzz targets' seeds are not text.
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        ):
            assert not pattern.search(line), f"{name}:{number}: {line.strip()}"


def test_pictures_are_small():
    for picture in ROOT.glob("docs/images/*"):
        assert picture.stat().st_size < 150_000, picture.name


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.toml")), ids=lambda path: path.stem)
def test_examples_begin_with_a_comment(path):
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_every_command_in_the_readme_exists():
    commands = set(re.findall(r"`(make [a-z-]+)", _read("README.md") + _read("CONTRIBUTING.md")))
    commands |= set(
        re.findall(
            r"^    (make [a-z-]+)", _read("README.md") + _read("CONTRIBUTING.md"), re.MULTILINE
        )
    )
    makefile = _read("Makefile")
    for command in commands:
        assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE), command


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_files_that_a_document_names_exist(path):
    tops = "bench|crates|docs|examples|fuzz|python|tests"
    for name in re.findall(rf"`((?:{tops})/[\w./*-]+)`", path.read_text(encoding="utf-8")):
        # `make live` builds what lies in _bin.
        assert "/_bin/" in name or any(ROOT.glob(name)), name


def test_files_that_the_architecture_names_exist():
    """The tables name a file below the directory of its part."""
    places = [
        ROOT,
        ROOT / "crates",
        ROOT / "python/cwndlab",
        ROOT / "python/cwndlab_papers",
        *ROOT.glob("crates/*/src"),
    ]
    for name in re.findall(r"`([\w/]+\.(?:rs|py|sh|toml))`", _read("ARCHITECTURE.md")):
        assert any((place / name).is_file() for place in places), name
