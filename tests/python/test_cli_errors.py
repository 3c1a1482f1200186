"""Bad input: exit code 2, nothing on standard output, one line that names key, value and what is
expected."""

from __future__ import annotations

import pytest

import cwndlab
from conftest import SMALL


def _refused(answer) -> str:
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    lines = answer.stderr.splitlines()
    assert len(lines) == 1, answer.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in lines[0]
    return lines[0]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('delay = "20ms"', 'delai = "20ms"', ["delai", "delay"]),
        ('duration = "10s"', 'duraton = "10s"', ["duraton", "duration"]),
        ('rate = "4Mbit"', 'rate = "4Mfurlong"', ["rate", "4Mfurlong", "Mbit"]),
        ('rate = "4Mbit"', 'rate = "-4Mbit"', ["rate", "-4Mbit"]),
        ('rate = "4Mbit"', "rate = 0", ["rate", "0"]),
        ('delay = "20ms"', 'delay = "20Mbit"', ["delay", "20Mbit", "ms"]),
        ('rule = "AIAD(1, 3)"', 'rule = "AIAD(1)"', ["rule", "AIAD(1)"]),
        ('rule = "AIAD(1, 3)"', 'rule = "AIDA(1, 3)"', ["rule", "AIDA", "AIAD"]),
        ('recovery = "reno"', 'recovery = "rino"', ["recovery", "rino", "reno"]),
        ('kind = "drop-tail"', 'kind = "droptail"', ["kind", "droptail", "drop-tail"]),
        ("count = 2", "count = 999999999999", ["count", "999999999999"]),
        ("count = 2", "count = 0", ["count", "0"]),
        ('measure = ["2s", "10s"]', 'measure = ["8s", "2s"]', ["measure"]),
        ('duration = "10s"', 'duration = "1e300s"', ["duration", "0 to 1e7 s"]),
    ],
)
def test_bad_values_are_refused_by_name(command, tmp_path, old, new, named):
    assert old in SMALL
    text = SMALL.replace(old, new)
    (tmp_path / "bad.toml").write_text(text)
    message = _refused(command("run", "bad.toml"))
    for word in [*named, "bad.toml"]:
        assert word in message
    # Python gets the same text as a ValueError.
    with pytest.raises(cwndlab.ScenarioError) as error:
        cwndlab.Scenario.from_text(text)
    assert isinstance(error.value, ValueError)
    assert " ".join(str(error.value).split()) in message


def test_no_flows(command, tmp_path):
    (tmp_path / "bad.toml").write_text(
        SMALL[: SMALL.index("[[flows]]")].replace("name", "flows = []\nname", 1)
    )
    assert "flows" in _refused(command("run", "bad.toml"))


def test_not_toml(command, tmp_path):
    (tmp_path / "bad.toml").write_text("duration = = 3\n")
    assert "bad.toml" in _refused(command("run", "bad.toml"))


def test_not_json(command, tmp_path):
    (tmp_path / "bad.json").write_text('{"duration": ')
    assert "bad.json" in _refused(command("run", "bad.json"))


def test_not_text(command, tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00\x01")
    assert "UTF-8" in _refused(command("run", "bad.toml"))


def test_missing_file(cli):
    assert "nowhere.toml: No such file" in _refused(cli("run", "nowhere.toml"))
    for command, name in (("run", "one-flow-sawtooth"), ("sweep", "sweep-buffers")):
        message = _refused(cli(command, f"examples/{name}.toml"))
        assert message.endswith(f"; `cwndlab examples {name}` writes it")


def test_folder_instead_of_file(command, tmp_path):
    assert "directory" in _refused(command("run", tmp_path)).lower()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--set", "dumbbell.rate=5Mfoo"], ["dumbbell.rate", "5Mfoo"]),
        (["--set", "dumbbell.rat=5Mbit"], ["rat", "rate"]),
        (["--set", "dumbbell.rate"], ["--set", "dumbbell.rate", "key=value"]),
        (["--set", "flows.c.count=3"], ["flows.c.count", "expected a, b, an"]),
        (["--set", "flows.9.count=3"], ["flows.9.count", "below 2"]),
        (["--set", "duration.x=3"], ["duration.x", "10s"]),
        (["--profile", "ns3"], ["profile", "ns3", "ns2-2.35"]),
        (["--seed", "minus"], ["--seed", "minus"]),
        (["--seed", "-1"], ["--seed", "-1"]),
        (["--plot", "picture.gif"], ["--plot", "picture.gif", ".png"]),
        (["--pcap", "/nonexistent/x.pcapng"], ["/nonexistent/x.pcapng"]),
        (["--out", "small.toml"], ["--out", "small.toml"]),
        (["--nonsense"], ["--nonsense"]),
    ],
)
def test_bad_options_of_run(command, small_file, arguments, named):
    message = _refused(command("run", small_file, *arguments))
    for word in named:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], ["RULE", "AIMD"]),
        (["AIAD(1)"], ["AIAD(1)"]),
        (["AMD(1, 0.5)"], ["AMD", "AIMD"]),
        (["AIMD(1, 0.5)", "--env", "constant,wobbly"], ["env", "wobbly", "saw-tooth"]),
        (["AIMD(1, 0.5)", "--recovery", "sak"], ["recovery", "sak", "sack"]),
        (["AIMD(1, 0.5)", "--queue", "fifo"], ["fifo", "drop-tail"]),
        (["AIMD(1, 0.5)", "--env", "constant,"], ["--env", "empty"]),
        (["AIMD(1, 0.5)", "--replicates", "0"], ["--replicates", "0"]),
        (["AIMD(1, 0.5)", "--duration", "soon"], ["--duration", "soon", "100s"]),
        (["AIMD(1, 0.5)", "--duration", "-5s"], ["--duration", "-5s"]),
        (["AIMD(1, 0.5)", "--jobs", "0"], ["--jobs", "0"]),
        (["AIMD(1, 0.5)", "--plot", "x.gif"], ["--plot", "x.gif", ".svg"]),
        (["AIMD(1, 0.5)", "--setting", "sack"], ["--setting", "sack/drr"]),
        (["AIMD(1, 0.5)", "--setting", "sack/fifo"], ["fifo", "drop-tail"]),
        (["AIMD(1, 0.5)", "--setting", "sack/drr,reno/red"], ["--setting", "all"]),
        (["AIMD(1, 0.5)", "--setting", "all", "--queue", "red"], ["--setting", "--queue"]),
        (["AIMD(1, 0.5)", "--env", "RCL", "--queue", "pie"], ["pie", "RCL", "drr"]),
        (["AIMD(1, 0.5)", "--assume", "flor=1Mbit"], ["flor", "floor"]),
        (["AIMD(1, 0.5)", "--assume", "floor"], ["--assume", "key=value"]),
        (["AIMD(1, 0.5)", "--assume", "step=-1s"], ["step", "-1s"]),
    ],
)
def test_bad_options_of_compare(command, arguments, named):
    message = _refused(command("compare", *arguments))
    for word in named:
        assert word in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["XX"], ["XX", "RSQ", "demo"]),
        (["--toml"], ["--toml", "NAME"]),
        (["CL", "CH", "--toml"], ["--toml"]),
        (["CL", "--toml", "--setting", "sack/fifo"], ["fifo", "drr"]),
        (["CL", "--toml", "--setting", "sak/drr"], ["sak", "sack"]),
        (["CL", "--toml", "--rule", "AIAD(1)"], ["AIAD(1)"]),
        (["--plot", "x.gif"], ["x.gif"]),
        (["--assume", "buffer=many", "CL", "--toml"], ["many"]),
    ],
)
def test_bad_options_of_environments(command, arguments, named):
    message = _refused(command("environments", *arguments))
    for word in named:
        assert word in message


def test_unknown_command_is_named(command):
    assert "simulate" in _refused(command("simulate"))


def test_an_unknown_option_is_answered_with_the_nearest_one(command):
    done = command("run", "--sed", "3")
    assert done.returncode == 2
    assert "(did you mean --seed?)" in done.stderr
    assert "--pcap" in done.stderr


@pytest.mark.slow
def test_a_run_that_outgrows_memory_stops_and_says_what_to_limit(cli, tmp_path):
    """A window that grows a millionfold a round trip, nothing to stop it.

    Gigabytes within a few acknowledgements, but under profile `linux`: its windows end at 1 GiB.
    """
    (tmp_path / "huge.toml").write_text(
        """
        duration = "10s"
        profile = "rfc"
        tcp = { initial_ssthresh = 2 }
        [dumbbell]
        rate = "10Mbit"
        delay = "5ms"
        queue = { kind = "drop-tail", limit = "unlimited" }
        [[flows]]
        rule = "Linear(1000000, 1000000, -1, 1)"
        """
    )
    assert "queue.limit" in _refused(cli("run", tmp_path / "huge.toml"))


def test_a_rate_that_changes_too_often_is_refused_before_the_run(command, tmp_path):
    (tmp_path / "hum.toml").write_text(
        """
        duration = 1e7
        flows = [{ rule = "AIMD(1, 0.5)" }]
        [dumbbell]
        delay = "5ms"
        rate = { kind = "square", high = "2Mbit", low = "1Mbit", every = "1us" }
        """
    )
    message = _refused(command("run", tmp_path / "hum.toml"))
    assert "dumbbell.rate.every" in message
    assert "1us" in message
    assert "100000000" in message


def test_a_formula_without_a_value_ends_the_run_and_leaves_nothing(cli, tmp_path):
    rule = 'Rule(inc="log(30 - w)", dec="w/2")'
    text = (
        "duration = '20s'\n[dumbbell]\nrate = '10Mbit'\ndelay = '20ms'\n[[flows]]\nname = "
        f"'own'\nrule = '{rule}'\n"
    )
    (tmp_path / "own.toml").write_text(text)
    done = cli("run", "own.toml", "--out", "result")
    assert done.returncode == 2
    for said in ('flow "own"', rule, "is NaN at w = "):
        assert said in done.stderr
    assert not (tmp_path / "result" / "run.json").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("results",), "DIR is missing: expected `cwndlab results DIR`"),
        (("export", "small.toml"), "--to is missing: expected ns2"),
    ],
)
def test_what_is_missing_is_named_as_it_is_written(command, arguments, expected):
    assert expected in _refused(command(*arguments))
