"""`cwndlab report` of a store: the page has the store's numbers, says what is missing, and loads nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import cwndlab
from conftest import Page
from cwndlab import Store, StoreError, Sweep, write_report
from cwndlab.sweep import stored_runs
from cwndlab.sweep.base import parse
from cwndlab.sweep.reading import read_sweep
from cwndlab.tables import with_interval

BASE = {
    "duration": "4s",
    "measure": ["1s", "4s"],
    "dumbbell": {
        "rate": "2Mbit",
        "delay": "5ms",
        "access_delay": ["1ms", "5ms"],
        "queue": {"kind": "drop-tail", "limit": "10pkt"},
    },
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)", "count": 2}],
}
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC"]
LIMITS = ["3pkt", "6pkt", "20pkt"]
SWEEP = {
    "name": "limits",
    "base": BASE,
    "axes": {"rule": RULES, "dumbbell.queue.limit": LIMITS},
    "replicates": 3,
    "metrics": ["goodput", "mean_queueing_delay_s", "links.bottleneck.utilization"],
}


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
def store(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "runs"
    Sweep.from_dict(SWEEP).run(folder)
    return folder


@pytest.fixture(scope="module")
def html(store) -> str:
    return write_report(store).read_text(encoding="utf-8")


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


def test_means_are_those_of_the_runs_in_the_store(store, tables):
    runs = stored_runs(Store(store, write=False))
    for metric in SWEEP["metrics"]:
        means, _ = _of(tables, metric)
        assert [text for text, _ in means[0]] == ["limit", *RULES]
        for row, limit in zip(means[1:], LIMITS, strict=True):
            assert row[0][0] == limit
            for (_, about), rule in zip(row[1:], RULES, strict=True):
                values = runs.filter(pl.col("rule") == rule, pl.col("dumbbell.queue.limit") == limit)[metric]
                assert len(values) == 3
                assert float(about["data-value"]) == pytest.approx(values.mean(), rel=1e-12)


def test_intervals_and_differences_are_those_of_the_findings(store, tables):
    findings = read_sweep(Store(store, write=False), "limits").findings
    for measure in findings.sweep.measures:
        means, differences = _of(tables, measure.key)
        for rows, table, columns, sign in (
            (means, findings.summary, RULES, ""), (differences, findings.differences, RULES[1:], "+"),
        ):  # fmt: skip
            cells = {
                (row["rule"], row["dumbbell.queue.limit"]): row for row in table.filter(metric=measure.key).to_dicts()
            }
            assert len(cells) == len(columns) * len(LIMITS)
            for row, limit in zip(rows[1:], LIMITS, strict=True):
                for (text, about), rule in zip(row[1:], columns, strict=True):
                    found = cells[rule, limit]
                    assert text.removeprefix(sign) == with_interval(found, measure)
                    assert float(about["data-value"]) == found["mean"]


def test_verdicts_follow_from_the_interval_and_the_direction(store, tables):
    findings = read_sweep(Store(store, write=False), "limits").findings
    counts = {}
    for metric, (up, down) in {
        "goodput": ("better", "worse"),
        "mean_queueing_delay_s": ("worse", "better"),
        "links.bottleneck.utilization": ("more", "less"),
    }.items():
        _, differences = _of(tables, metric)
        rows = findings.differences.filter(metric=metric).rows_by_key(["dumbbell.queue.limit", "rule"], named=True)
        for row in differences[1:]:
            for (_, about), rule in zip(row[1:], RULES[1:], strict=True):
                found = rows[row[0][0], rule][0]
                low, high = found["mean"] - found["ci95"], found["mean"] + found["ci95"]
                expected = up if low > 0 else down if high < 0 else "same"
                assert about["class"] == expected
                counts[rule, metric, expected] = counts.get((rule, metric, expected), 0) + 1
    # The summary at the top counts them.
    head, *body = tables.tables[0][1]
    assert len(head) == 4
    for row in body:
        for metric, (text, _) in zip(SWEEP["metrics"], row[1:], strict=True):
            said = {word: int(number) for number, word in re.findall(r"(\d+) (better|worse|more|less|not)", text)}
            kinds = {kind.replace("same", "not"): count for (rule, key, kind), count in counts.items()
                     if (rule, key) == (row[0][0], metric)}  # fmt: skip
            assert said == kinds


def test_marks_say_and_show_their_value(html, tables, store):
    findings = read_sweep(Store(store, write=False), "limits").findings
    measure = findings.sweep.measures[0]
    tips = [tip for metric, tip in tables.tips if metric == "goodput"]
    assert len(tips) == 9 + 6
    for row in findings.summary.filter(metric="goodput").to_dicts():
        words = [with_interval(row, measure), row["rule"], f"limit {row['dumbbell.queue.limit']}"]
        assert any(tip.splitlines()[:3] == words for tip in tips)
    # The place of a marker, read off the ticks beside it as a reader would, is its value.
    plot = re.search(r'data-metric="goodput".*?(<svg class="plot".*?</svg>)', html, re.DOTALL)[1]
    ticks = [(float(y) - 4, float(text)) for y, text in re.findall(r'y="([\d.]+)" text-anchor="end">([\d.-]+)<', plot)]
    (y0, v0), (y1, v1) = ticks[0], ticks[-1]
    marks = re.findall(
        r"<title>([\d.]+) ± ([\d.]+).*?d=\"M[\d.]+,([\d.]+)h6.*?V([\d.]+).*?translate\([\d.]+ ([\d.]+)\)",
        plot,
        re.DOTALL,
    )
    assert len(marks) == 9
    pixel = abs((v1 - v0) / (y1 - y0))
    for mean, half, low, high, at in (map(float, mark) for mark in marks):
        for y, value in ((at, mean), (low, mean - half), (high, mean + half)):
            # Places are written to a tenth of a pixel, values to three digits.
            assert v0 + (y - y0) / (y1 - y0) * (v1 - v0) == pytest.approx(value, abs=0.2 * pixel + 1.1e-3)


def test_says_what_was_asked_for_and_where_it_comes_from(page, store):
    for word in ("9 cells", "3 replicates", "3pkt, 6pkt, 20pkt", cwndlab.__version__, "1 to 3", "compared"):
        assert word in page.text
    runs = stored_runs(Store(store, write=False))
    assert runs["build"][0] in page.text
    assert runs["machine"][0] in page.text
    for row in runs.to_dicts():
        assert row["trace_hash"] in page.text
        assert row["key"] in page.text


def test_its_file_does_the_same_sweep(page, store):
    text = page.text[page.text.index('name = "limits"') : page.text.index("Where it comes from")]
    assert Sweep.from_dict(parse(text)) == read_sweep(Store(store, write=False), "limits").findings.sweep


def test_an_unfinished_sweep_says_what_is_missing(tmp_path, cli):
    def stop(event):
        if event["event"] == "run" and event["done"] == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sweep.from_dict(SWEEP).run(tmp_path / "runs", jobs=1, progress=stop)
    answer = cli("report", "runs", "-o", "deep/part.html")
    assert (answer.returncode, answer.stdout) == (0, "")
    assert answer.stderr == "wrote deep/part.html\n"
    there = len(Store(tmp_path / "runs", write=False))
    assert 10 <= there < 27
    text = (tmp_path / "deep/part.html").read_text(encoding="utf-8")
    assert f"{27 - there} of 27 runs are missing" in text
    assert f"{there} runs: 9 cells" in text


def test_runs_of_axes_that_are_gone_are_left_out_and_counted(tmp_path):
    Sweep.from_dict(SWEEP).run(tmp_path)
    Sweep.from_dict({**SWEEP, "axes": {"rule": RULES[:2], "dumbbell.queue.limit": LIMITS}}).run(tmp_path)
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "9 runs are of axes or values that the sweep no longer has" in text
    assert "18 runs: 6 cells" in text
    assert "CUBIC" not in text


def test_means_of_one_replicate_are_not_drawn(tmp_path):
    Sweep.from_dict({**SWEEP, "replicates": 1}).run(tmp_path)
    page = Page()
    page.feed(write_report(tmp_path).read_text(encoding="utf-8"))
    assert "9 means have no interval" in page.text
    # Samples of the legend alone.
    assert page.tags.count("svg") == len(RULES)


def test_more_rules_than_marks_have_a_row_each(tmp_path):
    rules = [f"AIMD(1, 0.{digit})" for digit in range(1, 10)]
    Sweep.from_dict({**SWEEP, "replicates": 2, "axes": {**SWEEP["axes"], "rule": rules}}).run(tmp_path)
    html = write_report(tmp_path).read_text(encoding="utf-8")
    goodput = html[html.index('data-metric="goodput"') :].partition("</article>")[0]
    means, differences = goodput.split("Paired differences", 1)[0], goodput.split("Paired differences", 1)[1]
    for part, names in ((means, rules), (differences, rules[1:])):
        plots = re.findall(r'<svg class="plot".*?</svg>', part, re.DOTALL)
        assert len(plots) == len(LIMITS)
        for plot in plots:
            assert re.findall(r'class="name">(.*?)</text>', plot) == names
            assert plot.count('class="mark') == len(names)


def test_labels_are_text_whatever_they_hold(tmp_path):
    label = '</table><script>alert("&")</script>'
    axes = {"load": {label: {"flows.a.count": 1}, "heavy": {"flows.a.count": 4}}, "rule": RULES}
    Sweep.from_dict({**SWEEP, "axes": axes, "replicates": 2}).run(tmp_path)
    page = Page()
    page.feed(write_report(tmp_path, title=label).read_text(encoding="utf-8"))
    assert (page.tags.count("script"), page.faults, page.open) == (1, [], [])
    assert page.text.count(label) > 10


def test_intervals_above_the_target_are_counted(tmp_path):
    sweep = Sweep.from_dict({**SWEEP, "until": "ci(goodput) < 0.0001%", "most": 5, "replicates": 5})
    unmet = len(sweep.run(tmp_path).unmet)
    assert unmet
    assert f"In {unmet} cells the intervals are wider than" in write_report(tmp_path).read_text(encoding="utf-8")


def test_a_store_of_several_sweeps_has_a_part_for_each(tmp_path, cli):
    Sweep.from_dict(SWEEP).run(tmp_path / "runs")
    Sweep.from_dict({**SWEEP, "name": "other", "axes": {}}).run(tmp_path / "runs")
    assert cli("report", "runs").returncode == 0
    page = Page()
    page.feed((tmp_path / "runs/report.html").read_text(encoding="utf-8"))
    assert (page.tags.count("section"), page.faults) == (2, [])
    assert cli("report", "runs", "--sweep", "other", "-o", "one.html").returncode == 0
    one = Page()
    one.feed((tmp_path / "one.html").read_text(encoding="utf-8"))
    assert one.tags.count("section") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "`nowhere` holds no results; allowed:"),
        (["empty"], "has no finished run of a sweep; allowed:"),
        (["runs", "--sweep", "other"], "sweep: `other` is not in the store `runs`; allowed: limits"),
        (["runs", "-o", "folder"], "folder"),
        (["runs", "-o", "file/report.html"], "file"),
        (["future"], "has format 2"),
    ],
)
def test_bad_input_is_one_line(tmp_path, cli, store, arguments, words):
    shutil.copytree(store, tmp_path / "runs")
    Store(tmp_path / "empty").close()
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "future").mkdir()
    (tmp_path / "future/store.json").write_text('{"what": "cwndlab store", "format": 2, "cwndlab_version": "9.0"}')
    answer = cli("report", *arguments)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_rule_whose_source_is_gone_is_named(tmp_path):
    rules = tmp_path / "mine.py"
    rules.write_text(
        "import cwndlab\n\n\nclass Slow(cwndlab.WindowRule):\n"
        "    def increase(self, cwnd, ack):\n        return cwnd + 0.5 / cwnd\n\n"
        "    def decrease(self, cwnd, cause):\n        return cwnd / 2\n"
    )
    sweep = {**SWEEP, "axes": {"rule": [f"{rules}:Slow", "CUBIC"]}}
    Sweep.from_dict(sweep).run(tmp_path / "runs")
    assert "mine.py:Slow" in write_report(tmp_path / "runs").read_text(encoding="utf-8")
    rules.unlink()
    with pytest.raises(StoreError, match=r"the definition of `limits` cannot be read here .*mine\.py"):
        write_report(tmp_path / "runs")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, store, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_report(store, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium: what the page does in a browser is not seen")


def _browse(html: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Open a page in a browser that finds no host; standard output is the document, standard error has its console."""
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--window-size=390,800",
         "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


@in_a_browser
def test_opens_without_errors(html, tmp_path):
    assert "CONSOLE" not in _browse(html, tmp_path).stderr
    # What would be an error is seen: this one fails, that one asks for a file, and may not.
    for wrong in ("<script>nothing.at_all()</script>", '<img src="https://example.org/picture.png">'):
        assert "CONSOLE" in _browse(html.replace("</body>", f"{wrong}</body>"), tmp_path).stderr


ASK = """<script>
{
const found = {};
const seen = (selector) => [...document.querySelectorAll(selector)].filter((part) => part.getClientRects().length);
const count = (selector) => seen(selector).length;
found.metrics = count("article");
found.width = [document.documentElement.scrollWidth, window.innerWidth];
found.marks = count("article .plot .mark");
document.querySelector('[data-toggle="2"]').click();
found.fewer = count("article .plot .mark");
document.querySelector('[data-toggle="2"]').click();
document.querySelector('[data-show="mean_queueing_delay_s"]').click();
found.shown = seen("article").map((part) => part.dataset.metric);
document.querySelector('[data-show=""]').click();
found.all = count("article");
const mark = document.querySelector("article .mark");
mark.dispatchEvent(new PointerEvent("pointerdown", { clientX: 380, clientY: 5, bubbles: true }));
const tip = document.getElementById("tip");
found.tip = tip.textContent;
found.inside = tip.getBoundingClientRect().right <= window.innerWidth;
const table = document.querySelector("article .sortable");
const head = table.tHead.rows[0].cells[1];
const column = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value));
head.click(); found.up = column();
head.click(); found.down = column();
const answer = document.createElement("pre");
answer.id = "answer"; answer.textContent = JSON.stringify(found);
document.body.append(answer);
}
</script></body>"""


@in_a_browser
def test_chooses_hides_shows_and_sorts(html, tmp_path, store):
    seen = _browse(html.replace("</body>", ASK), tmp_path)
    assert "CONSOLE" not in seen.stderr
    found = json.loads(re.search(r'<pre id="answer">(.*?)</pre>', seen.stdout)[1])
    assert (found["metrics"], found["all"], found["shown"]) == (1, 3, ["mean_queueing_delay_s"])
    # Means of three rules, differences of two; less the third.
    assert (found["marks"], found["fewer"]) == (9 + 6, 6 + 3)
    assert re.match(r"[\d.]+ ± [\d.]+\nAIMD", found["tip"])
    assert found["inside"]
    # Nothing makes the page wider than the screen.
    assert found["width"][0] <= found["width"][1]
    values = read_sweep(Store(store, write=False), "limits").findings.summary.filter(metric="goodput", rule=RULES[0])
    assert found["up"] == sorted(values["mean"])
    assert found["down"] == sorted(values["mean"], reverse=True)
