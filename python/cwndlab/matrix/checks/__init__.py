"""The checks, one file each."""

from cwndlab.matrix.checks.base import Check
from cwndlab.matrix.checks.fills import Fills
from cwndlab.matrix.checks.floor import Floor
from cwndlab.matrix.checks.idle import Idle
from cwndlab.matrix.checks.outage import Outage
from cwndlab.matrix.checks.receiver import Receiver
from cwndlab.matrix.checks.shares import Shares
from cwndlab.matrix.checks.undo import Undo

CHECKS: dict[str, Check] = {
    check.name: check
    for check in (Fills(), Shares(), Outage(), Idle(), Receiver(), Floor(), Undo())
}
"""By name, in the order of the tables."""

__all__ = ["CHECKS", "Check"]
