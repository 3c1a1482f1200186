"""An assessment with several homes: verdicts of the kernel beside the simulator's."""

from __future__ import annotations

import sys

import pytest

from cwndlab import assess
from cwndlab.assessment.dossier import home_rows
from cwndlab.errors import LiveError
from cwndlab.kernel_runs import kernels, program

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not program.BUILT.is_file(), reason="needs `make live`"
)


def test_verdicts_of_the_kernel_stand_beside_those_of_the_simulator():
    try:
        kernels.find()
    except LiveError as error:
        pytest.skip(str(error))
    found = assess(
        "AIMD(1, 0.5)", sections=["7.4"], quick=True, replicates=2, home=["simulator", "linux"]
    )
    (kernel,) = found.elsewhere
    assert (found.home, kernel.home) == ("simulator", "linux")
    assert kernel.references == ["kernel:reno", "kernel:cubic", "kernel:bbr"]
    assert kernel.deciding == ["kernel:reno", "kernel:cubic"]
    (row,) = home_rows(found)
    assert (row[0], len(row[2])) == ("7.4", 2)
    mine, theirs = (each.judged()[0].comparisons for each in (found, kernel))
    for one, other in zip(mine, theirs, strict=True):
        assert one.cell == other.cell
        # A window of a few packets a round trip, whoever sends them.
        assert one.means["AIMD(1, 0.5)"].mean == pytest.approx(
            other.means["AIMD(1, 0.5)"].mean, rel=0.25
        )
    assert "--home simulator,linux" in found.command
    assert found.to_dict()["elsewhere"][0]["home"] == "linux"
