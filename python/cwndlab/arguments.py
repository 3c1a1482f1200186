"""Arguments of the package's functions: one or several, whole numbers, keywords by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from cwndlab.documents import is_whole
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, unknown

Function = TypeVar("Function", bound=Callable[..., Any])
MOST_JOBS = 1024
Progress = Callable[[str, int, int], object]
"""Gets what is being done, how much of it is done, and of how much: the argument `progress`."""
Simulated = Callable[[float, int], object]
"""Gets the simulated seconds and the packets of one run, as the core says them: its `progress`."""


def listed(value: Any) -> list[Any]:
    """Return one or several as a list: a text, a class or any other object is one.

    Examples
    --------
    >>> listed("CUBIC"), listed(["CUBIC", "Reno"]), listed(int), listed(3)
    (['CUBIC'], ['CUBIC', 'Reno'], [<class 'int'>], [3])
    """
    # A class may be iterable, as an enumeration is, and a rule is none for that.
    if isinstance(value, str | bytes | type | Mapping) or not isinstance(value, Iterable):
        return [value]
    return [*cast("Iterable[Any]", value)]


def some(key: str, value: Any, what: str = "") -> list[Any]:
    """Return one or several as a list that is not empty.

    Parameters
    ----------
    key : str
        What a message calls it.
    value : object or iterable
        One or several.
    what : str
        What is expected, by default the key.

    Raises
    ------
    ScenarioError
        If there is none.

    Examples
    --------
    >>> some("queue", "red")
    ['red']
    >>> some("rules", [])
    Traceback (most recent call last):
    ...
    cwndlab.ScenarioError: rules: [] is not valid: expected one or more rules
    """
    found = listed(value)
    if not found:
        raise ScenarioError(invalid(key, [], f"one or more {what or key}"))
    return found


def whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds.

    Raises
    ------
    ScenarioError
        If it is none.

    Examples
    --------
    >>> whole("replicates", 3, 1)
    3
    >>> whole("jobs", 0, 1, 1024)
    Traceback (most recent call last):
    ...
    cwndlab.ScenarioError: jobs: 0 is not valid: expected a whole number from 1 to 1024
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        upto = "" if most is None else f" to {most}"
        raise ScenarioError(invalid(key, value, f"a whole number from {least}{upto}"))
    return value


def keywords(
    more: Callable[[], Iterable[str]] | None = None,
    instead: Callable[[], Mapping[str, str]] | None = None,
) -> Callable[[Function], Function]:
    """Let a function, or a class, refuse wrong arguments with what would be right.

    These are an unknown keyword, an argument that needs a keyword, and a `progress` that is no
    function.

    Parameters
    ----------
    more : callable, optional
        Returns the names that ``**keywords`` of the function may have.
    instead : callable, optional
        Returns words of other packages, and what is written here instead.

    Examples
    --------
    >>> @keywords(instead=lambda: {"rows": "height"})
    ... def area(width, *, height=1):
    ...     return width * height
    >>> area(2, height=3)
    6
    >>> area(2, heigth=3)
    Traceback (most recent call last):
    ...
    TypeError: area: "heigth" is not known: expected width or height (did you mean height?)
    >>> area(2, 3)
    Traceback (most recent call last):
    ...
    TypeError: area: 3 is not valid: expected a keyword in front of it: height
    """

    def of(function: Function) -> Function:
        if isinstance(function, type):
            setattr(function, "__init__", of(getattr(function, "__init__")))  # noqa: B009, B010
            return cast("Function", function)
        code: Any = getattr(function, "__code__")  # noqa: B009
        own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        bound = own[:1] in (("self",), ("cls",))
        *_, shown = function.__qualname__.removesuffix(".__init__").split(".")

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > code.co_argcount:
                others = [*own[code.co_argcount :], *(more() if more is not None else ())]
                raise TypeError(_needs_keyword(shown, args, own[bound : code.co_argcount], others))
            if any(name not in own for name in kwargs):
                known = dict.fromkeys((*own[bound:], *(more() if more is not None else ())))
                for name in kwargs:
                    if name not in known:
                        hint = instead().get(name) if instead is not None else None
                        raise TypeError(unknown(shown, name, known, hint))
            progress = kwargs.get("progress")
            if progress is not None and not callable(progress):
                raise TypeError(invalid("progress", progress, "a function, or None"))
            return function(*args, **kwargs)

        return cast("Function", call)

    return of


def _needs_keyword(
    function: str, given: Sequence[object], first: Sequence[str], others: Sequence[str]
) -> str:
    """Say that a function takes these arguments by place, and those by keyword."""
    names = ", ".join(dict.fromkeys(others))
    expected = f"a keyword in front of it: {names}" if names else f"only {' and '.join(first)}"
    several = f"; several {first[-1]} are one list" if first and first[-1].endswith("s") else ""
    return invalid(function, given[-1], expected) + several
