"""Searches for rules: which parameters, or which formulas, are best for several objectives.

>>> from cwndlab import design
>>> found = design(family="AIMD(?, ?)", objectives="goodput, delay", budget=8, population=4,
...                replicates=1, validate=2, confirm=2, duration="5s", robustness=False)
>>> found.tables["frontier"].columns[:4]
['kind', 'rule', 'size', 'objective']
"""

from __future__ import annotations

from cwndlab.designs.aims import Aim, Constraint
from cwndlab.designs.result import Designed, DesignResult
from cwndlab.designs.running import design
from cwndlab.designs.specification import Specification

__all__ = ["Aim", "Constraint", "DesignResult", "Designed", "Specification", "design"]
