"""The report is one file that needs nothing else."""

from __future__ import annotations

import re

import polars as pl
import pytest

import cwndlab
from conftest import Page
from cwndlab.comparison import Comparison, plan_rules
from cwndlab.metrics import USUAL
from cwndlab.report import write_report
from cwndlab.report.from_comparison import chapter_of
from cwndlab.runs.collection import collect


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    plan = plan_rules(
        ["AIMD(1, 0.8)", "MIAD(1.125, 3)"], env=["constant", "square"], replicates=2, duration_s=5
    )
    return collect(Comparison(plan), trace={"cwnd": "100ms", "queue": "100ms", "rate": "500ms"})


@pytest.fixture(scope="module")
def html(tmp_path_factory, comparison) -> str:
    path = write_report(
        comparison, tmp_path_factory.mktemp("report") / "deep" / "report.html", title="A <title>"
    )
    return path.read_text(encoding="utf-8")


def test_loads_nothing_from_elsewhere(html):
    page = Page()
    page.feed(html)
    assert page.loads
    assert all(load.startswith(("data:image/png;base64,", "#")) for load in page.loads)
    assert not re.search(r"https?:|@import|url\(", html)
    assert "link" not in page.tags
    assert (page.open, page.faults) == ([], [])


def test_holds_tables_plots_settings_and_origin(html, comparison):
    page = Page()
    page.feed(html)
    # Means and differences of every metric, but where no mean has an interval; and the legend's
    # samples.
    drawn = sum(
        comparison.summary.filter(metric=metric.key)["ci95_low"].is_not_null().any()
        for metric in comparison.metrics
    )
    assert drawn >= 5
    assert page.tags.count("svg") == 2 * drawn + 2
    # Windows, goodput and queue for each of the two environments.
    assert page.tags.count("img") == 6
    for word in (
        "AIMD(1, 0.8)",
        "MIAD(1.125, 3)",
        "square",
        "1 to 2, the same in every cell",
        "linux",
        "trace hash",
        "Goodput",
        "±",
    ):
        assert word in page.text
    assert re.search(r"[0-9a-f]{16}", page.text)


def test_is_fit_for_a_phone(html):
    assert '<meta name="viewport" content="width=device-width' in html
    assert "overflow-x: auto" in html


def test_text_is_escaped(html):
    assert "A &lt;title&gt;" in html
    assert "A <title>" not in html


@pytest.mark.slow
def test_demo_writes_report_and_prints_goodput(cli, tmp_path):
    answer = cli("demo", "--duration", "5s", "--out", "demo")
    assert answer.returncode == 0, answer.stderr
    for rule in ("AIMD(1, 0.8)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)"):
        assert sum(line.startswith(f" {rule} ") for line in answer.stdout.splitlines()) == 1
    for word in ("constant", "square", "saw-tooth", "walk", "C_a", "D_a"):
        assert word in answer.stdout
    report = (tmp_path / "demo/report.html").read_text(encoding="utf-8")
    assert report.count("data:image/png") == 12
    assert (tmp_path / "demo/windows-constant.png").is_file()


@pytest.mark.slow
def test_differences_are_those_of_a_sweep_of_the_same_runs(comparison):
    axes = {"env": ["constant", "square"], "rule": ["AIMD(1, 0.8)", "MIAD(1.125, 3)"]}
    keys = list(USUAL)
    sweep = cwndlab.Sweep(axes=axes, replicates=2, duration=5.0, metrics=keys).run()
    chapter = chapter_of(comparison, lambda *_: None)
    ordered = ["env", "rule", "metric"]
    found = chapter.differences.select(
        *ordered, "mean", "ci95_low", "ci95_high", "replicates"
    ).sort(ordered)
    assert found.height == 2 * len(USUAL)
    assert found.equals(sweep.differences().select(found.columns).sort(ordered))


@pytest.mark.slow
def test_folder_of_a_comparison(cli, tmp_path):
    rules = ("AIMD(1, 0.8)", "CUBIC")
    assert (
        cli("compare", *rules, "--env", "constant", "--duration", "5s", "--out", "two").returncode
        == 0
    )
    answer = cli("report", "two")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "wrote two/report.html\n")
    page = Page()
    page.feed((tmp_path / "two/report.html").read_text(encoding="utf-8"))
    assert (page.open, page.faults) == ([], [])
    runs = pl.read_parquet(tmp_path / "two/runs.parquet")
    assert all(trace_hash in page.text for trace_hash in runs["trace_hash"])
    assert "runs are missing" not in page.text
    runs.head(4).write_parquet(tmp_path / "two/runs.parquet")
    assert cli("report", "two", "-o", "part.html").returncode == 0
    assert "2 of 6 runs are missing" in (tmp_path / "part.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_contest_is_no_comparison(cli):
    few = ("--flows", "1", "--replicates", "2", "--duration", "5s")
    answer = cli("compare", "CUBIC", "--against", "AIMD(1, 0.5)", *few, "--out", "contest")
    assert answer.returncode == 0
    answer = cli("report", "contest")
    assert answer.returncode == 2
    assert answer.stderr.startswith('error: report: "contest" is not valid: expected a comparison')
    assert answer.stderr.count("\n") == 1
