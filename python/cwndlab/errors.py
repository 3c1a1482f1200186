r"""Exceptions of the package, all of them `CwndlabError`.

Their text is one line that names the key, the value and what is expected (`cwndlab.message`).

>>> import cwndlab
>>> try:
...     cwndlab.rule("AIAD(1)")
... except cwndlab.RuleError as error:
...     print(isinstance(error, cwndlab.ScenarioError), "\n" in str(error))
True False
"""

from __future__ import annotations

__all__ = [
    "ClusterError",
    "CwndlabError",
    "LiveError",
    "RuleError",
    "RunError",
    "ScenarioError",
    "StoreError",
]

# The core raises the first four and imports them from here.


class CwndlabError(Exception):
    """Anything that this package reports to its user."""


class ScenarioError(CwndlabError, ValueError):
    """A scenario that is not valid: the message names the key, the value and what is expected."""


class RuleError(ScenarioError):
    """A rule that is not valid."""


class RunError(CwndlabError, RuntimeError):
    """A run that failed: not enough memory, or an error of its rule."""


class ClusterError(CwndlabError, RuntimeError):
    """A cluster that cannot be reached, or whose workers have another engine."""


class LiveError(CwndlabError, RuntimeError):
    """Real flows that this machine does not support, or that were requested wrongly."""


class StoreError(CwndlabError, OSError):
    """A store of runs that cannot be read or written."""


for _error in (
    CwndlabError,
    ScenarioError,
    RuleError,
    RunError,
    ClusterError,
    LiveError,
    StoreError,
):
    # The name by which users catch it.
    _error.__module__ = "cwndlab"
