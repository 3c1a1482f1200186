"""Ends of the process that rule files ask for, which are not theirs to give.

A rule that is over with exit code 0 before anything was judged would pass every expectation.
`SystemExit` is an exception, and so an error of the rule that raises it. `os._exit` and the
``exec`` functions raise nothing: the process is gone, with the code that they name. So they are
replaced once code of a rule is read, and raise `SystemExit` themselves: where that code calls them,
and on the command line, where nobody else does, wherever they are called (a thread's target,
``atexit``). Forked processes are free. What a rule calls in the C library (`ctypes`) is out of
reach.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

_NAMES = ("_exit", "execv", "execve")
"""What ends or replaces the process; the other ``exec`` functions of `os` call these."""
_modules: set[str] = set()
_process = 0
_everywhere = False


def refuse_everywhere() -> None:
    """Refuse the calls of all code, once code of a rule is read: of a program that is only ours."""
    global _everywhere
    _everywhere = True


def refuse_of(module: str) -> None:
    """Refuse the calls of a module of rules, which is about to be read, in this process.

    Examples
    --------
    >>> refuse_of("rules.of_somebody")
    >>> try:
    ...     exec("import os; os._exit(0)", {"__name__": "rules.of_somebody"})
    ... except SystemExit as error:
    ...     print(error)
    os._exit(0)
    """
    global _process
    _process = os.getpid()
    _modules.add(module)
    # `os` takes them from `posix` (or `nt`), where a rule may find them, too.
    for place in (os, sys.modules[os.name]):
        for name in _NAMES:
            call = getattr(place, name)
            if not hasattr(call, "__wrapped__"):
                setattr(place, name, _refusing(name, call))


def _refusing(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def refuse(*arguments: Any, **named: Any) -> Any:
        if os.getpid() == _process and (_everywhere or _is_of_rules()):
            raise SystemExit(f"os.{name}({', '.join(map(repr, arguments))})")
        return call(*arguments, **named)

    return refuse


def _is_of_rules() -> bool:
    """Whether code of a rule is on the stack of the caller."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_globals.get("__name__") in _modules:
            return True
        frame = frame.f_back
    return False
