"""Several homes of a comparison: each environment once in every home."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cwndlab
from cwndlab import assessment, designs, sweeps
from cwndlab.runs.store import canonical


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
    ("arguments", "message"),
    [
        (["search", "--best", "CUBIC", "--home", "lnux"], '--home: "lnux" is not valid: expected'),
        (
            ["search", "--best", "CUBIC", "--home", "linux,linux"],
            "expected one home; `cwndlab comp",
        ),
        (["assess", "CUBIC", "--home", "linux"], 'rule: rule "CUBIC" cannot run in the kernel: '),
        (
            ["assess", "kernel:bbr", "--home", "linux", "--against", "Reno,Vegas"],
            'against: rule "Vegas(2, 4)" cannot run in the kernel: ',
        ),
        (
            ["design", "--family", "AIMD(?, ?)", "--home", "linux", "--against", "CUBIC"],
            'against: rule "CUBIC" cannot run in the kernel: ',
        ),
        (
            ["design", "--family", "CUBIC(?)", "--bound", "p1=0.1..1", "--home", "linux"],
            'family: rule "CUBIC(C=0.3162)" cannot run in the kernel: ',
        ),
        (
            ["design", "--family", "AIMD(?, ?)", "--home", "linux", "--require", "harm(BBR3) < 1"],
            'constraints: rule "BBR3" cannot run in the kernel: ',
        ),
        (["reproduce", "psaras2009", "--home", "linux", "--page", "p"], "`--home` cannot be used"),
    ],
)
def test_what_a_home_cannot_run_is_refused_before_the_first_run(command, arguments, message):
    refused = command(*arguments)
    assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr


def test_a_cell_with_a_rule_that_its_home_lacks_is_refused():
    base = {"duration": "1s", "home": "linux", "dumbbell": {"rate": "1Mbit", "delay": "1ms"}}
    with pytest.raises(cwndlab.ScenarioError, match='rule "CUBIC" cannot run in the kernel'):
        canonical({**base, "flows": [{"rule": "CUBIC"}]})
    canonical({**base, "flows": [{"rule": "AIMD(1, 0.5)"}]})


def test_a_search_for_rules_in_a_kernel_is_beside_its_cubic():
    given = {"family": "AIMD(?, ?)", "objectives": ["goodput", "delay"]}
    kernel = designs.Specification.from_dict({**given, "home": "linux"})
    assert kernel.against == ["AIMD(1, 0.5)", "AIAD(1, 3)", "kernel:cubic"]
    assert {block.home for block in kernel.sets.values()} == {"linux"}
    assert "kernel:cubic" not in designs.Specification.from_dict(given).against


def test_an_assessment_in_a_kernel_has_the_standards_of_linux():
    rules = set()
    for test in assessment.suite("rfc9743").tests:
        at_home = test.at_home("linux")
        # The data centre's references that Linux has.
        assert set(at_home.references) <= {"kernel:dctcp"}, test.id
        if test.name == "beside-media":
            continue  # No kernel has NADA: `Assessment.not_run` names the test.
        there = replace(at_home, references=()).sweep(["kernel:bbr"]).plan
        for cell in there.cells():
            document = cell.document()
            assert document["home"] == "linux"
            rules |= {flow["rule"] for flow in document.get("flows", ())}
    assert rules == {"kernel:bbr", "kernel:reno", "kernel:cubic"}
    test = assessment.suite("rfc9743").tests[0]
    assert test.at_home("simulator") is test


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
