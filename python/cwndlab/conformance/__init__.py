"""Conformance: the simulator's sender held against scripts of packetdrill and recorded runs.

A script says what an application and a peer do to a TCP, and what that sends and reports. The
simulator's sender gets the same writes and ACKs at the same times; what it sends and its
``tcp_info`` are compared line by line. Of a recorded run of a kernel it gets the ACKs.
docs/conform.md says what is compared, and how.
"""

from __future__ import annotations

from cwndlab.conformance.checking import Checked, checked, scripts_of
from cwndlab.conformance.confirmation import Confirmation
from cwndlab.conformance.play import play
from cwndlab.conformance.recorded_run import RecordedRun
from cwndlab.conformance.recording import Difference, Recording, Replay
from cwndlab.conformance.script import Script
from cwndlab.conformance.verdict import VERDICTS, Verdict

__all__ = [
    "VERDICTS",
    "Checked",
    "Confirmation",
    "Difference",
    "RecordedRun",
    "Recording",
    "Replay",
    "Script",
    "Verdict",
    "checked",
    "play",
    "scripts_of",
]
