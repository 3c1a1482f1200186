"""The examples that the package carries: listed by name and title, and copied."""

from __future__ import annotations

import pytest

from conftest import ROOT
from terminals import Terminal

EXAMPLES = ROOT / "examples"


def test_every_example_is_listed_with_a_title(command):
    listed = command("examples", "--list")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout == command("examples").stdout
    titles = {
        name: title.strip()
        for name, _, title in (
            line.strip().partition(" ") for line in listed.stdout.split("──\n")[1].splitlines()
        )
        if title
    }
    named = [path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*.toml")]
    assert {path.with_suffix("").as_posix() for path in named} <= titles.keys()
    assert titles["random-loss"] == (
        "Ten flows lose 1 % of their packets at random on a link that is never full"
    )
    assert titles["sweep-buffers"] == "How large must a buffer be?"
    assert titles["my_rules.py"] == "A window rule in Python"
    assert titles["second-topology"].endswith("(Akella et al. 2002, figure 3b)")


def test_a_title_fits_a_terminal(tmp_path):
    with Terminal("examples", folder=tmp_path, stdout=None, columns=80) as terminal:
        lines = terminal.read_to_the_end().splitlines()
    assert max(map(len, lines)) <= 80


def test_an_example_is_copied_with_what_it_needs_and_runs(cli, tmp_path):
    copied = cli("examples", "custom-rule")
    assert copied.returncode == 0, copied.stderr
    assert sorted(path.name for path in (tmp_path / "examples").iterdir()) == [
        "custom-rule.toml",
        "my_rules.py",
    ]
    ran = cli("run", "examples/custom-rule.toml", "--set", "duration=4s", "--set",
              'measure=["1s", "4s"]')  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Patient(3)" in ran.stdout


def test_names_as_the_documents_write_them(command, tmp_path):
    given = ("examples/cellular.toml", "designs/better")
    assert command("examples", *given, "--out", "mine").returncode == 0
    copies = {path.relative_to(tmp_path / "mine").as_posix()
              for path in (tmp_path / "mine").rglob("*.*")}  # fmt: skip
    assert copies == {"cellular.toml", "cellular.down", "designs/better.toml"}
    # The recording is there already, and the same.
    assert command("examples", "live-cellular", "--out", "mine").returncode == 0


def test_no_file_is_overwritten(command, tmp_path):
    assert command("examples", "--out", "all").returncode == 0
    changed = tmp_path / "all" / "ring.toml"
    changed.write_text("mine")
    (tmp_path / "all" / "aqm.toml").unlink()
    for names, file in (((), "all/"), (("ring",), "all/ring.toml"), (("aqm", "ring"), "all/ring")):
        refused = command("examples", *names, "--out", "all")
        assert refused.returncode == 2
        assert file in refused.stderr
        assert "--out DIR" in refused.stderr
    assert changed.read_text() == "mine"
    assert not (tmp_path / "all" / "aqm.toml").exists()


def test_a_needed_file_that_was_changed_is_not_overwritten(command, tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "my_rules.py").write_text("mine")
    refused = command("examples", "custom-rule")
    assert refused.returncode == 2
    assert "my_rules.py" in refused.stderr
    assert not (tmp_path / "examples" / "custom-rule.toml").exists()


@pytest.mark.parametrize(("name", "near"), [("one-flow-sawtoth", "one-flow-sawtooth"), ("no", "")])
def test_an_unknown_name_is_refused(command, name, near):
    refused = command("examples", name)
    assert refused.returncode == 2
    assert f'NAME: "{name}" is not valid: expected' in refused.stderr
    assert near in refused.stderr
