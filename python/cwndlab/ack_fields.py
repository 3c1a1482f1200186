"""Which fields of an acknowledgement a method of a rule reads, from its bytecode.

A rule that reads none, or the RTT alone, costs the endpoint least: nothing else is measured for
it.
"""

from __future__ import annotations

import dis
import functools
import inspect
from types import CodeType, FunctionType

# Every rule has the first two.
_RTT = frozenset({"growth_packets", "ssthresh_packets", "rtt_s", "srtt_s"})
# Functions that read an argument without naming it.
_HIDDEN_READERS = frozenset({"dir", "eval", "exec", "locals", "vars", "_getframe", "currentframe"})


def ack_fields(method: object) -> str:
    """Return which fields of its second argument `method` reads: "none", "rtt" or "all".

    "all" where the bytecode does not show it.

    Examples
    --------
    >>> class Delayed:
    ...     def increase(self, cwnd, ack):
    ...         return cwnd + ack.growth_packets * ack.rtt_s / cwnd
    ...     def slow_start(self, cwnd, ack):
    ...         return cwnd + ack.acked_packets
    >>> ack_fields(Delayed().increase), ack_fields(Delayed().slow_start)
    ('rtt', 'all')
    """
    function = getattr(method, "__func__", None)
    if not inspect.ismethod(method) or not isinstance(function, FunctionType):
        return "all"
    return _fields(function.__code__)


def takes_siblings(method: object) -> bool:
    """Return whether `method` has an argument ``siblings``: the rule couples subflows.

    Examples
    --------
    >>> class Coupled:
    ...     def increase(self, cwnd, ack, siblings):
    ...         return cwnd
    >>> takes_siblings(Coupled().increase)
    True
    """
    if not callable(method):
        return False
    try:
        return "siblings" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


@functools.cache
def _fields(code: CodeType) -> str:
    takes_three = code.co_argcount == 3 and code.co_kwonlyargcount == 0
    if not takes_three or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return "all"
    name = code.co_varnames[2]
    # A closure may read it, and so may what is called without it.
    if name in code.co_cellvars or _HIDDEN_READERS & set(code.co_names):
        return "all"
    instructions = list(dis.get_instructions(code))
    read: set[str] = set()
    for instruction, following in zip(instructions, [*instructions[1:], None], strict=True):
        # Some versions of Python load two variables by one instruction.
        is_pair = isinstance(instruction.argval, tuple)
        if instruction.argval != name and not (is_pair and name in instruction.argval):
            continue
        loads = instruction.opname.startswith("LOAD_FAST") and not is_pair
        if not loads or following is None or following.opname != "LOAD_ATTR":
            return "all"
        read.add(following.argval)
    if not read:
        return "none"
    return "rtt" if read <= _RTT else "all"
