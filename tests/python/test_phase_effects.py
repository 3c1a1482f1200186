"""Notes on flows with exact delays, and what host jitter changes."""

from __future__ import annotations

import pytest

from cwndlab import dumbbell
from cwndlab.phase_effects import phase_effects

TWO = dumbbell("10Mbit", "20ms", flows=["CUBIC", "BBR3"], duration="2s")
RED = {"kind": "red", "limit": "1bdp"}
CROSS = [{"name": "cross", "rate": "1Mbit"}]


@pytest.mark.parametrize(
    ("scenario", "is_noted"),
    [
        (TWO, True),
        (TWO.set("profile", "rfc"), True),
        (dumbbell("10Mbit", "20ms", flows=[{"rule": "CUBIC", "count": 2}]), True),
        (TWO.set("dumbbell.queue", {"kind": "step", "threshold": "10pkt", "limit": "1bdp"}), True),
        (dumbbell("10Mbit", "20ms", flows="CUBIC"), False),
        (TWO.set("dumbbell.queue", RED), False),
        (TWO.set("host_jitter", "100us"), False),
        (TWO.set("host_jitter", "0s"), True),
        (TWO.set("dumbbell.jitter", {"kind": "uniform", "high": "1ms"}), False),
        (dumbbell("10Mbit", "20ms", flows=["CUBIC", "CUBIC"], cross=CROSS), False),
        (TWO.set("profile", "ns2-2.35"), False),
    ],
)
def test_a_note_where_exact_delays_meet_drop_tail(scenario, is_noted):
    assert (phase_effects(scenario.to_dict()) is not None) == is_noted


def test_commands_print_the_note_once(cli, tmp_path):
    (tmp_path / "two.toml").write_text(TWO.to_toml())
    for command in (
        ["run", "two.toml"],
        [
            "compare",
            "CUBIC",
            "--against",
            "BBR3",
            "--flows",
            "1",
            "--duration",
            "2s",
            "--replicates",
            "1",
        ],
    ):
        done = cli(*command)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("note: 2 flows with exact delays") == 1, done.stderr
        assert "host_jitter" in done.stderr
    assert "exact delays" not in cli("--quiet", "run", "two.toml").stderr
    quiet = cli("run", "two.toml", "--set", "host_jitter=1ms")
    assert "exact delays" not in quiet.stderr
