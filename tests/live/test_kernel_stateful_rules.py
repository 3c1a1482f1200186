"""Tests of rules with memory in the kernel, with real flows: Bimodal with losses, MRAIMD with
marks."""

from __future__ import annotations

from itertools import pairwise

import netns_path
import polars as pl
import pytest
from host_load import measured, unless_busy
from netns_path import Row
from test_kernel_rules import EQUATIONS, REASON, cuts, registered

from cwndlab.live_runs.run import linux

pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

MARKS = """
name = "marks"
duration = "5s"
profile = "rfc"
[dumbbell]
rate = "10Mbit"
delay = "20ms"
queue = { kind = "red", limit = "200pkt", min = "10pkt", max = "150pkt", max_p = 0.05, ecn = true }
[[flows]]
name = "a"
rule = "MRAIMD(1, 0.05, 0.005, 0.5)"
[tcp]
ecn = true
initial_ssthresh = 30
[trace]
cwnd = "2ms"
"""


def test_bimodal_finds_its_share_in_two_cycles():
    """A flow alone has the whole share: d = beta w after a cut by beta, so a cut leaves 1 - epsilon
    of the window.

    Attie, Lahanas and Tsaoussidis 2003, section 2.2: the first cycle halves, the second finds the
    fair share."""
    with (
        measured() as load,
        registered("Bimodal(1, 0.5, 0.125)", "cwl_t_bimodal", "--initial-ssthresh", "50") as held,
    ):
        rows: list[Row] = netns_path.run_flow("cwl_t_bimodal", 5)
        hits = held.end()["hits"]
    seen = cuts(rows, EQUATIONS["AIMD(1, 0.5)"])
    print(
        f"\n{[(before, after) for before, after, _ in seen]}, {hits['skipped_ssthresh']} skipped"
        " and repaired"
    )
    with unless_busy(load):
        assert len(seen) >= 2
        first, second = seen[0], seen[1]
        assert first[1] == pytest.approx(0.5 * first[0], abs=1)
        share = (second[0] - first[1]) / 0.5
        # Both windows are known to a packet, and their difference is doubled.
        assert second[1] == pytest.approx(0.875 * share, abs=4)
        assert {round(after / before, 1) for before, after, _ in seen} == {0.5, 0.9}


@pytest.mark.usefixtures("unchanged")
def test_marks_leave_the_window_of_mraimd_alone():
    """Psaras, Dianati and Tafazolli 2009, section 3.1: a mark only slows the growth."""
    with measured() as load:
        result = linux(MARKS)
    (flow,) = result.flows.iter_rows(named=True)
    # From the end of slow start on.
    windows = result.traces["cwnd"].filter(pl.col("time_s") > 1)["cwnd_packets"].to_list()
    falls = sum(after < before - 1 for before, after in pairwise(windows))
    print(
        f"\n{flow['ecn_reductions']} windows with marks, {flow['dropped_packets']} drops, {falls}"
        " falls"
    )
    print(f"  windows: {windows[::400]} packets")
    with unless_busy(load, result):
        assert flow["ecn_reductions"] >= 3
        # RED's queue overflows if packets arrive late, in bursts.
        assert flow["dropped_packets"] == 0
        assert falls == 0
        assert windows[-1] > 1.5 * windows[0]
