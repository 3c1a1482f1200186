"""The matrix: what every rule must do under every profile.

Each check asks one question in a few cases, with a bound from a source or from theory; what is
known to fail is data in exceptions.toml. `cwndlab matrix` asks them of any rule, docs/matrix.md is
the kept record of all.
"""

from cwndlab.matrix.checks import CHECKS, Check
from cwndlab.matrix.outcomes import Case, Found, Outcome
from cwndlab.matrix.running import answer, answers, cases, drawn, registry, scenarios

__all__ = [
    "CHECKS",
    "Case",
    "Check",
    "Found",
    "Outcome",
    "answer",
    "answers",
    "cases",
    "drawn",
    "registry",
    "scenarios",
]
