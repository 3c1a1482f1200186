"""Conformance: the simulator's sender held against scripts of packetdrill."""

from __future__ import annotations

from cwndlab.conformance.play import play
from cwndlab.conformance.script import Script
from cwndlab.conformance.verdict import VERDICTS, Verdict

__all__ = ["VERDICTS", "Script", "Verdict", "play"]
