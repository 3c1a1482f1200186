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
    "MissingPackageError",
    "RuleError",
    "RunError",
    "ScenarioError",
    "StoreError",
]

# The core raises the first four and imports them from here.


class CwndlabError(Exception):
    """Anything that this package reports to its user.

    Examples
    --------
    >>> import cwndlab
    >>> try:
    ...     cwndlab.compare("AIMD(1, 0.5)", env="nowhere")
    ... except cwndlab.CwndlabError as error:
    ...     print(str(error)[:29])
    env: "nowhere" is not known:
    """


class ScenarioError(CwndlabError, ValueError):
    """A scenario that is not valid: the message names the key, the value and what is expected.

    Examples
    --------
    >>> import cwndlab
    >>> try:
    ...     cwndlab.dumbbell("10ms", "20ms", flows="AIMD(1, 0.5)")
    ... except cwndlab.ScenarioError as error:
    ...     print(str(error)[:35])
    dumbbell.rate: "10ms" is not valid:
    """


class RuleError(ScenarioError):
    """A rule that is not valid.

    Examples
    --------
    >>> import cwndlab
    >>> try:
    ...     cwndlab.rule("AIAD(1)")
    ... except cwndlab.RuleError as error:
    ...     print(str(error)[:36])
    rule "AIAD(1)": AIAD takes 2 paramet
    """


class RunError(CwndlabError, RuntimeError):
    """A run that failed: not enough memory, or an error of its rule.

    Examples
    --------
    >>> import cwndlab
    >>> class Broken:
    ...     def increase(self, cwnd, ack):
    ...         return cwnd + 1 / 0
    ...     def decrease(self, cwnd, signal):
    ...         return cwnd / 2
    >>> path = cwndlab.dumbbell("2Mbit", "10ms", flows=cwndlab.rule(Broken), duration="5s")
    >>> try:
    ...     cwndlab.run(path)
    ... except cwndlab.RunError as error:
    ...     print(type(error.__cause__).__name__)
    ZeroDivisionError
    """


class ClusterError(CwndlabError, RuntimeError):
    """A cluster that cannot be reached, or whose workers have another engine.

    Examples
    --------
    >>> import cwndlab
    >>> try:
    ...     cwndlab.compare("AIMD(1, 0.5)", duration="1s", on="nowhere")
    ... except cwndlab.CwndlabError as error:
    ...     print(str(error)[:26])
    on: "nowhere" is not valid
    """


class LiveError(CwndlabError, RuntimeError):
    """Real flows that this machine does not support, or that were requested wrongly.

    Examples
    --------
    >>> import cwndlab
    >>> error = cwndlab.LiveError("the program cwndlab-live is not built")
    >>> isinstance(error, RuntimeError), isinstance(error, cwndlab.CwndlabError)
    (True, True)
    """


class MissingPackageError(CwndlabError, ImportError):
    """A package that cwndlab does not need by itself: the message says how to install it.

    Examples
    --------
    >>> import cwndlab
    >>> error = cwndlab.MissingPackageError("gym: expected the package gymnasium: pip install ...")
    >>> isinstance(error, ImportError), isinstance(error, cwndlab.CwndlabError)
    (True, True)
    """


class StoreError(CwndlabError, OSError):
    """A store of runs that cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> import cwndlab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         cwndlab.write_report(folder)
    ...     except cwndlab.StoreError as error:
    ...         print("is not valid: expected a directory" in str(error))
    True
    """


for _error in (
    CwndlabError,
    ScenarioError,
    RuleError,
    RunError,
    ClusterError,
    LiveError,
    MissingPackageError,
    StoreError,
):
    # The name by which users catch it.
    _error.__module__ = "cwndlab"
