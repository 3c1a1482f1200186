r"""Exceptions of the package; all are `ValueError`.

Their text is one line that names the key, the value and what is expected (`cwndlab.message`).

>>> import cwndlab
>>> try:
...     cwndlab.rule("AIAD(1)")
... except cwndlab.RuleError as error:
...     print(isinstance(error, cwndlab.ScenarioError), "\n" in str(error))
True False
"""

from __future__ import annotations

from cwndlab.native import RuleError, RunError, ScenarioError

__all__ = ["ClusterError", "LiveError", "RuleError", "RunError", "ScenarioError", "StoreError"]


class ClusterError(ValueError):
    """A cluster that cannot be reached, or whose workers have another engine."""


class LiveError(ValueError):
    """Real flows that this machine does not support, or that were requested wrongly."""


class StoreError(ValueError):
    """A store of runs that cannot be read or written."""
