"""`cwndlab report` of a store: the page has the store's numbers, and loads nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import cwndlab
from conftest import Page
from cwndlab import Store, Sweep, write_report
from cwndlab.sweeps import stored_runs
from cwndlab.sweeps.base import parse
from cwndlab.sweeps.reading import read_sweep
from cwndlab.tables import with_interval
from small_sweeps import LIMITS, LIMITS_SWEEP, RULES


class Tables(HTMLParser):
    """Every table of a page as rows of (text, attributes), and the tips of its marks."""

    def __init__(self) -> None:
        super().__init__()
        self.metric = ""
        self.tables: list[tuple[str, list[list[tuple[str, dict]]]]] = []
        self.tips: list[tuple[str, str]] = []
        self._cell: dict | None = None
        self._in_title = False

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        self.metric = about.get("data-metric", self.metric)
        if tag == "table":
            self.tables.append((self.metric, []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][1][-1].append(("", about))
            self._cell = about
        elif tag == "title":
            self._in_title = True
            self.tips.append((self.metric, ""))

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        elif tag == "title":
            self._in_title = False

    def handle_data(self, data):
        if self._cell is not None:
            text, about = self.tables[-1][1][-1][-1]
            self.tables[-1][1][-1][-1] = (text + data, about)
        if self._in_title:
            self.tips[-1] = (self.tips[-1][0], self.tips[-1][1] + data)


@pytest.fixture(scope="module")
def html(limits_store) -> str:
    return write_report(limits_store).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


@pytest.fixture(scope="module")
def tables(html) -> Tables:
    tables = Tables()
    tables.feed(html)
    return tables


def _of(tables: Tables, metric: str) -> list[list[list[tuple[str, dict]]]]:
    """Tables of a metric: means, then differences."""
    return [rows for key, rows in tables.tables if key == metric][:2]


def test_is_well_formed(page):
    assert page.faults == []
    assert page.open == []


def test_loads_nothing_from_elsewhere(html, page):
    assert all(load.startswith(("data:", "#")) for load in page.loads)
    assert "link" not in page.tags
    assert not re.search(r"https?:|//[\w-]+\.\w|@import|url\(", html)
    assert "default-src 'none'" in html


def test_means_are_those_of_the_runs_in_the_store(limits_store, tables):
    runs = stored_runs(Store(limits_store, write=False))
    for metric in LIMITS_SWEEP["metrics"]:
        means, _ = _of(tables, metric)
        assert [text for text, _ in means[0]] == ["limit", *RULES]
        for row, limit in zip(means[1:], LIMITS, strict=True):
            assert row[0][0] == limit
            for (_, about), rule in zip(row[1:], RULES, strict=True):
                values = runs.filter(
                    pl.col("rule") == rule, pl.col("dumbbell.queue.limit") == limit
                )[metric]
                assert len(values) == 3
                assert float(about["data-value"]) == pytest.approx(values.mean(), rel=1e-12)


def test_intervals_and_differences_are_those_of_the_findings(limits_store, tables):
    findings = read_sweep(Store(limits_store, write=False), "limits").findings
    for measure in findings.sweep.measures:
        means, differences = _of(tables, measure.key)
        for rows, table, columns, sign in (
            (means, findings.summary, RULES, ""),
            (differences, findings.differences(), RULES[1:], "+"),
        ):  # fmt: skip
            cells = {
                (row["rule"], row["dumbbell.queue.limit"]): row
                for row in table.filter(metric=measure.key).to_dicts()
            }
            assert len(cells) == len(columns) * len(LIMITS)
            for row, limit in zip(rows[1:], LIMITS, strict=True):
                for (text, about), rule in zip(row[1:], columns, strict=True):
                    found = cells[rule, limit]
                    assert text.removeprefix(sign) == with_interval(found, measure)
                    assert float(about["data-value"]) == found["mean"]


def test_verdicts_follow_from_the_interval_and_the_direction(limits_store, tables):
    findings = read_sweep(Store(limits_store, write=False), "limits").findings
    counts = {}
    for metric, (up, down) in {
        "goodput": ("better", "worse"),
        "mean_queueing_delay_s": ("worse", "better"),
        "links.bottleneck.utilization": ("better", "worse"),
    }.items():
        _, differences = _of(tables, metric)
        rows = (
            findings.differences()
            .filter(metric=metric)
            .rows_by_key(["dumbbell.queue.limit", "rule"], named=True)
        )
        for row in differences[1:]:
            for (_, about), rule in zip(row[1:], RULES[1:], strict=True):
                found = rows[row[0][0], rule][0]
                low, high = found["ci95_low"], found["ci95_high"]
                expected = up if low > 0 else down if high < 0 else "same"
                assert about["class"] == expected
                counts[rule, metric, expected] = counts.get((rule, metric, expected), 0) + 1
    # The summary at the top counts them.
    head, *body = tables.tables[0][1]
    assert len(head) == 4
    for row in body:
        for metric, (text, _) in zip(LIMITS_SWEEP["metrics"], row[1:], strict=True):
            said = {
                word: int(number)
                for number, word in re.findall(r"(\d+) (better|worse|more|less|no)", text)
            }
            kinds = {kind.replace("same", "no"): count for (rule, key, kind),
                     count in counts.items()
                     if (rule, key) == (row[0][0], metric)}  # fmt: skip
            assert said == kinds


def test_marks_say_and_show_their_value(html, tables, limits_store):
    findings = read_sweep(Store(limits_store, write=False), "limits").findings
    measure = findings.sweep.measures[0]
    tips = [tip for metric, tip in tables.tips if metric == "goodput"]
    assert len(tips) == 9 + 6
    for row in findings.summary.filter(metric="goodput").to_dicts():
        words = [with_interval(row, measure), row["rule"], f"limit {row['dumbbell.queue.limit']}"]
        assert any(tip.splitlines()[:3] == words for tip in tips)
    # The place of a marker, read off the ticks beside it as a reader would, is its value.
    plot = re.search(r'data-metric="goodput".*?(<svg class="plot".*?</svg>)', html, re.DOTALL)[1]
    ticks = [
        (float(y) - 4, float(text))
        for y, text in re.findall(r'y="([\d.]+)" text-anchor="end">([\d.-]+)<', plot)
    ]
    (y0, v0), (y1, v1) = ticks[0], ticks[-1]
    marks = re.findall(
        r"<title>([\d.]+) (?:± ([\d.]+)|\[([\d.]+), ([\d.]+)\]).*?d=\"M[\d.]+,([\d.]+)h6"
        r".*?V([\d.]+).*?translate\([\d.]+ ([\d.]+)\)",
        plot,
        re.DOTALL,
    )
    assert len(marks) == 9
    pixel = abs((v1 - v0) / (y1 - y0))
    for mean, half, first, last, *places in marks:
        half_width = float(half or 0)
        ends = (first or float(mean) - half_width, last or float(mean) + half_width)
        low, high, at = map(float, places)
        for y, value in zip((at, low, high), map(float, (mean, *ends)), strict=True):
            # Places are written to a tenth of a pixel, values to three digits.
            assert v0 + (y - y0) / (y1 - y0) * (v1 - v0) == pytest.approx(
                value, abs=0.2 * pixel + 1.1e-3
            )


def test_says_what_was_asked_for_and_where_it_comes_from(page, limits_store):
    for word in (
        "9 cells",
        "3 replicates",
        "3pkt, 6pkt, 20pkt",
        cwndlab.__version__,
        "1 to 3",
        "compared",
    ):
        assert word in page.text
    runs = stored_runs(Store(limits_store, write=False))
    assert runs["build"][0] in page.text
    assert runs["machine"][0] in page.text
    for row in runs.to_dicts():
        assert row["trace_hash"] in page.text
        assert row["key"] in page.text


def test_its_file_does_the_same_sweep(page, limits_store):
    text = page.text[page.text.index('name = "limits"') : page.text.index("Origin")]
    assert (
        Sweep.from_dict(parse(text))
        == read_sweep(Store(limits_store, write=False), "limits").findings.sweep
    )
