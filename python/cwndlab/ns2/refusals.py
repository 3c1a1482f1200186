"""What ns-2 cannot express: errors that name the scenario's key."""

from __future__ import annotations

from cwndlab.errors import ScenarioError
from cwndlab.message import invalid


def refused(key: str, value: object, expected: str) -> ScenarioError:
    """Return the error for a value that ns-2 cannot express.

    Examples
    --------
    >>> print(refused("dumbbell.queue.kind", "codel", "drop-tail, red or drr"))
    dumbbell.queue.kind: "codel" is not valid: expected drop-tail, red or drr (what ns-2 can
    express)
    """
    return ScenarioError(invalid(key, value, f"{expected} (what ns-2 can express)"))


def refused_key(key: str, reason: str) -> ScenarioError:
    """Return the error for a key that the script of ns-2 has nothing for.

    Examples
    --------
    >>> print(refused_key("arrivals", "agents are made before the run"))
    `arrivals` cannot be exported to ns-2: agents are made before the run
    """
    return ScenarioError(f"`{key}` cannot be exported to ns-2: {reason}")
