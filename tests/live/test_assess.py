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
            assert 0.8 < one.measured["goodput_bps"] / one.simulated["goodput_bps"] < 1.25
        else:
            assert one.reasons


def test_a_rule_that_quic_cannot_run_says_so():
    found = {(one.kind, one.test): one for one in live_runs("BBR1")}
    assert found["quic", "alone"].refused
    assert found["quic", "alone"].measured is None
