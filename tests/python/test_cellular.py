"""Links with delivery opportunities: recorded, synthetic, and in batches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cwndlab
from cwndlab import environments
from cwndlab.environments import Assumptions

ONE = Assumptions(flows=1, duration="5s", profile="ns2-2.35")
FLOWS = [{"rule": "AIMD(1, 0.5)", "name": "flow"}]


def _cellular(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cwndlab", "cellular", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A trace of 30 s, 10 Mbit/s in its first half and 2 Mbit/s in its second."""
    # 12,500 and 2501 opportunities of 12,000 bits.
    file = tmp_path_factory.mktemp("traces") / "my.down"
    fast, slow = np.arange(1, 15_000, 1.2), np.arange(15_000, 30_001, 6)
    file.write_text("".join(f"{int(ms)}\n" for ms in (*fast, *slow)))
    return file


def test_a_file_equals_the_waveform_of_its_seed(tmp_path):
    done = _cellular(
        "--mean", "6Mbit", "--noise", "5Mbit", "--outage-share", "0.1", "--outage-length", "300ms",
        "--duration", "20s", "--seed", "3", "-o", "x.down", folder=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    rate = {"kind": "cellular", "mean": "6Mbit", "noise": "5Mbit", "outage_share": 0.1,
            "outage_length": "300ms"}  # fmt: skip
    document = {"seed": 3, "duration": "19s", "flows": FLOWS,
                "dumbbell": {"rate": rate, "delay": "20ms", "back_rate": "unlimited",
                             "queue": {"kind": "drop-tail", "limit": "50pkt"}}}  # fmt: skip
    drawn = cwndlab.run(document)
    document["dumbbell"]["rate"] = {"kind": "trace", "file": str(tmp_path / "x.down")}
    assert cwndlab.run(document).fields["trace_hash"] == drawn.fields["trace_hash"]
    # Standard output has the same lines; another seed has others.
    arguments = ["--mean", "6Mbit", "--duration", "2s"]
    first, again, other = (
        _cellular(*arguments, "--seed", seed, folder=tmp_path).stdout for seed in "112"
    )
    assert first == again != other


def test_a_trace_has_the_mean_and_the_outages_asked_for(tmp_path):
    """By the stated laws: mean rate, and the share of outages of an exponential length."""
    done = _cellular(
        "--mean", "12Mbit", "--noise", "40Mbit", "--outage-share", "0.2", "--outage-length", "1s",
        "--duration", "20000s", "--seed", "5", folder=tmp_path,
    )  # fmt: skip
    milliseconds = np.array(done.stdout.split(), dtype=int)
    # 1000 opportunities/s. The rate has a standard deviation of 0.72 of it, and is correlated over
    # 1 s: the standard error over 20,000 s is 0.72 sqrt(2/20000) = 0.007.
    assert len(milliseconds) / 20_000 == pytest.approx(1000, rel=0.03)
    # Of outages of mean 1 s, a share exp(-0.5) lasts above 0.5 s; they last 1.5 s on average, so
    # fill 0.2 * 1.5 exp(-0.5) = 0.182 of the time.
    gaps = np.diff(milliseconds)
    assert gaps[gaps > 500].sum() / milliseconds[-1] == pytest.approx(0.182, rel=0.06)
    # They end at a constant rate: half of those above 0.5 s last ln 2 s longer.
    assert np.median(gaps[gaps > 500]) == pytest.approx(500 + 693, rel=0.06)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--mean", "0bit"], '--mean: "0bit" is not valid: expected a rate such as'),
        (["--outage-share", "0.6"], "--outage-share: 0.6 is not valid: expected a number from 0"),
        (["--outage-length", "1us"], "--outage-length: 1us is not valid: expected at least 1ms"),
        (["--mean", "much"], "--mean: "),
        (["--duration", "0s"], "--duration: "),
        (["-o", "none/x.down"], "--output: \"none/x.down\" cannot be written"),
    ],
)  # fmt: skip
def test_options_that_are_not_valid(arguments, expected, tmp_path):
    done = _cellular(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_each_replicate_of_a_trace_starts_at_another_place(recorded):
    name = f"trace:{recorded}"
    scenario = environments.scenario(name, assume=ONE)
    assert scenario["dumbbell"]["rate"]["start"] == "random"
    assert scenario["bdp"]["rate"] == "6.0004Mbit"
    rules = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
    compared = cwndlab.compare(rules, env=name, replicates=8, assume=ONE)
    rates = {
        rule: [
            compared.result(rule=rule, replicate=replicate).links["available_bps"][0]
            for replicate in range(8)
        ]
        for rule in rules
    }
    # Both rules of a replicate have the same link, between those of the two halves.
    assert rates[rules[0]] == rates[rules[1]]
    assert len(set(rates[rules[0]])) > 2
    assert 1.9e6 < min(rates[rules[0]]) < max(rates[rules[0]]) < 10.1e6


def test_a_trace_is_an_environment_of_sweeps_and_of_one_rule_against_another(recorded):
    name = f"trace:{recorded.name}"
    (recorded.parent / "s.toml").write_text(
        f'replicates = 1\nduration = "2s"\n[axes]\nrule = ["CUBIC"]\nenv = ["{name}", "cellular"]\n'
    )
    swept = cwndlab.Sweep.load(recorded.parent / "s.toml").run()
    assert swept.runs["env"].to_list() == [name, "cellular"]
    assert swept.sweep == cwndlab.Sweep.from_dict(swept.sweep.to_dict())
    again = cwndlab.Sweep.from_dict(swept.sweep.to_dict())
    assert [level.label for level in again.plan.axes["env"]] == [name, "cellular"]
    shared = cwndlab.against("CUBIC", "Reno", env=f"trace:{recorded}", replicates=1, duration="2s")
    assert shared.runs.height > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, 'cannot be read: '),
        ("1\nx\n", 'line 2: "x" is not valid: expected an integer not below the line before, 1'),
        ("", "is empty: expected a millisecond per line"),
    ],
)  # fmt: skip
def test_files_that_are_not_valid(text, expected, tmp_path):
    file = tmp_path / "x.down"
    if text is not None:
        file.write_text(text)
    with pytest.raises(cwndlab.ScenarioError) as caught:
        cwndlab.compare("CUBIC", env=f"trace:{file}")
    assert str(caught.value).startswith("env: ")
    assert str(file) in str(caught.value)
    assert expected in str(caught.value)


def test_a_start_outside_the_trace_is_refused(recorded):
    rate = {"kind": "trace", "file": str(recorded), "start": "40s"}
    with pytest.raises(cwndlab.ScenarioError, match=r"dumbbell.rate.start: 40s is not valid: exp"):
        cwndlab.Scenario(
            {"duration": "1s", "dumbbell": {"rate": rate, "delay": "1ms"}, "flows": FLOWS}
        )


def test_run_of_an_environment(recorded):
    done = subprocess.run(
        [sys.executable, "-m", "cwndlab", "run", "--env", f"trace:{recorded.name}", "--json",
         "--assume", "flows=1", "--assume", "duration=2s", "--set", "flows.flow.rule=CUBIC"],
        cwd=recorded.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, '"rule":"CUBIC"' in done.stdout.replace(" ", "")) == (0, True)


def test_acks_come_back_in_batches_at_grants():
    """By hand: a packet a millisecond, ACKs in tens, every 10 ms."""
    result = cwndlab.run(
        {
            "duration": "300ms", "profile": "ns2-2.35", "trace": {"packets": True},
            "dumbbell": {
                "rate": "8Mbit", "delay": "10ms",
                "queue": {"kind": "drop-tail", "limit": "unlimited"},
                "back_rate": {"kind": "grants", "rate": "8Mbit", "every": "10ms"},
            },
            "flows": [{"rule": "AIMD(1, 0.5)"}],
            "tcp": {"packet_size": 960, "window": 40, "initial_window": 40},
        }
    )  # fmt: skip
    packets = result.traces["packets"]
    acks = packets.filter(pl.col("event") == "ack")["time_s"].to_numpy()
    # Grants are at multiples of 10 ms, and the way back takes another 10 ms.
    assert np.allclose(acks / 0.01, np.round(acks / 0.01))
    later = acks[acks > 0.1]
    assert np.unique(later.round(6), return_counts=True)[1].max() == 10
