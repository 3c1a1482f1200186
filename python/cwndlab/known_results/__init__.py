"""Known results of congestion control, measured by the simulator.

A fact has a source, an expected value with a tolerance from that source or from theory, a scenario
and a measure. `check` runs the scenarios and judges what they give.

>>> from cwndlab import known_results
>>> found = known_results.check("slow-start/initial-window")
>>> found.select("fact", "mean", "verdict").row(0)
('slow-start/initial-window', 10.0, 'holds')
>>> known_results.fact("slow-start/initial-window").source
'RFC 6928, section 2; Linux TCP_INIT_CWND'
"""

from __future__ import annotations

from cwndlab.known_results.checking import check, checked, frame
from cwndlab.known_results.fact import THEMES, Fact, fact, select, theme

__all__ = ["THEMES", "Fact", "check", "checked", "fact", "frame", "select", "theme"]
