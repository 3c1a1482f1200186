"""Tables: within the terminal's width, in other formats, with the best value and the baseline."""

from __future__ import annotations

import csv
import io
import re
import shlex
import subprocess

import pytest

import cwndlab
import small_sweeps
from conftest import ROOT, SMALL
from cwndlab.cli.fitting import Column, fit
from cwndlab.cli.output import print_table
from cwndlab.metrics import BY_KEY
from cwndlab.tables import judged
from terminals import Terminal

RULES = ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)")
COMPARE = ("compare", *RULES, "--duration", "20s", "--replicates", "2", "--env", "constant,square")


def _shown(tmp_path, *arguments, columns: int) -> list[str]:
    with Terminal(*arguments, folder=tmp_path, stdout=None, columns=columns) as terminal:
        shown = terminal.read_to_the_end()
        assert terminal.process.wait() == 0, shown
    # Progress overwrites its line.
    return [line.rsplit("\r", 1)[-1].rstrip() for line in shown.replace("\r\n", "\n").split("\n")]


def _tables(lines: list[str]) -> list[str]:
    return [line for line in lines if "━" not in line and not line.startswith("columns left out")]


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "small.toml"),
        COMPARE,
        ("compare", "CUBIC", "--against", RULES[0], "--flows", "1", "--replicates", "2",
         "--duration", "5s", "--profile", "rfc"),
        ("environments",),
        ("knobs",),
        ("search", "--list"),
        ("reproduce", "--list"),
        ("doctor",),
        ("theory", "fair", RULES[0]),
        ("theory", "rate", RULES[0]),
        ("theory", "friendly"),
        ("theory", "phase", RULES[0]),
        ("theory", "bimodal"),
    ],
)  # fmt: skip
def test_no_table_is_wider_than_the_terminal(tmp_path, arguments, columns):
    (tmp_path / "small.toml").write_text(SMALL)
    lines = _tables(_shown(tmp_path, *arguments, columns=columns))
    assert max(map(len, lines)) <= columns
    assert any("──" in line for line in lines)


SHOWN = re.findall(
    r"^\$ cwndlab (.+)$", (ROOT / "docs" / "first-session.md").read_text("utf-8"), re.MULTILINE
)


@pytest.mark.slow
@pytest.mark.parametrize("command", SHOWN)
def test_what_the_first_session_shows_fits_a_terminal_of_80_columns(command):
    """Tables and messages, but for the length of the runs as the page shows them."""
    arguments = shlex.split(command.partition(" | ")[0])
    if arguments[0] == "compare":
        arguments += ["--duration", "5s", "--replicates", "2"]
    lines = _shown(ROOT, *arguments, columns=80)
    shown = [line for line in lines if "━" not in line]
    assert any("──" in line for line in shown)
    assert [line for line in shown if len(line) > 80] == []


def test_a_part_below_has_no_rows_that_are_empty_there(capsys, monkeypatch):
    monkeypatch.setattr("cwndlab.cli.display.Display.width", 30)
    rows = [["a", "1.000", "2.000"], [], ["b", "3.000", ""]]
    print_table("Title", ["rule", "a long heading", "b" * 24], rows)
    below = capsys.readouterr().out.partition("b" * 24)[2]
    assert "2.000" in below
    assert not re.search(r"^b", below, re.MULTILINE)


def test_what_is_left_out_is_said_and_wide_shows_it(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    narrow = _shown(tmp_path, "run", "small.toml", columns=80)
    assert "columns left out: fast retransmits; retransmitted (--wide shows all)" in narrow
    assert not any("retransmits" in line for line in _tables(narrow))
    wide = "\n".join(_shown(tmp_path, "run", "small.toml", "--wide", columns=80))
    assert "retransmits" in wide
    assert "left out" not in wide


def test_a_file_gets_every_column_of_any_table(cli):
    columns = [Column(f"column {number}", ("1.000",), False) for number in range(60)]
    assert fit(columns, None).parts == [columns]
    (answer,) = [cli("environments")]
    assert "residual of flows that arrive every 0.03 and 0.01 s in turn, 5 s each" in answer.stdout
    assert all(line == line.rstrip() for line in answer.stdout.splitlines())


def test_the_variable_columns_is_the_width_of_a_pipe(cli, monkeypatch):
    def widest(columns: str, *options: str) -> int:
        monkeypatch.setenv("COLUMNS", columns)
        answer = cli("environments", *options)
        assert answer.returncode == 0, answer.stderr
        return max(map(len, answer.stdout.splitlines()))

    unlimited = widest("")
    assert unlimited > 120
    assert widest("90") <= 90
    assert widest("70") <= 70
    assert widest("0") == widest("wide") == widest("90", "--wide") == unlimited


def test_columns_that_do_not_fit_stand_below_with_the_names_of_the_rows():
    name = Column("rule", ("AIMD(1, 0.5)",), True)
    means = [Column(f"env {number}", ("0.900 ± 0.010",), False) for number in range(8)]
    found = fit([name, *means], 60)
    assert not found.dropped
    assert [part[0] for part in found.parts] == [name.narrowed()] * len(found.parts)
    assert [column for part in found.parts for column in part[1:]] == means


def test_names_that_together_name_a_row_stand_in_every_part():
    """The first alone would not say which row it is."""
    delays, limits = ("10ms", "10ms", "40ms", "40ms"), ("1bdp", "2bdp") * 2
    names = [Column("dumbbell.delay", delays, True), Column("dumbbell.queue.limit", limits, True)]
    numbers = [Column(name, ("0.951 ± 0.001",) * 4, False) for name in ("goodput", "delay")]
    parts = fit([*names, *numbers], 36).parts
    assert [[column.cells for column in part[:2]] for part in parts] == [[delays, limits]] * 2
    assert parts[0][1].heading == "dumbbell.\nqueue.\nlimit"
    alone = Column("flow", ("a", "b", "c", "d"), True)
    parts = fit([alone, names[0], *numbers], 26).parts
    assert [len(part) for part in parts] == [2] * 3


def test_labels_are_names_in_tables(cli):
    shown = cli(*COMPARE, "--metrics", "goodput", "--format", "markdown", "--label",
                "AIAD(1,3)=Mine").stdout  # fmt: skip
    assert "| Mine |" in shown
    assert "| Δ Mine - baseline |" in shown
    assert "AIAD" not in shown


def test_compare_marks_the_best_and_gives_differences_from_the_baseline(command):
    answer = command(*COMPARE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    text = command(*COMPARE).stdout
    table = text[text.index("loss rate") :].split("\n\n")[1:3]
    means = {
        row["rule"]: float(row["mean"])
        for row in rows
        if (row["metric"], row["env"]) == ("loss_rate", "constant")
    }
    best = min(means, key=means.__getitem__)
    marked = [line for line in "\n".join(table).splitlines() if "*" in line]
    assert any(best in line for line in marked)
    assert f"{RULES[0]} (baseline)" in text
    assert f"Δ {RULES[1]} - baseline" in text
    assert f"difference of a rule from the baseline {RULES[0]}, paired by replicate" in text
    # Paired by hand: the mean of the differences is the difference of the means.
    for row in rows:
        assert (row["baseline"] == RULES[0]) == (row["rule"] != RULES[0])
        if row["metric"] == "loss_rate" and row["env"] == "constant" and row["baseline"]:
            assert float(row["difference"]) == pytest.approx(means[row["rule"]] - means[RULES[0]])


def test_the_baseline_is_the_one_asked_for(command):
    given = ("compare", RULES[1], "--baseline", "aimd(1,.5)", "--duration", "5s")
    answer = command(*given)
    assert "AIMD(1, 0.5) (baseline)" in answer.stdout
    assert "Δ AIAD(1, 3) - baseline" in answer.stdout
    refused = command(*given, "--against", "CUBIC")
    assert refused.returncode == 2
    assert "--baseline" in refused.stderr


def test_a_rule_of_ones_own_does_not_become_the_baseline_silently(command, tmp_path):
    """Its author would read the marks of the other rule's rows as about it."""
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def increase(self, cwnd, ack):\n        return cwnd + 1 / cwnd\n"
        "    def decrease(self, cwnd, signal):\n        return cwnd / 2\n"
    )
    short = ("--duration", "3s", "--metrics", "goodput")
    said = "the first rule, mine.py:Mine, is the baseline"
    silent = command("compare", "mine.py:Mine", RULES[0], *short)
    assert f"{said}; for its differences from {RULES[0]}: --baseline '{RULES[0]}'" in silent.stderr
    assert f"Δ {RULES[0]} - baseline" in silent.stdout
    for rules in (
        (RULES[0], "mine.py:Mine"),
        ("mine.py:Mine", "--baseline", RULES[0]),
        ("mine.py:Mine", 'Rule(inc="1/w", dec="w/2")'),
    ):
        answer = command("compare", *rules, *short)
        assert answer.returncode == 0, answer.stderr
        assert said not in answer.stderr


def test_a_metric_without_a_direction_is_never_marked():
    from cwndlab.sweeps.measures import find
    from cwndlab.tables import best

    assert best([1.0, 2.0], find("goodput")) == 2.0
    assert best([1.0, 2.0], find("links.bottleneck.marked_packets")) is None


@pytest.mark.parametrize(
    ("format", "begins", "row"),
    [
        ("latex", r"% ", r"AIMD\(1, 0\.5\) .*& .*\$\\pm\$.* \\\\"),
        ("markdown", "**", r"\| AIMD\(1, 0\.5\) .*\| .* ± .* \|"),
    ],
)
def test_tables_in_formats_of_documents(command, format, begins, row):
    answer = command(*COMPARE, "--format", format)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(begins)
    assert re.search(row, answer.stdout)
    if format == "latex":
        for rule in ("toprule", "midrule", "bottomrule"):
            assert f"\\{rule}" in answer.stdout


def test_sweeps_and_results_in_every_format(command, tmp_path):
    (tmp_path / "small.toml").write_text(small_sweeps.TEXT)
    tables = {name: command("sweep", "small.toml", "--store", "runs", "--format", name)
              for name in ("terminal", "latex", "markdown", "csv")}  # fmt: skip
    assert {answer.returncode for answer in tables.values()} == {0}
    found = list(csv.DictReader(io.StringIO(tables["csv"].stdout)))
    summary = cwndlab.Sweep.load(tmp_path / "small.toml").run(tmp_path / "runs").summary
    assert [float(row["mean"]) for row in found] == pytest.approx(summary["mean"].to_list())
    runs = list(csv.DictReader(io.StringIO(command("results", "runs", "--format", "csv").stdout)))
    assert len(runs) == int(command("results", "runs").stdout.split()[0])
    assert r"\toprule" in command("results", "runs", "--format", "latex").stdout
    refused = command("results", "runs", "--format", "csv", "--json")
    assert refused.returncode == 2
    assert "--format" in refused.stderr


def test_an_unknown_format_is_refused(command) -> None:
    answer: subprocess.CompletedProcess[str] = command(*COMPARE, "--format", "html")
    assert answer.returncode == 2
    assert "latex" in answer.stderr


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        # Significant, and with three digits "+0.001 ± 0.001" and "0.000 ± 0.000".
        (0.0012, 0.0001, 0.0023, "▲ +0.0012 ± 0.0011"),
        (-0.00004, -0.00007, -0.00001, "▼ -0.00004 ± 0.00003"),
        (0.0003, 0.0001, 0.0006, "▲ +0.0003 [0.0001, 0.0006]"),
        # Three digits are enough, or the interval holds 0.
        (0.02, 0.01, 0.03, "▲ +0.020 ± 0.010"),
        (0.0004, -0.0001, 0.0009, "= 0.000 ± 0.001"),
    ],
)
def test_a_significant_difference_has_the_digits_that_show_it(mean, low, high, text):
    row = {"mean": mean, "ci95_low": low, "ci95_high": high}
    assert judged(row, BY_KEY["goodput"]) == text
