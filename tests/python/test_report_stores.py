"""`cwndlab report` of stores of every kind.

Unfinished, changed, of several sweeps, and those it cannot read.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing

import pytest

import cwndlab
from conftest import Page
from cwndlab import Store, StoreError, Sweep, write_report
from small_sweeps import LIMITS, LIMITS_SWEEP, RULES
from stores import RECORDS


@pytest.mark.slow
def test_an_unfinished_sweep_says_what_is_missing(tmp_path, cli):
    def stop(event):
        if event["event"] == "run" and event["done"] == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sweep.from_dict(LIMITS_SWEEP).run(tmp_path / "runs", jobs=1, progress=stop)
    answer = cli("report", "runs", "-o", "deep/part.html")
    assert (answer.returncode, answer.stdout) == (0, "")
    assert answer.stderr == "wrote deep/part.html\n"
    there = len(Store(tmp_path / "runs", write=False))
    assert 10 <= there < 27
    text = (tmp_path / "deep/part.html").read_text(encoding="utf-8")
    assert f"{27 - there} of 27 runs are missing" in text
    assert f"{there} runs: 9 cells" in text


def test_runs_of_axes_that_are_gone_are_left_out_and_counted(tmp_path):
    Sweep.from_dict(LIMITS_SWEEP).run(tmp_path)
    Sweep.from_dict(
        {**LIMITS_SWEEP, "axes": {"rule": RULES[:2], "dumbbell.queue.limit": LIMITS}}
    ).run(tmp_path)
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "9 runs belong to earlier definitions of the sweep" in text
    assert "18 runs: 6 cells" in text
    assert "CUBIC" not in text


def test_means_of_one_replicate_are_not_drawn(tmp_path):
    Sweep.from_dict({**LIMITS_SWEEP, "replicates": 1}).run(tmp_path)
    page = Page()
    page.feed(write_report(tmp_path).read_text(encoding="utf-8"))
    assert "9 means have no interval" in page.text
    # Samples of the legend alone.
    assert page.tags.count("svg") == len(RULES)


def test_more_rules_than_marks_have_a_row_each(tmp_path):
    rules = [f"AIMD(1, 0.{digit})" for digit in range(1, 10)]
    Sweep.from_dict(
        {**LIMITS_SWEEP, "replicates": 2, "axes": {**LIMITS_SWEEP["axes"], "rule": rules}}
    ).run(tmp_path)
    html = write_report(tmp_path).read_text(encoding="utf-8")
    goodput = html[html.index('data-metric="goodput"') :].partition("</article>")[0]
    means, differences = (
        goodput.split("Paired differences", 1)[0],
        goodput.split("Paired differences", 1)[1],
    )
    for part, names in ((means, rules), (differences, rules[1:])):
        plots = re.findall(r'<svg class="plot".*?</svg>', part, re.DOTALL)
        assert len(plots) == len(LIMITS)
        for plot in plots:
            assert re.findall(r'class="name">(.*?)</text>', plot) == names
            assert plot.count('class="mark') == len(names)


def test_labels_are_text_whatever_they_hold(tmp_path):
    label = '</table><script>alert("&")</script>'
    axes = {"load": {label: {"flows.a.count": 1}, "heavy": {"flows.a.count": 4}}, "rule": RULES}
    Sweep.from_dict({**LIMITS_SWEEP, "axes": axes, "replicates": 2}).run(tmp_path)
    page = Page()
    page.feed(write_report(tmp_path, title=label).read_text(encoding="utf-8"))
    assert (page.tags.count("script"), page.faults, page.open) == (1, [], [])
    assert page.text.count(label) > 10


def test_intervals_above_the_target_are_counted(tmp_path):
    sweep = Sweep.from_dict(
        {**LIMITS_SWEEP, "until": "ci(goodput) < 0.0001%", "most": 5, "replicates": 5}
    )
    unmet = len(sweep.run(tmp_path).unmet)
    assert unmet
    assert f"In {unmet} cells the intervals are wider than" in write_report(tmp_path).read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_a_store_of_several_sweeps_has_a_part_for_each(tmp_path, cli):
    Sweep.from_dict(LIMITS_SWEEP).run(tmp_path / "runs")
    Sweep.from_dict({**LIMITS_SWEEP, "name": "other", "axes": {}}).run(tmp_path / "runs")
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
        (["nowhere"], 'report: "nowhere" is not valid: expected'),
        (["empty"], "has no finished run of a sweep"),
        (
            ["runs", "--sweep", "other"],
            'sweep of the store "runs": "other" is not known: expected limits',
        ),
        (["runs", "-o", "folder"], "folder"),
        (["runs", "-o", "file/report.html"], "file"),
        (["future"], "has format 4"),
    ],
)
def test_bad_input_is_one_line(tmp_path, command, limits_store, arguments, words):
    shutil.copytree(limits_store, tmp_path / "runs")
    with Store(tmp_path / "empty") as empty:
        empty.put(RECORDS[0])
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "future").mkdir()
    with closing(sqlite3.connect(tmp_path / "future/runs.sqlite")) as database:
        database.execute(f"PRAGMA application_id = {int.from_bytes(b'cwnd', 'big')}")
        database.execute("PRAGMA user_version = 4")
    answer = command("report", *arguments)
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
    sweep = {**LIMITS_SWEEP, "axes": {"rule": [f"{rules}:Slow", "CUBIC"]}}
    Sweep.from_dict(sweep).run(tmp_path / "runs")
    assert "mine.py:Slow" in write_report(tmp_path / "runs").read_text(encoding="utf-8")
    rules.unlink()
    with pytest.raises(
        StoreError, match=r"the definition of `limits` cannot be read on this machine .*mine\.py"
    ):
        write_report(tmp_path / "runs")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path, limits_store, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_report(limits_store, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pairwise_comparison_says_how_it_is_shown(tmp_path):
    cwndlab.against("AIAD(1, 3)", "AIMD(1, 0.5)", flows=1, replicates=1, duration="1s",
                    store=tmp_path)  # fmt: skip
    with pytest.raises(cwndlab.StoreError, match="a pairwise comparison, which has no report"):
        cwndlab.write_report(tmp_path)
