"""`cwndlab assess --live`: the rule in the kernel and in QUIC, beside its simulation."""

from __future__ import annotations

from cwndlab.assessment.live import live_runs


def test_a_rule_runs_in_the_kernel_and_in_quic():
    found = {(one.kind, one.test): one for one in live_runs("AIMD(1, 0.5)")}
    assert set(found) == {(kind, test) for kind in ("linux", "quic")
                          for test in ("alone", "beside-cubic")}  # fmt: skip
    for one in found.values():
        assert one.refused == "", one
        # A busy machine makes a run invalid, and says so.
        if one.valid:
            # The flows fill the link. How two of them share it differs between runs of 22 s
            # (docs/live-beside.md has the spread), so one run says nothing about that.
            assert 0.9 < _goodput_bps(one.measured) / _goodput_bps(one.simulated) < 1.1, one
        else:
            assert one.reasons


def _goodput_bps(run) -> float:
    return run["goodput_bps"] + (run["other_goodput_bps"] or 0.0)


def test_a_rule_that_quic_cannot_run_says_so():
    found = {(one.kind, one.test): one for one in live_runs("BBR1")}
    assert found["quic", "alone"].refused
    assert found["quic", "alone"].measured is None
