"""Window rules written in Python.

A class with `increase` and `decrease`, run in the simulator like any other rule.

>>> class Patient:
...     '''Adds a packet per round trip; the n-th loss in a row takes 1/(n + 1) of the window.'''
...     def __init__(self, most=3):
...         self.most, self.losses = most, 0
...     def increase(self, cwnd, ack):
...         if ack.rtt_s <= 1.1 * ack.min_rtt_s:
...             self.losses = 0
...         return cwnd + ack.growth_packets / cwnd
...     def decrease(self, cwnd, signal):
...         self.losses = min(self.losses + 1, self.most)
...         return cwnd * (1 - 1 / (self.losses + 1))

In a file ``my_rules.py`` it is called ``"my_rules.py:Patient(3)"``, in scenarios and on the command
line; where it was defined in the program that runs, `cwndlab.rule` gives its name:
``cwndlab.rule(Patient, 3)``.

A scenario file is data (`data_beside`): reading one runs no code but rule files that lie beside it,
and what the program has imported already. `trust` adds others.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import re
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from cwndlab import rule_exits, sources
from cwndlab.message import invalid, invalid_value

if TYPE_CHECKING:
    from cwndlab import Ack

NOTATION = re.compile(
    # `kernel:NAME` is a congestion control of Linux.
    r"(?!kernel:)(?P<place>[^:(]+|.+\.py):(?P<name>[A-Za-z_][\w.]*)\s*(?:\((?P<arguments>.*)\))?",
    re.DOTALL,
)
NOTATION_TEXT = '"FILE.py:Class(values)" or "package.module:Class(values)"'
VALUES = "numbers, texts, True, False or None"
METHODS = ("increase", "decrease")
"""What a rule must have."""


class WindowRule(Protocol):
    """The methods of a rule; only `increase` and `decrease` are required.

    A class need not inherit from this one.

    Windows are in packets, times in seconds. Each flow has its own instance. Methods return finite
    numbers; the endpoint raises a window below its floor, such as a subtractive rule may return, to
    the floor. Any other value and any exception, `SystemExit` too, ends the run with a `RunError`.
    Six more attributes are optional:

    ``needs``
        A collection of ``"delivery_rate"``, ``"rounds"``, ``"exact_marks"`` and ``"recovery"``: the
        measurements that the rule needs: for ``ack.delivery_rate_packets_s`` and
        ``ack.app_limited``, for ``ack.round_start``, whether the receiver echoes every mark
        (DCTCP), and whether the rule sees acknowledgements in recovery, too (BBR).
    ``increase(cwnd, ack, siblings)``
        With a third argument of this name the rule couples the subflows of a connection: a tuple of
        `Sibling`, its own among them; empty for a flow of its own.
    ``halves_in_slow_start``
        True if a cut in slow start halves the window, whatever `decrease` returns.
    ``on_mark(cwnd, ack)``
        Called for each acknowledgement that echoes a mark; True calls `decrease`, once per window.
    ``restart_from_idle(cwnd, now_s)``
        The window before the first packet after an idle period.
    ``pacing_rate()``
        Pacing rate in packets/s, or None; called after every other method.
    ``state()``
        A dict of names and numbers (None: not known): columns of the trace ``rule``.

    Examples
    --------
    >>> from cwndlab import Ack, dumbbell, rule, run
    >>> class Patient:
    ...     def increase(self, cwnd: float, ack: Ack) -> float:
    ...         return cwnd + ack.growth_packets / cwnd
    ...     def decrease(self, cwnd: float, signal: str) -> float:
    ...         return cwnd - 1 if signal == "loss" else cwnd / 2
    >>> path = dumbbell("2Mbit", "10ms", flows=rule(Patient), duration="5s")
    >>> run(path).flows["goodput_bps"].item() > 1.5e6
    True
    """

    def increase(self, cwnd: float, ack: Ack) -> float:
        """Return the window after an acknowledgement of new data in congestion avoidance.

        An acknowledgement of many packets is one: ``ack.growth_packets`` says for how many it
        counts.
        """
        ...

    def decrease(self, cwnd: float, signal: Literal["loss", "ecn", "timeout"]) -> float:
        """Return the window after congestion.

        After a timeout, it sets ssthresh only.
        """
        ...

    def slow_start(self, cwnd: float, ack: Ack) -> float:
        """Return the window after an acknowledgement in slow start; a `Leave` ends it.

        Without this method, the window grows by ``ack.growth_packets``, up to ssthresh; `increase`
        is asked for what is left over.
        """
        return cwnd + ack.growth_packets


class Leave(float):
    """The window at the end of slow start: ``return Leave(cwnd)`` in `WindowRule.slow_start`.

    Examples
    --------
    Slow start that ends at 20 packets, regardless of ssthresh:

    >>> from cwndlab import dumbbell, rule, run
    >>> class Early:
    ...     def slow_start(self, cwnd, ack):
    ...         return cwnd + ack.growth_packets if cwnd < 20 else Leave(cwnd)
    ...     def increase(self, cwnd, ack):
    ...         return cwnd + ack.growth_packets / cwnd
    ...     def decrease(self, cwnd, signal):
    ...         return cwnd / 2
    >>> path = dumbbell("20Mbit", "50ms", flows=rule(Early), duration="1s", trace={"cwnd": "100ms"})
    >>> 20 <= run(path).traces["cwnd"]["cwnd_packets"].max() < 30
    True
    """


Rule = str | type | functools.partial[Any] | WindowRule
"""A rule as functions take it: its notation, its class, its class with values, or an instance."""

# Classes named by `name_of`, by place and name, for classes that their module does not export.
_named: dict[tuple[str, str], type] = {}
# Modules read from files, by path, with their content: a changed file is read again.
_loaded: dict[Path, tuple[bytes, ModuleType]] = {}
# Files being imported: a file that builds one of its rules meanwhile would wait for itself.
_reading: set[Path] = set()
# Folders, files and modules whose code may run although only data names it.
_trusted_paths: set[Path] = set()
_trusted_modules: set[str] = set()
# Folder of the file being read, for what it names; none for what the program names itself.
_data_folder: ContextVar[Path | None] = ContextVar("_data_folder", default=None)
_lock = threading.RLock()


@contextmanager
def data_beside(folder: str | Path | None) -> Generator[None]:
    """Read data that may name rules in files of `folder`, and no other code than trusted one.

    Without a folder the program itself names the rules.
    """
    if folder is None:
        yield
        return
    before = _data_folder.set(Path(folder).resolve())
    try:
        yield
    finally:
        _data_folder.reset(before)


def trust(place: str | Path) -> None:
    """Let scenarios and sweeps name rules of a Python file, of a folder's files, or of a module.

    Examples
    --------
    >>> trust("fractions")
    >>> class_of("fractions:Fraction(1)")[0]
    'Fraction'
    """
    path = Path(place)
    if isinstance(place, Path) or path.suffix == ".py" or path.is_dir():
        _trusted_paths.add(path.resolve())
    else:
        _trusted_modules.add(place)


def trust_named(arguments: Iterable[str]) -> None:
    """Trust what the arguments of a command name: ``my.py:Mine(2)``, ``rule=my.rules:Mine``."""
    for argument in arguments:
        found = NOTATION.fullmatch(argument.rpartition("=")[2] if "(" not in argument else argument)
        if found is not None:
            trust(found["place"].rpartition("=")[2].strip())


def name_of(rule: Rule, *values: object, **named: object) -> str:
    """Return the notation of a rule: of its class with its values, or of an instance.

    Each flow has an instance of its own, which is made as this one was: the values of an instance
    are its attributes with the names of its class's parameters. A `functools.partial` is a class
    with values.

    Raises
    ------
    ValueError
        If the class is defined inside a function, a value is not a literal, or an instance does
        not keep its values.

    Examples
    --------
    >>> import functools
    >>> from fractions import Fraction
    >>> name_of(Fraction, 3, denominator=4), name_of(functools.partial(Fraction, 3))
    ('fractions:Fraction(3, denominator=4)', 'fractions:Fraction(3)')
    """
    if isinstance(rule, str):
        return rule
    if isinstance(rule, functools.partial):
        return name_of(cast("type", rule.func), *rule.args, *values, **{**rule.keywords, **named})
    if not isinstance(rule, type):
        named, rule = {**_values_of(rule), **named}, type(rule)
    if "<locals>" in rule.__qualname__:
        raise ValueError(
            invalid(
                "rule", rule.__qualname__, "a class at the top level of a module or of a notebook"
            )
        )
    place = rule.__module__
    _named[place, rule.__qualname__] = rule
    return _written(place, rule.__qualname__, list(values), named)


def is_rule(value: object) -> bool:
    """Whether a value stands for a rule without being its notation.

    Examples
    --------
    >>> is_rule(WindowRule), is_rule("CUBIC"), is_rule(0.5)
    (True, False, False)
    """
    return isinstance(value, type | functools.partial) or all(
        callable(getattr(value, method, None)) for method in METHODS
    )


def _values_of(rule: object) -> dict[str, object]:
    """Return the values that an instance was made with, where they are not the defaults."""
    kind, own = type(rule), getattr(rule, "__dict__", dict[str, Any]())
    if not is_rule(rule):
        raise Unusable(
            invalid_value(
                getattr(rule, "__name__", rule),
                f"a notation, or a class with {' and '.join(METHODS)}, or an instance of one",
            )
        )
    parameters = inspect.signature(kind).parameters.values()
    found = {one.name: own[one.name] for one in parameters if one.name in own}
    try:
        # An attribute may have another meaning, or have changed.
        is_equal = vars(kind(**found)) == own
    except Exception:
        is_equal = False
    if not is_equal:
        raise Unusable(
            f"{kind.__name__} does not keep its values: expected an attribute for each parameter, "
            f"or the class with its values: cwndlab.rule({kind.__name__}, ...)"
        )
    return {one.name: found[one.name] for one in parameters
            if one.name in found and found[one.name] != one.default}  # fmt: skip


def find(text: str, folder: str | Path | None = None) -> tuple[str, Callable[[], object]]:
    """Read a notation: its canonical form, and a function that makes a rule for a flow.

    A file's path is relative to `folder`, if there is one; the text is data then (`data_beside`).

    Raises
    ------
    ValueError
        If the notation, the module, the class or a value is not valid. Only a class with `increase`
        and `decrease` is called; importing its module runs the module, as any import does.

    Examples
    --------
    >>> text, make = find("cwndlab.custom_rules:WindowRule( )")
    >>> text
    'cwndlab.custom_rules:WindowRule'
    """
    place, name, values, named = _read(text)
    if folder is not None and place.endswith(".py"):
        place = str((Path(folder) / place).resolve())
    with data_beside(folder):
        rule = _class(place, name)
    for method in METHODS:
        if not callable(getattr(rule, method, None)):
            raise Unusable(
                f"has no method {method}: expected increase(cwnd, ack) and decrease(cwnd, signal) "
                "(`cwndlab.WindowRule` says more)"
            )
    return _written(place, name, values, named), lambda: rule(*values, **named)


def source(text: str) -> str | None:
    """Return the source of a rule's whole module.

    None if the code in memory may differ.

    Examples
    --------
    >>> "class Fraction" in source("fractions:Fraction(1)")
    True
    """
    place, name, _, _ = _read(text)
    rule = _class(place, name)
    if place.endswith(".py"):
        place = _loaded[Path(place).resolve()][1].__name__
    return sources.of_class(rule, place)


def class_of(text: str) -> tuple[str, Callable[..., object]]:
    """Return the name of a rule's class in its module, and the class.

    Raises
    ------
    ValueError
        If there is no such class.

    Examples
    --------
    >>> class_of("fractions:Fraction(1)")
    ('Fraction', <class 'fractions.Fraction'>)
    """
    place, name, _, _ = _read(text)
    return name, _class(place, name)


def know(place: str, name: str, load: Callable[[], type]) -> None:
    """Register a class that no module has as ``place:name``.

    It is loaded unless it is registered already.

    Examples
    --------
    >>> from fractions import Fraction
    >>> know("sent", "Mine", lambda: Fraction)
    >>> class_of("sent:Mine(1)")
    ('Mine', <class 'fractions.Fraction'>)
    """
    with _lock:
        if (place, name) not in _named:
            _named[place, name] = load()


def shown(text: str) -> str:
    """Return a rule's notation without the folders of its file, as tables show it.

    Examples
    --------
    >>> shown("rules/deep/mine.py:Patient(3)"), shown('Rule(inc="1/w", dec="w/2")')
    ('mine.py:Patient(3)', 'Rule(inc="1/w", dec="w/2")')
    """
    return re.sub(r"^[^:]*/([^/:]+\.py:)", r"\1", text)


def is_own(text: str) -> bool:
    """Whether a notation is of a class or a formula, and not of a rule that everybody has.

    Examples
    --------
    >>> is_own("mine.py:Patient(3)"), is_own('Rule(inc="1/w", dec="w/2")'), is_own("AIMD(1, 0.5)")
    (True, True, False)
    """
    return NOTATION.fullmatch(text) is not None or text.lstrip().lower().startswith("rule(")


def explain(error: BaseException) -> str:
    """Describe an exception and its place in one line.

    Examples
    --------
    >>> explain(ValueError("no window"))
    'ValueError: no window'
    """
    if isinstance(error, Unusable):
        return str(error)
    what = " ".join("".join(traceback.format_exception_only(error)[-1:]).split())
    if isinstance(error, SyntaxError) and error.filename is not None:
        # The file was not run: no frame is in it.
        return f"{what} ({Path(error.filename).name}, line {error.lineno})"
    if isinstance(error, SystemExit):
        what = f"{what}, which would end the program"
    ours = (__file__, rule_exits.__file__, "<frozen ")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(ours)
    ]
    return (
        f"{what} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else what
    )


class Unusable(ValueError):
    """A rule that cannot be used; the message needs no source location."""


def _read(text: str) -> tuple[str, str, list[Any], dict[str, Any]]:
    found = NOTATION.fullmatch(text.strip())
    if found is None:
        raise Unusable(f"is not valid: expected {NOTATION_TEXT}")
    try:
        call = ast.parse(f"f({found['arguments'] or ''})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        values = [ast.literal_eval(value) for value in call.args]
        named = {
            str(keyword.arg): ast.literal_eval(keyword.value)
            for keyword in call.keywords
            if keyword.arg
        }
        if len(named) < len(call.keywords):
            raise ValueError
    except (SyntaxError, ValueError):
        raise Unusable(invalid_value(f"({found['arguments']})", VALUES)) from None
    return found["place"].strip(), found["name"], values, named


def _written(place: str, name: str, values: Iterable[object], named: dict[str, object]) -> str:
    arguments = [_literal(value) for value in values] + [
        f"{key}={_literal(value)}" for key, value in named.items()
    ]
    return f"{place}:{name}({', '.join(arguments)})" if arguments else f"{place}:{name}"


def _literal(value: object) -> str:
    text = repr(value)
    try:
        if ast.literal_eval(text) == value:
            return text
    except (SyntaxError, ValueError):
        pass
    raise Unusable(invalid_value(text, VALUES))


def _class(place: str, name: str) -> Callable[..., object]:
    if (place, name) in _named and place not in sys.modules:
        return _named[place, name]
    _check_trusted(place)
    if place.endswith(".py"):
        with _lock:
            module = _file(Path(place))
    else:
        # Not under the lock: an import takes locks itself.
        module = _module(place)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        found = _named.get((place, name))
    if not inspect.isclass(found):
        known = (
            ", ".join(key for key, value in vars(module).items() if inspect.isclass(value))
            or "none"
        )
        raise Unusable(f"{place} has no {name}; classes there: {known}")
    return found


def _check_trusted(place: str) -> None:
    """Raise if code would run that only data names."""
    folder = _data_folder.get()
    if folder is None:
        return
    if place.endswith(".py"):
        path = Path(place).resolve()
        if path not in _loaded and not any(
            path.is_relative_to(trusted) for trusted in (folder, *_trusted_paths)
        ):
            raise Unusable(
                f"{path} is not in the folder of the file that names it: expected a rule file "
                "there, or --rules FILE (in Python: cwndlab.custom_rules.trust)"
            )
    elif place not in sys.modules and place not in _trusted_modules:
        raise Unusable(
            f"module {place} is not imported for a file that names it: expected a rule file "
            f"in its folder, or --rules {place} (in Python: import it first)"
        )


def _module(place: str) -> ModuleType:
    if place != "__main__":  # The program ends itself as it likes.
        rule_exits.refuse_of(place)
    try:
        return sources.imported(place)
    except SystemExit as error:
        raise Unusable(f"module {place} cannot be imported: {explain(error)}") from error
    except ImportError as error:
        file = Path(f"{place}.py")
        hint = f" (did you mean {file}?)" if file.is_file() else ""
        raise Unusable(
            f"module {place} cannot be imported: {error}: expected {NOTATION_TEXT}{hint}"
        ) from None


def _file(path: Path) -> ModuleType:
    path = path.resolve()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Unusable(
            f"{path.name} cannot be read: {error.strerror}: expected {NOTATION_TEXT}"
        ) from None
    if path in _loaded and _loaded[path][0] == content:
        return _loaded[path][1]
    if path in _reading:
        raise Unusable(
            f"{path.name} builds a rule of its own while it is imported: move that under `if "
            "__name__ == ...`"
        )
    # A unique module name: two directories may have a rules.py each.
    name = f"cwndlab_rules_{abs(hash(str(path))):x}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, "a .py file has a loader"
    assert spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    # Registered during its execution, as by `import`: dataclasses look their module up.
    sys.modules[name] = module
    _reading.add(path)
    rule_exits.refuse_of(name)
    try:
        # Not the loader's `exec_module`: it takes a file of the same second and length for
        # unchanged.
        exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):  # Ctrl-C, and nobody's error.
            raise
        raise Unusable(f"{path.name} cannot be read: {explain(error)}") from error
    finally:
        _reading.discard(path)
    _loaded[path] = (content, module)
    sources.keep(module, content)
    return module
