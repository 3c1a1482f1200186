"""Searches a family of waveforms for the one on which a chosen rule is best, or worst.

>>> from cwndlab import search
>>> aim = search.Aim(best="AIAD(1, 3)", rules=("AIMD(1, 0.8)", "AIAD(1, 3)"))
>>> found = search.search(aim, "square", budget=5, duration="5s", replicates=1, confirm=2)
>>> found.tried, sorted(found.values), found.confirmed.count
(5, ['duty', 'high', 'low', 'period'], 2)
"""

from __future__ import annotations

from cwndlab.search.aim import Aim
from cwndlab.search.families import FAMILIES, Family, Parameter, family, read_bounds
from cwndlab.search.found import Found
from cwndlab.search.running import search, sweep_of

__all__ = [
    "FAMILIES",
    "Aim",
    "Family",
    "Found",
    "Parameter",
    "family",
    "read_bounds",
    "search",
    "sweep_of",
]
