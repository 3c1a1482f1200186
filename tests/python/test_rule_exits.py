"""A rule file that ends the program: exit code 2, which names the file, and never a success."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cwndlab
from waiting import HANG_S

RULE = """import os, sys
{imported}
class Mine:
    {defined}
    def __init__(self):
        {made}
    def increase(self, cwnd, ack):
        {grown}
        return cwnd + 1 / cwnd
    def decrease(self, cwnd, signal):
        {cut}
        return cwnd / 2
"""
PLACES = ("imported", "defined", "made", "grown", "cut")
ENDS = ("sys.exit(0)", "quit()", "exit()", "raise SystemExit(0)", "os._exit(0)",
        "os.execl('/bin/true', 'true')")  # fmt: skip
BRIEF = """
duration = "5s"
[dumbbell]
rate = "2Mbit"
delay = "10ms"
queue = { kind = "drop-tail", limit = "1bdp" }
[[flows]]
name = "flow"
rule = "mine.py:Mine"
"""
SWEEP = """
name = "ends"
base = "brief.toml"
replicates = 3
metrics = ["loss_rate"]
"""


def rule_file(folder: Path, place: str, end: str, name: str = "mine.py") -> Path:
    """Write a rule that ends the program in one place, and a scenario and a sweep with it."""
    path = folder / name
    path.write_text(RULE.format(**{**dict.fromkeys(PLACES, "pass"), place: end}))
    (folder / "brief.toml").write_text(BRIEF)
    (folder / "sweep.toml").write_text(SWEEP)
    return path


def refused(answer, name: str = "mine.py") -> None:
    assert answer.returncode == 2, answer.stderr
    assert "SystemExit" in answer.stderr
    assert name in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("end", ENDS)
def test_every_end_in_every_place(command, tmp_path, place, end):
    rule_file(tmp_path, place, end)
    answer = command("run", "brief.toml", "--expect", "loss_rate >= 0")
    refused(answer)
    assert answer.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "mine.py:Mine", "--replicates", "2", "--duration", "5s", "--expect",
         "goodput > 0"),
        ("compare", "CUBIC", "--against", "mine.py:Mine", "--flows", "1", "--duration", "5s",
         "--replicates", "2", "--expect", "share > 0"),
        ("sweep", "sweep.toml", "--expect", "loss_rate >= 0"),
        ("assess", "mine.py:Mine", "--quick", "--section", "5.1.2", "--replicates", "2",
         "--expect-no-worse"),
        ("search", "--worst", "mine.py:Mine", "--rules", "mine.py:Mine,NewReno", "--budget", "8",
         "--duration", "20s"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("place", "end"), [("imported", "os._exit(0)"), ("cut", "sys.exit()"),
                                            ("cut", "os._exit(0)")])  # fmt: skip
def test_every_command_in_its_own_process(cli, tmp_path, arguments, place, end):
    rule_file(tmp_path, place, end)
    refused(cli(*arguments))


@pytest.mark.parametrize("place", ["imported", "made"])
def test_a_module_and_a_rule_beside_a_design(cli, tmp_path, place, monkeypatch):
    rule_file(tmp_path, place, "sys.exit(0)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    named = ("mine:Mine", "--replicates", "2", "--duration", "5s")
    answer = cli("compare", *named, "--expect", "goodput > 0")
    refused(answer)
    answer = cli("design", "--family", "AIMD(?, ?)", "--against", "mine.py:Mine", "--env",
                 "constant,square,saw-tooth", "--budget", "4")  # fmt: skip
    refused(answer)


def test_a_package_that_ends_the_program_while_it_is_looked_up(cli, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "brief.toml").write_text(BRIEF.replace("mine.py:Mine", "CUBIC"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    refused(cli("run", "brief.toml", "--rules", "mine.rules"), "__init__.py")


def test_what_ends_the_process_later_does_not_change_its_exit_code(cli, tmp_path):
    """A thread's target and what runs at the end of Python have no code of the rule above them."""
    later = (
        "import atexit, threading; atexit.register(os._exit, 0); "
        "threading.Thread(target=os._exit, args=(0,)).start()"
    )
    rule_file(tmp_path, "imported", later)
    assert cli("run", "brief.toml", "--expect", "loss_rate > 1").returncode == 3
    assert cli("run", "brief.toml", "--expect", "loss_rate < 1").returncode == 0


def test_python_gets_an_error_of_the_package(tmp_path):
    imported = rule_file(tmp_path, "imported", "sys.exit(0)", "ends_at_import.py")
    with pytest.raises(cwndlab.RuleError, match=r"ends_at_import.py cannot be read: SystemExit: 0"):
        cwndlab.rule(f"{imported}:Mine")
    made = rule_file(tmp_path, "made", "os._exit(0)", "ends_when_made.py")
    with pytest.raises(cwndlab.ScenarioError, match=r"SystemExit: os\._exit\(0\), .*when_made.py"):
        cwndlab.dumbbell("2Mbit", "10ms", flows=f"{made}:Mine")
    cut = rule_file(tmp_path, "cut", "sys.exit(0)", "ends_in_a_run.py")
    path = cwndlab.dumbbell("2Mbit", "10ms", flows=f"{cut}:Mine", duration="5s")
    with pytest.raises(cwndlab.RunError, match=r"decrease raised SystemExit: 0") as error:
        cwndlab.run(path)
    assert isinstance(error.value.__cause__, SystemExit)
    with pytest.raises(cwndlab.RunError, match="decrease raised SystemExit"):
        cwndlab.sweep(path, axes={}, replicates=2, metrics=["loss_rate"])


def test_an_environment_of_agents_beside_such_a_rule(tmp_path):
    pytest.importorskip("gymnasium")
    from cwndlab import gym

    cut = rule_file(tmp_path, "cut", "sys.exit(0)")
    groups = [
        {"name": "agent", "rule": "cwndlab.gym:Agent"},
        {"name": "other", "rule": f"{cut}:Mine"},
    ]
    scenario = cwndlab.dumbbell("2Mbit", "10ms", duration="20s", flows=groups)
    environment = gym.make(scenario, flows="agent")
    environment.reset(seed=1)

    def to_the_end() -> None:
        is_over = False
        while not is_over:
            _, _, *ends, _ = environment.step(environment.action_space.sample())
            is_over = any(ends)

    with pytest.raises(cwndlab.RunError, match="decrease raised SystemExit"):
        to_the_end()


def test_the_program_itself_and_what_it_forks_end_as_they_like(tmp_path):
    """Only code of a rule is kept from it, and only in the process that simulates."""
    program = tmp_path / "program.py"
    rule_file(tmp_path, "imported", "pass")
    program.write_text(
        "import os\nimport cwndlab\ncwndlab.rule('mine.py:Mine')\n"
        "child = os.fork()\nif not child:\n    os._exit(4)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4\nos._exit(7)\n"
    )
    done = subprocess.run([sys.executable, program], cwd=tmp_path, timeout=HANG_S, check=False)
    assert done.returncode == 7
