"""Searches a family of waveforms for the one on which a chosen rule is best, or worst.

>>> from cwndlab import search
>>> found = search(best="AIAD(1, 3)", rules=["AIMD(1, 0.8)", "AIAD(1, 3)"], budget=5,
...                duration="5s", replicates=1, confirm=2)
>>> found.tried, sorted(found.values), found.confirmed.count
(5, ['duty', 'high', 'low', 'period'], 2)
"""

from __future__ import annotations

from cwndlab.searches.families import FAMILIES, Family, Parameter, family, read_bounds
from cwndlab.searches.objective import Objective
from cwndlab.searches.result import SearchResult
from cwndlab.searches.running import search, sweep_of

__all__ = [
    "FAMILIES",
    "Family",
    "Objective",
    "Parameter",
    "SearchResult",
    "family",
    "read_bounds",
    "search",
    "sweep_of",
]

_RENAMED = {"Aim": "Objective", "Found": "SearchResult"}


def __getattr__(name: str) -> object:
    now = f": its name is `{_RENAMED[name]}`" if name in _RENAMED else ""
    raise AttributeError(f"module 'cwndlab.searches' has no attribute {name!r}{now}")
