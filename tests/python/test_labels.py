"""`--label` of the commands that read one scenario: a name that it has is replaced, another one is
refused with the nearest, before anything runs."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cwndlab import topologies
from cwndlab.cli.app import app

COMMANDS = {
    "run": ["run"],
    "topology": ["topology"],
    "live over QUIC": ["live", "quic"],
    "live with Linux": ["live", "linux"],
}


@pytest.fixture
def ring(tmp_path):
    scenario = topologies.ring(3, "2Mbit", "5ms", rule="AIMD(1, 0.5)", duration="2s")
    file = tmp_path / "ring.json"
    file.write_text(scenario.to_json())
    return str(file)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "near"), [("flow-11", "flow-1"), ("R0-R", "R0-R1"), ("AIMD(1, 0.6)", "AIMD(1, 0.5)")]
)
def test_an_unknown_label_is_refused_with_the_nearest(command, name, near, ring):
    done = CliRunner().invoke(app, [*COMMANDS[command], ring, "--label", f"{name}=Mine"])
    assert done.exit_code == 2
    assert f'--label: "{name}" is not known: expected flow-0, ' in done.output
    assert f"(did you mean {near}" in done.output


def test_columns_are_labels_of_a_run_and_none_of_a_topology(ring):
    label = ["--label", "goodput_bps=Rate"]
    shown = CliRunner().invoke(app, ["run", ring, *label])
    assert shown.exit_code == 0, shown.output
    assert "Rate" in shown.output
    refused = CliRunner().invoke(app, ["topology", ring, *label])
    assert refused.exit_code == 2
    assert '--label: "goodput_bps" is not known: expected flow-0, ' in refused.output


@pytest.mark.parametrize("command", ["run", "topology"])
def test_labels_stand_in_tables_and_in_the_figure(command, ring, tmp_path):
    picture = tmp_path / "ring.svg"
    labels = ["--label", "flow-1=Bold", "--label", "R0-R1=Uplink"]
    done = CliRunner().invoke(app, [command, ring, *labels, "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert "Bold" in done.output
    assert "Uplink" in done.output
    assert "flow-1" not in done.output
    assert "Bold" in picture.read_text()


def test_labels_are_those_of_a_live_run(ring, monkeypatch):
    from cwndlab.kernel_runs import program

    class Reached(Exception):
        pass

    def find():
        raise Reached

    monkeypatch.setattr(program, "find", find)
    done = CliRunner().invoke(app, ["live", "quic", ring, "--label", "flow-1=Bold"])
    assert isinstance(done.exception, Reached)
