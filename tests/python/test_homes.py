"""Several homes of a comparison: each environment once in every home."""

from __future__ import annotations

import pytest

import cwndlab
from cwndlab import sweeps


def test_homes_of_a_comparison_are_environments():
    asked = {"env": ["CL", "RWA"], "home": ["simulator", "linux"], "replicates": 2, "run": False}
    plan = cwndlab.compare(["kernel:reno", "kernel:cubic"], **asked).plan
    assert plan.labels["env"] == [
        "CL at simulator", "CL at linux", "RWA at simulator", "RWA at linux",
    ]  # fmt: skip
    homes = {(run.cell["env"], run.document["home"]) for run in plan}
    assert homes == {(name, name.split(" at ")[1]) for name in plan.labels["env"]}
    # The homes differ in nothing else: a drawn waveform is the same in both.
    one, other = (
        [{**run.document, "home": ""} for run in plan if run.cell["env"] == f"RWA at {home}"]
        for home in asked["home"]
    )
    assert one == other
    assert one[0]["cross"] != one[1]["cross"]
    defined = sweeps.Sweep.from_dict(cwndlab.compare("kernel:reno", **asked).define())
    assert [run.document["home"] for run in defined.plan] == [
        run.document["home"] for run in cwndlab.compare("kernel:reno", **asked).plan
    ]
    beside = cwndlab.against("kernel:cubic", "kernel:reno", flows=1, home=asked["home"], run=False)
    assert beside.plan.labels["env"] == ["link at simulator", "link at linux"]
    assert {(run.cell["env"], run.document["home"]) for run in beside.plan} == {
        ("link at simulator", "simulator"), ("link at linux", "linux"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--home", "simulator,lnux"], '--home: "lnux" is not valid: expected simulator, linux or'),
        (["--home", "linux", "--env", "CL at linux"], "`CL at linux` has a home already"),
    ],
)
def test_homes_of_a_comparison_that_are_refused(command, options, message):
    refused = command("compare", "kernel:reno", *options)
    assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
